"""What comes out of the door: released values, and the statement of what a fit released."""

import html
import math
from dataclasses import dataclass, field, fields
from itertools import groupby
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from knoll.privacy.accounting import Cost
from knoll.privacy.budget import Budget
from knoll.privacy.laws import Law
from knoll.privacy.relation import Relation
from knoll.privacy.risk import Risk, risk_of

Floats = npt.NDArray[np.float64]


UNNAMED = "unnamed data"  # the dataset of arrays in memory


@dataclass(frozen=True)
class Released:
    """A released value: the number, the standard error of its privacy noise, and where it came from."""

    value: Floats
    stderr: Floats
    query: str
    share: float
    law: Law

    def __post_init__(self) -> None:
        self.value.setflags(write=False)
        self.stderr.setflags(write=False)

    def noise_bound(self, chance: float) -> Floats:
        """Return what the noise of no value exceeds, but with this chance over all of them together."""
        each = chance / (2 * max(1, self.value.size))
        return self.stderr * self.law.tail(each)


@dataclass(frozen=True)
class Entry:
    """One release as the ledger records it. Everything here is public."""

    query: str
    shape: tuple[int, ...]
    share: float
    law: str
    sensitivity: float
    scale: float
    cost: Cost
    relation: str
    unit: str
    noise: str
    private: bool
    threshold: float = 0.0
    """If names were released: the least noisy count of one that is shown (discovery.py)."""

    @property
    def values(self) -> str:
        """How many values were released; of names, only what is public."""
        return f"{math.prod(self.shape):,}" if not self.threshold else f"those above {self.threshold:,.0f}"


