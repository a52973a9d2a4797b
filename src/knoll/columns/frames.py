"""Encoded rows as tables in the user's terms: of pandas, polars or Arrow, every column with the type of its kind.

What a table looked like is public as far as it is used here: its library, and which columns have the library's own type
for categories. Other types are not looked at: a missing value makes a column of whole numbers one of doubles in pandas.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from knoll.arrays import Floats
from knoll.columns.columns import Columns
from knoll.columns.dates import Cyclic, Date
from knoll.columns.kind import Kind
from knoll.columns.levels import ABSENT, Boolean, Category, Ordered
from knoll.columns.numbers import Log, Number, Whole
from knoll.columns.table import column_at, table_names
from knoll.engines.decode import maker_of
from knoll.privacy.errors import DataError, PrivacyError

LIBRARIES = ("pandas", "polars")
_CATEGORIES = ("category", "categorical", "enum", "dictionary")
_EXACT = 2.0**53
_DIGITS = 6  # of a made-up number: more would be the digits of chance


@dataclass(frozen=True)
class TableType:
    """The library of a table that was handed over, and which of its columns had that library's type for categories."""

    library: str | None = None
    categories: tuple[str, ...] = ()

    @classmethod
    def of(cls, X: Any, columns: Columns | None = None) -> "TableType":
        """Return the type of a table; files, arrays and lists have no library."""
        maker = maker_of(X)
        library = maker if maker in LIBRARIES else None
        names = table_names(X) if columns is not None and maker and type(X).__name__ != "LazyFrame" else None
        if columns is None or names is None:
            return cls(library)
        wanted = set(columns.names)
        each = (column for _, column in X.items()) if maker == "pandas" else _one_by_one(X, names)
        found = [str(n) for n, column in zip(names, each, strict=True) if str(n) in wanted and _is_category(column)]
        return cls(library, tuple(found))

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {"library": self.library, "categories": list(self.categories)}

    @classmethod
    def from_dict(cls, document: Any) -> "TableType":
        """Return what plain data stands for, checked as if a stranger wrote it."""
        document = document if isinstance(document, dict) else {}
        library, listed = document.get("library"), document.get("categories")
        if library not in (None, *LIBRARIES) or not isinstance(listed, list):
            raise DataError("the type of its table is unknown")
        if not all(isinstance(name, str) for name in listed):
            raise DataError("the categories of its table are not names")
        return cls(library, tuple(listed))


def to_table(columns: Columns, encoded: Floats, categories: tuple[str, ...] = ()) -> Any:
    """Return encoded rows, within bounds, as an Arrow table in the user's terms.

    >>> columns = Columns({"age": "int:0:110", "plan": {"a", "b"}, "since": ("2020-01-01", "2020-12-31")})
    >>> to_table(columns, np.array([[41.6, 2.0, 18270.0]])).to_pylist()
    [{'age': 42, 'plan': 'other', 'since': datetime.date(2020, 1, 9)}]
    """
    made = [to_arrow(kind, encoded[:, j], coded=name in categories) for j, (name, kind) in enumerate(columns)]
    return pa.table(made, names=list(columns.names))


def plain_table(names: Any, rows: Floats) -> Any:
    """Return rows of numbers as an Arrow table; names x0, x1, ... if there are none."""
    known = [f"x{j}" for j in range(rows.shape[1])] if names is None else [str(name) for name in names]
    return pa.table([np.ascontiguousarray(column) for column in rows.T], names=known)


def to_arrow(kind: Kind, encoded: Floats, *, coded: bool = False) -> Any:
    """Return a column of encoded values as an Arrow array of the kind's own type; levels as codes if asked for."""
    build = next(build for known, build in _BUILD if isinstance(kind, known))
    return build(kind, encoded, coded)


def as_frame(table: Any, library: str | None, names: list[Any] | None = None) -> Any:
    """Return an Arrow table as a frame of a library, with other names if they are given; None: Arrow itself."""
    if library is None:
        return table
    made = load_library(library)
    if library == "polars":
        frame = made.from_arrow(table)
        return frame.rename(dict(zip(frame.columns, map(str, names), strict=True))) if names else frame
    frame = table.to_pandas(date_as_object=False)
    for name, field in zip(table.schema.names, table.schema, strict=True):
        if pa.types.is_boolean(field.type) and table.column(name).null_count:
            frame[name] = frame[name].astype("boolean")
    if names:
        frame.columns = names
    return frame


