"""Public starting points, spread over the domain without a look at any record."""

import numpy as np

from knoll.queries import Ball, Box

_MOST_PACKED = 2000  # packing takes quadratic time; above this, uniform points are used


def packed_starts(domain: Box | Ball, n: int, scales: np.ndarray, rng: np.random.RandomState) -> np.ndarray:
    """Return `n` points of the domain that keep away from each other and from its walls.

    This is sphere packing as in Su et al. (2016): centres of the largest equal balls that fit side by side. It is
    greedy: each next point is the uniform candidate with the largest free ball around it. The ball's radius is half the
    distance to the nearest point chosen so far, or the distance to the wall if that is less.

    Parameters
    ----------
    domain : Box or Ball
        Public domain.
    n : int
        Number of points.
    scales : array of shape (n_columns,)
        Distances are taken after division by these.
    rng : RandomState
        Public randomness.
    """
    half = domain.half / scales
    candidates = rng.uniform(-half, half, size=(max(1000, 10 * n), domain.n_columns))
    if isinstance(domain, Ball):
        candidates = (domain.clip(domain.centre + candidates * scales) - domain.centre) / scales
        room = np.maximum(half.min() - np.linalg.norm(candidates, axis=1), 0.0)
    else:
        room = (half - np.abs(candidates)).min(axis=1)
    if n > _MOST_PACKED:  # so many uniform points cover the domain anyway
        return domain.centre + candidates[:n] * scales
    chosen = np.empty(n, dtype=np.intp)
    for i in range(n):
        chosen[i] = room.argmax()
        distance = np.linalg.norm(candidates - candidates[chosen[i]], axis=1)
        np.minimum(room, distance / 2, out=room)
    return domain.centre + candidates[chosen] * scales
