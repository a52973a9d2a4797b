"""Released clusters as tables: for the terminal and as CSV."""

import csv
from os import PathLike
from typing import Any

import numpy as np


def column_names(model: Any) -> list[str]:
    """Return the names of the model's columns, or x0, x1, ... if it was fitted without names."""
    return [str(name) for name in getattr(model, "feature_names_in_", [f"x{j}" for j in range(model.n_features_in_)])]


def centers_table(model: Any, most_columns: int = 8) -> tuple[list[str], list[list[str]]]:
    """Return a header and one row of text per cluster, largest first: size and centre, each ± its privacy noise."""
    names = column_names(model)
    shown = names[:most_columns]
    header = ["cluster", "size", *shown, *(["..."] if len(names) > len(shown) else [])]
    rows = []
    for i in np.argsort(-model.cluster_sizes_, kind="stable"):
        size = f"{model.cluster_sizes_[i]:,.0f} ± {model.cluster_sizes_stderr_[i]:,.0f}"
        cells = [_with_error(model.cluster_centers_[i, j], model.centers_stderr_[i, j]) for j in range(len(shown))]
        rows.append([str(i), size, *cells, *(["..."] if len(names) > len(shown) else [])])
    return header, rows


def write_centers(model: Any, path: str | PathLike[str]) -> None:
    """Write centres, sizes and the standard errors of their privacy noise as CSV."""
    names = column_names(model)
    with open(path, "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        if model.privacy_.warning:
            table.writerow([f"# {model.privacy_.warning}"])
        table.writerow(["cluster", "size", "size_stderr", *names, *(f"{name}_stderr" for name in names)])
        for i, centre in enumerate(model.cluster_centers_):
            size = [model.cluster_sizes_[i], model.cluster_sizes_stderr_[i]]
            values = [*size, *centre, *model.centers_stderr_[i]]
            table.writerow([i, *(f"{value:.8g}" for value in values)])


def _with_error(value: float, error: float) -> str:
    """Write a value with as many digits as its error deserves."""
    if not np.isfinite(error):
        return f"{value:.4g} ± ?"
    digits = max(0, 1 - int(np.floor(np.log10(error)))) if error > 0 else 3
    return f"{value:,.{min(digits, 8)}f} ± {error:,.{min(digits, 8)}f}"
