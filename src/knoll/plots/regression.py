"""Pictures of modal regression: curves over one predictor; a map and slices over two."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from knoll.plots.density import density_mesh
from knoll.plots.style import FAINT, both_in_terms, column_names, headline, picture

_SLICES = (0.25, 0.5, 0.75)  # of the second predictor's bounds, from below
_MESH, _MAP = 120, 48  # points along the predictor of a curve; along each predictor of a map
_LONGEST_BAR = 0.2  # of the height of the picture: a longer error bar would hide the others
_CURVE = "#d62728"
FEW_WORDS = "Hollow: few records near (less than a tenth of what is typical), which may be mistakes."


def plot_regression(model: Any, title: str | None = None) -> Figure:
    """Draw the significant conditional modes of a `ModalRegression` with one or two predictors.

    Nothing is drawn where no mode is significant; hollow marks stand where there are few records. Bars are two standard
    errors (privacy noise and sampling). With two predictors: a map of the most significant mode, and slices.

    Parameters
    ----------
    model : fitted ModalRegression
    title : str, optional
        Headline.

    Returns
    -------
    figure : matplotlib Figure
    """
    if model.n_features_in_ not in (2, 3):
        raise ValueError(f"curves are drawn over one or two predictors; this model has {model.n_features_in_ - 1}")
    names = column_names(model)
    draw, size = (_over_one, (8.6, 5.4)) if len(names) == 2 else (_over_two, (12, 6.4))
    with picture(size, title or "", model.privacy_, FEW_WORDS) as figure:
        seen = draw(figure, model, names)
        given = " and ".join(names[:-1])
        headline(figure, title or f"Modes of {names[-1]} given {given}; clear at {seen:.0%} of {given}")
    return figure


def _over_one(figure: Figure, model: Any, names: list[str]) -> float:
    """Draw curves over the released density; return the share of the predictor where there are any."""
    axes = figure.subplots()
    x, y, z = density_mesh(model, 160)
    shade = axes.pcolormesh(x, y, np.maximum(z, 0), cmap="Blues", shading="auto", rasterized=True)
    figure.colorbar(shade, ax=axes, label="released density")
    curves = model.curves(_MESH)
    _draw(axes, curves, 0, float(np.ptp(y)))
    axes.set(xlabel=names[0], ylabel=names[1])
    both_in_terms(axes, model, 0, 1)
    return _seen(curves)


def _over_two(figure: Figure, model: Any, names: list[str]) -> float:
    """Draw a map of the most significant mode, and curves at three values of the second predictor."""
    low, high = model.bounds_.centre - model.bounds_.half, model.bounds_.centre + model.bounds_.half
    sides: Any = figure.subfigures(1, 2, width_ratios=(1.15, 1))
    left, right = sides
    axes = left.subplots()
    first, second = (np.linspace(low[j], high[j], _MAP) for j in (0, 1))
    x, y = np.meshgrid(first, second, indexing="ij")
    curves = model.curves(np.column_stack([x.ravel(), y.ravel()]))
    height = np.full(x.size, np.nan)
    order = np.argsort(curves.significance, kind="stable")  # the most significant is written last
    order = order[~curves.few[order]]
    height[curves.row[order]] = curves.y[order]
    axes.set_facecolor(FAINT)
    shade = axes.pcolormesh(x, y, height.reshape(x.shape), cmap="viridis", shading="auto", rasterized=True)
    left.colorbar(shade, ax=axes, label=names[2])
    axes.set(xlabel=names[0], ylabel=names[1])
    both_in_terms(axes, model, 0, 1)
    axes.set_title("Most significant mode (grey: none, or few records)", loc="left", fontsize=11)
    for panel, part in zip(right.subplots(len(_SLICES), 1, sharex=True, sharey=True), _SLICES[::-1], strict=True):
        at = low[1] + part * (high[1] - low[1])
        line = np.column_stack([np.linspace(low[0], high[0], _MESH), np.full(_MESH, at)])
        _draw(panel, model.curves(line), 0, float(high[2] - low[2]))
        panel.set(ylabel=names[2], xlim=(low[0], high[0]), ylim=(low[2], high[2]))
        both_in_terms(panel, model, 0, 2)
        panel.set_title(f"{names[1]} = {at:.4g}", loc="left", fontsize=10)
    panel.set_xlabel(names[0])
    return _seen(curves)


def _draw(axes: Axes, curves: Any, column: int, height: float) -> None:
    """Draw the modes along one predictor: full where there are records, hollow and faint where there are few."""
    error = np.minimum(2 * curves.stderr, _LONGEST_BAR * height)
    at = curves.x[curves.row, column]
    faint: dict[str, Any] = {"mfc": "none", "alpha": 0.35}
    for kept, style in ((curves.few, faint), (~curves.few, {})):
        axes.errorbar(
            at[kept], curves.y[kept], yerr=error[kept], fmt="o", ms=3.5, color=_CURVE, elinewidth=0.7, **style
        )


def _seen(curves: Any) -> float:
    """Share of the mesh with a mode of more than a few records."""
    return len(np.unique(curves.row[~curves.few])) / len(curves.x)
