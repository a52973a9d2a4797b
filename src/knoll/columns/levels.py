"""Columns of levels: categories, ordered levels, yes and no.

Levels are a closed, public list. A value is compared with them by its text, without blanks around it: 3, 3.0 (a number)
and "3" are one level, and "3.0" (a text, as tables with gaps are often written) unless it is declared itself; True is
"True".
"""

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from knoll.arrays import Floats
from knoll.columns.kind import Kind, Missing, Part
from knoll.columns.lookup import lookup_of
from knoll.columns.values import is_text, read_column
from knoll.engines.decode import doubles
from knoll.engines.notation import BLANKS, MISSING, Notation, stripped
from knoll.privacy.errors import BoundsError, DataError

OTHER, ABSENT = "other", "missing"
"""What levels that are not declared, and missing values that are a level, are called."""

MOST_LEVELS = 100_000
_WHOLE = re.compile(r"-?[0-9]+")
_EXACT = 2.0**53
_YES = ["true", "yes", "y", "t", "1", "1.0", "on", "j", "ja", "wahr", "oui", "vrai", "si", "sí", "sì", "sim", "vero",
        "да", "tak", "ano", "igen", "kyllä", "是", "はい"]  # fmt: skip
_NO = ["false", "no", "n", "f", "0", "0.0", "off", "nein", "falsch", "non", "faux", "não", "nao", "falso", "nee",
       "nej", "нет", "nie", "nem", "ei", "否", "いいえ"]  # fmt: skip
_ANSWERS = {word.lower(): np.nan for word in MISSING} | dict.fromkeys(_NO, 0.0) | dict.fromkeys(_YES, 1.0)
"""What words mean, in small letters."""


@dataclass(frozen=True, init=False)
class _Levels(Kind):
    """What categories and ordered levels share: the list."""

    levels: tuple[Any, ...]
    fewest: ClassVar[int] = 1

    def __init__(self, *levels: Any, weight: float = 1.0, missing: Missing | None = None):
        object.__setattr__(self, "levels", tuple(_plain_level(each) for each in levels))
        object.__setattr__(self, "weight", weight)
        object.__setattr__(self, "missing", missing)
        super().__post_init__()
        if not self.fewest <= len(self.levels) <= MOST_LEVELS:
            raise BoundsError(f"{self.word}: give {self.fewest} to {MOST_LEVELS:,} levels, not {len(self.levels)}")
        if len(set(self.keys)) < len(self.levels) or "" in self.keys:
            raise BoundsError(f"{self.word}: a level is empty, or there twice (blanks around it do not count)")

    @property
    def keys(self) -> list[str]:
        """The texts by which levels are compared."""
        return [_key(each) for each in self.levels]

    def to_dict(self) -> dict[str, Any]:
        """Return the kind as plain data."""
        return super().to_dict() | {"levels": list(self.levels)}

    def _codes(self, column: Any, unknown: float) -> Floats:
        """Return the place of each value in the list, `unknown` if it is not there, NaN if it is missing."""
        keys = self.keys
        place = {key: float(i) for i, key in enumerate(keys)}
        place = {f"{key}.0": code for key, code in place.items() if _WHOLE.fullmatch(key)} | place
        gone = [word for word in MISSING if word not in place]
        table = lookup_of((*place, *gone), (*place.values(), *[np.nan] * len(gone)))

        def others(values: list[Any]) -> list[float]:
            return [place.get(_key(value), unknown) for value in values]

        def one_by_one(text: Any) -> Floats:
            codes = dict(zip(gone, [np.nan] * len(gone), strict=True)) | place
            return np.array([codes.get(each, unknown) for each in stripped(text).to_pylist()], dtype=np.float64)

        def of_arrow(part: Any) -> Floats:
            return table.read(part if is_text(part.type) else _texts(part), unknown, one_by_one)

        return read_column(column, of_arrow, others)


