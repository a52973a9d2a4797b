"""Passes over files in few columns: records go from Arrow's columns to a grid, and their grid points are kept.

Decoding a file takes longer than summing it. What is kept of a part of a file (some row groups, or a whole file of
another kind) is what a pass made of it, so a pass over it gives the total that the file gives. A record takes 32 bytes;
what is kept takes `MOST_POINTS` bytes at most, and parts of a file beyond that are read again in every pass.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from knoll.arrays import Floats
from knoll.compiled.eight import WIDTH
from knoll.engines.points import KeptPoints
from knoll.queries.domain import Box
from knoll.queries.grid import Gridded

MOST_POINTS = 2**27  # bytes: with these, a process that streams a large file stays below .6 GB
_ROWS = 2**13  # rows that are put on the grid at a time: they stay in cache


@dataclass(frozen=True)
class Batch:
    """Rows as they were read: columns of Arrow's, and how they become rows of doubles."""

    columns: Any
    decode: Callable[[Any], Floats]

    def __getitem__(self, which: slice) -> "Batch":
        start, stop, _ = which.indices(len(self.columns))
        return Batch(self.columns.slice(start, stop - start), self.decode)

    def rows(self) -> Floats:
        """Return the rows as doubles."""
        return self.decode(self.columns)

    def on(self, domain: Any, names: list[str]) -> Gridded | None:
        """Return the rows on the grid of a box; None if a value is missing or infinite, or no double to begin with."""
        columns = [self.columns.column(name) for name in names]
        if type(domain) is not Box or any(not pa.types.is_float64(each.type) or each.null_count for each in columns):
            return None
        values = [each.to_numpy() for each in columns]
        grid = np.zeros((len(self.columns), WIDTH), dtype=np.int32)
        for start in range(0, len(grid), _ROWS):
            part = slice(start, start + _ROWS)
            rows = np.empty((len(grid[part]), len(values)), order="F")
            for j, each in enumerate(values):
                rows[:, j] = each[part]
            with np.errstate(all="ignore"):
                if not np.isfinite(rows.sum()):  # a finite sum has finite terms
                    return None
            domain.grid.clip_to_eight(rows, grid[part])
        return Gridded.of(domain, grid)


class FilePoints(KeptPoints):
    """Grid points of a dataset's files, by the parts that they were read in."""

    def __init__(self, domain: Any) -> None:
        super().__init__(domain, MOST_POINTS)
        self._parts: dict[int, range] = {}

    def part(self, number: int) -> Iterator[Gridded] | None:
        """Return the blocks of a part, if all of them are kept."""
        blocks = self._parts.get(number)
        if blocks is None or not all(block in self._blocks for block in blocks):
            return None
        return (self._blocks[block] for block in blocks)

    def noted(self, number: int, blocks: range) -> None:
        """Remember which blocks a part was read in."""
        self._parts[number] = blocks

    def settle(self) -> None:
        """Forget blocks of parts that are not whole: such a part is read again."""
        whole = {block for number, blocks in self._parts.items() if self.part(number) is not None for block in blocks}
        self.forget(set(self._blocks) - whole)
