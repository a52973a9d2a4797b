"""A block of sparse rows: entries (column, value) of each row, columns ascending. Never made dense as a whole.

What a query makes of a row depends on that row's entries alone: entries are put in order and repeated ones added up row
by row, and a row with more entries than a public cap keeps those of the largest size, ties by a hash of the column.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from knoll.arrays import Bools, Floats, Integers
from knoll.privacy.parts import Words, mix

MOST_ENTRIES = 256
"""Entries of a row that count, unless told otherwise."""

_TILE_ENTRIES = 2**16
_CHOSEN = 256  # columns that are usually chosen


class SparseRows:
    """Some rows of a sparse matrix.

    Parameters
    ----------
    ends : integer array of shape (rows + 1,)
        Where the entries of each row begin, and the last ones end.
    columns, values : arrays
        The entries, row after row, columns ascending in each.
    n_columns : int
        Columns of the matrix.
    """

    def __init__(self, ends: Integers, columns: Integers, values: Floats, n_columns: int) -> None:
        self.ends, self.columns, self.values = ends, columns, values
        self.shape = (len(ends) - 1, n_columns)

    @classmethod
    def of(cls, block: Any) -> "SparseRows":
        """Return a block, dense or a scipy matrix in rows, as sparse rows with ordered entries; NaN are entries too."""
        if isinstance(block, SparseRows):
            return block
        matrix = sparse.csr_array(block)
        if not matrix.has_canonical_format:  # the block is the caller's: put its copy in order
            matrix = matrix.copy()
            matrix.sum_duplicates()
        ends, columns = np.asarray(matrix.indptr, dtype=np.int64), np.asarray(matrix.indices, dtype=np.int64)
        return cls(ends, columns, np.asarray(matrix.data, dtype=np.float64), matrix.shape[1])

    @property
    def most_chosen(self) -> int:
        """Columns in which rows are made dense at most, tile by tile."""
        return min(self.shape[1], _CHOSEN)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, which: Any) -> "SparseRows":
        """Return some rows: a slice, a mask or numbers."""
        if isinstance(which, slice):
            start, stop, step = which.indices(len(self))
            if step == 1:
                stop = max(start, stop)
                ends = self.ends[start : stop + 1]
                part = slice(ends[0], ends[-1])
                return SparseRows(ends - ends[0], self.columns[part], self.values[part], self.shape[1])
        rows = np.arange(len(self))[which]
        lengths = np.diff(self.ends)[rows]
        ends = np.concatenate([[0], np.cumsum(lengths)])
        entries = np.repeat(self.ends[:-1][rows] - ends[:-1], lengths) + np.arange(ends[-1])
        return SparseRows(ends, self.columns[entries], self.values[entries], self.shape[1])

    @property
    def owners(self) -> Integers:
        """The row of each entry."""
        return np.repeat(np.arange(len(self)), np.diff(self.ends))

    def rows_with(self, entries: Bools) -> Bools:
        """Return which rows hold any of some entries, given as a mask."""
        return np.bincount(self.owners[entries], minlength=len(self)) > 0

    def capped(self, most: int) -> "SparseRows":
        """Return rows of at most `most` entries: of a longer row those of the largest size, ties by column hash."""
        lengths = np.diff(self.ends)
        if not len(lengths) or lengths.max() <= most:
            return self
        keep = np.ones(len(self.values), dtype=bool)
        for row in np.flatnonzero(lengths > most):
            part = slice(self.ends[row], self.ends[row + 1])
            size = np.abs(self.values[part])
            size[np.isnan(size)] = np.inf  # it stays: the row is null
            order = np.lexsort((mix(self.columns[part].astype(np.uint64)), -size))
            keep[part][order[most:]] = False
        ends = np.concatenate([[0], np.cumsum(np.bincount(self.owners[keep], minlength=len(self)))])
        return SparseRows(ends, self.columns[keep], self.values[keep], self.shape[1])

    def keys(self, seeds: Words) -> Words:
        """Return a hash of each row's entries, keyed by its seed: the same in any order of entries, zeros left out."""
        held = self.values != 0.0
        values = np.where(np.isnan(self.values), np.nan, self.values + 0.0).view(np.uint64)
        entry = mix(mix(self.columns.astype(np.uint64)) ^ values)
        total = np.zeros(len(self), dtype=np.uint64)
        np.add.at(total, self.owners[held], entry[held])
        return mix(total ^ seeds)

    def tiles(self, width: int) -> Iterator["SparseRows"]:
        """Yield the rows in parts whose dense form, in so many columns, stays in cache; one part at least."""
        rows = max(64, _TILE_ENTRIES // max(1, width))
        for start in range(0, max(1, len(self)), rows):
            yield self[start : start + rows]
