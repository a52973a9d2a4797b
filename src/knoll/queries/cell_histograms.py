"""Histograms of the columns, one set for each cell: how the records around a public point spread along each column."""

import numpy as np

from knoll.arrays import Floats, Integers
from knoll.queries.domain import Ball, Box
from knoll.queries.query import COUNT_WEIGHT, Query, require_finite
from knoll.queries.shapes import Cells


class CellHistograms(Query):
    """A histogram of every column for the records of each cell, within a window of the cell's own.

    The total has shape (cells, columns, bins). A record lies in one cell. In each column it adds one vote to a bin of
    that cell's window, or none: if it lies beside the window, or in one of the other columns not near its middle.
    Element-wise arithmetic on its grid point decides.

    Sensitivity. A record casts at most one vote in each of d histograms: norm = d in l1, sqrt(d) in l2. Two records may
    differ in every column: difference = 2 d in l1, sqrt(2 d) in l2.

    Parameters
    ----------
    cells : Cells
        The cell of each record.
    domain : Box or Ball
        Records are clipped to it.
    low : array of shape (n_cells, n_columns)
        Public lower ends of the windows.
    width : array of shape (n_cells, n_columns)
        Public widths of a bin.
    bins : int
        Number of bins of each window.
    near : float
        Bins from the middle of the window within which a record must lie in all other columns.
    """

    name = "histograms of cells"

    def __init__(
        self, cells: Cells, domain: Box | Ball, low: Floats, width: Floats, bins: int, near: float = np.inf
    ) -> None:
        self.cells, self.domain, self.near = cells, domain, near
        require_finite("widths of bins", width, 1 / width, positive=True)
        self._per_step = domain.steps / width
        self._first = (domain.centre - low) / width
        require_finite("windows", self._per_step, self._first)
        self.shape = (*low.shape, bins)
        self.weights = np.array(COUNT_WEIGHT)
        self.step = np.array(1.0)
        self.touched = low.shape[1]
        self.largest = COUNT_WEIGHT

    def summarise(self, block: Floats) -> Integers:
        """Find the cell of every record, then its bin in each column."""
        cells, d, bins = self.shape
        labels, grid = self.cells.labels(block), self.domain.clip_to_grid(block)
        kept = labels >= 0
        labels, grid = labels[kept], grid[kept]
        place = grid * self._per_step[labels] + self._first[labels]
        far = np.abs(place - bins / 2) > self.near
        others = far.sum(axis=1, keepdims=True) - far
        place = np.floor(place)
        inside = (place >= 0) & (place < bins) & (others == 0)
        flat = (labels[:, None] * d + np.arange(d)) * bins + np.where(inside, place, 0.0).astype(np.int64)
        return np.bincount(flat[inside], minlength=cells * d * bins).reshape(self.shape).astype(np.int64)

    def max_norm(self, norm: int) -> float:
        """One vote in every column."""
        return COUNT_WEIGHT * float(self.shape[1]) ** (1 / norm)

    def max_difference(self, norm: int) -> float:
        """A vote that moves, in every column; with one bin and one cell, a vote that appears."""
        votes = 2.0 if self.shape[0] * self.shape[2] > 1 else 1.0
        return COUNT_WEIGHT * (votes * self.shape[1]) ** (1 / norm)
