"""The gradient flow of a mixture (equation 7 of the paper): where points come to rest.

The metric is R(x) = sum_k w_k(x) P_k, w the shares of the components at x and P their precisions. Its condition
number is at most that of the precisions together, as Theorem 5.3 asks, and an Euler step of length one,

    x + R(x)^-1 grad log p(x) = R(x)^-1 sum_k w_k(x) P_k mu_k,

is Gaussian mean shift. log p never falls, so there is no step length to choose. But mean shift is slow along ridges and
near peaks. So where log p is concave, every third step is Newton's, if that climbs.
"""

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from knoll.morse.field import Field
from knoll.numeric.distances import nearest

STEPS = 200  # most steps of a point: bounds time; a point that still moves is returned where it is
STRIDE = 1.7  # over-relaxed mean shift: faster, and still sure to climb near a peak while below 2
LONGEST = 0.5  # longest Newton step, in the field's coordinates
RESTS = 1e-16  # squared distance to the peak, in its own curvature, at which a point has come to rest
SAME = 1e-5  # peaks nearer than this, in units of their own width, are one


def ascend(field: Field, start: np.ndarray, steps: int = STEPS) -> np.ndarray:
    """Follow the flow from points to the stable points they belong to, all points at once.

    Parameters
    ----------
    field : Field
        The landscape.
    start : array of shape (n, d)
        Points, in the field's coordinates.
    steps : int
        Most steps; a point that has not come to rest is returned as it is.
    """
    x = start.copy()
    moving = np.arange(len(x))
    for step in range(steps):
        if not len(moving):
            break
        here = x[moving]
        if step % 3 < 2:
            look = field.metric(here)
            x[moving] += (STRIDE if step > 3 else 1.0) * np.linalg.solve(look.matrix, look.slope[:, :, None])[:, :, 0]
            continue
        look = field.curvature(here)  # costs more than the metric, so only every third step
        move, decrement = _newton(look.matrix, look.slope)
        move *= np.minimum(1.0, LONGEST / np.maximum(np.linalg.norm(move, axis=1, keepdims=True), 1e-300))
        rises = np.flatnonzero(np.isfinite(decrement))
        rises = rises[field.height(here[rises] + move[rises]) >= look.height[rises]]
        x[moving[rises]] += move[rises]
        moving = moving[decrement >= RESTS]
    return x


def _newton(hessian: np.ndarray, slope: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return Newton steps and their squared lengths, infinite where log p is not concave."""
    values, vectors = np.linalg.eigh(hessian)
    concave = values[:, -1] < 0
    along = np.einsum("nij,ni->nj", vectors, slope)
    scaled = along / np.where(concave[:, None], -values, np.inf)
    return np.einsum("nij,nj->ni", vectors, scaled), np.where(concave, np.sum(along * scaled, axis=1), np.inf)


def gather(field: Field, found: np.ndarray, known: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return distinct peaks (the known ones first, in order) and which of them each found point is."""
    if known is None:
        known = np.empty((0, field.n_columns))
    which = np.full(len(found), -1)
    if len(known):
        near = nearest(found, known)
        hit = np.linalg.norm(found - known[near], axis=1) <= _apart(field, known)[near]
        which[hit] = near[hit]
    new = np.flatnonzero(which < 0)
    if len(new):
        points, apart = found[new], _apart(field, found[new])
        same = np.linalg.norm(points[:, None] - points, axis=2) <= np.minimum(apart[:, None], apart)
        first = connected_components(csr_array(same), directed=False)[1]
        _, representative, first = np.unique(first, return_index=True, return_inverse=True)
        which[new] = len(known) + first
        known = np.vstack([known, points[representative]])
    return known, which


def _apart(field: Field, peaks: np.ndarray) -> np.ndarray:
    """Distance below which two peaks are one: a small part of the peak's widest extent."""
    flattest = -np.linalg.eigvalsh(field.curvature(peaks).matrix)[:, -1]
    return SAME / np.sqrt(np.clip(flattest, 1e-6, 1e12))


def basins(field: Field, points: np.ndarray, peaks: np.ndarray) -> np.ndarray:
    """Return the peak to which the flow carries each point: Theorem 5.3's label, without refitting."""
    rest = ascend(field, points)
    return nearest(rest, peaks)
