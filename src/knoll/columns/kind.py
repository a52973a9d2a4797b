"""What every kind of column can do: from values to one double each, and back to the user's terms.

A kind is public: declared, never learnt from records. `encode` works element by element: what one value becomes does
not depend on the values beside it, bit for bit. It uses +, -, *, /, rint, floor and comparisons alone, which IEEE 754
rounds correctly in every lane of a processor; numpy's log and sin are not.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal

import numpy as np
import pyarrow as pa

from knoll.arrays import Floats
from knoll.columns.values import PLAIN, as_column
from knoll.engines.notation import Notation
from knoll.privacy.errors import BoundsError, DataError
from knoll.queries.domain import LARGEST_BOUND

Missing = Literal["refuse", "drop", "level", "impute"]
Part = tuple[Any, ...]
"""("line", lower, upper), ("corners", count) or ("circle",): where the encoded values lie."""

_LARGEST_WEIGHT = 1e6  # weights are ratios of importance; beyond this a column is all or nothing


@dataclass(frozen=True, kw_only=True)
class Kind(ABC):
    """A kind of column.

    Parameters
    ----------
    weight : float, default=1.0
        How much the column counts in distances, beside the others.
    missing : {"refuse", "drop", "level", "impute"}, optional
        What to do with a row that has no value here: refuse the data, drop the row, (categories and booleans) take it
        as a level of its own, or fill in the mean of the others (the most frequent level), which is released with a
        part of the budget. By default as the estimator's `missing` says.
    """

    weight: float = 1.0
    missing: Missing | None = None
    word: ClassVar[str] = ""
    noun: ClassVar[str] = ""
    hint: ClassVar[str] = ""
    may_be_level: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.missing not in (None, "refuse", "drop", "impute", *(["level"] if self.may_be_level else [])):
            allowed = '"refuse", "drop", "impute"' + (', "level"' if self.may_be_level else "")
            raise BoundsError(f"missing={self.missing!r} of a {self.word} is not one of {allowed}")
        object.__setattr__(self, "weight", finite("weight", self.weight))
        if not 1 / _LARGEST_WEIGHT <= self.weight <= _LARGEST_WEIGHT:
            raise BoundsError(f"weight={self.weight:g} is not between {1 / _LARGEST_WEIGHT:g} and {_LARGEST_WEIGHT:g}")

    @property
    @abstractmethod
    def part(self) -> Part:
        """Where encoded values lie."""

    @abstractmethod
    def _encode(self, column: Any, notation: Notation) -> Floats:
        """Encode what `as_column` returns."""

    @abstractmethod
    def decode(self, doubles: Any) -> np.ndarray:
        """Return encoded values in the user's terms."""

    @abstractmethod
    def describe(self) -> str:
        """Return a few words for people."""

    @abstractmethod
    def text(self) -> str:
        """Return what stands for the kind on the command line, without weight and missing."""

    def encode(self, values: Any, notation: Notation = PLAIN) -> Floats:
        """Return one double for each value, NaN if it is missing.

        Parameters
        ----------
        values : array, list, Series or Arrow array
            The column as it comes.
        notation : Notation, optional
            How texts are written.
        """
        try:
            return self._encode(as_column(values), notation)
        except DataError:
            raise
        except (TypeError, ValueError, OverflowError, ArithmeticError, pa.ArrowException):
            raise DataError(f"something that is not {self.noun}{self.hint}") from None

    def coordinates(self, name: str) -> list[str]:
        """Return the names of the coordinates that a column of this name becomes."""
        return [name]

    def to_dict(self) -> dict[str, Any]:
        """Return the kind as plain data: what is not the default."""
        given = {each.name: getattr(self, each.name) for each in fields(self) if each.name not in ("weight", "missing")}
        more = {"weight": self.weight} if self.weight != 1.0 else {}
        rule = {"missing": self.missing} if self.missing is not None else {}
        return {"kind": self.word} | {key: value for key, value in given.items() if value is not None} | more | rule


def finite(what: str, value: Any) -> float:
    """Return a number that was declared, as a double."""
    try:
        number = math.nan if isinstance(value, bool | np.bool_) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not abs(number) <= LARGEST_BOUND:
        raise BoundsError(f"{what}={str(value)[:60]!r} is not a number of at most {LARGEST_BOUND:g} in size")
    return number


def in_order(word: str, lower: float, upper: float) -> None:
    """Refuse bounds that hold nothing between them."""
    if not lower < upper:
        raise BoundsError(f"{word}: lower {lower:g} is not below upper {upper:g}")
