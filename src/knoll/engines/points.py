"""Rows in memory that were put on a grid once: their grid points are kept for the passes that follow.

Quantising is a quarter of a pass in few columns, and a projection costs a product of matrices; a fit asks many queries
of the same grid. What is kept of a record is a function of that record alone, and a query makes of it what it would
make of the record. It takes four bytes where a value takes eight, half a gigabyte at most, and goes when the engine
goes.
"""

import threading
from collections.abc import Callable, Iterable
from typing import Any

from knoll.privacy.query import Floats
from knoll.queries.grid import Gridded, TwoGrids
from knoll.queries.points import points_on, worth_keeping

_MOST_BYTES = 2**29  # of grid points; rows beyond are put on the grid again in every pass


class KeptPoints:
    """Grid points of one domain, four bytes for each coordinate; no more of them than the rows take."""

    def __init__(self, domain: Any, most: int | None = None) -> None:
        self.domain, self._most = domain, _MOST_BYTES if most is None else most
        self._blocks: dict[int, Any] = {}
        self._held, self._lock = 0, threading.Lock()

    def points(self, number: int, rows: Floats) -> Floats:
        """Return the grid points of a block. Blocks are numbered; below zero, they are not kept."""
        found = self._blocks.get(number)
        if found is None:
            found = Gridded.of(self.domain, points_on(self.domain, rows))
            self.keep(number, found)
        return found

    def keep(self, number: int, points: Gridded) -> None:
        """Keep the grid points of a block, if there is room for them."""
        with self._lock:
            if number >= 0 and self._held + points.nbytes <= self._most:
                self._blocks[number] = points
                self._held += points.nbytes

    def forget(self, numbers: Iterable[int]) -> None:
        """Make room."""
        for number in numbers:
            self._held -= self._blocks.pop(number).nbytes


def no_more_than(most: int) -> Callable[[Any], KeptPoints]:
    """Return what keeps points up to so many bytes, or as many as any does."""
    return lambda domain: KeptPoints(domain, min(most, _MOST_BYTES))


def points_for(
    query: Any, now: KeptPoints | None, new: Callable[[Any], KeptPoints] = KeptPoints
) -> KeptPoints | None:  # fmt: skip
    """Return what is kept for a query: what there is, if it asks for the same grid again, or a new beginning."""
    domain = getattr(query, "gridded", None)
    if domain is None or not worth_keeping(domain):
        return None
    return now if now is not None and _tells(now.domain, domain) else new(domain)


def _tells(kept: Any, asked: Any) -> bool:
    """Whether points that are kept of one domain are those of another: the same, or one of its two grids."""
    if isinstance(kept, TwoGrids):
        return kept.domain is asked or kept.same(asked)
    return kept is asked
