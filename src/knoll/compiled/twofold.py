"""Two grids in one small integer: where a record is on a finer grid, and how far from there it is on a coarser one.

With `ratio`, steps of the finer grid by those of the coarser, at most one, a coordinate q of the finer is within two of
``rint(q * ratio)`` on the coarser: three bits tell them apart, and nothing is rounded twice.
"""

import numpy as np

from knoll.arrays import Floats, Small
from knoll.compiled.compiler import compiled

_LANES = 128  # coordinates that go through a step side by side: those of sixteen records


@compiled("o2", "o2", "f1", "O2")
def join(fine: Small, coarse: Small, ratio: Floats, out: Small) -> int:
    """Write both, eight columns to a record; return how many numbers are too far apart."""
    ratios, apart = np.empty(_LANES), 0
    for n in range(_LANES):
        ratios[n] = ratio[n % 8]
    ones, others, whole = fine.reshape(-1), coarse.reshape(-1), out.reshape(-1)
    for start in range(0, len(ones), _LANES):
        here = min(_LANES, len(ones) - start)
        one, other, to = ones[start : start + here], others[start : start + here], whole[start : start + here]
        for n in range(here):
            beyond = other[n] - np.int32(np.rint(one[n] * ratios[n])) + np.int32(4)
            apart += (beyond < 0) | (beyond > 7)
            to[n] = np.int32(8) * one[n] + beyond
    return apart


@compiled("o2", "O2")
def fine_of(joined: Small, out: Small) -> None:
    """Write the coordinates on the finer grid."""
    whole, to = joined.reshape(-1), out.reshape(-1)
    for n in range(len(whole)):
        to[n] = whole[n] >> np.int32(3)


@compiled("o2", "f1", "O2")
def coarse_of(joined: Small, ratio: Floats, out: Small) -> None:
    """Write the coordinates on the coarser grid."""
    ratios = np.empty(_LANES)
    for n in range(_LANES):
        ratios[n] = ratio[n % 8]
    ones, whole = joined.reshape(-1), out.reshape(-1)
    for start in range(0, len(ones), _LANES):
        here = min(_LANES, len(ones) - start)
        one, to = ones[start : start + here], whole[start : start + here]
        for n in range(here):
            fine = one[n] >> np.int32(3)
            to[n] = np.int32(np.rint(fine * ratios[n])) + (one[n] & np.int32(7)) - np.int32(4)
