"""All columns after the last look, together: each has all records, so they learn their number from each other."""

from collections.abc import Callable
from typing import Any

import numpy as np

from knoll import progress
from knoll.arrays import Floats
from knoll.profile.figures import QUANTILES, OnLevels, OnLine
from knoll.profile.looks import Column


def read_figures(columns: list[Column], decode: list[Callable[[Floats], Floats]]) -> dict[str, Any]:
    """Return the fitted attributes of a profile, by name.

    Parameters
    ----------
    columns : list of Column
        After the last look.
    decode : list of callables
        From encoded values to those that are averaged, for each column.
    """
    fits = []
    for j, column in enumerate(columns):
        fits.append(_fit(column))
        progress.report("fitting columns", (j + 1) / len(columns))
    totals, variances = (np.array(each) for each in zip(*(fit.total for fit in fits), strict=True))
    worth = 1.0 / variances
    records, error = float(worth @ totals / worth.sum()), float(worth.sum() ** -0.5)
    cells, missing, lines, means = [], [], [], []
    for j, (column, fit) in enumerate(zip(columns, fits, strict=True)):
        others = float(worth.sum() - worth[j])
        if len(fits) > 1:
            fit = fit.with_total(float(worth @ totals - worth[j] * totals[j]) / others, 1.0 / others)
        missing.append(fit.missing(records))
        edges = column.line.values(column.edges)
        found = fit.figures(edges, decode[j])
        cells.append(np.column_stack([np.full(len(edges) - 1, j), edges[:-1], edges[1:], found.shares, found.errors]))
        if column.line.smooth:
            lines.append([found.quantiles, found.low, found.high])
            means.append([found.mean, found.mean_error])
    table, at = np.vstack(cells), np.array(lines).reshape(-1, 3, len(QUANTILES))
    shares, middle = np.array(missing), np.array(means).reshape(-1, 2)
    return {
        "n_records_": max(records, 0.0), "n_records_stderr_": error,
        "missing_shares_": shares[:, 0], "missing_shares_stderr_": shares[:, 1],
        "cells_": table[:, :3], "cell_shares_": table[:, 3], "cell_shares_stderr_": table[:, 4],
        "quantiles_": at[:, 0], "quantiles_low_": at[:, 1], "quantiles_high_": at[:, 2],
        "averages_": middle[:, 0], "averages_stderr_": middle[:, 1],
    }  # fmt: skip


def _fit(column: Column) -> OnLine | OnLevels:
    if column.line.smooth:
        return OnLine(column.fitted())
    ((_, _, counts, variances),) = column.runs
    return OnLevels(counts, float(variances[0]))
