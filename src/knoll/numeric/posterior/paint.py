"""Densities of draws on a grid, compiled."""

import math

import numpy as np

from knoll.arrays import Floats, Integers
from knoll.compiled.compiler import compiled

_BLURRED = 0.5  # of a gap: narrower Gaussians are painted as if they had this width
_FAR = 4.0  # widths beyond which a Gaussian is not painted


@compiled("f3", "i2", "f2", "f1", "f1", "i1", "F2")
def paint(
    places: Floats, levels: Integers, weights: Floats, widths: Floats, gap: Floats, shape: Integers, density: Floats
) -> None:
    """Add the records that each draw expects in each cell of a grid: draws (n, K, d) -> density (n, cells).

    A Gaussian that reaches beyond the grid is cut there, and what is left of it holds all of its weight.
    """
    draws, size, d = places.shape
    first, last = np.zeros(3, np.int64), np.ones(3, np.int64)
    factor, rows = np.ones((3, shape.max())), np.ones(3, np.int64)
    rows[3 - d :] = shape
    for n in range(draws):
        for i in range(size):
            weight = weights[n, i]
            for c in range(d):
                x, e = places[n, i, c] / gap[c], 3 - d + c
                wide = max(widths[levels[n, i]] / gap[c], _BLURRED)
                first[e] = min(max(0, int(x - _FAR * wide)), shape[c] - 1)
                last[e] = max(first[e] + 1, min(shape[c], int(x + _FAR * wide) + 1))
                total = 0.0
                for a in range(first[e], last[e]):
                    factor[e, a] = math.exp(-0.5 * ((a + 0.5 - x) / wide) ** 2)
                    total += factor[e, a]
                weight /= total
            for a in range(first[0], last[0]):
                for b in range(first[1], last[1]):
                    both = weight * factor[0, a] * factor[1, b]
                    start = (a * rows[1] + b) * rows[2]
                    for c in range(first[2], last[2]):
                        density[n, start + c] += both * factor[2, c]
