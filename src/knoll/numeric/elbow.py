"""The elbow: how many groups points lie in, from how much each join of two of them costs.

Points are joined one pair after another, the cheapest first (Ward). While parts of one group are joined, the loss grows
slowly; from the first join of two groups on, it grows fast. On a log scale of both the loss and the number of groups,
the slope changes there at once.
"""

import numpy as np

from knoll.numeric.ward import Joins

RATIO = 1.3  # slopes are taken from a number divided by this to the number, and from there to this many times it
FEWEST_POINTS = 2  # for each group: with fewer, what is within groups cannot be told


def elbow(at: np.ndarray, weight: np.ndarray, ratio: float = RATIO) -> tuple[np.ndarray, np.ndarray]:
    """Return numbers of groups, from 2 on, and how much less the log loss falls beyond each than before it.

    Parameters
    ----------
    at, weight : arrays of shape (m, d) and (m,)
        Released points and their weights, all positive.
    ratio : float
        See `RATIO`: a smaller one looks closer, and sees more noise.
    """
    loss = losses(at, weight)
    known = np.flatnonzero(loss > 1e-12 * max(float(loss[0]), 1e-300)) + 1  # with more groups nothing is lost
    numbers = np.arange(2, max(3, len(known) // FEWEST_POINTS + 1))
    if len(known) < 3:
        return numbers[:1], np.zeros(1)
    logs, falls = np.log(known), -np.log(loss[known - 1])

    def fall(number: np.ndarray) -> np.ndarray:
        return np.interp(np.log(number), logs, falls)

    return numbers, (2 * fall(numbers) - fall(numbers / ratio) - fall(numbers * ratio)) / np.log(ratio)


def losses(at: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return the loss of points joined to 1, 2, ... groups: the weighted sum of squares within them."""
    at, weight, m = at.copy(), weight.copy(), len(at)
    joins, costs = Joins(at, weight, np.zeros(m)), np.zeros(m)
    for k in range(m - 1, 0, -1):
        i, j, costs[k - 1] = joins.cheapest()
        at[i] += weight[j] / (weight[i] + weight[j]) * (at[j] - at[i])
        weight[i] += weight[j]
        joins.joined(i, j)
    return np.cumsum(costs[::-1])[::-1]
