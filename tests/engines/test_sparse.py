"""Sparse rows: the same totals as dense ones, in any format and order; users capped; bad rows harmless."""

import numpy as np
import pytest
from scipy import sparse

import knoll
from knoll.engines import ArrayEngine
from knoll.engines.ids import ids_of
from knoll.engines.sparse import SparseEngine, rows_of
from knoll.privacy import DataError, User
from knoll.queries import (
    CellMoments,
    ChosenColumns,
    ColumnCounts,
    ColumnPairs,
    Count,
    Nearest,
    OpenWords,
    SparseMoments,
    SparseRows,
    WordsByTopic,
)

D = 40
DOMAIN = ChosenColumns(D, np.arange(3, 30), np.linspace(1.0, 2.0, 27))
CELLS = Nearest(np.eye(27)[:4], DOMAIN)
QUERIES = [Count(), ColumnCounts(D, 6), ColumnPairs(DOMAIN), SparseMoments(CELLS, DOMAIN), CellMoments(CELLS, DOMAIN)]


def some_rows(rng, n=3000):
    values = rng.integers(1, 5, size=(n, D)) * (rng.random((n, D)) < 0.15)
    return values.astype(float)


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: query.name)
def test_totals_are_those_of_dense_rows_in_every_format(query, rng):
    rows = some_rows(rng)
    expected = query.summarise(rows)
    twice = sparse.csr_array(rows)  # entries in no order, and one of them in two parts
    twice = sparse.csr_array(
        (np.repeat(twice.data / 2, 2), np.repeat(twice.indices, 2)[::1], twice.indptr * 2), shape=rows.shape
    )
    made = [sparse.csr_array(rows), sparse.csr_matrix(rows), sparse.csc_array(rows), sparse.csc_matrix(rows), twice]
    made += [sparse.csr_array(rows.astype(np.float32)), sparse.csr_array(rows.astype(np.int8)), sparse.coo_array(rows)]
    for each in made:
        before = each.copy()
        matrix, _ = rows_of(each, None)
        assert np.array_equal(SparseEngine(matrix).aggregate(query), expected), type(each)
        assert (before != each).nnz == 0  # what was handed over is not changed
    shuffled = sparse.csr_array(rows[rng.permutation(len(rows))])
    assert np.array_equal(SparseEngine(shuffled).aggregate(query), expected)


def test_a_users_rows_are_capped_whatever_their_order(rng):
    rows, ids = some_rows(rng), rng.integers(0, 200, 3000)
    unit = User(D, 2)
    totals = []
    for order in (np.arange(3000), rng.permutation(3000)):
        table = sparse.csr_array(np.column_stack([rows, ids])[order])
        matrix, users = rows_of(table, unit)
        engine = SparseEngine(matrix, users=users, unit=unit)
        totals.append(engine.aggregate(SparseMoments(CELLS, DOMAIN)))
        assert engine.aggregate(Count()) == 2 * len(set(ids.tolist()))
    assert np.array_equal(*totals)


def test_missing_values_are_refused_or_dropped(rng):
    rows = some_rows(rng, 100)
    rows[7, 3] = np.nan
    rows[9, 5] = np.inf
    matrix = sparse.csr_array(rows)
    with pytest.raises(DataError, match="missing"):
        SparseEngine(matrix).aggregate(Count())
    assert SparseEngine(matrix, missing="drop").aggregate(Count()) == 98
    null = sparse.csr_array(np.vstack([rows[:5], [[np.nan, *[0.0] * (D - 1)]]]))
    assert SparseEngine(null, nulls=True).aggregate(Count()) == 5


def test_poisoned_rows_add_no_more_than_others():
    """Huge, tiny, of a million entries: each is one record, of length one at most."""
    d = 10**6
    domain = ChosenColumns(d, np.arange(300), np.ones(300))
    query = SparseMoments(Nearest(np.eye(300)[:3], domain), domain)
    full = sparse.csr_array(np.ones((1, d)))
    huge = sparse.csr_array(([1e308, 1e-308, -1e308], ([0, 0, 0], [5, 6, 7])), shape=(1, d))
    tiny = sparse.csr_array(([5e-324], ([0], [2])), shape=(1, d))
    empty = sparse.csr_array((1, d))
    for row in (full, huge, tiny, empty):
        total = SparseEngine(row).aggregate(query) * query.weights
        assert np.linalg.norm(total) <= query.max_norm(2)
        assert total[:, 0].sum() == query.weights[0]
        assert np.count_nonzero(SparseEngine(row).aggregate(ColumnCounts(d))) <= 256
    assert len(SparseRows.of(full).capped(256).values) == 256


def test_a_damaged_matrix_is_refused():
    bad = sparse.csr_array((np.ones(2), np.array([0, 1]), np.array([0, 1, 2])), shape=(2, 2))
    bad.indices[1] = 77
    with pytest.raises(DataError, match="damaged"):
        rows_of(bad, None)
    with pytest.raises(DataError, match="not numbers"):
        rows_of(sparse.csr_array(np.array([[1j]])), None)
    with pytest.raises(DataError, match="needs a position"):
        rows_of(sparse.csr_array(np.eye(3)), User("who", 2))


def test_other_methods_say_which_one_takes_sparse_rows():
    with pytest.raises(DataError, match="SphericalKMeans"):
        knoll.KMeans(2, bounds=(0, 1)).fit(sparse.csr_array(np.eye(5)))


def test_queries_of_whole_users_are_refused_where_users_are_not_cut(rng):
    query = WordsByTopic(["a", "b"], CELLS, 2)
    engine = ArrayEngine(np.zeros((3, 29)), users=ids_of([1, 1, 2]), unit=User("u", 2))
    with pytest.raises(DataError, match="needs texts"):
        engine.aggregate(query)
    with pytest.raises(DataError, match="needs texts"):
        engine.tally(OpenWords(3))
