"""Sums of waves at points, of public or released numbers: post-processing, where no record is looked at."""

import math

import numpy as np

from knoll.arrays import Floats
from knoll.compiled.compiler import compiled

_LANES = 256  # frequencies side by side
_ROUND = 1.5 * 2.0**52  # a double of this size has no fractions: adding and subtracting it rounds to a whole number
# Taylor coefficients of sin(pi t) / t and cos(pi t) in t^2. For |t| <= 1/2 what is left out is below 3e-16.
_S = tuple((-1) ** i * math.pi ** (2 * i + 1) / math.factorial(2 * i + 1) for i in range(10))
_C = tuple((-1) ** i * math.pi ** (2 * i) / math.factorial(2 * i) for i in range(11))


@compiled("f2", "f2", "f1", "f1", "F2", "F2")
def waves(points: Floats, turns: Floats, cosines: Floats, sines: Floats, even: Floats, odd: Floats) -> None:
    """Write c cos(p) + s sin(p) and s cos(p) - c sin(p), the wave and its slope, for every point and frequency.

    The phase p of a point x is ``x @ turns`` full turns. Cosine and sine are those of p / 2, by polynomials, doubled:
    within 1e-15 of the true ones, and without a branch, so that the machine works on several at once.
    """
    rows, columns = points.shape
    t = np.empty(_LANES)
    for start in range(0, len(cosines), _LANES):
        here = min(_LANES, len(cosines) - start)
        for i in range(rows):
            t[:] = 0.0
            for j in range(columns):
                x = points[i, j]
                for r in range(here):
                    t[r] += x * turns[j, start + r]
            for r in range(here):
                h = t[r] - ((t[r] + _ROUND) - _ROUND)
                u = h * h
                a = u * (_S[5] + u * (_S[6] + u * (_S[7] + u * (_S[8] + u * _S[9]))))
                a = h * (_S[0] + u * (_S[1] + u * (_S[2] + u * (_S[3] + u * (_S[4] + a)))))
                b = u * (_C[5] + u * (_C[6] + u * (_C[7] + u * (_C[8] + u * (_C[9] + u * _C[10])))))
                b = _C[0] + u * (_C[1] + u * (_C[2] + u * (_C[3] + u * (_C[4] + b))))
                cos, sin = 1.0 - 2.0 * a * a, 2.0 * a * b
                c, s = cosines[start + r], sines[start + r]
                even[i, start + r] = c * cos + s * sin
                odd[i, start + r] = s * cos - c * sin
