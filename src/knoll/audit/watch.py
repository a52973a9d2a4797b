"""Making runs: one at a time in both boxes, or many outcomes of a function at once."""

import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from knoll.audit.nested import repeatable
from knoll.audit.pairs import Pair
from knoll.audit.runs import Run, look

CLOSE_LOOKS = 2
"""Runs of each neighbour of each pair in which texts, files and answers are compared, not only the whole state: the
first ones, since making them may take longer than a fit."""

_PILOT = 2  # trial runs that tell how long one takes


class OneByOne:
    """Runs a mechanism once at a time, in both boxes."""

    def __init__(self, mechanism: Any):
        self._mechanism = repeatable(mechanism)
        self._looked: Counter[tuple[str, bool]] = Counter()

    def __call__(
        self, pair: Pair, size: int, *, present: bool, step: Callable[[int], None], trial: bool = False
    ) -> tuple[np.ndarray, list[Run]]:
        """Make `size` runs on one neighbour; return what they published, one row each, and what they showed."""
        found = []
        for _ in range(size):
            self._looked[pair.name, present] += not trial
            closely = not trial and self._looked[pair.name, present] <= CLOSE_LOOKS
            found.append(look(self._mechanism, pair, present=present, closely=closely))
            step(1)
        width = max((run.published.size for run in found), default=0)
        return np.vstack([padded(run.published[None], width) for run in found]), found


class Batch:
    """Asks a callable for many outcomes at once: black box only."""

    def __init__(self, mechanism: Callable[[np.ndarray, int], Any]):
        self._mechanism = mechanism

    def __call__(
        self, pair: Pair, size: int, *, present: bool, step: Callable[[int], None]
    ) -> tuple[np.ndarray, list[Run]]:
        """Return `size` outcomes on one neighbour, one row each."""
        rows = pair.present if present else pair.without
        outcomes = np.asarray(self._mechanism(rows, size), dtype=np.float64).reshape(size, -1)
        step(size)
        return outcomes, []


See = OneByOne | Batch


def affordable(see: Any, pairs: list[Pair], runs: int, seconds: float) -> int:
    """Return how many runs fit into the time, judged by a few trial runs."""
    if isinstance(see, Batch):
        return runs
    see(pairs[0], 1, present=True, step=lambda size: None, trial=True)  # imports and caches
    started = time.monotonic()
    for pair in (pairs[0], pairs[-1]):
        see(pair, _PILOT, present=False, step=lambda size: None, trial=True)
    each = (time.monotonic() - started) / (2 * _PILOT)
    return int(min(runs, max(seconds / max(each, 1e-9), 1)))


def padded(outcomes: np.ndarray, width: int) -> np.ndarray:
    """Outcomes as finite numbers of one width; missing places get a number that no outcome has."""
    wide = np.full((len(outcomes), width), -1e12)
    kept = min(width, outcomes.shape[1])
    wide[:, :kept] = np.nan_to_num(outcomes[:, :kept], nan=-1e12, posinf=1e12, neginf=-1e12)
    return wide
