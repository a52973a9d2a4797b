"""Released mixtures as tables: for the terminal and as CSV."""

import csv
from os import PathLike
from typing import Any

import numpy as np

from knoll.report.clusters import column_names, with_error


def components_table(model: Any, most_columns: int = 8) -> tuple[list[str], list[list[str]]]:
    """Return a header and one row of text per component, largest first: weight, mean and standard deviation."""
    names = column_names(model)
    shown = names[:most_columns]
    more = ["..."] if len(names) > len(shown) else []
    header = ["component", "weight", *shown, *more]
    rows, spread = [], model.to_mixture().variances
    for i in np.argsort(-model.weights_, kind="stable"):
        deviations = np.sqrt(spread[i])
        cells = [
            f"{with_error(model.means_[i, j], model.means_stderr_[i, j])} (sd {deviations[j]:.3g})"
            for j in range(len(shown))
        ]
        rows.append([str(i), with_error(model.weights_[i], model.weights_stderr_[i]), *cells, *more])
    return header, rows


def write_components(model: Any, path: str | PathLike[str]) -> None:
    """Write weights, means, covariances and the standard errors of weights and means as CSV."""
    names = column_names(model)
    every = len(model.covariances_[0]) == len(names)  # else levels have shares, and numbers alone covariances
    numbers = range(len(names)) if every else model.bounds_.number_places
    upper = np.triu_indices(len(numbers))
    pairs = [f"cov_{names[numbers[i]]}_{names[numbers[j]]}" for i, j in zip(*upper, strict=True)]
    with open(path, "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        if model.privacy_.warning:
            table.writerow([f"# {model.privacy_.warning}"])
        errors = [f"{name}_stderr" for name in names]
        table.writerow(["component", "weight", "weight_stderr", *names, *errors, *pairs, "seen"])
        for i in range(len(model.weights_)):
            values = [model.weights_[i], model.weights_stderr_[i], *model.means_[i], *model.means_stderr_[i]]
            values += list(model.covariances_[i][upper])
            table.writerow([i, *(f"{value:.8g}" for value in values), int(model.components_seen_[i])])
