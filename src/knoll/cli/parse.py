"""Read what is typed: bounds, numbers and column lists."""

from pathlib import Path
from typing import Any

import typer


def read_bounds(text: str | None) -> Any:
    """Read bounds: ``age=0:110,bmi=10:60``, ``0:1`` for all columns, ``private``, ``sphere``, other kinds, or a file.

    >>> read_bounds("age=0:110, bmi=10:60")
    {'age': (0.0, 110.0), 'bmi': (10.0, 60.0)}
    >>> read_bounds("-1:1")
    (-1.0, 1.0)
    >>> read_bounds("age=0:110,plan={basic,gold},smoker=bool")
    Columns(age=0:110, plan={basic,gold}, smoker=bool)
    """
    if text is None or text in ("private", "sphere"):
        return text
    if text.endswith((".toml", ".json")):
        return read_kinds(Path(text))
    if "=" not in text:
        return _range(text)
    bounds = _numbers(text)
    return _kinds(text) if bounds is None else bounds


def read_place(text: str) -> Any:
    """Read where the data is: a path, or the URI of a database, which stays a text.

    >>> read_place("postgresql://host/clinic"), read_place("visits.csv").name
    ('postgresql://host/clinic', 'visits.csv')
    """
    return text if "://" in str(text) else Path(text)


def read_kinds(path: Path) -> Any:
    """Read a file columns.toml, or the profile.json of `knoll profile`: bounds around its released quantiles."""
    if path.suffix == ".toml":
        from knoll.columns.toml import load_toml

        return load_toml(path)
    import knoll

    profile = knoll.load(path)
    if not hasattr(profile, "found_columns"):
        raise typer.BadParameter(f"{path.name} holds a {type(profile).__name__}, not a profile")
    return profile


def _numbers(text: str) -> dict[str, tuple[float, float]] | None:
    """Return bounds of numbers alone; None if something else is declared."""
    bounds: dict[str, tuple[float, float]] = {}
    for part in text.split(","):
        name, _, rest = part.rpartition("=")
        name = name.strip()
        low, _, high = rest.partition(":")
        try:
            pair = float(low), float(high)
        except ValueError:
            return None
        if not name or name in bounds:
            raise typer.BadParameter(f"{part!r}: give each column once, as name=lower:upper")
        bounds[name] = pair
    return bounds


def _kinds(text: str) -> Any:
    from knoll.columns import Columns

    try:
        return Columns.from_text(text)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def read_columns(text: str | None) -> list[str] | None:
    """Read a list of column names separated by commas."""
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]


def read_numbers(text: str, option: str, *, whole: bool = False) -> list[float]:
    """Read numbers separated by commas.

    >>> read_numbers(".1, 1", "--epsilons")
    [0.1, 1.0]
    """
    try:
        return [float(int(part) if whole else float(part)) for part in text.split(",")]
    except ValueError:
        kind = "a whole number, or several" if whole else "a number, or several"
        raise typer.BadParameter(f"{option} {text!r} is not {kind} separated by commas") from None


def _range(text: str) -> tuple[float, float]:
    low, _, high = text.partition(":")
    try:
        return float(low), float(high)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a range lower:upper, e.g. 0:110") from None
