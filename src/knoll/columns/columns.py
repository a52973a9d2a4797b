"""All columns of a table with their kinds: what a user declares, once and in public."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from knoll.arrays import Floats
from knoll.columns.dates import Date
from knoll.columns.kind import Kind, Part
from knoll.columns.levels import Boolean, Category
from knoll.columns.numbers import Number
from knoll.columns.plain import kind_from, named_columns
from knoll.columns.text import parse_columns, parse_kind, to_text
from knoll.privacy.errors import BoundsError

_HOW = (
    'a pair of numbers (0, 110), a pair of dates ("2020-01-01", "2024-12-31"), bool, a set of levels {"basic", '
    '"gold"}, or a kind: Number, Log, Whole, Boolean, Category, Ordered, Date, Cyclic'
)
MOST_COLUMNS = 100_000


@dataclass(frozen=True, init=False, repr=False)
class Columns:
    """Names of columns and what each holds, in order.

    Parameters
    ----------
    columns : dict
        Name -> kind, or a short form of it: a pair of numbers, a pair of dates, ``bool``, a set or list of levels, or
        the text that the command line takes ("log:1:1000").

    Examples
    --------
    >>> columns = Columns({"age": (0, 110), "plan": {"basic", "gold"}, "smoker": bool})
    >>> columns
    Columns(age=0:110, plan={basic,gold}, smoker=bool)
    >>> columns.coordinates
    ['age', 'plan=basic', 'plan=gold', 'plan=other', 'smoker']
    """

    names: tuple[str, ...]
    kinds: tuple[Kind, ...]
    keys: tuple[Any, ...]
    """The names as they were given: numbers stand for places in a table without names."""

    def __init__(self, columns: Mapping[Any, Any]):
        if not isinstance(columns, Mapping):
            raise BoundsError(f"columns are declared by a dict of names and kinds, not {type(columns).__name__}")
        keys = tuple(columns)
        names = tuple(str(key) for key in keys)
        if not 1 <= len(names) <= MOST_COLUMNS or len(set(names)) < len(names):
            raise BoundsError("declare at least one column, each once")
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "keys", keys)
        object.__setattr__(
            self, "kinds", tuple(_kind(name, columns[key]) for name, key in zip(names, keys, strict=True))
        )
        if len(set(self.coordinates)) < len(self.coordinates):
            raise BoundsError("two columns, or a column and a level of another, would have the same name")

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[tuple[str, Kind]]:
        return zip(self.names, self.kinds, strict=True)

    def __getitem__(self, name: str) -> Kind:
        try:
            return self.kinds[self.names.index(name)]
        except ValueError:
            raise KeyError(name) from None

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={kind.text()}" for name, kind in list(self)[:20])
        return f"Columns({shown}{', ...' if len(self) > 20 else ''})"

    def __str__(self) -> str:
        return to_text(self)

    @property
    def parts(self) -> list[Part]:
        """Where the encoded values of each column lie: a line, corners or a circle."""
        return [kind.part for kind in self.kinds]

    @property
    def weights(self) -> tuple[float, ...]:
        """How much each column counts."""
        return tuple(kind.weight for kind in self.kinds)

    @property
    def coordinates(self) -> list[str]:
        """The names of all coordinates that the columns become."""
        return [each for name, kind in self for each in kind.coordinates(name)]

    def missing(self, default: Any) -> tuple[Any, ...]:
        """Return what to do with a missing value of each column; where it is a level of its own there is none."""
        return tuple("refuse" if (rule := kind.missing or default) == "level" else rule for kind in self.kinds)

    def decode(self, encoded: Floats) -> dict[str, np.ndarray]:
        """Return encoded rows in the user's terms, by name."""
        return {name: kind.decode(encoded[:, j]) for j, (name, kind) in enumerate(self)}

    def to_dict(self) -> dict[str, Any]:
        """Return the columns as plain data, for JSON and TOML."""
        return {"columns": [{"name": key, **kind.to_dict()} for key, kind in zip(self.keys, self.kinds, strict=True)]}

    @classmethod
    def from_dict(cls, document: Any) -> "Columns":
        """Return the columns that plain data declares, checked as if a stranger wrote it."""
        return cls(named_columns(document))

    @classmethod
    def from_text(cls, text: str) -> "Columns":
        """Return the columns of ``age=0:110,plan={basic,gold}``."""
        return cls(parse_columns(text))


def as_columns(bounds: Any) -> Columns | None:
    """Return bounds as columns if they declare kinds; None for bounds of numbers alone, which are a box or a ball.

    >>> as_columns({"age": (0, 110)}) is None
    True
    >>> as_columns({"age": (0, 110), "smoker": bool})
    Columns(age=0:110, smoker=bool)
    """
    bounds = getattr(bounds, "found_columns", bounds)  # of a profile
    if isinstance(bounds, Columns):
        return bounds
    if not isinstance(bounds, Mapping) or all(map(_is_pair_of_numbers, bounds.values())):
        return None
    return Columns(bounds)


def _is_pair_of_numbers(value: Any) -> bool:
    if isinstance(value, Kind | str | set | frozenset):
        return False
    try:
        low, high = (np.nan if isinstance(each, bool) else float(each) for each in value)
    except (TypeError, ValueError, OverflowError):
        return False
    return low == low and high == high


def _kind(name: str, given: Any) -> Kind:
    """Return a kind from what a user gives for a column."""
    try:
        return _kind_of(given)
    except ValueError as error:
        raise BoundsError(f"column {name!r}: {error}") from None


def _kind_of(given: Any) -> Kind:
    if isinstance(given, Kind):
        return given
    if given is bool:
        return Boolean()
    if isinstance(given, str):
        return parse_kind(given)
    if isinstance(given, Mapping):
        return kind_from(given)
    if isinstance(given, set | frozenset):
        return Category(*sorted(given, key=str))
    if _is_pair_of_numbers(given):
        return Number(*given)
    if isinstance(given, list | tuple):
        if len(given) == 2 and (found := _dates(*given)) is not None:
            return found
        if given and all(isinstance(each, str) for each in given):
            return Category(*given)
    shown = given.__name__ if isinstance(given, type) else type(given).__name__
    raise BoundsError(f"a column is declared by {_HOW}; not by this {shown}")


def _dates(first: Any, last: Any) -> Date | None:
    """Return a column of dates if both are dates; two words are levels."""
    try:
        Date(first, "9999-12-31")
    except ValueError:
        return None
    return Date(first, last)
