"""No neighbour found by a search aimed at rounding moves a total by more than declared, in few columns or many."""

import zlib

import numpy as np
import pytest

from knoll.privacy import Relation
from tests.contract.registry import QUERIES
from tests.contract.search import largest_change
from tests.contract.wide import COLUMNS, WIDE

CASES = [pytest.param(lambda d, query=query: query, d, id=name) for name, (query, d) in QUERIES.items()]
CASES += [pytest.param(make, d, id=f"{name}, {d} columns") for name, make in WIDE.items() for d in COLUMNS]
CASES += [pytest.param(make, 100, id=f"{name}, 100 columns") for name, make in WIDE.items() if name[:6] == "shapes"]


@pytest.mark.parametrize(("make", "d"), CASES)
def test_no_neighbour_found_moves_the_total_by_more_than_declared(make, d, request):
    query = make(d)
    rng = np.random.default_rng(zlib.crc32(request.node.callspec.id.encode()))
    for norm in (1, 2):
        alone, apart = largest_change(query, d, norm, rng)
        for relation in Relation:
            reached = apart if relation is Relation.REPLACE_ONE else alone
            assert reached <= query.sensitivity(relation, norm)
