"""Ward's criterion against plain agglomeration."""

import numpy as np
import pytest

from knoll.numeric.ward import ward


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
    assert {frozenset(np.flatnonzero(row)) for row in found} == {frozenset(rows) for rows in groups}
    means = sorted(np.average(at[rows], axis=0, weights=weight[rows])[0] for rows in groups)
    assert np.sort((found @ at)[:, 0]) == pytest.approx(means)
