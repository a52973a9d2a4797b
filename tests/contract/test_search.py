"""No neighbour found by a search aimed at rounding moves a total by more than declared, in few columns or many."""

import zlib

import numpy as np
import pytest

from knoll.privacy import Relation
from knoll.queries import Box, Product
from knoll.queries.domain import LARGEST_BOUND, SMALLEST_HALF
from tests.contract.registry import QUERIES, domain_of
from tests.contract.search import best_of, largest_change
from tests.contract.wide import COLUMNS, FEW, WIDE, unit_box

CASES = [
    pytest.param(lambda box, query=query: query, d, id=name)
    for name, (query, d) in QUERIES.items()
    if not isinstance(domain_of(query), Product)
]  # a few points each, all of which test_queries tries
CASES += [pytest.param(make, d, id=f"{name}, {d} columns") for name, make in WIDE.items() for d in COLUMNS]
CASES += [pytest.param(make, 100, id=f"{name}, 100 columns") for name, make in WIDE.items() if name[:6] == "shapes"]

L, S = LARGEST_BOUND, SMALLEST_HALF
EXTREMES = {
    "large": Box((-L, -L), (L, L)),
    "small": Box((-S, -S), (S, S)),
    "large beside small": Box((-L, -S), (L, S)),
    "small beside large": Box((-S, -L), (S, L)),
    "far off": Box((0.5 * L, -L), (L, -0.5 * L)),
    "narrow": Box((1.0, -L), (1 + 2.1e-12, -L + 2.1e-12 * L)),
}


def assert_within(query, norm, alone, apart):
    for relation in Relation:
        reached = apart if relation is Relation.REPLACE_ONE else alone
        assert reached <= query.sensitivity(relation, norm)


@pytest.mark.parametrize(("make", "d"), CASES)
def test_no_neighbour_found_moves_the_total_by_more_than_declared(make, d, request):
    query = make(unit_box(d))
    rng = np.random.default_rng(zlib.crc32(request.node.callspec.id.encode()))
    for norm in (1, 2):
        assert_within(query, norm, *largest_change(query, d, norm, rng))


@pytest.mark.parametrize("box", EXTREMES.values(), ids=EXTREMES)
@pytest.mark.parametrize("make", {**WIDE, **FEW}.values(), ids={**WIDE, **FEW})
def test_the_contract_holds_at_the_ends_of_the_range_of_bounds(make, box, rng):
    query = make(box)
    figures = [query.sensitivity(relation, norm) for relation in Relation for norm in (1, 2)]
    for numbers in (query.weights, query.step, figures):
        assert np.isfinite(numbers).all()
        assert np.min(numbers) > 0 or query.name == "cell shapes"  # which may leave squares out
    rows, moved = best_of(query, 2, rng)
    for norm in (1, 2):
        apart = max(np.linalg.norm(moved - one, norm, axis=1).max() for one in moved)
        assert_within(query, norm, np.linalg.norm(moved, norm, axis=1).max(), apart)
    assert np.array_equal((query.summarise(rows) * query.weights).ravel(), moved.sum(axis=0))
    assert moved.any()
