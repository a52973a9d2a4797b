"""What the events of a ledger add up to: caps, fits, what is spent and what is reserved."""

import math
from dataclasses import dataclass, field
from typing import Any

from knoll.privacy.accounting import Cost
from knoll.privacy.budget import Budget
from knoll.privacy.released import Entry


@dataclass(frozen=True)
class Spend:
    """What a dataset has spent over all fits, as one (epsilon, delta)."""

    dataset: str
    cost: Cost
    delta: float
    releases: int
    private: bool
    cap: Budget | None

    @property
    def epsilon(self) -> float:
        """Epsilon of everything together, at `delta`."""
        return self.cost.epsilon_at(self.delta)


@dataclass(frozen=True)
class Line:
    """One line of the ledger."""

    time: float
    dataset: str
    estimator: str
    budget_delta: float
    entry: Entry


@dataclass
class Fit:
    """A fit, what it reserved, and what it has released."""

    dataset: str
    relation: str
    unit: str
    reserved: Cost
    running: bool = True
    releases: list[dict[str, Any]] = field(default_factory=list)

    @property
    def spent(self) -> Cost:
        """What its releases cost together."""
        return total(self.releases)

    @property
    def left(self) -> Cost:
        """What it has reserved and not yet spent."""
        r, s = self.reserved, self.spent
        return Cost(max(0.0, r.mu_squared - s.mu_squared), max(0.0, r.epsilon - s.epsilon), max(0.0, r.delta - s.delta))


class Book:
    """The state of a ledger: what its events add up to."""

    def __init__(self) -> None:
        self.caps: dict[str, Budget] = {}
        self.fits: dict[int, Fit] = {}
        self.releases: list[dict[str, Any]] = []

    def take(self, number: int, kind: str, body: dict[str, Any]) -> None:
        """Take in the next event; a KeyError, TypeError or ValueError if it makes no sense."""
        if number == 1:  # says that the ledger was made
            return
        if kind == "cap":
            self.caps[body["dataset"]] = Budget(body["epsilon"], body["delta"])
        elif kind == "begin":
            self.fits[number] = Fit(body["dataset"], body["relation"], body["unit"], _cost(body))
        elif kind == "release":
            fit = self.fits[body["fit"]]
            if fit.dataset != body["dataset"]:
                raise ValueError("a release under another name than its fit")
            _cost(body)
            fit.releases.append(body)
            self.releases.append(body)
        elif kind == "end":
            self.fits[body["fit"]].running = False
        else:
            raise ValueError("an unknown event")

    @property
    def names(self) -> list[str]:
        """All datasets that were ever named, in order."""
        return sorted({*self.caps, *(fit.dataset for fit in self.fits.values())})

    def of(self, dataset: str) -> list[Fit]:
        """Return the fits of a dataset."""
        return [fit for fit in self.fits.values() if fit.dataset == dataset]

    def spent(self, dataset: str) -> Cost:
        """Return what a dataset has spent over all fits."""
        return total([body for body in self.releases if body["dataset"] == dataset])

    def reserved(self, dataset: str, besides: int) -> Cost:
        """Return what running fits, but for one, have reserved and not yet spent."""
        others = [fit for number, fit in self.fits.items() if number != besides]
        return sum((fit.left for fit in others if fit.running and fit.dataset == dataset), Cost())

    def spend(self, dataset: str) -> Spend:
        """Return what a dataset has spent, and its cap."""
        cap = self.caps.get(dataset)
        lines = [body for body in self.releases if body["dataset"] == dataset]
        delta = cap.delta if cap else max((body["budget_delta"] for body in lines), default=0.0)
        return Spend(dataset, total(lines), delta, len(lines), all(body["private"] for body in lines), cap)


def total(releases: list[dict[str, Any]]) -> Cost:
    """Return what releases cost together."""
    return Cost(*(math.fsum(body[name] for body in releases) for name in ("mu_squared", "epsilon", "delta")))


def body_of(line: Line, fit: int) -> dict[str, Any]:
    """Return a line as the body of an event."""
    entry = line.entry
    plain = {name: value for name, value in entry.__dict__.items() if name != "cost"}
    rest = {"time": line.time, "dataset": line.dataset, "estimator": line.estimator, "budget_delta": line.budget_delta}
    return {"fit": fit, **rest, **plain, **entry.cost.__dict__}


def line_of(body: dict[str, Any]) -> Line:
    """Return the line that the body of an event holds."""
    names = [name for name in Entry.__dataclass_fields__ if name not in ("shape", "cost") and name in body]
    entry = Entry(**{name: body[name] for name in names}, shape=tuple(body["shape"]), cost=_cost(body))
    return Line(body["time"], body["dataset"], body["estimator"], body["budget_delta"], entry)


def _cost(body: dict[str, Any]) -> Cost:
    values = [float(body[name]) for name in ("mu_squared", "epsilon", "delta")]
    if not all(0.0 <= value < math.inf for value in values):
        raise ValueError("a cost that is none")
    return Cost(*values)
