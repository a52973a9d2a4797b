"""The budget of one fit, and named shares of it.

A fraction `RESERVE` of epsilon and delta is kept back to pay for the distance between the noise that is drawn and the
ideal (see `Law.charge`); the rest is calibrated exactly. Below epsilon = 0.01 the reserve of epsilon shrinks no
further, up to a sixteenth of it: the distance does not shrink either, and less would pay for too few values. A share s
of a Gaussian budget mu is a release at mu sqrt(s), so shares that sum to one compose to mu exactly; a share of a pure
budget is s epsilon.
"""

import math
from dataclasses import dataclass, fields
from functools import cached_property

from knoll.privacy.accounting import RESERVE, Cost
from knoll.privacy.errors import PrivacyError, brief
from knoll.privacy.laws import GAUSSIAN, LAPLACE, Law

ROUNDING = 1e-9  # on a sum of shares: ten times 0.1 is not quite one
MIN_EPSILON, MAX_EPSILON = 1e-6, 100.0
MAX_DELTA, MIN_DELTA = 0.1, 1e-24
_ORDINARY, _MOST_RESERVE = 0.01, 2.0**-4


@dataclass(frozen=True)
class Budget:
    """A declared (epsilon, delta). Gaussian noise for delta > 0, Laplace noise for delta = 0.

    >>> Budget(1.0, 0.0).law, Budget(1.0, 1e-6).law
    (laplace, gaussian)
    """

    epsilon: float
    delta: float = 1e-6
    hiding: float = 0.0
    """Fraction of delta that pays for a threshold: names that one unit alone holds stay hidden (discovery.py)."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", _number("epsilon", self.epsilon))
        object.__setattr__(self, "delta", _number("delta", self.delta))
        if not 0.0 <= _number("hiding", self.hiding) <= 0.5 or (self.hiding and not self.delta):
            raise PrivacyError("the part of delta that hides rare names is from 0 to a half, and 0 if delta is 0")
        if self.hiding and self.delta * self.hiding > self.epsilon / 4:
            raise PrivacyError(f"delta={self.delta:g} is too large beside epsilon={self.epsilon:g} to hide rare names")
        if not self.epsilon > 0:
            raise PrivacyError(f"epsilon={self.epsilon!r}: the privacy budget must be positive; 1 is a common start")
        if self.epsilon < MIN_EPSILON:
            raise PrivacyError(
                f"epsilon={self.epsilon:g} is below {MIN_EPSILON:g}: nothing but noise would be released"
            )
        if self.epsilon > MAX_EPSILON:
            raise PrivacyError(
                f"epsilon={self.epsilon:g} is above {MAX_EPSILON:g}: that protects nobody; use 10 or less"
            )
        if not 0.0 <= self.delta <= MAX_DELTA:
            raise PrivacyError(
                f"delta={self.delta:g} is outside [0, {MAX_DELTA}]: take 0 (pure), or far less than 1 / records"
            )
        if 0.0 < self.delta < MIN_DELTA:
            raise PrivacyError(
                f"delta={self.delta:g} is below {MIN_DELTA:g}: use delta=0 for pure differential privacy"
            )

    @property
    def law(self) -> Law:
        """The noise that this budget buys."""
        return GAUSSIAN if self.delta > 0 else LAPLACE

    @property
    def norm(self) -> int:
        """The norm in which this noise needs sensitivities."""
        return self.law.norm

    @property
    def reserve(self) -> float:
        """Fraction of epsilon that is kept back for the noise's finite precision."""
        return min(RESERVE * max(1.0, _ORDINARY / self.epsilon), _MOST_RESERVE)

    @cached_property
    def _whole(self) -> float:
        """The ratio of the whole budget, less what is kept back."""
        epsilon = self.epsilon * (1 - self.reserve) + math.log1p(
            -self.hidden
        )  # what hiding costs besides: discovery.py
        return self.law.whole(epsilon, self.delta * (1 - RESERVE) * (1 - self.hiding))

    @property
    def hidden(self) -> float:
        """The part of delta that pays for a threshold."""
        return self.delta * (1 - RESERVE) * self.hiding

    def ratio(self, share: float) -> float:
        """Return sensitivity over noise scale for a share: a mu for Gaussian noise, an epsilon for Laplace noise."""
        return self.law.ratio(self._whole, share)

    def cost(self, share: float) -> Cost:
        """Return the composable cost of a share, the sampler's charge aside."""
        return self.law.cost(self.ratio(share))

    def __str__(self) -> str:
        return f"epsilon = {self.epsilon:g}, delta = {self.delta:g}"


@dataclass(frozen=True)
class Shares:
    """Base of an estimator's named shares: positive fractions that sum to at most one.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class VoteShares(Shares):
    ...     votes: float = 0.9
    ...     count: float = 0.1
    >>> VoteShares(votes=0.95)
    Traceback (most recent call last):
    knoll.privacy.errors.PrivacyError: shares votes=0.95, count=0.1 sum to 1.05; they must sum to at most 1
    """

    def __post_init__(self) -> None:
        named = {field.name: _number(field.name, getattr(self, field.name)) for field in fields(self)}
        text = ", ".join(f"{name}={value:g}" for name, value in named.items())
        if any(value < 0 for value in named.values()):
            raise PrivacyError(f"shares {text}: none may be negative")
        if (total := math.fsum(named.values())) > 1.0 + 1e-12:
            raise PrivacyError(f"shares {text} sum to {total:g}; they must sum to at most 1")


def _number(name: str, value: object) -> float:
    try:
        if isinstance(value, str | bytes | bytearray):  # float() would read "1"; a parameter should say 1
            raise TypeError
        number = float(value)  # type: ignore[arg-type]  # anything may arrive here: that is the question
    except (TypeError, ValueError):
        raise PrivacyError(f"{name}={brief(value)} is not a number") from None
    if not math.isfinite(number):
        raise PrivacyError(f"{name}={brief(value)} must be finite")
    return number
