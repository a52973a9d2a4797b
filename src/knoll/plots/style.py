"""The frame of every picture: its ink and colours, the names of columns, the headline and the budget below."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.dates import AutoDateLocator, ConciseDateFormatter
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from matplotlib.ticker import FixedLocator, MaxNLocator

from knoll.maps import DEGREE, degrees_text, map_pairs, widening

MapAsked = tuple[str, str] | bool | None  # which columns are longitude and latitude; None: as their names say
_WIDEST_SCALE = 15.0  # degrees of latitude of a map that has a scale
INK, FAINT, WARNING = "#22303c", "#c9d1d8", "#a00"
STYLE: dict[Any, Any] = {
    "axes.spines.top": False, "axes.spines.right": False, "axes.edgecolor": FAINT, "axes.labelcolor": INK,
    "text.color": INK, "xtick.color": INK, "ytick.color": INK, "font.size": 10,
}  # fmt: skip


@contextmanager
def picture(size: tuple[float, float], head: str, privacy: Any = None, note: str = "") -> Iterator[Figure]:
    """Give a figure to draw in, with our ink; the headline above it, and the budget and a note below.

    Parameters
    ----------
    size : pair of float
        Inches across and up.
    head : str
        What the picture shows.
    privacy : privacy statement, optional
        What its values cost; None if they cost nothing, or if the caller writes a footer of its own.
    note : str
        What the marks mean.
    """
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=size, layout="constrained")
        headline(figure, head)
        if privacy is not None:
            footer(figure, privacy, note)
        yield figure


def titled(privacy: Any, words: str) -> str:
    """Return a headline: the name of the data, if it has one, and what was found in it."""
    return f"{plain(privacy.dataset)}: {words}" if privacy.is_named else words


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


def both_in_terms(axes: Axes, model: Any, first: int, second: int | None = None, map: MapAsked = None) -> None:
    """Write the ticks of a panel in the terms of two coordinates of a model, or of one across; make maps of degrees."""
    if (first, second) in map_pairs(model, map):
        as_map(axes)
        return
    kinds = coordinate_kinds(model)
    in_terms(axes, "x", kinds[first])
    if second is not None:
        in_terms(axes, "y", kinds[second])


def as_map(axes: Axes) -> None:
    """Make a panel of longitudes across and latitudes up a map: lengths the same in both, a graticule, a scale."""
    west, east = axes.get_xlim()
    south, north = axes.get_ylim()
    wide = widening((south + north) / 2)
    axes.set_aspect(wide, adjustable="box")
    for axis, side in ((axes.xaxis, "longitude"), (axes.yaxis, "latitude")):
        axis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
        axis.set_major_formatter(_degrees(side))
    axes.grid(color=FAINT, lw=0.6, zorder=0)
    axes.set_axisbelow(True)
    for spine in axes.spines.values():
        spine.set_visible(True)
    if north - south > _WIDEST_SCALE:  # a kilometre is not the same length everywhere on such a map
        return
    kilometres = round_length((east - west) / wide * DEGREE / 4)
    start, end = west + 0.04 * (east - west), west + 0.04 * (east - west) + kilometres / DEGREE * wide
    height = south + 0.045 * (north - south)
    stroke = [withStroke(linewidth=3, foreground="#ffffff")]
    axes.plot([start, end], [height, height], color=INK, lw=2, solid_capstyle="butt", zorder=5, path_effects=stroke)
    axes.annotate(
        f"{kilometres:g} km", ((start + end) / 2, height), (0, 3), textcoords="offset points", ha="center", fontsize=8,
        zorder=5, path_effects=stroke,
    )  # fmt: skip


def _degrees(side: str) -> Callable[[float, Any], str]:
    """Return what writes the ticks of longitudes or latitudes."""
    return lambda value, _: degrees_text(value, side)


def round_length(length: float) -> float:
    """Return the largest of 1, 2, 5, 10, 20, ... that is not longer.

    >>> round_length(7.3), round_length(0.3)
    (5.0, 0.2)
    """
    power = 10.0 ** np.floor(np.log10(length))
    return float(power * max(digit for digit in (1, 2, 5) if digit * power <= length * (1 + 1e-9)))


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


def widest_columns(model: Any, values: np.ndarray, map: MapAsked = None) -> tuple[int, int | None]:
    """Longitude and latitude, if there are such columns; or the two in which points differ most, of numbers if any."""
    bounds = model.bounds_
    if pairs := map_pairs(model, map):
        return pairs[0]
    lines = getattr(bounds, "on_lines", [])
    if len(lines) < 2:
        return two_columns(values, bounds.half)
    first, second = two_columns(values[:, lines], bounds.half[lines])
    return lines[first], None if second is None else lines[second]


def headline(figure: Figure, text: str, colour: str = INK) -> None:
    """Write what a picture shows above it."""
    figure.suptitle(text, x=0.01, ha="left", fontsize=14, fontweight="bold", color=colour)


def footer(figure: Figure, privacy: Any, note: str = "", *, budget: bool = True) -> None:
    """Write the budget and a note below a picture; or, if its values are not private, that they are not."""
    spent = f"epsilon = {privacy.epsilon:g}, delta = {privacy.delta:g}, {privacy.relation}." if budget else ""
    text = privacy.warning or f"{spent} {note}".strip()
    figure.supxlabel(text, x=0.01, ha="left", fontsize=9, color=WARNING if privacy.warning else INK)
