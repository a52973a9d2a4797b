"""Queries of sparse rows: how often columns occur, the columns that are chosen, and which of them occur together.

Every query takes dense blocks too (an entry that is not zero is an entry), so that tests can search for neighbours.
"""

from typing import Any

import numpy as np

from knoll.arrays import Floats, Integers
from knoll.compiled.sparse import add_columns, add_entries, add_pairs, fill_rows, unit_entries
from knoll.queries.domain import Ball
from knoll.queries.grid import Gridded
from knoll.queries.nearest import Nearest
from knoll.queries.query import BITS, UNIT, Query, require_finite
from knoll.queries.sparse_rows import MOST_ENTRIES, SparseRows

_VOTES = 5  # a count weighs a fifth of a row's length: counts are large, and then cost the sums 2 % more noise


class ColumnCounts(Query):
    """How often each column of sparse rows is not zero; a row with L such entries counts 1 / sqrt(L) in each of them.

    So long rows do not cost more noise than short ones, and short rows are not weakened for the sake of long ones.

    Sensitivity. A row adds 1 / sqrt(L), cut towards zero, in L columns, L at most m (rows are capped) and at most the
    number of columns d: norm 1 in l2; sqrt(min(m, d)) in l1. difference: two rows without a common column, sqrt(2) in
    l2 and twice the norm in l1; with few columns that is not reached.

    Parameters
    ----------
    n_columns : int
        Columns of the rows.
    most : int
        Entries of a row that count (see `SparseRows.capped`).
    """

    name = "column counts"

    def __init__(self, n_columns: int, most: int = MOST_ENTRIES) -> None:
        self.shape, self.most = (int(n_columns),), int(most)
        self.weights, self.step = np.array(1), np.array(1.0 / UNIT)
        self.touched, self.largest = min(self.most, self.shape[0]), UNIT

    def summarise(self, block: Any) -> Integers:
        """Count the entries of each column."""
        rows = SparseRows.of(block).capped(self.most)
        total = np.zeros(self.shape, dtype=np.int64)
        add_columns(rows.ends, rows.columns, rows.values, float(UNIT), total)
        return total

    def max_norm(self, norm: int) -> float:
        """A row with one entry (or any number) in l2, with as many as count in l1."""
        return float(UNIT) * (self.touched**0.5 if norm == 1 else 1.0)

    def max_difference(self, norm: int) -> float:
        """Two rows without a common column."""
        return self.max_norm(norm) * 2.0 ** (1 / norm)


class ChosenColumns(Ball):
    """The unit ball of some columns of sparse rows: entries are weighed, rows scaled to length one.

    A row without an entry in these columns is the middle of the ball. A row that holds a NaN adds nothing. Coordinates
    are cut towards zero, so that no row leaves the ball.

    Parameters
    ----------
    n_sources : int
        Columns of the rows.
    columns : integer array of shape (n_chosen,)
        The chosen columns.
    weights : array of shape (n_chosen,)
        Public, positive weights of their entries.
    most : int
        Entries of a row that count.
    """

    def __init__(self, n_sources: int, columns: Integers, weights: Floats, most: int = MOST_ENTRIES) -> None:
        super().__init__(1.0, (0.0,) * len(columns))
        weights = np.asarray(weights, dtype=np.float64)
        require_finite("weights of columns", weights, positive=True)
        if not 0.0 < weights.max() <= 1e6 or weights.min() < 1e-6:
            weights = np.clip(weights, 1e-6, 1e6)
        place = np.full(n_sources, -1, dtype=np.int64)
        place[columns] = np.arange(len(columns))
        for name, value in (("columns", np.asarray(columns)), ("weights", weights), ("most", int(most))):
            object.__setattr__(self, name, value)
        object.__setattr__(self, "_place", place)

    columns: Integers
    weights: Floats
    most: int
    _place: Integers

    @property
    def n_sources(self) -> int:
        """Number of columns of the rows."""
        return len(self._place)

    def entries(self, block: Any, unit: int = UNIT) -> tuple[Integers, Integers, Floats]:
        """Return where the entries of each row stop (-1 for a null row), their places and their whole numbers."""
        rows = SparseRows.of(block).capped(self.most)
        to, grid = np.empty(len(rows.values), dtype=np.int64), np.empty(len(rows.values))
        stops = np.empty(len(rows), dtype=np.int64)
        unit_entries(rows.ends, rows.columns, rows.values, self._place, self.weights, float(unit), to, grid, stops)
        return stops, to, grid

    def clip_to_grid(self, block: Any) -> Floats:
        """Return rows as points of the ball's grid, in the chosen columns; rows that hold a NaN are left out."""
        if isinstance(block, Gridded):
            return block.on(self)
        stops, to, grid = self.entries(block)
        out = np.zeros((len(stops), self.n_columns))
        return out[: fill_rows(stops, to, grid, out)]

    def coordinates(self, block: Any) -> Floats:
        """Return rows as points of the ball."""
        return self.clip_to_grid(block) * self.steps

    def __repr__(self) -> str:
        return f"ChosenColumns({len(self.columns)} of {self.n_sources})"


