"""Ward's criterion: how much loss it adds to join two centres. It works on released values only."""

import numpy as np

from knoll.numeric.distances import squared_distances


class Joins:
    """The costs of joining each pair of centres. The arrays are not copied: after a change to them, call `update`."""

    def __init__(self, at: np.ndarray, weight: np.ndarray, error: np.ndarray):
        self.at, self.weight, self.error = at, weight, error
        self.gone = np.zeros(len(at), dtype=bool)
        self.cost = np.empty((len(at), len(at)))
        self.update(np.arange(len(at)))

    def update(self, rows: np.ndarray) -> None:
        """Compute the costs of some centres anew. The squared errors of centres are subtracted from the distances."""
        gaps = squared_distances(self.at[rows], self.at) - self.error[rows, None] - self.error
        mass = self.weight[rows, None] * self.weight / (self.weight[rows, None] + self.weight)
        cost = np.where(self.gone, np.inf, mass * np.maximum(gaps, 0.0))
        cost[np.arange(len(rows)), rows] = np.inf
        self.cost[rows], self.cost[:, rows] = cost, cost.T

    def cheapest(self) -> tuple[int, int]:
        """Return the pair that costs least, the smaller index first."""
        i, j = np.unravel_index(self.cost.argmin(), self.cost.shape)
        return int(i), int(j)

    def drop(self, j: int) -> None:
        """Leave a centre out from now on."""
        self.gone[j] = True
        self.cost[j] = self.cost[:, j] = np.inf


def ward(at: np.ndarray, weight: np.ndarray, k: int, error: np.ndarray | None = None) -> np.ndarray:
    """Join the cheapest pairs of centres until k groups are left. Return each group's shares, which add up to one."""
    at, weight, error = at.copy(), weight.copy(), np.zeros(len(at)) if error is None else error.copy()
    shares, joins = np.eye(len(at)), Joins(at, weight, error)
    for _ in range(len(at) - k):
        i, j = joins.cheapest()
        part = weight[j] / (weight[i] + weight[j])
        for values in (at, shares):
            values[i] += part * (values[j] - values[i])
        error[i] = (1 - part) ** 2 * error[i] + part**2 * error[j]
        weight[i] += weight[j]
        joins.drop(j)
        joins.update(np.array([i]))
    return shares[~joins.gone]
