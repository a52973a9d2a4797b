"""Pictures of a released density: its modes and basins, its surface, its mode tree."""

from itertools import combinations
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from knoll.plots.style import (
    FAINT,
    INK,
    STYLE,
    both_in_terms,
    column_names,
    coordinate_kinds,
    footer,
    headline,
    palette,
    plain,
)

MOST_VALUES = 4  # of a mode beside its bar: more would leave no room for the bar
FEWEST_BARS = 5  # the panel has room for at least this many bars, so that a single one is not a block


def plot_modes(model: Any, title: str | None = None) -> Figure:
    """Draw the modes of a fitted `ModeSeeking`, and their significance.

    One or two columns: over the released density, with basins. More: in pairs of the three columns in which the modes
    differ most, with two standard errors.

    Parameters
    ----------
    model : fitted ModeSeeking
    title : str, optional
        Headline.

    Returns
    -------
    figure : matplotlib Figure
    """
    d = model.n_features_in_
    with matplotlib.rc_context(STYLE):
        if d > 2:
            figure = Figure(figsize=(11.5, 9.2), layout="constrained")
            *panels, right = figure.subplots(2, 2).ravel()
            _pairs(panels, model)
        else:
            figure = Figure(figsize=(11.5, 5.2), layout="constrained")
            left, right = figure.subplots(1, 2, width_ratios=(1.6, 1))
            (_line if d == 1 else _map)(left, model)
        _significance(right, model)
        _words(figure, model, title or f"{_count(model)} in the released density")
    return figure


def plot_surface(model: Any, title: str | None = None) -> Figure:
    """Draw the released density of two columns as a surface over contours, with the modes (the paper's Figure 2)."""
    x, y, z = density_mesh(model, 120)
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(8, 6.4), layout="constrained")
        axes: Any = figure.add_subplot(projection="3d")
        axes.plot_surface(x, y, z, cmap="viridis", rstride=2, cstride=2, linewidth=0, alpha=0.85)
        floor = -0.35 * float(z.max())
        low = min(3 * _noise(model), float(z.max()) / 2)
        levels = np.linspace(low, float(z.max()), 10)
        axes.contour(x, y, z, levels=levels, zdir="z", offset=floor, cmap="viridis", linewidths=0.8)
        modes = model.modes_
        axes.scatter(modes[:, 0], modes[:, 1], np.full(len(modes), floor), color="#d62728", marker="x", s=60)
        axes.scatter(modes[:, 0], modes[:, 1], _density(model, modes) * 1.02, color="#d62728", s=30, depthshade=False)
        names = column_names(model)
        axes.set(xlabel=names[0], ylabel=names[1], zlim=(floor, float(z.max()) * 1.05))
        axes.set_zlabel("density")
        _words(figure, model, title or f"{_count(model)}; crosses mark their places")
    return figure


def plot_mode_tree(model: Any, title: str | None = None) -> Figure:
    """Draw the significant modes at each bandwidth, all from one release."""
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(4.2 * min(2, model.n_features_in_) + 3.5, 5), layout="constrained")
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
        _words(figure, model, title or "Modes at every bandwidth, from one release")
    return figure


def _line(axes: Axes, model: Any) -> None:
    bounds = model.bounds_
    x = np.linspace(bounds.centre[0] - bounds.half[0], bounds.centre[0] + bounds.half[0], 600)
    density, error = model._shown.value(x[:, None]) / model._mass(model._shown), 2 * model.density_stderr()
    axes.fill_between(x, density - error, density + error, color="#1f77b4", alpha=0.2, lw=0)
    axes.plot(x, density, color="#1f77b4", lw=1.6)
    colours = palette(len(model.modes_))
    labels = model._basins_of(x[:, None])
    for i, mode in enumerate(model.modes_):
        axes.fill_between(x, 0, density, where=labels == i, color=colours[i], alpha=0.25, lw=0)
        axes.plot(mode[0], model.mode_heights_[i], "o", color=colours[i], ms=8, mec=INK)
    axes.set(xlabel=column_names(model)[0], ylabel="density")
    both_in_terms(axes, model, 0)
    axes.set_title("Density ± two standard errors of noise; colours: basins", loc="left", fontsize=11)


