"""Lazy frames, relations and Arrow streams: the same model as of a table in memory, and refusals where they change."""

import datetime
import decimal
import itertools

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import knoll
from knoll.engines import ArrayEngine
from knoll.engines.stream import Stream, StreamEngine
from knoll.engines.streams import stream_of
from knoll.privacy import DataError
from knoll.queries import Count
from tests.contract.registry import QUERIES, Exported, streams

KINDS = {"a": (-50, 50), "plan": {"x", "y"}, "since": ("2020-01-01", "2020-12-31"), "on": bool, "paid": (0, 9)}


def _rows(n=3000):
    return np.random.default_rng(1).normal(scale=20.0, size=(n, 2)).round(3)


def _mixed(n=2000):
    """Columns of many kinds, with nulls."""
    rng = np.random.default_rng(2)
    return pa.table(
        {
            "paid": pa.array([decimal.Decimal(int(i)) / 8 for i in rng.integers(0, 80, n)], pa.decimal128(12, 3)),
            "on": pa.array([None if i == 2 else bool(i) for i in rng.integers(0, 3, n)]),
            "plan": pa.array([["x", "y", "z", None][i] for i in rng.integers(0, 4, n)]),
            "since": [datetime.date(2020, 1, 1) + datetime.timedelta(int(i)) for i in rng.integers(0, 400, n)],
            "a": rng.normal(scale=30, size=n),
            "user": pa.array(rng.integers(0, 100, n) + 2**60),
            "note": ["secret"] * n,
        }
    )


def _all(table):
    yield "lazy frame", pl.from_arrow(table).lazy()
    yield "reader", table.to_reader()
    yield "export", Exported(table)
    duckdb = pytest.importorskip("duckdb")
    yield "relation", duckdb.connect().from_arrow(table)


@pytest.mark.parametrize("missing", ["drop", "refuse"])
def test_kinds_of_columns_and_missing_values(missing):
    table = _mixed()
    fit = {"bounds": KINDS, "missing": missing, "random_state": 0, "epsilon": 5.0}
    with knoll.testing.seeded_noise(3):
        expected = None if missing == "refuse" else knoll.KMeans(3, **fit).fit(table)
    for name, given in _all(table):
        with knoll.testing.seeded_noise(3):
            if missing == "refuse":
                with pytest.raises(DataError, match="missing"):
                    knoll.KMeans(3, **fit).fit(given)
                continue
            found = knoll.KMeans(3, **fit).fit(given)
        assert np.array_equal(found.cluster_centers_, expected.cluster_centers_), name
        assert list(found.feature_names_in_) == list(KINDS), name


def test_bounds_by_name_choose_columns():
    rows = _rows()
    names, bounds = ["a", "b"], {"b": (-60, 60), "a": (-60, 60)}
    model = knoll.KMeans(2, bounds=bounds, random_state=0).fit(pl.DataFrame(rows, schema=names))
    for name, given in streams(rows, names).items():
        assert np.array_equal(model.transform(given), model.transform(pl.DataFrame(rows, schema=names))), name


def test_predict_gives_the_same_kind_of_thing_lazily():
    rows = _rows().copy()
    rows[5, 0] = np.nan
    table = pa.table({"id": np.arange(len(rows)), "b": rows[:, 1], "a": rows[:, 0]})
    model = knoll.KMeans(2, bounds={"a": (-60, 60), "b": (-60, 60)}, missing="drop", random_state=0).fit(table)
    expected = model.predict(table)
    model.missing = "refuse"  # rows that are not in memory are labelled all the same
    assert set(expected) == {-1, 0, 1}
    kinds = {"lazy frame": pl.LazyFrame, "reader": pa.RecordBatchReader, "export": pa.RecordBatchReader}
    for name, given in _all(table):
        found = model.predict(given)
        assert isinstance(found, kinds.get(name, type(given))), name
        for _ in range(1 if name in ("reader", "export") else 2):  # others can be asked again
            read = _table_of(found)
            assert read.column_names == ["id", "b", "a", "label"], name
            assert read.column("id").to_pylist() == list(range(len(rows))), name
            assert np.array_equal(read.column("label"), expected), name
    lazy = model.predict(pl.from_arrow(table).lazy())
    assert lazy.filter(pl.col("label") == 1).select(pl.len()).collect().item() == (expected == 1).sum()
    assert lazy.select("label").head(3).collect()["label"].to_list() == expected[:3].tolist()
    with pytest.raises(DataError, match="a column 'label' already"):
        model.predict(lazy)


def _table_of(found):
    if isinstance(found, pl.LazyFrame):
        return found.collect().to_arrow()
    return found.read_all() if isinstance(found, pa.RecordBatchReader) else found.to_arrow_table()


def test_predict_reads_nothing_before_it_is_asked_to():
    reads = itertools.count()

    def counted(frame):
        next(reads)
        return frame

    frame = pl.DataFrame(_rows(100), schema=["a", "b"])
    model = knoll.KMeans(2, bounds=(-60, 60), random_state=0).fit(frame.to_numpy())
    labels = model.predict(frame.lazy().map_batches(counted, schema=frame.schema))
    assert next(reads) == 0
    assert labels.collect().height == 100


