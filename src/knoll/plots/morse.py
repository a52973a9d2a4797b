"""Pictures of Morse clustering: the density with its peaks and passes, the dendrogram, and what belongs to what."""

from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from scipy.cluster.hierarchy import dendrogram

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

_Chosen = tuple[int, int | None]  # the columns across and up
_GRID, _LEVELS, _DEPTH = 160, 14, 9.0  # points along an axis; level curves; units of log density they span


def plot_morse(model: Any, title: str | None = None, *, map: MapAsked = None) -> Figure:
    """Draw a fitted `MorseClustering` from its released values alone.

    On the left, level curves of the density, the sub-clusters' means (dots), the saddles between peaks (crosses, with
    lines to both) in the colours of the clusters; the middle, the clusters' regions; on the right, the merge tree: the
    height of a join is the log density of its pass, and joins that the cut undoes are grey. With more than two columns
    the map shows the two in which the sub-clusters differ most, with the others integrated out.

    Parameters
    ----------
    model : MorseClustering
        Fitted.
    title : str, optional
        Headline.
    map : pair of str or bool, optional
        Columns of longitudes and latitudes, as in `plot_clusters`.

    Returns
    -------
    figure : matplotlib Figure
    """
    names, colours = column_names(model), palette(model.n_clusters_)
    columns = widest_columns(model, model.means_, map)
    words = titled(model.privacy_, f"{model.n_clusters_} clusters from {len(model.weights_)} sub-clusters")
    with picture((15, 5.2), title or words, model.privacy_, "Drawn from released values.") as figure:
        left, middle, right = figure.subplots(1, 3, width_ratios=(1, 1, 1.05))
        _draw_density(left, model, columns, colours, names)
        _draw_regions(middle, model, columns, colours, names)
        for axes in (left, middle):
            axes.set_xlabel(names[columns[0]])
            both_in_terms(axes, model, *columns, map)
        _draw_tree(right, model, colours)
    return figure


def _marginal(model: Any, columns: list[int]) -> Any:
    """The mixture of some columns: the others integrated out."""
    return type(model.mixture_)(model.weights_, model.means_[:, columns], model.covariances_[:, columns][:, :, columns])


