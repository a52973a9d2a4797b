"""Kernel values and gradients at many points at once, whitened: one step of an ascent from many starts.

In the kernel's reproducing space a record is a vector of norm 1, and the kernel sum and its gradient at k points are
inner products with k (1 + d) fixed vectors, whose Gram matrix C is made of the kernel, its gradient and its second
derivatives. Hence v' C^-1 v <= 1 for what one record adds to all of them (Hall, Rinaldo and Wasserman 2013): noise of
covariance C makes k points cost as much as one. The query adds u = W v with W = (C + r I)^(-1/2), whose norm is at
most 1 whatever the points are, so that plain noise serves; the estimator multiplies the total by W^-1.
"""

import numpy as np

from knoll.arrays import Floats, Integers
from knoll.queries.domain import Domain
from knoll.queries.grid import clip_to_ball
from knoll.queries.query import Query, require_finite

RIDGE = 1e-3  # r: keeps W finite where points meet; lowers the norm, never raises it
_UNIT = 2**14  # grid units to a whitened contribution of norm 1
_FINE = 2**15  # grid units to a kernel value of 1, and to an entry of W of 1
_FAR = 32.0  # squared distance, in bandwidths, beyond which the kernel counts as zero
_CELLS = 2**16  # of the table of kernel values


class KernelSteps(Query):
    """Sums of the kernel and of its gradient at public points, whitened by their joint covariance.

    The kernel of a record is read from a table at its squared distance, computed column after column, element-wise;
    whole numbers are multiplied by the whole numbers of W, exactly. The result is clipped to norm 1. Without rounding
    that would change nothing; but squared distances are rounded, and so is W, which magnifies it where many points meet
    (5 of them in one place reach 1.0002, 100 reach 1.01). So the bound holds because of the clip.

    Sensitivity. norm: 1 in l2, reached beside a point; sqrt(k (1 + d)) in l1, which is not tight. Difference: twice
    that, not tight either: two records would have to lie opposite each other in the kernel's space, where they are at
    nearly right angles at most.

    Parameters
    ----------
    domain : Box or Ball
        Where records lie.
    points : array of shape (n_points, n_columns)
        Public or released points.
    bandwidth : array of shape (n_columns,)
        Of the Gaussian kernel.
    """

    name = "kernel values and gradients"

    def __init__(self, domain: Domain, points: Floats, bandwidth: Floats) -> None:
        self.domain = domain
        self._origins = np.rint((points - domain.centre) / domain.steps)
        self._per_step = domain.steps / bandwidth
        self.points = self._origins * domain.steps + domain.centre
        require_finite("points", self._origins)
        require_finite("bandwidths", bandwidth, self._per_step, positive=True)
        k, d = points.shape
        self.covariance = joint_covariance(self.points / bandwidth)
        values, vectors = np.linalg.eigh(self.covariance)
        root = np.sqrt(np.maximum(values, 0.0) + RIDGE)
        self.unwhiten = (vectors * root) @ vectors.T
        self._whiten = np.rint(_FINE * (vectors / root) @ vectors.T)
        self._table = np.rint(_FINE * np.exp(-(np.arange(_CELLS) + 0.5) * _FAR / _CELLS / 2))
        self.shape = (k * (1 + d),)
        self.weights, self.step = np.array(1), np.array(1.0 / _UNIT)
        self.touched, self.largest = self.shape[0], _UNIT

    def summarise(self, block: Floats) -> Integers:
        """Add up the whitened contributions of a block."""
        grid = self.domain.clip_to_grid(block)
        k, d = self._origins.shape
        total = np.zeros(self.shape[0])
        rows = max(1, 2**20 // (k * (1 + d)))
        for start in range(0, len(grid), rows):
            part = grid[start : start + rows]
            moves = [(self._origins[:, j] - part[:, j : j + 1]) * self._per_step[j] for j in range(d)]
            square = moves[0] * moves[0]
            for move in moves[1:]:
                square += move * move
            cell = np.minimum(square * (_CELLS / _FAR), _CELLS).astype(np.int64)
            kernel = np.append(self._table, 0.0)[cell]
            both = np.hstack([kernel, *(np.rint(-move * kernel) for move in moves)])
            whitened = both @ self._whiten
            whitened *= _UNIT / _FINE**2
            total += clip_to_ball(np.rint(whitened), _UNIT).sum(axis=0)
        return np.rint(total).astype(np.int64)

    def max_norm(self, norm: int) -> float:
        """Norm 1 in l2."""
        return float(_UNIT) if norm == 2 else float(_UNIT) * self.shape[0] ** 0.5

    def max_difference(self, norm: int) -> float:
        """Opposite contributions."""
        return 2 * self.max_norm(norm)


def joint_covariance(points: Floats) -> Floats:
    """Gram matrix of kernel values and gradients at points given in bandwidths: values first, then column by column.

    K = exp(-|x - y|^2 / 2); d/dx_i K = -(x - y)_i K; d/dx_i d/dy_j K = (delta_ij - (x - y)_i (x - y)_j) K.
    """
    k, d = points.shape
    gap = points[:, None] - points
    kernel = np.exp(-np.square(gap).sum(axis=2) / 2)
    full = np.empty((k * (1 + d), k * (1 + d)))
    full[:k, :k] = kernel
    for i in range(d):
        rows = slice(k * (1 + i), k * (2 + i))
        full[rows, :k] = -gap[:, :, i] * kernel
        full[:k, rows] = full[rows, :k].T
        for j in range(d):
            full[rows, slice(k * (1 + j), k * (2 + j))] = (float(i == j) - gap[:, :, i] * gap[:, :, j]) * kernel
    return full
