"""What records add to the cell they are in, in 64-bit integers."""

import numpy as np

from knoll.arrays import Floats, Integers
from knoll.compiled.compiler import compiled


@compiled("f2", "i1", "I2")
def add_sums(grid: Floats, labels: Integers, total: Integers) -> None:
    """Add one and the coordinates of each record to its cell; a record of cell -1 adds nothing."""
    rows, columns = grid.shape
    for i in range(rows):
        cell = labels[i]
        if cell >= 0:
            total[cell, 0] += 1
            for j in range(columns):
                total[cell, 1 + j] += np.int64(grid[i, j])


@compiled("f2", "i1", "f2", "f2", "i", "I2")
def add_shapes(grid: Floats, labels: Integers, origin: Floats, per_step: Floats, bits: int, total: Integers) -> None:
    """Add one, the displacement and its squares of each record to its cell; a record of cell -1 adds nothing.

    A displacement is measured in the cell's own units, cut towards zero, and pulled into a ball of 2^bits units. What
    lies farther than 16 times that is first moved there, column by column.
    """
    rows, columns = grid.shape
    unit = 2.0**bits
    far, short = 16.0 * unit, unit * (1.0 - 2.0**-40)
    moved = np.empty(columns, np.int32)
    for i in range(rows):
        cell = labels[i]
        if cell < 0:
            continue
        square = np.int64(0)
        for j in range(columns):
            value = (grid[i, j] - origin[cell, j]) * per_step[cell, j]
            value = far if value > far else value
            value = -far if value < -far else value
            moved[j] = np.int32(value)
            square += np.int64(moved[j]) * np.int64(moved[j])
        if float(square) > unit * unit:
            factor = short / np.sqrt(float(square))
            for j in range(columns):
                moved[j] = np.int32(moved[j] * factor)
        total[cell, 0] += 1
        for j in range(columns):
            total[cell, 1 + j] += moved[j]
            total[cell, 1 + columns + j] += (np.int64(moved[j]) * np.int64(moved[j])) >> bits


@compiled("f2", "f1", "f1", "i", "I2")
def add_products(grid: Floats, origin: Floats, per_step: Floats, bits: int, total: Integers) -> None:
    """Add the products of any two coordinates of each record's displacement, in units of 2^bits, cut towards zero.

    Displacements are measured as by `add_shapes`. Only the upper triangle is added to. Products of a few hundred
    thousand records stay below 2^53, where doubles are exact.
    """
    rows, columns = grid.shape
    unit = 2.0**bits
    far, short, worth = 16.0 * unit, unit * (1.0 - 2.0**-40), 2.0**-bits
    moved, sums = np.zeros((4, columns)), np.zeros((columns, columns))
    for start in range(0, rows, 4):  # four records at a time: the sums are read and written less often
        for r in range(4):
            if start + r >= rows:
                moved[r] = 0.0
                continue
            square = np.int64(0)
            for j in range(columns):
                value = np.trunc((grid[start + r, j] - origin[j]) * per_step[j])
                value = far if value > far else value
                value = -far if value < -far else value
                moved[r, j] = value
                square += np.int64(value) * np.int64(value)
            if float(square) > unit * unit:
                factor = short / np.sqrt(float(square))
                for j in range(columns):
                    moved[r, j] = np.trunc(moved[r, j] * factor)
        for j in range(columns):
            a, b, e, f = moved[0, j] * worth, moved[1, j] * worth, moved[2, j] * worth, moved[3, j] * worth
            for m in range(j, columns):
                first = np.trunc(a * moved[0, m]) + np.trunc(b * moved[1, m])
                sums[j, m] += first + (np.trunc(e * moved[2, m]) + np.trunc(f * moved[3, m]))
    for j in range(columns):
        for m in range(j, columns):
            total[j, m] += np.int64(sums[j, m])
