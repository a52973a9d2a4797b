"""The summary of clusters in the user's terms: for the terminal and as CSV."""

import csv
from os import PathLike
from typing import Any

from knoll.report.clusters import with_error


def summary_rows(model: Any) -> tuple[list[str], list[list[str]]]:
    """Return a header and one row of text per cluster, largest first: every column in its own terms."""
    table = model.summary(None)
    names = [name for name in table if f"{name} ±" in table]
    header = ["cluster", "size", "share", *names, "sets it apart"]
    rows = []
    for i, number in enumerate(table["cluster"]):
        cells = [_cell(table[name][i], table[f"{name} ±"][i]) for name in names]
        size, share = f"{table['size'][i]:,.0f}", f"{table['share'][i]:.0%}"
        rows.append([str(number), size, share, *cells, table["sets it apart"][i]])
    return header, rows


def write_summary(model: Any, path: str | PathLike[str]) -> None:
    """Write the summary as CSV."""
    table = model.summary(None)
    with open(path, "w", newline="", encoding="utf-8") as file:
        lines = csv.writer(file)
        if model.privacy_.warning:
            lines.writerow([f"# {model.privacy_.warning}"])
        lines.writerow(table)
        lines.writerows(zip(*table.values(), strict=True))


def _cell(value: Any, error: float) -> str:
    """Return a number with its error, or a date or shares as they are."""
    return with_error(value, error) if isinstance(value, float) else str(value)
