"""The door. Records stay behind it; `Curator.release` is the only way out.

    check the budget -> sum exactly -> record the spend, durably -> draw noise -> Released

The sum comes before the record so that unreadable data costs nothing; it stays inside this file until the record is on
disk and the noise is added. A crash may waste budget, it never leaves a release without its entry.

Proof, for every estimator at once. A query's total changes by at most `sensitivity` (in grid units, in the
norm of the noise) between neighbours; noise of scale sensitivity / ratio makes the release ratio-GDP, or ratio-DP
for Laplace; releases compose adaptively, also where queries, shares and their number are chosen from earlier releases
(for Gaussian ones: Smith and Thakurta 2022), because each is calibrated from its query and share alone; the shares
sum to at most one. All else that an estimator does is post-processing of released values and public parameters.
"""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

import numpy as np
import numpy.typing as npt

from knoll.privacy.accounting import Cost
from knoll.privacy.budget import Budget
from knoll.privacy.errors import BudgetExceededError, PrivacyError
from knoll.privacy.ledger import UNNAMED, Ledger, MemoryLedger, line_now
from knoll.privacy.noise import MAX_SCALE, NoiseSource, charge, noise_source, standard_deviation
from knoll.privacy.relation import Record, Relation, Unit
from knoll.privacy.released import Entry, Privacy, Released, compose, recheck

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
_ROUNDING = 1e-9  # on a sum of shares: ten times 0.1 is not quite one


class Answerable(Protocol):
    """What the door needs to know of a query; `knoll.queries.Query` implements it."""

    name: str
    shape: tuple[int, ...]
    weights: Integers
    step: Floats
    touched: int
    largest: int

    def sensitivity(self, relation: Relation, norm: int) -> float:
        """Return the largest change of the weighted total between neighbours."""
        ...


class Rows(Protocol):
    """Where records live: anything that sums a query exactly; `knoll.engines` implements it."""

    @property
    def row_limit(self) -> int:
        """A number that the rows cannot exceed."""
        ...

    def aggregate(self, query: Answerable) -> Integers:
        """Return the exact integer total of a query."""
        ...


