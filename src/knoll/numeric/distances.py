"""Distances between points and centres."""

import numpy as np

CHUNK = 2**22  # differences held in memory at once


def squared_distances(points: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Squared distance of every point to every centre."""
    squares = np.square(points).sum(axis=1)[:, None] + np.square(centres).sum(axis=1)
    return np.maximum(squares - 2 * points @ centres.T, 0.0)


def nearest(points: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Index of the centre nearest to each point. Differences are squared: far from zero, products would lose digits."""
    step = max(1, CHUNK // max(1, centres.size))
    labels = np.empty(len(points), dtype=np.intp)
    for i in range(0, len(points), step):
        labels[i : i + step] = np.square(points[i : i + step, None] - centres).sum(axis=2).argmin(axis=1)
    return labels
