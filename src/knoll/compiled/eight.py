"""Records in up to eight columns, as small integers: eight to a record, zeros after its last column.

A loop over eight columns, known when it is compiled, becomes a few instructions that do all of them at once. What is
found and added are the integers of the loops over any number of columns (cells.py, sums.py).
"""

import numpy as np

from knoll.arrays import Floats, Integers, Places, Small
from knoll.compiled.compiler import Compiled, compiled

WIDTH = 8
_LANES = 128  # records that go through a step side by side


def _to_grid_eight(block: Floats, centre: Floats, per_step: Floats, limit: Floats, out: Small) -> int:
    """Subtract, multiply, round, clip: each correctly rounded. Return how many records hold no NaN, packed first.

    `out` comes with zeros. Only what is NaN in the block is NaN on the grid.
    """
    rows, columns = block.shape
    missing = 0
    for i in range(rows):
        for j in range(columns):
            value = np.rint((block[i, j] - centre[j]) * per_step[j])
            value = limit[j] if value > limit[j] else value
            value = -limit[j] if value < -limit[j] else value
            missing += value != value
            out[i, j] = np.int32(value if value == value else 0.0)
    if missing == 0:
        return rows
    kept = 0
    for i in range(rows):
        whole = True
        for j in range(columns):
            whole &= block[i, j] == block[i, j]
        for j in range(WIDTH):
            out[kept, j] = out[i, j]
        kept += whole
    return kept


to_grid_eight = compiled("f2", "f1", "f1", "f1", "O2")(_to_grid_eight)
to_grid_eight_any = Compiled(_to_grid_eight, ("a2", "f1", "f1", "f1", "O2"))  # of rows in another layout


@compiled("c2", "f1", "f1", "f1", "O2")
def to_grid_eight_columns(block: Floats, centre: Floats, per_step: Floats, limit: Floats, out: Small) -> int:
    """Do what `to_grid_eight` does with rows that are kept column after column."""
    rows, columns = block.shape
    part, missing = np.zeros((8, _LANES), np.int32), 0
    for start in range(0, rows, _LANES):
        here = min(_LANES, rows - start)
        for j in range(columns):
            middle, steps, most = centre[j], per_step[j], limit[j]
            column = block[start : start + here, j]
            for r in range(here):
                value = np.rint((column[r] - middle) * steps)
                value = most if value > most else value
                value = -most if value < -most else value
                missing += value != value
                part[j, r] = np.int32(value if value == value else 0.0)
        for r in range(here):
            for j in range(8):
                out[start + r, j] = part[j, r]
    if missing == 0:
        return rows
    kept = 0
    for i in range(rows):
        whole = True
        for j in range(columns):
            whole &= block[i, j] == block[i, j]
        for j in range(8):
            out[kept, j] = out[i, j]
        kept += whole
    return kept


@compiled("o2", "u1", "o1", "i1", "i", "I1")
def down_tree_eight(grid: Small, onward: Places, cut: Small, number: Integers, depth: int, labels: Integers) -> None:
    """Do what `down_tree` does, where `onward` is eight times the left child, and the axis; `cut` whole thresholds.

    Numbers without a sign are places of an array as they are: nothing is asked before they are used.
    """
    rows, flat = len(grid), grid.reshape(-1)
    at = np.zeros(rows, np.uint32)
    for _ in range(depth):
        for i in range(rows):
            here = at[i]
            go = onward[here]
            right = flat[np.uint64(8 * i) + np.uint64(go & np.uint32(7))] > cut[here]
            at[i] = (go >> np.uint32(3)) + np.uint32(right)
    for i in range(rows):
        labels[i] = number[at[i]]


@compiled("o2", "f2", "f1", "i", "I1")
def nearest_of_eight(grid: Small, slope: Floats, offset: Floats, tag: int, labels: Integers) -> None:
    """Do what `nearest_of` does; `slope` has eight columns too.

    Two centres are compared with many records without a sum that is written and read again.
    """
    rows = len(grid)
    lanes, best = np.zeros((8, _LANES)), np.empty(_LANES)
    for start in range(0, rows, _LANES):
        here = min(_LANES, rows - start)
        for r in range(here):
            for j in range(8):
                lanes[j, r] = grid[start + r, j]
        best[:] = np.inf
        for c in range(0, len(offset), 2):
            n = min(c + 1, len(offset) - 1)
            one, two = offset[c], offset[n]
            a, b, e, f = slope[c, 0], slope[c, 1], slope[c, 2], slope[c, 3]
            g, h, k, m = slope[c, 4], slope[c, 5], slope[c, 6], slope[c, 7]
            aa, bb, ee, ff = slope[n, 0], slope[n, 1], slope[n, 2], slope[n, 3]
            gg, hh, kk, mm = slope[n, 4], slope[n, 5], slope[n, 6], slope[n, 7]
            for r in range(_LANES):
                s, t, u, v = lanes[0, r], lanes[1, r], lanes[2, r], lanes[3, r]
                w, x, y, z = lanes[4, r], lanes[5, r], lanes[6, r], lanes[7, r]
                first = one + (((a * s + b * t) + (e * u + f * v)) + ((g * w + h * x) + (k * y + m * z)))
                second = two + (((aa * s + bb * t) + (ee * u + ff * v)) + ((gg * w + hh * x) + (kk * y + mm * z)))
                best[r] = min(best[r], min(first, second))
        for r in range(here):
            labels[start + r] = np.int64(best[r]) & (tag - 1)


