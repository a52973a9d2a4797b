"""Means of cells, from released counts and sums or from released votes."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from sklearn.metrics import pairwise_distances

from knoll.diagnose import CellSums
from knoll.numeric.made_up import Measured, gap_variance
from knoll.privacy import Ask, Released
from knoll.queries import Ball, Box, CellMoments, Nearest


def means_ask(n_columns: int, cells: int, times: int = 1, *, share: float) -> Ask:
    """Return what a release of counts and sums of so many cells asks. A cube is the domain with the largest weights."""
    cube = Box((-1.0,) * n_columns, (1.0,) * n_columns)
    return Ask.like(CellMoments(Nearest(np.zeros((1, n_columns)), cube)), cells, times, share=share)


@dataclass(frozen=True)
class CellMeans:
    """Released means of cells, standard errors of their privacy noise, and which cells are surely not empty.

    `measured` is what the last release showed, from which error bars are computed; `sums`, if squares are released too,
    is what the quality of the clusters follows from.
    """

    centres: np.ndarray
    stderr: np.ndarray
    counts: np.ndarray
    counts_stderr: np.ndarray
    seen: np.ndarray
    measured: Measured | None = None
    sums: CellSums | None = None

    @classmethod
    def unseen(cls, centres: np.ndarray) -> Self:
        """Return starting points: centres of cells about which nothing is known."""
        k = len(centres)
        return cls(centres, np.full(centres.shape, np.inf), np.zeros(k), np.full(k, np.inf), np.zeros(k, dtype=bool))

    def turned(self, domain: Box | Ball, turn: np.ndarray) -> Self:
        """Return the means, where what was measured is in coordinates that `turn` turns into columns."""
        assert self.measured is not None
        return replace(self, measured=replace(self.measured, origin=domain.centre, turn=turn))

    def with_measured(
        self,
        domain: Box | Ball,
        scales: np.ndarray,
        at: np.ndarray | None = None,
        radius: float | None = None,
        variance: np.ndarray | None = None,
    ) -> Self:
        """Return the means with what was measured: cells nearest to `at`, displacements clipped to `radius`.

        Without released variances they are guessed from the distances between the cells.
        """
        k, d = self.centres.shape
        inside = (self.centres - domain.centre) / scales
        places = None if at is None else (at - domain.centre) / scales
        most = np.square(domain.half / scales) / 3
        guess = gap_variance(inside if places is None else places, most) if variance is None else variance
        measured = Measured(
            inside, self.stderr / scales, guess, self.counts, self.counts_stderr, np.arange(k), domain.centre,
            np.asarray(scales), places, None if radius is None else np.full(k, radius), np.ones((k, d)),
        )  # fmt: skip
        return replace(self, measured=measured)


def cell_means(
    moments: Released, origin: np.ndarray, domain: Box | Ball, otherwise: np.ndarray, farthest: np.ndarray | None = None
) -> CellMeans:
    """Return origin + released sum / released count for each cell. A cell too small to be seen keeps `otherwise`.

    `farthest`, a length for each column, limits how far a mean moves from its origin.

    Let S have noise of standard error s, and N of t. To first order the mean S/N has standard error
    sqrt(s^2 + (S/N)^2 t^2) / N. If N is below 2 t this says nothing, and the cell counts as unseen.
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
    """Return the centres. Those of unseen cells move beside the largest cells, so that the next step can split these.

    Each is placed in a random direction, at half the distance between the large cell and its nearest seen neighbour.
    This is post-processing.
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


def vote_means(
    points: np.ndarray, labels: np.ndarray, votes: np.ndarray, noise: float, centres: np.ndarray
) -> CellMeans:
    """Return the means of points, weighted by votes, with the standard errors that come from the noise of the votes.

    If every vote v has independent noise of standard error s, the mean sum(v x) / sum(v) has variance
    s^2 sum((x - mean)^2) / sum(v)^2.
    """
    k, d = centres.shape
    counts, squares, spread = np.zeros(k), np.zeros(k), np.zeros((k, d))
    used = np.flatnonzero(votes > 0)
    np.add.at(counts, labels[used], votes[used])
    np.add.at(squares, labels[used], 1.0)
    np.add.at(spread, labels[used], np.square(points[used] - centres[labels[used]]))
    errors = noise * np.sqrt(squares)
    seen = counts > 2 * np.maximum(errors, noise)
    stderr = np.full((k, d), np.inf)
    stderr[seen] = noise * np.sqrt(spread[seen]) / counts[seen, None]
    return CellMeans(centres, stderr, counts, np.maximum(errors, noise), seen)
