"""Ward's criterion against plain agglomeration."""

import numpy as np
import pytest

from knoll.numeric.distances import squared_distances
from knoll.numeric.ward import Joins, averages, ward


def test_groups_of_centres_are_those_of_plain_agglomeration():
    rng = np.random.default_rng(0)
    at, weight = rng.normal(size=(40, 3)), rng.uniform(0.1, 5, 40)
    groups = [[i] for i in range(40)]

    def loss(rows):
        return (weight[rows, None] * (at[rows] - np.average(at[rows], axis=0, weights=weight[rows])) ** 2).sum()

    while len(groups) > 7:
        pairs = [(a, b) for a in range(len(groups)) for b in range(a)]
        costs = [loss(groups[a] + groups[b]) - loss(groups[a]) - loss(groups[b]) for a, b in pairs]
        a, b = pairs[int(np.argmin(costs))]
        groups[b] += groups.pop(a)
    found = ward(at, weight, 7)
    assert {frozenset(np.flatnonzero(found == i)) for i in range(7)} == {frozenset(rows) for rows in groups}
    means = sorted(np.average(at[rows], axis=0, weights=weight[rows])[0] for rows in groups)
    assert np.sort(averages(at, weight, found)[:, 0]) == pytest.approx(means)


def test_the_cheapest_pair_is_known_after_every_change(rng):
    at, weight, error = rng.normal(size=(30, 2)), rng.uniform(0.1, 5, 30), rng.uniform(0, 0.1, 30)
    joins, hidden = Joins(at, weight, error), np.zeros(30, dtype=bool)

    def least():
        mass = weight[:, None] * weight / (weight[:, None] + weight)
        cost = mass * np.maximum(squared_distances(at, at) - error[:, None] - error, 0.0)
        cost[np.diag_indices(30)] = np.inf
        cost[:, hidden] = cost[hidden] = np.inf
        return cost.min()

    for _ in range(40):
        assert joins.cheapest()[2] == pytest.approx(least())
        j = int(rng.integers(30))
        joins.hide(j)
        hidden[j] = True
        assert joins.cheapest()[2] == pytest.approx(least())
        at[j], weight[j], hidden[j] = rng.normal(size=2), rng.uniform(0.1, 5), False
        joins.update(np.array([j]))
