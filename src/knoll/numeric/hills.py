"""Hills of many small Gaussians: which of them stand on one hill? It works on released values only.

Every piece is a Gaussian with a released count, mean and variance per column, a little widened so that pieces of one
even cloud leave no valleys. Pieces join from the highest pass down, as water falls; a hill that rises less than `rise`
above its pass to a higher one belongs to that one (persistence, as Chazal et al. 2013 cluster).
"""

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.special import logsumexp

from knoll.numeric.distances import squared_distances

# Settled on made-up clusters (benchmarks/choose): together they lose no clear cluster, and leave few pieces too many.
WIDER, WIDER_FEW = 1.2, 0.8  # variances times 1.2 + 0.8 / d: more closes false valleys, and true ones
SMOOTHED = 0.7  # how far log variances are drawn to those around: the volume of a piece is noise in many columns
AROUND = 6  # pieces around, itself included
NEIGHBOURS = 10  # nearest pieces to which a pass is looked for
PATH = np.linspace(0.0, 1.0, 11)[1:-1]  # where the straight line between two pieces is looked at


def hills(at: np.ndarray, variance: np.ndarray, weight: np.ndarray, rise: float) -> np.ndarray:
    """Return the hill of each piece, numbered from 0.

    Parameters
    ----------
    at, variance : arrays of shape (m, d)
        Means and variances of the pieces.
    weight : array of shape (m,)
        Their counts, all positive.
    rise : float
        Least height of a hill over its pass, in log density.
    """
    m, d = at.shape
    if m < 2:
        return np.zeros(m, dtype=int)
    unit = np.sqrt(np.average(variance, axis=0, weights=weight))
    at, variance = at / unit, variance / unit**2
    gaps = squared_distances(at, at)
    variance = (WIDER + WIDER_FEW / d) * _smoothed(variance, weight, gaps)
    height = _log_density(at, at, variance, weight)
    ends = neighbours(gaps)
    low, high = at[ends[:, 0], None], at[ends[:, 1], None]
    path = (low + PATH[:, None] * (high - low)).reshape(-1, d)
    passes = _log_density(path, at, variance, weight).reshape(len(ends), len(PATH)).min(axis=1)
    passes = np.minimum(passes, height[ends].min(axis=1))
    joined = _joined(height, ends, passes, rise)
    graph = coo_array((np.ones(len(joined)), tuple(joined.T.astype(np.int32))), shape=(m, m))
    return np.asarray(connected_components(graph, directed=False)[1], dtype=int)


def neighbours(gaps: np.ndarray) -> np.ndarray:
    """Return the pairs (i, j), i < j, of which one is among the nearest of the other."""
    m = len(gaps)
    far = gaps + np.diag(np.full(m, np.inf))
    near = np.argsort(far, axis=1, kind="stable")[:, : min(NEIGHBOURS, m - 1)]
    pairs = np.column_stack([np.repeat(np.arange(m), near.shape[1]), near.ravel()])
    return np.unique(np.sort(pairs, axis=1), axis=0)


def _smoothed(variance: np.ndarray, weight: np.ndarray, gaps: np.ndarray) -> np.ndarray:
    near = np.argsort(gaps, axis=1, kind="stable")[:, :AROUND]
    logs, share = np.log(variance), weight[near] / weight[near].sum(axis=1, keepdims=True)
    return np.exp(logs + SMOOTHED * (np.einsum("ij,ijk->ik", share, logs[near]) - logs))


def _log_density(points: np.ndarray, at: np.ndarray, variance: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return the log density of a mixture at points, but for a constant."""
    sharp = 1 / variance
    far = np.square(points) @ sharp.T - 2 * points @ (at * sharp).T + (np.square(at) * sharp).sum(axis=1)
    return np.asarray(logsumexp(np.log(weight) - np.log(variance).sum(axis=1) / 2 - far / 2, axis=1))


def _joined(height: np.ndarray, ends: np.ndarray, passes: np.ndarray, rise: float) -> np.ndarray:
    """Return the pairs that join hills when the water falls, but for those between hills that rise enough."""
    island, top, joined = np.arange(len(height)), height.copy(), []
    for edge in np.argsort(-passes, kind="stable"):
        a, b = island[ends[edge]]
        if a == b:
            continue
        a, b = (b, a) if top[a] < top[b] else (a, b)
        if top[b] - passes[edge] < rise:
            joined.append(ends[edge])
        island[island == b] = a
    return np.array(joined, dtype=int).reshape(-1, 2)
