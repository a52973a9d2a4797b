"""Passes over files in few columns: records go from Arrow's columns to a grid, and their grid points are kept.

Decoding a file takes longer than summing it. What is kept of a part of a file (some row groups, or a whole file of
another kind) is what a pass made of it, so a pass over it gives the total that the file gives. A record takes 20 bytes
(compiled/packed.py); what is kept takes `MOST_POINTS` bytes at most, and parts of a file beyond that are read again in
every pass, where they must hold the records that they held before (seen.py).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from knoll.arrays import Floats, Halves, Integers, Places
from knoll.compiled.eight import WIDTH
from knoll.compiled.packed import pack, unpack
from knoll.engines.keys import Pass
from knoll.engines.points import KeptPoints
from knoll.engines.seen import look_at
from knoll.privacy.query import QueryProtocol, bounded_total
from knoll.queries.domain import Box
from knoll.queries.grid import Gridded
from knoll.queries.points import points_on

MOST_POINTS = 160 * 2**20  # bytes: with these, a process that streams a large file stays below .6 GB
_BYTES = 2 * WIDTH + 4  # that a record takes
_ROWS = 2**14  # rows that are put on the grid at a time: they stay in cache


@dataclass(frozen=True)
class Batch:
    """Rows as they were read: columns of Arrow's, how they become rows of doubles, and who is told what they were."""

    columns: Any
    decode: Callable[[Any], Floats]
    tell: Callable[[Pass], None]

    def __getitem__(self, which: slice) -> "Batch":
        start, stop, _ = which.indices(len(self.columns))
        return Batch(self.columns.slice(start, stop - start), self.decode, self.tell)

    def rows(self) -> Floats:
        """Return the rows as doubles."""
        rows = self.decode(self.columns)
        self.tell(look_at(rows))
        return rows

    def on(self, domain: Any, names: list[str]) -> Gridded | None:
        """Return the rows on the grid of a box; None if a value is missing or infinite, or no double to begin with."""
        columns = [self.columns.column(name) for name in names]
        if type(domain) is not Box or any(not pa.types.is_float64(each.type) or each.null_count for each in columns):
            return None
        values = [each.to_numpy() for each in columns]
        grid, look = np.zeros((len(self.columns), WIDTH), dtype=np.int32), Pass()
        for start in range(0, len(grid), _ROWS):
            part = slice(start, start + _ROWS)
            rows = np.empty((len(grid[part]), len(values)), order="F")
            for j, each in enumerate(values):
                rows[:, j] = each[part]
            with np.errstate(all="ignore"):
                if not np.isfinite(rows.sum()):  # a finite sum has finite terms
                    return None
            look += look_at(rows)
            domain.grid.clip_to_eight(rows, grid[part])
        self.tell(look)
        return Gridded.of(domain, grid)


PointsOf = Callable[[Batch, Any], Gridded]
"""Makes grid points of a domain of the records of a batch that are complete."""


@dataclass(frozen=True)
class Run:
    """Row groups of a parquet file, decoded by the thread that sums them: no thread waits for a reader.

    Attributes
    ----------
    rows : int
        How many there are.
    batches : iterator of Batch
        All of them.
    columns : int
        How many numbers a row has.
    """

    rows: int
    batches: Iterator[Batch]
    columns: int

    def __getitem__(self, which: slice) -> "Run":
        return Run(0, iter(()), self.columns)  # only none of them can be had ahead of the rest


