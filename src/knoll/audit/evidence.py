"""From what an attack achieved to a lower bound on epsilon, at a stated confidence.

An attack says "the record is there" with a false positive rate a (it is not there) and a false negative rate b. A
guarantee is a curve: the least b that it allows for each a.

- (epsilon, delta): b >= max(1 - delta - e^epsilon a, e^-epsilon (1 - delta - a)).
- mu-GDP, what Gaussian releases compose to: b >= Phi(Phi^-1(1 - a) - mu).

Take upper Clopper-Pearson limits of a and b. The smallest epsilon (or mu) whose curve allows them is a lower bound.
`Guarantee.strength` is that figure; `epsilon_of` turns it into an epsilon at the declared delta.
"""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import betainc, betaincinv, gammaln, ndtr, ndtri

from knoll.privacy import Budget
from knoll.privacy.accounting import epsilon_for, mu_for
from knoll.privacy.errors import PrivacyError

Kind = Literal["gaussian", "approximate"]


@dataclass(frozen=True)
class Guarantee:
    """A declared (epsilon, delta), and whether it is claimed of a Gaussian release or of anything.

    Parameters
    ----------
    epsilon, delta : float
        What is declared.
    kind : {"gaussian", "approximate"}
        "gaussian" tests a stronger claim: the whole Gaussian trade-off curve with the declared epsilon at delta.
        knoll makes this claim whenever delta > 0, and testing it needs far fewer runs.

    Examples
    --------
    >>> Guarantee(1.0, 1e-6, "gaussian").tradeoff(np.array([0.5])).round(3)
    array([0.406])
    """

    epsilon: float
    delta: float = 0.0
    kind: Kind = "approximate"

    def __post_init__(self) -> None:
        Budget(self.epsilon, self.delta)
        if self.kind == "gaussian" and self.delta == 0.0:
            raise PrivacyError("a Gaussian guarantee needs delta > 0")

    def strength(self, false_positive: np.ndarray, false_negative: np.ndarray) -> np.ndarray:
        """Return the smallest mu (or epsilon) whose curve allows these error rates; zero if they prove nothing."""
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.kind == "gaussian":
                found = -ndtri(false_positive) - ndtri(false_negative)
            else:
                rest = 1.0 - self.delta
                there = np.log(np.maximum(rest - false_negative, 0.0)) - np.log(false_positive)
                absent = np.log(np.maximum(rest - false_positive, 0.0)) - np.log(false_negative)
                found = np.maximum(there, absent)
        return np.maximum(np.nan_to_num(found, nan=0.0, neginf=0.0), 0.0)

    def epsilon_of(self, strength: float) -> float:
        """Return a strength as an epsilon at the declared delta."""
        return epsilon_for(strength, self.delta) if self.kind == "gaussian" else float(strength)

    def tradeoff(self, false_positive: np.ndarray) -> np.ndarray:
        """Return the least false negative rate that the declared guarantee allows for each false positive rate."""
        if self.kind == "gaussian":
            return ndtr(-ndtri(false_positive) - mu_for(self.epsilon, self.delta))
        rest = 1.0 - self.delta
        there = rest - math.exp(self.epsilon) * false_positive
        absent = math.exp(-self.epsilon) * (rest - false_positive)
        return np.maximum(np.maximum(there, absent), 0.0)


def at_most(hits: np.ndarray, runs: int, chance: float) -> np.ndarray:
    """Return the upper Clopper-Pearson limit of a rate: the truth exceeds it with probability at most `chance`.

    >>> at_most(np.array([0, 10]), 10, 0.05).round(3)
    array([0.259, 1.   ])
    """
    hits = np.asarray(hits, dtype=np.float64)
    inner = betaincinv(hits + 1.0, np.maximum(runs - hits, 0.5), 1.0 - chance)
    return np.where(hits >= runs, 1.0, inner)


def one_run_epsilon(canaries: int, guesses: int, right: int, delta: float, confidence: float = 0.999) -> float:
    """Return the lower bound on epsilon that `right` guesses out of `guesses` prove, from one run.

    Each of `canaries` records was in the data or not by a fair coin, and the guesses say which. Under
    (epsilon, delta)-DP the number of right ones exceeds v with probability at most

        P(B >= v) + 2 m delta max over i of P(v > B >= v - i) / i,    B ~ Binomial(guesses, e^epsilon / (1 + e^epsilon))

    (Steinke, Nasr, Jagielski 2023, Theorem 5.2). The bound is the largest epsilon at which that is 1 - confidence.

    >>> round(one_run_epsilon(1000, 100, 95, 0.0), 2)
    1.69
    """
    if not 0 <= right <= guesses <= canaries or guesses == 0:
        raise PrivacyError(f"{right} right of {guesses} guesses about {canaries} canaries makes no sense")

    def chance(epsilon: float) -> float:
        q = 1.0 / (1.0 + math.exp(-epsilon))
        tail = 1.0 if right == 0 else float(betainc(right, guesses - right + 1, q))
        v = np.arange(right - 1, -1, -1)
        log_pmf = gammaln(guesses + 1) - gammaln(v + 1) - gammaln(guesses - v + 1)
        pmf = np.exp(log_pmf + v * math.log(q) + (guesses - v) * math.log1p(-q))
        steep = float(np.max(np.cumsum(pmf) / np.arange(1, right + 1))) if right else 0.0
        return tail + 2.0 * canaries * delta * steep

    low, high = 0.0, 30.0
    if chance(low) > 1.0 - confidence:
        return 0.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if chance(middle) <= 1.0 - confidence else (low, middle)
    return low
