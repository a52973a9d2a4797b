"""The summary of clusters in the user's terms: for the terminal and as CSV."""

import csv
from os import PathLike
from typing import Any

from knoll.report.clusters import NOT_SEEN, with_error


def summary_rows(model: Any) -> tuple[list[str], list[list[str]]]:
    """Return a header and one row of text per cluster, largest first: every column in its own terms."""
    table = model.summary(None)
    names = [name for name in table if f"{name} ±" in table]
    kinds = dict(iter(model.columns_)) if hasattr(model, "columns_") else {}
    words = [getattr(kinds.get(name.removesuffix(" (column)")), "word", "number") for name in names]
    header = ["cluster", "size", "share", *names]
    rows = []
    for i, number in enumerate(table["cluster"]):
        pairs = [(table[name][i], table[f"{name} ±"][i]) for name in names]
        cells = [_cell(*pair, word) for pair, word in zip(pairs, words, strict=True)]
        rows.append([str(number), f"{table['size'][i]:,.0f}", f"{table['share'][i]:.0%}", *cells])
    return header, rows


def apart_lines(model: Any) -> list[str]:
    """Return what sets each cluster apart, a line for each that anything does."""
    table = model.summary(None)
    pairs = zip(table["cluster"], table["sets it apart"], strict=True)
    return [f"{number}: {words}" for number, words in pairs if words]


def write_summary(model: Any, path: str | PathLike[str]) -> None:
    """Write the summary as CSV."""
    table = model.summary(None)
    with open(path, "w", newline="", encoding="utf-8") as file:
        lines = csv.writer(file)
        if model.privacy_.warning:
            lines.writerow([f"# {model.privacy_.warning}"])
        lines.writerow(table)
        lines.writerows(zip(*table.values(), strict=True))


def _cell(value: Any, error: float, word: str) -> str:
    """Return a number, a date, shares of levels or of yes with their error; "not seen" if nothing can be said."""
    if error == float("inf"):
        return NOT_SEEN
    if word == "boolean" and isinstance(value, float):
        return f"yes {with_error(100 * value, 100 * error)} %"
    if word == "date":
        return f"{value} ± {error:,.{1 if error < 10 else 0}f} d"
    if word in ("category", "boolean"):
        return f"{value}, ± {100 * error:.{1 if error < 0.01 else 0}f} %"
    return with_error(value, error) if isinstance(value, float) else str(value)
