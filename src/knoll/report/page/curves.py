"""Modal regression: the curves of the response over one predictor; over two, slice by slice."""

from typing import Any

import numpy as np

from knoll.report.page.axes import columns_of, empty_axis, value_text
from knoll.report.page.found import Found, rounded
from knoll.report.page.html import Html, figure, paragraph, table, tag
from knoll.report.page.modes import density_map

MESH, ROWS = 100, 25  # points along a curve; rows of the table
SLICES = 9  # of the second predictor
_FEW = "Hollow marks: few records near, which may be mistakes."


def curves_found(model: Any) -> Found:
    """Return what a modal regression found."""
    names = [name for name, _, _ in columns_of(model)]
    response, given = names[-1], " and ".join(names[:-1])
    figures: dict[str, Any] = {}
    if model.n_features_in_ == 2:
        parts, seen = _over_one(model, figures)
    elif model.n_features_in_ == 3:
        parts, seen = _over_two(model, figures)
    else:
        parts, seen = (
            [paragraph(f"Curves are drawn over one or two predictors; there are {len(names) - 1} here.")],
            None,
        )
    clear = "" if seen is None else f" At {seen:.0%} of {given} at least one is clear."
    return Found(
        title=f"The usual {response} given {given}",
        lead=f"{model.privacy_.estimator} follows the most common values of {response} along {given}: each branch by "
        f"itself, where a mean would lie between them.{clear}",
        facts=[("Response", response), ("Records, about", f"{max(float(model.count_), 0.0):,.0f}")],
        parts=parts,
        sure=[paragraph(_meaning(model))],
        figures=figures,
    )


def _over_one(model: Any, figures: dict[str, Any]) -> tuple[list[Html], float]:
    """Return the curves over the released density, and at which part of the predictor there are any."""
    curves = model.curves(MESH)
    drawn = density_map(model, np.empty((0, 2)), False)
    drawn["layers"] = [drawn["layers"][0], *_points(model, curves)]
    figures["curves"] = drawn
    names = [name for name, _, _ in columns_of(model)]
    parts = [
        figure(
            "curves", f"{names[-1]} along {names[0]}.", f"Shade: released density. Bars: two standard errors. {_FEW}"
        ),
        tag("h3", "Some values"),
        _sheet(model, model.curves(ROWS)),
    ]
    return parts, _seen(curves)


def _over_two(model: Any, figures: dict[str, Any]) -> tuple[list[Html], float]:
    """Return curves along the first predictor at some values of the second, which the reader chooses."""
    (_, _, _), (second, kind, _), _ = columns_of(model)
    axes = [empty_axis(model, name, each, j) for j, (name, each, _) in enumerate(columns_of(model))]
    steps = np.linspace(axes[1].low, axes[1].high, SLICES + 2)[1:-1]
    line = np.linspace(axes[0].low, axes[0].high, MESH)
    slices, clear = [], []
    for at in steps:
        curves = model.curves(np.column_stack([line, np.full(MESH, at)]))
        label = _place(kind, float(at))
        drawn = {"type": "xy", "x": axes[0].to_dict(), "y": axes[2].to_dict(), "layers": _points(model, curves)}
        slices.append({"label": label, "figure": drawn})
        clear.append(_seen(curves))
    figures["curves"] = {"type": "slices", "label": second, "options": slices, "chosen": SLICES // 2}
    caption = figure("curves", f"{axes[2].label} along {axes[0].label}.", f"Bars: two standard errors. {_FEW}")
    middle = model.curves(
        np.column_stack([np.linspace(axes[0].low, axes[0].high, ROWS), np.full(ROWS, steps[SLICES // 2])])
    )
    return [caption, tag("h3", "Some values"), _sheet(model, middle)], float(np.mean(clear))


def _points(model: Any, curves: Any) -> list[dict[str, Any]]:
    """Return the marks of curves: full where there are records, hollow where there are few."""
    *_, (name, kind, _) = columns_of(model)
    error = np.where(np.isfinite(curves.stderr), curves.stderr, 0.0)
    layers = []
    for few in (True, False):
        kept = np.flatnonzero(curves.few == few)
        text = [f"{name} {value_text(kind, curves.y[i], curves.stderr[i])}" for i in kept]
        layers.append({
            "draw": "points", "x": rounded(curves.x[curves.row[kept], 0], 8), "y": rounded(curves.y[kept], 12),
            "ey": rounded(2 * error[kept]), "text": text, "small": True, "hollow": few,
        })  # fmt: skip
    return layers


def _sheet(model: Any, curves: Any) -> Html:
    columns = columns_of(model)
    header = [name for name, _, _ in columns] + ["significance", "records near"]
    rows, keys = [], []
    for i, row in enumerate(curves.row):
        place = [_place(kind, float(curves.x[row, j])) for j, (_, kind, _) in enumerate(columns[:-1])]
        response = value_text(columns[-1][1], curves.y[i], curves.stderr[i])
        near = f"{max(curves.records[i], 0.0):,.0f}{' (few)' if curves.few[i] else ''}"
        rows.append([*place, response, f"{curves.significance[i]:.1f}", near])
        keys.append([*curves.x[row].tolist(), curves.y[i], curves.significance[i], curves.records[i]])
    if not rows:
        return paragraph("No curve stands out of the noise. A larger epsilon or more records may show some.")
    return table("Values along the curves", header, rows, keys=keys)


def _place(kind: Any, value: float) -> str:
    """Return a point of the mesh in words: it has no error, and four digits are enough."""
    if kind is None or kind.word in ("number", "whole"):
        return f"{value:,.4g}" if abs(value) < 1e4 else f"{value:,.0f}"
    return value_text(kind, value, 0.0).partition(" ±")[0]


def _seen(curves: Any) -> float:
    """Return the part of the mesh with a mode of more than a few records."""
    return len(np.unique(curves.row[~curves.few])) / len(curves.x)


def _widths(model: Any) -> str:
    """Return the bandwidths of columns of plain numbers, in their units."""
    columns = zip(columns_of(model), model.bandwidth_, strict=True)
    plain = [f"{name} by {h:.2g}" for (name, kind, _), h in columns if getattr(kind, "word", "number") == "number"]
    return f" ({', '.join(plain)})" if plain else ""


def _meaning(model: Any) -> str:
    return (
        "Values are written ± one standard error: privacy noise and sampling together. The curves are those of "
        f"smoothed data{_widths(model)}: a bend narrower than that is flattened, which ± leaves out. A branch is drawn "
        f"only where it stands out of the noise: its significance exceeds {model.threshold_:.1f}, which noise alone "
        f"reaches anywhere with probability {model.chance:g}."
    )
