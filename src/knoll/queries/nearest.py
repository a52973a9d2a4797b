"""The cell of a record: the nearest of some public centres, decided exactly.

With coordinates on an integer grid, ``|c|^2 - 2 c.x`` is an integer. Multiplied by a power of two K >= number of
centres, and with the centre's number added, it stays below 2^53, so a matrix product in doubles gives it exactly
whatever the order of summation, the block or the processor; its minimum over centres names the nearest, ties going
to the first. The grid is coarsened, for very many columns and centres only, until that bound holds.

Many centres in few columns are searched by a tree, whose distances are integers below 2^53 as well. It walks from
the record's own place, so that the cell, ties included, is a function of the record and the centres alone. Very
many centres in many columns come in groups, and a record looks into one of them (`candidates` chooses).
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial import cKDTree

from knoll.arrays import Floats, Integers, Small
from knoll.compiled.cells import nearest_of
from knoll.compiled.eight import WIDTH, nearest_of_eight
from knoll.compiled.groups import nearest_within
from knoll.queries.domain import Ball, Box
from knoll.queries.grid import Grid, Gridded, TwoGrids, eight
from knoll.queries.points import as_doubles, points_on
from knoll.queries.projection import Projected
from knoll.queries.query import UNIT, require_finite

_PRODUCT_COLUMNS = 64  # from so many columns on a matrix product is quicker than a loop over records
_PRODUCT_SIZE = 2**18  # entries of one exact product: stays in cache
_TREE_FROM, _TREE_COLUMNS = 1000, 6  # a tree is quicker from so many centres on, in up to so many columns
_GROUPS_FROM = 4000  # an approximate search from so many candidates on, in more columns


class Nearest:
    """Cells of the nearest of public centres inside a domain.

    Parameters
    ----------
    centres : array of shape (n_cells, n_columns)
        Public points; moved into the domain.
    domain : Box, Ball or Projected
        Records are clipped to it before distances are taken.
    scales : array of shape (n_columns,), optional
        Distances are Euclidean after division by these public numbers.

    Examples
    --------
    >>> cells = Nearest([[0.0, 0.0], [1.0, 1.0]], Box((0, 0), (1, 1)))
    >>> cells.labels(np.array([[0.1, 0.2], [0.9, 0.6], [0.5, 0.5]]))
    array([0, 1, 0])
    """

    def __init__(
        self, centres: ArrayLike, domain: Box | Ball | Projected, scales: Floats | Sequence[float] | None = None
    ) -> None:
        self.domain = domain
        self.centres = domain.clip(np.array(centres, dtype=np.float64))
        self.scales = np.ones(domain.n_columns) if scales is None else np.asarray(scales, dtype=np.float64)
        self.unit = float(np.max(domain.half / self.scales)) / UNIT
        """Worth of a step of the metric grid, in the metric's units."""
        self.steps = self.scales * self.unit
        self._shared_grid = bool(np.allclose(self.steps, domain.steps, rtol=1e-12, atol=0.0))
        require_finite("centres", self.centres)
        require_finite("scales", self.scales, self.steps, 1 / self.steps, positive=True)
        self._metric = Grid(domain.centre, domain.extent if isinstance(domain, Box) else domain.half, self.steps)
        self._both: TwoGrids | None = None
        if type(domain) is Box and not self._shared_grid and domain.n_columns <= WIDTH:
            self._both = TwoGrids(domain, self._metric)
        self.n_cells = len(self.centres)
        self._pack()

    @property
    def gridded(self) -> Any:
        """The domain whose grid points tell a record's cell; None if it takes the record.

        In a box where distances have a grid of their own, it takes both.
        """
        return self.domain if self._shared_grid or type(self.domain) is not Box else self._both

    def metric_grid(self, block: Floats, grid: Floats | Small | None = None) -> Floats:
        """Return records on the grid in which distances are taken; `grid`: ``points_on(domain, block)``, if known."""
        return as_doubles(self._points(block, grid), self.domain.n_columns)

    def _points(self, block: Floats, grid: Floats | Small | None) -> Floats | Small:
        """Return records on the grid in which distances are taken: small integers in few columns, else doubles."""
        if self._shared_grid:
            return points_on(self.domain, block) if grid is None else grid
        few = self.domain.n_columns <= WIDTH
        if isinstance(block, Gridded) and type(self.domain) is Box:
            return block.coarse(self._both)
        if type(self.domain) is Box:
            return self._metric.clip_to_eight(block) if few else self._metric.clip_to_grid(block)
        inside = self.domain.clip_to_grid(block) if grid is None else as_doubles(grid, self.domain.n_columns)
        return np.rint(inside * (self.domain.steps / self.steps))

    def labels(
        self, block: Floats, grid: Floats | Small | None = None, *, metric_grid: Floats | None = None
    ) -> Integers:
        """Return the cell of each record; records that hold a NaN are left out."""
        points = self._points(block, grid) if metric_grid is None else metric_grid
        if self._tree is not None:
            return np.asarray(self._tree.query(as_doubles(points, self.domain.n_columns))[1], dtype=np.int64)
        if self._coarse:
            points = np.rint(as_doubles(points, self.domain.n_columns) / 2**self._coarse)
        return self._exact(points)

    def two_nearest(self, block: Floats) -> tuple[Integers, Integers, Integers]:
        """Return each record's two nearest centres, and by how much the squared distance to the second is larger.

        The difference is in squared steps of the grid of `gaps`: a whole number. There must be at least two centres,
        and so few that no tree is used. Records that hold a NaN are left out.
        """
        if self._tree is not None or self.n_cells < 2:
            raise ValueError(f"two nearest of {self.n_cells} centres")
        points = self.metric_grid(block)
        if self._coarse:
            points = np.rint(points / 2**self._coarse)
        best = np.empty((2, len(points)), dtype=np.int64)
        rows = max(64, _PRODUCT_SIZE // self.n_cells)
        for start in range(0, len(points), rows):
            part = slice(start, start + rows)
            scores = self._slope @ points[part].T + self._offset
            best[0, part] = scores.min(axis=0)
            scores[best[0, part] & (self._tag - 1), np.arange(scores.shape[1])] = np.inf
            best[1, part] = scores.min(axis=0)
        first, second = best & (self._tag - 1)
        return first, second, (best[1] - second) // self._tag - (best[0] - first) // self._tag

    def gaps(self) -> Floats:
        """Return the squared distances of all pairs of centres, in the units of `two_nearest`: whole numbers."""
        squares = np.square(self._grid).sum(axis=1)
        return squares[:, None] + squares - 2.0 * self._grid @ self._grid.T

    def _pack(self) -> None:
        k, d = self.centres.shape
        self._tree = None
        if k >= _TREE_FROM and d <= _TREE_COLUMNS:
            self._tree = cKDTree(np.clip(np.rint((self.centres - self.domain.centre) / self.steps), -UNIT, UNIT))
            return
        self._tag = 1 << max(0, (k - 1).bit_length())
        limit = (2.0**53 / (self._tag * (3.0 * d + 1.0))) ** 0.5
        self._coarse = 0
        while UNIT / 2**self._coarse > limit:
            self._coarse += 1
        most = UNIT // 2**self._coarse
        grid = np.rint((self.centres - self.domain.centre) / (self.steps * 2**self._coarse))
        self._grid = np.clip(grid, -most, most)
        squares = np.square(self._grid).sum(axis=1)
        self._slope = -2.0 * self._tag * self._grid
        self._offset = (self._tag * squares + np.arange(k))[:, None]
        self._eight = np.pad(self._slope, ((0, 0), (0, max(0, WIDTH - d))))

    def _exact(self, points: Floats | Small) -> Integers:
        labels = np.empty(len(points), dtype=np.int64)
        columns = self._slope.shape[1]
        if columns <= WIDTH:
            nearest_of_eight(eight(points), self._eight, self._offset[:, 0], self._tag, labels)
            return labels
        if columns < _PRODUCT_COLUMNS:
            nearest_of(np.ascontiguousarray(points), self._slope, self._offset[:, 0], self._tag, labels)
            return labels
        rows = min(max(64, _PRODUCT_SIZE // self.n_cells), len(points))
        whole = np.empty((self.n_cells, rows))  # one for all parts: quicker than fresh memory for each
        for start in range(0, len(points), max(rows, 1)):
            part = points[start : start + rows]
            scores = np.matmul(self._slope, part.T, out=whole[:, : len(part)])
            scores += self._offset
            labels[start : start + rows] = scores.min(axis=0)
        labels &= self._tag - 1
        return labels


def candidates(
    points: Floats, domain: Box | Ball | Projected, scales: Floats | None = None, groups: Integers | None = None
) -> "Nearest | TwoLevel":
    """Return cells of public points, by the search that suits their number and columns.

    Parameters
    ----------
    points : array of shape (n_cells, n_columns)
        Public points, any number of them.
    domain, scales
        As for `Nearest`.
    groups : integer array of shape (n_cells,), optional
        Groups to search in, as for `TwoLevel`. By default, if there are very many points in many columns, the cells
        of some of them.
    """
    if groups is not None:
        return TwoLevel(points, groups, domain, scales)
    m, d = points.shape
    if m < _GROUPS_FROM or d <= _TREE_COLUMNS:
        return Nearest(points, domain, scales)
    picked = np.linspace(0, m - 1, round(m**0.5)).astype(np.intp)
    some = Nearest(points[picked], domain, scales)
    grid = np.rint((domain.clip(points) - domain.centre) / some.steps)  # points are public: they need not be projected
    heads, groups = np.unique(some.labels(points, metric_grid=grid), return_inverse=True)
    return TwoLevel(points, groups, domain, scales, heads=picked[heads])


class TwoLevel:
    """Cells of public points that come in groups: a record looks among the points of its nearest group only.

    One point of each group stands for it. Both searches are exact on the grid, so the cell is a function of
    the record and the points alone; it is the nearest of all points for nearly every record, at the cost of one
    group.

    Parameters
    ----------
    points : array of shape (n_cells, n_columns)
        Public points.
    groups : integer array of shape (n_cells,)
        Group of each point, 0 to n_groups - 1, each group holding at least one point.
    domain, scales
        As for `Nearest`.
    heads : integer array of shape (n_groups,), optional
        The points that stand for the groups; by default the first of each.
    """

    def __init__(
        self,
        points: Floats,
        groups: Integers,
        domain: Box | Ball | Projected,
        scales: Floats | None = None,
        *,
        heads: Integers | None = None,
    ) -> None:
        self.centres, self.domain, self.n_cells = points, domain, len(points)
        ends = np.cumsum(np.bincount(groups))
        self._members = np.split(np.argsort(groups, kind="stable"), ends[:-1])
        first = [members[0] for members in self._members] if heads is None else heads
        self._first = Nearest(points[first], domain, scales)
        self._within = [Nearest(points[members], domain, scales) for members in self._members]
        self.scales, self.steps, self.unit = self._first.scales, self._first.steps, self._first.unit
        self.gridded = self._first.gridded
        self._in_order = np.concatenate(self._members)
        self._packed = self._pack()

    def _pack(self) -> tuple[Integers, Floats, Floats, int] | None:
        """Return all groups side by side: ends, slopes, offsets, tag. None if a group needs a search of its own.

        Scores are tagged as the largest group's are, which leaves them whole and below 2^53 in every group.
        """
        if len(self._within) >= 2**16 or self.domain.n_columns >= _PRODUCT_COLUMNS:
            return None
        if any(each._tree is not None or each._coarse for each in self._within):
            return None
        tag = max(each._tag for each in self._within)
        grid = np.vstack([each._grid for each in self._within])
        place = np.concatenate([np.arange(each.n_cells) for each in self._within])
        ends = np.cumsum([0, *(each.n_cells for each in self._within)])
        return ends, -2.0 * tag * grid, tag * np.square(grid).sum(axis=1) + place, tag

    def labels(self, block: Floats, grid: Floats | Small | None = None) -> Integers:
        """Return the cell of each record; records that hold a NaN are left out."""
        metric = self._first.metric_grid(block, grid)
        group = self._first.labels(block, metric_grid=metric)
        if self._packed is not None:
            places = np.empty(len(group), dtype=np.int64)
            order = np.argsort(group.astype(np.uint16), kind="stable")  # 16 bits are sorted by counting
            nearest_within(np.ascontiguousarray(metric), order, group, *self._packed, places)
            return self._in_order[places]
        order = np.argsort(group, kind="stable")
        ends = np.cumsum(np.bincount(group, minlength=len(self._members)))
        labels = np.empty(len(group), dtype=np.int64)
        for which, rows in enumerate(np.split(order, ends[:-1])):
            if rows.size:
                found = self._within[which].labels(block, metric_grid=metric[rows])
                labels[rows] = self._members[which][found]
        return labels
