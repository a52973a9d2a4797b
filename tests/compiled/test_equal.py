"""Compiled functions equal their plain twins, integer for integer, on ordinary and on absurd records."""

import numpy as np
import pytest

from knoll.compiled.hashes import sum_of_hashes
from knoll.compiled.packed import pack, unpack
from knoll.compiled.reports import share_out
from knoll.compiled.waves import waves
from knoll.queries import Ball, Box, CellShapes, Frame, Nearest, SplitTree, TwoLevel
from knoll.queries.grid import clip_to_ball
from tests.compiled import plain
from tests.contract.registry import QUERIES, interesting_points

CASES = [pytest.param(query, d, id=name) for name, (query, d) in QUERIES.items()]
ABSURD = [np.nan, np.inf, -np.inf, 1e308, -1e308, 5e-324, -5e-324, 2.2e-308, -0.0, 0.0, 1e-17, 0.1, 2.0**53, -(2.0**63)]


def absurd_rows(query, d, rng):
    """Rows of the query's own interesting points, and rows with absurd values in some columns."""
    points = interesting_points(query, d, rng)
    rows = np.vstack([points] * 3 + [points + rng.normal(size=points.shape) * 10.0 ** rng.integers(-8, 3)])
    hit = rng.random(rows.shape) < 0.1
    mixed = np.where(hit, rng.choice(ABSURD, size=rows.shape), rows)
    return np.vstack([rows, mixed, np.nextafter(points, np.inf)])


@pytest.mark.parametrize(("query", "d"), CASES)
def test_every_query_equals_its_plain_form(query, d, rng, monkeypatch):
    rows = absurd_rows(query, d, rng)
    layouts = {"rows": rows, "columns": np.asfortranarray(rows), "reversed": rows[::-1], "shifted": _unaligned(rows)}
    compiled = {name: query.summarise(block) for name, block in layouts.items()}
    plain.use_plain(monkeypatch)
    for name, total in compiled.items():
        assert np.array_equal(total, query.summarise(rows)), name


def _unaligned(rows):
    """The same rows at an odd address."""
    raw = np.empty(rows.nbytes + 1, dtype=np.uint8)[1:]
    moved = raw.view(np.float64).reshape(rows.shape)
    moved[:] = rows
    assert not moved.flags.aligned
    return moved


@pytest.mark.parametrize("d", [1, 3, 4, 7, 8, 33])
@pytest.mark.parametrize("k", [1, 2, 19, 70])
def test_ties_go_to_the_first_centre(k, d, rng, monkeypatch):
    centres = np.repeat(rng.integers(-3, 4, size=(k, d)).astype(float), 2, axis=0)
    cells = Nearest(centres, Box((-4.0,) * d, (4.0,) * d))
    rows = rng.integers(-3, 4, size=(500, d)) / 2.0
    labels = cells.labels(rows)
    assert (labels % 2 == 0).all()
    exact = np.square(rows[:, None] - centres).sum(axis=2)
    assert np.array_equal(labels, exact.argmin(axis=1))
    plain.use_plain(monkeypatch)
    assert np.array_equal(labels, cells.labels(rows))


@pytest.mark.parametrize("d", [1, 3, 8, 70])
def test_a_record_looks_into_its_own_group(d, rng, monkeypatch):
    """Groups of one centre and of many, equal centres in one group; as searched for one group after the other."""
    points = np.repeat(rng.uniform(-1, 1, size=(150, d)), 2, axis=0)
    groups = np.sort(np.concatenate([np.arange(12), rng.integers(0, 12, 288)]))
    cells = TwoLevel(points, groups, Box((-1.0,) * d, (1.0,) * d))
    rows = np.vstack([points, rng.uniform(-2, 2, size=(1500, d))])
    labels = cells.labels(rows)
    assert np.array_equal(labels[::-1], cells.labels(rows[::-1]))
    heads = points[[np.flatnonzero(groups == g)[0] for g in range(12)]]
    inside = np.clip(rows, -1, 1)
    own = np.square(inside[:, None] - heads).sum(axis=2).argmin(axis=1)
    assert (groups[labels] == own).mean() > 0.999  # but for the grid
    plain.use_plain(monkeypatch)
    assert np.array_equal(labels, cells.labels(rows))
    cells._packed = None
    assert np.array_equal(labels, cells.labels(rows))


def test_read_only_rows_are_summed(rng):
    rows = rng.normal(size=(100, 3))
    rows.flags.writeable = False
    cells = Nearest(np.zeros((1, 3)), Ball(1.0, (0.0,) * 3))
    query = CellShapes(cells, Frame(cells.domain), np.zeros((1, 3)), np.ones((1, 3)), np.ones(1))
    assert query.summarise(rows)[0, 0] == 100


