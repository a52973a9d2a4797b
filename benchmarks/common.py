"""Shared by all benchmarks: timing as ratios in one run, and where results go."""

import statistics
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from tools import output

RESULTS = Path(__file__).parent / "results"
write = partial(output.write, folder=RESULTS)


def median_seconds(work: Callable[[], Any], repeats: int = 5) -> float:
    """Return the median time of a warm call."""
    work()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)
