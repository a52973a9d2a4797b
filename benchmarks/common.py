"""Shared by all benchmarks: timing as ratios in one run, and results as JSON and Markdown."""

import json
import platform
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"


def median_seconds(work: Callable[[], Any], repeats: int = 5) -> float:
    """Return the median time of a warm call."""
    work()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def markdown(rows: list[dict[str, Any]]) -> str:
    """Return rows as a Markdown table."""
    header = list(rows[0])
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    lines += ["| " + " | ".join(str(row[name]) for name in header) + " |" for row in rows]
    return "\n".join(lines)


def write(name: str, command: str, rows: list[dict[str, Any]]) -> None:
    """Print a table and write it as JSON and Markdown."""
    RESULTS.mkdir(exist_ok=True)
    table = markdown(rows)
    print("\n" + table)
    (RESULTS / f"{name}.json").write_text(json.dumps({"command": command, "rows": rows}, indent=1) + "\n")
    note = f"Made by `{command}` on {platform.machine()}, Python {platform.python_version()}.\n"
    (RESULTS / f"{name}.md").write_text(f"{table}\n\n{note}")
    print(f"\nWrote {RESULTS.name}/{name}.md and .json")
