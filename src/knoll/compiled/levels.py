"""Levels of a category in columns of text: a text by itself, found in a table of hashes straight from its bytes."""

from knoll.arrays import Floats, Integers
from knoll.compiled.compiler import compiled

_SEED, _PRIME, _MASK = 2166136261, 16777619, 0xFFFFFFFF


@compiled("b1", "o1", "i", "I1")
def hashes_of(letters: Integers, ends: Integers, fold: int, found: Integers) -> None:
    """Write the hash of every text (FNV-1a); with `fold` of the text in small letters."""
    for i in range(len(found)):
        value = _SEED
        for at in range(ends[i], ends[i + 1]):
            letter = int(letters[at])
            if fold and 65 <= letter <= 90:
                letter += 32
            value = ((value ^ letter) * _PRIME) & _MASK
        found[i] = value


@compiled("b1", "o1", "b1", "o1", "i1", "f1", "i", "f", "F1", "B1")
def levels_in(
    letters: Integers,
    ends: Integers,
    known: Integers,
    known_ends: Integers,
    slots: Integers,
    codes: Floats,
    fold: int,
    unknown: float,
    values: Floats,
    left: Integers,
) -> int:
    """Write the code of every text, without blanks around it. Return how many are left: unknown, and not plain ASCII.

    Parameters
    ----------
    letters, ends : arrays
        All texts, one after the other, and where each begins and the last one ends.
    known, known_ends : arrays
        The same of the texts that have codes, in small letters if `fold`.
    slots : array whose length is a power of two
        The place of a known text at its hash, or at the next free place after it; -1 where there is none.
    codes : array
        Of the known texts.
    fold : int
        Whether capitals are read as small letters.
    unknown : float
        Code of other texts.
    values, left : arrays of shape (n,)
        The codes, and 1 for a text that was not read.
    """
    count, last = 0, len(slots) - 1
    for i in range(len(values)):
        start, stop = ends[i], ends[i + 1]
        while start < stop and (letters[start] == 32 or 9 <= letters[start] <= 13):
            start += 1
        while start < stop and (letters[stop - 1] == 32 or 9 <= letters[stop - 1] <= 13):
            stop -= 1
        value, seen = _SEED, 0
        for at in range(start, stop):
            letter = int(letters[at])
            seen |= letter
            if fold and 65 <= letter <= 90:
                letter += 32
            value = ((value ^ letter) * _PRIME) & _MASK
        place, found = value & last, -1
        while slots[place] >= 0 and found < 0:
            candidate = slots[place]
            first = known_ends[candidate]
            same = known_ends[candidate + 1] - first == stop - start
            for at in range(stop - start if same else 0):
                letter = letters[start + at]
                if fold and 65 <= letter <= 90:
                    letter += 32
                if letter != known[first + at]:
                    same = False
                    break
            if same:
                found = candidate
            place = (place + 1) & last
        left[i] = 0
        if found >= 0:
            values[i] = codes[found]
        else:
            values[i] = unknown
            if seen >= 128:  # beyond ASCII
                left[i] = 1
                count += 1
    return count
