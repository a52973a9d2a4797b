"""How many records there are."""

import numpy as np

from knoll.arrays import Floats, Integers
from knoll.queries.query import COUNT_WEIGHT, Query, one_vote
from knoll.queries.sparse_rows import SparseRows


class Count(Query):
    """The number of records.

    Sensitivity. A record adds one, or nothing if it is null: norm = 1 vote in the only place there is, difference = 0.
    """

    name = "count"

    def __init__(self) -> None:
        self.shape = ()
        self.weights = np.array(COUNT_WEIGHT)
        self.step = np.array(1.0)
        self.touched = 1
        self.largest = COUNT_WEIGHT

    def summarise(self, block: Floats | SparseRows) -> Integers:
        """Count the records that hold no NaN."""
        if isinstance(block, SparseRows):
            return np.array((~block.rows_with(np.isnan(block.values))).sum(), dtype=np.int64)
        return np.array(len(block) - np.isnan(block).any(axis=1).sum(), dtype=np.int64)

    def max_norm(self, norm: int) -> float:
        """One vote."""
        return one_vote(norm, 1)[0]

    def max_difference(self, norm: int) -> float:
        """Nothing: two records are counted alike."""
        return one_vote(norm, 1)[1]
