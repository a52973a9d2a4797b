"""What a category costs: one coordinate's worth, however many levels it has, whether anyone has them or not."""

import pytest

from knoll.privacy.relation import Relation
from knoll.queries import CellMoments, Corners, Line, Nearest, NearestVotes, Product


def sensitivity(make, levels, relation, norm):
    domain = Product.of([Line(0.0, 1.0), Corners(levels)], "ab")
    return float(make(Nearest(domain.centre[None], domain, domain.scales)).sensitivity(relation, norm))


@pytest.mark.parametrize("norm", [1, 2])
@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize("make", [CellMoments, NearestVotes])
def test_a_thousand_levels_cost_as_much_as_two(make, relation, norm):
    two = sensitivity(make, 2, relation, norm)
    for levels in (3, 10, 100, 1000):
        assert 0.8 * two <= sensitivity(make, levels, relation, norm) <= (1.0 if norm == 2 else 1.2) * two * 1.01
