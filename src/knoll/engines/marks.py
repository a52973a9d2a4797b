"""What tells one table from another: marks by which a ledger recognises data that comes under a second name.

A mark of a column is the sum, modulo 2^64, of a hash of every value, and the number of rows: the same in any order, in
a frame or in a file of any kind. Marks are exact facts about the data. They go to the ledger's private witness only,
which keeps keyed hashes of them; never into a ledger, a model or a message.
"""

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from knoll.arrays import Floats
from knoll.privacy.parts import mix


def column_marks(blocks: Iterable[Floats]) -> list[bytes]:
    """Return a mark for each column of some rows; none for a column that holds one value only, as many do."""
    rows, total, first = 0, np.uint64(0), np.uint64(0)
    for block in blocks:
        words = mix(np.where(np.isnan(block), np.nan, block + 0.0).view(np.uint64))  # one NaN, one zero
        first = words[0] if not rows and len(words) else first
        rows += len(words)
        total = total + words.sum(axis=0, dtype=np.uint64)
    same = np.asarray(first) * np.uint64(rows)
    pairs = zip(np.atleast_1d(total).tolist(), np.atleast_1d(same).tolist(), strict=True)
    return [f"column {rows} {mark}".encode() for mark, constant in pairs if mark != constant]


def file_marks(files: Iterable[Path]) -> list[bytes]:
    """Return marks of files: the place of each, and the file itself, whatever links lead there.

    A new file may get the number of one that was removed; size and time of the last change tell them apart.
    """
    there = [file.resolve() for file in files]
    stats = [file.stat() for file in there]
    itself = [f"inode {each.st_dev} {each.st_ino} {each.st_size} {each.st_mtime_ns}" for each in stats]
    return [mark.encode() for mark in (*(f"file {file}" for file in there), *itself)]
