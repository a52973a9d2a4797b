"""Which bins of a released histogram stand out of the noise: pure functions, of one column each.

What lies in a few bins stands out of their noise bin by bin, what is spread over many only in the sum. So runs of
1, 2, 4, ... bins are tried, the short ones first, and a longer one must stand out by what shorter ones left over.
"""

from dataclasses import dataclass

import numpy as np

from knoll.arrays import Floats
from knoll.privacy.laws import GAUSSIAN, Law

_NEAR, _FAR = 0.3, 0.002
"""Chance that any run of a release is taken for records by mistake, among the equal bins and among the rings.

A mistake among the equal bins leaves a range a little too wide, one in a ring makes it wider by many powers of two.
"""

_FIRST = 1e-4  # the same among bins of every magnitude: later rounds cannot make good for many powers of two
_SHAPES = 4  # runs that are tried for each bin, about: the chance is shared out among them


_FEW = 4  # bins: ends are then known to a quarter of the width, and the last look has bins for it
_MOST_IN_TWO = 0.7  # share of the records in two bins: more are a narrow column and a far bin seen by mistake


@dataclass(frozen=True)
class Seen:
    """What stands out of the noise in one column.

    Attributes
    ----------
    first, last : int
        The first and the last bin of it.
    records : float
        How many records there are between these.
    clear : bool
        False if nothing stands out: the bins are then those of the run that comes nearest.
    """

    first: int
    last: int
    records: float
    clear: bool


@dataclass(frozen=True)
class Segment:
    """A part of the bins in which runs are tried: from `begin` to before `end`, up to a length, at a limit."""

    begin: int
    end: int
    longest: int
    chance: float


def segments(n_columns: int, n_bins: int, rings: int, longest: int) -> list[Segment]:
    """Return equal bins, and `rings` bins on either side of them, tried in runs up to a length; or all bins alike."""
    each = 1 / (_SHAPES * n_columns * n_bins)
    if not rings:
        return [Segment(0, n_bins, longest, _FIRST * each)]
    return [
        Segment(rings, n_bins - rings, n_bins, _NEAR * each),
        Segment(0, rings, longest, _FAR * each),
        Segment(n_bins - rings, n_bins, longest, _FAR * each),
    ]


def seen(counts: Floats, stderr: float, law: Law, parts: list[Segment], rare: Floats | float = 0.0) -> Seen:
    """Find the bins whose counts exceed the noise.

    Parameters
    ----------
    counts : array of shape (n_bins,)
        Released counts.
    stderr : float
        Standard error of each.
    law : Law
        Of the noise.
    parts : list of Segment
        Where runs are tried.
    rare : array of shape (n_bins,), or float
        Standard errors that bins are behind others if nothing stands out.
    """
    found = np.zeros(len(counts), dtype=bool)
    best, nearest = -np.inf, (0, len(counts) - 1)
    behind = np.broadcast_to(rare, counts.shape)
    for part in parts:
        for length in (2**i for i in range(min(part.longest, part.end - part.begin).bit_length())):
            starts = np.arange(part.begin, part.end - length + 1, max(1, length // 2))
            heights = _heights(counts, found, starts, length) / stderr
            for start in starts[heights > _limit(law, part.chance, length)]:
                found[start : start + length] = True
            handicapped = heights - behind[starts]
            if handicapped.max() > best:
                best, at = float(handicapped.max()), int(starts[handicapped.argmax()])
                nearest = (at, at + length - 1)
    clear = bool(found.any())
    first, last = (int(found.argmax()), len(found) - 1 - int(found[::-1].argmax())) if clear else nearest
    return Seen(first, last, float(counts[first : last + 1].sum()), clear)


def _heights(counts: Floats, found: np.ndarray, starts: np.ndarray, length: int) -> Floats:
    """Sums of runs over the bins that are not found yet, by the root of the number of these."""
    sums = np.concatenate([[0.0], np.cumsum(np.where(found, 0.0, counts))])
    numbers = np.concatenate([[0], np.cumsum(~found)])
    left: Floats = np.maximum(numbers[starts + length] - numbers[starts], 1) ** -0.5
    return left * (sums[starts + length] - sums[starts])


def _limit(law: Law, chance: float, length: int) -> float:
    """Standard errors that a sum of noise exceeds with a chance: the longer the sum, the nearer to a Gaussian's."""
    normal = GAUSSIAN.tail(chance)
    return normal + (law.tail(chance) - normal) / float(np.sqrt(length))


def spread(one: Seen, counts: Floats) -> bool:
    """Whether a column fills its bins well enough for the last look: several bins, and not nearly all in two."""
    inside = counts[one.first : one.last + 1]
    return one.clear and len(inside) > _FEW and bool((inside[1:] + inside[:-1]).max() < _MOST_IN_TWO * one.records)
