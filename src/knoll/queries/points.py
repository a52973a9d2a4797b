"""Records on the grid of a domain in the form that compiled loops take: small integers in few columns, else doubles."""

from typing import Any

import numpy as np

from knoll.arrays import Floats, Small
from knoll.compiled.eight import WIDTH
from knoll.queries.domain import Ball, Box
from knoll.queries.grid import Gridded, TwoGrids, eight
from knoll.queries.projection import Projected

_PLAIN = (Box, Ball)


def points_on(domain: Any, rows: Floats) -> Floats | Small:
    """Return the grid points of records; those that hold a NaN are left out.

    Up to eight columns come as small integers, eight to a record, zeros after the last column; more as doubles.
    """
    if domain.n_columns > WIDTH:
        return np.ascontiguousarray(domain.clip_to_grid(rows))
    if isinstance(rows, Gridded):
        return rows.small(domain)
    if isinstance(domain, TwoGrids):
        return domain.joined(rows)
    if type(domain) is Box:
        return domain.grid.clip_to_eight(rows)
    return eight(domain.clip_to_grid(rows))


def as_doubles(points: Floats | Small, columns: int) -> Floats:
    """Return grid points as doubles, a coordinate for each column."""
    return points if points.dtype == np.float64 else points[:, :columns].astype(np.float64)  # type: ignore[return-value]


def worth_keeping(domain: Any) -> bool:
    """Whether an engine may keep grid points of a domain: never more bytes than the rows themselves take.

    In many columns, quantising is little beside the rest of a pass, and only what costs more is kept.
    """
    sources = domain.source.n_columns if isinstance(domain, Projected) else domain.n_sources
    few, costly = domain.n_columns <= WIDTH, isinstance(domain, Projected) or type(domain) not in _PLAIN
    return (few or costly) and 4 * max(domain.n_columns, WIDTH) <= 8 * sources
