"""The search for the nearest of many candidates: exact where it says so, near where it does not."""

import numpy as np
import pytest

from knoll.queries import Ball, Box, Nearest, TwoLevel, candidates
from knoll.queries.query import UNIT


def distances(X, points):
    return np.linalg.norm(X[:, None] - points, axis=2)


def test_many_centres_in_many_columns_are_told_apart_exactly(rng):
    """200 columns, 3,000 centres: on the finest grid a product would need 56 bits. Corners are where it is longest."""
    centres = rng.choice([-1.0, 1.0], size=(3000, 200))
    cells = Nearest(centres, Box((-1.0,) * 200, (1.0,) * 200))
    picked = rng.permutation(3000)[:500]
    assert np.array_equal(cells.labels(centres[picked]), picked)
    rows = np.vstack([centres[:200] * 0.9, rng.uniform(-1, 1, size=(100, 200)), (centres[:100] + centres[100:200]) / 2])
    labels = cells.labels(rows)
    grid, points = cells._grid.astype(np.int64), np.rint(cells.metric_grid(rows) / 2**cells._coarse).astype(np.int64)
    assert np.abs(points).max() * 2**cells._coarse <= UNIT
    scores = (grid * grid).sum(axis=1)[:, None] - 2 * (grid @ points.T)  # 64-bit integers: no rounding anywhere
    assert np.array_equal(labels, scores.argmin(axis=0))
    assert np.array_equal(np.concatenate([cells.labels(row[None]) for row in rows]), labels)


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


def test_nearest_agrees_with_brute_force(rng):
    for d, k in ((1, 3), (2, 17), (8, 100), (40, 12), (300, 600)):
        box = Box((-4.0,) * d, (4.0,) * d)
        rows = rng.normal(size=(300, d))
        centres = rng.normal(size=(k, d))
        expected = np.argmin(((rows[:, None] - centres) ** 2).sum(axis=2), axis=1)
        assert (Nearest(centres, box).labels(rows) == expected).mean() > 0.99


def test_nearest_ties_go_to_the_first():
    box = Box((-1.0, -1.0), (1.0, 1.0))
    assert Nearest([[0.5, 0.0], [-0.5, 0.0], [0.5, 0.0]], box).labels(np.array([[0.0, 0.3], [0.5, 0.0]])).tolist() == [
        0,
        0,
    ]


def test_distances_respect_scales():
    box = Box((0, 0), (100, 1))
    centres = [[0.0, 0.0], [50.0, 1.0]]
    row = np.array([[30.0, 0.1]])
    assert Nearest(centres, box).labels(row) == [1]
    assert Nearest(centres, box, box.half).labels(row) == [0]
