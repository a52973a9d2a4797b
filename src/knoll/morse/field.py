"""The height function of a mixture: log p, its slope, its curvature and the metric, for many points at once.

The field has its own coordinates: in them, the whole mixture has mean zero and covariance one. So lengths mean the
same in every direction, whatever the units of the columns.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

_WORK = 2**18  # doubles in one batch: small enough to stay in cache


@dataclass(frozen=True)
class FieldValues:
    """What the field says at points x: heights log p, slopes g = grad log p, and a matrix per point."""

    height: np.ndarray
    slope: np.ndarray
    matrix: np.ndarray


class Field:
    """A Gaussian mixture as a landscape, in coordinates of its own.

    Parameters
    ----------
    mixture : Mixture
        With `weights`, `means` and positive definite `covariances`.
    """

    def __init__(self, mixture: Any) -> None:
        weights, means, covariances = mixture.weights, mixture.means, mixture.covariances
        self.n_components, self.n_columns = means.shape
        self.origin = weights @ means
        offsets = means - self.origin
        total = np.tensordot(weights, covariances, 1) + (weights[:, None] * offsets).T @ offsets
        self._stretch = np.linalg.cholesky(total)  # x = origin + stretch y
        self._shrink = np.linalg.inv(self._stretch)
        self._log_volume = float(np.log(np.diag(self._stretch)).sum())
        self.means = offsets @ self._shrink.T
        inner = np.linalg.cholesky(self._shrink @ covariances @ self._shrink.T)
        self.whiten = np.linalg.inv(inner)  # (k, d, d): precision = whiten^T whiten
        logdet = np.log(np.diagonal(inner, axis1=1, axis2=2)).sum(axis=1)
        with np.errstate(divide="ignore"):
            self.constant = np.log(weights) - logdet - 0.5 * self.n_columns * np.log(2 * np.pi) - self._log_volume

    @cached_property
    def precision(self) -> np.ndarray:
        """Inverse covariance of each component, (k, d, d)."""
        return self.whiten.transpose(0, 2, 1) @ self.whiten

    @cached_property
    def _shift(self) -> np.ndarray:
        return np.einsum("kij,kj->ki", self.whiten, self.means)

    @cached_property
    def _flat(self) -> np.ndarray:
        return self.whiten.reshape(-1, self.n_columns)

    def inside(self, points: np.ndarray) -> np.ndarray:
        """Return points of the mixture in the field's coordinates."""
        return (points - self.origin) @ self._shrink.T

    def outside(self, points: np.ndarray) -> np.ndarray:
        """Return points of the field in the mixture's coordinates."""
        return self.origin + points @ self._stretch.T

    def whitened(self, x: np.ndarray) -> np.ndarray:
        """Return the displacement of each point from each component in that component's own units, (n, k, d)."""
        return (x @ self._flat.T).reshape(len(x), self.n_components, self.n_columns) - self._shift

    def _each(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the log of each weighted component, (n, k), and whitened displacements."""
        z = self.whitened(x)
        return self.constant - 0.5 * np.einsum("nkd,nkd->nk", z, z), z

    def _heights(self, x: np.ndarray) -> np.ndarray:
        return log_sum(self._each(x)[0])[0]

    def height(self, x: np.ndarray) -> np.ndarray:
        """Return log p at points, (n,)."""
        return self._batched(x, lambda part: (self._heights(part),))[0]

    def _terms(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Heights, shares of the components (n, k), pulls P (mu - x) of the components (n, k, d), slopes."""
        each, z = self._each(x)
        height, share = log_sum(each)
        pull = -np.matmul(z.transpose(1, 0, 2), self.whiten).transpose(1, 0, 2)
        return height, share, pull, np.einsum("nk,nkd->nd", share, pull)

    def metric(self, x: np.ndarray) -> FieldValues:
        """Heights, slopes and the Riemannian metric R = sum of shares x precisions: its flow is mean shift."""

        def look(part: np.ndarray) -> tuple[np.ndarray, ...]:
            height, share, _, slope = self._terms(part)
            return height, slope, np.tensordot(share, self.precision, 1)

        return FieldValues(*self._batched(x, look))

    def curvature(self, x: np.ndarray) -> FieldValues:
        """Heights, slopes and the Hessian of log p."""

        def look(part: np.ndarray) -> tuple[np.ndarray, ...]:
            height, share, pull, slope = self._terms(part)
            outer = np.matmul((share[:, :, None] * pull).transpose(0, 2, 1), pull)
            hessian = outer - np.tensordot(share, self.precision, 1) - slope[:, :, None] * slope[:, None, :]
            return height, slope, (hessian + hessian.transpose(0, 2, 1)) / 2

        return FieldValues(*self._batched(x, look))

    def shares(self, x: np.ndarray) -> np.ndarray:
        """Return the share of each component at points, (n, k)."""

        def look(part: np.ndarray) -> tuple[np.ndarray, ...]:
            return (log_sum(self._each(part)[0])[1],)

        return self._batched(x, look)[0]

    def owner(self, x: np.ndarray) -> np.ndarray:
        """Return the component with the largest share at each point."""

        def look(part: np.ndarray) -> tuple[np.ndarray, ...]:
            return (self._each(part)[0].argmax(axis=1),)

        return self._batched(x, look)[0]

    def _batched(self, x: np.ndarray, look: Any) -> tuple[np.ndarray, ...]:
        rows = max(1, _WORK // (self.n_components * self.n_columns))
        if len(x) <= rows:
            return look(x)
        parts = [look(x[start : start + rows]) for start in range(0, len(x), rows)]
        return tuple(np.concatenate(each) for each in zip(*parts, strict=True))


def log_sum(logs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the log of the sum of exponentials along the last axis, and the share of each."""
    top = logs.max(axis=-1, keepdims=True)
    share = np.exp(logs - top)
    total = share.sum(axis=-1, keepdims=True)
    share /= total
    return (top + np.log(total))[..., 0], share
