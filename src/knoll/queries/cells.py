"""Cells of a tree of axis-parallel splits: comparisons of one grid coordinate with a public threshold."""

from collections.abc import Sequence

import numpy as np

from knoll.arrays import Floats, Integers, Small
from knoll.compiled.cells import down_tree
from knoll.compiled.eight import down_tree_eight
from knoll.queries.domain import Ball, Box
from knoll.queries.points import points_on
from knoll.queries.projection import Projected
from knoll.queries.query import UNIT, require_finite


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
        self._arrays: tuple[Integers, Floats, Integers, Integers, int] | None = None
        self.open([0])

    @property
    def gridded(self) -> Box | Ball | Projected:
        """The domain whose grid points tell a record's cell."""
        return self.domain

    def split(self, node: int, axis: int, threshold: float) -> tuple[int, int]:
        """Split a leaf at a grid coordinate; return its two children."""
        require_finite("thresholds", threshold)
        left, self._arrays = len(self._axis), None
        self._axis[node], self._threshold[node], self._left[node] = axis, threshold, left
        for _ in range(2):
            self._axis.append(-1)
            self._threshold.append(0.0)
            self._left.append(0)
        return left, left + 1

    def open(self, leaves: Sequence[int]) -> None:
        """Make these leaves the cells, in order."""
        self.cells = list(leaves)
        self.n_cells, self._arrays = len(self.cells), None

    def labels(self, block: Floats, grid: Floats | Small | None = None) -> Integers:
        """Return the cell of each record, -1 for none; records that hold a NaN are left out."""
        points = points_on(self.domain, block) if grid is None else grid
        labels = np.empty(len(points), dtype=np.int64)
        axis, threshold, left, number, depth = self._packed()
        if points.dtype == np.int32:
            down_tree_eight(points, *self._short, number, depth, labels)
        else:
            down_tree(np.ascontiguousarray(points), axis, threshold, left, number, depth, labels)
        return labels

    def _packed(self) -> tuple[Integers, Floats, Integers, Integers, int]:
        """Return the nodes as arrays, made once: axis, threshold, left child and cell of each, and the depth."""
        if self._arrays is None:
            axis, left = np.array(self._axis), np.array(self._left)
            leaf = axis < 0
            threshold = np.where(leaf, np.inf, self._threshold)
            number = np.full(len(axis), -1, dtype=np.int64)
            number[self.cells] = np.arange(self.n_cells)
            depth = np.zeros(len(axis), dtype=np.int64)
            for node in np.flatnonzero(~leaf):  # children come after their parents
                depth[left[node] : left[node] + 2] = depth[node] + 1
            left = np.where(leaf, np.arange(len(axis)), left)
            self._arrays = np.maximum(axis, 0), threshold, left, number, int(depth.max())
            # a whole number exceeds a threshold where it exceeds the whole number below it
            cut = np.floor(np.clip(threshold, -2.0 * UNIT, 2.0 * UNIT)).astype(np.int32)
            self._short = (8 * left + self._arrays[0]).astype(np.uint32), cut
        return self._arrays
