"""Tables of clusters and components in the user's terms: the texts of the model's own summary."""

from typing import Any

from knoll.report.clusters import NOT_SEEN, count_with_error, with_error
from knoll.report.page.axes import MOST_AXES, columns_of, value_text
from knoll.report.page.html import Html, paragraph, table

MOST_CELLS = 6_000  # of a table: a larger one would make the page slow; the CSV files have all


def summary_sheet(model: Any, word: str) -> list[Html]:
    """Return one row per cluster or component, the largest first: size, share and every column, each with its error."""
    summary = model.summary(None)
    every = [name for name in summary if f"{name} ±" in summary]
    names = every[: max(1, min(MOST_AXES, MOST_CELLS // max(len(summary["cluster"]), 1)))]
    kinds = {name: kind for name, kind, _ in columns_of(model)}
    header = [word, "size" if word == "cluster" else "weight", "share", *names]
    rows, keys = [], []
    for i, number in enumerate(summary["cluster"]):
        values = [summary[name][i] for name in names]
        errors = [summary[f"{name} ±"][i] for name in names]
        cells = [_cell(kinds.get(name), *pair) for name, *pair in zip(names, values, errors, strict=True)]
        rows.append([str(number), size_text(model, number), f"{summary['share'][i]:.1%}", *cells])
        keys.append([int(number), summary["size"][i], summary["share"][i], *values])
    texts = [3 + j for j, name in enumerate(names) if rows and not isinstance(summary[name][0], float)]
    marks = [int(each) for each in summary["cluster"]]
    sheet = table(f"Every {word}", header, rows, keys=keys, marks=marks, texts=texts)
    fewer = f"The first {len(names):,} of {len(every):,} columns; model.summary() has all."
    return [sheet, *([paragraph(fewer, class_="faint")] if len(names) < len(every) else [])]


def size_text(model: Any, i: int) -> str:
    """Return the released size of a cluster, or the weight of a component, with its error."""
    if hasattr(model, "cluster_sizes_"):
        return count_with_error(model.cluster_sizes_[i], model.cluster_sizes_stderr_[i])
    return with_error(float(model.weights_[i]), float(model.weights_stderr_[i]))


def _cell(kind: Any, value: Any, error: float) -> str:
    """Return a value of the summary with its error: numbers and dates; shares of levels are words."""
    if isinstance(value, float):
        shown = (
            value_text(kind, value, error) if kind is not None and kind.word == "boolean" else with_error(value, error)
        )
        return shown
    if kind is not None and kind.word == "date" and error == error:
        return f"{value} ± {error:.{1 if error < 10 else 0}f} days" if error < float("inf") else NOT_SEEN
    return str(value)
