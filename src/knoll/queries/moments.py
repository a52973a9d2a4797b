"""Counts and sums per cell, as one joint query: a record touches its own cell only.

Every query here is one vector per cell: a weighted count and weighted coordinates. Because the cells of one record
are disjoint from all others', k cells cost as much as one, and because count and sum are bounded together, the
joint l2 norm is sqrt(w^2 + reach^2) rather than the sum of two separately noised releases.
"""

from typing import Any

import numpy as np

from knoll.arrays import Floats, Integers
from knoll.compiled.eight import WIDTH, add_sums_eight
from knoll.compiled.sums import add_sums
from knoll.queries.cells import SplitTree
from knoll.queries.domain import Ball, Box
from knoll.queries.grid import clip_to_ball
from knoll.queries.nearest import Nearest
from knoll.queries.points import points_on
from knoll.queries.projection import Projected
from knoll.queries.query import UNIT, Query, tiles

_FINEST = 64  # weight of the widest column


class CellMoments(Query):
    """Count and sum of the records in each cell, coordinates taken from the middle of the domain.

    The total has shape (cells, 1 + columns): the count, then the sums. Column j's sum has weight A_j, the count
    weight w.

    Sensitivity. A record adds (w, A_1 q_1, ..., A_d q_d) to one cell, q in the domain's grid: with
    reach = max norm of A q,

    - norm: sqrt(w^2 + reach^2) in l2, w + reach in l1, at the domain's corner (or edge).
    - difference: two records in different cells add both contributions, sqrt(2) norm in l2 and 2 norm in l1; two in
      the same cell cancel in the count and differ by at most the widest difference of two grid points, weighted:
      2 reach in a box or a ball. The larger of the two (the second if there is one cell).

    Parameters
    ----------
    cells : Nearest or SplitTree
        The cells. They may lie in a projection of the domain, or leave some records out.
    domain : Box or Ball, optional
        Where the sums are taken; by default the cells' own domain.
    scales : array of shape (n_columns,), optional
        Columns are divided by these when noise is divided among them; by default as the cells measure distance.
    """

    name = "cell counts and sums"

    def __init__(
        self, cells: Nearest | SplitTree, domain: Box | Ball | None = None, scales: Floats | None = None
    ) -> None:
        self.cells = cells
        if domain is None:
            assert not isinstance(cells.domain, Projected), "sums need the domain before projection"
            domain = cells.domain
        self.domain = domain
        self._same_grid = domain is cells.domain
        d = self.domain.n_columns
        if scales is None:
            scales = cells.scales if self._same_grid else np.ones(d)
        weights = _column_weights(self.domain, scales)
        count_weight = _count_weight(self.domain, scales, weights)
        self._reach = {norm: self.domain.reach(weights, norm) for norm in (1, 2)}
        self._widest = {norm: self.domain.widest(weights, norm) for norm in (1, 2)}
        self.shape = (cells.n_cells, 1 + d)
        self.weights = np.array([count_weight, *weights], dtype=np.int64)
        self.step = np.array([1.0, *self.domain.steps])
        self.touched = 1 + d
        self.largest = max(count_weight, int(weights.max()) * UNIT)

    def summarise(self, block: Floats) -> Integers:
        """Count and add up the records of each cell."""
        few = self.domain.n_columns <= WIDTH
        total: Any = np.zeros((self.cells.n_cells, WIDTH + 1)) if few else np.zeros(self.shape, dtype=np.int64)
        add = add_sums_eight if few else add_sums
        for rows in tiles(block):
            grid = points_on(self.domain, rows)
            add(grid, self.cells.labels(rows, grid if self._same_grid else None), total)
        return total[:, [WIDTH, *range(self.domain.n_columns)]].astype(np.int64) if few else total

    @property
    def gridded(self) -> Any:
        """The domain whose grid points tell all that is asked of a record, so that they can be kept."""
        return self.cells.gridded if self._same_grid else None

    def max_norm(self, norm: int) -> float:
        """Count and sum together, at the farthest point of the domain."""
        return float(np.linalg.norm([self.weights[0], self._reach[norm]], norm))

    def max_difference(self, norm: int) -> float:
        """Two records in different cells, or at opposite ends of one."""
        apart = 2.0 ** (1 / norm) * self.max_norm(norm) if self.cells.n_cells > 1 else 0.0
        return max(apart, self._widest[norm])


