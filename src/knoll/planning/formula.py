"""What noise to expect, before any data is touched.

The noise of a release depends only on the query, the budget and the relation. So it is known in advance.
"""

from dataclasses import dataclass
from numbers import Integral

import numpy as np

from knoll.privacy import Budget, Relation
from knoll.privacy.errors import PrivacyError, brief
from knoll.queries import Box, CellMoments, Nearest

MOST = 10**12  # of anything that is counted: refuses absurd values


@dataclass(frozen=True)
class Plan:
    """Noise to expect from `knoll.Lloyd` for clusters of equal size.

    Attributes
    ----------
    size_stderr : float
        Standard error of a released cluster size.
    center_stderr : float
        Standard error of one coordinate of a centre, as a fraction of that column's bounds (upper - lower).
    records_per_cluster : float
        Records per cluster, if all are equal.
    """

    rows: int
    dims: int
    k: int
    epsilon: float
    delta: float
    steps: int
    size_stderr: float
    center_stderr: float

    @property
    def records_per_cluster(self) -> float:
        """Records per cluster, if all are equal."""
        return self.rows / self.k

    @property
    def verdict(self) -> str:
        """One or two sentences on whether the result will be useful."""
        if self.k > self.rows:
            return f"There are more clusters ({self.k:,}) than records ({self.rows:,}): use fewer clusters."
        if self.size_stderr > self.records_per_cluster / 4:
            return (
                "Too much noise for these clusters: use fewer of them, fewer columns, more records or a larger epsilon."
            )
        if self.center_stderr > 0.05:
            return "Centres will be rough: their noise is more than 5 % of the bounds. Tighter bounds help most."
        return "Noise is small against the bounds: clusters will be found if they are several times the noise apart."


def plan(rows: int, dims: int, k: int, epsilon: float = 1.0, delta: float = 1e-6, *, steps: int = 5,
         relation: str = "add_remove", cap: int = 1) -> Plan:  # fmt: skip
    """Compute the noise to expect from a fit, without data.

    Parameters
    ----------
    rows, dims, k : int
        Records, columns and clusters.
    epsilon, delta : float
        The budget.
    steps : int
        Lloyd steps.
    relation : str
        The neighbouring relation.
    cap : int
        Records used per user, if the unit is a user.

    Examples
    --------
    >>> plan(rows=20_000, dims=4, k=5, epsilon=1.0).size_stderr < 100
    True
    """
    check_counts(rows=rows, dims=dims, k=k, steps=steps, cap=cap)
    budget = Budget(epsilon, delta)
    box = Box((-1.0,) * dims, (1.0,) * dims)
    query = CellMoments(Nearest(np.zeros((min(k, 2), dims)), box))
    sensitivity = cap * query.sensitivity(Relation.parse(relation), budget.norm)
    noise = budget.law.standard_deviation(sensitivity / budget.ratio(1 / steps))
    unit = noise * query.step / query.weights
    typical = 0.5  # a centre half-way between the middle and the bounds
    center = float(np.hypot(unit[1], typical * unit[0])) / (rows / k) / 2
    return Plan(rows, dims, k, budget.epsilon, budget.delta, steps, float(unit[0]), center)


def check_counts(**counts: int) -> None:
    """Refuse what is not a positive whole number of sensible size."""
    for name, value in counts.items():
        if isinstance(value, bool) or not isinstance(value, Integral) or not 1 <= value <= MOST:
            raise PrivacyError(f"{name}={brief(value)} must be a positive integer")
