"""The shape of cells: counts, displacements and their squares, each cell measured with an ellipsoid of its own.

A cell has a public (released) reference point, spread per column and clip radius. A record's displacement u from the
reference of its cell becomes v = A u / R, an integer vector no longer than one unit after clipping; it adds
(w, v, b v^2) to its cell. Wide cells and narrow ones, wide columns and narrow ones, thus get noise in proportion to
their own size.
"""

from typing import Any, Protocol

import numpy as np

from knoll.arrays import Floats, Integers, Small
from knoll.compiled.eight import WIDTH, add_shapes_eight
from knoll.compiled.sums import add_products, add_shapes
from knoll.queries.domain import Ball, Box
from knoll.queries.points import points_on
from knoll.queries.projection import Projected
from knoll.queries.query import UNIT, Query, require_finite, tiles

SHAPE_BITS = 16
SHAPE_UNIT = 2**SHAPE_BITS
"""Grid units to a displacement on the rim of the ellipsoid."""

_FINE = 10  # weight of a displacement; weights of counts and squares are tenths of it


class Cells(Protocol):
    """What a query needs to know of cells."""

    n_cells: int

    @property
    def gridded(self) -> Any:
        """The domain whose grid points tell a record's cell; None if it takes the record."""
        ...

    def labels(self, block: Floats, grid: Floats | Small | None = None) -> Integers:
        """Return the cell of each record, -1 for none."""
        ...


class Frame:
    """Coordinates in which shapes are measured: a domain's grid and the worth of its steps.

    Parameters
    ----------
    domain : Box, Ball or Projected
        The grid; its middle is the origin.
    scales : array of shape (n_columns,), optional
        Coordinates are divided by these.
    """

    def __init__(self, domain: Box | Ball | Projected, scales: Floats | None = None) -> None:
        self.domain = domain
        self.scales = np.ones(domain.n_columns) if scales is None else np.asarray(scales, dtype=np.float64)
        self.steps = domain.steps / self.scales
        self.half = domain.half / self.scales
        require_finite("scales", self.scales, self.steps, 1 / self.steps, positive=True)
        self.n_columns = domain.n_columns

    def outside(self, points: Floats) -> Floats:
        """Return public points of this frame as points of the domain."""
        return self.domain.centre + points * self.scales


class _Ellipsoids:
    """Displacements from the references of cells, in units of each cell's ellipsoid: integers up to SHAPE_UNIT."""

    def __init__(self, frame: Frame, references: Floats, axes: Floats, radii: Floats) -> None:
        self._origin = np.rint(references / frame.steps)
        # worth of one unit, per cell and column; a cell without width still has a size to divide by
        self.size = np.maximum(radii[:, None] / axes, frame.half * 2.0**-30)
        self._per_step = frame.steps / self.size * SHAPE_UNIT
        self.in_box = isinstance(frame.domain, Box)
        wider = ((0, 0), (0, max(0, WIDTH - self._origin.shape[1])))
        self._eight = np.pad(self._origin, wider), np.pad(self._per_step, wider)
        require_finite("reference points", self._origin)
        require_finite("axes and radii of ellipsoids", self.size, self.size**2, self._per_step, positive=True)

    def reach(self) -> Floats:
        """Return the largest |v| in each column of a box: its grid points are within UNIT of the middle."""
        return (UNIT + np.abs(self._origin)) * self._per_step / SHAPE_UNIT

    def add_products(self, total: Integers, grid: Floats) -> None:
        """Add the products of two coordinates of each displacement from the first reference."""
        add_products(np.ascontiguousarray(grid), self._origin[0], self._per_step[0], SHAPE_BITS, total)

    def no_sums(self) -> Any:
        """Return what `add` adds to."""
        cells, columns = self._origin.shape
        few = columns <= WIDTH
        return np.zeros((cells, 2 * WIDTH + 1)) if few else np.zeros((cells, 1 + 2 * columns), dtype=np.int64)

    def add(self, sums: Any, grid: Floats | Small, labels: Integers) -> None:
        """Add count, displacements and squares: each a function of the record and its cell alone, bit for bit."""
        if grid.dtype == np.int32:
            add_shapes_eight(grid, labels, *self._eight, SHAPE_BITS, sums)
        else:
            add_shapes(grid, labels, self._origin, self._per_step, SHAPE_BITS, sums)

    def total(self, sums: Any) -> Integers:
        """Return what was added, as a query's total: count, displacements, squares."""
        columns = self._origin.shape[1]
        if columns > WIDTH:
            return sums
        places = [2 * WIDTH, *range(columns), *range(WIDTH, WIDTH + columns)]
        return sums[:, places].astype(np.int64)


