"""A picture of topics: where they lie to each other, how large they are, and their words."""

from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke

from knoll.numeric.layout import in_plane
from knoll.plots.style import FAINT, INK, STYLE, footer, headline, palette, plain

_MOST_WORDS, _MOST_ROWS = 1, 30  # words at a topic, and topics in the list at the side


def plot_topics(model: Any, title: str | None = None) -> Figure:
    """Draw a fitted topic map: bubbles for topics, words at them, one colour for a group; at the side all keywords.

    Parameters
    ----------
    model : TopicMap
        A fitted one.
    title : str, optional
        Headline.

    Returns
    -------
    figure : matplotlib Figure
    """
    order = np.argsort(-model.cluster_sizes_, kind="stable")
    colours = palette(int(model.groups_.max()) + 1)
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(13, 6.4), layout="constrained")
        left, right = figure.subplots(1, 2, width_ratios=(1.2, 1))
        _draw_map(left, model, colours)
        _draw_words(right, model, order[:_MOST_ROWS], colours)
        privacy = model.privacy_
        headline(figure, title or f"{plain(privacy.dataset)}: {model.n_clusters_} topics")
        footer(figure, privacy, "Area: released size. Words: used in the topic more than twice as often as in all.")
    return figure


def _draw_map(axes: Any, model: Any, colours: np.ndarray) -> None:
    at, sizes = in_plane(model.cluster_centers_, model.cluster_sizes_), model.cluster_sizes_
    area = 80 + 2200 * sizes / max(float(sizes.max()), 1e-9)
    for i, (x, y) in enumerate(at):
        seen = bool(model.clusters_seen_[i])
        colour = colours[model.groups_[i]]
        axes.scatter(x, y, s=area[i], color=colour if seen else "none", edgecolor=colour, alpha=0.55, lw=1.2)
        words = ", ".join(plain(word) for word, _, _ in model.keywords(i, _MOST_WORDS))
        if seen:  # rings of those that cannot be told from noise would hide the numbers of others with theirs
            text = axes.text(x, y, f"{i}" + (f"\n{words}" if words else ""), ha="center", va="center", fontsize=8.5)
            text.set_path_effects([withStroke(linewidth=2.2, foreground="#ffffff")])
    axes.margins(0.18)
    axes.set_xticks([])
    axes.set_yticks([])
    for side in axes.spines.values():
        side.set_visible(True)
        side.set_color(FAINT)
    axes.set_title("Topics that are near each other are alike", loc="left", fontsize=11)


def _draw_words(axes: Any, model: Any, order: np.ndarray, colours: np.ndarray) -> None:
    total = max(float(model.cluster_sizes_.sum()), 1e-9)
    for row, i in enumerate(order):
        words = ", ".join(plain(word) for word, _, _ in model.keywords(int(i), 6)) or "no word stands out of the noise"
        axes.barh(row, model.cluster_sizes_[i] / total, color=colours[model.groups_[i]], alpha=0.45, height=0.34)
        error = model.cluster_sizes_stderr_[i] / total
        if np.isfinite(error):
            axes.errorbar(model.cluster_sizes_[i] / total, row, xerr=2 * error, fmt="none", ecolor=INK, elinewidth=1)
        axes.text(0.0, row - 0.42, f"{i}: {words}", va="center", fontsize=8.5)
    axes.invert_yaxis()
    axes.set_yticks([])
    axes.xaxis.set_major_formatter(lambda value, _: f"{100 * value:g} %")
    ends = model.cluster_sizes_ + 2 * np.nan_to_num(model.cluster_sizes_stderr_, posinf=0.0)
    axes.set_xlim(0, max(0.12, 1.05 * float(ends.max()) / total))
    axes.set_title("Share of the texts, with two standard errors", loc="left", fontsize=11)