class Curator:
    """Holds the rows and the budget of one fit, and answers queries with noise.

    Parameters
    ----------
    rows : Rows
        The engine that can sum queries over the records.
    budget : Budget
        What this fit may spend.
    relation, unit
        Who is protected.
    ledger : Ledger, optional
        Where releases are recorded.
    """

    def __init__(
        self,
        rows: Rows,
        budget: Budget,
        *,
        relation: Relation = Relation.ADD_REMOVE,
        unit: Unit | None = None,
        ledger: Ledger | None = None,
        dataset: str = UNNAMED,
        estimator: str = "a curator",
    ):
        self._rows = rows
        self._budget = budget
        self._relation = relation
        self._unit = Record() if unit is None else unit
        self._ledger = MemoryLedger() if ledger is None else ledger
        self._dataset = self._ledger.dataset or dataset
        self._estimator = estimator
        self._entries: tuple[Entry, ...] = ()
        self._kept = 0.0
        self._fit: int | None = None

    @property
    def share_left(self) -> float:
        """Fraction of the budget that is neither spent nor kept back."""
        return max(0.0, 1.0 - self._kept - math.fsum(entry.share for entry in self._entries))

    @contextmanager
    def keeping(self, share: float) -> Iterator[None]:
        """Keep a share of the budget back while a method runs that spends all it finds."""
        before, self._kept = self._kept, self._kept + share
        try:
            yield
        finally:
            self._kept = before

    def __enter__(self) -> "Curator":
        """Reserve the whole budget in the ledger, or refuse before anything is spent."""
        self._begun()
        return self

    def __exit__(self, *error: object) -> None:
        """Give back what was reserved and not spent."""
        if self._fit is not None:
            self._ledger.end(self._fit)

    def _begun(self) -> int:
        if self._fit is None:
            self._fit = self._ledger.begin(self._dataset, self._budget, str(self._relation), str(self._unit))
        return self._fit

    def release(self, query: Answerable, share: float) -> Released:
        """Answer one query with a share of the budget.

        Parameters
        ----------
        query : Query
            What to sum.
        share : float
            Fraction of the budget to spend, in (0, 1].

        Returns
        -------
        Released
            The noisy total in the query's own units, and the standard error of its noise.
        """
        source = noise_source.get()
        entry = self._plan(query, share, source)
        try:
            total = self._rows.aggregate(query)
        except MemoryError as error:
            raise MemoryError(f"not enough memory to sum {query.name!r}; nothing was released by it") from error
        self._ledger.record(self._begun(), line_now(self._dataset, self._estimator, self._budget, entry))
        self._entries += (entry,)
        noisy = source.perturb(total * query.weights, self._budget.law, entry.scale)
        unit = np.broadcast_to(query.step / query.weights, query.shape)
        spread = standard_deviation(self._budget.law, entry.scale)
        return Released(np.asarray(noisy * unit), np.asarray(spread * unit), query.name, share, self._budget.law)

    def stderr(self, query: Answerable, share: float) -> Floats:
        """Return the standard error that a release would have. Looks at no record and spends nothing."""
        scale = self._scale(query, share)[1]
        return np.asarray(
            standard_deviation(self._budget.law, scale) * np.broadcast_to(query.step / query.weights, query.shape)
        )

    def _scale(self, query: Answerable, share: float) -> tuple[float, float]:
        """Return a query's sensitivity, in grid units, and the noise scale that a share of the budget buys for it."""
        sensitivity = self._unit.cap * query.sensitivity(self._relation, self._budget.norm)
        return sensitivity, sensitivity / self._budget.ratio(min(share, 1.0))

    def statement(self, assumed_public: tuple[str, ...] = ()) -> Privacy:
        """Recompute the composition of all releases, confirm that it is within budget, and state it."""
        spent = recheck(self._budget, self._entries)
        return Privacy(
            epsilon=self._budget.epsilon,
            delta=self._budget.delta,
            relation=str(self._relation),
            unit=str(self._unit),
            estimator=self._estimator,
            dataset=self._dataset,
            spent=spent,
            releases=self._entries,
            assumed_public=assumed_public,
        )

    def _plan(self, query: Answerable, share: float, source: NoiseSource) -> Entry:
        """Calibrate a release and refuse it if it cannot be afforded or computed. Looks at no record."""
        if not 0.0 < share <= 1.0:
            raise PrivacyError(f"share={share!r} of {query.name!r} is outside (0, 1]")
        if math.fsum([*(entry.share for entry in self._entries), self._kept, share]) > 1.0 + _ROUNDING:
            raise BudgetExceededError(
                f"{query.name!r} asks for {share:.4g} of the budget, and {self.share_left:.4g} is left"
            )
        budget, cap = self._budget, self._unit.cap
        sensitivity, scale = self._scale(query, share)
        if scale > MAX_SCALE:
            raise PrivacyError(
                f"{query.name!r} at this share of {budget} needs more noise than 64-bit sums hold; raise epsilon or "
                "the share, or lower the cap per user"
            )
        if self._rows.row_limit > 2**62 // query.largest:
            raise PrivacyError(f"{query.name!r} cannot sum more than {2**62 // query.largest} rows without overflow")
        touched = query.touched * cap * (2 if self._relation is Relation.REPLACE_ONE else 1)
        ratio = sensitivity / scale
        epsilon, delta = charge(budget.law, min(touched, 2 * math.prod(query.shape)), ratio)
        cost = Cost(ratio**2, epsilon, delta) if budget.law == "gaussian" else Cost(0.0, ratio + epsilon, 0.0)
        entry = Entry(
            query=query.name,
            shape=query.shape,
            share=share,
            law=budget.law,
            sensitivity=sensitivity,
            scale=scale,
            cost=cost,
            relation=str(self._relation),
            unit=str(self._unit),
            noise=source.label,
            private=source.private,
        )
        if compose((*self._entries, entry)).epsilon_at(budget.delta) > budget.epsilon:
            raise PrivacyError(  # the sampler's charge outgrows the reserve: only absurdly small budgets come here
                f"{budget} is too small for this many released values: the finite precision of the noise would exceed "
                "it; raise epsilon, or use fewer steps, clusters or columns"
            )
        return entry
