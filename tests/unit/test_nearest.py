"""The search for the nearest of many candidates: exact where it says so, near where it does not."""

import numpy as np
import pytest

from knoll.queries import Ball, Box, Nearest, TwoLevel, candidates


def distances(X, points):
    return np.linalg.norm(X[:, None] - points, axis=2)


@pytest.mark.parametrize("domain", [Box((-1, -2, 0), (1, 2, 5)), Ball(2.0, (0.0, 1.0, 0.0))], ids=["box", "ball"])
def test_a_tree_finds_the_nearest(domain, rng):
    points = domain.clip(domain.centre + domain.half * rng.uniform(-1, 1, size=(3000, 3)))
    X = domain.clip(domain.centre + domain.half * rng.uniform(-1, 1, size=(500, 3)))
    cells = candidates(points, domain)
    assert isinstance(cells, Nearest)
    chosen = distances(X, points)[np.arange(len(X)), cells.labels(X)]
    assert chosen == pytest.approx(distances(X, points).min(axis=1), abs=1e-4)


def test_groups_find_one_nearly_as_near(rng):
    box = Box((-1,) * 12, (1,) * 12)
    points, X = rng.uniform(-1, 1, size=(6000, 12)), rng.uniform(-1, 1, size=(300, 12))
    cells = candidates(points, box)
    assert isinstance(cells, TwoLevel)
    assert set(cells.labels(points)) <= set(range(6000))
    apart = distances(X, points)
    assert apart[np.arange(300), cells.labels(X)].mean() < 1.3 * apart.min(axis=1).mean()


def test_equal_candidates_make_no_empty_group(rng):
    points = np.repeat(rng.uniform(-1, 1, size=(5, 9)), 1000, axis=0)
    labels = candidates(points, Box((-1,) * 9, (1,) * 9)).labels(points)
    assert np.array_equal(points[labels], points)
