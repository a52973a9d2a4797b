"""Released modes and modal curves as tables."""

import csv
from os import PathLike
from typing import Any

import numpy as np

from knoll.report.clusters import column_names


def write_modes(model: Any, path: str | PathLike[str]) -> None:
    """Write modes, standard errors, heights and significance as CSV."""
    names = column_names(model)
    with open(path, "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        if model.privacy_.warning:
            table.writerow([f"# {model.privacy_.warning}"])
        table.writerow(["mode", *names, *(f"{name}_stderr" for name in names), "density", "significance"])
        for i, mode in enumerate(model.modes_):
            values = [*mode, *model.modes_stderr_[i], model.mode_heights_[i], model.mode_significance_[i]]
            table.writerow([i, *(f"{value:.8g}" for value in values)])


def write_curves(model: Any, path: str | PathLike[str], points: int = 200) -> int:
    """Write the significant conditional modes on a mesh of one or two predictors as CSV; return how many there are.

    `records_near` is the released number of records near the mesh point; `few_records` is 1 where it is less than a
    tenth of what is typical: what stands there may be mistakes.
    """
    curves, names = model.curves(predictor_mesh(model, points)), column_names(model)
    with open(path, "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        if model.privacy_.warning:
            table.writerow([f"# {model.privacy_.warning}"])
        table.writerow([*names, "stderr", "significance", "records_near", "few_records"])
        rows = np.column_stack([curves.x[curves.row], curves.y, curves.stderr, curves.significance, curves.records])
        for row, few in zip(rows, curves.few, strict=True):
            table.writerow([*(f"{value:.8g}" for value in row), int(few)])
    return len(curves.y)


def predictor_mesh(model: Any, points: int) -> np.ndarray:
    """Return a mesh over the bounds of one or two predictors, about `points` of them in all."""
    low, high = model.bounds_.centre - model.bounds_.half, model.bounds_.centre + model.bounds_.half
    each = points if model.n_features_in_ == 2 else max(2, round(points**0.5))
    axes = [np.linspace(low[j], high[j], each) for j in range(model.n_features_in_ - 1)]
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))
