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
    """Write the significant conditional modes on a mesh of the only predictor as CSV; return how many there are."""
    curves, names = model.curves(points), column_names(model)
    with open(path, "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        if model.privacy_.warning:
            table.writerow([f"# {model.privacy_.warning}"])
        table.writerow([names[0], names[1], "stderr", "significance"])
        rows = np.column_stack([curves.x[curves.row, 0], curves.y, curves.stderr, curves.significance])
        table.writerows([f"{value:.8g}" for value in row] for row in rows)
    return len(curves.y)
