"""Exact conversion between (epsilon, delta) and Gaussian differential privacy, and composition.

A Gaussian release whose sensitivity is mu times its noise scale is mu-GDP. It satisfies (epsilon, delta)-DP exactly for

    delta(epsilon; mu) = Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu)

(Balle and Wang 2018, Theorem 8; Dong, Roth and Su 2022, Corollary 1). Adaptive composition of Gaussian releases is
exact: mu^2 adds up. Laplace releases are pure and their epsilons add up; a pure epsilon composes with any (epsilon',
delta) by adding to epsilon'.
"""

import math
from dataclasses import dataclass

from scipy.optimize import brentq
from scipy.special import log_ndtr

from knoll.privacy.errors import PrivacyError

RESERVE = 2.0**-12
"""Fraction of epsilon and delta kept back for the distance between the noise that is drawn and the ideal."""

SAFETY = 1e-9
"""Relative shrinkage of a calibrated mu: covers the error of the root search and of `log_ndtr` many times over."""


def gaussian_log_delta(epsilon: float, mu: float) -> float:
    """Return log delta(epsilon; mu), the exact trade-off of a mu-GDP Gaussian release."""
    upper = float(log_ndtr(mu / 2 - epsilon / mu))
    lower = epsilon + float(log_ndtr(-mu / 2 - epsilon / mu))
    if lower >= upper:  # equal to rounding: delta is below what doubles can tell from zero
        return -math.inf
    return upper + math.log(-math.expm1(lower - upper))


def mu_for(epsilon: float, delta: float) -> float:
    """Return the largest mu whose Gaussian release is (epsilon, delta)-DP (a hair less, to be safe).

    >>> round(mu_for(1.0, 1e-6), 4)
    0.2367
    """
    target = math.log(delta)
    low, high = 1e-12, 1.0
    while gaussian_log_delta(epsilon, high) < target:
        high *= 2.0
    if gaussian_log_delta(epsilon, low) > target:
        raise PrivacyError(f"epsilon={epsilon:g}, delta={delta:g}: no Gaussian noise of sensible size reaches this")
    mu = float(brentq(lambda m: gaussian_log_delta(epsilon, m) - target, low, high, xtol=1e-300, rtol=1e-14))
    return mu * (1.0 - SAFETY)


def epsilon_for(mu: float, delta: float) -> float:
    """Return the smallest epsilon at which a mu-GDP release is (epsilon, delta)-DP.

    >>> round(epsilon_for(mu_for(1.0, 1e-6), 1e-6), 6)
    1.0
    """
    if mu <= 0.0:
        return 0.0
    if delta <= 0.0:
        return math.inf
    target = math.log(delta)
    if gaussian_log_delta(0.0, mu) <= target:
        return 0.0
    high = 1.0
    while gaussian_log_delta(high, mu) > target:
        high *= 2.0
    return float(brentq(lambda e: gaussian_log_delta(e, mu) - target, 0.0, high, xtol=1e-300, rtol=1e-13))


@dataclass(frozen=True)
class Cost:
    """What releases cost together: a Gaussian part mu^2, a pure part epsilon, an additive part delta."""

    mu_squared: float = 0.0
    epsilon: float = 0.0
    delta: float = 0.0

    def __add__(self, other: "Cost") -> "Cost":
        return Cost(self.mu_squared + other.mu_squared, self.epsilon + other.epsilon, self.delta + other.delta)

    def epsilon_at(self, delta: float) -> float:
        """Return epsilon such that all of it together is (epsilon, delta)-DP (infinite if none is).

        The Gaussian part is taken at a delta smaller by the reserve: coordinates that a neighbour does not move
        have the same law on both sides, but that law may exceed the ideal by a factor, below 1 + 2^-12 for 2^30
        values.

        >>> round(Cost(mu_squared=mu_for(1, 1e-6) ** 2).epsilon_at(1e-6), 3)
        1.0
        """
        if self.mu_squared == 0.0:
            return self.epsilon if delta >= self.delta else math.inf
        return self.epsilon + epsilon_for(math.sqrt(self.mu_squared), delta * (1 - RESERVE) - self.delta)
