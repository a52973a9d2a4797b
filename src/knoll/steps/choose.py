"""How many clusters? The answer comes from what a tree has released anyway, at no cost.

Points are drawn from the released leaves and clustered for every k. The best k has the largest silhouette (Rousseeuw
1987, with centres in place of points). This is repeated with fresh noise on the counts: how often the same k comes out
says how sure it is.
"""

from dataclasses import dataclass, replace

import numpy as np
from sklearn.cluster import KMeans as NonprivateKMeans
from threadpoolctl import threadpool_limits

from knoll.steps.refine import synthetic_points
from knoll.steps.tree import Leaves

# No benchmark of docs/benchmarks.md covers these; each says what it trades off.
GUESS = 16  # clusters to grow the tree for while their number is unknown: more shows finer groups with more noise
MOST = 24  # the largest k that is tried: k-means runs once for each, so it limits the time
REDRAWS = 8  # repetitions for the confidence: it has steps of 1 / 9; each repetition takes as long as the choice
CLEAR = 0.6  # one cloud cut into parts has a silhouette up to about this: k > 1 must beat it
POINTS = 1000  # points clustered for each k: more take longer and change little


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
