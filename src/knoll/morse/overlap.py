"""Join sub-clusters by their overlap and the valley between them, until a given number is left.

The merge tree is about hills. A diffuse class around a dense one is not a hill: it lies on the slope of the dense one,
on all sides. So each of its sub-clusters joins the summit by itself, and a cut of the tree separates only one of them.
Yet it is usually clear to which class a record belongs, and the mixture can tell:

    overlap   M_ij = E[r_i(x) r_j(x)] for x from the mixture, with r the shares of the components at x. It is the mass
              that could belong to both; for groups, the sum. M_AB / sqrt(M_AA M_BB) is the cosine of the groups'
              shares. It is one if two groups cannot be told apart, however many components describe them.
    valley    how far log(w_i p_i + w_j p_j) dips on the way from i to j. All stable points and saddles of two
              Gaussians lie on one curve, so it is enough to look there (Ray, Lindsay 2005). For groups, the least.

Both are bounded: an overlap below one hundredth counts as one hundredth, a valley deeper than two units as two units.
The groups that are least apart are joined first, and very small groups before others.
"""

from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from knoll.morse.field import Field

LEAST = 0.01  # a smaller cosine counts as this
DEEPEST = 2.0  # a deeper valley counts as this
FULL = 1 / 8  # a group with at least this part of an average cluster's mass counts in full
SURE = 3.0  # standard errors that are subtracted from a mass, so that noise is not taken for a group
DRAWS, FEWEST = 10_000, 50  # points drawn in all, and at least for each component: accuracy of overlaps against time
STOPS = 21  # places on the way from one component to another where the dip is measured
PARTNERS = 12  # pairs per component that are searched for a valley: those that overlap most
_PAIRS = 256  # pairs in one batch: bounds memory


@threadpool_limits.wrap(limits=1, user_api="blas")
def join(mixture: Any, n_clusters: int, errors: np.ndarray | float = 0.0, draws: int = DRAWS) -> np.ndarray:
    """Return the cluster of each component when those that are least apart are joined, again and again.

    Parameters
    ----------
    mixture : Mixture
        Released parameters.
    n_clusters : int
        Clusters wanted; with fewer components, each is one.
    errors : array of shape (k,), optional
        Standard errors of the weights.
    draws : int
        Points drawn from the mixture to tell overlaps; always the same ones.

    Examples
    --------
    >>> from knoll.mixture import Mixture
    >>> means = [[-3.0, 0.0], [0.0, 0.0], [3.0, 0.0], [0.0, 0.2]]
    >>> join(Mixture([0.2, 0.3, 0.2, 0.3], means, [[[9.0, 0.0], [0.0, 9.0]], [[0.1, 0.0], [0.0, 0.1]]] * 2), 2)
    array([1, 0, 1, 0])
    """
    field, mass = Field(mixture), np.array(mixture.weights, dtype=float)
    variance = np.square(np.broadcast_to(errors, mass.shape))
    overlap = overlaps(field, mass, draws)
    valley = np.minimum(valleys(field, cosines(overlap)), DEEPEST)
    group = np.arange(len(mass))
    while len(mass) > max(n_clusters, 1):
        sure = np.maximum(mass - SURE * np.sqrt(variance), 0.0) * n_clusters / FULL
        apart = separation(overlap, valley, np.minimum(sure, 1.0))
        apart[np.tril_indices(len(mass))] = np.inf
        a, b = (int(i) for i in np.unravel_index(apart.argmin(), apart.shape))
        group[group == b] = a
        group -= group > b
        overlap, valley = _merged(overlap, a, b, np.add), _merged(valley, a, b, np.minimum)
        mass, variance = _moved(mass, a, b), _moved(variance, a, b)
    rank = np.empty(len(mass), dtype=int)
    rank[np.argsort(-mass, kind="stable")] = np.arange(len(mass))
    return rank[group]


def separation(overlap: np.ndarray, valley: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Return how far groups are apart: what does not overlap, and the valley, times the size of the lighter one.

    So a tiny far group does not become a cluster before a large group that is less clearly apart.
    """
    depth = valley - np.log((np.minimum(cosines(overlap), 1.0) + LEAST) / (1 + LEAST))
    return depth * (np.minimum(size[:, None], size) + 1e-9)


def cosines(overlap: np.ndarray) -> np.ndarray:
    """Return the cosines of groups' shares; an empty group is like no other."""
    own = np.sqrt(np.maximum(np.diag(overlap), 1e-300))
    return overlap / own[:, None] / own


def overlaps(field: Field, weights: np.ndarray, draws: int = DRAWS) -> np.ndarray:
    """Return M, (k, k): its rows sum to the weights."""
    k, d = field.means.shape
    n = max(FEWEST, draws // k)
    steps = np.random.RandomState(0).standard_normal((k, d, n))
    points = field.means[:, None] + np.linalg.solve(field.whiten, steps).transpose(0, 2, 1)
    share = field.shares(points.reshape(-1, d)).reshape(k, n, k).mean(axis=1)
    joint = weights[:, None] * share
    return (joint + joint.T) / 2


def valleys(field: Field, near: np.ndarray) -> np.ndarray:
    """Return the dips between pairs of components, each pair by itself, (k, k); infinite where nobody looked."""
    k = field.n_components
    i, j = np.triu_indices(k, 1)
    first = np.argsort(-near[i, j], kind="stable")[: PARTNERS * k]
    depth = np.full((k, k), np.inf)
    for start in range(0, len(first), _PAIRS):
        part = first[start : start + _PAIRS]
        depth[i[part], j[part]] = depth[j[part], i[part]] = _dips(field, i[part], j[part])
    return depth


def _dips(field: Field, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """Return the dip on the curve where s times the pull of j balances 1 - s times that of i, s from zero to one."""
    s = np.linspace(0, 1, STOPS)[:, None]
    pull = np.einsum("kij,kj->ki", field.precision, field.means)
    metric = (1 - s)[:, :, None] * field.precision[i, None] + s[:, :, None] * field.precision[j, None]
    target = (1 - s) * pull[i, None] + s * pull[j, None]
    way = np.linalg.solve(metric, target[..., None])[..., 0]
    height = np.logaddexp(_alone(field, way, i), _alone(field, way, j))
    before = np.maximum.accumulate(height, axis=1)
    after = np.maximum.accumulate(height[:, ::-1], axis=1)[:, ::-1]
    return (np.minimum(before, after) - height).max(axis=1)


def _alone(field: Field, way: np.ndarray, which: np.ndarray) -> np.ndarray:
    """Log of one weighted component along its way, (pairs, stops)."""
    z = np.einsum("pij,psj->psi", field.whiten[which], way - field.means[which, None])
    return np.maximum(field.constant[which], -1e6)[:, None] - 0.5 * np.square(z).sum(axis=2)


def _merged(matrix: np.ndarray, a: int, b: int, how: np.ufunc) -> np.ndarray:
    """Return a symmetric matrix with row and column b taken into a."""
    matrix = matrix.copy()
    own = how(how(matrix[a, a], matrix[b, b]), how(matrix[a, b], matrix[b, a]))
    matrix[a] = matrix[:, a] = how(matrix[a], matrix[b])
    matrix[a, a] = own
    return np.delete(np.delete(matrix, b, 0), b, 1)


def _moved(values: np.ndarray, a: int, b: int) -> np.ndarray:
    """Return values with that of b added to a's."""
    values = values.copy()
    values[a] += values[b]
    return np.delete(values, b)
