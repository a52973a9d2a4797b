"""Grid points that an engine keeps, four bytes each, give the totals that the plain form gives on the rows.

Up to eight columns go through loops over eight at once; lengths of blocks and numbers of centres lie about the ends of
what those loops do side by side.
"""

import numpy as np
import pytest

from knoll.engines import ArrayEngine
from knoll.privacy import PrivacyError
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
    TwoLevel,
    candidates,
)  # fmt: skip
from knoll.queries.grid import Gridded, TwoGrids
from knoll.queries.points import points_on, worth_keeping
from tests.compiled import plain
from tests.compiled.test_equal import absurd_rows
from tests.contract.registry import QUERIES

KEPT = [pytest.param(query, d, id=name) for name, (query, d) in QUERIES.items() if getattr(query, "gridded", None)]
BLOCKS = [1, 127, 128, 129, 700]


def test_queries_of_every_kind_that_can_be_kept_are_registered():
    assert {type(case.values[0]) for case in KEPT} >= {CellMoments, CellShapes, NearestVotes, TreeCounts}


@pytest.mark.parametrize(("query", "d"), KEPT)
def test_kept_points_give_the_total_of_the_plain_form(query, d, rng, monkeypatch):
    rows = absurd_rows(query, d, rng)
    totals = {}
    for layout, block in (("rows", rows), ("columns", np.asfortranarray(rows)), ("reversed", rows[::-1])):
        kept = Gridded.of(query.gridded, points_on(query.gridded, block))
        assert kept.dtype == np.int32
        totals[layout] = query.summarise(kept)
    plain.use_plain(monkeypatch)
    for layout, total in totals.items():
        assert np.array_equal(total, query.summarise(rows)), layout


def domains(d, rng):
    """Domains of d columns whose grid points are kept, and the number of columns of their rows."""
    turn = np.linalg.qr(rng.normal(size=(d + 8, d + 8)))[0][:d]
    yield Box((-1.0,) * d, (1.0,) * d), d
    yield Box(tuple(-np.linspace(1, 2, d)), tuple(np.linspace(0.1, 3, d))), d
    yield Ball(1.5, tuple(np.linspace(-0.2, 0.2, d))), d
    yield Projected(Ball(2.0, (0.0,) * (d + 8)), turn, 2.0), d + 8


def asked(domain, k, rng):
    """A query of each kind that points are kept for, with k cells."""
    places = domain.clip(domain.centre + domain.half * rng.uniform(-1, 1, size=(k, domain.n_columns)))
    tree = SplitTree(domain)
    leaves = [0]
    while len(leaves) < k:
        node = leaves.pop(0)
        leaves += tree.split(node, len(leaves) % domain.n_columns, float(rng.integers(-(2**17), 2**17)))
    if k > 1:
        tree.open(leaves)
    scales = domain.half if type(domain) is Box else None  # distances by the bounds: on the grid of the box
    cells = Nearest(places, domain, scales)
    near = domain.half / np.linspace(2, 4, domain.n_columns)
    for each in (cells, tree):
        at = (places - domain.centre)[: each.n_cells]
        yield CellShapes(each, Frame(domain), at, np.ones(at.shape), np.full(len(at), float(near.min())))
        if not isinstance(domain, Projected):  # their sums are of the columns before
            yield CellMoments(each)
    yield NearestVotes(cells)
    yield TreeCounts(tree)
    yield NearestVotes(TwoLevel(np.repeat(places, 3, axis=0), np.repeat(np.arange(k), 3), domain, scales))


