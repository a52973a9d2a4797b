"""Means of the values that are there, column by column: what missing values are filled in with."""

from collections.abc import Sequence

import numpy as np

from knoll.arrays import Floats, Integers
from knoll.queries.product import Product
from knoll.queries.query import UNIT, Query

_COUNT = round(0.7 * UNIT)
"""Weight of a count beside coordinates of at most UNIT: means half-way to a bound are then least noisy."""


class ObservedMeans(Query):
    """For each of some columns: how many records have a value there, and the sum of their coordinates.

    Coordinates are taken from the middle of the domain; of a category, those of its levels. A record with a NaN in one
    of the columns adds nothing for that column, and all the same for others; a record without any value adds nothing.

    Sensitivity. For column j a record adds nothing, or (w, q), q a grid point of the column's part of the domain: with
    reach_j = max norm of q, at most n_j = |(w, reach_j)|. Columns have coordinates of their own, so

    - norm: that of (n_1, ..., n_c), at a record with values in all columns, each at its farthest point.
    - difference: two records with a value differ by at most the widest difference of two grid points, since the counts
      cancel; if one of them has none, by n_j. The larger of the two in every column, and the norm of all of them.

    Parameters
    ----------
    domain : Product
        Where records lie.
    columns : sequence of int
        The columns whose means are wanted, by their places in a block.
    """

    name = "means of observed values"

    def __init__(self, domain: Product, columns: Sequence[int]) -> None:
        self.domain, self.columns = domain, tuple(columns)
        self.parts = [Product.of([domain.parts[j]]) for j in self.columns]
        ends = np.cumsum([1 + part.n_columns for part in self.parts])
        self.slices = [
            slice(int(end) - 1 - part.n_columns, int(end)) for part, end in zip(self.parts, ends, strict=True)
        ]
        self.shape = (int(ends[-1]),)
        self.weights = np.ones(self.shape, dtype=np.int64)
        self.weights[[where.start for where in self.slices]] = _COUNT
        self.step = np.concatenate([[1.0, *part.steps] for part in self.parts])
        self.touched = self.shape[0]
        self.largest = UNIT

    def summarise(self, block: Floats) -> Integers:
        """Count the values of each column and add up their coordinates."""
        total = np.empty(self.shape, dtype=np.int64)
        for j, part, where in zip(self.columns, self.parts, self.slices, strict=True):
            grid = part.clip_to_grid(block[:, [j]])  # leaves out records with a NaN here
            total[where] = [len(grid), *grid.sum(axis=0)]
        return total

    def max_norm(self, norm: int) -> float:
        """A value in every column, at its farthest point."""
        return float(np.linalg.norm([self._longest(part, norm) for part in self.parts], norm))

    def max_difference(self, norm: int) -> float:
        """Values at opposite ends of a column, or one value and none."""
        apart = [max(part.widest(np.ones(1, np.int64), norm), self._longest(part, norm)) for part in self.parts]
        return float(np.linalg.norm(apart, norm))

    def _longest(self, part: Product, norm: int) -> float:
        return float(np.linalg.norm([_COUNT, part.reach(np.ones(1, np.int64), norm)], norm))
