"""Weighted k-means, thresholds and proposals for released points: post-processing and public randomness only."""

import math

import numpy as np
from sklearn.cluster import KMeans as NonprivateKMeans
from threadpoolctl import threadpool_limits

from knoll.numeric.breathe import breathe
from knoll.queries import Ball, Box, Projected


def weighted_kmeans(
    points: np.ndarray, weights: np.ndarray, k: int, rng: np.random.RandomState, *, restarts: int | None = 3
) -> tuple[np.ndarray, np.ndarray]:
    """Return k centres of weighted points and the label of each point. Points without weight are ignored.

    If at most k different points have weight, the k heaviest points are the centres. With ``restarts=None``, breathing
    k-means is used instead of restarts.
    """
    heavy = np.flatnonzero(weights > 0)
    if len(np.unique(points[heavy], axis=0)) <= k:
        order = np.argsort(-weights, kind="stable")[:k]
        centres = points[np.resize(order, k)]
    elif restarts is None:
        centres = breathe(points[heavy], weights[heavy], k, rng).cluster_centers_
    else:
        start = NonprivateKMeans(k, n_init=min(restarts, max(1, 1000 // k)), random_state=rng)
        with threadpool_limits(1):
            centres = start.fit(points[heavy], sample_weight=weights[heavy]).cluster_centers_
    distance = np.square(points).sum(axis=1)[:, None] - 2 * points @ centres.T + np.square(centres).sum(axis=1)
    return centres, distance.argmin(axis=1)


def keep_top_mass(votes: np.ndarray, total: float) -> np.ndarray:
    """Keep the largest votes that together make up `total`; set all others to zero (PE-means, Algorithm 2)."""
    order = np.argsort(-votes, kind="stable")
    mass = np.cumsum(votes[order])
    enough = np.flatnonzero(mass > total)
    kept = order[: enough[0] + 1] if enough.size else order
    out = np.zeros_like(votes)
    out[kept] = np.maximum(votes[kept], 0.0)
    return out


def drawn_to(expected: np.ndarray, votes: np.ndarray, noise: float) -> np.ndarray:
    """Return the votes shrunk to the expected ones, as far as the differences are noise (James and Stein 1961)."""
    off = votes - expected
    return expected + max(0.0, 1.0 - len(off) * noise**2 / max(float(np.square(off).sum()), 1e-300)) * off


def levy_flights(size: tuple[int, ...], rng: np.random.RandomState, beta: float = 1.75) -> np.ndarray:
    """Return heavy-tailed steps by Mantegna's algorithm (1994)."""
    top = math.gamma(1 + beta) * math.sin(math.pi * beta / 2)
    spread = (top / (math.gamma((1 + beta) / 2) * beta * 2 ** ((beta - 1) / 2))) ** (1 / beta)
    return rng.normal(0.0, spread, size) / np.abs(rng.standard_normal(size)) ** (1 / beta)


def uniform_points(domain: Box | Ball | Projected, n: int, rng: np.random.RandomState) -> np.ndarray:
    """Return public random points, spread evenly over a domain."""
    d = domain.n_columns
    if isinstance(domain, Box):
        return domain.centre + domain.half * rng.uniform(-1.0, 1.0, (n, d))
    direction = rng.standard_normal((n, d))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    return domain.centre + domain.half * direction * rng.uniform(0.0, 1.0, (n, 1)) ** (1 / d)