@pytest.mark.parametrize("d", [4, 5, 7, 8])
@pytest.mark.parametrize("k", [1, 2, 3, 16, 33])
def test_eight_columns_at_once(k, d, rng, monkeypatch):
    """Every kind of query in every kind of domain: by blocks, and by an engine, in a pass that keeps and one more."""
    found = []
    for domain, columns in domains(d, rng):
        assert worth_keeping(domain)
        rows = 1.2 * rng.normal(size=(sum(BLOCKS), columns))
        rows[::53, columns - 1] = np.nan
        for query in asked(domain, k, rng):
            assert query.gridded is domain
            for block in np.split(rows, np.cumsum(BLOCKS)[:-1]):
                kept = Gridded.of(domain, points_on(domain, block))
                assert kept.dtype == np.int32
                assert kept.shape[1] == 8
                found.append((query, block, query.summarise(kept)))
            engine = ArrayEngine(rows, missing="drop", block_rows=129)
            found += [(query, rows, engine.aggregate(query)) for _ in range(2)]
            assert len(engine._points._blocks) == -(-len(rows) // 129)
    plain.use_plain(monkeypatch)
    for query, block, total in found:
        assert np.array_equal(total, query.summarise(block)), (query.name, type(query.gridded), len(block))


@pytest.mark.parametrize("d", [4, 5, 8])
@pytest.mark.parametrize("widths", [1.5, 7.0, 1e9])
def test_two_grids_at_once(widths, d, rng, monkeypatch):
    """Where distances have a grid of their own, both points of a record are kept: absurd records, and those far out."""
    bounds = np.geomspace(1, widths, d)
    domain = Box(tuple(-bounds), tuple(1.1 * bounds))
    places = domain.clip(bounds * rng.uniform(-1, 1, size=(9, d)))
    cells = Nearest(places, domain, np.linspace(1, 3, d))
    tree = SplitTree(domain)
    tree.open([*tree.split(0, 2, 100.0)])
    shapes = CellShapes(cells, Frame(domain), places, np.ones((9, d)), np.full(9, 0.3))
    groups = TwoLevel(np.repeat(places, 3, axis=0), np.repeat(np.arange(9), 3), domain, cells.scales)
    queries = [
        CellMoments(cells),
        shapes,
        NearestVotes(cells),
        NearestVotes(groups),
        CellMoments(tree),
        TreeCounts(tree),
    ]
    rows = np.vstack([bounds * rng.normal(size=(400, d)), absurd_rows(queries[0], d, rng), [np.inf * bounds]])
    rows[7], rows[8] = domain.corners
    whole = rows[~np.isinf(rows).any(axis=1)]
    engine = ArrayEngine(whole, missing="drop", block_rows=129)
    totals = [engine.aggregate(query) for query in [*queries, *queries]]
    assert isinstance(queries[0].gridded, TwoGrids)
    assert len(engine._points._blocks) == -(-len(whole) // 129)
    assert engine._points.domain.same(queries[2].gridded)  # that of the box alone asked for no other
    kept = Gridded.of(queries[0].gridded, points_on(queries[0].gridded, rows))
    far = [query.summarise(kept) for query in queries]
    plain.use_plain(monkeypatch)
    for i, query in enumerate(queries):
        assert np.array_equal(far[i], query.summarise(rows)), query.name
        for total in totals[i :: len(queries)]:
            assert np.array_equal(total, query.summarise(whole)), query.name


def test_points_of_another_metric_are_refused(rng):
    domain = Box((-1.0,) * 5, (1.0,) * 5)
    one, other = (CellMoments(Nearest(rng.normal(size=(3, 5)), domain, np.linspace(1, w, 5))) for w in (2, 3))
    kept = Gridded.of(one.gridded, points_on(one.gridded, rng.normal(size=(20, 5))))
    with pytest.raises(PrivacyError, match="another metric"):
        other.summarise(kept)
    with pytest.raises(PrivacyError, match="another"):
        CellMoments(Nearest(np.zeros((1, 5)), Box((-1.0,) * 5, (2.0,) * 5))).summarise(kept)


def test_many_candidates_in_groups(rng, monkeypatch):
    domain = Box((-1.0,) * 8, (1.0,) * 8)
    query = NearestVotes(candidates(rng.uniform(-1, 1, size=(3000, 8)), domain))
    rows = rng.uniform(-1.1, 1.1, size=(500, 8))
    total = query.summarise(Gridded.of(domain, points_on(domain, rows)))
    plain.use_plain(monkeypatch)
    assert np.array_equal(total, query.summarise(rows))
