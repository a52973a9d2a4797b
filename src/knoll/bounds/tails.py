"""Where a column ends beyond what noise hides: a released tail, continued. Pure functions, of one column each.

Noise hides the last records of a tail, but how the visible part thins out says how far the rest may reach. A
generalised Pareto law is laid through the median and two points of the tail; its index is negative for tails that end
(uniform), near zero for those of normal and exponential laws, positive for powers (Pareto).
"""

import numpy as np

from knoll.arrays import Floats

REST = 0.005
"""Share of the records that the continued tail leaves beyond an end, less where it is continued from afar."""

_TOLD = 6.0  # standard errors of one bin: a tail of some bins holds so many records if it is told from noise
_NEAR_ENOUGH = 0.03  # share of the records in the visible tail from which `REST` is far enough
_FARTHER = 2.5  # halvings of `REST` by an index of one: what a heavy tail leaves beyond is far away
_LOCAL = 0.3  # the index of the last two halvings is this uncertain, and limits that of the whole tail
_LARGEST = 0.125  # share of the records in the visible tail: beyond, there is no tail to speak of
_HIDDEN = (1.0, 8.0)  # standard errors of one bin: least and most records that may be hidden beyond what is seen
_GROWN = 3.0  # standard errors by which bins beyond those seen must stand out; by mistake, a range grows by a half
_GROWS = 3  # rings into which a tail may grow so
_SHIFT = 1.5  # standard errors of one bin: the visible tail is taken to be longer by the records of its noise
_INDEX = (-0.3, 0.7)  # tails between one that ends soon and a power of 1.4; heavier ones cannot be told at this noise
_INDICES = np.arange(-10, 20) * 0.05 + 0.025  # tried; zero, where the law is a logarithm, is not among them


def upper_end(counts: Floats, edges: Floats, last: int, rings: int, stderr: float, records: float) -> float:
    """Return where the upper tail of a column ends; mirror the column for the lower one.

    Parameters
    ----------
    counts : array of shape (n_bins,)
        Released counts.
    edges : array of shape (n_bins + 1,)
        Their edges.
    last : int
        The last bin that is seen.
    rings : int
        Outer bins that are wider than others.
    stderr : float
        Standard error of each count.
    records : float
        How many records there are, about.
    """
    last = _grown(counts, last, rings, stderr)
    hidden = float(np.clip(np.cumsum(counts[last + 1 :]).max(initial=0.0), *(np.array(_HIDDEN) * stderr)))
    sizes = hidden + np.maximum.accumulate(np.cumsum(counts[last::-1]).clip(min=0.0))
    sizes, places = np.concatenate([[0.0, hidden], sizes]), np.concatenate([[edges[last + 1]], edges[last + 1 :: -1]])
    wanted = max(_TOLD * stderr, 1.5 * hidden, 2 * REST * records)
    share = min(wanted / records, _LARGEST)
    levels = records * np.array([share, 2 * share, 4 * share, (share / 2) ** 0.5, 0.5])
    levels[0] -= _SHIFT * stderr
    outer, second, third, inner, median = np.interp(levels, sizes, places).tolist()
    index = min(_index(outer - inner, inner - median, share), _LOCAL + _local_index(outer - second, second - third))
    index = float(np.clip(index + stderr / (share * records), *_INDEX)) or _INDICES[10]
    rest = REST * min(1.0, _NEAR_ENOUGH / share) * 2.0 ** (-_FARTHER * max(index, 0.0))
    end = median + (outer - median) * _reach(rest, share, index)
    return max(end, float(edges[last + 1]))


def _grown(counts: Floats, last: int, rings: int, stderr: float) -> int:
    """Return the last bin after those beyond that stand out, alone (rare values) or with all before them (a tail)."""
    while True:
        beyond = counts[last + 1 : len(counts) - rings + _GROWS]
        alone = np.flatnonzero(beyond[: max(len(beyond) - _GROWS, 0)] > _GROWN * stderr)
        sums = np.cumsum(beyond) / np.sqrt(np.arange(1, len(beyond) + 1))
        together = np.flatnonzero(sums == sums.max(initial=_GROWN * stderr))
        if not len(alone) and not len(together):
            return last
        last += 1 + int(max(*alone[-1:], *together[:1], 0))


def _reach(beyond: float, share: float, index: float) -> float:
    """How far from the median a generalised Pareto law has a share beyond, if it has another one beyond 1."""
    return float((beyond**-index - 0.5**-index) / (share**-index - 0.5**-index))


def _index(outside: float, inside: float, share: float) -> float:
    """The index of the law that has these distances from the outer point to the middle, and from there to the median.

    The middle is at the geometric mean of the shares of the two others.
    """
    ratios = [1 / _reach((share / 2) ** 0.5, share, index) - 1 for index in _INDICES]
    return float(np.interp(outside / inside, ratios, _INDICES)) if inside > 0 else _INDEX[0]


def _local_index(outside: float, inside: float) -> float:
    """The index of a power law that has these steps for two halvings of its tail: below zero by far after a gap."""
    return float(np.log2(max(outside, 1e-9 * inside) / inside)) if inside > 0 else _INDEX[1]
