"""Grid points of rows are kept from one pass to the next, and totals are those of the rows."""

import numpy as np
import pytest

from knoll.engines import ArrayEngine, points
from knoll.engines.ids import ids_of
from knoll.privacy import PrivacyError, User
from knoll.queries import (
    Ball,
    Box,
    CellMoments,
    CellShapes,
    Frame,
    Nearest,
    NearestVotes,
    Projected,
    SplitTree,
    TreeCounts,
)  # fmt: skip
from knoll.queries.grid import Gridded


def projection(rng, columns=6, axes=3):
    return Projected(Ball(3.0, (0.0,) * columns), np.linalg.qr(rng.normal(size=(columns, columns)))[0][:axes], 3.0)


def shapes(cells, frame, k=4):
    at = np.linspace(-1, 1, k)[:, None] * np.ones(frame.n_columns)
    return CellShapes(cells, frame, at, np.ones(at.shape), np.ones(k))


def nearest(domain, k=4):
    return shapes(Nearest(np.linspace(-1, 1, k)[:, None] * np.ones(domain.n_columns), domain), Frame(domain), k)


class Counting(Ball):
    """A ball that counts how often rows are put on its grid."""

    times = 0

    def clip_to_grid(self, block):
        Counting.times += len(block) > 0
        return super().clip_to_grid(block)


@pytest.fixture
def rows(rng):
    rows = rng.normal(size=(2000, 6))
    rows[::97] = np.nan
    return rows


def test_totals_are_those_of_the_rows(rows, rng):
    engine, domain = ArrayEngine(rows, missing="drop", block_rows=300), projection(rng)
    tree = SplitTree(domain)
    tree.open([*tree.split(0, 0, 0.0)])
    asked = [nearest(domain), shapes(tree, Frame(domain), 2), nearest(domain, 7), nearest(projection(rng))]
    for query in [*asked, *asked]:
        assert np.array_equal(engine.aggregate(query), query.summarise(rows))


@pytest.mark.parametrize("columns", [4, 6, 8])
@pytest.mark.parametrize("kind", ["box", "ball"])
def test_rows_are_put_on_a_grid_once(kind, columns, rng):
    """All that is asked of one domain comes from what the first pass kept; other widths of columns need the rows."""
    domain = Box((-2.0,) * columns, (2.0,) * columns) if kind == "box" else Ball(2.0, (0.0,) * columns)
    rows = rng.normal(size=(2000, columns))
    rows[::97, 1] = np.nan
    tree = SplitTree(domain)
    tree.open([*tree.split(0, 0, 0.0)])
    cells = Nearest(rng.normal(size=(5, columns)), domain)
    asked = [
        nearest(domain), shapes(tree, Frame(domain), 2), CellMoments(cells), CellMoments(tree), NearestVotes(cells),
        TreeCounts(tree),
    ]  # fmt: skip
    right = [query.summarise(rows) for query in asked]
    stretched = CellMoments(Nearest(cells.centres, domain, np.linspace(1, 2, columns)))
    engine = ArrayEngine(rows, missing="drop", block_rows=300)
    for query, total in zip(asked, right, strict=True):
        assert np.array_equal(engine.aggregate(query), total)
        assert np.array_equal(engine.aggregate(stretched), stretched.summarise(rows))
    kept = engine._points._blocks
    assert len(kept) == 7
    for query, total in zip(asked, right, strict=True):
        assert np.array_equal(sum(query.summarise(kept[number]) for number in kept), total)


def test_few_columns_and_many_are_not_kept(rng):
    """Three columns would take more than the rows; in nine, quantising is little beside the rest."""
    for columns in (3, 9):
        engine = ArrayEngine(rng.normal(size=(100, columns)))
        engine.aggregate(nearest(Box((-2.0,) * columns, (2.0,) * columns)))
        assert engine._points is None


def test_rows_are_projected_once(rows, rng):
    domain = projection(rng)
    domain.source = Counting(3.0, (0.0,) * 6)
    engine = ArrayEngine(rows, missing="drop", block_rows=300)
    Counting.times = 0
    for _ in range(3):
        engine.aggregate(nearest(domain))
    assert Counting.times == 7
    engine.impute(np.zeros(6))  # other rows from now on
    engine.aggregate(nearest(domain))
    assert Counting.times == 14
    engine.block_rows = 100
    engine.size_blocks(6)
    engine.aggregate(nearest(domain))
    assert Counting.times == 15


def test_users_are_capped_before(rows, rng):
    users, domain = np.arange(2000) // 5, projection(rng)
    engine = ArrayEngine(rows, users=ids_of(users), unit=User("user", cap=2), missing="drop", block_rows=301)
    counted = np.concatenate([block for block, _ in engine.blocks()])
    usable = np.bincount(users[np.isfinite(rows).all(axis=1)], minlength=400)
    assert len(counted) == np.minimum(usable, 2).sum()
    for query in (nearest(domain), nearest(domain, 5)):
        assert np.array_equal(engine.aggregate(query), query.summarise(counted))


def test_what_does_not_fit_is_projected_again(rows, rng, monkeypatch):
    monkeypatch.setattr(points, "_MOST_BYTES", 2 * 300 * 8 * 4)
    engine, query = ArrayEngine(rows, missing="drop", block_rows=300), nearest(projection(rng))
    for _ in range(2):
        assert np.array_equal(engine.aggregate(query), query.summarise(rows))
    assert len(engine._points._blocks) == 2


def test_what_takes_more_than_the_rows_is_not_kept(rows, rng):
    engine = ArrayEngine(rows, missing="drop")
    engine.aggregate(nearest(Projected(Ball(3.0, (0.0,) * 6), rng.normal(size=(13, 6)), 3.0)))
    assert engine._points is None


def test_a_domain_refuses_grid_points_of_another(rows, rng):
    one, other = projection(rng), projection(rng)
    kept = Gridded.of(one, one.clip_to_grid(rows))
    assert np.array_equal(one.clip_to_grid(kept[3:50]), one.clip_to_grid(rows)[3:50])
    with pytest.raises(PrivacyError, match="another domain"):
        other.clip_to_grid(kept)
