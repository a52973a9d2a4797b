"""Transition points of a mixture: index-1 saddles between peaks (Algorithm 3 of the paper), all pairs in one batch.

    for every pair of peaks:
        m <- the lowest point of the straight line between them; let it flow
        repeat: bend the line into the parabola with vertex m; m <- its lowest point; let it flow
        find the point of zero slope near m
    keep those where log p curves upwards along one direction only, and from where the flow leads to two peaks

Where we differ. Strings are drawn between true stable points, not component means. The lowest point flows only across
the string, so it cannot slide off to a peak. The zero is found by following the one direction that curves upwards:
such steps have no other kind of fixed point, and end as Newton's. Strings of free shape find what the parabolas miss.
With very many peaks, strings are drawn only for pairs that can matter: their straight line is not far below the best
chain of lines through other peaks.
"""

from dataclasses import dataclass

import numpy as np

from knoll.morse import strings
from knoll.morse.field import Field
from knoll.morse.flow import ascend, gather

POLISHES = 30  # most steps of a walk to a saddle
ZERO = 1e-14  # a walk ends when its squared Newton step, in units of the local curvature, is smaller
TINY_STEP = 0.02  # step from a saddle to either side, in units of its own width, before the flow is followed
SLACK = 0.01  # a way is checked at points only, so it may seem higher than it is by about this much


@dataclass(frozen=True)
class Saddles:
    """Distinct index-1 saddles (field coordinates), their heights log p, and the two peaks each joins."""

    at: np.ndarray
    height: np.ndarray
    ends: np.ndarray


def find_saddles(field: Field, peaks: np.ndarray, home: np.ndarray) -> tuple[np.ndarray, Saddles, Saddles]:
    """Find the saddles between peaks.

    Parameters
    ----------
    field : Field
        The landscape.
    peaks : array of shape (n_peaks, d)
        Its stable points, as far as they are known.
    home : integer array of shape (n_components,)
        The peak to which each component's mean flows.

    Returns
    -------
    peaks : array
        The given peaks, then those that were only found on the way up from a saddle.
    saddles : Saddles
        Distinct saddles.
    ways : Saddles
        The lowest points of strings: two peaks join at least as high as this.
    """
    nodes, owner = strings.nodes_of(field, peaks, home)
    lines = strings.straight(field, nodes, owner)
    if not len(lines.height):
        none = Saddles(peaks[:0], np.empty(0), np.empty((0, 2), dtype=int))
        return peaks, none, none
    order = strings.by_promise(lines, owner)
    lines, free = (
        lines.take(order[: strings.FEWEST_BENT + 2 * len(nodes)]),
        lines.take(order[: strings.FEWEST_RELAXED + len(nodes)]),
    )
    bent = strings.bend(field, nodes, lines)
    beads = strings.relax(field, nodes, free)
    straight = lines.low if len(nodes) <= strings.MANY else lines.low[:0]
    starts = np.vstack([bent, straight, strings.dips(field, beads)])
    at, found = polish(field, starts)
    peaks, saddles = verify(field, distinct(at[found]), peaks)
    low, height = strings.lowest(field, beads)
    return peaks, saddles, Saddles(low, height, owner[np.column_stack([free.start, free.end])])


def polish(field: Field, start: np.ndarray, farthest: float = 0.5) -> tuple[np.ndarray, np.ndarray]:
    """Walk to points of zero slope that are lowest along one direction and highest along all others.

    A step goes down along the direction in which log p curves up most, and up along the others, each by
    slope / |curvature|. A limit on its length shrinks as the walk goes on.

    Returns
    -------
    points, found
        Where the walks ended, and whether that is an index-1 saddle.
    """
    x, found = start.copy(), np.zeros(len(start), dtype=bool)
    walking = np.arange(len(x))
    for step in range(POLISHES):
        if not len(walking):
            break
        look = field.curvature(x[walking])
        values, vectors = np.linalg.eigh(look.matrix)
        along = np.einsum("nij,ni->nj", vectors, look.slope)
        size = np.maximum(np.abs(values), 1e-9)
        move = along / size
        move[:, -1] *= -1
        index_one = (values[:, -1] > 0) & (values[:, -2:-1] < 0).all(axis=1)
        done = index_one & (np.sum(move**2 * size, axis=1) < ZERO)
        found[walking[done]] = True
        length = np.linalg.norm(move, axis=1)
        cut = np.minimum(1.0, farthest * 0.93**step / np.maximum(length, 1e-300))
        x[walking] += np.einsum("nij,nj->ni", vectors, move * cut[:, None])
        walking = walking[~done]
    return x, found


def verify(field: Field, at: np.ndarray, peaks: np.ndarray) -> tuple[np.ndarray, Saddles]:
    """Follow the flow from both sides of each saddle; keep those that join different peaks. Peaks may be added."""
    if not len(at):
        return peaks, Saddles(at, np.empty(0), np.empty((0, 2), dtype=int))
    look = field.curvature(at)
    values, vectors = np.linalg.eigh(look.matrix)
    away = TINY_STEP / np.sqrt(values[:, -1:]) * vectors[:, :, -1]
    peaks, ends = gather(field, ascend(field, np.vstack([at + away, at - away])), peaks)
    ends = np.sort(ends.reshape(2, -1).T, axis=1)
    joins = ends[:, 0] != ends[:, 1]
    return peaks, Saddles(at[joins], look.height[joins], ends[joins])


def with_ways(saddles: Saddles, ways: Saddles, n_peaks: int) -> Saddles:
    """Return the saddles, and the lowest points of ways that run higher than every chain of saddles.

    Such a way shows that a saddle was missed, and its lowest point is a lower bound of that saddle's height.
    """
    none = float(min(ways.height.min(initial=0.0), saddles.height.min(initial=0.0))) - 1.0
    chain = strings.chains(saddles.height, saddles.ends[:, 0], saddles.ends[:, 1], n_peaks, 2 * none)
    better = ways.height > chain[tuple(ways.ends.T)] + SLACK
    return Saddles(
        np.vstack([saddles.at, ways.at[better]]),
        np.concatenate([saddles.height, ways.height[better]]),
        np.vstack([saddles.ends, ways.ends[better]]),
    )


def distinct(points: np.ndarray) -> np.ndarray:
    """Return points without repeats: walks that end in one saddle agree to many digits."""
    if not len(points):
        return points
    _, first = np.unique(np.round(points / 1e-5).astype(np.int64), axis=0, return_index=True)
    return points[np.sort(first)]
