"""What tells one table from another: marks by which a ledger recognises data that comes under a second name.

A mark of a column is the sum, modulo 2^64, of a hash of every value, and the number of rows: the same in any order, in
a frame or in a file of any kind. Marks are exact facts about the data. They go to the ledger's private witness only,
which keeps keyed hashes of them; never into a ledger, a model or a message.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from knoll.arrays import Floats
from knoll.privacy.parts import Words, mix


@dataclass
class ColumnSums:
    """What marks of columns are made of: the rows, the sum of each column's hashes, and the hashes of some row."""

    rows: int = 0
    total: Words | None = None
    some: Words | None = None

    def add(self, block: Floats) -> None:
        """Add a block of rows."""
        if len(block):
            words = mix(np.where(np.isnan(block), np.nan, block + 0.0).view(np.uint64))  # one NaN, one zero
            self.merge(ColumnSums(len(words), words.sum(axis=0, dtype=np.uint64), words[0]))

    def merge(self, other: "ColumnSums") -> None:
        """Add the sums of other rows."""
        if self.total is None or other.total is None:
            self.total, self.some = (self.total, self.some) if other.total is None else (other.total, other.some)
        else:
            self.total = self.total + other.total
        self.rows += other.rows

    def marks(self) -> list[bytes]:
        """Return a mark for each column; none for a column that holds one value only, as many do."""
        if self.total is None or self.some is None:
            return []
        pairs = zip(self.total.tolist(), (self.some * np.uint64(self.rows)).tolist(), strict=True)
        return [f"column {self.rows} {mark}".encode() for mark, constant in pairs if mark != constant]


def column_marks(blocks: Iterable[Floats]) -> list[bytes]:
    """Return a mark for each column of some rows; none for a column that holds one value only."""
    sums = ColumnSums()
    for block in blocks:
        sums.add(block)
    return sums.marks()


def file_marks(files: Iterable[Path]) -> list[bytes]:
    """Return marks of files: the place of each, and the file itself, whatever links lead there.

    A new file may get the number of one that was removed; size and time of the last change tell them apart.
    """
    there = [file.resolve() for file in files]
    stats = [file.stat() for file in there]
    itself = [f"inode {each.st_dev} {each.st_ino} {each.st_size} {each.st_mtime_ns}" for each in stats]
    return [mark.encode() for mark in (*(f"file {file}" for file in there), *itself)]
