"""Moments of mixture components: what each of some public Gaussians holds of the records.

A component has a public (released) mean, covariance and clip radius R. A record's displacement from the mean, whitened
by the covariance and divided by R, becomes an integer vector v no longer than one unit; the record adds
r (w, v, b v v^T) to the component, where r is its responsibility: one for the most probable component and nothing
elsewhere (hard), or the posterior probabilities (soft).

Bit for bit a function of one record: grid coordinates times an integer matrix is an exact product whatever the
block; scaling, rounding and clipping it are element-wise; squared lengths are exact sums of integers; probabilities are
looked up in a table by an integer and made to add up by integers.
"""

import math
from typing import Literal

import numpy as np

from knoll.arrays import Floats, Integers
from knoll.compiled.components import add_held, share_among, whiten_all
from knoll.queries.domain import Ball, Box
from knoll.queries.query import Query, require_finite
from knoll.queries.shapes import Cells

Products = Literal["full", "diag", "trace"]

_GRID_BITS = 20  # a displacement on a domain's grid is shorter than 2^20 units per column
_FAR = 2.0**20  # whitened displacements are cut here before they are measured, in units of their grid
_TABLE_STEP, _TABLE_SIZE, _TABLE_UNIT = 128, 32 * 128, 2.0**20
_TABLE = np.rint(_TABLE_UNIT * np.exp(-(np.arange(_TABLE_SIZE) + 0.5) / _TABLE_STEP))
_CHUNK = 2**17  # numbers in one whitened chunk: stays in cache
DIAGONAL, OFF = 5, 7  # weights of squares and products: 7/5 is just below sqrt(2), see `ComponentMoments`

FINE, COARSE = (9, 10), (6, 4)
"""Bits of a displacement and of a responsibility; the coarse pair is for budgets whose noise dwarfs any rounding."""


class Gaussians:
    """Public Gaussians on a domain's grid.

    Parameters
    ----------
    domain : Box or Ball
        Records are clipped to it.
    weights : array of shape (n_cells,)
        Public weights, positive.
    means : array of shape (n_cells, n_columns)
        Public means; moved into the domain.
    roots : array of shape (n_cells, n_columns, n_columns)
        Public matrices L with covariance L L^T.
    radii : array of shape (n_cells,)
        Public clip radii R of whitened displacements.
    bits : int
        A whitened displacement of length R is 2^bits grid units long.
    """

    def __init__(
        self, domain: Box | Ball, weights: Floats, means: Floats, roots: Floats, radii: Floats, bits: int = FINE[0]
    ) -> None:
        self.domain = domain
        self.n_cells, d = means.shape
        self.radii = np.asarray(radii, dtype=np.float64)
        self.unit = 2.0**bits
        inverses = np.linalg.inv(roots) * domain.steps  # whitened = inverse @ grid displacement
        most = 2.0 ** (52 - _GRID_BITS - math.ceil(math.log2(d + 1)))
        per = np.maximum(np.abs(inverses).max(axis=2, keepdims=True), 1e-300) / most
        self._maps = np.rint(inverses / per)
        self._origins = np.rint((domain.clip(means) - domain.centre) / domain.steps)
        self._offsets = np.einsum("kij,kj->ki", self._maps, self._origins)[:, :, None]
        self._scales = per * (self.unit / self.radii)[:, None, None]
        determinants = np.linalg.slogdet(roots)[1]
        with np.errstate(divide="ignore"):
            self._heights = np.maximum(2 * np.log(weights), -1e6) - 2 * determinants
        self._per_square = np.square(self.radii / self.unit)
        require_finite("clip radii and sizes of components", self.radii, self._scales, positive=True)
        require_finite("components", self._maps, self._offsets, self._heights)

    def whiten(self, which: int, grid: Floats) -> Floats:
        """Return whitened displacements from one mean, integers, columns first: (n_columns, rows)."""
        moved = self._maps[which] @ grid.T
        moved -= self._offsets[which]
        moved *= self._scales[which]
        np.rint(moved, out=moved)
        np.clip(moved, -_FAR, _FAR, out=moved)
        return moved

    def share_out(self, grid: Floats, whole: int) -> tuple[Floats, Floats, Floats]:
        """Return whitened displacements from all means, (n_cells, n_columns, rows), their squared lengths, and shares.

        Shares are responsibilities in parts of `whole`; if that is one, all of a record is its most probable cell's.
        """
        k, d = self.n_cells, self.domain.n_columns
        moved = (self._maps.reshape(k * d, d) @ grid.T).reshape(k, d, len(grid))
        squares, parts = np.empty((k, len(grid))), np.zeros((k, len(grid)))
        whiten_all(moved, self._offsets[:, :, 0], self._scales[:, :, 0], _FAR, squares)
        if whole > 1:
            step = _TABLE_STEP / 2
            share_among(squares, self._per_square, self._heights, _TABLE, step, float(whole), parts)
        else:
            badness = squares * self._per_square[:, None] - self._heights[:, None]
            parts[badness.argmin(axis=0), np.arange(len(grid))] = 1.0
        return moved, squares, parts

    def badness(self, which: int, squares: Floats) -> Floats:
        """Return minus twice the log density, up to a constant, from squared lengths."""
        return squares * self._per_square[which] - self._heights[which]

    def clip(self, moved: Floats, squares: Floats) -> Floats:
        """Pull whitened displacements into the clip radius, cutting towards zero."""
        outside = np.flatnonzero(squares > self.unit**2)
        if outside.size:
            factor = self.unit * (1.0 - 2.0**-40) / np.sqrt(squares[outside])
            moved[:, outside] = np.trunc(moved[:, outside] * factor)
        return moved