class CellShapes(Query):
    """Count, sum of displacements and sum of squared displacements of the records in each cell.

    The total has shape (cells, 1 + 2 d).

    Sensitivity, in units where |v| <= 1, with weights w, 1 and b on count, displacement and squares:

    - norm: w^2 + |v|^2 + b^2 sum v^4 <= w^2 + 1 + b^2 in l2^2, reached on an axis; w + sqrt(d) + b in l1, reached
      on a diagonal (rounding is towards zero and adds nothing).
    - difference: two cells, sqrt(2) norm (2 in l1). One cell, with p = u - v, q = u + v, |p|^2 + |q|^2 <= 4: the l2^2
      is |p|^2 + b^2 sum p^2 q^2 <= t + b^2 t (4 - t), t = |p|^2 <= 4, largest at t = 4 if 4 b^2 <= 1, else at
      t = 2 + 1 / (2 b^2). The l1 is at most sqrt(d) s + b s sqrt(4 - s^2), s = |p| <= 2; with s = 2 sin a and c = cos a
      that is 2 sin a (sqrt(d) + 2 b c), largest where 4 b c^2 + sqrt(d) c = 2 b. One column has |p| + |q| <= 2:
      s + b s (2 - s), largest at s = 2 if 2 b <= 1, else at s = 1 + 1 / (2 b).
    - where the bounds end before the ellipsoid does, a column has |v| <= h, h from the bounds and the reference.
      Columns add up: w^2 + sum (h^2 + b^2 h^4), or w + sum (h + b h^2); a difference with p = |u - v| <= 2 h has
      |u + v| <= 2 h - p, at most p^2 + b^2 p^2 (2 h - p)^2, or p + b p (2 h - p), in each column. The smaller holds.
    - rounding: a displacement is a whole number, so only squares are cut. Two numbers of the same sign, each cut
      towards zero, differ by less than one unit more than before: at most b d^(1/norm) units more in all.

    Parameters
    ----------
    cells : Nearest or SplitTree
        The cells.
    frame : Frame
        Coordinates of the references.
    references : array of shape (n_cells, n_columns)
        Public points from which displacements are taken.
    axes : array of shape (n_cells, n_columns)
        Public weights A of the columns.
    radii : array of shape (n_cells,)
        Public clip radii R of |A u|.
    count_weight, square_weight : float
        w and b, in tenths.
    name : str
        What the ledger calls it.
    """

    def __init__(
        self,
        cells: Cells,
        frame: Frame,
        references: Floats,
        axes: Floats,
        radii: Floats,
        *,
        count_weight: float = 1.0,
        square_weight: float = 0.5,
        name: str = "cell shapes",
    ) -> None:
        self.name = name
        self.cells, self.frame = cells, frame
        self._same_grid = getattr(cells, "domain", None) is frame.domain
        self._ellipsoids = _Ellipsoids(frame, references, axes, radii)
        d = frame.n_columns
        self._w, self._b = round(_FINE * count_weight) / _FINE, round(_FINE * square_weight) / _FINE
        count = round(_FINE * self._w) * SHAPE_UNIT
        self.shape = (cells.n_cells, 1 + 2 * d)
        self.weights = np.array([count] + [_FINE] * d + [round(_FINE * self._b)] * d, dtype=np.int64)
        worth = self._ellipsoids.size / SHAPE_UNIT
        self.step = np.hstack([np.ones((cells.n_cells, 1)), worth, worth * self._ellipsoids.size])
        self.touched = 1 + 2 * d
        self.largest = max(count, _FINE * SHAPE_UNIT)

    @property
    def gridded(self) -> Any:
        """The domain whose grid points tell all that is asked of a record, so that they can be kept."""
        return self.cells.gridded if self._same_grid else None

    def summarise(self, block: Floats) -> Integers:
        """Count the records of each cell and add up their displacements and squares."""
        sums = self._ellipsoids.no_sums()
        for rows in tiles(block):
            grid = points_on(self.frame.domain, rows)
            self._ellipsoids.add(sums, grid, self.cells.labels(rows, grid if self._same_grid else None))
        return self._ellipsoids.total(sums)

    def max_norm(self, norm: int) -> float:
        """Count, displacement and squares together."""
        parts = [self._w, 1.0 if norm == 2 else self.frame.n_columns**0.5, self._b]
        longest = float(np.linalg.norm(parts, norm))
        if self._ellipsoids.in_box:
            h, b = self._ellipsoids.reach(), self._b
            columns = float((h**norm + (b * h**2) ** norm).sum(axis=1).max())
            longest = min(longest, (self._w**norm + columns) ** (1 / norm))
        return _FINE * SHAPE_UNIT * longest

    def max_difference(self, norm: int) -> float:
        """Two records in different cells, or the worst pair within one."""
        apart = 2.0 ** (1 / norm) * self.max_norm(norm) if self.cells.n_cells > 1 else 0.0
        d, b = self.frame.n_columns, self._b
        if norm == 2:
            t = 4.0 if 4 * b**2 <= 1 else 2 + 1 / (2 * b**2)
            within = (t + b**2 * t * (4 - t)) ** 0.5
        elif d == 1:
            s = 2.0 if 2 * b <= 1 else 1 + 1 / (2 * b)
            within = s + b * s * (2 - s)
        else:
            c = 4 * b / (d**0.5 + (d + 32 * b**2) ** 0.5)
            within = 2 * (1 - c**2) ** 0.5 * (d**0.5 + 2 * b * c)
        if self._ellipsoids.in_box:
            within = min(within, _apart_in_bounds(self._ellipsoids.reach(), b, norm))
        # cutting squares to the grid moves a difference by less than one unit in each column
        return max(apart, _FINE * SHAPE_UNIT * (within + b * d ** (1 / norm) / SHAPE_UNIT))


