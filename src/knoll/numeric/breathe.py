"""Weighted k-means that leaves poor local optima: add a few extra centres, merge the cheapest pairs, repeat.

Of fifty clusters, ten restarts miss some in most runs; one breath finds them. This is the "breathing k-means" of
Fritzke (2020), except that greedy k-means++ adds the centres and Ward's criterion takes them away. It works on released
points only.
"""

import numpy as np
from sklearn.cluster import KMeans as NonprivateKMeans

from knoll.numeric.distances import squared_distances
from knoll.numeric.threads import one_thread
from knoll.numeric.ward import averages, ward
from knoll.progress import report

# Breathing came in for the row "many" of docs/benchmarks.md ("Kinds of data that nothing was tuned on"). It costs no
# budget: all these numbers trade time for a lower loss.
EXTRA, PER_EXTRA = 5, 40  # centres added at first, or one for so many; one fewer whenever that does not help
TRIED = 20  # points tried for each added centre
# A limit for the time: breathing mostly ends earlier, when no extra centre helps. Deep breaths do more, so fewer do.
MOST_BREATHS, FEWEST_BREATHS = 25, 6
STEPS = 10  # of Lloyd's algorithm, after centres were added and again after they were merged
LEAST_GAIN = 1e-5  # part of the loss that a breath must save to count as help


def breathe(points: np.ndarray, weights: np.ndarray, k: int, rng: np.random.RandomState) -> NonprivateKMeans:
    """Fit weighted k-means to points. There must be more than k of them."""
    with one_thread(loops=True):
        return _breathed(points, weights, k, rng)


def _breathed(points: np.ndarray, weights: np.ndarray, k: int, rng: np.random.RandomState) -> NonprivateKMeans:
    best = NonprivateKMeans(k, n_init=1, random_state=rng).fit(points, sample_weight=weights)
    deep = max(EXTRA, k // PER_EXTRA)
    extra, breaths = min(deep, k - 1, len(points) - k), max(FEWEST_BREATHS, MOST_BREATHS * EXTRA // deep)
    for breath in range(breaths):
        if extra < 1:
            break
        report("placing centres", breath / breaths)
        start = with_more(points, weights, best, extra, rng)
        more = lloyd(points, weights, start, STEPS)
        sizes = np.maximum(np.bincount(more.labels_, weights, k + extra), 1e-9)
        merged = averages(more.cluster_centers_, sizes, ward(more.cluster_centers_, sizes, k))
        again = lloyd(points, weights, merged, STEPS)
        if again.inertia_ < (1 - LEAST_GAIN) * best.inertia_:
            best = again
        else:
            extra -= 1
    return best


def lloyd(points: np.ndarray, weights: np.ndarray, centres: np.ndarray, steps: int) -> NonprivateKMeans:
    """Return weighted k-means after some steps from these centres."""
    return NonprivateKMeans(len(centres), init=centres, n_init=1, max_iter=steps).fit(points, sample_weight=weights)


def with_more(
    points: np.ndarray, weights: np.ndarray, fitted: NonprivateKMeans, extra: int, rng: np.random.RandomState
) -> np.ndarray:
    """Add centres one by one. Each is the best of TRIED points, drawn in proportion to their part of the loss."""
    centres = fitted.cluster_centers_
    near = np.square(points - centres[fitted.labels_]).sum(axis=1)
    for _ in range(extra):
        loss = weights * near + 1e-300
        tried = points[rng.choice(len(points), TRIED, p=loss / loss.sum())]
        left = np.minimum(near[:, None], squared_distances(points, tried))
        chosen = int((weights @ left).argmin())
        centres, near = np.vstack([centres, tried[chosen]]), left[:, chosen]
    return centres
