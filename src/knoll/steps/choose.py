"""How many clusters? Told from what a tree has released anyway, at no cost.

Points are drawn from the released leaves and clustered for every k; the best k has the largest silhouette (Rousseeuw
1987, with centres in place of points). Repeating this with counts redrawn within their noise says how sure the
answer is.
"""

from dataclasses import dataclass, replace

import numpy as np
from sklearn.cluster import KMeans as NonprivateKMeans
from threadpoolctl import threadpool_limits

from knoll.steps.refine import synthetic_points
from knoll.steps.tree import Leaves

GUESS = 16  # clusters to grow the tree for, while their number is not known
MOST = 24
REDRAWS = 8
CLEAR = 0.6  # a silhouette below this is no better than cutting one cloud into parts
POINTS = 1000


@dataclass(frozen=True)
class Choice:
    """A number of clusters, and the share of redraws that agree on it."""

    k: int
    confidence: float


def choose_k(leaves: Leaves, hedge: np.ndarray, rng: np.random.RandomState) -> Choice:
    """Return the number of clusters that released leaves suggest."""
    best = _best_k(leaves, hedge, rng)
    sd = np.sqrt(leaves.count_variance)
    redrawn = (replace(leaves, count=leaves.count + sd * rng.standard_normal(len(sd))) for _ in range(REDRAWS))
    agree = sum(_best_k(again, hedge, rng) == best for again in redrawn)
    return Choice(best, (1 + agree) / (1 + REDRAWS))


def _best_k(leaves: Leaves, hedge: np.ndarray, rng: np.random.RandomState) -> int:
    points, weights = synthetic_points(leaves, hedge, rng)
    points, weights = points[weights > 0], weights[weights > 0]
    if len(points) > POINTS:
        picked = rng.choice(len(points), POINTS, p=weights / weights.sum())
        points, weights = points[picked], np.ones(POINTS)
    scores = {1: CLEAR}
    with threadpool_limits(1):
        for k in range(2, min(MOST, len(points) - 1) + 1):
            fitted = NonprivateKMeans(k, n_init=2, random_state=rng).fit(points, sample_weight=weights)
            near = np.sort(fitted.transform(points), axis=1)[:, :2]
            scores[k] = float(np.average(1 - near[:, 0] / np.maximum(near[:, 1], 1e-300), weights=weights))
    return max(scores, key=lambda k: scores[k])
