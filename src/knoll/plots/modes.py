"""Pictures of the modes of a released density: with their basins, as a surface, as a mode tree."""

from itertools import combinations
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke

from knoll.maps import map_pairs
from knoll.plots.density import density_at, density_mesh, draw_line, first_two, noise_of
from knoll.plots.style import (
    FAINT,
    INK,
    MapAsked,
    both_in_terms,
    column_names,
    coordinate_kinds,
    palette,
    picture,
    plain,
)

MOST_VALUES = 4  # of a mode beside its bar: more would leave no room for the bar
FEWEST_BARS = 5  # the panel has room for at least this many bars, so that a single one is not a block


def plot_modes(model: Any, title: str | None = None, *, map: MapAsked = None) -> Figure:
    """Draw the modes of a fitted `ModeSeeking`, and their significance.

    One or two columns: over the released density, with basins. More: in pairs of the three columns in which the modes
    differ most, with two standard errors.

    Parameters
    ----------
    model : fitted ModeSeeking
    title : str, optional
        Headline.
    map : pair of str or bool, optional
        Columns of longitudes and latitudes, as in `plot_clusters`.

    Returns
    -------
    figure : matplotlib Figure
    """
    d = model.n_features_in_
    head = title or f"{_count(model)} in the released density"
    with picture((11.5, 9.2 if d > 2 else 5.2), head, model.privacy_) as figure:
        if d > 2:
            *panels, right = figure.subplots(2, 2).ravel()
            _pairs(panels, model, map)
        else:
            left, right = figure.subplots(1, 2, width_ratios=(1.6, 1))
            released = bool(model.features_.any() or len(model.frame_) > 1)
            draw = _places if not released else _line if d == 1 else _map
            draw(left, model, map)
        _significance(right, model)
    return figure


def plot_surface(model: Any, title: str | None = None) -> Figure:
    """Draw the released density of two columns as a surface over contours, with the modes (the paper's Figure 2)."""
    x, y, z = density_mesh(model, 120)
    with picture((8, 6.4), title or f"{_count(model)}; crosses mark their places", model.privacy_) as figure:
        axes: Any = figure.add_subplot(projection="3d")
        axes.plot_surface(x, y, z, cmap="viridis", rstride=2, cstride=2, linewidth=0, alpha=0.85)
        floor = -0.35 * float(z.max())
        low = min(3 * noise_of(model), float(z.max()) / 2)
        levels = np.linspace(low, float(z.max()), 10)
        axes.contour(x, y, z, levels=levels, zdir="z", offset=floor, cmap="viridis", linewidths=0.8)
        modes = model.modes_
        axes.scatter(modes[:, 0], modes[:, 1], np.full(len(modes), floor), color="#d62728", marker="x", s=60)
        axes.scatter(modes[:, 0], modes[:, 1], density_at(model, modes) * 1.02, color="#d62728", s=30, depthshade=False)
        names = column_names(model)
        axes.set(xlabel=names[0], ylabel=names[1], zlim=(floor, float(z.max()) * 1.05))
        axes.set_zlabel("density")
    return figure


def plot_mode_tree(model: Any, title: str | None = None) -> Figure:
    """Draw the significant modes at each bandwidth, all from one release."""
    size = 4.2 * min(2, model.n_features_in_) + 3.5, 5.0
    with picture(size, title or "Modes at every bandwidth, from one release", model.privacy_) as figure:
        panels = figure.subplots(1, min(2, model.n_features_in_), squeeze=False)[0]
        for view in model.mode_tree():
            h, sure, points = view.series.bandwidth, view.significance, view.peaks.points
            for j, axes in enumerate(panels):
                level = np.full(len(points), h[j])
                size = np.clip(sure, 0, 20) * 3
                clear = view.stands_out
                axes.scatter(points[~clear, j], level[~clear], s=4, color=FAINT, zorder=1)
                axes.scatter(points[clear, j], level[clear], s=size[clear], color="#1f77b4", zorder=2)
        for j, axes in enumerate(panels):
            axes.axhline(model.bandwidth_[j], color="#d62728", lw=1, ls="--")
            axes.set(xlabel=column_names(model)[j], ylabel="bandwidth" if j == 0 else "", yscale="log")
            both_in_terms(axes, model, j)
        panels[0].set_title("Blue: significant (by size). Grey: noise. Dashed: chosen.", loc="left", fontsize=10)
    return figure


def _line(axes: Axes, model: Any, map: MapAsked) -> None:
    x, density = draw_line(axes, model)
    colours = palette(len(model.modes_))
    labels = model._basins_of(x[:, None])
    for i, mode in enumerate(model.modes_):
        axes.fill_between(x, 0, density, where=labels == i, color=colours[i], alpha=0.25, lw=0)
        axes.plot(mode[0], model.mode_heights_[i], "o", color=colours[i], ms=8, mec=INK)
    axes.set_title("Density ± two standard errors of noise; colours: basins", loc="left", fontsize=11)


