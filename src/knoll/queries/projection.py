"""A public linear map in front of a domain: records are projected, then clipped to a public radius again.

The map is a matrix of integers, so the projection of a grid point is an integer below 2^53, exact in any order of
summation; scaling and rounding it to the new grid are element-wise. Hence the projected record depends on that
record alone.
"""

import numpy as np

from knoll.arrays import Floats
from knoll.queries.domain import Ball, Box
from knoll.queries.grid import Gridded, clip_to_ball, shorten
from knoll.queries.query import UNIT, require_finite

_MATRIX_BITS = 14


class Projected:
    """The ball that a domain becomes under a public linear map; a domain for `Nearest` and `SplitTree`.

    Parameters
    ----------
    domain : Box or Ball
        Where records lie.
    matrix : array of shape (n_dimensions, n_columns)
        Rows of the map; a record x goes to matrix @ ((x - centre) / scales).
    radius : float
        Public radius to which projected records are clipped.
    scales : array of shape (n_columns,), optional
        Columns are divided by these before projection.
    """

    def __init__(self, domain: Box | Ball, matrix: Floats, radius: float, scales: Floats | None = None) -> None:
        self.source = domain
        self.matrix = np.asarray(matrix, dtype=np.float64)
        self.radius = float(radius)
        self.scales = np.ones(domain.n_columns) if scales is None else np.asarray(scales, dtype=np.float64)
        self.n_columns = len(self.matrix)
        self.centre = np.zeros(self.n_columns)
        self.half = np.full(self.n_columns, self.radius)
        self.constant = np.zeros(self.n_columns, dtype=bool)
        self.steps = self.half / UNIT
        real = (domain.steps / self.scales)[:, None] * self.matrix.T
        unit = float(np.abs(real).max()) / 2**_MATRIX_BITS
        require_finite("a projection's radius, scales and largest entry", self.radius, self.scales, unit, positive=True)
        self._integers = np.rint(real / unit)
        self._factor = unit / (self.radius / UNIT)
        require_finite("a projection's entries", self._integers, self._factor)

    def clip_to_grid(self, block: Floats, grid: Floats | None = None) -> Floats:
        """Project records and put them on the projected ball's grid; `grid` is the source's, if known."""
        if isinstance(block, Gridded):
            return block.on(self)
        points = self.source.clip_to_grid(block) if grid is None else grid
        projected = points @ self._integers
        return clip_to_ball(projected, UNIT, factor=self._factor, most=UNIT)

    def clip(self, points: Floats) -> Floats:
        """Move public projected points into the ball."""
        return shorten(points, self.radius)


def random_projection(
    domain: Box | Ball, n_dimensions: int, rng: np.random.RandomState, scales: Floats | None = None
) -> Projected:
    """Return a random projection onto `n_dimensions` orthogonal directions (Johnson-Lindenstrauss).

    A record of length r has projected length about r sqrt(p / d); the public radius is one and a half times that of the
    domain's reach, or the reach itself if that is less.
    """
    d = domain.n_columns
    directions, _ = np.linalg.qr(rng.standard_normal((d, n_dimensions)))
    radius = domain.longest(scales) * min(1.0, 1.5 * (n_dimensions / d) ** 0.5)
    return Projected(domain, directions.T, radius, scales)


def random_hyperplanes(
    domain: Box | Ball, n_hyperplanes: int, rng: np.random.RandomState, scales: Floats | None = None
) -> Projected:
    """Return the distances of a record to random hyperplanes through the middle of the domain, any number of them."""
    normals = rng.standard_normal((n_hyperplanes, domain.n_columns))
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    radius = domain.longest(scales) * max(1.0, 2.0 * (n_hyperplanes / domain.n_columns) ** 0.5)
    return Projected(domain, normals, radius, scales)
