"""Distances between points and centres."""

import numpy as np

CHUNK = 2**22  # differences held in memory at once: 32 MB of floats


def squared_distances(points: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Return the squared distance of every point to every centre."""
    squares = np.square(points).sum(axis=1)[:, None] + np.square(centres).sum(axis=1)
    return np.maximum(squares - 2 * points @ centres.T, 0.0)


def nearest(points: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Return the index of the centre nearest to each point.

    Differences are squared one by one: products, as in `squared_distances`, would lose digits far from zero.
    """
    step = max(1, CHUNK // max(1, centres.size))
    labels = np.empty(len(points), dtype=np.intp)
    for i in range(0, len(points), step):
        labels[i : i + step] = np.square(points[i : i + step, None] - centres).sum(axis=2).argmin(axis=1)
    return labels
