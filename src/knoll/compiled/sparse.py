"""Sparse rows: a record is a run of entries (column, value), columns ascending; each run by itself."""

import numpy as np

from knoll.arrays import Floats, Integers
from knoll.compiled.compiler import compiled


@compiled("i1", "i1", "f1", "i1", "f1", "f", "I1", "F1", "I1")
def unit_entries(
    ends: Integers, columns: Integers, values: Floats, place: Integers, weights: Floats, unit: float,
    to: Integers, grid: Floats, stops: Integers,
) -> int:  # fmt: skip
    """Keep the entries of chosen columns, weigh them, and scale each row to a length of `unit`, cut towards zero.

    Entry (c, v) goes to place[c] with weights[place[c]] * v; place -1 is not chosen. `to` and `grid` are filled with
    the entries of row after row, `stops[i]` is where row i ends; -1 for a row that holds a NaN, which has none. Return
    the number of entries. A row's largest entry is divided out first, so that no square overflows; the length is
    lowered by 2^-40, more than all its roundings.
    """
    filled = 0
    for i in range(ends.size - 1):
        largest, null, first = 0.0, False, filled
        for n in range(ends[i], ends[i + 1]):
            value = values[n]
            null |= value != value
            at = place[columns[n]]
            if at < 0:
                continue
            value = min(max(value, -1e200), 1e200) * weights[at]
            if value == 0.0 or value != value:
                continue
            to[filled], grid[filled] = at, value
            largest = max(largest, abs(value))
            filled += 1
        if null:
            filled, stops[i] = first, -1
            continue
        square = 0.0
        for n in range(first, filled):
            grid[n] /= largest
            square += grid[n] * grid[n]
        for n in range(first, filled):
            grid[n] = np.trunc(grid[n] * (unit * (1.0 - 2.0**-40) / np.sqrt(square)))
        stops[i] = filled
    return filled


@compiled("i1", "i1", "f1", "F2")
def fill_rows(stops: Integers, to: Integers, grid: Floats, out: Floats) -> int:
    """Write entries into rows of zeros; rows with a NaN are left out. Return how many rows there are."""
    first, rows = 0, 0
    for i in range(stops.size):
        if stops[i] < 0:
            continue
        for n in range(first, stops[i]):
            out[rows, to[n]] = grid[n]
        first = stops[i]
        rows += 1
    return rows


@compiled("i1", "i1", "f1", "i", "I2")
def add_pairs(stops: Integers, to: Integers, grid: Floats, bits: int, total: Integers) -> None:
    """Add the products of any two different entries of each row, in units of 2^bits, cut towards zero.

    The product goes to total[smaller place, larger place].
    """
    first = 0
    for i in range(stops.size):
        if stops[i] < 0:
            continue
        for n in range(first, stops[i]):
            for m in range(n + 1, stops[i]):
                a, b = min(to[n], to[m]), max(to[n], to[m])
                product = np.int64(grid[n]) * np.int64(grid[m])
                total[a, b] += product >> bits if product >= 0 else -(-product >> bits)
        first = stops[i]


@compiled("i1", "i1", "f1", "i1", "I2")
def add_entries(stops: Integers, to: Integers, grid: Floats, labels: Integers, total: Integers) -> None:
    """Add one and the entries of each row to its cell. Rows with a NaN are left out, and have no label."""
    first, rows = 0, 0
    for i in range(stops.size):
        if stops[i] < 0:
            continue
        cell = labels[rows]
        total[cell, 0] += 1
        for n in range(first, stops[i]):
            total[cell, 1 + to[n]] += np.int64(grid[n])
        first = stops[i]
        rows += 1


@compiled("i1", "i1", "f1", "f", "I1")
def add_columns(ends: Integers, columns: Integers, values: Floats, unit: float, total: Integers) -> None:
    """Add unit / sqrt(L), cut towards zero, to each of the L columns where a row is not zero; a NaN makes it null."""
    for i in range(ends.size - 1):
        held, null = 0, False
        for n in range(ends[i], ends[i + 1]):
            null |= values[n] != values[n]
            held += values[n] != 0.0
        if null or held == 0:
            continue
        each = np.int64(unit * (1.0 - 2.0**-40) / np.sqrt(float(held)))
        for n in range(ends[i], ends[i + 1]):
            if values[n] != 0.0:
                total[columns[n]] += each
