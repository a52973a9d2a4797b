"""Sub-clusters as a mixture, made robust to the noise of its release. Morse clustering starts from it.

Everything here is post-processing of released values.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from knoll.numeric.bars import Bars, bars
from knoll.numeric.made_up import Measured, Published
from knoll.numeric.mixture import Mixture
from knoll.queries import Ball, Box
from knoll.steps.component_bars import PublishedParts, component_bars
from knoll.steps.moments import Belief

SEEN = 2.0  # a sub-cluster is seen if its count exceeds this many standard errors: noise alone rarely does
# Least part of the common shape in every sub-cluster's. More joins what noise keeps apart, less shows more shapes.
# Settled with the six datasets of docs/benchmarks.md, "Morse clustering", in view.
POOLED = 1 / 4


@dataclass(frozen=True)
class Grid:
    """Released counts of the cells of a grid that stand out: their middles, counts, noise and width.

    `others` are the middles of all other cells, `likely` the share of the other records that each is likely to hold.
    """

    points: np.ndarray
    counts: np.ndarray
    noise: float
    step: np.ndarray
    others: np.ndarray
    likely: np.ndarray


@dataclass(frozen=True)
class Subclusters:
    """A mixture of the sub-clusters that can be seen, and its standard errors from privacy noise.

    Attributes
    ----------
    mixture : Mixture
        The mixture.
    counts, counts_stderr : arrays of shape (k,)
        Released counts and their standard errors.
    means_stderr : array of shape (k, d)
        Standard errors of the means.
    spread_stderr : array of shape (k,)
        Standard error of an entry of a covariance, in units where the sub-cluster has covariance one.
    grid : Grid, optional
        The grid to which the mixture was fitted.
    total : float
        Released number of records.
    belief : Belief, optional
        What steps of expectation-maximisation showed, of all components.
    kept : integer array of shape (k,), optional
        Which components of `belief` the sub-clusters are.
    """

    mixture: Mixture
    counts: np.ndarray
    counts_stderr: np.ndarray
    means_stderr: np.ndarray
    spread_stderr: np.ndarray
    grid: "Grid | None" = None
    total: float = 0.0
    belief: Belief | None = None
    kept: np.ndarray | None = None

    @classmethod
    def of_belief(cls, belief: Belief) -> "Subclusters":
        """Return the sub-clusters from released moments of cells."""
        width = np.sqrt(np.einsum("kii->ki", belief.mixture.covariances))
        errors = np.sqrt(belief.noise)
        total = float(np.maximum(belief.counts, 0.0).sum())
        return cls(
            belief.mixture, belief.counts, errors[0], errors[1][:, None] * width, errors[2], total=total, belief=belief
        )

    @classmethod
    def of_found(cls, found: Any) -> "Subclusters":
        """Return the components that the method of a mixture found, as sub-clusters."""
        mixture, (weights, means, covariances) = found.mixture, found.errors
        variance = np.einsum("kii->ki", mixture.covariances)
        spread = np.einsum("kii->ki", covariances)
        total = max(found.total, 1.0)
        return cls(
            mixture,
            mixture.weights * total,
            np.minimum(weights, 1.0) * total,
            np.minimum(means, np.sqrt(variance)),
            np.minimum((spread / variance).mean(axis=1), 1.0),
            total=total,
            belief=found.belief,
        )

    def seen(self) -> np.ndarray:
        """Return which sub-clusters can be seen. The largest one always can."""
        seen = np.asarray(self.counts > SEEN * self.counts_stderr)
        seen[self.counts.argmax()] = True
        return seen

    def steadied(self, floor: np.ndarray) -> "Subclusters":
        """Leave out what cannot be seen. Shrink shapes to the common one as far as their difference is noise.

        Volumes stay. Shapes always go at least POOLED of the way, since a direction that is narrow in one sub-cluster
        alone is seldom a valley.
        """
        seen = self.seen()
        counts = np.maximum(self.counts[seen], 1e-9)
        share, covariances = counts / counts.sum(), self.mixture.covariances[seen]
        d = covariances.shape[1]
        common = volume(covariances) * unit(np.tensordot(share, unit(covariances), 1))
        width = np.sqrt(np.einsum("kii->ki", covariances))
        difference = np.square((covariances - common) / (width[:, :, None] * width[:, None, :])).sum(axis=(1, 2))
        spurious = np.square(self.spread_stderr[seen]) * d * d
        drawn = np.clip(spurious / np.maximum(difference, 1e-300), POOLED, 1.0)
        mixed = covariances + drawn[:, None, None] * (common - covariances)
        mixture = Mixture.nearest(share, self.mixture.means[seen], mixed, floor)
        left = (1 - drawn) * self.spread_stderr[seen]
        errors = self.counts_stderr[seen], self.means_stderr[seen], left
        return Subclusters(mixture, counts, *errors, self.grid, self.total, self.belief, np.flatnonzero(seen))

    def means_of(self, clusters: np.ndarray) -> np.ndarray:
        """Return the mean of each cluster that has a sub-cluster; the first entries are the sub-clusters' clusters."""
        labels = np.unique(clusters[: len(self.counts)], return_inverse=True)[1]
        part = np.eye(int(labels.max()) + 1)[:, labels] * np.maximum(self.counts, 1e-9)
        return np.asarray(part @ self.mixture.means / part.sum(axis=1, keepdims=True))

    def bars(
        self, labels: np.ndarray, domain: Box | Ball, centres: np.ndarray, sizes: np.ndarray, *, pure: bool
    ) -> Bars:
        """Return the error bars of clusters that sub-clusters were joined to. `labels` are those of sub-clusters."""

        def assign(rows: np.ndarray) -> np.ndarray:
            return labels[self.mixture.predict(rows)]

        if self.belief is not None and self.belief.steps:
            groups = np.full(self.belief.mixture.n_components, -1)
            groups[self.kept] = labels
            parts = PublishedParts(centres, sizes, lambda rows: np.eye(len(sizes))[assign(rows)], groups, pure)
            return component_bars(self.belief.steps, self.belief.mixture, domain, parts)
        published = Published(centres, sizes, assign, domain, pure=pure)
        return bars(self.measured(assign, labels, domain.centre), published)

    def measured(self, assign: Callable[[np.ndarray], np.ndarray], labels: np.ndarray, origin: np.ndarray) -> Measured:
        """Return what was released as cells: those of the grid, or the components."""
        d = self.mixture.n_columns
        if self.grid is not None:
            grid, m, more = self.grid, len(self.grid.points), len(self.grid.others)
            missing = max(self.total - float(grid.counts.sum()), grid.noise)
            points = np.vstack([grid.points, grid.others])
            within = np.tile(np.square(grid.step) / 12, (m + more, 1))  # the records' mean may be anywhere in a cell
            return Measured(
                points - origin, np.sqrt(within), within,
                np.concatenate([grid.counts, missing * grid.likely]), np.repeat([grid.noise, 0.0], [m, more]),
                np.concatenate([assign(grid.points), np.full(more, -1)]), origin, np.eye(d),
            )  # fmt: skip
        cells = Measured(
            self.mixture.means - origin, self.means_stderr, np.einsum("kii->ki", self.mixture.covariances), self.counts,
            self.counts_stderr, labels, origin, np.eye(d), roots=np.linalg.cholesky(self.mixture.covariances),
        )  # fmt: skip
        return cells.with_missing(self.total - float(self.counts.sum()))

    def redrawn(self, floor: np.ndarray, rng: np.random.RandomState) -> Mixture:
        """Return the mixture with noise of the released size added once more."""
        m, (k, d) = self.mixture, self.mixture.means.shape
        counts = np.maximum(self.counts + self.counts_stderr * rng.standard_normal(k), 0.1 * self.counts)
        means = m.means + self.means_stderr * rng.standard_normal((k, d))
        noise = rng.standard_normal((k, d, d)) * self.spread_stderr[:, None, None]
        values, vectors = np.linalg.eigh(np.eye(d) + np.tril(noise) + np.tril(noise, -1).transpose(0, 2, 1))
        # `learn` lets no direction of a covariance shrink below a tenth in a step; the same holds for a redrawn one
        inner = (vectors * np.maximum(values, 0.1)[:, None, :]) @ vectors.transpose(0, 2, 1)
        roots = np.linalg.cholesky(m.covariances)
        return Mixture.nearest(counts / counts.sum(), means, roots @ inner @ roots.transpose(0, 2, 1), floor)


def volume(covariances: np.ndarray) -> np.ndarray:
    """Return the geometric mean of the eigenvalues of each covariance: (..., d, d) -> (..., 1, 1)."""
    return np.exp(np.linalg.slogdet(covariances)[1] / covariances.shape[-1])[..., None, None]


def unit(covariances: np.ndarray) -> np.ndarray:
    """Return covariances of the same shape and of volume one."""
    return covariances / volume(covariances)
