"""Strings between the peaks of a landscape: ways from one to another, bent and relaxed so that they run high.

Near the lowest point of a string there is a saddle. Straight lines are drawn between all pairs. Where one can matter, a
bent string (the parabolas of Algorithm 3) and a relaxed one (free shape; E, Ren, Vanden-Eijnden 2007) follow.
"""

from dataclasses import dataclass

import numpy as np
from scipy.cluster.hierarchy import cophenet, linkage
from scipy.spatial.distance import squareform

from knoll.morse.field import Field, log_sum

POINTS, BENDS = 20, 5  # m and tau_2 of the paper
BEADS, RELAXATIONS, BETWEEN = 14, 12, 8  # of a relaxed string: beads, rounds, places looked at between two beads
FEWEST_BENT, FEWEST_RELAXED = 400, 60  # most promising lines that are bent and relaxed; more nodes, more lines
MANY = 60  # with more nodes each way is looked at more coarsely: there are many others
ON_SLOPE = 0.5  # standard deviations: a mean further from its peak than this is a node of its own
_WORK = 2**19  # doubles in one batch: bounds memory


@dataclass(frozen=True)
class Ways:
    """Ways between nodes, from `start` to `end` (indices of nodes), the lowest point of each, and the height there."""

    start: np.ndarray
    end: np.ndarray
    low: np.ndarray
    height: np.ndarray

    def take(self, which: np.ndarray) -> "Ways":
        """Return some of the ways."""
        return Ways(self.start[which], self.end[which], self.low[which], self.height[which])


