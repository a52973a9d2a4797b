"""Rows in memory that were projected once: their grid points are kept for the passes that follow.

A projection costs a product of matrices, and a fit asks many queries of the same one. What is kept of a record is a
function of that record alone, and a query makes of it what it would make of the record. It goes when the engine goes.
"""

from typing import Any

from knoll.privacy.query import Floats
from knoll.queries.grid import Gridded

_MOST_BYTES = 2**29  # of grid points; rows beyond are projected again in every pass


class KeptPoints:
    """Grid points of one projection, four bytes for each coordinate; no more of them than rows have columns."""

    def __init__(self, domain: Any) -> None:
        self.domain = domain
        self._blocks: dict[int, Gridded] = {}

    def points(self, number: int, rows: Floats) -> Floats:
        """Return the grid points of a block. Blocks are numbered; below zero, they are not kept."""
        found = self._blocks.get(number)
        if found is None:
            found = Gridded.of(self.domain, self.domain.clip_to_grid(rows))
            if number >= 0 and (number + 1) * found.nbytes <= _MOST_BYTES:
                self._blocks[number] = found
        return found


def points_for(query: Any, now: KeptPoints | None) -> KeptPoints | None:
    """Return what is kept for a query: what there is, if it asks the same projection again, or a new beginning."""
    domain = getattr(query, "projected", None)
    if domain is None or domain.n_columns > domain.source.n_columns:
        return None
    return now if now is not None and now.domain is domain else KeptPoints(domain)
