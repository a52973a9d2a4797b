"""The sum of a hash of every record: equal for the same records in any order."""

import numpy as np

from knoll.arrays import Words
from knoll.compiled.compiler import compiled

_LANES = 128  # records that are hashed side by side


@compiled("w2")
def sum_of_hashes(columns: Words) -> np.uint64:
    """Return the sum, modulo 2^64, of a hash of each record, whose doubles come as their bits, column after column.

    One product a value: it tells records that changed from those that did not, and is no defence against an enemy.
    """
    lanes, total = np.empty(_LANES, np.uint64), np.uint64(0)
    for start in range(0, columns.shape[1], _LANES):
        here = min(_LANES, columns.shape[1] - start)
        for r in range(here):
            lanes[r] = np.uint64(0)
        for j in range(len(columns)):
            for r in range(here):
                word = lanes[r] ^ columns[j, start + r]
                word = (word ^ (word >> np.uint64(32))) * np.uint64(0x9E3779B97F4A7C15)  # a sign reaches low bits too
                lanes[r] = (word ^ (word >> np.uint64(29))) + np.uint64(j + 1)
        for r in range(here):
            total += lanes[r]
    return total
