"""A Gaussian mixture as one small immutable object: density, derivatives, membership, samples, JSON.

It is made of released or other public values. Nothing here sees a record.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from scipy.special import logsumexp
from sklearn.utils import check_random_state

from knoll.privacy.errors import DataError

_ENTRIES = 2**23  # numbers held in memory at once (points x components x columns): 64 MB of floats


@dataclass(frozen=True, eq=False)
class Mixture:
    """A mixture of k Gaussians in d dimensions.

    Parameters
    ----------
    weights : array of shape (k,)
        Not negative; they sum to one.
    means : array of shape (k, d)
        Where the components lie.
    covariances : array of shape (k, d, d)
        Positive definite.

    Examples
    --------
    >>> mixture = Mixture([0.5, 0.5], [[-2.0], [2.0]], [[[1.0]], [[1.0]]])
    >>> mixture.gradient([[0.0]])
    array([[0.]])
    >>> mixture.sample(1000, random_state=0).shape
    (1000, 1)
    """

    weights: np.ndarray
    means: np.ndarray
    covariances: np.ndarray

    def __post_init__(self) -> None:
        for name in ("weights", "means", "covariances"):
            array = np.array(getattr(self, name), dtype=np.float64)
            if not np.isfinite(array).all():
                raise DataError(f"{name} of a mixture must be finite numbers")
            array.setflags(write=False)
            object.__setattr__(self, name, array)
        if self.means.ndim != 2 or 0 in self.means.shape:
            raise DataError("means of a mixture must have shape (components, columns)")
        if self.weights.shape != (len(self.means),):
            raise DataError("weights, means and covariances of a mixture do not fit together")
        self._check()
        if (self.weights < 0).any() or abs(self.weights.sum() - 1) > 1e-6:
            raise DataError("weights of a mixture must not be negative and must sum to one")
        size = np.sqrt(np.abs(np.einsum("kii,kjj->kij", self.covariances, self.covariances)))
        if (np.abs(self.covariances - self.covariances.transpose(0, 2, 1)) > 1e-8 * size).any():
            raise DataError("covariances of a mixture must be symmetric")
        try:
            np.linalg.cholesky(self.covariances)
        except np.linalg.LinAlgError:
            raise DataError("covariances of a mixture must be positive definite") from None

    def _check(self) -> None:
        k, d = self.means.shape
        if self.covariances.shape != (k, d, d):
            raise DataError("weights, means and covariances of a mixture do not fit together")

    def like(self, weights: Any, means: Any, covariances: Any) -> "Mixture":
        """Return a mixture of the same kind."""
        return Mixture(weights, means, covariances)

    @property
    def spreads(self) -> np.ndarray:
        """Covariances of all coordinates, (k, d, d)."""
        return self.covariances

    @property
    def variances(self) -> np.ndarray:
        """Variances of each column, (k, d)."""
        return np.einsum("kii->ki", self.covariances)

    @classmethod
    def nearest(cls, weights: Any, means: Any, covariances: Any, floor: Any) -> Self:
        """Return the proper mixture nearest to noisy parameters.

        Parameters
        ----------
        weights, means, covariances : arrays
            As for a mixture, but weights may be negative and covariances indefinite.
        floor : float or array of shape (d,)
            Least variance of each column. Divided by these, no direction has a variance below 1.
        """
        width = np.sqrt(np.broadcast_to(np.asarray(floor, dtype=np.float64), np.shape(means)[1:]))
        scaled = np.asarray(covariances, dtype=np.float64) / np.multiply.outer(width, width)
        values, vectors = np.linalg.eigh((scaled + scaled.transpose(0, 2, 1)) / 2)
        least = np.maximum(1.0, 1e-12 * values[:, -1:])  # so that rounding leaves it positive definite
        lifted = (vectors * np.maximum(values, least)[:, None, :]) @ vectors.transpose(0, 2, 1)
        lifted = (lifted + lifted.transpose(0, 2, 1)) / 2
        return cls(onto_simplex(weights), means, lifted * np.multiply.outer(width, width))

    @property
    def n_components(self) -> int:
        """Number of components."""
        return len(self.weights)

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return self.means.shape[1]

    @cached_property
    def precisions(self) -> np.ndarray:
        """Inverse covariances, (k, d, d)."""
        return np.linalg.inv(self.covariances)

    @cached_property
    def _log_peaks(self) -> np.ndarray:
        """Log of each weighted component's density at its mean."""
        determinants = np.linalg.slogdet(self.covariances)[1]
        with np.errstate(divide="ignore"):
            return np.log(self.weights) - (determinants + self.n_columns * np.log(2 * np.pi)) / 2

    def log_components(self, X: Any) -> np.ndarray:
        """Log of every weighted component at every point, (n, k)."""
        return self._over(X, lambda points: self._parts(points)[1])

    def log_density(self, X: Any) -> np.ndarray:
        """Log density at points, (n,)."""
        return logsumexp(self.log_components(X), axis=1)

    def density(self, X: Any) -> np.ndarray:
        """Density at points, (n,)."""
        return np.exp(self.log_density(X))

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probability of every component given a point, (n, k)."""
        return _shares(self.log_components(X))

    def predict(self, X: Any) -> np.ndarray:
        """Most probable component of each point, (n,)."""
        return self.log_components(X).argmax(axis=1)

    def gradient(self, X: Any) -> np.ndarray:
        """Gradient of the log density at points, (n, d)."""

        def block(points: np.ndarray) -> np.ndarray:
            pull, logs = self._parts(points)
            return _mean_of(pull, _shares(logs))

        return self._over(X, block)

    def hessian(self, X: Any) -> np.ndarray:
        """Hessian of the log density at points, (n, d, d)."""

        def block(points: np.ndarray) -> np.ndarray:
            pull, logs = self._parts(points)
            shares = _shares(logs)
            mean = _mean_of(pull, shares)
            spread = (pull * shares[:, :, None]).transpose(0, 2, 1) @ pull - mean[:, :, None] * mean[:, None, :]
            return spread - np.tensordot(shares, self.precisions, axes=1)

        return self._over(X, block)

    def sample(self, n_samples: int, random_state: Any = None) -> np.ndarray:
        """Draw points, (n_samples, d): synthetic data, as private as the mixture.

        Parameters
        ----------
        n_samples : int
            How many.
        random_state : int, RandomState or None
            Public randomness.
        """
        rng = check_random_state(random_state)
        component = rng.choice(self.n_components, size=n_samples, p=self.weights / self.weights.sum())
        roots = np.linalg.cholesky(self.covariances)
        points = np.empty((n_samples, self.n_columns))
        for k in np.unique(component):
            members = component == k
            points[members] = self.means[k] + rng.normal(size=(members.sum(), self.n_columns)) @ roots[k].T
        return points

    def to_dict(self) -> dict[str, Any]:
        """Return it in plain Python, for JSON."""
        return {name: getattr(self, name).tolist() for name in ("weights", "means", "covariances")}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Rebuild what `to_dict` gave."""
        try:
            return cls(data["weights"], data["means"], data["covariances"])
        except (KeyError, TypeError, ValueError) as error:
            raise DataError(f"not a mixture: {error}") from None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mixture) and all(
            np.array_equal(getattr(self, name), getattr(other, name)) for name in ("weights", "means", "covariances")
        )

    def __hash__(self) -> int:
        return hash((self.weights.tobytes(), self.means.tobytes(), self.covariances.tobytes()))

    def _parts(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the gradient of each component's log density, (n, k, d), and that log density, (n, k)."""
        away = self.means - points[:, None, :]
        pull = np.matmul(away.transpose(1, 0, 2), self.precisions).transpose(1, 0, 2)
        return pull, self._log_peaks - (away * pull).sum(axis=2) / 2

    def _over(self, X: Any, block: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """Evaluate block after block, so that memory stays bounded."""
        points = np.asarray(X, dtype=np.float64)
        if points.ndim != 2 or points.shape[1] != self.n_columns:
            raise DataError(f"points must have shape (n, {self.n_columns})")
        rows = max(1, _ENTRIES // self.means.size)
        return np.concatenate([block(points[i : i + rows]) for i in range(0, max(1, len(points)), rows)])


def onto_simplex(weights: Any) -> np.ndarray:
    """Return the nearest non-negative weights that sum to one.

    >>> onto_simplex([0.7, 0.5, -0.4])
    array([0.6, 0.4, 0. ])
    """
    weights = np.asarray(weights, dtype=np.float64)
    falling = np.sort(weights)[::-1]
    excess = (np.cumsum(falling) - 1) / np.arange(1, len(weights) + 1)
    shift = excess[np.flatnonzero(falling > excess)[-1]]
    return np.maximum(weights - shift, 0.0)


def log_shares(shares: np.ndarray, least: float) -> np.ndarray:
    """Return the logs of shares that sum to one in each row, none below `least`; minus infinity for none."""
    lifted = np.maximum(shares, least)
    with np.errstate(divide="ignore"):
        return np.log(lifted / np.maximum(lifted.sum(axis=1, keepdims=True), 1e-300))


def _shares(logs: np.ndarray) -> np.ndarray:
    """Probabilities from logs, row by row."""
    parts = np.exp(logs - logs.max(axis=1, keepdims=True))
    return parts / parts.sum(axis=1, keepdims=True)


def _mean_of(vectors: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Average the components' vectors: (n, k, d) and (n, k) -> (n, d)."""
    return np.matmul(shares[:, None, :], vectors)[:, 0]