def nodes_of(field: Field, peaks: np.ndarray, home: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of strings and the peak each flows to: the peaks, and means of components on their slopes.

    A string may end on a slope: from there the flow only climbs to the peak, so the way gets no lower. Ridges bend at
    the means of their components, and so do the best ways.
    """
    offset = peaks[home] - field.means
    slope = np.linalg.norm(np.einsum("kij,kj->ki", field.whiten, offset), axis=1) > ON_SLOPE
    return np.vstack([peaks, field.means[slope]]), np.concatenate([np.arange(len(peaks)), home[slope]])


def straight(field: Field, nodes: np.ndarray, owner: np.ndarray) -> Ways:
    """FieldValues along the lines between all pairs of nodes that belong to different peaks.

    On the line from a to b the squared distance to a component is a quadratic of the position with coefficients
    |za|^2, za.zb, |zb|^2, so that all lines cost one product per component.
    """
    i, j = np.triu_indices(len(nodes), 1)
    i, j = i[owner[i] != owner[j]], j[owner[i] != owner[j]]
    z = field.whitened(nodes).transpose(1, 0, 2)
    gram = (z @ z.transpose(0, 2, 1)).transpose(1, 2, 0)  # (nodes, nodes, components)
    points = POINTS if len(nodes) <= MANY else POINTS // 2
    s = np.arange(1, points + 1) / (points + 1)
    basis = np.stack([(1 - s) ** 2, 2 * s * (1 - s), s**2], axis=1)
    lowest, where = np.empty(len(i)), np.empty(len(i))
    rows = max(1, _WORK // (points * field.n_components))
    for start in range(0, len(i), rows):
        part = slice(start, start + rows)
        a, b = i[part], j[part]
        heights = log_sum(field.constant - 0.5 * (basis @ np.stack([gram[a, a], gram[a, b], gram[b, b]], 1)))[0]
        lowest[part], where[part] = heights.min(axis=1), s[heights.argmin(axis=1)]
    return Ways(i, j, nodes[i] + where[:, None] * (nodes[j] - nodes[i]), lowest)


def chains(height: np.ndarray, i: np.ndarray, j: np.ndarray, n_peaks: int, none: float) -> np.ndarray:
    """Return the height of the best chain of ways between any two peaks, (n, n); `none` where there is none."""
    level = np.full((n_peaks, n_peaks), none)
    np.maximum.at(level, (i, j), height)
    level = np.maximum(level, level.T)
    if n_peaks < 2:
        return level
    top = float(level.max())
    return top - squareform(cophenet(linkage(top - level[np.triu_indices(n_peaks, 1)], "single")))


def by_promise(ways: Ways, owner: np.ndarray) -> np.ndarray:
    """Return the ways in order of how far they lie below the best chain of ways between their peaks."""
    i, j = owner[ways.start], owner[ways.end]
    best = chains(ways.height, i, j, int(owner.max()) + 1, float(ways.height.min()))
    return np.argsort(best[i, j] - ways.height, kind="stable")


def bend(field: Field, nodes: np.ndarray, ways: Ways) -> np.ndarray:
    """Bend lines into parabolas through their lowest points, which flow across them, again and again (Algorithm 3).

    Returns the last of these points.
    """
    a, u = nodes[ways.start], (nodes[ways.end] - nodes[ways.start])[:, None]
    s = (np.arange(1, POINTS + 1) / (POINTS + 1))[:, None]
    rows, middle = np.arange(len(a)), across(field, ways.low, u[:, 0])
    for _ in range(BENDS):
        bow = 4 * (middle - a)[:, None] - 2 * u
        string = a[:, None] + s * u + (s - s**2) * bow
        heights = field.height(string.reshape(-1, field.n_columns)).reshape(len(a), POINTS)
        low = heights.argmin(axis=1)
        middle = across(field, string[rows, low], u[:, 0] + (1 - 2 * s[low]) * bow[:, 0])
    return middle


def relax(field: Field, nodes: np.ndarray, ways: Ways) -> np.ndarray:
    """Let strings of beads flow across themselves until they lie on ridges; return the beads, (n, beads, d)."""
    t = np.linspace(0, 1, BEADS + 2)
    a, b = nodes[ways.start][:, None], nodes[ways.end][:, None]
    beads = a + t[:, None] * (b - a)
    d = field.n_columns
    for _ in range(RELAXATIONS):
        tangent = beads[:, 2:] - beads[:, :-2]
        beads[:, 1:-1] = across(field, beads[:, 1:-1].reshape(-1, d), tangent.reshape(-1, d)).reshape(-1, BEADS, d)
        beads = evenly(beads, t)
    return beads


def dips(field: Field, beads: np.ndarray) -> np.ndarray:
    """Return the beads that are lower than both neighbours."""
    heights = field.height(beads.reshape(-1, field.n_columns)).reshape(beads.shape[:2])
    low = (heights[:, 1:-1] < heights[:, 2:]) & (heights[:, 1:-1] <= heights[:, :-2])
    return beads[:, 1:-1][low]


def lowest(field: Field, beads: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the lowest points of strings and their heights, looking between the beads too."""
    d = field.n_columns
    t = (np.arange(BETWEEN) / BETWEEN)[:, None]
    left, right = beads[:, :-1, None], beads[:, 1:, None]
    points = (left + t * (right - left)).reshape(len(beads), -1, d)
    heights = field.height(points.reshape(-1, d)).reshape(len(beads), -1)
    return points[np.arange(len(beads)), heights.argmin(axis=1)], heights.min(axis=1)


def across(field: Field, points: np.ndarray, tangent: np.ndarray) -> np.ndarray:
    """One step of the flow, without its part along a tangent (both in the flow's own metric)."""
    look = field.metric(points)
    flow = np.linalg.solve(look.matrix, look.slope[:, :, None])[:, :, 0]
    along = np.einsum("nij,nj->ni", look.matrix, tangent)
    share = np.sum(along * flow, axis=1) / np.maximum(np.sum(along * tangent, axis=1), 1e-300)
    return points + flow - share[:, None] * tangent


def evenly(string: np.ndarray, t: np.ndarray) -> np.ndarray:
    """Move the beads of each string along it until they are evenly spaced."""
    length = np.linalg.norm(np.diff(string, axis=1), axis=2)
    at = np.concatenate([np.zeros((len(string), 1)), np.cumsum(length, axis=1)], axis=1)
    at /= np.maximum(at[:, -1:], 1e-300)
    left = np.clip((at[:, None, :] <= t[:, None]).sum(axis=2) - 1, 0, len(t) - 2)
    rows = np.arange(len(string))[:, None]
    gap = at[rows, left + 1] - at[rows, left]
    part = np.clip((t - at[rows, left]) / np.maximum(gap, 1e-300), 0.0, 1.0)
    return string[rows, left] + part[:, :, None] * (string[rows, left + 1] - string[rows, left])
