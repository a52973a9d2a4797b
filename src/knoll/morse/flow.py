"""The gradient flow of a mixture (equation 7 of the paper): where points come to rest.

The metric is R(x) = sum_k w_k(x) P_k, w the shares of the components at x and P their precisions. Its condition
number is at most that of the precisions together, as Theorem 5.3 asks, and an Euler step of length one,

    x + R(x)^-1 grad log p(x) = R(x)^-1 sum_k w_k(x) P_k mu_k,

is Gaussian mean shift: log p never falls, whatever the step before, so there is no step length to choose. Beside a
peak, where it creeps, Newton's method takes over.
"""

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from knoll.morse.field import Field

STEPS = 300
NEAR = 0.05  # Newton's method once the squared distance to the peak, in its own curvature, is below this
RESTS = 1e-16  # squared distance at which a point has come to rest
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
        Most Euler steps; a point that has not come to rest is returned as it is.
    """
    x = start.copy()
    moving = np.arange(len(x))
    for step in range(steps):
        if not len(moving):
            break
        here = x[moving]
        newton = step % 4 == 3  # the Hessian is dearer than the metric: look now and then
        look = field.curvature(here) if newton else field.metric(here)
        if newton:
            move, decrement = _newton(look.matrix, look.slope)
            close = decrement < NEAR
            x[moving[close]] += move[close]
            done = close & (decrement < RESTS)
            moving = moving[~done]
        else:
            x[moving] += np.linalg.solve(look.matrix, look.slope[:, :, None])[:, :, 0]
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
    """How far another peak must be to be another one: a small part of the peak's widest extent."""
    flattest = -np.linalg.eigvalsh(field.curvature(peaks).matrix)[:, -1]
    return SAME / np.sqrt(np.clip(flattest, 1e-6, 1e12))


def basins(field: Field, points: np.ndarray, peaks: np.ndarray) -> np.ndarray:
    """Return the peak to which the flow carries each point: Theorem 5.3's label, without refitting."""
    rest = ascend(field, points)
    return nearest(rest, peaks)


def nearest(points: np.ndarray, peaks: np.ndarray) -> np.ndarray:
    """Return the nearest peak of each point."""
    squares = np.square(peaks).sum(axis=1) - 2 * points @ peaks.T
    return squares.argmin(axis=1)
