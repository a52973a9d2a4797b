"""The laws of noise: all that depends on whether it is Gaussian or Laplace, in one place.

Guarantee. Noise of scale sensitivity / r makes a release r-GDP if it is Gaussian and the sensitivity is in l2, or
r-DP if it is Laplace and the sensitivity is in l1. r is the *ratio* of a release; what it costs is `cost`, and what
the drawing adds to that is `charge`, whose proof is in noise.py beside the samplers.

A budget names its law (`Budget.law`); everybody else asks the law. So a third law is one more class here, or in a file
of its own: a `Law` with all its methods, added to `LAWS`.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import ndtri

from knoll.privacy.accounting import Cost, mu_for
from knoll.privacy.entropy import WordSource
from knoll.privacy.errors import PrivacyError
from knoll.privacy.noise import Floats, Integers, gaussian, laplace


class Law(ABC):
    """One kind of noise. It has no state: the scale is told to it.

    Attributes
    ----------
    name : str
        As ledgers and statements record it.
    norm : int
        The norm, 1 or 2, in which it needs sensitivities.
    gdp : bool
        Whether releases compose to Gaussian differential privacy, whose whole curve an audit can test.
    far : float
        Scales beyond which no honest draw lies.
    """

    name: ClassVar[str]
    norm: ClassVar[int]
    gdp: ClassVar[bool]
    far: ClassVar[float]

    @abstractmethod
    def whole(self, epsilon: float, delta: float) -> float:
        """Return the ratio that a whole budget of (epsilon, delta) pays for."""

    @abstractmethod
    def ratio(self, whole: float, share: float) -> float:
        """Return the ratio that a share of the budget pays for; costs of shares that sum to one add up to the whole."""

    @abstractmethod
    def cost(self, ratio: float) -> Cost:
        """Return the composable cost of a release with this ratio, drawn ideally."""

    @abstractmethod
    def charge(self, touched: int, ratio: float) -> Cost:
        """Return the price of drawing as we do, not ideally, if neighbours differ in so many values; see noise.py."""

    @abstractmethod
    def variance(self, scale: float) -> float:
        """Return the variance before rounding to the integers."""

    @abstractmethod
    def tail(self, chance: float) -> float:
        """Return how many standard deviations the noise exceeds, upwards, with this chance."""

    @abstractmethod
    def log_density(self, at: Floats) -> Floats:
        """Return the log density at each point, in units of the scale, up to a constant."""

    @abstractmethod
    def draw(self, scale: float, size: int, words: WordSource) -> Integers:
        """Draw independent integers of this law from random words."""

    def standard_deviation(self, scale: float) -> float:
        """Return the standard deviation of the rounded law (the rounding adds at most 1/12 to the variance)."""
        return math.sqrt(self.variance(scale) + 1.0 / 12.0)

    def __repr__(self) -> str:
        return self.name


@dataclass(frozen=True, repr=False)
class Gaussian(Law):
    """A rounded Gaussian: density exp(-x^2 / 2 scale^2), sensitivities in l2, ratios are the mu of Gaussian DP."""

    name = "gaussian"
    norm = 2
    gdp = True
    far = 12.0

    def whole(self, epsilon: float, delta: float) -> float:
        """Return mu."""
        return mu_for(epsilon, delta)

    def ratio(self, whole: float, share: float) -> float:
        """Return mu sqrt(share): mu^2 adds up."""
        return whole * math.sqrt(share)

    def cost(self, ratio: float) -> Cost:
        """Return mu^2."""
        return Cost(mu_squared=ratio**2)

    def charge(self, touched: int, ratio: float) -> Cost:
        """Return an epsilon, and a delta for what lies beyond 12 scales."""
        return Cost(epsilon=touched * (12.0 + ratio) ** 2 * 2.0**-49, delta=touched * 2.0**-103)

    def variance(self, scale: float) -> float:
        """Return scale^2."""
        return scale**2

    def tail(self, chance: float) -> float:
        """Return a quantile of the standard normal law."""
        return -float(ndtri(chance))

    def log_density(self, at: Floats) -> Floats:
        """Return -x^2 / 2."""
        return -(at**2) / 2

    def draw(self, scale: float, size: int, words: WordSource) -> Integers:
        """Draw by `noise.gaussian`."""
        return gaussian(scale, size, words)


@dataclass(frozen=True, repr=False)
class Laplace(Law):
    """A rounded Laplace variable: density exp(-|x| / scale), sensitivities in l1, ratios are pure epsilons."""

    name = "laplace"
    norm = 1
    gdp = False
    far = 36.0

    def whole(self, epsilon: float, delta: float) -> float:
        """Return epsilon; a delta buys nothing."""
        return epsilon

    def ratio(self, whole: float, share: float) -> float:
        """Return epsilon x share: epsilons add up."""
        return whole * share

    def cost(self, ratio: float) -> Cost:
        """Return a pure epsilon."""
        return Cost(epsilon=ratio)

    def charge(self, touched: int, ratio: float) -> Cost:
        """Return a pure epsilon: the bound holds at every integer."""
        return Cost(epsilon=touched * (8.0 + ratio) * 2.0**-44)

    def variance(self, scale: float) -> float:
        """Return 2 scale^2."""
        return 2.0 * scale**2

    def tail(self, chance: float) -> float:
        """Return a quantile of the exponential law, in standard deviations of sqrt(2) scales."""
        return -math.log(2 * chance) / math.sqrt(2)

    def log_density(self, at: Floats) -> Floats:
        """Return -|x|."""
        return -np.abs(at)

    def draw(self, scale: float, size: int, words: WordSource) -> Integers:
        """Draw by `noise.laplace`."""
        return laplace(scale, size, words)


GAUSSIAN, LAPLACE = Gaussian(), Laplace()
LAWS: dict[str, Law] = {law.name: law for law in (GAUSSIAN, LAPLACE)}


def law_named(name: str) -> Law:
    """Return the law that a ledger or a statement names.

    >>> law_named("laplace").norm
    1
    """
    if name not in LAWS:
        raise PrivacyError(f"no law of noise is called {name!r}; there are {', '.join(LAWS)}")
    return LAWS[name]
