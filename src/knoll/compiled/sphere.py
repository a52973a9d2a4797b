"""Records as directions: vectors of one length, on a grid of whole numbers."""

import numpy as np

from knoll.arrays import Floats
from knoll.compiled.compiler import Compiled, compiled


def _onto_sphere(block: Floats, radius: float, out: Floats) -> int:
    """Scale each record to a length of `radius` <= 2^18, cutting coordinates towards zero.

    Each record by itself, in one order of operations. Squares are added in four lanes. Records whose largest entry is
    tiny or huge are divided by it first; of a record with infinite entries these alone count; one of length zero stays
    there. What is longer than the radius by rounding is pulled back, as by `into_ball`. Return how many records hold
    no NaN, packed first.
    """
    rows, columns = block.shape
    kept = 0
    for i in range(rows):
        top, whole = 0.0, True
        for j in range(columns):
            size = abs(block[i, j])
            whole &= size == size
            top = size if size > top else top
        if not whole:
            continue
        usual = 1e-100 < top < 1e100
        a, b, c, d = 0.0, 0.0, 0.0, 0.0
        for j in range(columns):
            value = block[i, j]
            if top == np.inf:
                value = 0.0 if abs(value) < np.inf else 1.0 if value > 0.0 else -1.0
            elif not usual and top > 0.0:
                value = value / top
            out[kept, j] = value
        for j in range(0, columns - 3, 4):
            a += out[kept, j] * out[kept, j]
            b += out[kept, j + 1] * out[kept, j + 1]
            c += out[kept, j + 2] * out[kept, j + 2]
            d += out[kept, j + 3] * out[kept, j + 3]
        for j in range(columns - columns % 4, columns):
            a += out[kept, j] * out[kept, j]
        square = (a + b) + (c + d)
        factor = radius / np.sqrt(square) if square > 0.0 else 0.0
        length = np.int64(0)
        for j in range(columns):
            value = np.trunc(out[kept, j] * factor)
            out[kept, j] = value
            length += np.int64(value) * np.int64(value)
        if float(length) > radius * radius:
            shorter = radius * (1.0 - 2.0**-40) / np.sqrt(float(length))
            for j in range(columns):
                out[kept, j] = np.trunc(out[kept, j] * shorter)
        kept += 1
    return kept


onto_sphere = compiled("f2", "f", "F2")(_onto_sphere)
onto_sphere_any = Compiled(_onto_sphere, ("a2", "f", "F2"))  # of rows in another layout
