"""Rows in memory that were put on a grid once: their grid points are kept for the passes that follow.

Quantising is a quarter of a pass in few columns, and a projection costs a product of matrices; a fit asks many queries
of the same grid. What is kept of a record is a function of that record alone, and a query makes of it what it would
make of the record. It takes four bytes where a value takes eight, half a gigabyte at most, and goes when the engine
goes.
"""

from typing import Any

from knoll.privacy.query import Floats
from knoll.queries.grid import Gridded
from knoll.queries.points import points_on, worth_keeping

_MOST_BYTES = 2**29  # of grid points; rows beyond are put on the grid again in every pass


class KeptPoints:
    """Grid points of one domain, four bytes for each coordinate; no more of them than the rows take."""

    def __init__(self, domain: Any) -> None:
        self.domain = domain
        self._blocks: dict[int, Gridded] = {}

    def points(self, number: int, rows: Floats) -> Floats:
        """Return the grid points of a block. Blocks are numbered; below zero, they are not kept."""
        found = self._blocks.get(number)
        if found is None:
            found = Gridded.of(self.domain, points_on(self.domain, rows))
            if number >= 0 and (number + 1) * found.nbytes <= _MOST_BYTES:
                self._blocks[number] = found
        return found


def points_for(query: Any, now: KeptPoints | None) -> KeptPoints | None:
    """Return what is kept for a query: what there is, if it asks the same projection again, or a new beginning."""
    domain = getattr(query, "gridded", None)
    if domain is None or not worth_keeping(domain):
        return None
    return now if now is not None and now.domain is domain else KeptPoints(domain)
