"""Means of cells from released counts and sums, and the parameters and attributes that all clusterers share."""

from dataclasses import dataclass
from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn.metrics import pairwise_distances

from knoll.privacy import Ask, PrivacyError, Released
from knoll.queries import Ball, Box, CellMoments, Nearest

MOST_CLUSTERS = 100_000


def means_ask(n_columns: int, cells: int, times: int = 1, *, share: float) -> Ask:
    """Return what releasing counts and sums of so many cells asks; a cube's weights are the largest."""
    cube = Box((-1.0,) * n_columns, (1.0,) * n_columns)
    return Ask.like(CellMoments(Nearest(np.zeros((1, n_columns)), cube)), cells, times, share=share)


@dataclass(frozen=True)
class CellMeans:
    """Released means of cells, the standard error of their privacy noise, and which cells can be told from empty."""

    centres: np.ndarray
    stderr: np.ndarray
    counts: np.ndarray
    counts_stderr: np.ndarray
    seen: np.ndarray

    @classmethod
    def unseen(cls, centres: np.ndarray) -> Self:
        """Return starting points: centres of cells of which nothing is known."""
        k = len(centres)
        return cls(centres, np.full(centres.shape, np.inf), np.zeros(k), np.full(k, np.inf), np.zeros(k, dtype=bool))


def cell_means(
    moments: Released,
    origin: np.ndarray,
    domain: Box | Ball,
    otherwise: np.ndarray,
    farthest: np.ndarray | None = None,
) -> CellMeans:
    """Return origin + released sum / released count per cell; cells too small to see keep `otherwise`.

    With `farthest`, a length per column, a mean moves from its origin by at most that.

    A mean S/N with noise of standard error s on S and t on N has standard error sqrt(s^2 + (S/N)^2 t^2) / N, to first
    order; below two standard errors of N that says nothing and the cell counts as unseen.
    """
    count, sums = moments.value[:, :1], moments.value[:, 1:]
    count_error, sum_error = moments.stderr[:, :1], moments.stderr[:, 1:]
    seen = count > 2.0 * count_error
    offset = np.divide(sums, count, out=np.zeros_like(sums), where=seen)
    if farthest is not None:
        length = np.linalg.norm(offset / farthest, axis=1, keepdims=True)
        offset /= np.maximum(length, 1.0)
    error = np.hypot(sum_error, offset * count_error)
    stderr = np.divide(error, count, out=np.full_like(sums, np.inf), where=seen)
    centres = np.where(seen, domain.clip(origin + offset), otherwise)
    return CellMeans(centres, stderr, count[:, 0], count_error[:, 0], seen[:, 0])


def restart_unseen(means: CellMeans, domain: Box | Ball, scales: np.ndarray, rng: np.random.RandomState) -> np.ndarray:
    """Return the centres, those of unseen cells moved beside the largest cells, so that the next step can split them.

    Each goes half-way to the nearest seen neighbour's distance, in a random direction. Post-processing.
    """
    seen, unseen = np.flatnonzero(means.seen), np.flatnonzero(~means.seen)
    if len(seen) < 2 or not len(unseen):
        return means.centres
    centres = means.centres / scales
    hosts = seen[np.argsort(-means.counts[seen], kind="stable")][np.arange(len(unseen)) % len(seen)]
    gaps = pairwise_distances(centres[hosts], centres[seen])
    nearest = np.partition(gaps, 1, axis=1)[:, 1:2]
    direction = rng.standard_normal((len(unseen), domain.n_columns))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    centres[unseen] = centres[hosts] + 0.5 * nearest * direction
    return domain.clip(centres * scales)


def check_count(name: str, value: Any, most: int) -> int:
    """Return a positive integer parameter, or explain what is wrong with it."""
    if isinstance(value, bool) or not isinstance(value, Integral) or not 1 <= int(value) <= most:
        raise PrivacyError(f"{name}={value!r} must be an integer from 1 to {most:,}")
    return int(value)


def check_preset(preset: Any) -> None:
    """Refuse an unknown preset."""
    if preset not in ("default", "paper"):
        raise PrivacyError(f'preset={preset!r} is not one of "default", "paper"')