def _map(axes: Axes, model: Any) -> None:
    x, y, z = density_mesh(model, 160)
    colours = palette(len(model.modes_))
    if len(model.modes_):
        labels = model._basins_of(np.column_stack([x.ravel(), y.ravel()])).reshape(x.shape)
        labels = np.ma.masked_where(z < 3 * _noise(model), labels)  # no basin where the density is within the noise
        faint = matplotlib.colors.ListedColormap(colours[:, :3] * 0.25 + 0.75)
        axes.pcolormesh(x, y, labels, cmap=faint, vmin=-0.5, vmax=len(colours) - 0.5, shading="auto", rasterized=True)
    noise = _noise(model)
    levels = np.linspace(3 * noise, max(float(z.max()), 4 * noise), 9)
    axes.contour(x, y, z, levels=levels, colors=INK, linewidths=0.6)
    for i, mode in enumerate(model.modes_):
        error = np.where(np.isfinite(model.modes_stderr_[i]), 2 * model.modes_stderr_[i], 0.0)
        axes.errorbar(
            mode[0], mode[1], xerr=error[0], yerr=error[1], fmt="o", color=colours[i], ms=8, mec=INK, ecolor=INK
        )
    names = column_names(model)
    axes.set(xlabel=names[0], ylabel=names[1])
    both_in_terms(axes, model, 0, 1)
    axes.set_title("Contours above three times the noise; colours: basins", loc="left", fontsize=11)


def _pairs(panels: list[Axes], model: Any) -> None:
    """Modes with two standard errors, in pairs of the three columns in which they differ most, within the bounds."""
    bounds, modes, names = model.bounds_, model.modes_, column_names(model)
    low, high = bounds.centre - bounds.half, bounds.centre + bounds.half
    spread = np.std(modes / bounds.half, axis=0) if len(modes) else np.zeros(len(names))
    columns = sorted(np.argsort(-spread, kind="stable")[:3].tolist())
    colours = palette(len(modes))
    for axes, (i, j) in zip(panels, combinations(columns, 2), strict=True):
        for mode, error, colour in zip(modes, model.modes_stderr_, colours, strict=False):
            bar = np.where(np.isfinite(error), 2 * error, 0.0)
            axes.errorbar(mode[i], mode[j], xerr=bar[i], yerr=bar[j], fmt="o", color=colour, ms=8, mec=INK, ecolor=INK)
        axes.set(xlabel=names[i], ylabel=names[j], xlim=(low[i], high[i]), ylim=(low[j], high[j]))
        both_in_terms(axes, model, i, j)
    panels[0].set_title("Modes ± two standard errors; frame: the bounds", loc="left", fontsize=11)


def _significance(axes: Axes, model: Any) -> None:
    sure, colours = model.mode_significance_, palette(len(model.modes_))
    place = np.arange(len(sure))
    axes.barh(place, sure, color=colours[: len(sure)], edgecolor=INK, linewidth=0.6)
    axes.axvline(model.threshold_, color="#d62728", lw=1.2, ls="--")
    axes.set_yticks(place, [_place(mode, coordinate_kinds(model)) for mode in model.modes_])
    axes.set_ylim(max(len(sure), FEWEST_BARS) - 0.5, -0.5)
    axes.set_xlabel("height above the saddle, in standard errors")
    words = "Significance (dashed: threshold)" if len(sure) else "No significant mode"
    axes.set_title(words, loc="left", fontsize=11)


def density_mesh(model: Any, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a mesh of the bounds of two columns, and the released density on it."""
    bounds = model.bounds_
    low, high = bounds.centre - bounds.half, bounds.centre + bounds.half
    x, y = np.meshgrid(np.linspace(low[0], high[0], n), np.linspace(low[1], high[1], n), indexing="ij")
    return x, y, _density(model, np.column_stack([x.ravel(), y.ravel()])).reshape(x.shape)


def _density(model: Any, points: np.ndarray) -> np.ndarray:
    """The density at the bandwidth that shows the modes and their basins: smoother than that of least error."""
    return model.series_.value(points) / model._mass(model.series_)


def _noise(model: Any) -> float:
    return model.series_.noise / model._mass(model.series_)


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


def _words(figure: Figure, model: Any, head: str) -> None:
    headline(figure, head)
    footer(figure, model.privacy_)
