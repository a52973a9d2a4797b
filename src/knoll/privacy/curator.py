"""The door. Records stay behind it; `Curator.release` is the only way out.

    check the budget -> sum exactly -> record the spend, durably -> draw noise -> Released

The sum comes before the record so that unreadable data costs nothing; it stays inside this file until the record is on
disk and the noise is added. A crash may waste budget, it never leaves a release without its entry. The check reserves
what it grants, under a lock, until the entry is recorded or has failed: threads that ask at once cannot all be granted
the same share.

The finite precision of the noise costs a little for every value (noise.py). What a fit will release at most (`asks`) is
priced before it begins, so no fit is refused half-way for it.

Proof, for every estimator at once. A query's total changes by at most `sensitivity` (in grid units, in the
norm of the noise) between neighbours; noise of scale sensitivity / ratio makes the release ratio-GDP, or ratio-DP
for Laplace; releases compose adaptively, also where queries, shares and their number are chosen from earlier releases
(for Gaussian ones: Smith and Thakurta 2022), because each is calibrated from its query and share alone; the shares
sum to at most one. All else that an estimator does is post-processing of released values and public parameters.

Disjoint parts (`Curator.parts`). Each part of the records answers one query, the later ones chosen from what earlier
ones released, and all of them are one entry at the cost of one release. For two given neighbours, let c_i be the change
of the i-th total over its sensitivity times the cap: parts.py shows that the c_i have norm at most 1 together, for any
queries. The i-th release is then c_i ratio-GDP for this pair, given all before it, and the squares of c_i ratio never
sum to more than ratio^2 (Smith and Thakurta 2022 again; for Laplace the c_i ratio themselves sum to at most ratio).
"""

