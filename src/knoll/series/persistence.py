"""Peaks of a function and the passes between them: a merge tree, and which peaks stand out.

Lower a water level from the top. Every maximum starts an island. Two islands meet at the highest pass between them;
there the lower island ends (the elder rule). Its persistence is its height above that pass. A peak is significant if
its persistence is large against its error: privacy noise and sampling error. A peak that is not significant belongs to
the peak it merged into.
"""

from dataclasses import dataclass
from itertools import product

import numpy as np


@dataclass(frozen=True)
class Peaks:
    """Maxima, highest first, and where each one merges.

    Attributes
    ----------
    points : array of shape (n_peaks, n_columns)
        Where they are.
    heights : array of shape (n_peaks,)
        The function there.
    parent : integer array of shape (n_peaks,)
        The higher peak that each merges into; -1 for one that never does.
    pass_points : array of shape (n_peaks, n_columns)
        The highest pass to its parent; the peak itself if it has none.
    pass_heights : array of shape (n_peaks,)
        The function there; minus infinity if there is none.
    """

    points: np.ndarray
    heights: np.ndarray
    parent: np.ndarray
    pass_points: np.ndarray
    pass_heights: np.ndarray

    def survivors(self, keep: np.ndarray) -> np.ndarray:
        """Return, for each peak, the kept peak it belongs to: itself, or the first kept one that it merges into.

        Peaks are ordered by height and parents are higher, so one pass in order is enough. -1 where none is kept.
        """
        owner = np.full(len(keep), -1)
        for i in range(len(keep)):
            owner[i] = i if keep[i] else owner[self.parent[i]] if self.parent[i] >= 0 else -1
        return owner


def climb(values: np.ndarray) -> np.ndarray:
    """Return, for each cell of a mesh, the flat index of the maximum that steepest ascent reaches.

    Values are compared by rank, so that no two are equal.
    """
    rank = np.empty(values.shape, dtype=np.int64)
    rank.flat[np.argsort(values, axis=None, kind="stable")] = np.arange(values.size)
    padded = np.pad(rank, 1, constant_values=-1)
    best = rank.copy()
    for shift in product((0, 1, 2), repeat=values.ndim):
        best = np.maximum(best, padded[tuple(slice(s, s + n) for s, n in zip(shift, values.shape, strict=True))])
    where = np.empty(values.size, dtype=np.int64)
    where[rank.ravel()] = np.arange(values.size)
    up = where[best.ravel()]
    while True:
        further = up[up]
        if np.array_equal(further, up):
            return up
        up = further


def mesh_passes(values: np.ndarray, top: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return pairs of neighbouring maxima, the height of the highest pass between them and its flat index."""
    index = np.arange(values.size).reshape(values.shape)
    ends = []
    for shift in product((-1, 0, 1), repeat=values.ndim):
        if shift <= (0,) * values.ndim:
            continue
        here = tuple(slice(max(0, -s), n - max(0, s)) for s, n in zip(shift, values.shape, strict=True))
        there = tuple(slice(max(0, s), n - max(0, -s)) for s, n in zip(shift, values.shape, strict=True))
        a, b = index[here].ravel(), index[there].ravel()
        across = top[a] != top[b]
        ends.append(np.stack([a[across], b[across]]))
    a, b = np.hstack(ends)
    flat = values.ravel()
    lower = np.where(flat[a] <= flat[b], a, b)
    pairs = np.sort(np.stack([top[a], top[b]]), axis=0)
    order = np.lexsort((-flat[lower], pairs[1], pairs[0]))
    pairs, lower = pairs[:, order], lower[order]
    first = np.ones(len(lower), dtype=bool)
    first[1:] = (np.diff(pairs, axis=1) != 0).any(axis=0)
    return pairs[:, first].T, flat[lower[first]], lower[first]


def merge_tree(heights: np.ndarray, pairs: np.ndarray, passes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return each peak's parent and the number of the pass where they meet; -1 for none. Highest peak first."""
    owner = np.arange(len(heights))
    parent, meets = np.full(len(heights), -1), np.full(len(heights), -1)

    def root(i: int) -> int:
        while owner[i] != i:
            owner[i] = owner[owner[i]]
            i = owner[i]
        return i

    for number in np.argsort(-passes, kind="stable"):
        one, other = sorted((root(pairs[number, 0]), root(pairs[number, 1])))
        if one != other:
            owner[other], parent[other], meets[other] = one, one, number
    return parent, meets


def mesh_peaks(values: np.ndarray, axes: list[np.ndarray]) -> tuple[Peaks, np.ndarray]:
    """Return the peaks of a function given on a mesh, and the peak that each cell belongs to."""
    top = climb(values)
    maxima = np.unique(top)
    maxima = maxima[np.argsort(-values.ravel()[maxima], kind="stable")]
    number = np.full(values.size, -1)
    number[maxima] = np.arange(len(maxima))
    pairs, passes, where = mesh_passes(values, top)
    parent, meets = merge_tree(values.ravel()[maxima], number[pairs].reshape(-1, 2), passes)

    def places(flat: np.ndarray) -> np.ndarray:
        return np.column_stack([axis[i] for axis, i in zip(axes, np.unravel_index(flat, values.shape), strict=True)])

    met = meets >= 0
    at = maxima.copy()
    at[met] = where[meets[met]]
    low = np.full(len(maxima), -np.inf)
    low[met] = passes[meets[met]]
    peaks = Peaks(places(maxima), values.ravel()[maxima], parent, places(at), low)
    return peaks, number[top].reshape(values.shape)
