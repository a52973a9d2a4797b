"""Votes: every record names one cell."""

from typing import Any

import numpy as np

from knoll.arrays import Floats, Integers
from knoll.queries.cells import SplitTree
from knoll.queries.domain import Box
from knoll.queries.nearest import Nearest, TwoLevel
from knoll.queries.query import COUNT_WEIGHT, Query, one_vote, require_finite, tiles


class _Votes(Query):
    """One vote per record, in one of `choices` places.

    Sensitivity. A record adds 1 in one place: norm = 1 vote in either norm. Two records vote in at most two places:
    difference = sqrt(2) votes in l2, 2 in l1 (0 if there is one place).
    """

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape
        self.choices = int(np.prod(shape))
        self.weights = np.array(COUNT_WEIGHT)
        self.step = np.array(1.0)
        self.touched = 1
        self.largest = COUNT_WEIGHT

    def max_norm(self, norm: int) -> float:
        """One vote."""
        return one_vote(norm, self.choices)[0]

    def max_difference(self, norm: int) -> float:
        """A vote that moves from one place to another."""
        return one_vote(norm, self.choices)[1]


class NearestVotes(_Votes):
    """Records voting for the nearest of public candidates. Sensitivity as `_Votes`: one vote each."""

    name = "nearest votes"

    def __init__(self, cells: Nearest | TwoLevel) -> None:
        super().__init__((cells.n_cells,))
        self.cells = cells

    @property
    def gridded(self) -> Any:
        """The domain whose grid points tell all that is asked of a record, so that they can be kept."""
        return self.cells.gridded

    def summarise(self, block: Floats) -> Integers:
        """Count the records nearest to each candidate."""
        total = np.zeros(self.shape, dtype=np.int64)
        for rows in tiles(block):
            total += np.bincount(self.cells.labels(rows), minlength=self.choices)
        return total


class PairVotes(_Votes):
    """Records voting for the two centres they are nearest to, which shows whether the density falls between these.

    The total has shape (cells, cells, 2): nearest centre, second nearest, and whether the record is near the border
    between the two (1). Sensitivity as `_Votes`: one vote each. Its place depends on that record and on public centres
    alone, since squared distances are whole numbers.

    Parameters
    ----------
    cells : Nearest
        Cells of two centres or more, and fewer than a thousand.
    border : float
        Near the border is what lies within this part of the distance of the two centres from it.
    """

    name = "votes between cells"

    def __init__(self, cells: Nearest, border: float) -> None:
        super().__init__((cells.n_cells, cells.n_cells, 2))
        self.cells = cells
        self._limit = np.floor(2.0 * border * cells.gaps())  # b - a = 2 L x (distance to the border), L^2 the gap

    def summarise(self, block: Floats) -> Integers:
        """Count the records of each pair of nearest centres, near the border and farther from it."""
        first, second, beyond = self.cells.two_nearest(block)
        close = beyond <= self._limit[first, second]
        places = (first * self.cells.n_cells + second) * 2 + close
        return np.bincount(places, minlength=self.choices).reshape(self.shape).astype(np.int64)


class TreeCounts(_Votes):
    """Records counted in the open leaves of a tree. Sensitivity as `_Votes`: one leaf each, or none."""

    name = "tree counts"

    def __init__(self, tree: SplitTree) -> None:
        super().__init__((tree.n_cells,))
        self.cells = tree

    @property
    def gridded(self) -> Any:
        """The domain whose grid points tell all that is asked of a record, so that they can be kept."""
        return self.cells.domain

    def summarise(self, block: Floats) -> Integers:
        """Count the records of each open leaf."""
        total = np.zeros(self.shape, dtype=np.int64)
        for rows in tiles(block):
            labels = self.cells.labels(rows)
            total += np.bincount(labels[labels >= 0], minlength=self.choices)
        return total


class GridHistogram(_Votes):
    """Records counted in the cells of a regular grid over a box. Sensitivity as `_Votes`: one cell each.

    Parameters
    ----------
    box : Box
        The public box; records outside count in the nearest border cell.
    bins : tuple of int
        Cells along each column.
    """

    name = "grid histogram"

    def __init__(self, box: Box, bins: tuple[int, ...]) -> None:
        super().__init__(tuple(bins))
        self.box = box
        self._lower = np.array(box.lower)
        self._per_unit = np.array(bins) / (2 * box.half)
        self._last = np.array(bins, dtype=np.float64) - 1

    def summarise(self, block: Floats) -> Integers:
        """Count the records in each cell."""
        cell = np.clip(self.box.coordinates(block), *self.box.corners)
        cell -= self._lower
        cell *= self._per_unit
        np.clip(np.floor(cell), 0, self._last, out=cell)
        cell = cell[~np.isnan(cell).any(axis=1)].astype(np.int64)
        flat = np.ravel_multi_index(tuple(cell.T), self.shape)
        return np.bincount(flat, minlength=self.choices).astype(np.int64).reshape(self.shape)


class ColumnHistograms(Query):
    """A histogram of every column, in one query.

    Sensitivity. A record casts one vote in each of d histograms: norm = d in l1, sqrt(d) in l2; two records
    may differ in every column: difference = 2 d in l1, sqrt(2 d) in l2.

    Parameters
    ----------
    edges : array of shape (n_columns, n_bins - 1)
        Increasing inner edges of each column's bins; the outer bins are open.
    """

    name = "column histograms"

    def __init__(self, edges: Floats) -> None:
        self.edges = np.asarray(edges, dtype=np.float64)
        require_finite("edges", self.edges)
        d, inner = self.edges.shape
        self.shape = (d, inner + 1)
        self.weights = np.array(COUNT_WEIGHT)
        self.step = np.array(1.0)
        self.touched = d
        self.largest = COUNT_WEIGHT

    def summarise(self, block: Floats) -> Integers:
        """Count the records in each bin of each column."""
        block = block[~np.isnan(block).any(axis=1)]
        bins = self.shape[1]
        counts = [
            np.bincount(np.searchsorted(edges, column, side="right"), minlength=bins)
            for edges, column in zip(self.edges, block.T, strict=True)
        ]
        return np.array(counts, dtype=np.int64)

    def max_norm(self, norm: int) -> float:
        """One vote in every column."""
        return COUNT_WEIGHT * float(self.shape[0]) ** (1 / norm)

    def max_difference(self, norm: int) -> float:
        """A vote that moves, in every column."""
        return COUNT_WEIGHT * (2.0 * self.shape[0]) ** (1 / norm) if self.shape[1] > 1 else 0.0
