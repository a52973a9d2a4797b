"""Ward's criterion: how much loss it adds to join two centres. It works on released values only."""

import numpy as np

from knoll.numeric.distances import squared_distances

BLOCK = 2**20  # costs that are computed at once: they need not all be kept, only the cheapest of each centre


class Joins:
    """The cheapest partner of each centre. The arrays are not copied: after a change to them, call `update`."""

    def __init__(self, at: np.ndarray, weight: np.ndarray, error: np.ndarray):
        self.at, self.weight, self.error = at, weight, error
        self.gone, self.hidden = (np.zeros(len(at), dtype=bool) for _ in range(2))
        self.first = np.zeros(len(at), dtype=int)  # the cheapest partner of each centre, and what it costs
        self.least = np.full(len(at), np.inf)
        self._look(np.arange(len(at)))

    def _costs(self, rows: np.ndarray) -> np.ndarray:
        """Return the costs of joining some centres to each. The squared errors of centres are taken off distances."""
        weight = self.weight[rows, None]
        cost = squared_distances(self.at[rows], self.at)
        cost -= self.error[rows, None] + self.error
        np.maximum(cost, 0.0, out=cost)
        cost *= weight / (weight + self.weight) * self.weight
        cost[:, self.gone | self.hidden] = np.inf
        cost[self.gone[rows] | self.hidden[rows]] = np.inf
        cost[np.arange(len(rows)), rows] = np.inf
        return cost

    def _look(self, rows: np.ndarray) -> None:
        """Find the cheapest partners of some centres anew."""
        for part in np.array_split(rows, max(1, len(rows) * len(self.at) // BLOCK)):
            cost = self._costs(part)
            self.first[part] = cost.argmin(axis=1)
            self.least[part] = cost[np.arange(len(part)), self.first[part]]

    def _forget(self, rows: np.ndarray) -> None:
        """Find new partners for those whose cheapest one has changed."""
        stale = np.isin(self.first, rows) & ~self.gone & ~self.hidden
        stale[rows] = True
        self._look(np.flatnonzero(stale))

    def update(self, rows: np.ndarray) -> None:
        """Compute the costs of some centres anew."""
        self.hidden[rows] = False
        self._forget(rows)
        for j, cost in zip(rows, self._costs(rows), strict=True):
            better = (cost < self.least) | ((cost == self.least) & (j < self.first))
            better[j] = False
            self.first[better], self.least[better] = j, cost[better]

    def cheapest(self) -> tuple[int, int, float]:
        """Return the pair that costs least, the smaller index first, and what it costs."""
        i = int(self.least.argmin())
        j = int(self.first[i])
        return min(i, j), max(i, j), float(self.least[i])

    def hide(self, j: int) -> None:
        """Let nothing be joined to a centre until its costs are computed anew."""
        self.hidden[j] = True
        self._forget(np.array([j]))

    def joined(self, i: int, j: int) -> None:
        """Leave a centre out from now on, since another has become the union of both."""
        self.gone[j] = True
        self.update(np.array([i, j]))


def ward(at: np.ndarray, weight: np.ndarray, k: int, error: np.ndarray | None = None) -> np.ndarray:
    """Join the cheapest pairs of centres until k groups are left. Return the group of each centre."""
    at, weight, error = at.copy(), weight.copy(), np.zeros(len(at)) if error is None else error.copy()
    joins, into = Joins(at, weight, error), np.arange(len(at))
    for _ in range(len(at) - k):
        i, j, _ = joins.cheapest()
        part = weight[j] / (weight[i] + weight[j])
        at[i] += part * (at[j] - at[i])
        error[i] = (1 - part) ** 2 * error[i] + part**2 * error[j]
        weight[i] += weight[j]
        into[into == j] = i
        joins.joined(i, j)
    return np.unique(into, return_inverse=True)[1].reshape(-1)


def averages(values: np.ndarray, weight: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """Return the weighted means of rows by group."""
    mass = np.bincount(groups, weight)
    return np.column_stack([np.bincount(groups, weight * column) for column in values.T]) / mass[:, None]