class CellDisplacements(Query):
    """Count, and sum of displacements from the cell's own centre, clipped to a public radius.

    Sensitivity. A record adds (w, A v) to one cell, v an integer vector no longer than the radius r in grid
    units (cut towards zero, so rounding adds nothing). norm: sqrt(w^2 + (A r)^2) in l2, w + A r sqrt(d) in l1.
    difference: the larger of two cells' contributions together, and 2 A r (2 A r sqrt(d) in l1) within one cell.

    Parameters
    ----------
    cells : Nearest
        The cells, and their domain.
    radius : float
        Displacements longer than this are shortened to it. In units of the cells' metric.
    """

    name = "cell counts and clipped displacements"

    def __init__(self, cells: Nearest, radius: float) -> None:
        self.cells = cells
        d = cells.domain.n_columns
        self._steps = cells.steps
        self._origins = np.rint((cells.centres - cells.domain.centre) / cells.steps)
        self.radius = max(1, int(radius / cells.unit))
        weight = max(1, _FINEST * UNIT // max(self.radius, UNIT))
        count_weight = max(1, round(weight * self.radius / 2))
        self.shape = (cells.n_cells, 1 + d)
        self.weights = np.array([count_weight] + [weight] * d, dtype=np.int64)
        self.step = np.array([1.0, *cells.steps])
        self.touched = 1 + d
        self.largest = max(count_weight, weight * self.radius)

    def summarise(self, block: Floats) -> Integers:
        """Count the records of each cell and add up their clipped displacements."""
        total = np.zeros(self.shape, dtype=np.int64)
        for rows in tiles(block):
            grid = self.cells.metric_grid(rows)
            labels = self.cells.labels(rows, metric_grid=grid)
            add_sums(clip_to_ball(grid - self._origins[labels], self.radius), labels, total)
        return total

    def _reach(self, norm: int) -> float:
        longest = float(self.weights[1]) * self.radius
        return longest if norm == 2 else longest * (self.shape[1] - 1) ** 0.5

    def max_norm(self, norm: int) -> float:
        """Count and displacement together."""
        return float(np.linalg.norm([self.weights[0], self._reach(norm)], norm))

    def max_difference(self, norm: int) -> float:
        """Two records in different cells, or on opposite sides of one centre."""
        apart = 2.0 ** (1 / norm) * self.max_norm(norm) if self.cells.n_cells > 1 else 0.0
        return max(apart, 2.0 * self._reach(norm))


def _column_weights(domain: Box | Ball, scales: Floats) -> Integers:
    """Weights that minimise the total squared noise, in the cells' metric, of the sums of a box.

    The noise of column j is h_j / A_j (h_j half a width in the metric) times the norm of A: sum A^2 * sum (h / A)^2 is
    least at A_j proportional to sqrt(h_j). A ball is weighted equally.
    """
    if isinstance(domain, Ball):
        return np.full(domain.n_columns, _FINEST, dtype=np.int64)
    wide = domain.half / scales
    return np.maximum(1, np.rint(_FINEST * np.sqrt(wide / wide.max()))).astype(np.int64)


def _count_weight(domain: Box | Ball, scales: Floats, weights: Integers) -> int:
    """Weight of the count that minimises the noise of a mean, sum / count.

    The variance is proportional to (w^2 + D)(G + C / w^2): D = squared reach, G = squared noise of the sums at unit
    scale, C = squared distance of a typical mean from the middle (half-way out). Hence w^4 = D C / G.
    """
    steps = domain.steps / scales
    reach = domain.reach(weights, 2) ** 2
    sums = float(np.sum((steps / weights) ** 2))
    typical = float(np.sum((domain.half / scales) ** 2)) / 4
    return max(1, round((reach * typical / sums) ** 0.25))
