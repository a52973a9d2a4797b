"""Small files are read once for several passes, and a pass over what is kept gives the same total."""

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import knoll
from knoll.engines import kept
from knoll.engines.files import FileEngine
from knoll.privacy import DataError
from knoll.queries import CellMoments, Nearest

QUERY = CellMoments(Nearest(np.array([[-1.0, 0.0], [1.0, 0.5]]), knoll.Box((-5.0, -5.0), (5.0, 5.0))))


@pytest.fixture(params=["parquet", "csv"])
def path(request, tmp_path, rng):
    X = rng.normal(size=(3000, 2))
    table = pa.table({"a": X[:, 0], "b": X[:, 1]})
    path = tmp_path / f"rows.{request.param}"
    pq.write_table(table, path, row_group_size=700) if request.param == "parquet" else pa.csv.write_csv(table, path)
    return path


def _counting(engine, monkeypatch):
    read = []
    blocks = engine._blocks
    monkeypatch.setattr(engine, "_blocks", lambda: read.append(1) or blocks())
    return read


def test_the_second_pass_reads_no_file(path, monkeypatch):
    engine = FileEngine(path)
    read = _counting(engine, monkeypatch)
    first = engine.aggregate(QUERY)
    assert np.array_equal(engine.aggregate(QUERY), first)
    assert first[:, 0].sum() % 3000 == 0
    assert len(read) == 1


def test_large_files_are_read_again(path, monkeypatch):
    engine = FileEngine(path)
    engine._held_rows = kept.Kept(most=10_000)
    read = _counting(engine, monkeypatch)
    assert np.array_equal(engine.aggregate(QUERY), engine.aggregate(QUERY))
    assert len(read) == 2
    assert engine._held_rows.blocks(engine.block_rows) is None


def test_blocks_of_another_size_are_read_again(path, monkeypatch):
    engine = FileEngine(path)
    read = _counting(engine, monkeypatch)
    engine.aggregate(QUERY)
    engine.size_blocks(10**6)
    engine.aggregate(QUERY)
    assert len(read) == 2


def test_a_pass_that_broke_off_is_not_kept(path):
    engine = FileEngine(path)
    next(iter(engine.read()))
    assert engine._held_rows.blocks(engine.block_rows) is None


def test_a_file_that_changed_is_refused_though_its_rows_are_kept(path):
    engine = FileEngine(path)
    engine.aggregate(QUERY)
    path.write_bytes(path.read_bytes() + b"\n")
    with pytest.raises(DataError, match="changed while it was read"):
        engine.aggregate(QUERY)
