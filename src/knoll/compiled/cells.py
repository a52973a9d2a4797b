"""The cell of a record: the nearest of some centres, or a leaf of a tree."""

import numpy as np

from knoll.arrays import Floats, Integers
from knoll.compiled.compiler import compiled

_LANES = 64  # records that are compared with a centre side by side


@compiled("f2", "f2", "f1", "i", "I1")
def nearest_of(grid: Floats, slope: Floats, offset: Floats, tag: int, labels: Integers) -> None:
    """Write the number of the least of ``offset + slope @ record``, whole numbers whose last bits are that number.

    All sums are whole and below 2^53: exact in any order.
    """
    rows, columns = grid.shape
    lanes, best = np.zeros((columns, _LANES)), np.empty(_LANES)
    one, two = np.empty(_LANES), np.empty(_LANES)
    for start in range(0, rows, _LANES):
        here = min(_LANES, rows - start)
        for r in range(here):
            for j in range(columns):
                lanes[j, r] = grid[start + r, j]
        best[:] = np.inf
        for c in range(0, len(offset), 2):  # two centres and four columns at a time: fewer loads
            n = min(c + 1, len(offset) - 1)
            one[:], two[:] = offset[c], offset[n]
            j = 0
            while j + 4 <= columns:
                a, b, e, f = slope[c, j], slope[c, j + 1], slope[c, j + 2], slope[c, j + 3]
                s, t, u, v = slope[n, j], slope[n, j + 1], slope[n, j + 2], slope[n, j + 3]
                for r in range(_LANES):
                    w, x, y, z = lanes[j, r], lanes[j + 1, r], lanes[j + 2, r], lanes[j + 3, r]
                    one[r] += (a * w + b * x) + (e * y + f * z)
                    two[r] += (s * w + t * x) + (u * y + v * z)
                j += 4
            while j < columns:
                a, s = slope[c, j], slope[n, j]
                for r in range(_LANES):
                    one[r] += a * lanes[j, r]
                    two[r] += s * lanes[j, r]
                j += 1
            for r in range(_LANES):
                best[r] = min(best[r], min(one[r], two[r]))
        for r in range(here):
            labels[start + r] = np.int64(best[r]) & (tag - 1)


@compiled("f2", "i1", "f1", "i1", "i1", "i", "I1")
def down_tree(
    grid: Floats, axis: Integers, threshold: Floats, left: Integers, number: Integers, depth: int, labels: Integers
) -> None:
    """Write the cell of each record: at every node it goes right where its coordinate exceeds the threshold.

    A leaf is its own left child and has an infinite threshold, so that all records take `depth` steps.
    """
    rows = len(grid)
    labels[:] = 0
    for _ in range(depth):
        for i in range(rows):
            at = labels[i]
            labels[i] = left[at] + (grid[i, axis[at]] > threshold[at])
    for i in range(rows):
        labels[i] = number[labels[i]]
