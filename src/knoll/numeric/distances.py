"""Distances between points and centres."""

import numpy as np

from knoll.compiled.points import nearest_points


def squared_distances(points: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Return the squared distance of every point to every centre."""
    squares = np.square(points).sum(axis=1)[:, None] + np.square(centres).sum(axis=1)
    return np.maximum(squares - 2 * points @ centres.T, 0.0)


def nearest(points: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Return the index of the centre nearest to each point.

    Differences are squared one by one: products, as in `squared_distances`, would lose digits far from zero.
    """
    labels = np.empty(len(points), dtype=np.int64)
    nearest_points(*(np.require(each, np.float64, ["C", "A"]) for each in (points, centres)), labels)
    return labels
