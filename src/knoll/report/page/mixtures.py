"""Mixtures: components as ellipses in two chosen columns, or as curves over one, with their weights."""

from typing import Any

import numpy as np

from knoll.report.clusters import MEANING, with_error
from knoll.report.page.axes import MapAsked, axes_of, columns_of, empty_axis, two_widest
from knoll.report.page.found import Found, bars_figure, counted, in_data, map_figure, profile_figure, rounded
from knoll.report.page.html import Html, figure, paragraph, tag
from knoll.report.page.quality import quality_part
from knoll.report.page.tables import summary_sheet

POINTS = 240  # of a curve


def mixture_found(model: Any, map: MapAsked = None) -> Found:
    """Return what a mixture found."""
    k, one = len(model.weights_), model.means_.shape[1] == 1
    covariances = getattr(model.to_mixture(), "spreads", model.covariances_)  # of levels too, if there are any
    spreads = np.sqrt(np.maximum(np.einsum("kii->ki", covariances), 0.0))
    axes = axes_of(model, model.means_, model.means_stderr_, spreads, map)
    marks = [_mark(model, i) for i in range(k)]
    words = "Ellipses: one and two standard deviations. Crosses: two standard errors of the mean."
    figures = {"map": map_figure(axes, marks, two_widest(axes), word="component", covariances=covariances)}
    parts = []
    if one:
        figures["curve"] = _curve(model)
        parts.append(figure("curve", "The density and its components.", _histogram_words(model)))
    else:
        figures["profile"] = profile_figure("map", axes)
        parts.append(figure("map", "Where the components are.", words))
        parts.append(figure("profile", "Every component, column by column.", "Bars: two standard errors."))
    order = np.argsort(-model.weights_, kind="stable").tolist()
    figures["sizes"] = bars_figure([_bar(model, i) for i in order], "weight", kind="share")
    parts += [*_apart(model), tag("h3", "All values"), *summary_sheet(model, "component"), *quality_part(model)]
    top = order[0]
    return Found(
        title=f"{counted(k, 'component')}{in_data(model.privacy_)}",
        lead=f"{model.privacy_.estimator} describes about {model.n_records_:,.0f} records by {counted(k, 'Gaussian')}; "
        f"the largest, number {top}, has a weight of {model.weights_[top]:.0%}.",
        facts=[("Components", f"{k:,}"), ("Records, about", f"{model.n_records_:,.0f}")],
        parts=parts,
        sure=[_meaning(model), figure("sizes", "Weights.", "Bars: two standard errors.")],
        figures=figures,
    )


def _mark(model: Any, i: int) -> dict[str, Any]:
    weight = with_error(100 * model.weights_[i], 100 * model.weights_stderr_[i])
    return {
        "label": str(i), "title": f"Component {i}", "size": float(model.weights_[i]),
        "seen": bool(model.components_seen_[i]), "note": f"weight {weight} %",
    }  # fmt: skip


def _bar(model: Any, i: int) -> dict[str, Any]:
    value, error = float(model.weights_[i]), float(model.weights_stderr_[i])
    return {
        "label": f"component {i}", "value": value, "error": error, "text": f"{with_error(100 * value, 100 * error)} %",
        "mark": i, "seen": bool(model.components_seen_[i]),
    }  # fmt: skip


def _apart(model: Any) -> list[Html]:
    """Return what each component differs in, as a list; nothing for a single one."""
    summary = model.summary(None)
    words = [
        tag("li", tag("span", str(i), class_=f"badge c{i % 8}"), " ", each or "nothing that noise would not explain")
        for i, each in zip(summary["cluster"], summary["sets it apart"], strict=True)
    ]
    return (
        [tag("h3", "What sets each component apart"), tag("ul", *words[:60], class_="apart")] if len(words) > 1 else []
    )


def _curve(model: Any) -> dict[str, Any]:
    """Return the components of one column, and their sum, over the released histogram if there is one."""
    [(name, kind, _)] = columns_of(model)
    axis = empty_axis(model, name, kind, 0)
    spread = 4 * np.sqrt(model.covariances_[:, 0, 0])
    low = max(axis.low, float((model.means_[:, 0] - spread).min()))
    high = min(axis.high, float((model.means_[:, 0] + spread).max()))
    x = np.linspace(low, high, POINTS)
    parts = np.exp(model.to_mixture().log_components(x[:, None]))
    layers: list[dict[str, Any]] = []
    edges, counts = getattr(model, "histogram_edges_", np.empty(0)), getattr(model, "histogram_", np.empty(0))
    if len(counts):
        height = np.maximum(counts, 0.0) / max(float(model.n_records_), 1.0) / np.diff(edges)
        layers.append({"draw": "stairs", "edges": rounded(edges), "y": rounded(height)})
    for i in range(len(model.weights_)):
        text = f"Component {i}: {with_error(model.means_[i, 0], model.means_stderr_[i, 0])}"
        layers.append({"draw": "area", "x": rounded(x), "y": rounded(parts[:, i]), "mark": i, "text": text})
    layers.append(
        {"draw": "line", "x": rounded(x), "y": rounded(parts.sum(axis=1)), "dash": True, "text": "all together"}
    )
    top = 1.08 * float(parts.sum(axis=1).max())
    return {"type": "xy", "x": {**axis.to_dict(), "low": low, "high": high}, "layers": layers,
            "y": {"label": "density", "kind": "number", "low": 0.0, "high": top}}  # fmt: skip


def _histogram_words(model: Any) -> str:
    return "Grey: the released histogram." if len(getattr(model, "histogram_", ())) else ""


def _meaning(model: Any) -> Html:
    unseen = int((~np.asarray(model.components_seen_, dtype=bool)).sum())
    shrunk = float(np.max(model.shrinkage_, initial=0.0))
    words = [f"Every value is written {MEANING}."]
    if unseen:
        words.append(f"{counted(unseen, 'component')} cannot be told from noise; they are marked “not seen”.")
    if shrunk > 0.05:
        words.append(f"Correlations were shrunk by up to {shrunk:.0%}, because of privacy noise.")
    return paragraph(" ".join(words))
