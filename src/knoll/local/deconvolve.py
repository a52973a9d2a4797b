"""Mixtures of what lies under known Gaussian noise: expectation-maximisation that deconvolves (Bovy et al. 2011).

y = x + e,  e ~ N(0, S),  x ~ mixture:  y in component k is N(m_k, C_k + S)
E  given y and k, x has mean m_k + C_k (C_k + S)^-1 (y - m_k) and covariance C_k - C_k (C_k + S)^-1 C_k
M  weights, means and covariances of these
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from knoll import progress
from knoll.numeric.mixture import Mixture

STEPS, SETTLED, STARTS = 200, 1e-8, 6  # most steps; least gain of log-likelihood per report to go on; tries
MOST_REPORTS = 5000  # reports on which starts are compared: a sample is enough to choose one


@dataclass(frozen=True)
class Bounds:
    """Public limits: means stay in a box, variances above a floor."""

    lower: np.ndarray
    upper: np.ndarray
    floor: np.ndarray


def deconvolve(
    reports: np.ndarray, noise: np.ndarray, k: int, bounds: Bounds, prior: float, rng: np.random.RandomState
) -> tuple[Mixture, float]:
    """Return the mixture under noisy reports, and its log-likelihood.

    Parameters
    ----------
    reports : array of shape (n, d)
        Noisy records.
    noise : array of shape (d,)
        Variance of the noise per column.
    k : int
        Number of components.
    bounds : Bounds
        Public limits.
    prior : float
        Records added to every component, as wide as an equal share of the bounds.
    rng : RandomState
        Public randomness.
    """
    some = reports[rng.choice(len(reports), size=min(len(reports), MOST_REPORTS), replace=False)]
    starts = _starts(reports, noise, k, bounds, rng)
    fits = []
    for number, start in enumerate(starts):
        progress.report(f"a mixture of {k}", number / len(starts))
        fits.append(climb(some, noise, start, bounds, prior, STEPS // 4))
    best = max(fits, key=lambda fit: fit[1])[0]
    return climb(reports, noise, best, bounds, prior)


def _starts(
    reports: np.ndarray, noise: np.ndarray, k: int, bounds: Bounds, rng: np.random.RandomState
) -> list[Mixture]:
    """Return first mixtures whose overall mean and covariance are those of the reports without the noise."""
    d = len(noise)
    covariance = np.cov(reports.T, ddof=0).reshape(d, d) if len(reports) > 1 else np.zeros((d, d))
    values, vectors = np.linalg.eigh(covariance - np.diag(noise))
    least = np.min(bounds.floor)
    values = np.clip(values, least, np.max(np.square(bounds.upper - bounds.lower)))
    root = vectors * np.sqrt(values)
    out = []
    for within in np.resize([0.1, 0.3, 0.6], STARTS):
        places = rng.standard_normal((k, d))
        if k > 1:
            places = (places - places.mean(axis=0)) / np.maximum(places.std(axis=0), 0.1)
        means = reports.mean(axis=0) + np.sqrt(1 - within) * places @ root.T
        spread = np.tile(within * root @ root.T, (k, 1, 1))
        out.append(Mixture.nearest(np.full(k, 1 / k), np.clip(means, bounds.lower, bounds.upper), spread, bounds.floor))
    return out


def climb(
    reports: np.ndarray, noise: np.ndarray, mixture: Mixture, bounds: Bounds, prior: float, steps: int = STEPS
) -> tuple[Mixture, float]:
    """Climb from a mixture until the likelihood settles."""
    k, d = mixture.means.shape
    wide = np.diag(np.square((bounds.upper - bounds.lower) / 6) / k ** (2 / d))
    last = -np.inf
    for _ in range(steps):
        seen = Mixture(mixture.weights, mixture.means, mixture.covariances + np.diag(noise))
        logs = seen.log_components(reports)
        peak = logsumexp(logs, axis=1)
        value = float(peak.sum())
        shares = np.exp(logs - peak[:, None])
        n = shares.sum(axis=0)
        gains = mixture.covariances @ seen.precisions
        weights, means, covariances = [], [], []
        for i in range(k):
            away = (reports - mixture.means[i]) @ gains[i].T
            held = max(float(n[i]), 1e-9)
            move = shares[:, i] @ away / held
            spread = (away * shares[:, i : i + 1]).T @ away / held - np.outer(move, move)
            left = mixture.covariances[i] - gains[i] @ mixture.covariances[i]
            means.append(np.clip(mixture.means[i] + move, bounds.lower, bounds.upper))
            covariances.append((held * (spread + left) + prior * wide) / (held + prior))
            weights.append(held + prior)
        mixture = Mixture.nearest(
            np.array(weights) / sum(weights), np.array(means), np.array(covariances), bounds.floor
        )
        if value - last < SETTLED * len(reports):
            break
        last = value
    return mixture, value
