"""Grid points of files are kept from one pass to the next: totals are those of the rows, and a change is refused."""

import os

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from knoll.engines import ArrayEngine, gridded, parts, reading
from knoll.engines import files as files_module
from knoll.engines.files import FileEngine
from knoll.privacy import DataError
from knoll.queries import Ball, Box, CellMoments, CellShapes, ColumnHistograms, Frame, Nearest, SplitTree, TreeCounts

COLUMNS, ROWS = 5, 3000
WRITERS = {"parquet": pq.write_table, "csv": pa.csv.write_csv, "arrow": pa.feather.write_feather}


def write(path, X, kind="parquet"):
    table = pa.table({f"x{j}": X[:, j] for j in range(X.shape[1])})
    WRITERS[kind](table, path, **({"row_group_size": 500} if kind == "parquet" else {}))
    return path


@pytest.fixture
def X(rng):
    return rng.normal(size=(ROWS, COLUMNS))


@pytest.fixture(autouse=True, params=[0, 99], ids=["decoded by all", "read ahead"])
def small_runs(monkeypatch, request):
    monkeypatch.setattr(parts, "_RUN", 1000)
    monkeypatch.setattr(files_module, "_RUNS_EACH", request.param)


def asked(domain, rng):
    cells = Nearest(rng.normal(size=(6, COLUMNS)), domain)
    tree = SplitTree(domain)
    tree.open([*tree.split(0, 2, 0.0)])
    shapes = CellShapes(cells, Frame(domain), cells.centres, np.ones((6, COLUMNS)), np.ones(6))
    return [CellMoments(cells), shapes, TreeCounts(tree), CellMoments(cells)]


@pytest.mark.parametrize("domain", [Box((-2.0,) * COLUMNS, (2.0,) * COLUMNS), Ball(2.0, (0.0,) * COLUMNS)], ids=type)
@pytest.mark.parametrize("kind", WRITERS)
def test_totals_are_those_of_the_rows_and_files_are_read_once(kind, domain, X, rng, tmp_path, monkeypatch):
    memory, files = ArrayEngine(X), FileEngine(write(tmp_path / f"rows.{kind}", X, kind))
    read, run = [], files._run
    monkeypatch.setattr(files, "_run", lambda *args: read.append(args) or run(*args))
    for query in asked(domain, rng):
        assert np.array_equal(files.aggregate(query), memory.aggregate(query))
    assert len(read) == (3 if kind == "parquet" else 1)
    histograms = ColumnHistograms(np.zeros((COLUMNS, 1)))
    assert np.array_equal(files.aggregate(histograms), memory.aggregate(histograms))


def test_what_does_not_fit_is_read_again(X, rng, tmp_path, monkeypatch):
    monkeypatch.setattr(gridded, "MOST_POINTS", 2500 * 20)
    memory, files = ArrayEngine(X), FileEngine(write(tmp_path / "rows.parquet", X))
    read, run = [], files._run
    monkeypatch.setattr(files, "_run", lambda at: read.append(files._runs[at][2]) or run(at))
    for query in asked(Box((-2.0,) * COLUMNS, (2.0,) * COLUMNS), rng):
        assert np.array_equal(files.aggregate(query), memory.aggregate(query))
        assert sum(each.nbytes for each in files._points._blocks.values()) == files._points._held <= 2500 * 20
    assert read[:3] == [[0, 1], [2, 3], [4, 5]]
    assert len(read) == 6  # two of three runs fit
    assert len({tuple(each) for each in read[3:]}) == 1


@pytest.mark.parametrize("absent", [np.nan, np.inf, None])
def test_missing_values_go_the_usual_way(absent, X, rng, tmp_path):
    columns = {f"x{j}": [*X[:, j]] for j in range(COLUMNS)}
    columns["x3"][1700] = absent
    pq.write_table(pa.table(columns), tmp_path / "rows.parquet", row_group_size=500)
    query = asked(Box((-2.0,) * COLUMNS, (2.0,) * COLUMNS), rng)[0]
    with pytest.raises(DataError, match="'x3'"):
        FileEngine(tmp_path / "rows.parquet").aggregate(query)
    dropping = FileEngine(tmp_path / "rows.parquet", missing="drop")
    for _ in range(2):
        assert np.array_equal(dropping.aggregate(query), query.summarise(np.delete(X, 1700, axis=0)))


def test_a_file_that_changed_is_refused_though_its_points_are_kept(X, rng, tmp_path):
    engine = FileEngine(write(tmp_path / "rows.parquet", X))
    query = asked(Box((-2.0,) * COLUMNS, (2.0,) * COLUMNS), rng)[0]
    engine.aggregate(query)
    write(tmp_path / "rows.parquet", X + 1)
    with pytest.raises(DataError, match="changed while it was read"):
        engine.aggregate(query)


