"""Cells of a tree of axis-parallel splits: comparisons of one grid coordinate with a public threshold."""

from collections.abc import Sequence

import numpy as np

from knoll.arrays import Floats, Integers
from knoll.queries.domain import Ball, Box
from knoll.queries.projection import Projected
from knoll.queries.query import require_finite


class SplitTree:
    """A binary tree over a domain's grid. Its open leaves are the cells; records elsewhere belong to none (-1).

    A record goes right where its grid coordinate exceeds the threshold: exact, and a function of that record alone.

    Parameters
    ----------
    domain : Box, Ball or Projected
        The domain whose grid is split.

    Examples
    --------
    >>> tree = SplitTree(Box((0.0, 0.0), (1.0, 1.0)))
    >>> left, right = tree.split(0, axis=0, threshold=0.0)
    >>> tree.open([left, right])
    >>> tree.labels(np.array([[0.2, 0.9], [0.7, 0.1]]))
    array([0, 1])
    """

    def __init__(self, domain: Box | Ball | Projected) -> None:
        self.domain = domain
        self.scales = np.ones(domain.n_columns)
        self._axis: list[int] = [-1]
        self._threshold: list[float] = [0.0]
        self._left: list[int] = [0]
        self.open([0])

    def split(self, node: int, axis: int, threshold: float) -> tuple[int, int]:
        """Split a leaf at a grid coordinate; return its two children."""
        require_finite("thresholds", threshold)
        left = len(self._axis)
        self._axis[node], self._threshold[node], self._left[node] = axis, threshold, left
        for _ in range(2):
            self._axis.append(-1)
            self._threshold.append(0.0)
            self._left.append(0)
        return left, left + 1

    def open(self, leaves: Sequence[int]) -> None:
        """Make these leaves the cells, in order."""
        self.cells = list(leaves)
        self.n_cells = len(self.cells)

    def labels(self, block: Floats, grid: Floats | None = None) -> Integers:
        """Return the cell of each record, -1 for none; records that hold a NaN are left out."""
        points = self.domain.clip_to_grid(block) if grid is None else grid
        axis, threshold = np.array(self._axis), np.array(self._threshold)
        left = np.array(self._left)
        flat, along, across = _flat(points)
        node = np.zeros(len(points), dtype=np.int64)
        inner = np.arange(len(points)) if axis[0] >= 0 else np.empty(0, dtype=np.int64)
        while inner.size:
            at = node.take(inner)
            moved = left.take(at) + (flat.take(inner * along + axis.take(at) * across) > threshold.take(at))
            node[inner] = moved
            inner = inner[axis.take(moved) >= 0]
        number = np.full(len(axis), -1, dtype=np.int64)
        number[self.cells] = np.arange(self.n_cells)
        return number[node]


def _flat(points: Floats) -> tuple[Floats, int, int]:
    """Return an array's numbers in memory order, and the steps from row to row and from column to column."""
    if points.flags.f_contiguous and not points.flags.c_contiguous:
        return points.T.ravel(), 1, len(points)
    return np.ascontiguousarray(points).ravel(), points.shape[1], 1
