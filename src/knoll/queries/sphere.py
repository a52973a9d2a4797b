"""The sphere as a domain: a record is its direction, scaled to length one by a public rule.

A record's grid point is computed from that record alone, in one fixed order (`knoll.compiled.sphere`), and is never
longer than the radius of the grid. So whatever is proven of records in a ball of radius one holds here, and it is
tight: on the axes and the diagonals the bounds are reached.

    a record without direction (all zeros)     the middle: it is counted, and adds nothing to a sum
    a record that holds a NaN                  left out, as in every domain
    infinite entries                           they alone count, each as one
    any other, however long or short           its direction
"""

from collections.abc import Sequence

import numpy as np

from knoll.arrays import Floats
from knoll.compiled.sphere import onto_sphere, onto_sphere_any
from knoll.privacy.errors import BoundsError
from knoll.queries.domain import Ball, Box
from knoll.queries.grid import Gridded
from knoll.queries.projection import Projected
from knoll.queries.query import UNIT, require_finite

MOST_COLUMNS = 2**20  # squares of grid coordinates are added in 64 bits, and there is room left


class Sphere(Ball):
    """Directions in `n_columns` dimensions: records are scaled to length one; centres lie in the ball of radius one.

    >>> sphere = Sphere(2)
    >>> sphere.coordinates(np.array([[3.0, 4.0], [0.0, 0.0], [0.0, 1e-300]])).round(4).tolist()
    [[0.6, 0.8], [0.0, 0.0], [0.0, 1.0]]
    >>> sphere
    Sphere(2)
    """

    def __init__(self, n_columns: int, names: Sequence[str] | None = None) -> None:
        if not 1 <= n_columns <= MOST_COLUMNS:
            raise BoundsError(f"a sphere in {n_columns} columns: there must be between 1 and {MOST_COLUMNS}")
        super().__init__(1.0, (0.0,) * n_columns, None if names is None else tuple(names))

    def clip_to_grid(self, block: Floats) -> Floats:
        """Scale records to length one, on the grid, cutting towards zero; records that hold a NaN are left out."""
        return block.on(self) if isinstance(block, Gridded) else directions(block)

    def coordinates(self, block: Floats) -> Floats:
        """Return a block's rows scaled to length one, as their holder measures them; none may hold a NaN."""
        return directions(block) / UNIT

    def __repr__(self) -> str:
        return f"Sphere({self.n_columns})"


class Directions(Projected):
    """Directions of records seen from a public point, in a projection: matrix @ (x - middle), scaled to length one.

    The map is a matrix of integers, as in `Projected`, so what is scaled is exact; scaling is by `directions`. Hence a
    direction depends on its record alone, and none is longer than one.

    Parameters
    ----------
    domain : Box or Ball
        Where records lie.
    matrix : array of shape (n_dimensions, n_columns)
        Rows of the map.
    middle : array of shape (n_columns,)
        The public point.
    """

    def __init__(self, domain: Box | Ball, matrix: Floats, middle: Floats) -> None:
        super().__init__(domain, matrix, 1.0)
        self.middle = np.asarray(middle, dtype=np.float64)
        self._offset = np.rint(((self.middle - domain.centre) / domain.steps) @ self._integers)
        require_finite("the point that directions are seen from", self._offset)

    def clip_to_grid(self, block: Floats, grid: Floats | None = None) -> Floats:
        """Return the directions of records on the grid; `grid` is the source's, if known."""
        if isinstance(block, Gridded):
            return block.on(self)
        points = self.source.clip_to_grid(block) if grid is None else grid
        return directions(points @ self._integers - self._offset)

    def seen(self, points: Floats) -> Floats:
        """Return the directions of public points of the domain."""
        return lengthened((points - self.middle) @ self.matrix.T)


def directions(block: Floats) -> Floats:
    """Return rows scaled to a length of UNIT, as whole numbers; rows that hold a NaN are left out."""
    rows = np.require(block, np.float64, "A")
    put = onto_sphere if rows.flags.c_contiguous else onto_sphere_any
    grid = np.empty(rows.shape)
    kept = put(rows, float(UNIT), grid)
    return grid[:kept]


def lengthened(points: Floats) -> Floats:
    """Return public points scaled to length one; those without direction as they are."""
    lengths = np.linalg.norm(points, axis=-1, keepdims=True)
    return points / np.where(lengths > 0, lengths, 1.0)
