"""Read what is typed: bounds, numbers and column lists."""

import typer


def read_bounds(text: str | None) -> dict[str, tuple[float, float]] | tuple[float, float] | str | None:
    """Read ``age=0:110,bmi=10:60``, ``0:1`` (for all columns) or ``private``.

    >>> read_bounds("age=0:110, bmi=10:60")
    {'age': (0.0, 110.0), 'bmi': (10.0, 60.0)}
    >>> read_bounds("-1:1")
    (-1.0, 1.0)
    """
    if text is None or text == "private":
        return text
    if "=" not in text:
        return _range(text)
    bounds: dict[str, tuple[float, float]] = {}
    for part in text.split(","):
        name, _, rest = part.rpartition("=")
        name = name.strip()
        if not name or name in bounds:
            raise typer.BadParameter(f"{part!r}: give each column once, as name=lower:upper")
        bounds[name] = _range(rest)
    return bounds


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
