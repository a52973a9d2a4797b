"""Clusters: where they are, what sets them apart, how large they are; and the merge tree of clusters of any shape."""

from typing import Any

import numpy as np

from knoll.report.clusters import MEANING, count_with_error
from knoll.report.page.axes import Axis, MapAsked, axes_of, two_widest
from knoll.report.page.found import Found, bars_figure, counted, in_data, map_figure, profile_figure
from knoll.report.page.html import Html, figure, paragraph, tag
from knoll.report.page.quality import quality_part
from knoll.report.page.tables import summary_sheet

MOST_CARDS = 60  # clusters with words of their own: the table has all


def clusters_found(model: Any, map: MapAsked = None) -> Found:
    """Return what a clusterer found."""
    order = np.argsort(-model.cluster_sizes_, kind="stable").tolist()
    axes = axes_of(model, model.cluster_centers_, model.centers_stderr_, _spreads(model), map)
    marks = [_mark(model, i, axes) for i in range(model.n_clusters_)]
    figures = {"map": map_figure(axes, marks, two_widest(axes), word="cluster")}
    parts = [figure("map", "Where the clusters are.", _map_words(axes, len(axes) > 1))]
    if len(axes) > 1:
        figures["profile"] = profile_figure("map", axes)
        parts.append(figure("profile", "Every cluster, column by column.", "Bars: two standard errors."))
    figures["sizes"] = bars_figure([_bar(model, i) for i in order], "records")
    apart = model.summary(None)
    words = dict(zip(apart["cluster"], apart["sets it apart"], strict=True))
    parts += [tag("h3", "What sets each cluster apart"), _cards(model, order[:MOST_CARDS], words)]
    parts += [tag("h3", "All values"), *summary_sheet(model, "cluster"), *quality_part(model)]
    total = float(model.cluster_sizes_.sum())
    return Found(
        title=f"{counted(model.n_clusters_, 'cluster')}{in_data(model.privacy_)}",
        lead=_lead(model, order, total),
        facts=[("Clusters", f"{model.n_clusters_:,}"), ("Records, about", f"{total:,.0f}")],
        parts=parts,
        sure=[
            _meaning(model),
            *_strategy(model),
            figure("sizes", "Sizes.", "Bars: two standard errors of what privacy changes."),
        ],
        figures=figures,
    )


def _lead(model: Any, order: list[int], total: float) -> str:
    """Return the first sentence: how many, the largest, and how many are not seen."""
    unseen = int((~model.clusters_seen_).sum())
    share = float(model.cluster_sizes_[order[0]]) / max(total, 1e-300)
    doubt = f" {unseen} of them cannot be told from noise." if unseen else ""
    return (
        f"{model.privacy_.estimator} found {counted(model.n_clusters_, 'cluster')} among about {total:,.0f} records; "
        f"the largest, number {order[0]}, holds {share:.0%} of them.{doubt}"
    )


def _spreads(model: Any) -> np.ndarray | None:
    """Return the released standard deviations of the clusters' records, if there are any."""
    if hasattr(model, "cluster_variances_"):
        return np.sqrt(np.maximum(model.cluster_variances_, 0.0))
    return None


def _mark(model: Any, i: int, axes: list[Axis]) -> dict[str, Any]:
    size = count_with_error(model.cluster_sizes_[i], model.cluster_sizes_stderr_[i])
    return {
        "label": str(i), "title": f"Cluster {i}", "size": float(model.cluster_sizes_[i]),
        "seen": bool(model.clusters_seen_[i]), "note": f"{size} records",
    }  # fmt: skip


def _bar(model: Any, i: int) -> dict[str, Any]:
    value, error = float(model.cluster_sizes_[i]), float(model.cluster_sizes_stderr_[i])
    text = count_with_error(value, error)
    return {
        "label": f"cluster {i}", "value": value, "error": error, "text": text, "mark": i,
        "seen": bool(model.clusters_seen_[i]),
    }  # fmt: skip


def _map_words(axes: list[Axis], two: bool) -> str:
    spread = " Dashed outlines: one standard deviation of the records." if axes[0].spread is not None else ""
    choose = " Choose the columns below." if two and len(axes) > 2 else ""
    return f"Area: released size. Crosses: two standard errors.{spread}{choose}"


def _cards(model: Any, order: list[int], apart: dict[int, str]) -> Html:
    """Return a card for each cluster: its number, its size, and what it differs in from all records together."""
    total = max(float(model.cluster_sizes_.sum()), 1e-300)
    cards = []
    for i in order:
        seen = bool(model.clusters_seen_[i])
        size = count_with_error(model.cluster_sizes_[i], model.cluster_sizes_stderr_[i])
        head = tag(
            "p", tag("span", str(i), class_=f"badge c{i % 8}"), tag("b", f"{model.cluster_sizes_[i] / total:.0%}"),
            tag("span", f"{size} records"), *([] if seen else [tag("em", "not seen")]), class_="head",
        )  # fmt: skip
        words = apart.get(i) or "Nothing that noise would not explain."
        doubt = [] if seen else [paragraph("Cannot be told from noise: do not rely on it.", class_="faint")]
        cards.append(tag("li", head, paragraph(words), *doubt, data_mark=i, class_=None if seen else "doubt"))
    return tag("ol", *cards, class_="cards")


def _strategy(model: Any) -> list[Html]:
    """Return which releases were made and why, for methods that choose."""
    if not hasattr(model, "strategy_"):
        return []
    draws = f" They rest on about {model.effective_draws_:.0f} independent draws of likely densities."
    words = f"Releases: {model.strategy_}. {model.strategy_reason_}."
    return [paragraph(words + (draws if model.effective_draws_ else ""))]


def _meaning(model: Any) -> Html:
    unseen = int((~model.clusters_seen_).sum())
    words = (
        f"Every value is written {MEANING}. In about two of three cases the figure without noise lies within one "
        "standard error, and in 19 of 20 within two."
    )
    seen = f" {counted(unseen, 'cluster')} cannot be told from noise; they are drawn hollow and marked “not seen”."
    return paragraph(words + (seen if unseen else " Every cluster stands out of the noise."))
