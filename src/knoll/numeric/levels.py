"""A mixture over numbers and levels: Gaussians of the numbers, times the shares of every category's levels.

Within a component, columns of levels are independent of each other and of the numbers (a latent class model). A level's
share is the mean of its corner's coordinate, so `means` holds the shares. Nothing here sees a record.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from knoll.numeric.mixture import Mixture, log_shares
from knoll.privacy.errors import DataError
from knoll.queries import Line, Product

LEAST_SHARE = 1e-6  # of a level, where its logarithm is taken: no record is impossible


@dataclass(frozen=True, eq=False)
class MixedMixture(Mixture):
    """A mixture of k components over a product domain with columns of levels.

    Parameters
    ----------
    weights : array of shape (k,)
        Not negative; they sum to one.
    means : array of shape (k, d)
        Means of the numbers, shares of the levels.
    covariances : array of shape (k, q, q)
        Of the q coordinates of numbers, `domain.number_places`; positive definite.
    domain : Product
        Where records lie.

    Examples
    --------
    >>> from knoll.queries import Corners, Line, Product
    >>> domain = Product.of([Line(0, 10), Corners(2)])
    >>> mixture = MixedMixture([0.5, 0.5], [[2, 1, 0], [8, 0, 1]], [[[1.0]], [[1.0]]], domain)
    >>> mixture.predict([[5.0, 1, 0], [5.0, 0, 1]]).tolist()
    [0, 1]
    """

    domain: Any = None

    def _check(self) -> None:
        if not isinstance(self.domain, Product) or self.domain.n_columns != self.means.shape[1]:
            raise DataError("a mixture over kinds of columns needs their domain")
        k, q = len(self.means), len(self.domain.number_places)
        if self.covariances.shape != (k, q, q):
            raise DataError("covariances of a mixture do not fit its columns of numbers")

    @property
    def variances(self) -> np.ndarray:
        """Variances of each coordinate, (k, d): of numbers, and of a vote for each level."""
        shares = np.clip(self.means, 0.0, 1.0)
        out = shares * (1 - shares)
        out[:, self.domain.number_places] = np.einsum("kii->ki", self.covariances)
        return out

    @property
    def spreads(self) -> np.ndarray:
        """Covariances of all coordinates, (k, d, d): levels count as if they were independent votes."""
        return self.all_coordinates(self.covariances, self.variances)

    def all_coordinates(self, of_numbers: np.ndarray, others: np.ndarray) -> np.ndarray:
        """Return matrices (k, d, d) from those of the numbers, and a diagonal for the other coordinates."""
        k, d = others.shape
        full = np.zeros((k, d, d))
        full[:, np.arange(d), np.arange(d)] = others
        at = self.domain.number_places
        full[:, at[:, None], at] = of_numbers
        return full

    def as_gaussians(self, floor: np.ndarray) -> Mixture:
        """Return Gaussians with the same means and variances in all coordinates."""
        return Mixture.nearest(self.weights, self.means, self.spreads, floor)

    @cached_property
    def numbers(self) -> Mixture | None:
        """The Gaussians of the numbers; None without numbers."""
        at = self.domain.number_places
        return Mixture(self.weights, self.means[:, at], self.covariances) if len(at) else None

    @cached_property
    def _slopes(self) -> tuple[np.ndarray, np.ndarray]:
        """Return coefficients (k, d) and constants (k,): the log of the levels' shares is linear in the coordinates."""
        slopes, constants = np.zeros(self.means.shape), np.zeros(self.n_components)
        for j, where, _ in self.domain.levels:
            if isinstance(self.domain.parts[j], Line):
                yes = np.clip(self.means[:, where.start], LEAST_SHARE, 1 - LEAST_SHARE)
                slopes[:, where.start] = np.log(yes) - np.log(1 - yes)
                constants += np.log(1 - yes)
            else:
                slopes[:, where] = log_shares(self.means[:, where], LEAST_SHARE)
        return slopes, constants

    def log_components(self, X: Any) -> np.ndarray:
        """Log of every weighted component at every point, (n, k): density of the numbers times shares of the levels."""

        def block(points: np.ndarray) -> np.ndarray:
            slopes, constants = self._slopes
            with np.errstate(divide="ignore"):
                logs = np.log(self.weights) if self.numbers is None else self.numbers.log_components(
                    points[:, self.domain.number_places]
                )  # fmt: skip
            return logs + constants + points @ slopes.T

        return self._over(X, block)

    def gradient(self, X: Any) -> np.ndarray:
        """Refuse: levels have no slope."""
        raise DataError("a mixture over levels has no gradient")

    def hessian(self, X: Any) -> np.ndarray:
        """Refuse: levels have no slope."""
        raise DataError("a mixture over levels has no derivatives")

    def sample(self, n_samples: int, random_state: Any = None) -> np.ndarray:
        """Draw points, (n_samples, d): numbers from the Gaussians, a level of every other column by its share."""
        rng = check_random_state(random_state)
        component = rng.choice(self.n_components, size=n_samples, p=self.weights / self.weights.sum())
        points = np.tile(self.domain.centre, (n_samples, 1))
        at = self.domain.number_places
        roots = np.linalg.cholesky(self.covariances)
        for k in np.unique(component):
            members = np.flatnonzero(component == k)
            if len(at):
                normal = rng.normal(size=(len(members), len(at)))
                points[np.ix_(members, at)] = self.means[k, at] + normal @ roots[k].T
            for j, where, m in self.domain.levels:
                if isinstance(part := self.domain.parts[j], Line):
                    yes = rng.uniform(size=len(members)) < self.means[k, where.start]
                    points[members, where.start] = np.where(yes, part.upper, part.lower)
                else:
                    share = np.exp(log_shares(self.means[k : k + 1, where], 0.0))[0]
                    points[members, where] = np.eye(m)[rng.choice(m, len(members), p=share / share.sum())]
        return points

    def to_dict(self) -> dict[str, Any]:
        """Refuse: a saved model holds the columns as well."""
        raise DataError("save the model itself: a mixture over levels needs its columns")

    def like(self, weights: Any, means: Any, covariances: Any) -> "MixedMixture":
        """Return a mixture over the same columns."""
        return MixedMixture(weights, means, covariances, self.domain)
