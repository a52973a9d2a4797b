"""Distances of public or released points: post-processing, where no record is looked at."""

import numpy as np

from knoll.arrays import Floats, Integers
from knoll.compiled.compiler import compiled

_LANES = 64  # points that are compared with a centre side by side


@compiled("f2", "i1", "F2")
def add_rows(values: Floats, labels: Integers, total: Floats) -> None:
    """Add each row to its group, one row after the other; a row of group -1 is left out."""
    for i in range(len(values)):
        group = labels[i]
        if group >= 0:
            for j in range(values.shape[1]):
                total[group, j] += values[i, j]


@compiled("f2", "f2", "I1")
def nearest_points(points: Floats, centres: Floats, labels: Integers) -> None:
    """Write the number of the centre nearest to each point, the first of equals."""
    rows, columns = points.shape
    lanes, square = np.zeros((columns, _LANES)), np.empty(_LANES)
    best, which = np.empty(_LANES), np.empty(_LANES, np.int64)
    for start in range(0, rows, _LANES):
        here = min(_LANES, rows - start)
        for r in range(here):
            for j in range(columns):
                lanes[j, r] = points[start + r, j]
        best[:] = np.inf
        which[:] = 0
        for c in range(len(centres)):
            square[:] = 0.0
            for j in range(columns):
                at = centres[c, j]
                for r in range(_LANES):
                    gap = lanes[j, r] - at
                    square[r] += gap * gap
            for r in range(_LANES):
                closer = square[r] < best[r]
                best[r] = square[r] if closer else best[r]
                which[r] = c if closer else which[r]
        labels[start : start + here] = which[:here]
