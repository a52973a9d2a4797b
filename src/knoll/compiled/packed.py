"""Grid points of up to eight columns in 20 bytes instead of 32: nothing is lost, and more of a file can be kept."""

from typing import Any

import numpy as np

from knoll.arrays import Halves, Places, Small
from knoll.compiled.compiler import compiled

_FROM = 2**19  # added, so that no packed number has a sign; 20 bits hold what is within ± 2^19


@compiled("o2", "S2", "U1")
def pack(grid: Small, low: Halves, high: Places) -> Any:
    """Write the lower 16 bits of each coordinate, and the upper four of all eight in one number.

    Return how many records do not fit: they have a coordinate beyond 20 bits.
    """
    beyond: Any = 0
    for i in range(len(grid)):
        top, out = np.uint32(0), np.uint32(0)
        for j in range(8):
            value = np.uint32(grid[i, j] + np.int32(_FROM))
            out |= value >> np.uint32(20)
            low[i, j] = np.uint16(value & np.uint32(0xFFFF))
            top |= ((value >> np.uint32(16)) & np.uint32(15)) << np.uint32(4 * j)
        high[i] = top
        beyond += out > np.uint32(0)
    return beyond


@compiled("s2", "u1", "O2")
def unpack(low: Halves, high: Places, grid: Small) -> None:
    """Write the coordinates that `pack` was given."""
    for i in range(len(low)):
        top = high[i]
        for j in range(8):
            upper = np.int32((top >> np.uint32(4 * j)) & np.uint32(15)) << np.int32(16)
            grid[i, j] = np.int32(upper + np.int32(low[i, j])) - np.int32(_FROM)
