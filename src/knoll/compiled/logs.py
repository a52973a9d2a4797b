"""Logarithms of base two of many numbers, each by itself."""

import math

import numpy as np

from knoll.arrays import Floats
from knoll.compiled.compiler import compiled

_LANES = 64  # numbers that go through the series side by side
_TERMS = 11  # of the series of atanh
_HALF_ROOT, _FACTOR = math.sqrt(0.5), 2.0 * (1.0 / math.log(2.0))
_LEAST, _UP, _LARGEST = 2.0**-1022, 2.0**54, np.finfo(np.float64).max


@compiled("f1", "f", "f", "F1")
def log2_between(values: Floats, lower: float, upper: float, out: Floats) -> None:
    """Write the logarithms of numbers, clipped to bounds above zero; NaN for what is not finite.

    The same steps, in the same order, as `knoll.columns.logarithm.log2`, and so the same bits.
    """
    part, s = np.ones(_LANES), np.empty(_LANES)  # unused lanes go through the series too
    bits = part.view(np.int64)
    whole, square, total = np.empty(_LANES), np.empty(_LANES), np.empty(_LANES)
    for start in range(0, len(values), _LANES):
        here = min(_LANES, len(values) - start)
        for r in range(here):
            value = values[start + r]
            inside = min(max(value, lower), upper)
            tiny = inside < _LEAST
            part[r] = inside * _UP if tiny else inside
            power = (bits[r] >> 52) - 1022  # the bits of a double: its power of two above 52 of its size
            bits[r] = (bits[r] & 0xFFFFFFFFFFFFF) | (1022 << 52)
            small = part[r] < _HALF_ROOT
            part[r] = 2.0 * part[r] if small else part[r]
            whole[r] = power - (54 if tiny else 0) - (1.0 if small else 0.0)
        for r in range(_LANES):
            s[r] = (part[r] - 1.0) / (part[r] + 1.0)
            square[r] = s[r] * s[r]
            total[r] = 1.0 / (2 * _TERMS - 1)
        for k in range(_TERMS - 2, -1, -1):
            term = 1.0 / (2 * k + 1)
            for r in range(_LANES):
                total[r] = total[r] * square[r] + term
        for r in range(here):
            found = whole[r] + _FACTOR * (s[r] * total[r])
            out[start + r] = found if abs(values[start + r]) <= _LARGEST else np.nan