def frame_of(model: Any, table: dict[str, list[Any]], frame: str | None) -> Any:
    """Return what a model tells as a DataFrame; "auto": of the library that it was fitted to; None: as it is."""
    if frame is None:
        return table
    return load_library(usual_library(model) if frame == "auto" else frame).DataFrame(table)


def load_library(library: str) -> Any:
    """Return pandas or polars."""
    if library not in LIBRARIES:
        raise PrivacyError(f'frame={library!r} is neither "pandas" nor "polars"')
    try:
        return __import__(library)
    except ImportError:
        other = LIBRARIES[library == "pandas"]
        raise PrivacyError(f'{library} is not installed: pip install {library}, or give frame="{other}"') from None


def usual_library(model: Any) -> str:
    """Return the library of the table that a model was fitted to; else pandas, or polars if there is no pandas."""
    known = getattr(model, "table_type_", TableType()).library
    if known is not None:
        return str(known)
    try:
        __import__("pandas")
    except ImportError:
        return "polars"
    return "pandas"


def _one_by_one(X: Any, names: list[Any]) -> Iterator[Any]:
    return (column_at(X, names, place) for place in range(len(names)))


def _is_category(column: Any) -> bool:
    kind = str(getattr(column, "dtype", getattr(column, "type", ""))).lower()
    return kind.startswith(_CATEGORIES)


def _numbers(kind: Any, encoded: Floats, coded: bool) -> Any:
    return pa.array(np.clip(_few_digits(kind, kind.decode(encoded)), kind.lower, kind.upper))


def _few_digits(kind: Any, values: Floats) -> Floats:
    """Return made-up numbers with six digits of their bounds, of an amount on a logarithmic scale its first six."""
    if isinstance(kind, Log):
        places = _DIGITS - 1 - np.floor(np.log10(np.clip(values, kind.lower, kind.upper))).astype(int)
        for each in np.unique(places):
            values = np.where(places == each, np.round(values, each), values)
        return values
    return np.round(values, _DIGITS - int(np.ceil(np.log10(kind.upper - kind.lower))))


def _whole(kind: Any, encoded: Floats, coded: bool) -> Any:
    low, high = np.ceil(kind.lower), np.floor(kind.upper)
    found = np.clip(np.rint(encoded), low, max(low, high))
    return pa.array(found.astype(np.int64) if max(-low, high) < _EXACT else found)


def _yes_or_no(kind: Any, encoded: Floats, coded: bool) -> Any:
    return pa.array(kind.decode(encoded).tolist(), pa.bool_())


def _categories(kind: Any, encoded: Floats, coded: bool) -> Any:
    levels = [name for name in kind.names if not (kind.missing == "level" and name == ABSENT)]
    return _levels(levels, pa.string(), encoded, coded=coded, ordered=False)


def _ordered(kind: Any, encoded: Floats, coded: bool) -> Any:
    types = {type(level) for level in kind.levels}
    one = {int: pa.int64(), float: pa.float64(), bool: pa.bool_()}.get(types.pop()) if len(types) == 1 else None
    listed = list(kind.levels) if one is not None else kind.keys
    return _levels(listed, one or pa.string(), encoded, coded=coded, ordered=True)


def _levels(levels: list[Any], kind: Any, encoded: Floats, *, coded: bool, ordered: bool) -> Any:
    """Return the levels of codes; null for a code beyond the last: a missing value that is a level."""
    code = np.rint(np.where(np.isnan(encoded), len(levels), encoded)).astype(np.int64)
    places = pa.array(np.clip(code, 0, len(levels) - 1).astype(np.int32), mask=code >= len(levels))
    found = pa.DictionaryArray.from_arrays(places, pa.array(levels, kind), ordered=ordered)
    return found if coded else found.dictionary_decode()


def _dates(kind: Any, encoded: Floats, coded: bool) -> Any:
    found = kind.decode(np.clip(encoded, *kind.part[1:]))
    return pa.array(found)


def _round(kind: Any, encoded: Floats, coded: bool) -> Any:
    if kind.unit not in ("weekday", "month"):
        return pa.array(np.round(kind.decode(encoded), _DIGITS - int(np.ceil(np.log10(kind.period)))))
    steps = np.mod(np.rint(np.asarray(encoded) * kind.period), kind.period)
    return pa.array((steps + kind.start).astype(np.int64))


_BUILD: list[tuple[type[Kind] | tuple[type[Kind], ...], Callable[[Any, Floats, bool], Any]]] = [
    (Whole, _whole), ((Log, Number), _numbers), (Boolean, _yes_or_no), (Category, _categories), (Ordered, _ordered),
    (Date, _dates), (Cyclic, _round),
]  # fmt: skip
