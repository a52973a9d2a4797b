"""Logarithms of base two, the same bits for a value wherever it stands in an array.

numpy's log and exp2 may differ in the last bits between a vector's lanes and its tail, so that one record could change
what becomes of another. Here there are additions, multiplications and divisions only, in a fixed order.
"""

import math

import numpy as np

from knoll.arrays import Floats

_TERMS = 11
"""Of the series of atanh(s), |s| <= 0.1716: what is left out is below 0.1716^23 / 23 = 1e-19."""

_PER_LN = 1.0 / math.log(2.0)
_EXP_TERMS = 16
"""Of the series of exp(t), |t| <= 0.35: what is left out is below 0.35^17 / 17! = 5e-23."""


def log2(values: Floats) -> Floats:
    """Return the logarithms of positive doubles; NaN for NaN. Powers of two are exact, others err by 1e-15 of them.

    With x = m 2^e, m within sqrt(1/2) and sqrt 2: ln m = 2 atanh(s), s = (m - 1) / (m + 1).
    """
    part, power = np.frexp(values)
    small = part < math.sqrt(0.5)
    part = np.where(small, 2.0 * part, part)
    whole = power - small.astype(np.float64)
    s = (part - 1.0) / (part + 1.0)
    square = s * s
    total = np.full_like(s, 1.0 / (2 * _TERMS - 1))
    for k in range(_TERMS - 2, -1, -1):
        total = total * square
        total = total + 1.0 / (2 * k + 1)
    return whole + (2.0 * _PER_LN) * (s * total)


def exp2(values: Floats) -> Floats:
    """Return two to the power of each double."""
    whole = np.rint(values)
    rest = (values - whole) * math.log(2.0)
    total = np.ones_like(rest)
    for k in range(_EXP_TERMS, 0, -1):
        total = total * rest
        total = total / k + 1.0
    power = np.where(np.isnan(whole), 0, np.clip(whole, -2000, 2000)).astype(np.int64)
    return np.ldexp(total, power)