def _apart_in_bounds(h: Floats, b: float, norm: int) -> float:
    """Return the largest difference of (v, b v^2) within one cell whose columns have |v| <= h, (cells, columns)."""
    if b == 0:
        return float((np.power(2 * h, norm).sum(axis=1) ** (1 / norm)).max())
    if norm == 1:
        p = np.where(2 * b * h <= 1, 2 * h, h + 1 / (2 * b))
        return float((p + b * p * (2 * h - p)).sum(axis=1).max())
    p = (3 * h - np.sqrt(np.maximum(np.square(h) - 2 / b**2, 0.0))) / 2
    inside = np.where(b * h >= 2**0.5, np.square(p) * (1 + np.square(b * (2 * h - p))), 0.0)
    return float(np.sqrt(np.maximum(np.square(2 * h), inside).sum(axis=1).max()))


class ScatterMatrix(Query):
    """Second moments of all records about a public point, clipped to an ellipsoid: the matrix of principal axes.

    The total is the upper triangle of the sum of v v^T, off-diagonal entries weighted by 99/70, just above sqrt(2),
    so that the l2 norm of a contribution is that of the matrix, |v|^2 <= 1, within 1/19600.

    Sensitivity. norm: 1 in l2, on an axis; 1 + (99/70)(d - 1)/2 in l1, on a diagonal (products are cut towards zero,
    which adds nothing). difference, before products are cut: sqrt(2) in l2, two orthogonal records
    (|v v^T - u u^T|^2 = |v|^4 + |u|^4 - 2 (u.v)^2 <= 2). Cutting brings two products of opposite signs nearer to each
    other, and two of the same sign apart by less than one unit: less than d units more in l2, the norm of a matrix of
    ones. In l1 the spread is twice the bound, cut or not, which is not tight.

    Parameters
    ----------
    frame : Frame
        Coordinates of the reference.
    reference : array of shape (n_columns,)
        Public point from which displacements are taken.
    axes : array of shape (n_columns,)
        Public weights A of the columns.
    radius : float
        Public clip radius R of |A u|.
    """

    name = "scatter matrix"

    def __init__(self, frame: Frame, reference: Floats, axes: Floats, radius: float) -> None:
        self.frame = frame
        self._ellipsoid = _Ellipsoids(frame, reference[None], axes[None], np.array([radius]))
        d = frame.n_columns
        self.pairs = np.triu_indices(d)
        self.shape = (len(self.pairs[0]),)
        self.weights = np.where(self.pairs[0] == self.pairs[1], 70, 99).astype(np.int64)
        size = self._ellipsoid.size[0]
        self.step = size[self.pairs[0]] * size[self.pairs[1]] / SHAPE_UNIT
        self.touched = self.shape[0]
        self.largest = 70 * SHAPE_UNIT

    def summarise(self, block: Floats) -> Integers:
        """Add up the products of coordinates, cut towards zero record by record."""
        total = np.zeros((self.frame.n_columns,) * 2, dtype=np.int64)
        for rows in tiles(block):
            self._ellipsoid.add_products(total, self.frame.domain.clip_to_grid(rows))
        return total[self.pairs]

    def matrix(self, values: Floats) -> Floats:
        """Return released values as a symmetric matrix."""
        full = np.zeros((self.frame.n_columns,) * 2)
        full[self.pairs] = values
        return full + np.triu(full, 1).T

    def max_norm(self, norm: int) -> float:
        """A record on an axis (l2) or on a diagonal (l1)."""
        d = self.frame.n_columns
        one = (9801 / 9800) ** 0.5 if norm == 2 else 1 + 99 / 70 * (d - 1) / 2
        return 70 * SHAPE_UNIT * one

    def max_difference(self, norm: int) -> float:
        """Two orthogonal records, and what cutting their products adds."""
        if norm == 1:
            return 2.0 * self.max_norm(1)
        return self.max_norm(2) * (2.0**0.5 + self.frame.n_columns / SHAPE_UNIT)
