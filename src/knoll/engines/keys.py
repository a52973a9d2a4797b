"""A hash of each row's own values, and sums of it: the same in any order, block, layout or engine.

A pass over rows is told from another by the number of rows and by the sum, modulo 2^64, of their hashes. Both are exact
facts about the data: they stay inside the wall, in memory, and never reach a ledger, a model or a message.
"""

from dataclasses import dataclass

import numpy as np

from knoll.arrays import Floats
from knoll.privacy.parts import Words, mix

_TILE = 2**13  # rows hashed at a time: intermediate arrays stay in cache


def row_keys(rows: Floats, seeds: Words | int = 0) -> Words:
    """Return a hash of each row's values, keyed by its seed; one NaN, one zero.

    >>> rows = np.array([[0.0, np.nan], [-0.0, -np.nan], [1.0, 2.0]])
    >>> first, second, third = row_keys(rows)
    >>> first == second, first == third
    (np.True_, np.False_)
    """
    mixed = np.full(len(rows), np.uint64(seeds)) if isinstance(seeds, int) else seeds
    for column in rows.T:
        plain = np.where(np.isnan(column), np.nan, column + 0.0)
        mixed = mix(mixed ^ plain.view(np.uint64))
    return mixed


@dataclass
class Pass:
    """The number of rows that were read, and the sum of their hashes."""

    rows: int = 0
    checksum: int = 0

    def add(self, rows: Floats, seeds: Words | int = 0) -> None:
        """Count a block of rows; `seeds` stand for what belongs to a row and is no feature: its user."""
        self.rows += len(rows)
        for start in range(0, len(rows), _TILE):
            tile = slice(start, start + _TILE)
            keys = row_keys(rows[tile], seeds if isinstance(seeds, int) else seeds[tile])
            self.checksum = (self.checksum + int(keys.sum(dtype=np.uint64))) % 2**64

    def __add__(self, other: "Pass") -> "Pass":
        return Pass(self.rows + other.rows, (self.checksum + other.checksum) % 2**64)
