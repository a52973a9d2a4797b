"""Modes: the released density of one or two columns with its modes and basins; in more columns, the modes alone."""

from typing import Any

import numpy as np

from knoll.report.clusters import with_error
from knoll.report.page.axes import MapAsked, axes_of, columns_of, empty_axis, on_maps, two_widest
from knoll.report.page.found import (
    Found,
    bars_figure,
    counted,
    in_data,
    map_figure,
    owners,
    profile_figure,
    rounded,
    shaded,
)
from knoll.report.page.html import Html, figure, paragraph, table, tag

POINTS, CELLS = 320, 72  # of a curve; along each side of a map
NOISE = 3.0  # standard errors of the density below which no basin is coloured


def modes_found(model: Any, map: MapAsked = None) -> Found:
    """Return what a search for modes found; of a density without modes, the density."""
    d, modes = model.n_features_in_, getattr(model, "modes_", np.empty((0, model.n_features_in_)))
    drawn = _released(model)
    figures: dict[str, Any] = {}
    parts: list[Html] = []
    if d == 1 and drawn:
        figures["density"] = _line(model, modes)
        parts.append(figure("density", "The released density.", "Band: two standard errors of noise. Colours: basins."))
    elif d == 2 and drawn:
        figures["density"] = density_map(model, modes, map)
        colours = " Colours: basins, where the density stands out of the noise." if len(modes) else ""
        parts.append(figure("density", "The released density.", f"Stronger: denser.{colours}"))
    if len(modes) and (d > 2 or not drawn):
        parts += _in_columns(model, modes, figures, map)
    if hasattr(model, "modes_"):
        parts += [tag("h3", "All modes"), _sheet(model)] if len(modes) else [paragraph(_NONE)]
        figures["significance"] = _significance(model)
    words = "No significant mode" if not len(modes) else counted(len(modes), "mode")
    head = words if hasattr(model, "modes_") else "The density"
    return Found(
        title=f"{head}{in_data(model.privacy_)}",
        lead=_lead(model, len(modes)),
        facts=[
            *([("Modes", str(len(modes)))] if hasattr(model, "modes_") else []),
            ("Records, about", _records(model)),
        ],
        parts=parts,
        sure=_sure(model),
        figures=figures,
    )


_NONE = "No mode stands out of the noise. A larger epsilon or more records may show some."


def _in_columns(model: Any, modes: np.ndarray, figures: dict[str, Any], map: MapAsked) -> list[Html]:
    """Return modes in two columns that can be chosen, and in all of them."""
    axes = axes_of(model, modes, model.modes_stderr_, map=map)
    figures["map"] = map_figure(axes, [_mark(model, i) for i in range(len(modes))], two_widest(axes), word="mode")
    parts = [figure("map", "Where the modes are.", "Area: height. Crosses: two standard errors.")]
    if len(axes) > 1:
        figures["profile"] = profile_figure("map", axes)
        parts.append(figure("profile", "Every mode, column by column.", "Bars: two standard errors."))
    return parts


def _lead(model: Any, count: int) -> str:
    name = model.privacy_.estimator
    if not hasattr(model, "modes_"):
        return f"{name} released the density of about {_records(model)} records."
    found = f"{counted(count, 'mode')}, places where records are densest," if count else "no significant mode"
    return f"{name} found {found} among about {_records(model)} records."


def _records(model: Any) -> str:
    return f"{max(float(model.count_), 0.0):,.0f}"


def _released(model: Any) -> bool:
    """Return whether a density was released, not modes alone."""
    return bool(model.features_.any() or len(model.frame_) > 1)


def _mark(model: Any, i: int) -> dict[str, Any]:
    sure = f"significance {model.mode_significance_[i]:.1f}"
    return {"label": str(i), "title": f"Mode {i}", "size": float(max(model.mode_heights_[i], 0.0)),
            "seen": bool(np.isfinite(model.modes_stderr_[i]).all()), "note": sure}  # fmt: skip


def _line(model: Any, modes: np.ndarray) -> dict[str, Any]:
    """Return the density of one column with its noise, coloured by basins, and the modes on it."""
    [(name, kind, _)] = columns_of(model)
    axis = empty_axis(model, name, kind, 0)
    x = np.linspace(axis.low, axis.high, POINTS)
    shown = model._shown
    density, error = shown.value(x[:, None]) / model._mass(shown), 2 * float(model.density_stderr())
    layers: list[dict[str, Any]] = []
    labels = model._basins_of(x[:, None]) if len(modes) else np.full(len(x), -1)
    for i in range(len(modes)):
        inside = np.where(labels == i, np.maximum(density, 0.0), np.nan)
        layers.append({"draw": "area", "x": rounded(x), "y": rounded(inside), "mark": i})
    layers.append({"draw": "band", "x": rounded(x), "low": rounded(density - error), "high": rounded(density + error)})
    layers.append({"draw": "line", "x": rounded(x), "y": rounded(density), "text": "density"})
    heights = getattr(model, "mode_heights_", np.empty(0))
    text = [_words(model, i) for i in range(len(modes))]
    layers.append({"draw": "points", "x": rounded(modes[:, 0], 12), "y": rounded(heights), "text": text,
                   "ex": rounded(2 * _finite(model)[:, 0]), "marks": list(range(len(modes)))})  # fmt: skip
    top = 1.12 * max(float((density + error).max()), float(heights.max(initial=0.0)))
    low = min(0.0, float((density - error).min()))
    return {"type": "xy", "x": axis.to_dict(), "layers": layers,
            "y": {"label": "density", "kind": "number", "low": low, "high": top}}  # fmt: skip


