"""Every engine gives every query the same exact total."""

import numpy as np
import pytest

from knoll.engines import ArrayEngine
from knoll.engines.files import FileEngine
from knoll.privacy import DataError, User
from knoll.queries import Count
from tests.contract.registry import QUERIES, engines, write_files


@pytest.fixture(scope="module")
def rows():
    return np.random.default_rng(3).normal(scale=20.0, size=(5000, 5)).round(3)


@pytest.mark.parametrize("name", QUERIES)
def test_all_engines_agree_bit_for_bit(name, rows, tmp_path):
    query, d = QUERIES[name]
    names = [f"c{j}" for j in range(d)]
    data = np.ascontiguousarray(rows[:, :d])
    expected = query.summarise(data)
    for kind, engine in engines(tmp_path, data, names).items():
        assert np.array_equal(engine.aggregate(query), expected), kind


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
    engine = ArrayEngine(rows[:, :2], users=users.astype(str), unit=unit, block_rows=123)
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