@pytest.mark.parametrize("kept", [True, False])
def test_a_file_that_changes_in_the_last_part_of_a_pass_is_refused(kept, X, rng, tmp_path, monkeypatch):
    """Nothing reads it again in this pass; its total must not leave the engine all the same."""
    engine = FileEngine(write(tmp_path / "rows.parquet", X))
    if not kept:
        monkeypatch.setattr("knoll.engines.files.points_for", lambda *_: None)
    summed = engine._summed

    def changing(*given):
        total = summed(*given)
        write(tmp_path / "rows.parquet", X + 1)
        return total

    monkeypatch.setattr(engine, "_summed", changing)
    with pytest.raises(DataError, match="changed while it was read"):
        engine.aggregate(asked(Box((-2.0,) * COLUMNS, (2.0,) * COLUMNS), rng)[0])


@pytest.mark.parametrize("later", ["the same query", "another grid", "rows as they are"])
def test_other_records_are_refused_though_size_and_time_tell_nothing(later, X, rng, tmp_path, monkeypatch):
    """Kept parts are those of the file as it was: what is read again must be as well."""
    monkeypatch.setattr(gridded, "MOST_POINTS", 1500 * 20)
    for module in (files_module, reading):
        monkeypatch.setattr(module, "stamp_of", lambda file: ())
    engine = FileEngine(write(tmp_path / "rows.parquet", X))
    query = asked(Box((-2.0,) * COLUMNS, (2.0,) * COLUMNS), rng)[0]
    first = engine.aggregate(query)
    assert np.array_equal(first, engine.aggregate(query))
    other = X.copy()
    other[[2998, 2999], 4] *= -1  # in the last part, which is read again
    write(tmp_path / "rows.parquet", other)
    wider = asked(Box((-3.0,) * COLUMNS, (3.0,) * COLUMNS), rng)[0]
    histograms = ColumnHistograms(np.zeros((COLUMNS, 1)))
    asks = {"the same query": query, "another grid": wider, "rows as they are": histograms}
    with pytest.raises(DataError, match="changed while it was read"):
        engine.aggregate(asks[later])


def test_another_file_in_the_same_place_is_refused_though_it_is_as_old_and_as_large(X, rng, tmp_path):
    path = write(tmp_path / "rows.parquet", X)
    engine, about = FileEngine(path), path.stat()
    new = write(tmp_path / "new.parquet", X)
    os.utime(new, ns=(about.st_atime_ns, about.st_mtime_ns))
    new.replace(path)
    assert path.stat().st_size == about.st_size
    with pytest.raises(DataError, match="changed while it was read"):
        engine.aggregate(asked(Box((-2.0,) * COLUMNS, (2.0,) * COLUMNS), rng)[0])


def test_a_pass_that_was_given_up_does_not_count(X, rng, tmp_path, monkeypatch):
    engine = FileEngine(write(tmp_path / "rows.parquet", X))
    query = asked(Box((-2.0,) * COLUMNS, (2.0,) * COLUMNS), rng)[0]
    with monkeypatch.context() as broken:
        broken.setattr(gridded, "bounded_total", lambda *_: 1 // 0)
        with pytest.raises(ZeroDivisionError):
            engine.aggregate(query)
    assert np.array_equal(engine.aggregate(query), query.summarise(X))


def test_what_cannot_be_packed_is_read_again(X, rng, tmp_path, monkeypatch):
    monkeypatch.setattr(gridded, "pack", lambda *_: 1)
    engine = FileEngine(write(tmp_path / "rows.parquet", X))
    query = asked(Box((-2.0,) * COLUMNS, (2.0,) * COLUMNS), rng)[0]
    for _ in range(2):
        assert np.array_equal(engine.aggregate(query), query.summarise(X))
    assert engine._points._held == 0
    assert not engine._points._blocks


def test_other_numbers_become_the_same_points(rng, tmp_path):
    """Whole numbers and single precision are no doubles yet: each value becomes one by itself first."""
    X = rng.integers(-3, 4, size=(ROWS, COLUMNS))
    single = {f"x{j}": pa.array(X[:, j], pa.float32() if j % 2 else pa.int16()) for j in range(COLUMNS)}
    pq.write_table(pa.table(single), tmp_path / "rows.parquet", row_group_size=500)
    for query in asked(Box((-2.0,) * COLUMNS, (2.0,) * COLUMNS), rng):
        assert np.array_equal(FileEngine(tmp_path / "rows.parquet").aggregate(query), query.summarise(X.astype(float)))


def test_no_rows_are_refused(tmp_path, rng):
    write(tmp_path / "rows.parquet", np.empty((0, COLUMNS)))
    with pytest.raises(DataError, match="no rows"):
        FileEngine(tmp_path / "rows.parquet").aggregate(asked(Box((-2.0,) * COLUMNS, (2.0,) * COLUMNS), rng)[0])
