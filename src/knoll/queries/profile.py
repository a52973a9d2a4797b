"""A look at every column of a table at once: counts of cells, of groups of cells, and of missing values."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from knoll.arrays import Floats, Integers
from knoll.privacy.errors import PrivacyError
from knoll.queries.query import COUNT_WEIGHT, Query, require_finite

ABSENT = np.inf
"""What stands for a missing value among the values of a record. (A NaN makes the whole record null.)"""


@dataclass(frozen=True)
class ColumnCells:
    """The cells of one column, and groups of them that are counted as well.

    Attributes
    ----------
    edges : array of shape (n - 1,)
        Increasing inner edges of n cells; the outer ones are open. One more cell holds the missing values.
    starts : tuple of integer arrays
        For each level of counts, the first cell of every group. The missing values are a group of their own.
    weights : tuple of int
        How much a vote counts at each level: more weight, less noise there.
    """

    edges: Floats
    starts: tuple[Integers, ...]
    weights: tuple[int, ...]

    def __post_init__(self) -> None:
        require_finite("edges", self.edges)
        n = len(self.edges) + 1
        if (np.diff(self.edges) <= 0).any():
            raise PrivacyError("edges of cells must increase")
        if not self.starts or len(self.starts) != len(self.weights):
            raise PrivacyError("a column needs a level of cells, and a weight for each level")
        for starts, weight in zip(self.starts, self.weights, strict=True):
            inside = len(starts) and starts[0] == 0 and (np.diff(starts) > 0).all() and starts[-1] < n
            if not inside or not 1 <= weight <= COUNT_WEIGHT:
                raise PrivacyError("a level of cells needs increasing starts from 0 on, and a weight")

    @property
    def n_cells(self) -> int:
        """Number of cells, without that of the missing values."""
        return len(self.edges) + 1

    def counts(self, column: Floats) -> list[Integers]:
        """Return the counts of every level, missing values last."""
        n = self.n_cells
        places = np.searchsorted(self.edges, column, side="right")
        places[column == ABSENT] = n
        cells = np.bincount(places, minlength=n + 1).astype(np.int64)
        return [np.append(np.add.reduceat(cells[:-1], starts), cells[-1]) for starts in self.starts]


class ColumnProfile(Query):
    """Counts of the cells of every column, at several levels, and of its missing values, in one query.

    Sensitivity. At level l of column j a record adds one vote w_jl, in the group of its cell or in that of the missing
    values: norm = the sum of all w_jl in l1, the root of the sum of their squares in l2. Two records may vote in
    different groups at every level of every column (one misses all values, the other none): difference = twice the sum
    in l1, sqrt(2) times the root in l2.

    Parameters
    ----------
    columns : sequence of ColumnCells
        The columns that are looked at.
    places : sequence of int, optional
        Where they are among the columns of the records; by default one after the other.
    """

    name = "column profile"

    def __init__(self, columns: Sequence[ColumnCells], places: Sequence[int] | None = None) -> None:
        self.columns = tuple(columns)
        self.places = tuple(range(len(self.columns)) if places is None else map(int, places))
        if not self.columns or len(self.columns) != len(set(self.places)):
            raise PrivacyError("look at one column at least, and at each once")
        levels = [
            (len(starts) + 1, weight)
            for each in self.columns
            for starts, weight in zip(each.starts, each.weights, strict=True)
        ]
        self.lengths = np.array([length for length, _ in levels])
        self.votes = np.array([weight for _, weight in levels], dtype=np.int64)
        self.shape = (int(self.lengths.sum()),)
        self.weights = np.repeat(self.votes, self.lengths)
        self.step = np.array(1.0)
        self.touched = len(levels)
        self.largest = int(self.votes.max())

    def summarise(self, block: Floats) -> Integers:
        """Count the records in each group of each column."""
        block = block[~np.isnan(block).any(axis=1)]
        looks = zip(self.columns, self.places, strict=True)
        return np.concatenate([part for each, place in looks for part in each.counts(block[:, place])])

    def split(self, values: Floats) -> list[list[Floats]]:
        """Return what was released, or its errors, by column and level."""
        parts = iter(np.split(np.broadcast_to(values, self.shape), np.cumsum(self.lengths)[:-1]))
        return [[next(parts) for _ in each.starts] for each in self.columns]

    def max_norm(self, norm: int) -> float:
        """One vote at every level of every column."""
        return float(np.linalg.norm(self.votes.astype(np.float64), norm))

    def max_difference(self, norm: int) -> float:
        """A vote that moves, at every level of every column."""
        return 2.0 ** (1 / norm) * self.max_norm(norm)
