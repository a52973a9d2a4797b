"""Every engine gives every query the same exact total."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from knoll.engines import ArrayEngine
from knoll.engines.files import FileEngine
from knoll.engines.ids import ids_of, seed_of
from knoll.engines.stream import StreamEngine
from knoll.engines.streams import stream_of
from knoll.engines.users import ChosenRows, keys_of
from knoll.privacy import DataError, User
from knoll.queries import Count
from tests.contract.registry import QUERIES, engines, streams, write_files


@pytest.fixture(scope="module")
def rows():
    width = max(d for _, d in QUERIES.values())
    return np.random.default_rng(3).normal(scale=20.0, size=(5000, width)).round(3)


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


def chosen_rows(users, rows, cap):
    """The rule, row by row: of each user the rows with the smallest keys, in any order."""
    keyed: dict = {}
    for user, row in zip(users, rows, strict=True):
        seeds = np.array([seed_of(user)], dtype=np.uint64)
        first, second = keys_of(row[None, :], seeds)
        keyed.setdefault(user, []).append((int(first[0]), int(second[0]), tuple(row)))
    return sorted(row for listed in keyed.values() for _, _, row in sorted(listed)[:cap])


def in_any_order(engine):
    return sorted(map(tuple, np.vstack([block for block, _ in engine.blocks()]).tolist()))


@pytest.mark.parametrize("kind", ["parquet", "csv", "arrow", "lazy frame", "relation"])
def test_the_same_rows_of_a_user_count_on_every_engine_and_in_any_order(kind, rows, tmp_path):
    users = np.random.default_rng(0).integers(0, 300, size=len(rows))
    data = np.column_stack([users, rows[:, :2].round(-1)])  # few values: many of a user's rows are equal
    unit = User("user", cap=4)
    expected = chosen_rows(users.tolist(), data[:, 1:], 4)
    assert len(expected) < len(rows) / 3
    order = np.random.default_rng(1).permutation(len(rows))
    for i, given in enumerate((data, data[order])):
        engine = ArrayEngine(given[:, 1:], users=ids_of(given[:, 0]), unit=unit, block_rows=123)
        assert in_any_order(engine) == expected
        assert in_any_order(engine) == expected  # in the second pass too
        folder = tmp_path / str(i)
        folder.mkdir()
        if kind in (found := streams(given, ["user", "a", "b"])):
            ids = pa.table({"user": given[:, 0].astype(int), "a": given[:, 1], "b": given[:, 2]})
            other = pl.from_arrow(ids).lazy() if kind == "lazy frame" else found[kind]
            engine = StreamEngine(stream_of(other), ["a", "b"], unit=unit)
        elif kind in (paths := write_files(folder, given, ["user", "a", "b"])):
            engine = FileEngine(paths[kind], ["a", "b"], unit=unit)
        else:
            pytest.skip("no DuckDB")
        assert in_any_order(engine) == expected


def test_which_rows_of_a_user_count_depends_on_that_user_alone(rows):
    """Whoever else comes, goes or moves: the others' rows that count are the same."""
    users = np.random.default_rng(5).integers(0, 40, size=600)
    data, unit = rows[:600, :1].round(-1), User("user", cap=3)
    tagged = np.column_stack([data, users])  # the user as a feature, to see whose rows count

    def counted(keep, order):
        here = order[keep[order]]
        engine = ArrayEngine(tagged[here], users=ids_of(users[here]), unit=unit, block_rows=50)
        return in_any_order(engine)

    everyone = counted(np.ones(600, dtype=bool), np.arange(600))
    for gone in range(0, 40, 7):
        shuffled = np.random.default_rng(gone).permutation(600)
        assert counted(users != gone, shuffled) == [row for row in everyone if row[1] != gone]


def test_rows_that_are_dropped_do_not_use_up_the_cap():
    data = np.array([[np.nan], [1.0], [2.0], [np.inf], [3.0], [np.nan]] * 30)
    ids = ids_of(np.repeat(np.arange(30), 6))
    for cap, kept in ((1, 30), (2, 60), (3, 90), (6, 90)):
        assert ArrayEngine(data, users=ids, unit=User("u", cap), missing="drop").aggregate(Count()) == kept
        with pytest.raises(DataError, match='missing="drop"'):
            ArrayEngine(data, users=ids, unit=User("u", cap)).aggregate(Count())
        engine = ArrayEngine(data, users=ids, unit=User("u", cap), missing="count")
        assert sum(len(block) for block, _ in engine.blocks()) == min(30 * cap, 180)
    assert (
        ArrayEngine(np.full((3, 1), np.nan), users=ids[:3], unit=User("u", 1), missing="drop").aggregate(Count()) == 0
    )


def test_not_all_users_keep_the_same_values():
    """With few values, a rule that looked at them alone would keep the same ones of everybody."""
    data = np.tile([[0.0], [1.0]], (1000, 1))
    engine = ArrayEngine(data, users=ids_of(np.arange(2000) // 2), unit=User("user", cap=1))
    kept = np.vstack([block for block, _ in engine.blocks()])
    assert len(kept) == 1000
    assert 400 < kept.sum() < 600


@pytest.mark.parametrize("kind", [np.float32, np.float16])
def test_less_precise_values_choose_the_same_rows(kind, rows):
    """A library may make a whole column less precise because one value is: that must not change who is chosen."""
    users, number = np.random.default_rng(5).integers(0, 900, size=3000), np.arange(3000.0)[:, None]

    def chosen(values):
        engine = ArrayEngine(values, users=ids_of(users), unit=User("u", 2))
        admission = engine._choose(2)
        return admission.admit(ids_of(users), values, np.ones(len(values), dtype=bool))[0]

    values = np.hstack([rows[:3000, :2], number % 50])
    differ = chosen(values) != chosen(values.astype(kind).astype(float))
    assert differ.sum() <= (0 if kind is np.float32 else 6)  # halves are rounded once, or twice


def test_rows_that_cannot_count_are_forgotten(monkeypatch):
    monkeypatch.setattr("knoll.engines.users._FEWEST", 50)
    rng = np.random.default_rng(0)
    data, users = rng.integers(0, 5, (5000, 2)).astype(float), rng.integers(0, 30, 5000)
    chosen, ids = ChosenRows(7), ids_of(users)
    for start in range(0, 5000, 40):
        chosen.add(ids[start : start + 40], data[start : start + 40], np.ones(40, dtype=bool))
        assert chosen._held <= 2 * 30 * 7 + 100
    with_all = ArrayEngine(data, users=ids_of(users), unit=User("u", 7), block_rows=40)
    assert in_any_order(with_all) == chosen_rows(users.tolist(), data, 7)


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
