"""Names above a threshold: they are not known before, and a name that one unit alone holds stays hidden.

A keyed query has one count for each name that occurs among the records (a word, say), however many there are. A unit
(a record, or all records of a user) adds at most 1 to each of at most m names. Every count gets noise of its own; a
name is shown, with its noisy count, if that reaches a public threshold t above 1.

Guarantee. Let one unit come or go, and let U be the names that it alone holds, at most m. The noisy counts of the other
names are a Gaussian release: they move by at most sqrt(m) in l2, hence mu-GDP at scale sqrt(m) / mu. Let E be the event
that no name of U is shown. Each is shown with probability p = P(1 + noise >= t), so P(not E) <= m p = d. Without the
unit, nothing of U is ever shown; with it, and given E, what is shown has the law of the Gaussian release of the other
names, because noises are independent. So, if everything that a fit releases would be (epsilon, delta)-DP with U always
hidden, it is, for any set S of results and either direction,

    P(S with)    <=  P(S with, U hidden) + d           <=  e^epsilon P(S without) + delta + d
    P(S without) <=  e^epsilon P(S with, U hidden) + delta  <=  e^epsilon P(S with) / (1 - d) + delta

that is (epsilon - log(1 - d), delta + d)-DP: a charge of -log(1 - d) in epsilon and of d in delta. If one unit turns
into another, the same holds with U on either side, and the other counts move by at most sqrt(2 m).

The threshold is set for a d that the budget keeps back from its delta (`Budget.hiding`); then d is computed again from
the threshold, and that is charged. The number of names that occur is never told: it shows in no entry and no shape.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.special import log_ndtr, ndtri

from knoll.privacy.accounting import Cost
from knoll.privacy.budget import Budget
from knoll.privacy.errors import PrivacyError
from knoll.privacy.laws import Law
from knoll.privacy.query import Floats, Integers
from knoll.privacy.relation import Relation
from knoll.privacy.released import Entry, Released

NAME_WEIGHT = 2**12
"""Weight of one count: keeps integer noise fine against it, even for the largest budgets."""

_SLACK = 1.0 + 2.0**-20
"""Covers what the sampler's tails may exceed the ideal by ((12 + r)^2 2^-50, noise.py) and the error of `log_ndtr`."""
_SAMPLER = 2.0**-103
"""Mass beyond 12 scales, where the sampler's ratio bound ends."""


class KeyedQuery(Protocol):
    """A query that counts names which are not known before; a unit is a record, or all records of a user together."""

    @property
    def name(self) -> str:
        """What the ledger calls it."""
        ...

    @property
    def most(self) -> int:
        """Names that one unit adds at most, once each."""
        ...


@dataclass(frozen=True)
class Discovered(Released):
    """Released names, in alphabetical order, with noisy counts, and the threshold that each of them reached."""

    names: tuple[str, ...] = ()
    threshold: float = math.inf


def check_keyed(query: KeyedQuery) -> None:
    """Refuse a keyed query that nothing can be calibrated for."""
    if isinstance(query.most, bool) or not isinstance(query.most, int) or not 1 <= query.most <= 10**6:
        raise PrivacyError(f"{query.name!r} cannot be asked: a unit adds from 1 to 1,000,000 names")


class NamesOf:
    """What the door needs to know of a keyed query to calibrate its noise. Its shape tells what one unit adds, no more.

    Sensitivity. A unit adds 1 to each of at most m names: sqrt(m) in l2; two units differ by at most sqrt(2 m).
    """

    of_whole_unit = True

    def __init__(self, query: KeyedQuery) -> None:
        self.name, self.touched = query.name, query.most
        self.shape: tuple[int, ...] = (query.most,)
        self.weights, self.step = np.array(NAME_WEIGHT), np.array(1.0)
        self.largest = NAME_WEIGHT

    def sensitivity(self, relation: Relation, norm: int) -> float:
        """Return the largest change of the weighted counts of names that more than one unit holds."""
        units = 2 if relation is Relation.REPLACE_ONE else 1
        return NAME_WEIGHT * float(units * self.touched) ** (1 / norm) * (1.0 + 2.0**-40)

    def summarise(self, block: Floats) -> Integers:
        """Refuse: names have no total of a fixed shape."""
        raise PrivacyError(f"{self.name!r} is asked by `discover` only")

    def threshold(self, budget: Budget, scale: float, earlier: Sequence[float]) -> tuple[int, Cost]:
        """Return the least weighted count that is shown, and what hiding all others costs, computed from it again."""
        if not budget.hidden:
            raise PrivacyError(
                f"{self.name!r}: no part of delta is kept back for it, so names that one unit alone holds cannot be "
                "hidden. Use a delta above 0, or name the vocabulary yourself"
            )
        if any(earlier):
            raise PrivacyError(f"{self.name!r}: what was kept back of delta is spent; a fit looks for names once")
        least = threshold_for(scale, self.touched, budget.hidden)
        return least, hiding_cost(chance_of_showing(scale, self.touched, least))


def shown(query: KeyedQuery, names: list[str], noisy: Integers, entry: Entry, law: Law) -> Discovered:
    """Return the names whose noisy counts reach the threshold, in alphabetical order."""
    kept = sorted((name, count) for name, count in zip(names, noisy.tolist(), strict=True) if _reaches(count, entry))
    value = np.array([count for _, count in kept], dtype=np.float64) / NAME_WEIGHT
    stderr = np.full(len(kept), law.standard_deviation(entry.scale) / NAME_WEIGHT)
    found = tuple(name for name, _ in kept)
    return Discovered(value, stderr, query.name, entry.share, law, names=found, threshold=entry.threshold)


def _reaches(count: int, entry: Entry) -> bool:
    return count >= entry.threshold * NAME_WEIGHT  # both are whole numbers below 2^53: exact


def threshold_for(scale: float, most: int, delta: float) -> int:
    """Return the least weighted count that is shown, so that names of one unit appear with a chance below delta."""
    each = delta / most / _SLACK**2 - _SAMPLER
    if not each > 0.0:
        raise PrivacyError("delta is too small to hide the names that one unit alone holds; raise delta")
    return NAME_WEIGHT + 1 + math.ceil(0.5 - scale * float(ndtri(min(each, 0.5))))


def chance_of_showing(scale: float, most: int, threshold: int) -> float:
    """Return a bound on the chance that any name of one unit alone is shown: the noise is a rounded Gaussian."""
    z = (threshold - NAME_WEIGHT - 0.5) / scale
    return most * (math.exp(float(log_ndtr(-z))) * _SLACK + _SAMPLER)


def hiding_cost(chance: float) -> Cost:
    """Return what it costs that names of one unit are shown with this chance."""
    return Cost(epsilon=-math.log1p(-chance), delta=chance)


def check_tally(query: KeyedQuery, names: list[str], counts: Integers, row_limit: int) -> None:
    """Refuse counts that the records cannot have."""
    right = isinstance(counts, np.ndarray) and counts.dtype.kind == "i" and counts.shape == (len(names),)
    if right and len(names):
        right = bool(counts.min() >= 0 and counts.max() <= row_limit) and len(set(names)) == len(names)
    if not right:
        raise PrivacyError(f"internal error: the counts of {query.name!r} are none; nothing was released by it")
