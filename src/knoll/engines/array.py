"""Rows in memory: a two-dimensional array of doubles, or of smaller floating-point numbers."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from knoll.engines.engine import Block, Engine, Missing, Rule
from knoll.engines.points import no_more_than
from knoll.privacy.errors import DataError
from knoll.privacy.relation import Unit

_KEPT = 2**28  # bytes of grid points of doubles that are kept, however few the rows


class ArrayEngine(Engine):
    """An array of shape (rows, columns).

    Parameters
    ----------
    array : float array of shape (rows, columns)
        The records. Smaller floating-point numbers become doubles block by block, which is exact.
    names : tuple of str, optional
        Column names.
    users : Arrow array of length rows, optional
        The user of each row, if the unit is a user; null if it has none (`knoll.engines.ids.ids_of`).
    missing, unit, nulls, rules
        As for every engine.
    block_rows : int, optional
        Rows summed at a time.
    """

    rows_stay = True

    def __init__(
        self,
        array: np.ndarray,
        names: tuple[str, ...] | None = None,
        *,
        users: Any = None,
        missing: Missing = "refuse",
        unit: Unit | None = None,
        nulls: bool = False,
        rules: Sequence[Rule] | None = None,
        block_rows: int | None = None,
    ):
        super().__init__(names, array.shape[1], missing=missing, unit=unit, nulls=nulls, rules=rules)
        if users is not None and len(users) != len(array):
            raise DataError(f"{len(users)} user ids for {len(array)} rows")
        self._array, self._users = array, users
        # of doubles nearly all are kept; of smaller numbers a part: a fit takes less than half as much memory again
        small = array.dtype.itemsize < 8
        self._new_points = no_more_than(array.nbytes // 4 if small else max(_KEPT, array.nbytes * 3 // 8))
        if block_rows is not None:
            self.block_rows = block_rows

    @property
    def row_limit(self) -> int:
        """The number of rows."""
        return len(self._array)

    def read(self) -> Iterator[Block]:
        """Yield slices of the array."""
        for start in range(0, len(self._array), self.block_rows):
            stop = start + self.block_rows
            users = None if self._users is None else self._users[start:stop]
            yield np.asarray(self._array[start:stop], dtype=np.float64), users, stop / len(self._array)