def probabilities(badness: Floats, unit: int) -> Floats:
    """Return responsibilities as integers that sum to `unit`: (n_cells, rows) -> the same.

    Running totals of integers are rounded, so the parts add up exactly and none is negative.
    """
    above = badness - badness.min(axis=0)
    above *= _TABLE_STEP / 2
    np.minimum(above, _TABLE_SIZE - 1, out=above)
    parts = _TABLE.take(above.astype(np.int64))
    np.cumsum(parts, axis=0, out=parts)
    total = parts[-1].copy()
    parts *= unit
    parts /= total
    np.rint(parts, out=parts)
    parts[1:] -= parts[:-1].copy()
    return parts


class ComponentMoments(Query):
    """Count, whitened displacements and their products, per component.

    The total has shape (cells, 1 + d + p): p is d (d + 1) / 2 products ("full"), d squares ("diag") or one squared
    length ("trace").

    Sensitivity. One component first, in units where |v| <= 1, with weights w, 1 and b on count, displacement and
    squares, and 7/5 b on products v_i v_j:

    - norm: w^2 + |v|^2 + b^2 (sum v_i^4 + 49/25 sum_(i<j) v_i^2 v_j^2) <= w^2 + 1 + b^2 in l2^2, reached on an axis,
      as 49/25 < 2. In l1, w + sqrt(d) + b (1 + 7/5 (d - 1) / 2), reached on a diagonal; without products, the last
      part is b.
    - difference within it: |u - v|^2 + b^2 |u u^T - v v^T|^2, with x = |u|, y = |v|, m = u.v, is x^2 + y^2 - 2 m +
      b^2 (x^4 + y^4 - 2 m^2), concave in m. If b^2 <= 1/2 it is largest at m = -x y, where it is
      (x + y)^2 (1 + b^2 (x - y)^2), increasing in x and y: 4 at the end. Else m = -1 / (2 b^2) gives 2 + 2 b^2 +
      1 / (2 b^2), at x = y = 1; the case x y < 1 / (2 b^2) stays below. One column has m = ± x y only: the largest of
      t^2 (1 + b^2 (2 - t)^2), t = |u - v| <= 2, at t = 2 or, if b^2 > 2, where t^2 - 3 t + 2 + 1 / (2 b^2) = 0 first.
      In l1, at most twice the bound without w.
    - rounding: v is a whole vector of at most one unit (it is cut towards zero where it is too long) and its products
      are whole, so nothing is added.

    Many components. Responsibilities r, s of two records are non-negative and sum to one. A contribution is a convex
    combination, by r, of contributions to one component each, so its norm is at most `max_norm`; the norm of a
    difference is convex in r and in s, hence largest where both are hard: two components, 2^(1/norm) of it, or the
    difference within one.

    Parameters
    ----------
    gaussians : Gaussians
        The components.
    cells : Cells, optional
        Cells of hard responsibilities that are not the most probable components: of k-means centres, say.
    soft : bool
        Whether responsibilities are probabilities.
    products : {"full", "diag", "trace"}
        Which products are summed.
    count_weight, square_weight : float
        w and b, rounded.
    bits : int
        Responsibilities are multiples of 2^-bits, if they are soft.
    """

    def __init__(
        self,
        gaussians: Gaussians,
        *,
        cells: Cells | None = None,
        soft: bool = True,
        products: Products = "full",
        count_weight: float = 0.5,
        square_weight: float = 0.7,
        bits: int = FINE[1],
    ) -> None:
        self.gaussians, self.cells, self.soft, self.products = gaussians, cells, soft, products
        self.domain = gaussians.domain
        self.name = f"{'soft' if soft else 'hard'} component moments"
        k, d = gaussians.n_cells, gaussians.domain.n_columns
        s = int(gaussians.unit)
        self._whole = 2**bits if soft else 1
        move = max(1, round(DIAGONAL * s / square_weight))
        count = max(1, round(count_weight * move * s))
        self.pairs = np.triu_indices(d) if products == "full" else (np.arange(d), np.arange(d))
        p = 1 if products == "trace" else len(self.pairs[0])
        square = np.full(p, DIAGONAL)
        if products == "full":
            square[self.pairs[0] != self.pairs[1]] = OFF
        self.shape = (k, 1 + d + p)
        self.weights = np.array([count, *[move] * d, *square], dtype=np.int64)
        size = gaussians.radii[:, None] / s
        self.step = np.hstack([np.ones((k, 1)), np.repeat(size, d, axis=1), np.repeat(size**2, p, axis=1)])
        self.step /= self._whole
        self.touched = (k if soft else 1) * self.shape[1]
        self._parts = np.array([count, move * s, DIAGONAL * s * s], dtype=np.float64) * self._whole
        self.largest = int(self._parts.max())

    def summarise(self, block: Floats) -> Integers:
        """Whiten a chunk of records for every component, share them out and add up."""
        grid = np.ascontiguousarray(self.domain.clip_to_grid(block))
        k, d = self.gaussians.n_cells, self.domain.n_columns
        total = np.zeros((k, 1 + d + (d * d if self.products == "full" else d)))
        rows = max(64, _CHUNK // (k * d if self.cells is None else d))
        given = None if self.cells is None else self.cells.labels(block)
        for start in range(0, len(grid), rows):
            chunk = grid[start : start + rows]
            if given is None:
                self._add(total, chunk)
            else:
                self._add_cells(total, chunk, given[start : start + rows])
        return self._pack(total)

    def _add(self, total: Floats, chunk: Floats) -> None:
        """Add a chunk whose responsibilities follow from the Gaussians."""
        moved, squares, parts = self.gaussians.share_out(chunk, self._whole)
        add_held(moved, squares, parts, self.gaussians.unit, int(self.products == "full"), total)

    def _add_cells(self, total: Floats, chunk: Floats, labels: Integers) -> None:
        """Add a chunk whose cells are given."""
        for i in np.unique(labels[labels >= 0]).tolist():
            moved = self.gaussians.whiten(i, chunk[labels == i])
            self._sum(total[i], moved, np.einsum("ij,ij->j", moved, moved), np.ones(moved.shape[1]))

    def _sum(self, total: Floats, moved: Floats, squares: Floats, part: Floats) -> None:
        """Add to one component; every sum is one of integers below 2^53, exact in any order."""
        v = self.gaussians.clip(moved, squares)
        d = len(v)
        weighted = v * part
        total[0] += part.sum()
        total[1 : 1 + d] += weighted.sum(axis=1)
        if self.products == "full":
            total[1 + d :] += (weighted @ v.T).ravel()
        else:
            total[1 + d : 1 + 2 * d] += np.einsum("ij,ij->i", weighted, v)

    def _pack(self, total: Floats) -> Integers:
        """Keep what is released."""
        d = self.domain.n_columns
        if self.products == "full":
            tail = total[:, 1 + d :].reshape(-1, d, d)[:, self.pairs[0], self.pairs[1]]
        else:
            tail = total[:, 1 + d : 1 + 2 * d]
            tail = tail.sum(axis=1, keepdims=True) if self.products == "trace" else tail
        return np.hstack([total[:, : 1 + d], tail]).astype(np.int64)

    def _lengths(self, norm: int) -> Floats:
        """Largest norms of count, displacement and products."""
        count, move, square = self._parts
        if norm == 2:
            return self._parts
        d = self.domain.n_columns
        return np.array([count, move * d**0.5, square * (1 + OFF / DIAGONAL * (d - 1) / 2 * (self.products == "full"))])

    def max_norm(self, norm: int) -> float:
        """All of a record in one component, on the rim of its ellipsoid."""
        return float(np.linalg.norm(self._lengths(norm), norm))

    def max_difference(self, norm: int) -> float:
        """Two records in different components, or the worst pair within one."""
        apart = 2.0 ** (1 / norm) * self.max_norm(norm) if self.shape[0] > 1 else 0.0
        return max(apart, self.within(norm))

    def within(self, norm: int) -> float:
        """Largest norm of the difference of two records in one component."""
        lengths = self._lengths(norm)
        if norm == 1:
            return 2.0 * float(lengths[1:].sum())
        b = lengths[2] / lengths[1]
        within = 2.0 if b * b <= 0.5 else math.sqrt(2 + 2 * b * b + 1 / (2 * b * b))
        if self.domain.n_columns == 1:
            t = 2.0 if b * b <= 2 else (3 - math.sqrt(1 - 2 / (b * b))) / 2
            within = max(2.0, t * math.hypot(1.0, b * (2 - t)))
        return float(lengths[1]) * within
