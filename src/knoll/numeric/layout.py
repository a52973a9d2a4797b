"""Places of directions in the plane: neighbours stay neighbours as far as two dimensions let them."""

import numpy as np


def in_plane(directions: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return a point in the plane for each direction: the two widest axes of the weighted directions.

    >>> in_plane(np.eye(3), np.ones(3)).shape
    (3, 2)
    """
    part = np.maximum(weight, 1e-9) / np.maximum(weight, 1e-9).sum()
    apart = directions - part @ directions
    _, _, axes = np.linalg.svd(np.sqrt(part)[:, None] * apart, full_matrices=False)
    found = np.zeros((len(directions), 2))
    found[:, : min(2, len(axes))] = apart @ axes[:2].T
    return found * np.where(found.sum(axis=0) < 0, -1.0, 1.0)  # one of two mirror pictures, always the same
