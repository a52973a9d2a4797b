"""The frame of every picture: its ink and colours, the names of columns, the headline and the budget below."""

from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.dates import AutoDateLocator, ConciseDateFormatter
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator

INK, FAINT, WARNING = "#22303c", "#c9d1d8", "#a00"
STYLE: dict[Any, Any] = {
    "axes.spines.top": False, "axes.spines.right": False, "axes.edgecolor": FAINT, "axes.labelcolor": INK,
    "text.color": INK, "xtick.color": INK, "ytick.color": INK, "font.size": 10,
}  # fmt: skip


def plain(name: object) -> str:
    """A name as it is, without dollars that would start mathematics."""
    return str(name).replace("$", r"\$")


def column_names(model: Any) -> list[str]:
    """Names of a fitted model's columns, or x0, x1, ... if it has none."""
    if hasattr(model, "columns_"):
        return [plain(name) for name in model.bounds_.names]
    return [plain(name) for name in getattr(model, "feature_names_in_", [f"x{j}" for j in range(model.n_features_in_)])]


def coordinate_kinds(model: Any) -> list[Any]:
    """The kind of column behind every coordinate of a fitted model; None where bounds are plain numbers."""
    if not hasattr(model, "columns_"):
        return [None] * len(column_names(model))
    pairs = zip(model.columns_, model.bounds_.slices, strict=True)
    return [kind for (_, kind), where in pairs for _ in range(where.start, where.stop)]


def in_terms(axes: Axes, side: str, kind: Any) -> None:
    """Write the ticks of an axis of encoded values in the user's terms. Call it once its limits are set.

    Parameters
    ----------
    axes : Axes
        The panel.
    side : {"x", "y"}
        Which axis.
    kind : Kind or None
        What the column holds: dates become dates, logarithms amounts, shares percents, places in a list levels.
    """
    axis: Any = axes.xaxis if side == "x" else axes.yaxis
    word = getattr(kind, "word", "number")
    if word == "date":
        locator = AutoDateLocator(minticks=3, maxticks=8)  # type: ignore[no-untyped-call]
        axis.axis_date()
        axis.set_major_locator(locator)
        axis.set_major_formatter(ConciseDateFormatter(locator))  # type: ignore[no-untyped-call]
    elif word == "log":
        axis.set_major_locator(FixedLocator(_amounts(*sorted(axis.get_view_interval()))))
        axis.set_major_formatter(lambda value, _: amount_text(2.0**value))
    elif word == "ordered":
        levels = [plain(level)[:18] for level in kind.keys]
        axis.set_major_locator(FixedLocator(list(range(0, len(levels), 1 + len(levels) // 10))))
        axis.set_major_formatter(lambda value, _: levels[round(value)])
    elif word == "boolean" or (kind is not None and kind.part[0] == "corners"):
        axis.set_major_formatter(lambda value, _: f"{100 * value:g} %")
    elif word == "whole":  # years have no thousands mark, and no year has a half
        axis.get_major_locator().set_params(integer=True)


def both_in_terms(axes: Axes, model: Any, first: int, second: int | None = None) -> None:
    """Write the ticks of a panel in the terms of two coordinates of a model, or of one across."""
    kinds = coordinate_kinds(model)
    in_terms(axes, "x", kinds[first])
    if second is not None:
        in_terms(axes, "y", kinds[second])


def _amounts(low: float, high: float, most: int = 6) -> list[float]:
    """Return logarithms of base two of round amounts between two such logarithms: of 1, 2, 5, or of powers of ten."""
    tens = range(int(np.floor(low * np.log10(2))), int(np.ceil(high * np.log10(2))) + 1)
    for digits in ((1, 2, 5), (1, 3), (1,)):
        found = [float(np.log2(digit * 10.0**ten)) for ten in tens for digit in digits]
        inside = [each for each in found if low <= each <= high]
        if len(inside) <= most:
            break
    return inside[:: 1 + (len(inside) - 1) // most]


def amount_text(amount: float) -> str:
    """Return an amount as a tick has it.

    >>> amount_text(1023.9999999), amount_text(0.05), amount_text(2e9)
    ('1,024', '0.05', '2e+09')
    """
    return f"{amount:,.0f}" if 100 <= amount < 1e8 else f"{amount:.3g}"


def palette(n: int) -> np.ndarray:
    """Return n colours, one at least."""
    return matplotlib.colormaps["tab10" if n <= 10 else "turbo"](np.linspace(0, 1, max(n, 10)))[: max(n, 1)]


def two_columns(values: np.ndarray, half: np.ndarray) -> tuple[int, int | None]:
    """The two columns in which points differ most, measured by their bounds, in their own order."""
    spread = np.std(values / half, axis=0)
    if len(spread) == 1:
        return 0, None
    first, second = sorted(np.argsort(-spread, kind="stable")[:2].tolist())
    return first, second


def widest_columns(values: np.ndarray, bounds: Any) -> tuple[int, int | None]:
    """The two columns in which points of a domain differ most; of numbers, if there are two such columns."""
    lines = getattr(bounds, "on_lines", [])
    if len(lines) < 2:
        return two_columns(values, bounds.half)
    first, second = two_columns(values[:, lines], bounds.half[lines])
    return lines[first], None if second is None else lines[second]


def headline(figure: Figure, text: str) -> None:
    """Write what a picture shows above it."""
    figure.suptitle(text, x=0.01, ha="left", fontsize=14, fontweight="bold")


def footer(figure: Figure, privacy: Any, note: str = "", *, budget: bool = True) -> None:
    """Write the budget and a note below a picture; or, if its values are not private, that they are not."""
    spent = f"epsilon = {privacy.epsilon:g}, delta = {privacy.delta:g}, {privacy.relation}." if budget else ""
    text = privacy.warning or f"{spent} {note}".strip()
    figure.supxlabel(text, x=0.01, ha="left", fontsize=9, color=WARNING if privacy.warning else INK)
