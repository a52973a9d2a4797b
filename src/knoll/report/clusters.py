"""Released clusters as tables: for the terminal and as CSV."""

import csv
from os import PathLike
from typing import Any

import numpy as np

NOT_SEEN = "not seen"  # printed where an error is infinite: nothing can be said
MOST_DIGITS = 8  # after the point: beyond, an error is written as smaller than the last digit
MEANING = "± one standard error of what privacy changes, against the records assigned"
"""What an error bar means, in one line. The docstrings of `centers_stderr_` and `means_stderr_` say it in full."""


def column_names(model: Any) -> list[str]:
    """Return the names of the model's columns, or x0, x1, ... if it was fitted without names."""
    if hasattr(model, "columns_"):
        return [str(name) for name in model.bounds_.names]
    return [str(name) for name in getattr(model, "feature_names_in_", [f"x{j}" for j in range(model.n_features_in_)])]


def centers_table(model: Any, most_columns: int = 8) -> tuple[list[str], list[list[str]]]:
    """Return a header and one row of text per cluster, largest first: size and centre, each ± its standard error.

    The error is what privacy changes: the released value against the same figure computed, without noise, on the
    records that the model assigns to the cluster.
    """
    names = column_names(model)
    shown = names[:most_columns]
    header = ["cluster", "size", *shown, *(["..."] if len(names) > len(shown) else [])]
    rows = []
    for i in np.argsort(-model.cluster_sizes_, kind="stable"):
        size = count_with_error(model.cluster_sizes_[i], model.cluster_sizes_stderr_[i])
        cells = [with_error(model.cluster_centers_[i, j], model.centers_stderr_[i, j]) for j in range(len(shown))]
        rows.append([str(i), size, *cells, *(["..."] if len(names) > len(shown) else [])])
    return header, rows


def write_centers(model: Any, path: str | PathLike[str]) -> None:
    """Write centres, sizes, their standard errors (of what privacy changes) and which are seen as CSV."""
    names = column_names(model)
    with open(path, "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        if model.privacy_.warning:
            table.writerow([f"# {model.privacy_.warning}"])
        table.writerow(["cluster", "size", "size_stderr", *names, *(f"{name}_stderr" for name in names), "seen"])
        for i, centre in enumerate(model.cluster_centers_):
            size = [model.cluster_sizes_[i], model.cluster_sizes_stderr_[i]]
            values = [*size, *centre, *model.centers_stderr_[i]]
            table.writerow([i, *(f"{value:.8g}" for value in values), int(model.clusters_seen_[i])])


def with_error(value: float, error: float) -> str:
    """Write a value with as many digits as its error deserves; "not seen" if nothing can be said."""
    if not np.isfinite(error):
        return NOT_SEEN
    digits = 1 - int(np.floor(np.log10(error))) if error > 0 else MOST_DIGITS + 1
    if digits > MOST_DIGITS:
        return f"{value:,.{MOST_DIGITS}g} ± <{10.0**-MOST_DIGITS:g}"
    return f"{value:,.{max(digits, 0)}f} ± {error:,.{max(digits, 0)}f}"


def count_with_error(count: float, error: float) -> str:
    """Write a number of records with its error, both without digits after the point."""
    if not np.isfinite(error):
        return NOT_SEEN
    return f"{count:,.0f} ± {error:,.0f}" if error >= 0.5 else f"{count:,.0f} ± <1"