@dataclass(frozen=True)
class Packed:
    """Grid points of a domain of up to eight columns, in 20 bytes each."""

    domain: Any
    low: Halves
    high: Places

    @classmethod
    def room(cls, domain: Any, rows: int) -> "Packed":
        """Return room for so many."""
        return cls(domain, np.empty((rows, WIDTH), dtype=np.uint16), np.empty(rows, dtype=np.uint32))

    def __len__(self) -> int:
        return len(self.high)

    def __getitem__(self, which: slice) -> "Packed":
        return Packed(self.domain, self.low[which], self.high[which])

    @property
    def nbytes(self) -> int:
        """Bytes that they take."""
        return self.low.nbytes + self.high.nbytes

    def write(self, points: Gridded) -> bool:
        """Write grid points into the whole of this room; tell whether all of them could be packed."""
        return not pack(points.small(self.domain), self.low, self.high)

    def copied(self) -> "Packed":
        """Return the same points in memory of their own."""
        return Packed(self.domain, self.low.copy(), self.high.copy())

    def parts(self) -> Iterator[Gridded]:
        """Yield the grid points as they were, in blocks that stay in cache; one block at least."""
        for start in range(0, max(1, len(self)), _ROWS // 2):
            part = self[start : start + _ROWS // 2]
            grid = np.empty((len(part), WIDTH), dtype=np.int32)
            unpack(part.low, part.high, grid)
            yield Gridded.of(self.domain, grid)


class FilePoints(KeptPoints):
    """Grid points of a dataset's files, by the parts that they were read in."""

    def __init__(self, domain: Any) -> None:
        super().__init__(domain, MOST_POINTS)
        self._parts: dict[int, range] = {}

    def part(self, number: int) -> Iterator[Gridded | Packed] | None:
        """Return the blocks of a part, if all of them are kept."""
        blocks = self._parts.get(number)
        if blocks is None or not all(block in self._blocks for block in blocks):
            return None
        return (self._blocks[block] for block in blocks)

    def noted(self, number: int, blocks: range) -> None:
        """Remember which blocks a part was read in."""
        self._parts[number] = blocks

    def total(
        self, query: QueryProtocol, points_of: PointsOf, rows: Batch | Run | Gridded | Packed, number: int
    ) -> Integers:
        """Return a query's total over rows as they come, or as they were kept; keep them if there is room."""
        if isinstance(rows, Gridded):
            return bounded_total(query, rows)
        if isinstance(rows, Packed):
            return np.sum([bounded_total(query, part) for part in rows.parts()], axis=0, dtype=np.int64)
        if isinstance(rows, Run):
            return self._of_run(query, points_of, rows, number)
        points = points_of(rows, self.domain)
        room = self._room(len(points)) if number >= 0 else None
        if room is not None and room.write(points):
            self._fill(number, room, len(points))
        elif room is not None:
            self._give_back(room)
        elif self.domain.n_columns > WIDTH:
            self.keep(number, points)
        return bounded_total(query, points)

    def _of_run(self, query: QueryProtocol, points_of: PointsOf, run: Run, number: int) -> Integers:
        none = points_on(self.domain, np.empty((0, run.columns), order="F"))  # compiles what there is to compile
        total, filled = bounded_total(query, Gridded.of(self.domain, none)), 0
        room = self._room(run.rows) if number >= 0 else None
        for batch in run.batches:
            points = points_of(batch, self.domain)
            if room is not None and not room[filled : filled + len(points)].write(points):
                self._give_back(room)
                room = None
            filled += len(points)
            total += bounded_total(query, points)
        if room is not None:
            self._fill(number, room, filled)
        return total

    def _room(self, rows: int) -> Packed | None:
        """Return where grid points of so many records can be kept, and count it as held; None if there is no room."""
        with self._lock:
            if self.domain.n_columns > WIDTH or self._held + _BYTES * rows > self._most:
                return None
            self._held += _BYTES * rows
        return Packed.room(self.domain, rows)

    def _fill(self, number: int, room: Packed, rows: int) -> None:
        """Keep what was written to the first rows of a room."""
        kept = room if rows == len(room) else room[:rows].copied()
        with self._lock:
            self._blocks[number] = kept
            self._held -= room.nbytes - kept.nbytes

    def _give_back(self, room: Packed) -> None:
        """Count a room as held no longer: what is in it cannot be packed."""
        with self._lock:
            self._held -= room.nbytes

    def settle(self) -> None:
        """Forget blocks of parts that are not whole: such a part is read again."""
        whole = {block for number, blocks in self._parts.items() if self.part(number) is not None for block in blocks}
        self.forget(set(self._blocks) - whole)
