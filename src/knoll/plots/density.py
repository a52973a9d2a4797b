"""Pictures of a released density: a curve, contours or, of many columns, rows drawn from it."""

from itertools import combinations
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from knoll.maps import map_pairs
from knoll.plots.style import MapAsked, both_in_terms, column_names, picture, titled

_ROWS = 3_000  # drawn from the density of three or more columns
_BLUE = "#1f77b4"
_LINE_WORDS = "Band: two standard errors of privacy noise."
_ROWS_WORDS = f"{_ROWS:,} synthetic rows, drawn from the released density; no record is shown."


def plot_density(model: Any, title: str | None = None, *, map: MapAsked = None) -> Figure:
    """Draw a fitted `KernelDensity` from its released values alone.

    One column: the density with two standard errors of noise. Two: contours above three times the noise. More: rows
    drawn from the density, in pairs of the first three columns.

    Parameters
    ----------
    model : fitted KernelDensity
    title : str, optional
        Headline.
    map : pair of str or bool, optional
        Columns of longitudes and latitudes, as in `plot_clusters`.

    Returns
    -------
    figure : matplotlib Figure
    """
    d = model.n_features_in_
    head = title or titled(model.privacy_, "the released density")
    note = _LINE_WORDS if d == 1 else _ROWS_WORDS if d > 2 else "Contours above three times the noise."
    with picture((12, 4.6) if d > 2 else (8, 5.4), head, model.privacy_, note) as figure:
        if d > 2:
            _draw_rows(figure, model, map)
        elif d == 2:
            _draw_contours(figure.subplots(), model, map)
        else:
            draw_line(figure.subplots(), model)
    return figure


def draw_line(axes: Axes, model: Any) -> tuple[np.ndarray, np.ndarray]:
    """Draw the density of one column with a band of two standard errors of noise; return its points."""
    bounds, shown = model.bounds_, model._shown
    x = np.linspace(bounds.centre[0] - bounds.half[0], bounds.centre[0] + bounds.half[0], 600)
    density, error = shown.value(x[:, None]) / model._mass(shown), 2 * model.density_stderr()
    axes.fill_between(x, density - error, density + error, color=_BLUE, alpha=0.2, lw=0)
    axes.plot(x, density, color=_BLUE, lw=1.6)
    axes.set(xlabel=column_names(model)[0], ylabel="density")
    both_in_terms(axes, model, 0)
    return x, density


def _draw_contours(axes: Axes, model: Any, map: MapAsked) -> None:
    across, up = first_two(model, map)
    x, y, z = density_mesh(model, 160, (across, up))
    noise = noise_of(model)
    levels = np.linspace(3 * noise, max(float(z.max()), 4 * noise), 12)
    axes.contourf(x, y, z, levels=levels, cmap="Blues")
    axes.contour(x, y, z, levels=levels, colors=_BLUE, linewidths=0.5)
    names = column_names(model)
    axes.set(xlabel=names[across], ylabel=names[up])
    both_in_terms(axes, model, across, up, map)


def _draw_rows(figure: Figure, model: Any, map: MapAsked) -> None:
    """Draw synthetic rows in pairs of columns: longitude and latitude first, if there are such."""
    names, bounds = column_names(model), model.bounds_
    low, high = bounds.centre - bounds.half, bounds.centre + bounds.half
    first = list(map_pairs(model, map)[:1])
    columns = [*(first[0] if first else ()), *(j for j in range(len(names)) if not first or j not in first[0])][:3]
    rows = np.asarray(model.sample(_ROWS, random_state=0))
    for axes, (i, j) in zip(figure.subplots(1, 3), combinations(columns, 2), strict=True):
        axes.scatter(rows[:, i], rows[:, j], s=4, color=_BLUE, alpha=0.25, lw=0, rasterized=True)
        axes.set(xlabel=names[i], ylabel=names[j], xlim=(low[i], high[i]), ylim=(low[j], high[j]))
        both_in_terms(axes, model, i, j, map)


def first_two(model: Any, map: MapAsked = None) -> tuple[int, int]:
    """Return the columns across and up of a model of two columns: longitude is across."""
    return next(iter(map_pairs(model, map)), (0, 1))


def density_mesh(model: Any, n: int, order: tuple[int, int] = (0, 1)) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a mesh of the bounds of two columns, across and up, and the released density on it."""
    bounds = model.bounds_
    low, high = bounds.centre - bounds.half, bounds.centre + bounds.half
    x, y = np.meshgrid(*(np.linspace(low[j], high[j], n) for j in order), indexing="ij")
    points = np.column_stack([x.ravel(), y.ravel()])[:, list(order)]  # the order of two is its own inverse
    return x, y, density_at(model, points).reshape(x.shape)


def density_at(model: Any, points: np.ndarray) -> np.ndarray:
    """Return the density at the bandwidth that shows modes and basins: smoother than that of least error."""
    return model.series_.value(points) / model._mass(model.series_)


def noise_of(model: Any) -> float:
    """Return the standard error of that density's noise."""
    return model.series_.noise / model._mass(model.series_)
