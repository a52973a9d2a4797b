"""Columns of numbers: plain, on a logarithmic scale, or whole."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from knoll.arrays import Floats
from knoll.columns.kind import Kind, Part, finite, in_order
from knoll.columns.logarithm import exp2, log2
from knoll.columns.values import any_numbers, numbers
from knoll.compiled.logs import log2_between
from knoll.engines.notation import Notation
from knoll.privacy.errors import BoundsError


@dataclass(frozen=True)
class Number(Kind):
    """Numbers between two public bounds; what lies outside is clipped.

    >>> Number(0, 110).encode(["42", "$1,234", None]).tolist()
    [42.0, 1234.0, nan]
    """

    lower: float
    upper: float
    word: ClassVar[str] = "number"
    noun: ClassVar[str] = "a number"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "lower", finite("lower", self.lower))
        object.__setattr__(self, "upper", finite("upper", self.upper))
        in_order(self.word, self.lower, self.upper)

    @property
    def part(self) -> Part:
        """A line."""
        return "line", self.lower, self.upper

    def _encode(self, column: Any, notation: Notation) -> Floats:
        return numbers(column, notation)

    def decode(self, doubles: Any) -> np.ndarray:
        """Return the numbers."""
        return np.array(doubles, dtype=np.float64)

    def describe(self) -> str:
        """Return a few words for people."""
        return f"a number from {self.lower:g} to {self.upper:g}"

    def text(self) -> str:
        """Return ``lower:upper``."""
        return f"{number_text(self.lower)}:{number_text(self.upper)}"


@dataclass(frozen=True)
class Log(Number):
    """Positive numbers that are compared by their ratios: incomes, prices, counts.

    Encoded as logarithms of base two. What lies outside the bounds is clipped to them, zero and below too.

    >>> Log(1, 1024).encode([8, 0, 1e9]).tolist()
    [3.0, 0.0, 10.0]
    """

    word: ClassVar[str] = "log"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.lower > 0:
            raise BoundsError(f"log: lower {self.lower:g} is not above zero, where logarithms begin")
        in_order(self.word, *self.part[1:])  # their logarithms may be equal where they are not

    @property
    def part(self) -> Part:
        """A line of logarithms."""
        low, high = log2(np.array([self.lower, self.upper])).tolist()
        return "line", low, high

    def _encode(self, column: Any, notation: Notation) -> Floats:
        values = np.ascontiguousarray(any_numbers(column, notation))
        found = np.empty(len(values))
        log2_between(values, self.lower, self.upper, found)
        return found

    def decode(self, doubles: Any) -> np.ndarray:
        """Return the numbers whose logarithms these are."""
        return exp2(np.array(doubles, dtype=np.float64))

    def describe(self) -> str:
        """Return a few words for people."""
        return f"a number from {self.lower:g} to {self.upper:g}, on a logarithmic scale"

    def text(self) -> str:
        """Return ``log:lower:upper``."""
        return f"log:{super().text()}"


@dataclass(frozen=True)
class Whole(Number):
    """Whole numbers between two public bounds; others are rounded."""

    word: ClassVar[str] = "whole"

    def _encode(self, column: Any, notation: Notation) -> Floats:
        return np.rint(numbers(column, notation))

    def decode(self, doubles: Any) -> np.ndarray:
        """Return whole numbers: integers, if none is missing."""
        rounded = np.rint(np.array(doubles, dtype=np.float64))
        small = np.isfinite(rounded).all() and (np.abs(rounded) < 2.0**63).all()
        return rounded.astype(np.int64) if small else rounded

    def describe(self) -> str:
        """Return a few words for people."""
        return f"a whole number from {self.lower:g} to {self.upper:g}"

    def text(self) -> str:
        """Return ``int:lower:upper``."""
        return f"int:{super().text()}"


def number_text(number: float) -> str:
    """Return a number as short text that reads back as the same double."""
    return str(int(number)) if number == int(number) and abs(number) < 1e15 else repr(number)