def test_predict_of_kinds_of_columns():
    table = _mixed()
    model = knoll.KMeans(3, bounds=KINDS, missing="drop", random_state=0, epsilon=5.0).fit(table)
    expected = model.predict(table)
    for name, given in _all(table):
        assert np.array_equal(_table_of(model.predict(given)).column("label"), expected), name


def test_without_bounds_by_name_all_columns_are_used():
    rows = _rows()
    for given in streams(rows, ["a", "b"]).values():
        model = knoll.KMeans(2, bounds=(-60, 60), random_state=0).fit(given)
        assert list(model.feature_names_in_) == ["a", "b"]


def _changing(tables):
    """A stream whose passes give one table after the other."""
    turn = iter(tables)
    schema = tables[0].schema
    return Stream(
        schema, lambda names: iter(next(turn).to_batches()), lambda names: len(tables[0]), "the made-up table"
    )


@pytest.mark.parametrize("change", ["more", "fewer", "values", "twice one", "types"])
def test_a_source_that_changes_is_refused_before_anything_is_recorded(change, tmp_path):
    rows = _rows(500)
    first = pa.table({"a": rows[:, 0], "b": rows[:, 1]})
    second = {
        "more": pa.concat_tables([first, first.slice(0, 1)]),
        "fewer": first.slice(1),
        "values": first.set_column(1, "b", [np.where(np.arange(500) == 7, 3.25, rows[:, 1])]),
        "twice one": pa.concat_tables([first.slice(1), first.slice(2, 1)]),
        "types": first.cast(pa.schema([("a", pa.float32()), ("b", pa.float64())])),
    }[change]
    engine = StreamEngine(_changing([first, first.take(np.arange(500)[::-1]), second, first]))
    assert engine.aggregate(Count()) == 500
    assert engine.aggregate(Count()) == 500  # another order is the same rows
    with pytest.raises(DataError, match="gave other rows than before"):
        engine.aggregate(Count())
    assert engine.aggregate(Count()) == 500


@pytest.mark.skipif(not hasattr(pl.LazyFrame, "collect_batches"), reason="this polars counts no rows of a function")
def test_a_fit_of_a_source_that_changes_records_only_what_was_released(tmp_path):
    rows = pl.DataFrame(_rows(), schema=["a", "b"])
    turn = itertools.count()

    def sample(frame):
        return frame.head(2900) if next(turn) > 6 else frame

    lazy = rows.lazy().map_batches(sample, schema=rows.schema)
    ledger = knoll.Ledger(tmp_path / "privacy.db", "rows")
    with pytest.raises(DataError, match=r"the lazy frame gave other rows.*collect\(\)"):
        knoll.KMeans(3, bounds=(-60, 60), ledger=ledger, random_state=0).fit(lazy)
    recorded = ledger.spend("rows").releases
    assert 0 < recorded < 7


def test_errors_of_other_libraries_are_not_repeated():
    duckdb = pytest.importorskip("duckdb")
    con = duckdb.connect()
    con.execute("create table t as select 'secret7' as s from range(10)")
    relation = con.sql("select cast(s as double) as a from t")
    with pytest.raises(DataError, match="the relation cannot be read") as caught:
        knoll.KMeans(2, bounds=(0, 1)).fit(relation)
    assert "secret7" not in str(caught.value)
    assert caught.value.__cause__ is None
    lazy = pl.LazyFrame({"a": ["1", "x"]})
    with pytest.raises(DataError, match="column 'a' of the lazy frame holds .*string, not numbers"):
        knoll.KMeans(2, bounds=(0, 1)).fit(lazy)
    with pytest.raises(DataError, match="no column 'q' in the lazy frame; it has a"):
        knoll.KMeans(2, bounds={"q": (0, 1)}).fit(lazy)


def test_an_empty_stream_is_refused():
    with pytest.raises(DataError, match="no rows"):
        knoll.KMeans(2, bounds=(0, 1)).fit(pl.LazyFrame({"a": [0.5]}).filter(pl.col("a") > 1))


def test_tables_in_memory_are_no_streams():
    for given in (pl.DataFrame({"a": [1]}), pa.table({"a": [1]}), np.zeros((2, 2)), [[1.0]], {"a": [1]}, "path.csv"):
        assert stream_of(given) is None


def test_large_batches_become_blocks():
    rows = np.random.default_rng(0).normal(size=(200_000, 1))
    reader = pa.table({"a": rows[:, 0]}).to_reader()
    query, _ = QUERIES["moments, one column"]
    engine = StreamEngine(stream_of(reader))
    assert max(len(block) for block, _, _ in engine.read()) <= 2**17
    assert np.array_equal(engine.aggregate(query), ArrayEngine(rows).aggregate(query))