import math
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from knoll.privacy.accounting import Cost
from knoll.privacy.budget import ROUNDING, Budget
from knoll.privacy.discovery import (
    NAME_WEIGHT,
    Discovered,
    KeyedQuery,
    NamesOf,
    check_keyed,
    check_tally,
    hiding_cost,
    shown,
)
from knoll.privacy.errors import BudgetExceededError, PrivacyError
from knoll.privacy.ledger import UNNAMED, Ledger, MemoryLedger, line_now
from knoll.privacy.noise import MAX_SCALE
from knoll.privacy.parts import Parts
from knoll.privacy.query import Ask, Floats, Integers, QueryProtocol, Rows, check_query, check_sensitivity
from knoll.privacy.relation import Record, Relation, Unit
from knoll.privacy.released import Entry, Privacy, Released, compose, recheck
from knoll.privacy.sources import NoiseSource, noise_source


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
    asks : sequence of Ask
        What the fit will release at most: if the noise's finite precision cannot be paid for all of it, the fit is
        refused before it begins.
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
        asks: Sequence[Ask] = (),
    ):
        self._rows, self._budget = rows, budget
        self._relation, self._unit = relation, Record() if unit is None else unit
        self._ledger = MemoryLedger() if ledger is None else ledger
        self._dataset = self._ledger.dataset or dataset
        self._estimator = estimator
        self._asks = tuple(asks)
        self._entries: tuple[Entry, ...] = ()
        self._pending: tuple[Entry, ...] = ()  # granted, and not yet recorded
        self._lock = threading.Lock()
        self._fit: int | None = None

    @property
    def share_left(self) -> float:
        """Fraction of the budget that is neither spent nor about to be."""
        return max(0.0, 1.0 - math.fsum(entry.share for entry in self._granted))

    @property
    def norm(self) -> int:
        """The norm in which the noise needs sensitivities."""
        return self._budget.norm

    @property
    def _granted(self) -> tuple[Entry, ...]:
        return (*self._entries, *self._pending)

    def __enter__(self) -> "Curator":
        """Reserve the whole budget in the ledger, or refuse before anything is spent."""
        with self._lock:
            self._begun()
        return self

    def __exit__(self, *error: object) -> None:
        """Give back what was reserved and not spent."""
        if self._fit is not None:
            self._ledger.end(self._fit)

    def _begun(self) -> int:
        if self._fit is None:
            charge = self._foreseen_charge()
            self._check_foreseen_scales()
            whole = self._budget.cost(1.0 + ROUNDING)
            if (whole + charge).epsilon_at(self._budget.delta) > self._budget.epsilon:
                raise PrivacyError(self._too_small)
            who = str(self._relation), str(self._unit)
            self._fit = self._ledger.begin(self._dataset, self._budget, *who, charge=charge)
        return self._fit

    def _foreseen_charge(self) -> Cost:
        """What the finite precision of the noise costs for all that the fit may ask; see `_calibrated`."""
        law, ratio = self._budget.law, self._budget.ratio(1.0)
        each = [(ask.times, law.charge(self._moved(ask.touched, ask.size), ratio)) for ask in self._asks]
        hiding = hiding_cost(self._budget.hidden)
        return sum((Cost(0.0, times * one.epsilon, times * one.delta) for times, one in each), hiding)

    def _check_foreseen_scales(self) -> None:
        """Refuse a fit that would come to a release with more noise than sums hold; two contributions differ by 2."""
        pairs = 2.0 if self._relation is Relation.REPLACE_ONE else 1.0
        for ask in self._asks:
            most = pairs * self._unit.cap * ask.bound[self._budget.norm - 1] * (1.0 + 2.0**-40)
            self._check_scale("a release of this fit", most / self._budget.ratio(min(ask.share, 1.0)))

    def _check_scale(self, name: str, scale: float) -> None:
        if scale > MAX_SCALE:
            raise PrivacyError(
                f"{name} at its share of {self._budget} needs more noise than 64-bit sums hold; raise epsilon or "
                "the share, or lower the cap per user"
            )

    def _moved(self, touched: int, size: int) -> int:
        """Coordinates of a total that differ between neighbours, if one record touches so many: at most all, twice."""
        return min(touched * self._unit.cap * (2 if self._relation is Relation.REPLACE_ONE else 1), 2 * size)

    @property
    def _too_small(self) -> str:
        return (
            f"{self._budget} is too small for this many released values: the finite precision of the noise would "
            "exceed it; raise epsilon, or use fewer steps, clusters or columns"
        )

    def release(self, query: QueryProtocol, share: float) -> Released:
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
        with self._reserved(query, share, source) as entry:
            total = self._sum(query)
            self._record(entry)
        return self._noisy(query, total, entry, source)

    def discover(self, query: KeyedQuery, share: float) -> Discovered:
        """Release the names that many units hold, with their noisy counts, and hide all others (discovery.py).

        Parameters
        ----------
        query : KeyedQuery
            What to count.
        share : float
            Fraction of the budget to spend, in (0, 1]; what `Budget.hiding` keeps back of delta pays for the threshold.
        """
        check_keyed(query)
        source, weighted = noise_source.get(), NamesOf(query)
        with self._reserved(weighted, share, source) as entry:
            names, counts = self._rows.tally(query)
            check_tally(query, names, counts, self._rows.row_limit)
            self._record(entry)
        noisy = source.perturb(counts * NAME_WEIGHT, self._budget.law, entry.scale)
        return shown(query, names, noisy, entry, self._budget.law)

    def disjoint_parts(self, number: int, share: float, key: int) -> Parts:
        """Split the records into disjoint random parts, each of which answers one query, at the cost of one.

        Parameters
        ----------
        number : int
            How many parts.
        share : float
            Fraction of the budget that all of them spend together.
        key : int
            Public: says which record is in which part.
        """
        if number < 1:
            raise PrivacyError(f"{number} parts cannot be made of the records")
        return Parts(self, number, share, key)

    @contextmanager
    def _reserved(self, query: QueryProtocol, share: float, source: NoiseSource, parts: int = 1) -> Iterator[Entry]:
        """Grant a release or refuse it, in one step; it is spent if what follows succeeds, and given back if not."""
        check_query(query)
        with self._lock:
            entry = self._plan(query, share, source, parts)
            self._begun()
            self._pending += (entry,)
        spent: tuple[Entry, ...] = ()
        try:
            yield entry
            spent = (entry,)
        finally:
            with self._lock:
                waiting = list(self._pending)
                waiting.remove(entry)
                self._pending = tuple(waiting)
                self._entries += spent

    def _sum(self, query: QueryProtocol) -> Integers:
        """Return the exact total of a query."""
        try:
            return self._rows.aggregate(query)
        except MemoryError as error:
            raise MemoryError(f"not enough memory to sum {query.name!r}; nothing was released by it") from error

    def _record(self, entry: Entry) -> None:
        """Write the spend to the ledger, durably."""
        assert self._fit is not None
        self._ledger.record(self._fit, line_now(self._dataset, self._estimator, self._budget, entry))

    def _noisy(self, query: QueryProtocol, total: Integers, entry: Entry, source: NoiseSource) -> Released:
        """Draw noise and hand out the value. The spend is recorded by now."""
        law, unit = self._budget.law, np.broadcast_to(query.step / query.weights, query.shape)
        noisy = source.perturb(total * query.weights, law, entry.scale)
        spread = law.standard_deviation(entry.scale)
        return Released(np.asarray(noisy * unit), np.asarray(spread * unit), query.name, entry.share, law)

    def stderr(self, query: QueryProtocol, share: float) -> Floats:
        """Return the standard error that a release would have. Looks at no record and spends nothing."""
        spread = self._budget.law.standard_deviation(self._scale(query, share)[1])
        return np.asarray(spread * np.broadcast_to(query.step / query.weights, query.shape))

    def _scale(self, query: QueryProtocol, share: float) -> tuple[float, float]:
        """Return a query's sensitivity, in grid units, and the noise scale that a share of the budget buys for it."""
        cap = 1 if getattr(query, "of_whole_unit", False) else self._unit.cap
        sensitivity = cap * query.sensitivity(self._relation, self._budget.norm)
        check_sensitivity(query, sensitivity)
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

    def _plan(self, query: QueryProtocol, share: float, source: NoiseSource, parts: int = 1) -> Entry:
        """Calibrate a release and refuse it if it cannot be afforded or computed. Looks at no record."""
        if not 0.0 < share <= 1.0:
            raise PrivacyError(f"share={share!r} of {query.name!r} is outside (0, 1]")
        if math.fsum([*(entry.share for entry in self._granted), share]) > 1.0 + ROUNDING:
            raise BudgetExceededError(
                f"{query.name!r} asks for {share:.4g} of the budget, and {self.share_left:.4g} is left"
            )
        entry = self._calibrated(query, share, source, parts)
        if compose((*self._granted, entry)).epsilon_at(self._budget.delta) > self._budget.epsilon:
            raise PrivacyError(self._too_small)  # more than was foreseen: the sampler's charge outgrows the reserve
        return entry

    def _calibrated(self, query: QueryProtocol, share: float, source: NoiseSource, parts: int) -> Entry:
        """Return the entry of a release of one query, or of one by each part; the noise is charged for every part."""
        law = self._budget.law
        sensitivity, scale = self._scale(query, share)
        self._check_scale(repr(query.name), scale)
        if self._rows.row_limit > 2**62 // query.largest:
            raise PrivacyError(f"{query.name!r} cannot sum more than {2**62 // query.largest} rows without overflow")
        ratio = sensitivity / scale
        cost = law.cost(ratio) + law.charge(parts * self._moved(query.touched, math.prod(query.shape)), ratio)
        threshold = 0.0
        if isinstance(query, NamesOf):
            least, hiding = query.threshold(self._budget, scale, [entry.threshold for entry in self._granted])
            threshold, cost = least / NAME_WEIGHT, cost + hiding
        return Entry(
            query=query.name,
            shape=query.shape,
            share=share,
            law=law.name,
            sensitivity=sensitivity,
            scale=scale,
            cost=cost,
            relation=str(self._relation),
            unit=str(self._unit),
            noise=source.label,
            private=source.private,
            threshold=threshold,
        )
