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

    Of equal values the later cell counts as higher, so that no two are equal.
    """
    best, up = values, np.arange(values.size).reshape(values.shape)
    for axis in reversed(range(values.ndim)):  # the best of all neighbours is the best of the best along each axis;
        height, cell = np.moveaxis(best, axis, 0), np.moveaxis(up, axis, 0)  # the last axis first: cells further along
        best, up = best.copy(), up.copy()  # an axis are later ones, whatever their places on the axes after it
        top, whose = np.moveaxis(best, axis, 0), np.moveaxis(up, axis, 0)
        np.copyto(whose[1:], cell[:-1], where=height[:-1] > height[1:])
        np.maximum(height[:-1], height[1:], out=top[1:])
        np.copyto(whose[:-1], cell[1:], where=height[1:] >= top[:-1])
        np.maximum(height[1:], top[:-1], out=top[:-1])
    higher = up.ravel()
    while True:
        further = higher[higher]
        if np.array_equal(further, higher):
            return higher
        higher = further


def mesh_passes(values: np.ndarray, peak: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return pairs of neighbouring peaks, the height of the highest pass between them and its flat index.

    `peak` is the number of the peak that each cell belongs to.
    """
    mesh, steps = peak.reshape(values.shape), np.cumprod([1, *values.shape[:0:-1]])[::-1]
    ends = []
    for shift in product((-1, 0, 1), repeat=values.ndim):
        if shift <= (0,) * values.ndim:
            continue
        here = tuple(slice(max(0, -s), n - max(0, s)) for s, n in zip(shift, values.shape, strict=True))
        there = tuple(slice(max(0, s), n - max(0, -s)) for s, n in zip(shift, values.shape, strict=True))
        across = np.zeros(values.shape, dtype=bool)
        np.not_equal(mesh[here], mesh[there], out=across[here])
        a = np.flatnonzero(across)
        ends.append(np.stack([a, a + int(np.dot(shift, steps))]))
    a, b = np.hstack(ends)
    flat = values.ravel()
    lower = np.where(flat[a] <= flat[b], a, b)
    one, other, peaks, edges = peak[a], peak[b], int(peak.max()) + 1, max(len(a), 1)
    pair = np.minimum(one, other) * peaks + np.maximum(one, other)
    pair, order = np.divmod(np.sort(pair * edges + np.arange(len(a))), edges)  # quicker than argsort, and stable
    lower = lower[order]
    first = np.flatnonzero(np.diff(pair, prepend=-1))
    height = flat[lower]
    highest = np.maximum.reduceat(height, first) if len(first) else height
    reached = np.flatnonzero(height == np.repeat(highest, np.diff(first, append=len(pair))))
    where = lower[reached[np.searchsorted(reached, first)]]  # of equally high ones the first
    return np.column_stack(np.divmod(pair[first], peaks)), highest, where


def merge_tree(heights: np.ndarray, pairs: np.ndarray, passes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return each peak's parent and the number of the pass where they meet; -1 for none. Highest peak first."""
    owner, ends = list(range(len(heights))), pairs.tolist()  # plain integers: quicker one by one
    parent, meets = [-1] * len(heights), [-1] * len(heights)
    for number in np.argsort(-passes, kind="stable").tolist():
        one, other = ends[number]
        while owner[one] != one:
            owner[one] = one = owner[owner[one]]
        while owner[other] != other:
            owner[other] = other = owner[owner[other]]
        if one != other:
            if one > other:
                one, other = other, one
            owner[other], parent[other], meets[other] = one, one, number
    return np.array(parent, dtype=int), np.array(meets, dtype=int)


def mesh_peaks(values: np.ndarray, axes: list[np.ndarray]) -> tuple[Peaks, np.ndarray]:
    """Return the peaks of a function given on a mesh, and the peak that each cell belongs to."""
    top = climb(values)
    maxima = np.flatnonzero(top == np.arange(len(top)))
    order = np.argsort(-values.ravel()[maxima], kind="stable")
    number = np.empty(values.size, dtype=int)
    number[maxima] = np.arange(len(maxima))
    peak, rank = number[top], np.argsort(order)
    pairs, passes, where = mesh_passes(values, peak)
    maxima = maxima[order]
    parent, meets = merge_tree(values.ravel()[maxima], rank[pairs], passes)

    def places(flat: np.ndarray) -> np.ndarray:
        return np.column_stack([axis[i] for axis, i in zip(axes, np.unravel_index(flat, values.shape), strict=True)])

    met = meets >= 0
    at = maxima.copy()
    at[met] = where[meets[met]]
    low = np.full(len(maxima), -np.inf)
    low[met] = passes[meets[met]]
    peaks = Peaks(places(maxima), values.ravel()[maxima], parent, places(at), low)
    return peaks, rank[peak].reshape(values.shape)
