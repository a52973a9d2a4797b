"""A grant: a part of a fit's budget, as a value. It can be split, and it releases.

An estimator is handed one grant and divides it: by a named, frozen plan (`split`), by a fraction (`part`), evenly
(`even`), or by what nobody has spent yet (`rest`). A part of a grant is a grant. What is left of it is visible
(`left`), and `release` spends all of that on one query. Nothing can be asked that was not granted: the door adds up
what all grants of a fit have spent, and refuses more than the whole.
"""

import math
from dataclasses import fields
from types import SimpleNamespace
from typing import Any, Protocol

from knoll.privacy.budget import ROUNDING, Shares
from knoll.privacy.discovery import Discovered, KeyedQuery
from knoll.privacy.errors import BudgetExceededError
from knoll.privacy.parts import Parts
from knoll.privacy.query import Floats, QueryProtocol
from knoll.privacy.released import Released


class Door(Protocol):
    """What a grant asks: `knoll.privacy.Curator` implements it."""

    @property
    def norm(self) -> int:
        """The norm in which the noise needs sensitivities."""
        ...

    def release(self, query: QueryProtocol, share: float) -> Released:
        """Answer one query with a share of the budget."""
        ...

    def discover(self, query: KeyedQuery, share: float) -> Discovered:
        """Release the names that many units hold."""
        ...

    def disjoint_parts(self, number: int, share: float, key: int) -> Parts:
        """Split the records into disjoint random parts."""
        ...

    def stderr(self, query: QueryProtocol, share: float) -> Floats:
        """Return the standard error that a release would have."""
        ...


class Grant:
    """A part of a fit's budget.

    Parameters
    ----------
    door : Curator
        Who answers.
    share : float
        Fraction of the whole budget.
    giver : Grant, optional
        The grant that this one is a part of: what is spent here is spent there.
    """

    def __init__(self, door: Door, share: float = 1.0, giver: "Grant | None" = None):
        self._door, self.share, self._giver = door, share, giver
        self._spent: list[float] = []

    @property
    def left(self) -> float:
        """What neither this grant nor any part of it has spent."""
        return max(0.0, self.share - math.fsum(self._spent))

    @property
    def norm(self) -> int:
        """The norm in which the noise needs sensitivities: 2 for Gaussian noise, 1 for Laplace."""
        return self._door.norm

    def part(self, fraction: float) -> "Grant":
        """Return a fraction of what is left."""
        return self.worth(fraction * self.left)

    def split(self, plan: Shares) -> Any:
        """Return what is left, divided by a plan: an object with a grant for each of its names."""
        return SimpleNamespace(**{each.name: self.part(getattr(plan, each.name)) for each in fields(plan)})

    def even(self, number: int) -> list["Grant"]:
        """Return what is left in so many equal parts."""
        return [self.worth(self.left / number) for _ in range(number)]

    def in_proportion(self, weights: Any) -> list["Grant"]:
        """Return what is left, divided in proportion to some weights."""
        return [self.worth(share) for share in (weights * (self.left / weights.sum())).tolist()]

    def worth(self, share: float) -> "Grant":
        """Return a part of this grant that is worth so much of the whole budget."""
        return Grant(self._door, share, self)

    def joined(self, other: "Grant") -> "Grant":
        """Return one grant of what is left of two with the same giver."""
        return Grant(self._door, self.left + other.left, self._giver)

    @property
    def rest(self) -> "Grant":
        """All that is left, now and later: what others give back unspent is in it too."""
        return _Rest(self._door, self.left, self)

    def release(self, query: QueryProtocol) -> Released:
        """Spend all that is left on one query.

        Parameters
        ----------
        query : Query
            What to sum.

        Returns
        -------
        Released
            The noisy total in the query's own units, and the standard error of its noise.
        """
        share = self._allowed()
        released = self._door.release(query, share)
        self._spend(share)
        return released

    def discover(self, query: KeyedQuery) -> Discovered:
        """Spend all that is left on the names that many units hold, and on their counts."""
        share = self._allowed()
        found = self._door.discover(query, share)
        self._spend(share)
        return found

    def batches(self, number: int, key: int) -> Parts:
        """Spend all that is left on disjoint random parts of the records, each of which answers one query."""
        share = self._allowed()
        parts = self._door.disjoint_parts(number, share, key)
        self._spend(share)
        return parts

    def stderr(self, query: QueryProtocol) -> Floats:
        """Return the standard error that a release of all that is left would have. Looks at no record."""
        return self._door.stderr(query, self.left)

    def _allowed(self) -> float:
        """Return what is left, if those who gave it still have as much."""
        share, giver = self.left, self._giver
        while giver is not None:
            if share > giver.left + ROUNDING:
                raise BudgetExceededError(f"a grant of {share:.4g} of the budget: its giver has {giver.left:.4g} left")
            giver = giver._giver
        return share

    def _spend(self, share: float) -> None:
        self._spent.append(share)
        if self._giver is not None:
            self._giver._spend(share)


class _Rest(Grant):
    """What is left of another grant; it stays that, whoever spends."""

    @property
    def left(self) -> float:
        """What nobody has spent of the other grant."""
        assert self._giver is not None
        return self._giver.left