@dataclass(frozen=True, init=False)
class Category(_Levels):
    """One of some levels; everything else is "other".

    Encoded as the place in the list; "other" comes after the last level, and after it "missing", if that is a level. A
    declared level "other" is where everything else goes; a declared "missing" takes the missing values.

    Parameters
    ----------
    *levels : str, int, float or bool
        The levels, known without looking at the data.
    weight, missing
        As for every kind.

    Examples
    --------
    >>> Category("basic", "gold").encode([" gold", "basic", "silver", None]).tolist()
    [1.0, 0.0, 2.0, nan]
    """

    word: ClassVar[str] = "category"
    noun: ClassVar[str] = "a category"
    may_be_level: ClassVar[bool] = True

    @property
    def names(self) -> list[str]:
        """The names of all levels, with "other" and, if it is a level, "missing"."""
        names = self.keys
        names += [OTHER] if OTHER not in names else []
        return names + ([ABSENT] if self.missing == "level" and ABSENT not in names else [])

    @property
    def other(self) -> int:
        """The place of "other" among the names."""
        return self.names.index(OTHER)

    @property
    def part(self) -> Part:
        """Corners of a simplex, one for each level."""
        return "corners", len(self.names)

    def coordinates(self, name: str) -> list[str]:
        """Return ``name=level`` for every level."""
        return [f"{name}={level}" for level in self.names]

    def _encode(self, column: Any, notation: Notation) -> Floats:
        codes = self._codes(column, float(self.other))
        return np.where(np.isnan(codes), self.names.index(ABSENT), codes) if self.missing == "level" else codes

    def decode(self, doubles: Any) -> np.ndarray:
        """Return the levels of codes; None for NaN."""
        return _pick([*self.levels, *self.names[len(self.levels) :]], doubles)

    def describe(self) -> str:
        """Return a few words for people."""
        return f"one of {_listed(self.names)}"

    def text(self) -> str:
        """Return ``{level,level}``."""
        return "{" + ",".join(map(level_text, self.levels)) + "}"


@dataclass(frozen=True, init=False)
class Ordered(_Levels):
    """One of some levels in order, from low to high, equally far apart; everything else is missing.

    >>> Ordered("small", "medium", "large").encode(["large", "small", "huge"]).tolist()
    [2.0, 0.0, nan]
    """

    word: ClassVar[str] = "ordered"
    noun: ClassVar[str] = "a level"
    fewest: ClassVar[int] = 2

    @property
    def part(self) -> Part:
        """A line from the first level to the last."""
        return "line", 0.0, float(len(self.levels) - 1)

    def _encode(self, column: Any, notation: Notation) -> Floats:
        return self._codes(column, np.nan)

    def decode(self, doubles: Any) -> np.ndarray:
        """Return the nearest levels; None for NaN."""
        return _pick(list(self.levels), np.clip(doubles, 0, len(self.levels) - 1))

    def describe(self) -> str:
        """Return a few words for people."""
        return f"one of {_listed(self.keys)}, in this order"

    def text(self) -> str:
        """Return ``ordered:{level,level}``."""
        return "ordered:{" + ",".join(map(level_text, self.levels)) + "}"


