"""Bins for bought bounds: of every magnitude at first, then around what was found. Public numbers only."""

import numpy as np

from knoll.arrays import Floats

_EXPONENTS = np.concatenate([np.arange(-96, -40, 8), np.arange(-40, 51), np.arange(56, 97, 8)])
"""Every power of two from 1e-12 to 1e15 fits any common unit; coarser steps reach the largest bounds, 1e30."""

_FINEST = 2.0**-32  # width of a range against its distance from zero: bins stay far wider than the gap of doubles
_SMALLEST = 2.0**-80  # width of a range: a bin of it stays far wider than the closest bounds, 1e-30
_FARTHEST = 2.0**60  # how far rings reach: what is hidden at first may be of any common magnitude


def magnitudes(n_columns: int) -> Floats:
    """Return the inner edges of bins of every magnitude and both signs, the same for each column."""
    powers = np.exp2(_EXPONENTS)
    return np.tile(np.concatenate([-powers[::-1], powers]), (n_columns, 1))


def rarity() -> Floats:
    """Return for each bin of `magnitudes` how far its magnitude is from one, in powers of two."""
    far = np.abs(_EXPONENTS).astype(np.float64)
    return np.concatenate([far[::-1], [0.0], far])


def closed(edges: Floats) -> Floats:
    """Return edges with two more, which close the outer bins for what is computed from them."""
    first, last = edges[:, :1], edges[:, -1:]
    return np.hstack([first - (edges[:, 1:2] - first), edges, last + (last - edges[:, -2:-1])])


def around(lower: Floats, upper: Floats, *, bins: int, near: int, far: int = 0) -> Floats:
    """Return the inner edges of equal bins over each range and half its width on both sides, and of rings beyond.

    Parameters
    ----------
    lower, upper : arrays of shape (n_columns,)
        The ranges.
    bins : int
        Equal bins over twice the width of a range.
    near : int
        Rings on each side, each twice as far out as the one before; the open bins come on top.
    far : int
        More rings beyond, up to every common magnitude.
    """
    lower, upper = widened(lower, upper)
    width = (upper - lower)[:, None]
    fine = lower[:, None] - width / 2 + 2 * width * np.linspace(0.0, 1.0, bins + 1)
    doublings = np.tile(np.arange(1.0, near + 1), (len(width), 1))
    if far:
        more = np.maximum(np.log2(2 * _FARTHEST / width) - near, far)
        doublings = np.hstack([doublings, near + more * np.arange(1, far + 1) / far])
    beyond = width * np.exp2(doublings) / 2
    return np.hstack([lower[:, None] - beyond[:, ::-1], fine, upper[:, None] + beyond])


def widened(lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
    """Return ranges no narrower than doubles can divide into bins."""
    least = np.maximum(_FINEST * np.maximum(np.abs(lower), np.abs(upper)), _SMALLEST)
    more = np.maximum(least - (upper - lower), 0.0) / 2
    return lower - more, upper + more
