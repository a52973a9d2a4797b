"""A picture of a profile: a histogram or the shares of levels of every column."""

import math
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from knoll.plots.style import INK, in_terms, picture, plain

_MOST_PANELS = 40  # columns that are drawn
_MOST_BARS = 12  # levels of a category
_WORDS = "Bands and bars: two standard errors of what privacy changes. Dotted: the median."
_FILL, _BAND = "#8fb8de", "#2b6cb0"


def plot_profile(profile: Any, title: str | None = None) -> Figure:
    """Draw every column of a fitted profile, up to 40: its histogram with two standard errors, or shares of levels.

    Parameters
    ----------
    profile : Profile
        A fitted profile.
    title : str, optional
        Headline; by default how many records and columns there are.
    """
    table = profile.summary(None)
    names, kinds = table["column"], table["kind"]
    held = [kind for _, kind in profile.columns_] if hasattr(profile, "columns_") else [None] * len(names)
    shown = names[:_MOST_PANELS]
    across = min(4, len(shown))
    down = math.ceil(len(shown) / across)
    more = f" The first {_MOST_PANELS} columns are drawn." if len(names) > len(shown) else ""
    size = 3.6 * across + 0.4, 2.5 * down + 1.1
    with picture(size, title or profile.headline, profile.privacy_, f"{_WORDS}{more}") as figure:
        panels = np.atleast_1d(figure.subplots(down, across, squeeze=False).ravel())
        for j, (axes, name) in enumerate(zip(panels, shown, strict=False)):
            if kinds[j] in ("category", "boolean", "ordered"):
                _draw_levels(axes, profile.histogram(name, None), in_order=kinds[j] == "ordered")
            else:
                _draw_cells(axes, profile, j)
                (_in_turns if kinds[j] == "cyclic" else in_terms)(axes, "x", held[j])
                axes.tick_params(labelsize=8.5)
            missing, error = profile.missing_shares_[j], profile.missing_shares_stderr_[j]
            gap = f", {100 * missing:.1f} % missing" if missing >= max(5e-4, 2 * error) else ""
            axes.set_title(plain(name) + gap, loc="left", fontsize=11)
        for axes in panels[len(shown) :]:
            axes.set_visible(False)
    return figure


def _draw_cells(axes: Axes, profile: Any, j: int) -> None:
    """Draw the density of a column as steps, with a band of two standard errors, and its median."""
    edges, share, error = profile.drawn(j)
    width = np.diff(edges)
    density, noise = share / width, 2 * error / width
    low, high = np.maximum(density - noise, 0.0), density + noise
    axes.stairs(density, edges, fill=True, color=_FILL, alpha=0.7)
    band = np.append(low, low[-1]), np.append(high, high[-1])
    axes.fill_between(edges, *band, step="post", color=_BAND, alpha=0.25, lw=0)
    which = profile.cells_[:, 0] == j
    ends = np.append(profile.cells_[which, 1], profile.cells_[which, 2][-1:])
    axes.axvline(np.interp(0.5, np.append(0.0, np.cumsum(profile.cell_shares_[which])), ends), color=INK, lw=1, ls=":")
    axes.set_xlim(edges[0], edges[-1])
    axes.set_ylim(0, 1.25 * density.max())
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)


def _in_turns(axes: Axes, side: str, kind: Any) -> None:
    """Write the ticks of a circle's histogram, which is drawn in turns, in the terms of the column: hours, months."""
    start, period = float(kind.start), float(kind.period)
    ticks = MaxNLocator(6, steps=[1, 2, 3, 4, 5, 6, 10]).tick_values(start, start + period)
    inside = [each for each in ticks if start <= each <= start + period]
    axes.set_xticks([(each - start) / period for each in inside], [f"{each:g}" for each in inside])


def _draw_levels(axes: Axes, found: dict[str, list[Any]], *, in_order: bool) -> None:
    """Draw the largest shares as bars, with two standard errors."""
    share, error = np.array(found["share"]), np.array(found["share ±"])
    few = in_order and len(share) <= _MOST_BARS
    top = np.arange(len(share)) if few else np.argsort(-share, kind="stable")[:_MOST_BARS]
    at = np.arange(len(top))[::-1]
    axes.barh(at, share[top], color=_FILL, height=0.7)
    axes.errorbar(share[top], at, xerr=2 * error[top], fmt="none", ecolor=_BAND, elinewidth=1.2)
    axes.set_yticks(at, [plain(found["level"][i])[:18] for i in top], fontsize=8.5)
    axes.set_xlim(0, None)
    axes.xaxis.set_major_formatter(lambda value, _: f"{100 * value:g} %")
    axes.tick_params(axis="x", labelsize=8.5)
    axes.locator_params(axis="x", nbins=5)
    if len(share) > len(top):
        axes.set_xlabel(f"and {len(share) - len(top)} more levels", fontsize=8.5)
