"""Weighted k-means that leaves poor local optima: add a few centres too many, merge the cheapest pairs, repeat.

Ten restarts miss some of fifty clusters in most runs, one breath finds them (Fritzke 2020, "breathing k-means", with
centres added by greedy k-means++ and taken away by Ward's criterion). Works on released points only.
"""

import numpy as np
from sklearn.cluster import KMeans as NonprivateKMeans
from threadpoolctl import threadpool_limits

EXTRA = 5  # centres added at first; one fewer whenever that does not help
TRIED = 20  # points tried for each added centre
MOST_BREATHS = 25
STEPS = 10
LEAST_GAIN = 1e-5


@threadpool_limits.wrap(limits=1)
def breathe(points: np.ndarray, weights: np.ndarray, k: int, rng: np.random.RandomState) -> NonprivateKMeans:
    """Return weighted k-means fitted to more than k points."""
    best = NonprivateKMeans(k, n_init=1, random_state=rng).fit(points, sample_weight=weights)
    extra = min(EXTRA, k - 1, len(points) - k)
    for _ in range(MOST_BREATHS):
        if extra < 1:
            break
        start = with_more(points, weights, best.cluster_centers_, extra, rng)
        more = lloyd(points, weights, start, STEPS)
        sizes = np.maximum(np.bincount(more.labels_, weights, k + extra), 1e-9)
        again = lloyd(points, weights, merged(more.cluster_centers_, sizes, k), STEPS)
        if again.inertia_ < (1 - LEAST_GAIN) * best.inertia_:
            best = again
        else:
            extra -= 1
    return best


def lloyd(points: np.ndarray, weights: np.ndarray, centres: np.ndarray, steps: int) -> NonprivateKMeans:
    """Return weighted k-means after some steps from these centres."""
    return NonprivateKMeans(len(centres), init=centres, n_init=1, max_iter=steps).fit(points, sample_weight=weights)


def with_more(
    points: np.ndarray, weights: np.ndarray, centres: np.ndarray, extra: int, rng: np.random.RandomState
) -> np.ndarray:
    """Add centres one by one, each the best of some points drawn by their part of the loss."""
    near = squared_distances(points, centres).min(axis=1)
    for _ in range(extra):
        loss = weights * near + 1e-300
        tried = points[rng.choice(len(points), TRIED, p=loss / loss.sum())]
        left = np.minimum(near[:, None], squared_distances(points, tried))
        chosen = int((weights @ left).argmin())
        centres, near = np.vstack([centres, tried[chosen]]), left[:, chosen]
    return centres


def merged(centres: np.ndarray, sizes: np.ndarray, k: int) -> np.ndarray:
    """Merge the pairs that cost least (Ward), until k centres are left."""
    centres, sizes = centres.copy(), sizes.copy()
    while len(centres) > k:
        cost = merge_costs(centres, sizes)
        i, j = np.unravel_index(cost.argmin(), cost.shape)
        centres[i] = (sizes[i] * centres[i] + sizes[j] * centres[j]) / (sizes[i] + sizes[j])
        sizes[i] += sizes[j]
        centres, sizes = np.delete(centres, j, axis=0), np.delete(sizes, j)
    return centres


def merge_costs(centres: np.ndarray, sizes: np.ndarray, error: np.ndarray | None = None) -> np.ndarray:
    """Loss that merging each pair of centres adds; infinite on the diagonal. Errors of the centres are taken out."""
    gaps = squared_distances(centres, centres)
    if error is not None:
        gaps = np.maximum(gaps - error[:, None] - error, 0.0)
    cost = sizes[:, None] * sizes / (sizes[:, None] + sizes) * gaps
    cost[np.diag_indices(len(centres))] = np.inf
    return cost


def squared_distances(points: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Squared distance of every point to every centre."""
    squares = np.square(points).sum(axis=1)[:, None] + np.square(centres).sum(axis=1)
    return np.maximum(squares - 2 * points @ centres.T, 0.0)
