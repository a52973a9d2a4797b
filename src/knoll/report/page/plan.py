"""A plan: what a fit finds and what it risks, for several budgets, on made-up data."""

from typing import Any

import numpy as np

from knoll.report.page.found import Found, rounded
from knoll.report.page.html import Html, figure, paragraph, table, tag

HEADER = ("clusters", "epsilon", "found", "excess loss", "± centre", "± size", "50/50 guess right")
_LEAST, _MOST = 0.0001, 100.0  # shares that are drawn: less is nothing, and more is nonsense whatever it is exactly


def plan_found(plan: Any) -> Found:
    """Return what a simulated plan found."""
    best = plan.recommended
    ks = list(dict.fromkeys(each.k for each in plan.expected))
    figures = {
        "found": _figure(plan, ks, "clusters found", "found", 0.9, top=1.05),
        "loss": _figure(plan, ks, "loss above k-means without privacy", "excess_loss", 0.1),
        "error": _figure(plan, ks, "standard error of a centre, share of its bounds", "center_stderr", None),
        "risk": _risk(plan),
    }
    rows = [each.cells for each in plan.expected]
    keys = [[e.k, e.epsilon, e.found, e.excess_loss, e.center_stderr, e.size_stderr, e.right] for e in plan.expected]
    verdict, _, risk = plan.verdict.partition("\nWhat it risks: ")
    title = "No epsilon that was tried will do" if best is None else f"epsilon = {best:g} will do"
    parts = [
        paragraph(verdict, class_="risk"),
        *_colours(ks),
        tag(
            "div",
            figure("found", "Clusters found.", "Dashed: 90 %."),
            figure("loss", "Loss.", "Dashed: 10 % above k-means without privacy."),
            figure("error", "Error bars.", "How far a centre is off because of the noise."),
            figure("risk", "Risk.", "How often a 50/50 guess about one person can be right, at most."),
            class_="pair",
        ),
        tag("h3", "All values"),
        table("What to expect", list(HEADER), rows, keys=keys),
        *(paragraph(note, class_="faint") for note in plan.notes),
    ]
    at = next((each for each in plan.risks if each.epsilon == best), None)
    right = [] if at is None else [("A 50/50 guess is right, at most", at.limit)]
    return Found(
        title=title, lead=plan.description, parts=parts, figures=figures,
        facts=[("Records", f"{plan.records:,}"), ("Clusters", ", ".join(map(str, ks))), *right],
        sure=[paragraph(_sure(plan)), *([tag("h3", "The risk"), paragraph(risk, class_="risk")] if risk else [])],
    )  # fmt: skip


def _colours(ks: list[int]) -> list[Html]:
    """Return which colour stands for which number of clusters, if there are several."""
    marks = [part for i, k in enumerate(ks) for part in (tag("span", str(k), class_=f"badge c{i % 8}"), " ")]
    return [tag("p", "Number of clusters, by colour: ", *marks)] if len(ks) > 1 else []


def _figure(
    plan: Any, ks: list[int], label: str, name: str, goal: float | None, top: float | None = None
) -> dict[str, Any]:
    """Return the lines of one figure against epsilon, one for each number of clusters."""
    layers: list[dict[str, Any]] = []
    for i, k in enumerate(ks):
        rows = [each for each in plan.expected if each.k == k]
        x = [each.epsilon for each in rows]
        y = [_drawn(getattr(each, name), name == "found") for each in rows]
        text = [f"{k} clusters, epsilon {each.epsilon:g}: {_percent(getattr(each, name))}" for each in rows]
        layers.append({"draw": "line", "x": x, "y": y, "mark": i, "text": f"{k} clusters"})
        kept = [j for j, value in enumerate(y) if value is not None]
        layers.append({"draw": "points", "x": [x[j] for j in kept], "y": [y[j] for j in kept], "marks": [i] * len(kept),
                       "text": [text[j] for j in kept], "small": True})  # fmt: skip
    if goal is not None:
        layers.append({"draw": "rule", "y": goal})
    known = [value for layer in layers if layer["draw"] == "line" for value in layer["y"] if value is not None]
    if top is None:
        low, high = 0.7 * min([*known, goal or 1.0]), 1.5 * max([*known, goal or 0.0])
        y_axis = {"label": label, "kind": "logshare", "low": low, "high": high}
    else:
        y_axis = {"label": label, "kind": "share", "low": 0.0, "high": top}
    return {"type": "xy", "x": _epsilons(plan), "y": y_axis, "layers": layers, "narrow": True}


def _risk(plan: Any) -> dict[str, Any]:
    x, y = [each.epsilon for each in plan.risks], [float(each.right) for each in plan.risks]
    text = [f"epsilon {each.epsilon:g}: right at most {each.limit} of the time" for each in plan.risks]
    layers = [{"draw": "line", "x": x, "y": y}, {"draw": "points", "x": x, "y": y, "text": text, "small": True}]
    axis = {"label": "a 50/50 guess is right, at most", "kind": "share", "low": 0.48, "high": 1.02}
    return {"type": "xy", "x": _epsilons(plan), "y": axis, "layers": layers, "narrow": True}


def _epsilons(plan: Any) -> dict[str, Any]:
    x = [each.epsilon for each in plan.risks]
    return {"label": "epsilon", "kind": "logs", "low": min(x) / 1.3, "high": max(x) * 1.3, "ticks": rounded(x)}


def _drawn(value: float, linear: bool) -> float | None:
    if not np.isfinite(value):
        return None
    return float(value) if linear else float(np.clip(value, _LEAST, _MOST))


def _percent(value: float) -> str:
    return f"{100 * value:.3g} %" if np.isfinite(value) else "not seen"


def _sure(plan: Any) -> str:
    runs = sorted({each.runs for each in plan.expected})
    many = f"{runs[0]}" if len(runs) == 1 else f"{runs[0]} to {runs[-1]}"
    fits = "fit" if runs[-1] == 1 else "fits"
    return (
        f"Every figure is from {many} {fits} to made-up data of this kind. Real clusters that overlap more, or are "
        "less even in size, need a larger epsilon. No data of yours was touched, and nothing was spent."
    )