def _map(axes: Axes, model: Any, map: MapAsked) -> None:
    across, up = first_two(model, map)
    x, y, z = density_mesh(model, 160, (across, up))
    colours = palette(len(model.modes_))
    noise = noise_of(model)
    if len(model.modes_):
        points = np.column_stack([x.ravel(), y.ravel()])[:, [across, up]]
        labels = model._basins_of(points).reshape(x.shape)
        labels = np.ma.masked_where(z < 3 * noise, labels)  # no basin where the density is within the noise
        faint = matplotlib.colors.ListedColormap(colours[:, :3] * 0.25 + 0.75)
        axes.pcolormesh(x, y, labels, cmap=faint, vmin=-0.5, vmax=len(colours) - 0.5, shading="auto", rasterized=True)
    levels = np.linspace(3 * noise, max(float(z.max()), 4 * noise), 9)
    axes.contour(x, y, z, levels=levels, colors=INK, linewidths=0.6)
    for i, mode in enumerate(model.modes_):
        _mark(axes, i, mode[[across, up]], model.modes_stderr_[i, [across, up]], colours[i])
    names = column_names(model)
    axes.set(xlabel=names[across], ylabel=names[up])
    both_in_terms(axes, model, across, up, map)
    axes.set_title("Contours above three times the noise; colours: basins", loc="left", fontsize=11)


def _places(axes: Axes, model: Any, map: MapAsked) -> None:
    """Draw modes alone, within the bounds: a search step by step releases no density."""
    bounds, names, colours = model.bounds_, column_names(model), palette(len(model.modes_))
    across, up = first_two(model, map) if len(names) == 2 else (0, None)
    low, high = bounds.centre - bounds.half, bounds.centre + bounds.half
    for i, (mode, error) in enumerate(zip(model.modes_, model.modes_stderr_, strict=True)):
        sides = [mode[across], 0.0 if up is None else mode[up]], [error[across], 0.0 if up is None else error[up]]
        _mark(axes, i, np.array(sides[0]), np.array(sides[1]), colours[i])
    axes.set(xlabel=names[across], xlim=(low[across], high[across]))
    if up is None:
        axes.set(yticks=[], ylim=(-1, 1))
    else:
        axes.set(ylabel=names[up], ylim=(low[up], high[up]))
    both_in_terms(axes, model, across, up, map)
    axes.set_title("Modes ± two standard errors; frame: the bounds", loc="left", fontsize=11)


def _mark(axes: Axes, i: int, at: np.ndarray, error: np.ndarray, colour: Any) -> None:
    """Draw a mode with two standard errors and its number."""
    bar = np.where(np.isfinite(error), 2 * error, 0.0)
    axes.errorbar(at[0], at[1], xerr=bar[0], yerr=bar[1], fmt="o", color=colour, ms=8, mec=INK, ecolor=INK)
    stroke = [withStroke(linewidth=2.5, foreground="#ffffff")]
    axes.annotate(
        str(i), (at[0], at[1]), (6, 5), textcoords="offset points", fontsize=8.5, zorder=5, path_effects=stroke
    )


def _pairs(panels: list[Axes], model: Any, map: MapAsked) -> None:
    """Modes with two standard errors, in pairs of the three columns in which they differ most, within the bounds."""
    bounds, modes, names = model.bounds_, model.modes_, column_names(model)
    low, high = bounds.centre - bounds.half, bounds.centre + bounds.half
    spread = np.std(modes / bounds.half, axis=0) if len(modes) else np.zeros(len(names))
    widest = np.argsort(-spread, kind="stable").tolist()
    columns = sorted(widest[:3])
    if pairs := map_pairs(model, map):
        columns = [*pairs[0], *(j for j in widest if j not in pairs[0])][:3]
    colours = palette(len(modes))
    for axes, (i, j) in zip(panels, combinations(columns, 2), strict=True):
        for k, (mode, error) in enumerate(zip(modes, model.modes_stderr_, strict=True)):
            _mark(axes, k, mode[[i, j]], error[[i, j]], colours[k])
        axes.set(xlabel=names[i], ylabel=names[j], xlim=(low[i], high[i]), ylim=(low[j], high[j]))
        both_in_terms(axes, model, i, j, map)
    panels[0].set_title("Modes ± two standard errors; frame: the bounds", loc="left", fontsize=11)


def _significance(axes: Axes, model: Any) -> None:
    sure, colours = model.mode_significance_, palette(len(model.modes_))
    place = np.arange(len(sure))
    axes.barh(place, sure, color=colours[: len(sure)], edgecolor=INK, linewidth=0.6)
    axes.axvline(model.threshold_, color="#d62728", lw=1.2, ls="--")
    axes.set_yticks(place, [f"{i}: {_place(mode, coordinate_kinds(model))}" for i, mode in enumerate(model.modes_)])
    axes.set_ylim(max(len(sure), FEWEST_BARS) - 0.5, -0.5)
    axes.set_xlabel("height above the saddle, in standard errors")
    words = "Significance (dashed: threshold)" if len(sure) else "No significant mode"
    axes.set_title(words, loc="left", fontsize=11)


def _place(mode: np.ndarray, kinds: list[Any]) -> str:
    """The place of a mode in words: dates as dates, amounts of logarithms as amounts."""
    words = [_value(value, kind) for value, kind in zip(mode.tolist(), kinds, strict=True)]
    words = words if len(words) <= MOST_VALUES else [*words[:MOST_VALUES], "..."]
    return words[0] if len(words) == 1 else f"({', '.join(words)})"


def _value(value: float, kind: Any) -> str:
    word = getattr(kind, "word", "number")
    if word in ("date", "ordered"):
        return plain(kind.decode(np.array([value]))[0])
    value = float(kind.decode(np.array([value]))[0]) if word == "log" else value
    return f"{value:z,.{0 if abs(value) >= 1e3 else 2}f}" if abs(value) < 1e9 else f"{value:.4g}"


def _count(model: Any) -> str:
    n = len(model.modes_)
    return "No significant mode" if n == 0 else "One mode" if n == 1 else f"{n} modes"
