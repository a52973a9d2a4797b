"""Rows in memory as a sparse matrix. Blocks of it are `SparseRows`; no row is ever made dense here."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from knoll.arrays import Bools
from knoll.engines.engine import REFUSED, Block, Engine, Missing
from knoll.engines.ids import ids_of
from knoll.privacy.errors import DataError, brief
from knoll.privacy.parts import mix
from knoll.privacy.relation import Unit, User
from knoll.queries.sparse_rows import SparseRows

_BLOCK_ENTRIES, _BLOCK_ROWS = 2**19, 2**10  # chosen columns of a block are dense for a moment


class SparseEngine(Engine):
    """A sparse matrix of shape (rows, columns), by rows.

    Parameters
    ----------
    matrix : scipy csr array or matrix
        The records (`rows_of` makes it of other formats). It is not changed.
    users : Arrow array of length rows, optional
        The user of each row, if the unit is a user; null if it has none.
    missing, unit, nulls
        As for every engine. A row all of whose entries are NaN is a null record.
    """

    rows_stay = True
    is_sparse = True

    def __init__(
        self, matrix: Any, *, users: Any = None, missing: Missing = "refuse", unit: Unit | None = None,
        nulls: bool = False,
    ):  # fmt: skip
        super().__init__(None, matrix.shape[1], missing=missing, unit=unit, nulls=nulls)
        if users is not None and len(users) != matrix.shape[0]:
            raise DataError(f"{len(users)} user ids for {matrix.shape[0]} rows")
        self._matrix, self._users = matrix, users

    def size_blocks(self, coordinates: int) -> None:
        """Keep blocks of a size that follows from the matrix alone: queries cut them to tiles themselves."""
        self._points = None
        self.block_rows = _BLOCK_ROWS

    @property
    def row_limit(self) -> int:
        """The number of rows."""
        return int(self._matrix.shape[0])

    def read(self) -> Iterator[Block]:
        """Yield runs of rows, fewer at a time where rows are long."""
        total = self.row_limit
        ends = self._matrix.indptr
        start = 0
        while start < total:
            stop = min(start + self.block_rows, total)
            full = int(np.searchsorted(ends, int(ends[start]) + _BLOCK_ENTRIES, side="right")) - 1
            stop = max(start + 1, min(stop, full))
            users = None if self._users is None else self._users[start:stop]
            yield SparseRows.of(self._matrix[start:stop]), users, stop / total  # type: ignore[misc]
            start = stop

    def _usable_rows(self, rows: Any) -> Bools:
        usable: Bools = ~rows.rows_with(~np.isfinite(rows.values))
        return usable

    def _all_null(self, rows: Any) -> bool:
        lengths = np.diff(rows.ends)
        return not len(rows) or (self.nulls and bool(np.isnan(rows.values).all() and (lengths > 0).all()))

    def _complete(self, rows: Any) -> Any:
        """Return the rows without a missing value that is to be refused or dropped."""
        if self._passes and not self._gaps:
            return rows
        if np.isfinite(rows.values).all():
            return rows
        self._gaps = True
        usable = self._usable_rows(rows)
        if self.missing == "refuse" and not self._all_null(rows[~usable]):
            raise DataError(REFUSED)
        return rows[usable]

    def column_marks(self) -> list[bytes]:
        """Marks of the rows, for a ledger's witness: their number, and a sum of hashes of all entries."""
        total = 0
        for rows, _, _ in self.read():
            keys = rows.keys(mix(np.zeros(len(rows), dtype=np.uint64)))  # type: ignore[attr-defined]
            total = (total + int(keys.sum(dtype=np.uint64))) % 2**64
        return [f"sparse {self.row_limit} {total}".encode()]


def is_sparse(X: Any) -> bool:
    """Whether X is a scipy sparse matrix or array."""
    return bool(sparse.issparse(X))


def rows_of(X: Any, unit: Unit | None) -> tuple[Any, Any]:
    """Return a sparse matrix by rows, checked, and the user ids in one of its columns, if the unit is a user."""
    if X.ndim != 2 or 0 in X.shape:
        raise DataError(f"X is a sparse matrix of shape {X.shape}; it needs rows and columns")
    if X.dtype.kind not in "fiub":
        raise DataError("X holds values that are not numbers")
    matrix = X if X.format == "csr" else X.tocsr()
    try:
        matrix.check_format(full_check=True)
    except ValueError:
        raise DataError("X is a damaged sparse matrix: its indices do not fit its shape") from None
    if not isinstance(unit, User):
        return matrix, None
    column = unit.column
    if not isinstance(column, int | np.integer) or not 0 <= column < X.shape[1]:
        raise DataError(f"the column of user ids in a sparse matrix needs a position, not {brief(column)}")
    users = ids_of(matrix[:, [column]].toarray()[:, 0])
    others = np.arange(X.shape[1]) != column
    return sparse.csr_array(matrix[:, others]), users
