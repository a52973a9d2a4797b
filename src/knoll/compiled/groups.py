"""The nearest of very many centres that come in groups: a record looks into one group."""

import numpy as np

from knoll.arrays import Floats, Integers
from knoll.compiled.compiler import compiled

_LANES = 64  # records that are compared with a centre side by side


@compiled("f2", "i1", "i1", "i1", "f2", "f1", "i", "I1")
def nearest_within(
    grid: Floats, order: Integers, group: Integers, ends: Integers, slope: Floats, offset: Floats, tag: int,
    labels: Integers,
) -> None:  # fmt: skip
    """Write the place of the nearest centre of each record's own group; a record's arithmetic is that of `nearest_of`.

    Group g holds the centres `ends[g]` to `ends[g + 1]`; the last bits of an offset are its place in the group.
    `order` puts records of one group side by side: it says who is looked at together, not what is found.
    """
    rows, columns = grid.shape
    lanes, best = np.zeros((columns, _LANES)), np.empty(_LANES)
    one, two = np.empty(_LANES), np.empty(_LANES)
    start = 0
    while start < rows:
        g = group[order[start]]
        here = 1
        while here < _LANES and start + here < rows and group[order[start + here]] == g:
            here += 1
        for r in range(here):
            for j in range(columns):
                lanes[j, r] = grid[order[start + r], j]
        best[:] = np.inf
        for c in range(ends[g], ends[g + 1], 2):  # two centres and four columns at a time: fewer loads
            n = min(c + 1, ends[g + 1] - 1)
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
            labels[order[start + r]] = ends[g] + (np.int64(best[r]) & (tag - 1))
        start += here
