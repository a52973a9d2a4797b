"""Bounds bought from the budget: ``bounds="private"``.

Two column-histogram queries. The first counts values on a geometric grid (0, and ± powers of two), which fits any
unit of measurement without knowing it; the bins that stand above the noise give a coarse range per column. The
second counts values in equal bins over that range and trims both ends as long as the records beyond cannot be told
from none. Everything is post-processing of the two releases.
"""

import numpy as np

from knoll.privacy import Ask, Grant, Released
from knoll.queries import Box, ColumnHistograms

PRIVATE = "private"
SHARE = 0.1
"""Share of the budget that ``bounds="private"`` spends, half on each histogram."""

_POWERS = np.exp2(np.arange(-20, 51))
_GRID = np.concatenate([-_POWERS[::-1], _POWERS])
_FINE_BINS = 256


def bounds_asks(n_columns: int) -> list[Ask]:
    """Return what buying bounds releases."""
    return [Ask.like(ColumnHistograms(np.tile(_GRID, (n_columns, 1))), 2, times=2, share=SHARE / 2)]


def buy_bounds(grant: Grant, n_columns: int, names: tuple[str, ...] | None) -> Box:
    """Spend `SHARE` of a grant on bounds for every column."""
    first, second = grant.part(SHARE / 2), grant.part(SHARE / 2)
    coarse = first.release(ColumnHistograms(np.tile(_GRID, (n_columns, 1))))
    ends = np.concatenate([[2 * _GRID[0]], _GRID, [2 * _GRID[-1]]])
    lower, upper = _range_above_noise(coarse, np.tile(ends, (n_columns, 1)))
    edges = np.linspace(lower, upper, _FINE_BINS + 1, axis=1)
    fine = second.release(ColumnHistograms(edges[:, 1:-1]))
    lower, upper = _trim(fine, edges)
    return Box(tuple(lower), tuple(upper), names)


def _range_above_noise(histogram: Released, edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Ends of the bins whose count exceeds the noise (the largest count's bin, if none does)."""
    counts = histogram.value
    seen = counts > histogram.noise_bound(0.01)
    seen[np.arange(len(seen)), counts.argmax(axis=1)] = True
    first = seen.argmax(axis=1)
    last = seen.shape[1] - 1 - seen[:, ::-1].argmax(axis=1)
    columns = np.arange(len(seen))
    return edges[columns, first], edges[columns, last + 1]


def _trim(histogram: Released, edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Move both ends inwards while the records beyond, all bins together, stay within two standard errors of none.

    Stopping early by chance only leaves the bounds wider; moving too far would clip records.
    """
    noise = 2.0 * histogram.stderr[:, :1] * np.sqrt(np.arange(1, histogram.value.shape[1] + 1))
    from_left = np.cumsum(histogram.value, axis=1) > noise
    from_right = np.cumsum(histogram.value[:, ::-1], axis=1) > noise
    columns = np.arange(len(edges))
    bins = histogram.value.shape[1]
    first = np.where(from_left.any(axis=1), from_left.argmax(axis=1), 0)
    last = np.where(from_right.any(axis=1), bins - 1 - from_right.argmax(axis=1), bins - 1)
    first, last = np.minimum(first, last), np.maximum(first, last)
    margin = 1 + (last - first) // 8  # the thin tails that noise hides
    return edges[columns, np.maximum(first - margin, 0)], edges[columns, np.minimum(last + margin, bins - 1) + 1]
