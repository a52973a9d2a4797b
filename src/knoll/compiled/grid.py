"""Records on a grid of whole numbers."""

import numpy as np

from knoll.arrays import Floats
from knoll.compiled.compiler import Compiled, compiled


def _to_grid(block: Floats, centre: Floats, per_step: Floats, limit: Floats, out: Floats) -> int:
    """Subtract, multiply, round, clip: each correctly rounded. Return how many records hold no NaN, packed first."""
    rows, columns = block.shape
    for i in range(rows):
        for j in range(columns):
            value = np.rint((block[i, j] - centre[j]) * per_step[j])
            value = limit[j] if value > limit[j] else value
            out[i, j] = -limit[j] if value < -limit[j] else value
    missing, flat = 0, out.reshape(-1)
    for n in range(flat.size):  # a second look, but eight numbers at a time
        missing += flat[n] != flat[n]
    if missing == 0:
        return rows
    kept = 0
    for i in range(rows):
        whole = True
        for j in range(columns):
            value = out[i, j]
            out[kept, j] = value
            whole &= value == value
        kept += whole
    return kept


to_grid = compiled("f2", "f1", "f1", "f1", "F2")(_to_grid)
to_grid_any = Compiled(_to_grid, ("a2", "f1", "f1", "f1", "F2"))  # of rows in another layout


@compiled("F2", "f", "f", "f")
def into_ball(grid: Floats, factor: float, most: float, radius: float) -> None:
    """Multiply vectors, round and clip each coordinate to `most` <= 2^24, pull them into a ball, cutting towards zero.

    Squared lengths are sums of integers, rounded once. The factor of a pull is lowered by 2^-40, more than all its
    roundings, so that what is cut is no longer than the radius.
    """
    rows, columns = grid.shape
    for i in range(rows):
        square = np.int64(0)
        for j in range(columns):
            value = np.rint(grid[i, j] * factor)
            value = most if value > most else value
            value = -most if value < -most else value
            grid[i, j] = value
            square += np.int64(value) * np.int64(value)
        if float(square) > radius * radius:
            shorter = radius * (1.0 - 2.0**-40) / np.sqrt(float(square))
            for j in range(columns):
                grid[i, j] = np.trunc(grid[i, j] * shorter)