@compiled("o2", "i1", "F2")
def add_sums_eight(grid: Small, labels: Integers, total: Floats) -> None:
    """Add the eight coordinates of each record to its cell, and one in a ninth place; cell -1 is none.

    All sums are whole and below 2^53: exact in any order.
    """
    for i in range(len(grid)):
        cell = labels[i]
        if cell < 0:
            continue
        a, b, c, d = grid[i, 0], grid[i, 1], grid[i, 2], grid[i, 3]
        e, f, g, h = grid[i, 4], grid[i, 5], grid[i, 6], grid[i, 7]
        total[cell, 0] += a
        total[cell, 1] += b
        total[cell, 2] += c
        total[cell, 3] += d
        total[cell, 4] += e
        total[cell, 5] += f
        total[cell, 6] += g
        total[cell, 7] += h
        total[cell, 8] += 1.0


@compiled("o2", "i1", "f2", "f2", "i", "F2")
def add_shapes_eight(grid: Small, labels: Integers, origin: Floats, per_step: Floats, bits: int, total: Floats) -> None:
    """Add what `add_shapes` adds: eight displacements, their eight squares, and one; cell -1 is none.

    Only a displacement that is too long is clipped and pulled into the ball: no coordinate of a shorter one is far. All
    numbers that are added are whole, and the sums below 2^53: exact in any order.
    """
    unit = 2.0**bits
    far, short, worth = 16.0 * unit, unit * (1.0 - 2.0**-40), 2.0**-bits
    for i in range(len(grid)):
        at = labels[i]
        if at < 0:
            continue
        a = np.trunc((grid[i, 0] - origin[at, 0]) * per_step[at, 0])
        b = np.trunc((grid[i, 1] - origin[at, 1]) * per_step[at, 1])
        c = np.trunc((grid[i, 2] - origin[at, 2]) * per_step[at, 2])
        d = np.trunc((grid[i, 3] - origin[at, 3]) * per_step[at, 3])
        e = np.trunc((grid[i, 4] - origin[at, 4]) * per_step[at, 4])
        f = np.trunc((grid[i, 5] - origin[at, 5]) * per_step[at, 5])
        g = np.trunc((grid[i, 6] - origin[at, 6]) * per_step[at, 6])
        h = np.trunc((grid[i, 7] - origin[at, 7]) * per_step[at, 7])
        square = ((a * a + b * b) + (c * c + d * d)) + ((e * e + f * f) + (g * g + h * h))
        if square > unit * unit:
            a, b, c, d = min(max(a, -far), far), min(max(b, -far), far), min(max(c, -far), far), min(max(d, -far), far)
            e, f, g, h = min(max(e, -far), far), min(max(f, -far), far), min(max(g, -far), far), min(max(h, -far), far)
            pull = short / np.sqrt(((a * a + b * b) + (c * c + d * d)) + ((e * e + f * f) + (g * g + h * h)))
            a, b, c, d = np.trunc(a * pull), np.trunc(b * pull), np.trunc(c * pull), np.trunc(d * pull)
            e, f, g, h = np.trunc(e * pull), np.trunc(f * pull), np.trunc(g * pull), np.trunc(h * pull)
        total[at, 0] += a
        total[at, 1] += b
        total[at, 2] += c
        total[at, 3] += d
        total[at, 4] += e
        total[at, 5] += f
        total[at, 6] += g
        total[at, 7] += h
        total[at, 8] += np.trunc(a * a * worth)
        total[at, 9] += np.trunc(b * b * worth)
        total[at, 10] += np.trunc(c * c * worth)
        total[at, 11] += np.trunc(d * d * worth)
        total[at, 12] += np.trunc(e * e * worth)
        total[at, 13] += np.trunc(f * f * worth)
        total[at, 14] += np.trunc(g * g * worth)
        total[at, 15] += np.trunc(h * h * worth)
        total[at, 16] += 1.0