def _frame(model: Any, columns: list[int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A grid over the part of the bounds where sub-clusters lie, (points along axes), (grid points)."""
    bounds = model.bounds_
    reach = 3.0 * np.sqrt(np.einsum("kii->ki", model.covariances_)[:, columns])
    low = np.maximum((model.means_[:, columns] - reach).min(axis=0), (bounds.centre - bounds.half)[columns])
    high = np.minimum((model.means_[:, columns] + reach).max(axis=0), (bounds.centre + bounds.half)[columns])
    sides = [np.linspace(a, b, _GRID) for a, b in zip(low, high, strict=True)]
    points = np.stack(np.meshgrid(*sides, indexing="xy"), axis=-1).reshape(-1, len(columns))
    return sides[0], sides[-1], points


def _draw_density(axes: Axes, model: Any, chosen: _Chosen, colours: np.ndarray, names: list[str]) -> None:
    first, second = chosen
    columns = [first] if second is None else [first, second]
    mixture = _marginal(model, columns)
    across, up, points = _frame(model, columns)
    height = mixture.log_density(points)
    axes.set_title("Density, peaks and passes", loc="left", fontsize=11)
    face = colours[model.component_clusters_]
    if second is None:
        axes.plot(across, np.exp(height), color=INK)
        axes.scatter(mixture.means[:, 0], mixture.density(mixture.means), c=face, zorder=3)
        return
    axes.set_ylabel(names[second])
    levels = height.max() - np.linspace(_DEPTH, 0.15, _LEVELS)
    axes.contour(across, up, height.reshape(_GRID, _GRID), levels=levels, colors=FAINT, linewidths=0.8)
    peaks, saddles = model.peaks_[:, columns], model.saddles_[:, columns]
    highest = _highest_pass_of_pairs(model)
    for s in highest:
        i, j = model.saddle_ends_[s]
        same = model.peak_clusters_[i] == model.peak_clusters_[j]
        way = np.vstack([peaks[i], saddles[s], peaks[j]])
        axes.plot(*way.T, color=colours[model.peak_clusters_[i]] if same else FAINT, lw=1.6 if same else 0.8, zorder=2)
    axes.scatter(saddles[highest, 0], saddles[highest, 1], marker="x", s=22, color=INK, linewidth=1.0, zorder=3)
    sizes = 15 + 150 * model.weights_ / model.weights_.max()
    axes.scatter(mixture.means[:, 0], mixture.means[:, 1], s=sizes, c=face, edgecolor=INK, linewidth=0.7, zorder=4)
    axes.set(xlim=across[[0, -1]], ylim=up[[0, -1]])


def _highest_pass_of_pairs(model: Any) -> np.ndarray:
    """The highest saddle of every pair of peaks that has any."""
    order = np.argsort(-model.saddle_heights_, kind="stable")
    _, first = np.unique(model.saddle_ends_[order], axis=0, return_index=True)
    return order[first] if len(order) else order


def _draw_regions(axes: Axes, model: Any, chosen: _Chosen, colours: np.ndarray, names: list[str]) -> None:
    first, second = chosen
    columns = [first] if second is None else [first, second]
    across, up, points = _frame(model, columns)
    marginal = _marginal(model, columns)
    shares = marginal.predict_proba(points) @ np.eye(model.n_clusters_)[model.component_clusters_]
    axes.set_title(
        "Clusters' regions" + ("" if len(names) <= 2 else ", other columns integrated out"), loc="left", fontsize=11
    )
    if second is None:
        for cluster in range(model.n_clusters_):
            axes.plot(across, shares[:, cluster], color=colours[cluster])
        return
    axes.set_ylabel(names[second])
    region = shares.argmax(axis=1).reshape(_GRID, _GRID)
    density = marginal.log_density(points).reshape(_GRID, _GRID)
    faint = 0.15 + 0.6 * np.clip((density - density.max() + _DEPTH) / _DEPTH, 0.0, 1.0)
    extent = (across[0], across[-1], up[0], up[-1])
    cmap = ListedColormap(colours)
    axes.imshow(
        region, origin="lower", extent=extent, aspect="auto", cmap=cmap, vmin=-0.5, vmax=model.n_clusters_ - 0.5,
        alpha=faint, interpolation="nearest",
    )  # fmt: skip
    for cluster in range(min(model.n_clusters_, 20)):
        member = np.flatnonzero(model.component_clusters_ == cluster)
        x, y = model.means_[member[model.weights_[member].argmax()]][columns]
        words = f"{cluster}: {model.cluster_sizes_[cluster]:,.0f}"
        axes.annotate(words, (x, y), ha="center", va="center", fontsize=9, fontweight="bold")


def _draw_tree(axes: Axes, model: Any, colours: np.ndarray) -> None:
    tree, n = model.dendrogram_, len(model.dendrogram_) + 1
    axes.set_title("Merge tree", loc="left", fontsize=11)
    if not len(tree):
        axes.text(0.5, 0.5, "one sub-cluster", ha="center")
        axes.axis("off")
        return
    cluster = np.full(2 * n - 1, -1)
    cluster[: len(model.component_clusters_)] = model.component_clusters_
    for step, (a, b) in enumerate(tree[:, :2].astype(int)):
        cluster[n + step] = (
            cluster[a] if cluster[a] == cluster[b] else cluster[max(a, b)] if min(cluster[a], cluster[b]) < 0 else -2
        )

    def colour(node: int) -> str:
        return matplotlib.colors.to_hex(colours[cluster[node]]) if cluster[node] >= 0 else "#9aa5ae"

    dendrogram(tree, ax=axes, link_color_func=colour, no_labels=n > 30, leaf_font_size=8)
    axes.set_xlabel("sub-clusters")
    axes.set_ylabel("log density of the pass, below the highest peak")
    axes.invert_yaxis()