class SparseMoments(Query):
    """Count and sum of sparse unit rows in each cell. The total has shape (cells, 1 + columns).

    Sensitivity. A row adds (w, q) to one cell, q a grid point no longer than UNIT with at most t = min(m, d) entries.
    norm: sqrt(w^2 + UNIT^2) in l2, w + sqrt(t) UNIT in l1. difference: two cells' contributions side by side, sqrt(2)
    norm in l2 and 2 norm in l1; in one cell opposite rows, 2 UNIT or 2 sqrt(t) UNIT. The larger of the two.

    Parameters
    ----------
    cells : Nearest
        The cells; their domain may be another choice of columns, or a projection.
    domain : ChosenColumns
        The columns that are added up.
    """

    name = "cell counts and sums of chosen columns"

    def __init__(self, cells: Nearest, domain: ChosenColumns) -> None:
        self.cells, self.domain = cells, domain
        d = domain.n_columns
        self._vote = UNIT // _VOTES
        self._held = min(domain.most, d)
        self.shape = (cells.n_cells, 1 + d)
        self.weights = np.array([self._vote] + [1] * d, dtype=np.int64)
        self.step = np.array([1.0] + [1.0 / UNIT] * d)
        self.touched, self.largest = 1 + self._held, UNIT

    def summarise(self, block: Any) -> Integers:
        """Count and add up the rows of each cell."""
        total = np.zeros(self.shape, dtype=np.int64)
        for rows in SparseRows.of(block).tiles(self.cells.domain.n_columns):
            labels = self.cells.labels(rows)  # type: ignore[arg-type]
            add_entries(*self.domain.entries(rows), labels, total)
        return total

    def _reach(self, norm: int) -> float:
        return UNIT * (self._held**0.5 if norm == 1 else 1.0)

    def max_norm(self, norm: int) -> float:
        """Count and sum together."""
        return float(np.linalg.norm([self._vote, self._reach(norm)], norm))

    def max_difference(self, norm: int) -> float:
        """Two rows in different cells, or opposite ones in the same."""
        apart = 2.0 ** (1 / norm) * self.max_norm(norm) if self.cells.n_cells > 1 else 0.0
        return max(apart, 2.0 * self._reach(norm))


class ColumnPairs(Query):
    """How often columns occur together: the scatter matrix of sparse unit rows without its diagonal.

    The diagonal of sparse rows says how common a column is, and nothing of what it occurs with; it is not paid for.

    Sensitivity. A row x of length at most 1 adds x_i x_j, cut towards zero, for i < j; at most t = min(m, d) entries
    are not zero. norm: sum of x_i^2 x_j^2 is (|x|^4 - sum x_i^4) / 2 <= (1 - 1/t) / 2, at equal entries; in l1,
    (t - 1) / 2. difference: x x^T - y y^T has a Frobenius norm of at most sqrt(2), of which pairs are half the square
    without the diagonal: 1 in l2, and at most twice the norm; cutting moves each of the d (d - 1) / 2 products by less
    than a unit more. In l1 twice the norm, which few columns do not reach.

    Parameters
    ----------
    domain : ChosenColumns
        The columns and their weights; two or more.
    """

    name = "pairs of columns"

    def __init__(self, domain: ChosenColumns) -> None:
        self.domain = domain
        d = domain.n_columns
        self.pairs = np.triu_indices(d, 1)
        self.shape = (len(self.pairs[0]),)
        self.weights, self.step = np.array(1), np.array(1.0 / UNIT)
        self._held = min(domain.most, d)
        self.touched, self.largest = self._held * (self._held - 1) // 2, UNIT // 2

    def summarise(self, block: Any) -> Integers:
        """Add up the products of different entries."""
        stops, to, grid = self.domain.entries(block)
        total = np.zeros((self.domain.n_columns,) * 2, dtype=np.int64)
        add_pairs(stops, to, grid, BITS, total)
        return total[self.pairs]

    def matrix(self, values: Floats) -> Floats:
        """Return released values as a symmetric matrix with an empty diagonal."""
        full = np.zeros((self.domain.n_columns,) * 2)
        full[self.pairs] = values
        return full + full.T

    def max_norm(self, norm: int) -> float:
        """A row with equal entries."""
        t = self._held
        return UNIT * ((t - 1) / 2 if norm == 1 else ((1 - 1 / t) / 2) ** 0.5)

    def max_difference(self, norm: int) -> float:
        """Two rows whose matrices are as far apart as can be."""
        twice = 2.0 * self.max_norm(norm)
        return twice if norm == 1 else min(twice, UNIT + self.shape[0] ** 0.5)
