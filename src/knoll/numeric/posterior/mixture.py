"""Mixtures of Gaussians of any shape from draws: the one that is most likely on average, and how uncertain it is.

The expected log-likelihood of a mixture is linear in the density. So the best mixture is the maximum-likelihood fit to
the mean of all draws. Expectation-maximisation on a grid finds it.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import softmax

from knoll.numeric.posterior.cells import CellFigures, best_centres, painted
from knoll.numeric.posterior.sample import Draws, effective_draws
from knoll.numeric.posterior.view import View

STEPS = 25  # of expectation-maximisation on a grid: free of budget, so only time limits it
PRIOR = 0.02  # of an average component's records are added at the mean covariance, so that none collapses
SETTLED = 1e-4  # gain of the mean log-likelihood below which steps end


@dataclass(frozen=True)
class ComponentFigures:
    """A mixture in the metric of the fit, from the window's lower corner, and what draws say of its components.

    Attributes
    ----------
    weights, means, covariances : arrays of shape (k,), (k, d), (k, d, d)
        The mixture.
    count, count_sd : arrays of shape (k,)
        Records of each component.
    mean_sd : array of shape (k, d)
        Root mean square distance of draws' means, by the mixture's responsibilities, from its means.
    covariance_sd : array of shape (k, d, d)
        The same of covariances.
    effective : float
        How many independent draws the draws are worth.
    """

    weights: np.ndarray
    means: np.ndarray
    covariances: np.ndarray
    count: np.ndarray
    count_sd: np.ndarray
    mean_sd: np.ndarray
    covariance_sd: np.ndarray
    effective: float

    @property
    def cells(self) -> CellFigures:
        """The same as figures of cells, for the error bars."""
        square = np.einsum("kii->ki", self.covariances) * self.count[:, None]
        none = np.zeros(self.means.shape)
        return CellFigures(
            self.means, self.count, self.count_sd, self.means, self.mean_sd, square, none, self.effective
        )  # fmt: skip


def best_mixture(
    draws: Draws, view: View, k: int, rng: np.random.RandomState, centres: np.ndarray | None = None
) -> ComponentFigures:
    """Return the mixture of k Gaussians that fits the mean of the draws best; it begins at centres."""
    points, density = painted(draws, view)
    mass = np.maximum(density.mean(axis=0), 0.0)
    centres = best_centres(points, density, k, rng)[1] if centres is None else centres
    kept = np.flatnonzero(mass > 0)
    within = np.square(np.array([np.diff(np.unique(column)[:2])[0] for column in points.T])) / 12
    found = fit(points[kept], mass[kept], within, centres)
    return figures(points[kept], density[:, kept], within, found, draws.chains)


def fit(
    points: np.ndarray, mass: np.ndarray, within: np.ndarray, centres: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return weights, means and covariances of a mixture, and the responsibilities of points; it begins at centres.

    `within` is the variance per column of the records at a point.
    """
    k = len(centres)
    shares = np.eye(k)[np.square(points[:, None] - centres).sum(axis=2).argmin(axis=1)]
    extra, before = PRIOR * mass.sum() / k, -np.inf
    for _ in range(STEPS):
        part = shares * mass[:, None]
        n = part.sum(axis=0)
        weights = (n + extra) / (n + extra).sum()
        means = np.where(n[:, None] > 0, part.T @ points / np.maximum(n, 1e-9)[:, None], centres)
        scatter = np.stack([_scatter(points - mean, column) for mean, column in zip(means, part.T, strict=True)])
        scatter += n[:, None, None] * np.diag(within)
        pooled = scatter.sum(axis=0) / mass.sum()
        covariances = (scatter + extra * pooled) / (n + extra)[:, None, None]
        logs = np.log(weights) - badness(points, within, means, covariances) / 2
        top = logs.max(axis=1, keepdims=True)
        shares = softmax(logs, axis=1)
        level = float(mass @ (top[:, 0] - np.log(np.maximum(shares.max(axis=1), 1e-300)))) / float(mass.sum())
        if level - before < SETTLED:
            break
        before = level
    return weights, means, covariances, shares


def _scatter(away: np.ndarray, part: np.ndarray) -> np.ndarray:
    return (away * part[:, None]).T @ away


def badness(points: np.ndarray, within: np.ndarray, means: np.ndarray, covariances: np.ndarray) -> np.ndarray:
    """Return minus twice the expected log density of each component at each point, (points, components)."""
    out = np.empty((len(points), len(means)))
    for i, (mean, covariance) in enumerate(zip(means, covariances, strict=True)):
        precision = np.linalg.inv(covariance)
        away = points - mean
        out[:, i] = np.einsum("mi,mi->m", away @ precision, away) + within @ np.diag(precision)
        out[:, i] += np.linalg.slogdet(covariance)[1]
    return out


def figures(
    points: np.ndarray, density: np.ndarray, within: np.ndarray,
    found: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray], chains: int,
) -> ComponentFigures:  # fmt: skip
    """Return a mixture with what draws on a grid say of its components."""
    weights, means, covariances, shares = found
    d = points.shape[1]
    count = density @ shares  # draws x k
    usual = np.maximum(count.mean(axis=0), np.maximum(count.std(axis=0), 1e-9))
    off = np.empty((len(density), len(means), d))
    spread = np.empty(covariances.shape)
    for i in range(d):
        away = points[:, i : i + 1] - means[:, i]
        off[:, :, i] = density @ (shares * away) / usual
        for j in range(i + 1):
            other = points[:, j : j + 1] - means[:, j]
            product = density @ (shares * away * other) / usual + (i == j) * within[i]
            spread[:, i, j] = spread[:, j, i] = np.sqrt(np.square(product - covariances[:, i, j]).mean(axis=0))
    return ComponentFigures(
        weights, means, covariances, count.mean(axis=0), count.std(axis=0), np.sqrt(np.square(off).mean(axis=0)),
        spread, effective_draws(count, chains),
    )  # fmt: skip
