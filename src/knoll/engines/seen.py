"""What the parts of files held when they were first read: whoever reads one again must find the same records.

Some parts of a file are kept and others are read in every pass; were the file to change in between, a pass would see
records of two files. Sizes, times and places of files tell most changes at no cost; here the number of records and the
sum of a hash of each of them, in any order, tell the rest. Both stay inside the wall.
"""

import threading

import numpy as np

from knoll.arrays import Floats
from knoll.compiled.hashes import sum_of_hashes
from knoll.engines.keys import Pass


def look_at(rows: Floats) -> Pass:
    """Return the number of rows and the sum of their hashes: of their doubles, bit for bit."""
    columns = np.ascontiguousarray(rows.T).view(np.uint64)  # no copy of rows that are kept column after column
    return Pass(len(rows), int(sum_of_hashes(columns)))


class Seen:
    """The first look at each part of some files, and the present one."""

    def __init__(self) -> None:
        self._first, self._now = dict[int, Pass](), dict[int, Pass]()
        self._lock = threading.Lock()

    def begin(self) -> None:
        """Begin a pass: what a pass that was given up has seen is forgotten."""
        self._now = {}

    def add(self, part: int, look: Pass) -> None:
        """Add some records of a part."""
        with self._lock:
            self._now[part] = self._now.get(part, Pass()) + look

    def changed(self) -> int | None:
        """Return a part that held other records than at first, None if there is none; the first look is remembered."""
        for part, look in self._now.items():
            if self._first.setdefault(part, look) != look:
                return part
        return None

    def first(self, part: int) -> Pass:
        """Return the first look at a part."""
        return self._first[part]