def test_lopsided_and_single_trees(rng, monkeypatch):
    tree = SplitTree(Box((-1.0, -1.0), (1.0, 1.0)))
    rows = rng.uniform(-1, 1, size=(300, 2))
    assert (tree.labels(rows) == 0).all()
    node = 0
    for depth in range(12):
        left, node = tree.split(node, depth % 2, -(2.0**17) + depth)
        tree.open([left, node])
    labels = tree.labels(rows)
    assert set(labels) <= {-1, 0, 1}
    plain.use_plain(monkeypatch)
    assert np.array_equal(labels, tree.labels(rows))


def test_lengths_in_very_many_columns_do_not_depend_on_layout(rng):
    """Beyond 2^13 columns a sum of squares no longer fits into a double; added in another order it would be another."""
    grid = rng.integers(2**20 - 50, 2**20, size=(40, 9001)).astype(float)
    exact = np.array([[float(sum(int(x) ** 2 for x in row))] for row in grid])
    cut = np.trunc(grid * (2**18 * (1.0 - 2.0**-40) / np.sqrt(exact)))
    for layout in (grid.copy(), np.asfortranarray(grid), grid[:, ::-1][:, ::-1]):
        assert np.array_equal(clip_to_ball(layout, 2**18), cut)


@pytest.mark.parametrize("frequencies", [1, 255, 257, 700])
@pytest.mark.parametrize("reach", [1.0, 300.0])  # phases of less than a turn, and of thousands
def test_waves_are_those_of_sine_and_cosine(frequencies, reach, rng):
    points, turns = reach * rng.normal(size=(5, 3)), rng.normal(size=(3, frequencies))
    cosines, sines = rng.normal(size=(2, frequencies))
    found, plainly = np.full((2, 2, 5, frequencies), np.nan)
    waves(points, turns, cosines, sines, *found)
    plain.waves(points, turns, cosines, sines, *plainly)
    assert found == pytest.approx(plainly, abs=1e-13 * (1 + reach))


@pytest.mark.parametrize("k", [1, 2, 5])
def test_reports_are_shared_out_by_probability(k, rng):
    reports, times = rng.integers(0, 7, size=(40, 3)), rng.integers(1, 4, size=40).astype(float)
    logs, weights = 200 * rng.normal(size=(3, 7, k)), np.log(rng.dirichlet(np.ones(k)))
    found, plainly = np.zeros((2, 3, 7, k))
    value = share_out(reports, times, logs, weights, found, np.empty(k))
    assert value == pytest.approx(plain.share_out(reports, times, logs, weights, plainly, None), rel=1e-12)
    assert found == pytest.approx(plainly, abs=1e-10)
    assert found[0].sum() == pytest.approx(times.sum())


def test_packed_grid_points_are_whole(rng):
    ends = [-(2**19), -(2**18), -1, 0, 1, 2**18, 2**19 - 1]
    grid = np.vstack([rng.integers(-(2**18), 2**18 + 1, size=(300, 8)), rng.choice(ends, size=(300, 8))]).astype("i4")
    places = [(np.empty((600, 8), np.uint16), np.empty(600, np.uint32)) for _ in range(2)]
    for work, put, (low, high) in zip((pack, plain.pack), (unpack, plain.unpack), places, strict=True):
        again = np.empty_like(grid)
        assert work(grid, low, high) == 0
        put(low, high, again)
        assert np.array_equal(again, grid)
    assert all(np.array_equal(one, other) for one, other in zip(*places, strict=True))
    grid[7, 3], grid[8, 0], grid[8, 1] = 2**19, -(2**19) - 1, 2**24
    assert pack(grid, *places[0]) == plain.pack(grid, *places[1]) == 2


def test_sums_of_hashes_tell_records_apart(rng):
    rows = rng.normal(size=(500, 5))
    bits = np.ascontiguousarray(rows.T).view(np.uint64)
    sums = [sum_of_hashes(bits)]
    assert sums[0] == plain.sum_of_hashes(bits) == sum_of_hashes(np.ascontiguousarray(bits[:, ::-1]))
    for change in (2**63, 1, 2**52, 2**31):  # of two records alike: sums that are too simple do not notice
        for j in range(5):
            other = bits.copy()
            other[j, [3, 300]] ^= np.uint64(change)
            sums.append(sum_of_hashes(other))
    swapped = bits.copy()
    swapped[2, [4, 5]] = bits[2, [5, 4]]
    fewer = np.ascontiguousarray(bits[:, 1:])
    sums += [sum_of_hashes(swapped), sum_of_hashes(bits[[1, 0, 2, 3, 4]]), sum_of_hashes(fewer)]
    assert len(set(sums)) == len(sums)