def density_map(model: Any, modes: np.ndarray, map: MapAsked = None) -> dict[str, Any]:
    """Return the density of two columns as cells, coloured by basins, with the modes and their errors."""
    axes = [empty_axis(model, name, kind, j) for j, (name, kind, _) in enumerate(columns_of(model))]
    on_maps(model, axes, map)
    across, up = (1, 0) if axes[1].longitude is not None else (0, 1)
    sides = [_cells(axes[j].low, axes[j].high) for j in (across, up)]
    points = np.stack(np.meshgrid(*sides, indexing="xy"), axis=-1).reshape(-1, 2)[:, [across, up]]
    series = model.series_
    density = series.value(points)
    shade = density / max(float(density.max()), 1e-300)
    cells = {"draw": "cells", "nx": CELLS, "ny": CELLS, "shade": shaded(shade)}
    if len(modes):
        clear = density >= NOISE * series.noise
        cells |= {"marks": owners(np.where(clear, model._basins_of(points), -1)), "word": "basin of mode"}
    error = _finite(model)
    dots = {
        "draw": "points", "x": rounded(modes[:, across], 12), "y": rounded(modes[:, up], 12),
        "ex": rounded(2 * error[:, across]), "ey": rounded(2 * error[:, up]), "marks": list(range(len(modes))),
        "text": [_words(model, i) for i in range(len(modes))],
    }  # fmt: skip
    return {"type": "xy", "x": axes[across].to_dict(), "y": axes[up].to_dict(), "layers": [cells, dots]}


def _cells(low: float, high: float) -> np.ndarray:
    """Return the middles of cells along a side."""
    return low + (np.arange(CELLS) + 0.5) / CELLS * (high - low)


def _finite(model: Any) -> np.ndarray:
    errors = getattr(model, "modes_stderr_", np.empty((0, model.n_features_in_)))
    return np.where(np.isfinite(errors), errors, 0.0)


def _words(model: Any, i: int) -> str:
    texts = [f"{axis.label} {axis.text[0]}" for axis in axes_of(model, model.modes_[[i]], model.modes_stderr_[[i]])]
    return f"Mode {i}: {', '.join(texts)}; significance {model.mode_significance_[i]:.1f}"


def _sheet(model: Any) -> Html:
    axes = axes_of(model, model.modes_, model.modes_stderr_)
    header = ["mode", *(axis.label for axis in axes), "density", "significance"]
    rows, keys = [], []
    for i in range(len(model.modes_)):
        height = with_error(model.mode_heights_[i], model.mode_heights_stderr_[i])
        if not model.mode_heights_stderr_[i] > 0:
            height = f"{model.mode_heights_[i]:.4g}"
        rows.append([str(i), *(axis.text[i] for axis in axes), height, f"{model.mode_significance_[i]:.1f}"])
        keys.append([i, *(axis.at[i] for axis in axes), model.mode_heights_[i], model.mode_significance_[i]])
    return table("Every mode", header, rows, keys=keys, marks=list(range(len(rows))))


def _significance(model: Any) -> dict[str, Any]:
    rows = [
        {"label": f"mode {i}", "value": float(value), "error": 0.0, "text": f"{value:.1f}", "mark": i, "seen": True}
        for i, value in enumerate(model.mode_significance_)
    ]
    return bars_figure(rows, "height above the pass, in standard errors", rule=(float(model.threshold_), "threshold"))


def _sure(model: Any) -> list[Html]:
    if not hasattr(model, "modes_"):
        error = f"{float(model.density_stderr()):.3g}"
        return [paragraph(f"The standard error of the density's privacy noise is {error}, the same at every point.")]
    words = (
        "Places are written ± one standard error: privacy noise and sampling together. Significance is the height of a "
        "mode above the pass to a higher one, in standard errors. Noise alone reaches "
        f"{model.threshold_:.1f} with probability {model.chance:g}."
    )
    drawn = [figure("significance", "Significance.", "The line marks what noise alone may reach.")]
    return [paragraph(words), *(drawn if len(model.modes_) else [])]
