"""Topics: a map, groups, sizes, and the words of each with lift and error. Every word is text, and is escaped."""

from typing import Any

import numpy as np

from knoll.numeric.layout import in_plane
from knoll.report.clusters import MEANING, count_with_error, with_error
from knoll.report.page.axes import Axis
from knoll.report.page.found import Found, bars_figure, counted, in_data, map_figure
from knoll.report.page.html import Html, figure, paragraph, table, tag

MOST_CARDS, MOST_WORDS = 200, 12  # topics with a card, and words of each


def topics_found(model: Any) -> Found:
    """Return what a topic map found."""
    order = np.argsort(-model.cluster_sizes_, kind="stable").tolist()
    total = max(float(model.cluster_sizes_.sum()), 1e-300)
    figures = {
        "map": map_figure(_axes(model), [_mark(model, i) for i in order_of(model)], (0, 1), word="topic"),
        "sizes": bars_figure([_bar(model, i) for i in order], "texts"),
    }
    parts = [
        figure("map", "Topics that are near each other are alike.", "Area: released size. The axes have no unit."),
        tag("h3", "Words of each topic"),
        _groups(model, order[:MOST_CARDS], total),
        tag("h3", "All keywords"),
        _sheet(model, order),
    ]
    words = sum(len(model.keywords(i)) > 0 for i in order)
    return Found(
        title=f"{counted(model.n_clusters_, 'topic')}{in_data(model.privacy_)}",
        lead=f"{counted(model.n_clusters_, 'topic')} among about {total:,.0f} texts, {words} of them with keywords; "
        f"the largest, number {order[0]}, holds {model.cluster_sizes_[order[0]] / total:.0%}.",
        facts=[("Topics", f"{model.n_clusters_:,}"), ("Texts, about", f"{total:,.0f}"),
               ("Words released", f"{len(model.words_):,}")],
        parts=parts,
        sure=[_meaning(model), figure("sizes", "Sizes.", "Bars: two standard errors of what privacy changes.")],
        figures=figures,
    )  # fmt: skip


def order_of(model: Any) -> range:
    """Return the topics in the order of their numbers: marks are looked up by it."""
    return range(model.n_clusters_)


def _axes(model: Any) -> list[Axis]:
    at = in_plane(model.cluster_centers_, model.cluster_sizes_)
    found = []
    for j, name in enumerate(("across", "up")):
        low, high = float(at[:, j].min()), float(at[:, j].max())
        room = 0.15 * max(high - low, 1e-3)
        none = [0.0] * len(at)
        found.append(Axis(name, "number", low - room, high + room, at[:, j].tolist(), none, [""] * len(at)))
    return found


def _mark(model: Any, i: int) -> dict[str, Any]:
    size = count_with_error(model.cluster_sizes_[i], model.cluster_sizes_stderr_[i])
    words = ", ".join(word for word, _, _ in model.keywords(i, 5))
    return {
        "label": str(i), "title": f"Topic {i}", "size": float(model.cluster_sizes_[i]),
        "seen": bool(model.clusters_seen_[i]), "note": f"{size} texts" + (f": {words}" if words else ""),
    }  # fmt: skip


def _bar(model: Any, i: int) -> dict[str, Any]:
    value, error = float(model.cluster_sizes_[i]), float(model.cluster_sizes_stderr_[i])
    words = ", ".join(word for word, _, _ in model.keywords(i, 3))
    return {
        "label": f"{i} {words}".strip(), "value": value, "error": error, "text": count_with_error(value, error),
        "mark": i, "seen": bool(model.clusters_seen_[i]),
    }  # fmt: skip


def _groups(model: Any, order: list[int], total: float) -> Html:
    """Return the topics, group by group, the largest group first."""
    sizes = np.bincount(model.groups_, model.cluster_sizes_, int(model.groups_.max()) + 1)
    parts = []
    for number, group in enumerate(np.argsort(-sizes, kind="stable").tolist()):
        own = [i for i in order if model.groups_[i] == group]
        if own:
            parts.append(tag("h4", f"Group {number + 1}: {sizes[group] / total:.0%} of the texts"))
            parts.append(tag("ol", *(_card(model, i, total) for i in own), class_="cards"))
    return tag("div", *parts)


def _card(model: Any, i: int, total: float) -> Html:
    seen = bool(model.clusters_seen_[i])
    size = count_with_error(model.cluster_sizes_[i], model.cluster_sizes_stderr_[i])
    head = tag(
        "p", tag("span", str(i), class_=f"badge c{i % 8}"), tag("b", f"{model.cluster_sizes_[i] / total:.0%}"),
        tag("span", f"{size} texts"), *([] if seen else [tag("em", "not seen")]), class_="head",
    )  # fmt: skip
    words = ", ".join(word for word, _, _ in model.keywords(i, MOST_WORDS)) or "No word stands out of the noise."
    return tag("li", head, paragraph(words), data_mark=i, class_=None if seen else "doubt")


def _sheet(model: Any, order: list[int]) -> Html:
    rows, keys = [], []
    for i in order:
        for word, lift, error in model.keywords(i, MOST_WORDS):
            j = model.words_.index(word)
            count = count_with_error(model.word_counts_[i, j], model.word_counts_stderr_)
            rows.append([str(i), word, with_error(lift, error), count])
            keys.append([i, word, lift, float(model.word_counts_[i, j])])
    return table("Keywords", ["topic", "word", "lift", "count"], rows, keys=keys, texts=[1])


def _meaning(model: Any) -> Html:
    return paragraph(
        f"Sizes are written {MEANING}. A word's lift is how much more often it is used in a topic than in all; its "
        "error is what the noise of the counts gives it. A word is shown if its count lies above that of a lift of two "
        "by more than its error."
    )
