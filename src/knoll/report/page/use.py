"""How to use it: the command and the Python lines that make such a model again, and what to do with it."""

from dataclasses import MISSING, fields, is_dataclass
from os import PathLike
from typing import Any

import numpy as np

from knoll.report.page.html import Html, code, paragraph, tag

_LONGEST = 100  # characters of one line of code
_COLUMNS = 200  # whose bounds are written out
_SILENT = {"verbose", "random_state", "base"}  # parameters that the lines leave out, unless they are plain values


def use_part(model: Any, command: str | None) -> list[Html]:
    """Return the command, if one was typed, the Python lines, and how to go on with the model."""
    again = (
        "The same lines give a result of the same quality, not the same figures: noise is drawn anew each time, and "
        "each fit spends budget again. To use this result again, load the saved model: that costs nothing."
    )
    if not hasattr(model, "get_params"):
        return _of_made_up(command)
    typed = [tag("h3", "On the command line"), code(command, "the command")] if command else []
    return [
        paragraph(again),
        *typed,
        tag("h3", "In Python"),
        code(python_lines(model), "the Python lines"),
        tag("h3", "Go on with it"),
        code(_next(model), "what to do next"),
    ]


def _of_made_up(command: str | None) -> list[Html]:
    """Return how to make a plan or an audit again: it touches no records, and may be repeated at will."""
    words = paragraph("No records were touched and no budget was spent: it may be made again at will.")
    return [words, *([tag("h3", "On the command line"), code(command, "the command")] if command else [])]


def python_lines(model: Any) -> str:
    """Return Python lines that fit such a model: its parameters that are not defaults."""
    name = type(model).__name__
    place = "knoll.local" if type(model).__module__.startswith("knoll.local") else "knoll"
    lines = [f"import {place}", "", f"model = {place}.{name}("]
    lines += [f"    {key}={value}," for key, value in _given(model)]
    lines += [f").{_fit(model)}", 'model.report("report.html")']
    return "\n".join(lines)


def _given(model: Any) -> list[tuple[str, str]]:
    """Return parameters that are not defaults, as code. What has no short code is left out."""
    defaults = {each.name: each.default for each in fields(model)} if is_dataclass(model) else {}
    found = []
    for name in sorted(model.get_params(deep=False), key=list(defaults).index):
        value = getattr(model, name)
        text = _bounds(model) if name == "bounds" else _code(value)
        asked = name in ("epsilon", "bounds") or (
            defaults.get(name) is not MISSING and not _same(value, defaults[name])
        )
        if asked and text is not None and name not in _SILENT:
            found.append((name, text))
    return found


def _same(value: Any, default: Any) -> bool:
    try:
        return bool(np.all(value == default))
    except (TypeError, ValueError):
        return False


def _code(value: Any) -> str | None:
    """Return a value as Python code: plain values, paths, and small objects of knoll; None for all others."""
    if value is None or isinstance(value, bool | int | float | str):
        return repr(value)
    if isinstance(value, np.generic | np.ndarray):
        return _code(value.tolist())
    if isinstance(value, list | tuple) and all(isinstance(each, bool | int | float | str) for each in value):
        return repr(value)
    if isinstance(value, PathLike):
        return repr(str(value))
    if type(value).__name__ == "FileLedger":
        named = "" if value.dataset is None else f", dataset={value.dataset!r}"
        return f"knoll.Ledger({str(value.path)!r}{named})"
    if type(value).__name__ in ("User", "Record") and is_dataclass(value):
        return f"knoll.{value!r}"
    return None


def _bounds(model: Any) -> str | None:
    """Return the bounds as code: by name, where there are names."""
    if isinstance(model.bounds, str):
        return repr(model.bounds)
    if hasattr(model, "columns_"):
        pairs = [f"{name!r}: {kind.text()!r}" for name, kind in model.columns_]
        return _dict(pairs)
    bounds, names = model.bounds_, getattr(model, "feature_names_in_", None)
    if type(bounds).__name__ == "Sphere":
        return repr("sphere")
    if hasattr(bounds, "radius"):
        return f"knoll.Ball({bounds.radius!r}, {_code(tuple(bounds.middle))})"
    sides = [(float(low), float(high)) for low, high in zip(bounds.lower, bounds.upper, strict=True)]
    if names is None:
        shown = sides[0] if len(set(sides)) == 1 else sides
        return repr(shown) if len(sides) <= _COLUMNS or shown is not sides else None
    return _dict([f"{str(name)!r}: {side!r}" for name, side in zip(names, sides, strict=True)])


def _dict(pairs: list[str]) -> str:
    short = f"{{{', '.join(pairs)}}}"
    if len(short) <= _LONGEST:
        return short
    more = [f"        # and {len(pairs) - _COLUMNS:,} more: model.bounds has all\n"] if len(pairs) > _COLUMNS else []
    return "{\n" + "".join([f"        {pair},\n" for pair in pairs[:_COLUMNS]] + more) + "    }"


def _fit(model: Any) -> str:
    """Return the call that fits: reports of respondents, or records."""
    return "fit_reports(reports)" if type(model).__module__.startswith("knoll.local") else "fit(data)  # file or frame"


def _next(model: Any) -> str:
    lines = ["import knoll", "", 'model = knoll.load("model.json")  # as saved by the command, or by knoll.save']
    if hasattr(model, "predict"):
        lines.append("model.predict(new)               # labels, for whoever holds the rows")
    if hasattr(model, "summary"):
        lines.append("model.summary()                  # the table above, as a DataFrame")
    if hasattr(model, "sample"):
        lines.append("model.sample(1000)               # synthetic rows, as private as the model")
    lines.append("print(model.privacy_)            # what was released, at what cost")
    return "\n".join(lines)
