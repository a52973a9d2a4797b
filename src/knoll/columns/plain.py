"""Kinds as plain data, for JSON and TOML; read as if a stranger wrote it."""

from collections.abc import Mapping
from typing import Any

from knoll.columns.dates import Cyclic, Date
from knoll.columns.kind import Kind
from knoll.columns.levels import MOST_LEVELS, Boolean, Category, Ordered
from knoll.columns.numbers import Log, Number, Whole
from knoll.privacy.errors import BoundsError, DataError

_NUMBERS: dict[str, tuple[type, ...]] = {"lower": (int, float), "upper": (int, float)}
_KINDS: dict[str, tuple[type[Kind], dict[str, tuple[type, ...]]]] = {
    "number": (Number, _NUMBERS),
    "log": (Log, _NUMBERS),
    "whole": (Whole, _NUMBERS),
    "boolean": (Boolean, {}),
    "category": (Category, {"levels": (list,)}),
    "ordered": (Ordered, {"levels": (list,)}),
    "date": (Date, {"first": (str,), "last": (str,), "format": (str,)}),
    "cyclic": (Cyclic, {"period": (int, float), "start": (int, float), "unit": (str,)}),
}
_COMMON: dict[str, tuple[type, ...]] = {"weight": (int, float), "missing": (str,)}
_OPTIONAL = {"format", "start", "unit", *_COMMON}
_LONGEST = 1000  # characters of a name or a level in a document
_MOST_COLUMNS = 10_000


def kind_from(document: Any) -> Kind:
    """Return the kind that plain data stands for; refuse unknown kinds, fields and types."""
    if not isinstance(document, Mapping):
        raise BoundsError("a kind is an object with fields")
    word = document.get("kind")
    if not isinstance(word, str) or word not in _KINDS:
        raise BoundsError(f"its kind is not one of {', '.join(_KINDS)}")
    build, own = _KINDS[word]
    known = own | _COMMON
    given = {key: value for key, value in document.items() if key != "kind"}
    if not set(given) <= set(known) or not set(own) - _OPTIONAL <= set(given):
        raise BoundsError(f"a {word} has the fields {', '.join(known)}, and needs {', '.join(set(own) - _OPTIONAL)}")
    for field, value in given.items():
        if type(value) not in known[field] or (isinstance(value, str) and len(value) > _LONGEST):
            raise BoundsError(f"its {field} is of a wrong type, or too long")
    levels = given.pop("levels", [])
    if len(levels) > MOST_LEVELS or not all(_is_level(each) for each in levels):
        raise BoundsError("its levels are too many, too long, or no texts, numbers or booleans")
    return build(*levels, **given)


def named_columns(document: Any) -> dict[Any, Kind]:
    """Return names and kinds of what `Columns.to_dict` returns."""
    listed = document.get("columns") if isinstance(document, dict) else None
    if not isinstance(listed, list) or len(document) != 1 or len(listed) > _MOST_COLUMNS:
        raise DataError("columns are a list of names and kinds")
    found: dict[Any, Kind] = {}
    for entry in listed:
        name = entry.get("name") if isinstance(entry, dict) else None
        if type(name) not in (str, int) or name in found or len(str(name)[: _LONGEST + 1]) > _LONGEST:
            raise DataError("a column has no name, or one that is there already")
        try:
            found[name] = kind_from({key: value for key, value in entry.items() if key != "name"})
        except ValueError as error:
            raise DataError(f"column {str(name)[:60]!r}: {error}") from None
    return found


def _is_level(level: Any) -> bool:
    return type(level) in (int, float, bool) or (type(level) is str and len(level) <= _LONGEST)
