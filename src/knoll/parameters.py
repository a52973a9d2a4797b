"""Parameters, checked in one way and before any data is touched: every estimator has a table of rules by name.

A class lists the rules of its own parameters in `_rules`; those of its bases hold too. `check_rules` goes through all
of them. An error says what the value is and what would do.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np

from knoll.privacy import PrivacyError
from knoll.privacy.errors import brief

MOST_CLUSTERS = 100_000  # more have no records to be told from noise by
MOST_STEPS = 1000  # of a method that divides its budget among steps
COVARIANCE_TYPES = ("full", "tied", "diag", "spherical")


class Rule(ABC):
    """What a parameter may be."""

    @abstractmethod
    def check(self, name: str, value: Any) -> None:
        """Refuse a value that breaks the rule."""


@dataclass(frozen=True)
class Whole(Rule):
    """A whole number between two others, or None if that is allowed."""

    most: int
    least: int = 1
    none: bool = False

    def check(self, name: str, value: Any) -> None:
        """Refuse what is no such number."""
        if value is None and self.none:
            return
        if isinstance(value, bool) or not isinstance(value, Integral) or not self.least <= int(value) <= self.most:
            also = ", or None" if self.none else ""
            raise PrivacyError(f"{name}={brief(value)} must be an integer from {self.least} to {self.most:,}{also}")


@dataclass(frozen=True)
class OneOf(Rule):
    """One of some words."""

    words: tuple[str, ...]

    def check(self, name: str, value: Any) -> None:
        """Refuse any other."""
        if not (isinstance(value, str) and value in self.words):
            raise PrivacyError(f"{name}={brief(value)} is not one of {', '.join(f'{word!r}' for word in self.words)}")


@dataclass(frozen=True)
class Number(Rule):
    """A number between two others; `what` says what it means. The ends count if `closed`."""

    least: float
    most: float
    what: str
    closed: bool = True

    def check(self, name: str, value: Any) -> None:
        """Refuse what is no such number."""
        number = float(value) if isinstance(value, Real) and not isinstance(value, bool) else math.nan
        inside = self.least <= number <= self.most if self.closed else self.least < number < self.most
        if not inside:
            raise PrivacyError(f"{name}={brief(value)} must be {self.what}")


@dataclass(frozen=True)
class Flag(Rule):
    """True or False."""

    def check(self, name: str, value: Any) -> None:
        """Refuse anything else."""
        if not isinstance(value, bool | np.bool_):
            raise PrivacyError(f"{name}={brief(value)} is neither True nor False")


@dataclass(frozen=True)
class Passes(Rule):
    """Whatever a function does not refuse."""

    function: Callable[[Any], None]

    def check(self, name: str, value: Any) -> None:
        """Have the function look at it."""
        self.function(value)


PRESET = OneOf(("default", "paper"))
CHANCE = Number(0.0, 1.0, "a number between 0 and 1", closed=False)
SHAPE: dict[str, Rule] = {
    "covariance_type": OneOf(COVARIANCE_TYPES),
    "covariance_floor": Number(1e-6, 1.0, "a fraction of the bounds' half widths, from 1e-6 to 1"),
}


def check_rules(estimator: Any) -> None:
    """Check every parameter for which an estimator's class, or a base of it, has a rule."""
    rules: dict[str, Rule] = {}
    for kind in reversed(type(estimator).__mro__):
        rules |= vars(kind).get("_rules", {})
    for name, rule in rules.items():
        rule.check(name, getattr(estimator, name))


def check_count(name: str, value: Any, most: int) -> int:
    """Return a positive whole number, or explain what is wrong with it."""
    Whole(most).check(name, value)
    return int(value)


def check_shape(covariance_type: Any, covariance_floor: Any) -> float:
    """Return the floor of standard deviations, as a fraction of the bounds, or explain what is wrong."""
    SHAPE["covariance_type"].check("covariance_type", covariance_type)
    SHAPE["covariance_floor"].check("covariance_floor", covariance_floor)
    return float(covariance_floor)
