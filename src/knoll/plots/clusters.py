"""A picture of released clusters: where they lie, how large they are, and how sure that is."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Ellipse
from matplotlib.patheffects import withStroke

from knoll.plots.style import (
    FAINT,
    INK,
    MapAsked,
    both_in_terms,
    column_names,
    palette,
    picture,
    titled,
    widest_columns,
)

_PAPER = "#ffffff"
_MOST_PROFILES, _MOST_COLUMNS = 24, 20  # clusters and columns of the right panel: more would not be legible
_MOST_NUMBERS, _MOST_SIZES = 80, 12  # clusters with a number, and with a size beside it: more labels would overlap
_FEWEST_BARS = 6  # that a panel has room for, so that a few are not blocks
_MARGIN, _LEAST_RANGE = 0.12, 0.05  # beyond the clusters, of what they take; the least that is shown, of the bounds
_LETTERS = 44  # of names beside each other; more are written upwards
_LONGEST = 24  # characters of a name there


def plot_clusters(model: Any, title: str | None = None, *, map: MapAsked = None) -> Figure:
    """Draw a fitted clusterer from its released values alone.

    On the left, the centres in the two columns in which they differ most, with the number and size of each cluster
    (area: released size; ellipse: two standard errors of what privacy changes, against the records assigned; dashed:
    one standard deviation of the cluster's records, where it is released; dotted: the bounds, where they are near). On
    the right, every centre across all columns (of many, those in which centres differ most), each scaled to its bounds.
    Clusters are ordered by size.

    Parameters
    ----------
    model : fitted clusterer
        With `cluster_centers_`, `centers_stderr_`, `cluster_sizes_`, `bounds_` and `privacy_`.
    title : str, optional
        Headline.
    map : pair of str or bool, optional
        Names of the columns of longitudes and latitudes, which are drawn as a map; False for no map. By default, the
        names of the columns tell.

    Returns
    -------
    figure : matplotlib Figure
    """
    names = column_names(model)
    order = np.argsort(-model.cluster_sizes_, kind="stable")
    colours = palette(len(order))
    privacy = model.privacy_
    head = title or titled(privacy, f"{len(order)} clusters by {privacy.estimator}")
    note = "Error marks: two standard errors of what privacy changes, against the records assigned."
    spread = " Dashed: one standard deviation of records." if hasattr(model, "cluster_variances_") else ""
    with picture((12, 5.6), head, privacy, note + spread) as figure:
        left, right = figure.subplots(1, 2, width_ratios=(1.15, 1))
        _draw_map(left, model, order, colours, names, map)
        if len(names) == 1:
            _draw_sizes(right, model, order, colours)
        else:
            _draw_profiles(right, model, order, colours, names)
    return figure


def _draw_map(axes: Axes, model: Any, order: np.ndarray, colours: np.ndarray, names: list[str], map: MapAsked) -> None:
    centres, bounds = model.cluster_centers_, model.bounds_
    low, high = getattr(bounds, "ends", (bounds.centre - bounds.half, bounds.centre + bounds.half))
    first, second = widest_columns(model, centres, map)
    sizes = np.maximum(model.cluster_sizes_, 0.0)
    most = 350 if hasattr(model, "cluster_variances_") else 1500  # small, where spreads are drawn too
    area = 60 + most * sizes / max(float(sizes.max()), 1e-9)
    for rank, i in enumerate(order):
        x, y = centres[i, first], centres[i, second] if second is not None else 0.0
        error = 2 * model.centers_stderr_[i, [first, first if second is None else second]]
        seen = bool(model.clusters_seen_[i]) and bool(np.isfinite(error).all())
        if seen:
            height = 2 * error[1] if second is not None else 0.0
            axes.add_patch(Ellipse((x, y), 2 * error[0], height, fill=False, ec=colours[rank], lw=1.5, zorder=3))
        if seen and second is not None and (spread := _spread(model, i, first, second)) is not None:
            axes.add_patch(Ellipse((x, y), *(2 * spread), fc=(*colours[rank][:3], 0.08), ec=colours[rank], ls="--"))
        face = colours[rank] if seen else _PAPER
        axes.scatter(x, y, s=area[i], color=face, edgecolor=INK, alpha=0.55, linewidth=0.8, zorder=2)
        if len(order) <= _MOST_NUMBERS:
            size = "not seen" if not seen else f"{sizes[i]:,.0f}"
            label = f"{i}: {size}" if len(order) <= _MOST_SIZES else str(i)
            above = (0, 3 + np.sqrt(area[i]) / 2)
            words = axes.annotate(label, (x, y), above, textcoords="offset points", ha="center", fontsize=8.5, zorder=4)
            words.set_path_effects([withStroke(linewidth=2.5, foreground=_PAPER)])
    axes.set_xlim(*_range(model, first, float(low[first]), float(high[first])))
    for bound in (low[first], high[first]):
        axes.axvline(bound, color=FAINT, lw=1, ls=":", zorder=0)
    axes.set_xlabel(names[first])
    axes.set_title("Centres and released sizes", loc="left", fontsize=11)
    if second is None:
        axes.set_yticks([])
        axes.set_ylim(-1, 1)
        both_in_terms(axes, model, first)
        return
    axes.set_ylim(*_range(model, second, float(low[second]), float(high[second])))
    for bound in (low[second], high[second]):
        axes.axhline(bound, color=FAINT, lw=1, ls=":", zorder=0)
    axes.set_ylabel(names[second])
    both_in_terms(axes, model, first, second, map)


def _range(model: Any, j: int, low: float, high: float) -> tuple[float, float]:
    """Return what a side shows of a column: all clusters with their spread and errors, and a margin for the marks."""
    error = np.where(np.isfinite(model.centers_stderr_[:, j]), 2 * model.centers_stderr_[:, j], 0.0)
    spread = np.sqrt(np.maximum(model.cluster_variances_[:, j], 0.0)) if hasattr(model, "cluster_variances_") else 0.0
    reach = np.maximum(error, np.where(np.isfinite(spread), spread, 0.0))
    centres = model.cluster_centers_[:, j]
    first, last = max(low, float((centres - reach).min())), min(high, float((centres + reach).max()))
    least = _LEAST_RANGE * (high - low)
    margin = max(_MARGIN * (last - first), (least - (last - first)) / 2)
    return first - margin, last + margin


def _spread(model: Any, i: int, first: int, second: int) -> np.ndarray | None:
    """Return the standard deviations of a cluster's records in two columns, if they are released."""
    if not hasattr(model, "cluster_variances_"):
        return None
    spread = np.sqrt(np.maximum(model.cluster_variances_[i, [first, second]], 0.0))
    return spread if np.isfinite(spread).all() else None


def _draw_sizes(axes: Axes, model: Any, order: np.ndarray, colours: np.ndarray) -> None:
    """Draw sizes with two standard errors: one column has no profile."""
    error = model.cluster_sizes_stderr_[order]
    bars = np.where(np.isfinite(error), 2 * error, 0.0)
    axes.barh(
        np.arange(len(order)), model.cluster_sizes_[order], xerr=bars, color=colours, alpha=0.55, ecolor=INK, capsize=2
    )
    axes.set_yticks(np.arange(len(order)), [f"cluster {i}" for i in order])
    axes.set_ylim(max(len(order), _FEWEST_BARS) - 0.5, -0.5)
    axes.set_xlim(0, None)
    axes.set_title("Released sizes", loc="left", fontsize=11)


def _draw_profiles(axes: Axes, model: Any, order: np.ndarray, colours: np.ndarray, names: list[str]) -> None:
    bounds = model.bounds_
    low, high = getattr(bounds, "ends", (bounds.centre - bounds.half, bounds.centre + bounds.half))
    profile = (model.cluster_centers_ - low) / (high - low)
    shown = np.sort(np.argsort(-np.std(profile, axis=0), kind="stable")[:_MOST_COLUMNS])
    profile, error = profile[:, shown], (model.centers_stderr_ / (high - low))[:, shown]
    place = np.arange(profile.shape[1])
    shift = np.linspace(-0.12, 0.12, min(len(order), _MOST_PROFILES))
    for rank, i in enumerate(order[:_MOST_PROFILES]):
        bars = np.where(np.isfinite(error[i]), 2 * error[i], 0.0)
        label = f"cluster {i}: {model.cluster_sizes_[i]:,.0f}"
        axes.errorbar(
            place + shift[rank],
            profile[i],
            yerr=bars,
            color=colours[rank],
            marker="o",
            ms=4,
            lw=1.4,
            capsize=2,
            label=label,
        )
    upright = sum(len(names[j]) + 3 for j in shown) <= _LETTERS
    labels = [names[j] if len(names[j]) <= _LONGEST else f"{names[j][: _LONGEST - 1]}…" for j in shown]
    axes.set_xticks(place, labels, rotation=0 if upright else 60, ha="center" if upright else "right")
    axes.set_xlim(-0.5, len(place) - 0.5)
    axes.set_ylim(-0.03, 1.03)
    axes.set_yticks([0, 0.5, 1], ["lower\nbound", "middle", "upper\nbound"])
    axes.grid(axis="x", color=FAINT, lw=0.8)
    of = "" if len(shown) == len(names) else f", {len(shown)} of {len(names)}"
    axes.set_title(f"Profiles{of}, each column scaled to its bounds", loc="left", fontsize=11)
    if len(order) <= 10:
        axes.figure.legend(frameon=False, fontsize=8.5, loc="outside right upper")
