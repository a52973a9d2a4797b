"""Columns as one line of text, as the command line takes it.

``age=0:110,income=log:1000:1000000,plan={basic,gold},smoker=bool,joined=2020-01-01:2024-12-31,visits=int:0:50,
size=ordered:{S,M,L},hour=cyclic:24``. After a semicolon: ``plan={basic,gold};weight=2;missing=level``. A name or a
level with one of the marks ``,:;={}"`` stands in double quotes; quotes inside are written twice.
"""

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from knoll.columns.dates import Cyclic, Date
from knoll.columns.kind import Kind
from knoll.columns.levels import Boolean, Category, Ordered, quoted
from knoll.columns.numbers import Log, Number, Whole
from knoll.privacy.errors import BoundsError

_WHEN = r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2})?)?"
_DATES = re.compile(rf"(?:date:)?({_WHEN}):({_WHEN})(?::(.+))?", re.ASCII)
_LEVELS = re.compile(r"(ordered:)?\{(.*)\}", re.DOTALL)
_RANGES = {"": Number, "number": Number, "log": Log, "int": Whole, "whole": Whole}
EXAMPLES = (
    "0:110, log:1000:1000000, int:0:50, bool, {basic,gold}, ordered:{S,M,L}, 2020-01-01:2024-12-31, cyclic:24 or "
    "cyclic:hour"
)


def parse_columns(text: str) -> dict[str, Kind]:
    """Return names and kinds of a line of text."""
    found: dict[str, Kind] = {}
    for entry in split_outside(text, ","):
        pieces = split_outside(entry, "=")
        name = _unquoted(pieces[0])
        if len(pieces) < 2 or not name or name in found:
            raise BoundsError(f"{entry.strip()[:60]!r}: give each column once, as name=kind, e.g. {EXAMPLES}")
        try:
            found[name] = parse_kind("=".join(pieces[1:]))
        except ValueError as error:
            raise BoundsError(f"column {name!r}: {error}") from None
    return found


def parse_kind(text: str) -> Kind:
    """Return the kind of a text.

    >>> parse_kind("log:1:1000;weight=2")
    Log(weight=2.0, missing=None, lower=1.0, upper=1000.0)
    """
    spec, *options = (each.strip() for each in split_outside(text, ";"))
    kind = _bare_kind(spec)
    for option in options:
        key, _, value = (each.strip() for each in option.partition("="))
        if key == "weight":
            kind = _with(kind, weight=_number(value))
        elif key == "missing":
            kind = _with(kind, missing=value)
        else:
            raise BoundsError(f"{option[:60]!r} is not weight=... or missing=...")
    return kind


def to_text(columns: Iterable[tuple[str, Kind]]) -> str:
    """Return names and kinds as one line that `parse_columns` reads."""
    return ",".join(f"{quoted(name)}={kind_text(kind)}" for name, kind in columns)


def kind_text(kind: Kind) -> str:
    """Return a kind as text that `parse_kind` reads."""
    order = f":{kind.format}" if isinstance(kind, Date) and kind.format is not None else ""
    weight = f";weight={kind.weight!r}" if kind.weight != 1.0 else ""
    return kind.text() + order + weight + (f";missing={kind.missing}" if kind.missing is not None else "")


def split_outside(text: str, mark: str) -> list[str]:
    """Split text at a mark that is outside braces and quotes."""
    parts, depth, inside, start = [], 0, False, 0
    for i, letter in enumerate(text):
        if letter == '"':
            inside = not inside
        elif not inside:
            depth += (letter == "{") - (letter == "}")
            if letter == mark and depth == 0:
                parts.append(text[start:i])
                start = i + 1
    if inside or depth:
        raise BoundsError(f"{text[:60]!r}: a quote or a brace is open")
    return [*parts, text[start:]]


def _bare_kind(spec: str) -> Kind:
    if (dates := _DATES.fullmatch(spec)) is not None:
        return Date(dates[1], dates[2], dates[3])
    if (levels := _LEVELS.fullmatch(spec)) is not None:
        listed = [_unquoted(each) for each in split_outside(levels[2], ",")]
        return Ordered(*listed) if levels[1] else Category(*listed)
    if spec.lower() in ("bool", "boolean"):
        return Boolean()
    word, *rest = spec.split(":")
    if word == "cyclic" and rest in (["hour"], ["weekday"], ["month"]):
        return getattr(Cyclic, rest[0])()
    if word == "cyclic" and len(rest) in (1, 2):
        return Cyclic(_number(rest[0]), _number(rest[1]) if len(rest) > 1 else 0.0)
    if word in _RANGES and len(rest) == 2:
        return _RANGES[word](*map(_number, rest))
    if len(rest) == 1:
        return Number(_number(word), _number(rest[0]))
    raise BoundsError(f"{spec[:60]!r} is not a range lower:upper, nor another kind of column: {EXAMPLES}")


def _with(kind: Kind, **change: Any) -> Kind:
    if isinstance(kind, Category | Ordered):
        return type(kind)(*kind.levels, **({"weight": kind.weight, "missing": kind.missing} | change))
    return replace(kind, **change)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise BoundsError(f"{text[:60]!r} is not a number, so this is not a range lower:upper: {EXAMPLES}") from None


def _unquoted(text: str) -> str:
    bare = text.strip()
    if len(bare) >= 2 and bare[0] == bare[-1] == '"':
        return bare[1:-1].replace('""', '"')
    return bare
