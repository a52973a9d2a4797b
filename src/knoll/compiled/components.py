"""How records are shared out among Gaussians: whole numbers all the way, each record by itself."""

import numpy as np

from knoll.arrays import Floats
from knoll.compiled.compiler import compiled


@compiled("F3", "f2", "f2", "f", "F2")
def whiten_all(moved: Floats, offsets: Floats, scales: Floats, far: float, squares: Floats) -> None:
    """Turn products of records and maps, (cells, columns, rows), into whitened displacements; write their squares."""
    cells, columns, rows = moved.shape
    for c in range(cells):
        for r in range(rows):
            squares[c, r] = 0.0
        for i in range(columns):
            offset, scale = offsets[c, i], scales[c, i]
            for r in range(rows):
                value = np.rint((moved[c, i, r] - offset) * scale)
                value = far if value > far else value
                value = -far if value < -far else value
                moved[c, i, r] = value
                squares[c, r] += value * value


@compiled("f2", "f1", "f1", "f1", "f", "f", "F2")
def share_among(
    squares: Floats, per_square: Floats, heights: Floats, table: Floats, step: float, whole: float, parts: Floats
) -> None:
    """Write responsibilities as whole numbers that sum to `whole`, (cells, rows).

    They are looked up by how far minus twice the log density is above the least. Running totals of whole numbers are
    rounded, so the parts add up exactly and none is negative.
    """
    cells, rows = squares.shape
    best, last = np.empty(rows), float(len(table) - 1)
    before, running = np.zeros(rows), np.zeros(rows)
    for c in range(cells):
        for r in range(rows):
            badness = squares[c, r] * per_square[c] - heights[c]
            parts[c, r] = badness
            best[r] = badness if c == 0 or badness < best[r] else best[r]
    for c in range(cells):
        for r in range(rows):
            above = (parts[c, r] - best[r]) * step
            running[r] += table[np.int64(above if above < last else last)]
            parts[c, r] = running[r]
    for c in range(cells):
        for r in range(rows):
            until = np.rint(parts[c, r] * whole / running[r])
            parts[c, r] = until - before[r]
            before[r] = until


@compiled("f3", "f2", "f2", "f", "i", "F2")
def add_held(moved: Floats, squares: Floats, parts: Floats, unit: float, full: int, total: Floats) -> None:
    """Add what each cell holds of the records: parts, displacements cut to a ball of `unit`, products or squares.

    A row of `total` is a count, sums, and all products or the squares. Every number is whole and below 2^53: sums are
    exact in any order.
    """
    cells, columns, rows = moved.shape
    v, sums = np.empty(columns), np.empty(total.shape[1])
    short = unit * (1.0 - 2.0**-40)
    for c in range(cells):
        sums[:] = 0.0
        for r in range(rows):
            part = parts[c, r]
            if part > 0.0:
                far = squares[c, r] > unit * unit
                factor = short / np.sqrt(squares[c, r]) if far else 1.0
                for i in range(columns):
                    v[i] = np.trunc(moved[c, i, r] * factor) if far else moved[c, i, r]
                sums[0] += part
                for i in range(columns):
                    weighted = v[i] * part
                    sums[1 + i] += weighted
                    if full:
                        start = 1 + columns + i * columns
                        for j in range(columns):
                            sums[start + j] += weighted * v[j]
                    else:
                        sums[1 + columns + i] += weighted * v[i]
        for j in range(total.shape[1]):
            total[c, j] += sums[j]
