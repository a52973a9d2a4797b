"""Every engine gives every query the same exact total."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from knoll.engines import ArrayEngine
from knoll.engines.files import FileEngine
from knoll.engines.ids import ids_of
from knoll.privacy import DataError, User
from knoll.queries import Count
from tests.contract.registry import QUERIES, engines, write_files


@pytest.fixture(scope="module")
def rows():
    return np.random.default_rng(3).normal(scale=20.0, size=(5000, 7)).round(3)


@pytest.mark.parametrize("name", QUERIES)
def test_all_engines_agree_bit_for_bit(name, rows, tmp_path):
    query, d = QUERIES[name]
    names = [f"c{j}" for j in range(d)]
    data = np.ascontiguousarray(rows[:, :d])
    expected = query.summarise(data)
    for kind, engine in engines(tmp_path, data, names).items():
        assert np.array_equal(engine.aggregate(query), expected), kind


@pytest.mark.parametrize("name", QUERIES)
def test_sums_of_a_block_are_exact_in_doubles(name):
    query, d = QUERIES[name]
    rows = 2 * ArrayEngine(np.zeros((1, d))).block_rows  # what files read at a time
    assert rows * query.largest < 2**53


def test_files_project_and_order_columns(rows, tmp_path):
    names = ["a", "b", "c", "d", "e"]
    for kind, path in write_files(tmp_path, rows, names).items():
        blocks = [block for block, _ in FileEngine(path, ["d", "b"]).blocks()]
        assert np.array_equal(np.vstack(blocks), rows[:, [3, 1]]), kind


@pytest.mark.parametrize("kind", ["parquet", "csv", "arrow"])
def test_user_cap_is_the_same_in_memory_and_in_files(kind, rows, tmp_path):
    users = np.random.default_rng(0).integers(0, 300, size=len(rows)).astype(float)
    data = np.column_stack([users, rows[:, :2]])
    path = write_files(tmp_path, data, ["user", "a", "b"])[kind]
    unit = User("user", cap=4)
    streamed = np.vstack([block for block, _ in FileEngine(path, ["a", "b"], unit=unit).blocks()])
    engine = ArrayEngine(rows[:, :2], users=ids_of(users), unit=unit, block_rows=123)
    in_memory = np.vstack([block for block, _ in engine.blocks()])
    seen: dict = {}
    expected = []
    for user, row in zip(users, rows[:, :2], strict=True):
        seen[user] = seen.get(user, 0) + 1
        if seen[user] <= 4:
            expected.append(row)
    assert np.array_equal(in_memory, expected)
    assert np.array_equal(streamed, expected)


def test_missing_values_are_refused_or_dropped(rows):
    data = rows[:, :2].copy()
    data[7, 1], data[9, 0] = np.nan, np.inf
    with pytest.raises(DataError, match='missing="drop"'):
        ArrayEngine(data).aggregate(Count())
    assert ArrayEngine(data, missing="drop").aggregate(Count()) == len(data) - 2


def test_opposite_infinities_do_not_slip_through():
    data = np.array([[np.inf, 0.0], [-np.inf, 0.0]])
    with pytest.raises(DataError):
        ArrayEngine(data).aggregate(Count())


def test_a_missing_id_changes_no_other_user():
    """Ids are read one by one: a null among integers must not turn the others into doubles."""
    big = [2**60 + i for i in range(50)]
    for ids in ([*big, None], [*big, float("nan")], pa.array([*big, None]), pd.array([*big, None], dtype="Int64")):
        found = ids_of(ids if hasattr(ids, "tolist") or hasattr(ids, "to_pylist") else pd.Series(ids, dtype=object))
        assert found.to_pylist()[:50] == list(range(50))
        assert found.null_count == 1


def test_rows_without_an_id_are_refused_or_dropped(rows):
    ids = ids_of(pd.Series(["a", None, "b", "a"]))
    data = rows[:4, :2]
    with pytest.raises(DataError, match="no user id"):
        ArrayEngine(data, users=ids, unit=User("u", 5)).aggregate(Count())
    assert ArrayEngine(data, users=ids, unit=User("u", 5), missing="drop").aggregate(Count()) == 3


def test_a_quoted_newline_moves_nothing_else(tmp_path):
    """Text of one record, in a column that is not read, must not change how the others are parsed."""
    totals = set()
    for padding in (0, 1, 7, 1000):
        lines = [f'{i},"note {i}\nsecond line",{i % 7}' for i in range(40_000)]
        lines[3] = f'3,"{"x" * padding}\n",3'
        path = tmp_path / f"{padding}.csv"
        path.write_text("a,note,b\n" + "\n".join(lines) + "\n")
        totals.add(int(FileEngine(path, ["a", "b"], line_breaks=True).aggregate(Count())))
        with pytest.raises(DataError, match="a line ends inside quotes"):
            FileEngine(path, ["a", "b"]).aggregate(Count())
    assert totals == {40_000}
