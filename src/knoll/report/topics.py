"""Released topics as tables: for the terminal and as CSV."""

import csv
from os import PathLike
from typing import Any

from knoll.report.clusters import count_with_error

_MOST, _SHORT = 20, 4  # keywords of a topic in the file, and in the terminal


def topics_table(model: Any) -> tuple[list[str], list[list[str]]]:
    """Return a header and one row of text per topic, the largest first; what matters most comes first."""
    table = model.summary(None)
    rows = []
    for i, topic in enumerate(table["topic"]):
        size = count_with_error(table["size"][i], table["size ±"][i])
        words = ", ".join(word for word, _, _ in model.keywords(topic, _SHORT)) or "no word stands out of the noise"
        rows.append([str(topic), size, words, f"{table['share'][i]:.0%}", str(table["group"][i])])
    return ["topic", "size", "keywords", "share", "group"], rows


def write_keywords(model: Any, path: str | PathLike[str]) -> None:
    """Write the keywords of every topic as CSV: lift and count, each with its standard error."""
    with open(path, "w", newline="", encoding="utf-8") as file:
        lines = csv.writer(file)
        if model.privacy_.warning:
            lines.writerow([f"# {model.privacy_.warning}"])
        lines.writerow(["topic", "word", "lift", "lift_stderr", "count", "count_stderr"])
        for topic in range(model.n_clusters_):
            for word, lift, error in model.keywords(topic, _MOST):
                count = model.word_counts_[topic, model.words_.index(word)]
                values = (lift, error, count, model.word_counts_stderr_)
                lines.writerow([topic, word, *(f"{value:.6g}" for value in values)])
