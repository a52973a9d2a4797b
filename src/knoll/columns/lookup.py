"""Texts that have codes, as a table of hashes: made once for a declared column, asked for every block of rows."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa

from knoll.arrays import Floats, Integers
from knoll.compiled.levels import hashes_of, levels_in
from knoll.engines.notation import letters_of


@dataclass(frozen=True, eq=False)
class Lookup:
    """Known texts and their codes.

    Attributes
    ----------
    letters, ends : arrays
        The texts, one after the other, and where each begins and the last one ends.
    slots : array
        Their places, by hash.
    codes : array
        Their codes.
    fold : bool
        Whether capitals are read as small letters.
    """

    letters: Integers
    ends: Integers
    slots: Integers
    codes: Floats
    fold: bool

    def read(self, column: Any, unknown: float, others: Callable[[Any], Floats]) -> Floats:
        """Return the codes of an Arrow column of text, NaN for null.

        Parameters
        ----------
        column : Arrow array
            Of text, or of bytes that are read as text.
        unknown : float
            Code of a text that is not known.
        others : callable
            What reads the unknown texts with letters beyond ASCII: there may be other blanks around them.
        """
        column, letters, ends = letters_of(column)
        found, left = np.empty(len(column)), np.empty(len(column), np.uint8)
        table = self.letters, self.ends, self.slots, self.codes
        if levels_in(letters, ends, *table, int(self.fold), unknown, found, left) or column.null_count:
            absent = column.is_null().to_numpy(zero_copy_only=False)
            found[absent] = np.nan
            rest = (left == 1) & ~absent
            if rest.any():
                found[rest] = others(column.filter(pa.array(rest)))
        return found


@lru_cache(maxsize=256)
def lookup_of(texts: tuple[str, ...], codes: tuple[float, ...], *, fold: bool = False) -> Lookup:
    """Return the table of some texts, which are all different, and their codes."""
    _, letters, ends = letters_of(pa.array(texts, pa.string()))
    hashes = np.empty(len(texts), np.int64)
    hashes_of(letters, ends, int(fold), hashes)
    slots = np.full(1 << (4 * len(texts)).bit_length(), -1)
    for i, start in enumerate((hashes & (len(slots) - 1)).tolist()):
        while slots[start] >= 0:
            start = (start + 1) & (len(slots) - 1)
        slots[start] = i
    return Lookup(letters.copy(), ends.copy(), slots, np.array(codes), fold)
