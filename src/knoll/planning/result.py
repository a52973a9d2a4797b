"""What a simulation of fits found: a table, a picture, and words."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from knoll.privacy.risk import Risk, percent_up
from knoll.reported import Reported

FOUND, LOSS = 0.9, 0.1
"""What will do: this share of the clusters found, most of them seen (with error bars), and a loss that exceeds that of
k-means by no more than this part."""

HEADER = ("clusters", "epsilon", "found", "excess loss", "± centre", "± size", "50/50 guess right")


@dataclass(frozen=True)
class Expected:
    """What to expect of a fit with k clusters at one epsilon.

    Attributes
    ----------
    found : float
        Share of the clusters that were found: a released centre is nearer than half-way to the next cluster. Mean of
        the runs.
    excess_loss : float
        By what part the loss (mean squared distance in units of the bounds) exceeds that of k-means without privacy.
        Median of the runs; `excess_low` and `excess_high` are their least and largest.
    center_stderr : float
        Median standard error of a coordinate of a centre, as a fraction of that column's bounds. Infinite if the
        noise hides most centres.
    size_stderr : float
        Median standard error of a cluster's size, in records.
    right : float
        How often a 50/50 guess about one person can be right after seeing the result, at most; see `Risk`.
    runs : int
        Number of fits.
    """

    k: int
    epsilon: float
    found: float
    excess_loss: float
    excess_low: float
    excess_high: float
    center_stderr: float
    size_stderr: float
    right: float
    runs: int

    @property
    def will_do(self) -> bool:
        """Whether 90 % of the clusters are found, most with error bars, and the loss is within 10 % of k-means."""
        return self.found >= FOUND and self.excess_loss <= LOSS and bool(np.isfinite(self.center_stderr))

    @property
    def cells(self) -> list[str]:
        """The row of a printed table; see `HEADER`."""
        centre = f"{100 * self.center_stderr:.2g} %" if np.isfinite(self.center_stderr) else "not seen"
        size = f"{self.size_stderr:,.1f}" if np.isfinite(self.size_stderr) else "not seen"
        percent = 100 * self.excess_loss
        loss = "< 0.1 %" if percent < 0.1 else f"{percent:,.{1 if percent < 10 else 0}f} %"
        return [str(self.k), f"{self.epsilon:g}", f"{self.found:.0%}", loss, centre, size, percent_up(self.right)]


@dataclass(frozen=True)
class SimulatedPlan(Reported):
    """What to expect over a range of epsilon: print it, `plot` it, or take its `table`.

    Attributes
    ----------
    description : str
        What was simulated.
    records : int
        Records of each fit.
    expected : tuple of Expected
        One for each number of clusters and epsilon.
    risks : tuple of Risk
        One for each epsilon.
    notes : tuple of str
        What the simulation left out.
    """

    description: str
    records: int
    expected: tuple[Expected, ...]
    risks: tuple[Risk, ...]
    notes: tuple[str, ...] = ()

    @property
    def table(self) -> list[dict[str, Any]]:
        """One dict for each number of clusters and epsilon: ``pandas.DataFrame(plan.table)`` is a frame."""
        return [asdict(each) for each in self.expected]

    @property
    def recommended(self) -> float | None:
        """Smallest epsilon that will do for every number of clusters; None if none of those simulated does."""
        return next((risk.epsilon for risk in self.risks if all(e.will_do for e in self.at(risk.epsilon))), None)

    def at(self, epsilon: float) -> list[Expected]:
        """Return what to expect at one epsilon, for each number of clusters."""
        return [each for each in self.expected if each.epsilon == epsilon]

    @property
    def verdict(self) -> str:
        """Which epsilon, and what it risks, in plain words."""
        goal = f"at least {FOUND:.0%} of the clusters found and seen, loss within {LOSS:.0%} of k-means without privacy"
        best = self.recommended
        if best is None:
            largest = self.risks[-1].epsilon
            return (
                f"No epsilon up to {largest:g} will do ({goal}). Fewer clusters, fewer columns, tighter bounds or more "
                "records help."
            )
        risk = next(each for each in self.risks if each.epsilon == best)
        less = " (A smaller one may do, too.)" if best == self.risks[0].epsilon else ""
        return f"epsilon = {best:g} is the smallest of these that will do: {goal}.{less}\nWhat it risks: {risk}"

    def __str__(self) -> str:
        rows = [list(HEADER), *(each.cells for each in self.expected)]
        widths = [max(len(row[j]) for row in rows) for j in range(len(HEADER))]
        lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
        return "\n".join([self.description, "", *lines, "", *self.notes, self.verdict])
