"""Columns as a small TOML file that is kept with the data."""

import tomllib
from pathlib import Path
from typing import Any

from knoll.columns.columns import MOST_COLUMNS, Columns
from knoll.columns.text import kind_text
from knoll.privacy.errors import BoundsError, DataError

_LARGEST = 2**24  # bytes of such a file


def read_toml(text: str) -> Columns:
    """Return the columns that a TOML document declares: each key a name, its value a text or a table of fields.

    >>> read_toml('age = "0:110"')
    Columns(age=0:110)
    >>> read_toml('plan = { kind = "category", levels = ["basic", "gold"], weight = 2 }')
    Columns(plan={basic,gold})
    """
    try:
        found = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise BoundsError(f"the columns cannot be read as TOML: {str(error)[:200]}") from None
    if not found:
        raise BoundsError("no column is declared; remove the # before the lines that you have filled in")
    if len(found) > MOST_COLUMNS or not all(isinstance(each, str | dict) for each in found.values()):
        raise BoundsError('declare columns as name = "0:110" or name = { kind = "number", lower = 0, upper = 110 }')
    return Columns(found)


def load_toml(path: Path) -> Columns:
    """Return the columns that a file declares."""
    try:
        with open(path, "rb") as file:
            content = file.read(_LARGEST + 1)
        text = content.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path} cannot be read as columns: {type(error).__name__}") from None
    if len(content) > _LARGEST:
        raise DataError(f"{path.name} is too large to declare columns")
    return read_toml(text)


def write_toml(columns: Columns) -> str:
    """Return columns as a TOML document that `read_toml` reads, one line for each.

    >>> print(write_toml(Columns({"age": (0, 110), "body mass": "log:1:300"})))
    age = "0:110"
    "body mass" = "log:1:300"
    <BLANKLINE>
    """
    return "".join(f"{toml_key(name)} = {_value(kind_text(kind), kind)}\n" for name, kind in columns)


def toml_key(name: str) -> str:
    """Return a name as a TOML key."""
    bare = name.isascii() and name.replace("-", "").replace("_", "").isalnum()
    return name if bare else toml_text(name)


def toml_text(text: str) -> str:
    """Return a text in TOML's quotes."""
    odd = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}
    marks = (odd.get(c) or (f"\\u{ord(c):04x}" if ord(c) < 32 or ord(c) == 127 else c) for c in text)
    return f'"{"".join(marks)}"'


def _value(text: str, kind: Any) -> str:
    """Return a kind as its text; levels that are no texts as a table, which keeps their types."""
    levels = getattr(kind, "levels", ())
    if all(isinstance(level, str) for level in levels):
        return toml_text(text)
    fields = {key: value for key, value in kind.to_dict().items() if key != "levels"}
    listed = ", ".join(map(_plain, levels))
    return "{ " + ", ".join(f"{key} = {_plain(value)}" for key, value in fields.items()) + f", levels = [{listed}] }}"


def _plain(value: Any) -> str:
    return (
        toml_text(value) if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else repr(value)
    )