@dataclass(frozen=True)
class Privacy:
    """What a fit released, at what cost, under which relation. Safe to publish.

    Attributes
    ----------
    epsilon, delta : float
        The declared budget.
    spent : Cost
        Composition of what was really released, recomputed after the fit.
    releases : tuple of Entry
        One entry per release, in order.
    assumed_public : tuple of str
        What the guarantee takes as known to everybody.
    is_private : bool
        False if any noise came from a test source.
    """

    epsilon: float
    delta: float
    relation: str
    unit: str
    estimator: str
    dataset: str
    spent: Cost
    releases: tuple[Entry, ...]
    assumed_public: tuple[str, ...] = field(default=())

    @property
    def is_private(self) -> bool:
        """Whether every release used secure noise."""
        return all(entry.private for entry in self.releases)

    @property
    def is_named(self) -> bool:
        """Whether the data has a name: that of its file, or the one that its ledger gives it."""
        return self.dataset != UNNAMED

    @property
    def spent_epsilon(self) -> float:
        """Epsilon of the recomputed composition, at the declared delta."""
        return self.spent.epsilon_at(self.delta)

    @property
    def risk(self) -> Risk:
        """What the result tells at most about one person, in plain words if printed."""
        return risk_of(self.epsilon, self.delta, self.relation)

    @property
    def warning(self) -> str:
        """A sentence to print first if the result is not private, else an empty string."""
        sources = sorted({entry.noise for entry in self.releases if not entry.private})
        return f"NOT PRIVATE: made with {', '.join(sources)}; do not publish." if sources else ""

    def sentences(self) -> list[str]:
        """Return the statement as plain sentences."""
        guarantee = Relation(self.relation).sentence.format(unit=self.unit)
        lines = [self.warning] if self.warning else []
        lines += [
            f"{self.estimator} on {self.dataset}: epsilon = {self.epsilon:g}, delta = {self.delta:g}.",
            f"Hidden: {guarantee} ({self.relation}).",
            f"Spent: epsilon = {self.spent_epsilon:.6g} at delta = {self.delta:g}, in {_counted(len(self.releases))}.",
        ]
        for entry in self.releases:
            if entry.threshold:
                lines.append(
                    f"Hidden by a threshold: {entry.query} with a count below about {entry.threshold:,.0f}; one that a "
                    f"single {self.unit.partition(' (')[0]} holds is shown with a chance below {entry.cost.delta:.2g}, "
                    "which is part of delta."
                )
        if self.assumed_public:
            lines.append(f"Assumed public: {'; '.join(self.assumed_public)}.")
        return lines

    def table(self) -> list[tuple[str, ...]]:
        """Return a header and one row per run of releases of one query: query, values, share, noise."""
        rows: list[tuple[str, ...]] = [("release", "values", "share of budget", "noise")]
        for name, run in groupby(self.releases, key=lambda entry: entry.query):
            entries = list(run)
            times = "" if len(entries) == 1 else f" (x{len(entries)})"
            values = f"{sum(math.prod(entry.shape) for entry in entries):,}" if len(entries) > 1 else entries[0].values
            ratios = sorted({f"{entry.scale / entry.sensitivity:.4g}" for entry in entries}, key=float)
            noise = ratios[0] if len(ratios) == 1 else f"{ratios[0]} to {ratios[-1]}"
            share = math.fsum(entry.share for entry in entries)
            rows.append((name + times, values, f"{share:.1%}", f"{entries[0].law}, {noise} x one record's effect"))
        return rows

    def __str__(self) -> str:
        rows = self.table()
        widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
        body = ["  " + "  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in rows]
        return "\n".join([*self.sentences(), *body])

    def _repr_html_(self) -> str:
        header, *rows = self.table()
        colour = "#7a0000" if self.warning else "inherit"
        sentences = "<br>".join(html.escape(line) for line in self.sentences())
        head = "".join(f"<th style='text-align:left'>{html.escape(cell)}</th>" for cell in header)
        body = "".join(
            "<tr>" + "".join(f"<td style='text-align:left'>{html.escape(cell)}</td>" for cell in row) + "</tr>"
            for row in rows
        )
        return f"<div><p style='color:{colour}'>{sentences}</p><table><tr>{head}</tr>{body}</table></div>"

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-ready dictionary; `from_dict` reads it back."""
        out = dict(self.__dict__)
        out["spent"] = dict(self.spent.__dict__)
        out["releases"] = [
            {**entry.__dict__, "shape": list(entry.shape), "cost": dict(entry.cost.__dict__)} for entry in self.releases
        ]
        out["assumed_public"] = list(self.assumed_public)
        return out

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "Privacy":
        """Rebuild a statement from `to_dict`'s dictionary; a ValueError if it is none."""
        releases = tuple(
            _checked(Entry(**{**entry, "shape": tuple(entry["shape"]), "cost": _checked(Cost(**entry["cost"]))}))
            for entry in data["releases"]
        )
        rest = {"spent": _checked(Cost(**data["spent"])), "assumed_public": tuple(data["assumed_public"])}
        statement = _checked(cls(**{**data, **rest, "releases": releases}))
        Budget(statement.epsilon, statement.delta)
        Relation.parse(statement.relation)
        return statement


_LARGEST = 1e15  # of any number in a statement: no fit comes near it
_MOST_AXES = 16  # of a release: more would make counts too long to print
Part = TypeVar("Part", Cost, Entry, Privacy)


def _checked(part: Part) -> Part:
    """Return a part of a statement if every field holds what it should, else raise a ValueError."""
    for field_ in fields(part):
        value = getattr(part, field_.name)
        good = True
        if field_.type is float:
            number = isinstance(value, int | float) and not isinstance(value, bool)
            least = 1e-300 if field_.name in ("scale", "sensitivity") else 0.0
            good = number and least <= value <= _LARGEST
        elif field_.type in (str, bool):
            good = isinstance(value, field_.type)
        elif field_.name == "shape":
            good = len(value) <= _MOST_AXES and all(type(size) is int and 0 < size <= _LARGEST for size in value)
        elif field_.name == "assumed_public":
            good = all(isinstance(text, str) for text in value)
        if not good:
            raise ValueError(f"its privacy statement is damaged ({field_.name})")
    return part


def compose(releases: tuple[Entry, ...]) -> Cost:
    """Return what releases cost together."""
    return sum((entry.cost for entry in releases), Cost())


def recheck(budget: Budget, releases: tuple[Entry, ...]) -> Cost:
    """Compose what was really released and confirm that it is within the declared budget."""
    spent = compose(releases)
    if (epsilon := spent.epsilon_at(budget.delta)) > budget.epsilon:
        raise RuntimeError(
            f"internal error: releases compose to epsilon {epsilon!r} > {budget.epsilon!r}; do not publish this result"
        )
    return spent


def _counted(releases: int) -> str:
    return "1 release" if releases == 1 else f"{releases} releases"
