"""Embeddings as they are stored: columns of vectors, and small floating-point numbers in memory."""

import tracemalloc

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

import knoll
from knoll.columns import Columns, encode_table
from knoll.engines import gridded
from knoll.engines.array import ArrayEngine
from knoll.engines.files import FileEngine
from knoll.privacy import DataError
from knoll.queries import CellMoments, Nearest, Sphere
from knoll.source import open_table


def written(path, rows, missing=()):
    """Write rows as a column of vectors, beside a number."""
    kind = pa.list_(pa.from_numpy_dtype(rows.dtype), rows.shape[1])
    lists = [None if i in missing else row for i, row in enumerate(rows)]
    table = pa.table({"age": np.arange(len(rows)), "v": pa.array(lists, kind)})
    if path.suffix == ".parquet":
        pa.parquet.write_table(table, path, row_group_size=500)
    else:
        pa.feather.write_feather(table, path)


def total(engine, d):
    return engine.aggregate(CellMoments(Nearest(np.zeros((1, d)), Sphere(d))))


@pytest.mark.parametrize("kind", [np.float32, np.float16])
def test_the_same_total_from_vectors_in_files_small_numbers_and_doubles(tmp_path, kind):
    rows = np.random.default_rng(0).normal(size=(2000, 6)).astype(kind)
    written(tmp_path / "rows.parquet", rows)
    file = FileEngine(tmp_path / "rows.parquet", ["v"])
    assert file.names == tuple(f"v[{i}]" for i in range(6))
    exact = total(ArrayEngine(rows.astype(np.float64)), 6)
    assert np.array_equal(total(file, 6), exact)
    assert np.array_equal(total(ArrayEngine(rows, block_rows=317), 6), exact)


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_a_missing_vector_is_a_missing_row(tmp_path, kind):
    rows, path = np.random.default_rng(0).normal(size=(50, 3)).astype(np.float32), tmp_path / f"rows.{kind}"
    try:
        written(path, rows, missing=(0, 7))
    except pa.ArrowNotImplementedError:
        pytest.skip("this pyarrow writes no missing vectors to parquet")
    assert total(FileEngine(path, ["v"], missing="drop"), 3)[0, 0] == 48
    with pytest.raises(DataError, match="missing"):
        total(FileEngine(path, ["v"]), 3)


def test_vectors_of_another_length_in_a_second_file_are_refused(tmp_path):
    for name, d in (("a", 3), ("b", 4)):
        written(tmp_path / f"{name}.parquet", np.ones((5, d), np.float32))
    with pytest.raises(DataError, match=r"b\.parquet"):
        FileEngine(tmp_path, ["v"])


def test_a_file_of_embeddings_is_fitted_and_labelled(tmp_path):
    rng = np.random.default_rng(1)
    group = rng.integers(0, 3, 6000)
    rows = (np.eye(8)[group] + 0.2 * rng.normal(size=(6000, 8))).astype(np.float32)
    written(tmp_path / "rows.parquet", rows)
    model = knoll.SphericalKMeans(3, epsilon=2.0, random_state=0).fit(
        knoll.Source(tmp_path / "rows.parquet", columns=["v"])
    )
    labels = model.predict(knoll.Source(tmp_path / "rows.parquet", columns=["v"]))
    assert np.array_equal(labels, model.predict(pd.DataFrame(rows, columns=model.feature_names_in_)))
    assert len({*zip(group.tolist(), labels.tolist(), strict=True)}) < 3 * 3
    assert list(model.feature_names_in_) == [f"v[{i}]" for i in range(8)]


def test_small_numbers_stay_small_in_memory():
    rows = np.random.default_rng(0).normal(size=(200_000, 64)).astype(np.float16)
    model = knoll.Lloyd(2, n_steps=1, bounds="sphere", random_state=0)
    model.fit(rows[:500])
    tracemalloc.start()
    model.fit(rows).predict(rows)
    assert tracemalloc.get_traced_memory()[1] < 3 * rows.nbytes  # doubles of all rows would be four times as many
    tracemalloc.stop()


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_a_fit_needs_half_as_much_memory_again_as_its_rows(kind):
    rows = np.random.default_rng(0).normal(size=(60_000, 256)).astype(kind)
    model = knoll.SphericalKMeans(5, random_state=0)
    model.fit(rows[:3000])  # compiles, which takes memory of its own
    tracemalloc.start()
    model.fit(rows)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < rows.nbytes / 2 + 2**26  # error bars take some megabytes, whatever the rows; a copy would be too much


@pytest.mark.parametrize("columns", ["one", "many"])
def test_memory_of_a_fit_is_the_same_at_four_times_the_rows_of_a_file(tmp_path, monkeypatch, columns):
    """Every part of a fit, from a column of vectors and from as many columns of numbers; what small files keep is off.

    Before a file is read again for every pass, 256 megabytes of it are kept, so memory is the same beyond that.
    """
    monkeypatch.setattr(gridded, "MOST_POINTS", 0)
    monkeypatch.setattr("knoll.engines.kept.Kept.__init__.__defaults__", (0,))

    def peak(n):
        path = tmp_path / f"{n}.parquet"
        rows = np.random.default_rng(0).normal(size=(n, 256)).astype(np.float32)
        if columns == "one":
            written(path, rows)
        else:
            pa.parquet.write_table(pa.table({f"v{j}": rows[:, j] for j in range(256)}), path, row_group_size=2000)
        tracemalloc.start()
        chosen = {"one": ["v"], "many": None}[columns]
        knoll.SphericalKMeans(5, random_state=0).fit(knoll.Source(path, columns=chosen))
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    peak(3000)
    assert peak(32_000) < 1.5 * peak(8000)


def test_memory_does_not_grow_with_the_rows_of_a_file(tmp_path, monkeypatch):
    monkeypatch.setattr(gridded, "MOST_POINTS", 0)  # as if the file were large
    rows = np.random.default_rng(0).normal(size=(48_000, 256)).astype(np.float32)
    written(tmp_path / "rows.parquet", rows)
    engine = FileEngine(tmp_path / "rows.parquet", ["v"])
    engine._held_rows._most = 0
    engine.size_blocks(256)
    engine.block_rows = 500
    total(engine, 256)  # compiles, which takes memory of its own
    tracemalloc.start()
    total(engine, 256)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < rows.nbytes / 2  # some blocks of doubles at a time; as doubles, all rows would be twice rows.nbytes


def test_kinds_are_of_the_numbers_of_a_vector_one_by_one(tmp_path):
    rows = np.random.default_rng(0).uniform(1, 8, (40, 2))
    written(tmp_path / "rows.parquet", rows, missing={3})
    columns = Columns({"age": (0, 40), "v[0]": "log:1:8", "v[1]": "int:1:8"})
    engine, _ = open_table(columns, tmp_path / "rows.parquet", missing="count", unit=None)
    read = np.vstack([each for each, _, _ in engine.read()])
    plain = {"age": np.arange(40), "v[0]": rows[:, 0], "v[1]": rows[:, 1]}
    expected = encode_table(columns, plain)
    expected[3, 1:] = np.nan
    assert np.array_equal(read, expected, equal_nan=True)
    with pytest.raises(DataError, match=r"'v' holds 2 numbers in every row.*'v\[0\]'"):
        open_table(Columns({"v": "log:1:8", "age": (0, 40)}), tmp_path / "rows.parquet", missing="drop", unit=None)
