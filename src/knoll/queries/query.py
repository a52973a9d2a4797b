"""The query protocol: what one record may add to a total.

A query maps each record, alone, to a vector of integers and sums those vectors. Its total is multiplied by
public integer `weights` (which say how the noise is divided among its coordinates) before noise is added, and a unit of
the unweighted total is worth `step` in the user's units.

**A record that holds a NaN is null: it adds nothing, under every relation.** Hence replace-one must also cover a
record that becomes null, and its sensitivity is the larger of `max_difference` and `max_norm`.

To add a query: subclass `Query`, prove `max_norm` and `max_difference` in the docstring, and register an example in
`tests/contract/registry.py`; the contract tests then search for neighbours that break the proof.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from knoll.arrays import Floats, Integers
from knoll.privacy.errors import PrivacyError
from knoll.privacy.relation import Relation

BITS = 18
UNIT = 2**BITS
"""Grid units to half the width of the domain; every coordinate is an integer of at most this size."""

_TILE_ENTRIES, _FEWEST_ROWS = 2**15, 64  # of a tile: a few of its size stay in a core's own cache

COUNT_WEIGHT = 2**12
"""Weight of one vote: keeps integer noise fine against a vote, even for the largest budgets."""


class Query(ABC):
    """A sum of bounded integer contributions, one per record.

    Attributes
    ----------
    name : str
        What the ledger calls it.
    shape : tuple of int
        Shape of the total.
    weights : integer array, broadcastable to `shape`
        Public multipliers of the total.
    step : float array, broadcastable to `shape`
        Worth of one unit of the unweighted total.
    touched : int
        Coordinates of the total that one record can move.
    largest : int
        Largest weighted entry of one contribution: bounds the rows that can be summed without overflow.
    """

    name: str
    shape: tuple[int, ...]
    weights: Integers
    step: Floats
    touched: int
    largest: int

    @abstractmethod
    def summarise(self, block: Floats) -> Integers:
        """Return the exact total over a block of records, (rows, columns) -> `shape`."""

    @abstractmethod
    def max_norm(self, norm: int) -> float:
        """Return the largest norm (1 or 2) of one record's weighted contribution."""

    @abstractmethod
    def max_difference(self, norm: int) -> float:
        """Return the largest norm of the difference between two records' weighted contributions."""

    def sensitivity(self, relation: Relation, norm: int) -> float:
        """Return the largest norm of the change of the weighted total between neighbours.

        add_remove, replace_special: one contribution appears or vanishes, so `max_norm`. replace_one: one contribution
        turns into another or into null, so the larger of `max_difference` and `max_norm`. The factor covers rounding in
        computing them.
        """
        worst = self.max_norm(norm)
        if relation is Relation.REPLACE_ONE:
            worst = max(worst, self.max_difference(norm))
        return worst * (1.0 + 2.0**-40)


def require_finite(what: str, *numbers: ArrayLike, positive: bool = False) -> None:
    """Refuse public parameters of a query that are not finite: it could not clip, so no bound would hold.

    Parameters
    ----------
    what : str
        What the numbers are, for the message.
    *numbers : array_like
        Public parameters, and what is computed from them.
    positive : bool
        Whether they must be above zero as well: they are divided by.
    """
    for each in map(np.asarray, numbers):
        if not np.isfinite(each).all() or (positive and not (each > 0).all()):
            raise PrivacyError(f"{what} must be finite {'and positive ' if positive else ''}numbers")


def tiles(block: Floats) -> Iterator[Floats]:
    """Yield a block's rows in parts that stay in cache from one step of a query to the next; one part at least."""
    chosen: Any = getattr(block, "most_chosen", block.shape[1])  # sparse rows are made dense in some columns only
    rows = max(_FEWEST_ROWS, _TILE_ENTRIES // max(1, chosen))
    for start in range(0, max(1, len(block)), rows):
        yield block[start : start + rows]


def one_vote(norm: int, choices: int) -> tuple[float, float]:
    """Bound and spread of a contribution that is w = COUNT_WEIGHT in one of `choices` places.

    One vote has norm w; two votes in different places differ by 2 w in l1 and sqrt(2) w in l2, two votes in the only
    place there is by nothing.
    """
    return float(COUNT_WEIGHT), float(COUNT_WEIGHT) * 2.0 ** (1 / norm) if choices > 1 else 0.0
