"""Pictures of released mixtures: components over a released histogram, ellipses, central against local."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Ellipse

from knoll.plots.style import (
    FAINT,
    INK,
    MapAsked,
    both_in_terms,
    column_names,
    footer,
    palette,
    picture,
    titled,
    widest_columns,
)

_MOST_NAMED = 12  # components that are labelled: more labels would overlap
_FEWEST_BARS = 6  # that a panel has room for, so that a few are not blocks
_SIGMAS = (1.0, 2.0)  # standard deviations at which ellipses are drawn
_MARKS = "Error bars: two standard errors. Numbers after ±: one."


def plot_mixture(model: Any, title: str | None = None, *, map: MapAsked = None) -> Figure:
    """Draw a fitted mixture from its released values alone.

    One column: the components, and their sum over the released histogram. More: ellipses of one and two standard
    deviations in the two columns in which the means differ most (crosses: two standard errors of the means), and the
    weights.

    Parameters
    ----------
    model : fitted mixture
        With `weights_`, `means_`, `covariances_`, their standard errors, `bounds_` and `privacy_`.
    title : str, optional
        Headline.
    map : pair of str or bool, optional
        Columns of longitudes and latitudes, as in `plot_clusters`.

    Returns
    -------
    figure : matplotlib Figure
    """
    privacy = model.privacy_
    head = title or titled(privacy, f"{model.n_components_} components by {privacy.estimator}")
    with picture((12, 5.2), head, privacy, _MARKS) as figure:
        left, right = figure.subplots(1, 2, width_ratios=(1.6, 1))
        _draw(left, model, map)
        _draw_weights(right, model)
    return figure


def plot_side_by_side(models: dict[str, Any], title: str | None = None) -> Figure:
    """Draw several fitted mixtures of the same columns beside each other: central against local, say.

    Parameters
    ----------
    models : dict
        Name -> fitted mixture.
    title : str, optional
        Headline.

    Returns
    -------
    figure : matplotlib Figure
    """
    with picture((6.2 * len(models), 5), title or "") as figure:
        grid = figure.subplots(1, len(models), sharex=True, sharey=True, squeeze=False)[0]
        for axes, (name, model) in zip(grid, models.items(), strict=True):
            _draw(axes, model)
            axes.set_title(f"{name}: epsilon = {model.privacy_.epsilon:g}", loc="left", fontsize=11)
        unsafe = next((model.privacy_ for model in models.values() if model.privacy_.warning), None)
        footer(figure, unsafe or next(iter(models.values())).privacy_, _MARKS, budget=False)
    return figure


def _draw(axes: Axes, model: Any, map: MapAsked = None) -> None:
    if model.means_.shape[1] == 1:
        _draw_curves(axes, model)
    else:
        _draw_ellipses(axes, model, map)


def _draw_curves(axes: Axes, model: Any) -> None:
    """Components and their sum, over the released histogram if there is one."""
    bounds = model.bounds_
    low, high = float(bounds.centre[0] - bounds.half[0]), float(bounds.centre[0] + bounds.half[0])
    edges, counts = getattr(model, "histogram_edges_", np.empty(0)), getattr(model, "histogram_", np.empty(0))
    if len(counts):
        height = np.maximum(counts, 0.0) / max(model.n_records_, 1.0) / np.diff(edges)
        local = model.privacy_.estimator == "LocalGaussianMixture"
        label = "histogram estimated from reports" if local else "released histogram"
        axes.stairs(height, edges, fill=True, color=FAINT, alpha=0.6, label=label)
        inner = edges[1:-1] if len(counts) > 3 else edges
        low, high = max(low, float(inner[0])), min(high, float(inner[-1]))
    x = np.linspace(low, high, 600)
    mixture = model.to_mixture()
    parts = np.exp(mixture.log_components(x[:, None]))
    for i, colour in zip(np.argsort(mixture.means[:, 0]), palette(mixture.n_components), strict=True):
        axes.plot(x, parts[:, i], color=colour, lw=1.6)
        axes.fill_between(x, parts[:, i], color=colour, alpha=0.15)
        if mixture.n_components <= _MOST_NAMED:
            error = model.means_stderr_[i, 0]
            label = f"{mixture.means[i, 0]:.3g}" + (f" ± {error:.2g}" if np.isfinite(error) else "")
            peak = (mixture.means[i, 0], parts[:, i].max())
            axes.annotate(label, peak, (0, 4), textcoords="offset points", ha="center", fontsize=9)
    axes.plot(x, parts.sum(axis=1), color=INK, lw=1.4, ls="--", label="mixture")
    axes.set_xlim(low, high)
    axes.set_ylim(0, None)
    axes.set_xlabel(column_names(model)[0])
    both_in_terms(axes, model, 0)
    axes.set_ylabel("density")
    axes.legend(frameon=False, fontsize=8.5)


def _draw_ellipses(axes: Axes, model: Any, map: MapAsked) -> None:
    """Ellipses in the two columns in which the means differ most."""
    bounds, means = model.bounds_, model.means_
    first, second = widest_columns(model, means, map)
    assert second is not None  # one column is drawn as curves
    pair = np.ix_([first, second], [first, second])
    order = np.argsort(-model.weights_, kind="stable")
    reach, spreads = [], model.to_mixture().spreads
    for i, colour in zip(order, palette(len(order)), strict=True):
        values, vectors = np.linalg.eigh(spreads[i][pair])
        angle = float(np.degrees(np.arctan2(vectors[1, 1], vectors[0, 1])))
        at = means[i, [first, second]]
        for sigma in _SIGMAS:
            size = 2 * sigma * np.sqrt(values[::-1])
            patch = Ellipse(at, size[0], size[1], angle=angle, fc=colour, ec=colour, alpha=0.22, lw=1.2)
            axes.add_patch(patch)
        error = 2 * model.means_stderr_[i, [first, second]]
        if np.isfinite(error).all():
            axes.errorbar(at[0], at[1], xerr=error[0], yerr=error[1], color=INK, lw=1.2, capsize=2)
        if len(order) <= _MOST_NAMED:
            axes.annotate(f"{i}: {model.weights_[i]:.0%}", at, (6, 6), textcoords="offset points", fontsize=9)
        wide = 2.4 * np.sqrt(np.diag(spreads[i][pair]))
        reach += [at - wide, at + wide]
    low, high = bounds.centre - bounds.half, bounds.centre + bounds.half
    for j, limit, near, far in ((first, axes.set_xlim, 0, 0), (second, axes.set_ylim, 1, 1)):
        inside = np.array(reach)
        limit(max(low[j], inside[:, near].min()), min(high[j], inside[:, far].max()))
    names = column_names(model)
    axes.set_xlabel(names[first])
    axes.set_ylabel(names[second])
    both_in_terms(axes, model, first, second, map)
    axes.set_title("Components, one and two standard deviations", loc="left", fontsize=11)


def _draw_weights(axes: Axes, model: Any) -> None:
    """Weights with two standard errors, and how far correlations were shrunk."""
    one = model.means_.shape[1] == 1
    order = np.argsort(model.means_[:, 0] if one else -model.weights_, kind="stable")
    place = np.arange(len(order))
    error = np.where(np.isfinite(model.weights_stderr_[order]), 2 * model.weights_stderr_[order], 0.0)
    colours = palette(len(order))
    axes.barh(place, model.weights_[order], xerr=error, color=colours, alpha=0.55, ecolor=INK, capsize=2)
    if len(order) <= 40:
        axes.set_yticks(place, [f"component {i}" for i in order])
    axes.set_ylim(max(len(order), _FEWEST_BARS) - 0.5, -0.5)
    axes.set_xlim(0, None)
    axes.set_xlabel("weight")
    drawn = model.shrinkage_[order]
    if (drawn > 0.05).any():
        note = f"Weights (noise: correlations shrunk by up to {drawn.max():.0%})"
        axes.set_title(note, loc="left", fontsize=9.5)
    else:
        axes.set_title("Weights", loc="left", fontsize=11)
