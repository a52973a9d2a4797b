"""The integer grid of a domain: records become whole numbers, element by element, within a box or a ball.

Quantising is element-wise (subtract, multiply, round, clip: each correctly rounded by IEEE 754, whatever the block), so
a grid point depends on its record alone, bit for bit.
"""

from typing import Any

import numpy as np

from knoll.arrays import Floats, Small
from knoll.compiled.eight import WIDTH, to_grid_eight, to_grid_eight_any, to_grid_eight_columns
from knoll.compiled.grid import into_ball, to_grid, to_grid_any
from knoll.compiled.twofold import coarse_of, fine_of, join
from knoll.privacy.errors import PrivacyError
from knoll.queries.query import UNIT

FARTHEST = 2**24
"""No coordinate of a grid is farther from the middle, whatever the grid: squares of them can be added."""

_TILE = 2**12  # rows that are put on two grids at a time: they stay in cache


class Grid:
    """An integer grid over a box: element-wise ``rint((x - centre) / step)``, clipped to the box.

    A column whose values are x lies within ± limit, reached at its bounds: rounding is monotone, so nothing inside
    the box exceeds what its bounds give, and what lies outside is clipped. Where the extent is zero, all values are 0.
    """

    def __init__(self, centre: Floats, extent: Floats, steps: Floats) -> None:
        self._centre, self._per_step = np.array(centre), 1.0 / steps
        self.steps = np.array(steps)
        self._limit = np.minimum(np.rint(extent / steps), UNIT)

    def clip_to_grid(self, block: Floats) -> Floats:
        """Return the grid points of a block as doubles; records that hold a NaN are left out."""
        rows = np.require(block, np.float64, "A")
        put = to_grid if rows.flags.c_contiguous else to_grid_any
        grid = np.empty(rows.shape)
        kept = put(rows, self._centre, self._per_step, self._limit, grid)
        return grid[:kept]

    def clip_to_eight(self, block: Floats, out: Small | None = None) -> Small:
        """Return the grid points of a block of up to eight columns as small integers, eight to a record.

        With `out`, zeros to begin with, they are written there.
        """
        rows = np.require(block, np.float64, "A")
        columns = to_grid_eight_columns if rows.flags.f_contiguous else to_grid_eight_any
        put = to_grid_eight if rows.flags.c_contiguous else columns
        grid = np.zeros((len(rows), WIDTH), dtype=np.int32) if out is None else out
        return grid[: put(rows, self._centre, self._per_step, self._limit, grid)]


def eight(grid: Floats | Small) -> Small:
    """Return grid points of up to eight columns as small integers, eight to a record, zeros after the last column."""
    if grid.dtype == np.int32:
        return grid  # type: ignore[return-value]
    small = np.zeros((len(grid), WIDTH), dtype=np.int32)
    small[:, : grid.shape[1]] = grid
    return small


class TwoGrids:
    """The grid of a box of up to eight columns, and a coarser one on which distances are taken: records kept for both.

    What is kept of a record takes four bytes a coordinate, as if there were one grid, and gives both grids' points.

    Parameters
    ----------
    domain : Box
        The box.
    metric : Grid
        The grid of distances. No step of it is narrower than the box's own.
    """

    def __init__(self, domain: Any, metric: Grid) -> None:
        self.domain, self.metric = domain, metric
        self.n_columns, self.n_sources = domain.n_columns, domain.n_sources
        self._ratio = np.zeros(WIDTH)
        self._ratio[: self.n_columns] = domain.steps / metric.steps

    def same(self, other: Any) -> bool:
        """Whether another domain means the same two grids."""
        alike = isinstance(other, TwoGrids) and other.domain is self.domain
        return alike and np.array_equal(other.metric.steps, self.metric.steps)

    def joined(self, block: Floats) -> Small:
        """Return the records of a block on both grids; those that hold a NaN are left out."""
        whole, kept = np.empty((len(block), WIDTH), dtype=np.int32), 0
        for start in range(0, len(block), _TILE):
            rows = block[start : start + _TILE]
            fine, coarse = self.domain.grid.clip_to_eight(rows), self.metric.clip_to_eight(rows)
            if join(fine, coarse, self._ratio, whole[kept : kept + len(fine)]):
                raise PrivacyError("internal error: two grids of a record are too far apart")
            kept += len(fine)
        return whole[:kept]

    def fine(self, joined: Small) -> Small:
        """Return the grid points of the box."""
        out = np.empty(joined.shape, dtype=np.int32)
        fine_of(joined, out)
        return out

    def coarse(self, joined: Small) -> Small:
        """Return the points on the grid of distances."""
        out = np.empty(joined.shape, dtype=np.int32)
        coarse_of(joined, self._ratio, out)
        return out


class Gridded(np.ndarray[Any, Any]):
    """Records on the grid of a domain, as small integers: what an engine keeps of rows from one pass to the next.

    A domain that is handed such rows takes them as they are. It refuses those of another domain. Where they are kept
    for two grids, `domain` is a `TwoGrids`.
    """

    domain: Any = None

    @classmethod
    def of(cls, domain: Any, grid: Floats | Small) -> "Gridded":
        """Return grid points of a domain, which are whole numbers of at most UNIT, in four bytes each.

        They come eight to a record in up to eight columns.
        """
        small = (eight(grid) if domain.n_columns <= WIDTH else grid.astype(np.int32)).view(cls)
        small.domain = domain
        return small

    def __array_finalize__(self, whole: Any) -> None:
        """Parts are of the same domain."""
        self.domain = getattr(whole, "domain", None)

    def on(self, domain: Any) -> Floats:
        """Return the grid points as doubles, a coordinate for each column."""
        return self.small(domain)[:, : domain.n_columns].astype(np.float64)

    def small(self, domain: Any) -> Small:
        """Return the grid points of a domain."""
        if isinstance(self.domain, TwoGrids) and self.domain.domain is domain:
            return self.domain.fine(np.asarray(self))
        if self.domain is not domain:
            raise PrivacyError("internal error: rows on the grid of another domain")
        return np.asarray(self)

    def coarse(self, both: TwoGrids | None) -> Small:
        """Return the points on the grid of distances."""
        if both is None or not both.same(self.domain):
            raise PrivacyError("internal error: rows on the grid of another metric")
        return both.coarse(np.asarray(self))


def clip_to_ball(grid: Floats, radius: int, *, factor: float = 1.0, most: float = FARTHEST) -> Floats:
    """Pull integer vectors into a ball of integer radius, cutting coordinates towards zero; in place if it can be.

    With a `factor`, vectors are multiplied by it first, rounded, and each coordinate is clipped to ± `most`.
    """
    whole = np.ascontiguousarray(grid)
    into_ball(whole, factor, float(most), float(radius))
    return whole


def shorten(offsets: Floats, radius: float) -> Floats:
    """Shorten public vectors to a radius."""
    lengths = np.linalg.norm(offsets, axis=1, keepdims=True)
    return offsets * (radius / np.maximum(lengths, radius))