@dataclass(frozen=True)
class Boolean(Kind):
    """Yes or no: true, yes, 1, J, ja, oui and their opposites, in any case.

    Encoded as 1 and 0, on a line; if missing values are a level, as 0, 1 and 2, three corners.

    >>> Boolean().encode(["yes", "N", True, 0, None]).tolist()
    [1.0, 0.0, 1.0, 0.0, nan]
    """

    word: ClassVar[str] = "boolean"
    noun: ClassVar[str] = "a yes or a no"
    hint: ClassVar[str] = "; declare its words as levels: {x,y} (knoll.Category)"
    may_be_level: ClassVar[bool] = True

    @property
    def part(self) -> Part:
        """A line from no to yes, or three corners."""
        return ("corners", 3) if self.missing == "level" else ("line", 0.0, 1.0)

    def coordinates(self, name: str) -> list[str]:
        """Return the name, or that of each corner."""
        return [f"{name}=no", f"{name}=yes", f"{name}={ABSENT}"] if self.missing == "level" else [name]

    def _encode(self, column: Any, notation: Notation) -> Floats:
        def checked(codes: Floats) -> Floats:
            if (codes < 0).any():
                raise DataError(f"something that is not {self.noun}{self.hint}")
            return codes

        def one_by_one(text: Any) -> Floats:
            lower = pc.utf8_lower(stripped(text)).to_pylist()
            return np.array([_ANSWERS.get(each, -1.0) for each in lower], dtype=np.float64)

        def of_arrow(part: Any) -> Floats:
            table = lookup_of(tuple(_ANSWERS), tuple(_ANSWERS.values()), fold=True)
            return checked(table.read(part if is_text(part.type) else _texts(part), -1.0, one_by_one))

        def others(values: list[Any]) -> Floats:
            return of_arrow(pa.array(list(map(_key, values)), pa.string()))

        codes = read_column(column, of_arrow, others)
        return np.where(np.isnan(codes), 2.0, codes) if self.missing == "level" else codes

    def decode(self, doubles: Any) -> np.ndarray:
        """Return True and False; None for NaN and for a missing value."""
        return _pick([False, True, None], doubles)

    def describe(self) -> str:
        """Return a few words for people."""
        return "yes or no" + (f" or {ABSENT}" if self.missing == "level" else "")

    def text(self) -> str:
        """Return ``bool``."""
        return "bool"


def level_text(level: Any) -> str:
    """Return a level as the command line has it."""
    return quoted(_key(level))


def quoted(text: str) -> str:
    """Return a name or a level as the command line has it: in quotes where marks of the notation are in it."""
    return '"' + text.replace('"', '""') + '"' if set(text) & set('{},:;="') or text != text.strip() else text


def _plain_level(level: Any) -> Any:
    """Return a declared level as Python's own type, text without blanks around it."""
    level = level.item() if isinstance(level, np.generic) else level
    if isinstance(level, str):
        return level.strip(BLANKS)
    if isinstance(level, bool | int) or (isinstance(level, float) and np.isfinite(level)):
        return level
    raise BoundsError(f"a level is a text, a number or a boolean, not {type(level).__name__}")


def _key(value: Any) -> str:
    """Return the text by which a value is compared with levels."""
    if isinstance(value, str):
        return value.strip(BLANKS)
    if isinstance(value, bytes):
        return value.decode("utf-8").strip(BLANKS)
    if isinstance(value, bool | np.bool_):
        return str(bool(value))
    if isinstance(value, int | np.integer):
        return str(int(value))
    if isinstance(value, float | np.floating | Decimal):
        number = float(value)
        return str(int(number)) if abs(number) < _EXACT and number == int(number) else repr(number)
    raise DataError(f"values of type {type(value).__name__}")


def _texts(part: Any) -> Any:
    """Return an Arrow array as the texts by which its values are compared, null where it is null."""
    kind = part.type
    if is_text(kind):
        return stripped(part)
    if pa.types.is_boolean(kind):
        return pc.if_else(part, "True", "False")
    if pa.types.is_integer(kind):
        return part.cast(pa.string())
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return _number_texts(doubles(part))
    raise DataError(f"{kind}, not levels")


def _number_texts(values: Floats) -> Any:
    """Return the texts of doubles as `_key` has them, null for NaN: whole ones many at once."""
    whole = (np.abs(values) < _EXACT) & (values == np.rint(values))
    text = pa.array(np.where(whole, values, 0.0).astype(np.int64)).cast(pa.string())
    if not whole.all():
        odd = [None if value != value else _key(value) for value in values[~whole].tolist()]
        text = pc.replace_with_mask(text, pa.array(~whole), pa.array(odd, pa.string()))
    return text


def _pick(levels: list[Any], codes: Any) -> np.ndarray:
    """Return the level of each code, None for NaN, as an array of Python values."""
    rounded = np.rint(np.array(codes, dtype=np.float64))
    known = np.empty(len(levels) + 1, dtype=object)
    known[:-1] = levels
    return known[np.where(np.isnan(rounded), len(levels), np.clip(rounded, 0, len(levels) - 1)).astype(np.int64)]


def _listed(names: list[str], most: int = 8) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
