"""What every mixture shares: what it publishes, and what a fitted model can do."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, DensityMixin
from sklearn.utils.validation import check_is_fitted

from knoll.estimator import FitContext
from knoll.numeric.mixture import Mixture
from knoll.parameters import SHAPE, Rule, Whole, check_count, check_rules, check_shape
from knoll.privacy import Ask
from knoll.rows import check_rows, label_rows
from knoll.steps.choose import Choice
from knoll.steps.moments import Belief, Form, standard_errors

MOST_COMPONENTS = 10_000  # a limit that refuses typing errors: no release could show so many

MIXTURE = """weights_ : array of shape (n_components,)
        Released weights, on the simplex.
    means_ : array of shape (n_components, n_features)
        Released means.
    covariances_ : array of shape (n_components, n_features, n_features)
        Released covariances: positive definite matrices for every `covariance_type`.
    weights_stderr_, means_stderr_, covariances_stderr_ : arrays
        Standard errors from privacy noise. Infinite for what the noise hides.
    shrinkage_ : array of shape (n_components,)
        How far covariances were shrunk to their diagonals because of privacy noise: 0 not at all, 1 all the way.
    n_components_ : int
        The number of components.
    n_records_ : float
        Released number of records.
    """


@dataclass(frozen=True)
class Components:
    """What a mixture's method found.

    Attributes
    ----------
    mixture : Mixture
        The mixture.
    errors : tuple of arrays
        Standard errors of weights, means and covariances.
    shrinkage : array of shape (n_components,)
        How far covariances were shrunk to their diagonals.
    total : float
        Released number of records.
    choice : Choice, optional
        The number of components, if it was chosen, with its candidates.
    more : mapping
        Further fitted attributes by name.
    """

    mixture: Mixture
    errors: tuple[np.ndarray, np.ndarray, np.ndarray]
    shrinkage: np.ndarray
    total: float
    choice: Choice | None = None
    more: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of_belief(
        cls, belief: Belief, choice: Choice | None = None, more: Mapping[str, Any] | None = None
    ) -> "Components":
        """Return what steps of expectation-maximisation found."""
        total = float(belief.counts.sum())
        return cls(belief.mixture, standard_errors(belief), belief.shrinkage, total, choice, more or {})

    def attributes(self) -> dict[str, Any]:
        """Return the fitted attributes, all of them post-processing of what was released."""
        return {
            "weights_": self.mixture.weights,
            "means_": self.mixture.means,
            "covariances_": self.mixture.covariances,
            "weights_stderr_": self.errors[0],
            "means_stderr_": self.errors[1],
            "covariances_stderr_": self.errors[2],
            "shrinkage_": self.shrinkage,
            "n_records_": max(self.total, 0.0),
            "n_components_": self.mixture.n_components,
            **(self.choice or Choice.given(self.mixture.n_components)).attributes("n_components"),
            **self.more,
        }


class PrivateMixture(DensityMixin, BaseEstimator):
    """Base of mixtures. A method implements `_search` and nothing else."""

    weights_: np.ndarray
    means_: np.ndarray
    covariances_: np.ndarray
    _rules: ClassVar[dict[str, Rule]] = {"n_components": Whole(MOST_COMPONENTS), **SHAPE}
    _ATTRIBUTES = MIXTURE
    _published: ClassVar = {
        "weights_": "k", "means_": "kd", "covariances_": "kdd", "weights_stderr_": "k", "means_stderr_": "kd",
        "covariances_stderr_": "kdd", "shrinkage_": "k", "n_records_": "", "n_components_confidence_": "",
        "n_components_candidates_": "qo",
    }  # fmt: skip

    def _check_parameters(self) -> None:
        check_rules(self)

    def _n_components(self) -> int | None:
        """Return the number of components, or None to choose it."""
        return None if self.n_components is None else int(self.n_components)

    def _asks(self, n_columns: int) -> Sequence[Ask]:
        return self._asks_for(n_columns, self._n_components())

    def _asks_for(self, n_columns: int, k: Any) -> Sequence[Ask]:
        """Return the most that a search for k components releases. Only public facts are used."""
        return ()

    def _fit(self, context: FitContext, rng: np.random.RandomState) -> dict[str, Any]:
        floor = check_shape(self.covariance_type, self.covariance_floor)
        form = Form.of(self.covariance_type, floor, context.domain, context.scales)
        return self._search(context, self._n_components(), rng, form).attributes()

    def _search(self, context: FitContext, k: Any, rng: np.random.RandomState, form: Form) -> Components:
        """Find a mixture through the door."""
        raise NotImplementedError

    def _restore(self) -> None:
        """Complete a model that was read from a file. Refuse values that no fit could give."""
        self.n_components_ = self.to_mixture().n_components

    def to_mixture(self) -> Mixture:
        """Return the fitted mixture as one immutable object. It is free: it holds released values only."""
        check_is_fitted(self)
        return Mixture(self.weights_, self.means_, self.covariances_)

    def predict(self, X: Any) -> np.ndarray:
        """Return the most probable component of each row.

        The labels go to whoever holds X; the model keeps nothing of it.

        Parameters
        ----------
        X : array, DataFrame, Arrow table, path or Source
            Rows to label, as for `fit`.

        Returns
        -------
        labels : integer array of shape (n_samples,)
            -1 for a row with a missing value, if ``missing="drop"`` or X is a file.
        """
        check_is_fitted(self)
        return label_rows(self, X, self.to_mixture().predict)

    def fit_predict(self, X: Any, y: Any = None) -> np.ndarray:
        """Fit on X, then return the component of each of its rows. Labels are not private: they describe records."""
        return self.fit(X).predict(X)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each component for each row, (n_samples, n_components)."""
        return self.to_mixture().predict_proba(self._rows(X))

    def score_samples(self, X: Any) -> np.ndarray:
        """Return the log density of each row, (n_samples,)."""
        return self.to_mixture().log_density(self._rows(X))

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean log density of X. It has no noise: it is for the holder of X, and must not be published."""
        return float(self.score_samples(X).mean())

    def sample(self, n_samples: int = 1, random_state: Any = None) -> np.ndarray:
        """Draw synthetic rows, (n_samples, n_features). They are as private as the model."""
        return self.to_mixture().sample(check_count("n_samples", n_samples, 10**9), random_state)

    def nonprivate_bic(self, X: Any) -> float:
        """Return the Bayesian information criterion on X (lower is better). Not private: for the holder of X."""
        rows = self._rows(X)
        return -2 * len(rows) * self.score(X) + self._n_parameters() * float(np.log(len(rows)))

    def nonprivate_aic(self, X: Any) -> float:
        """Return Akaike's information criterion on X (lower is better). Not private: for the holder of X."""
        return -2 * len(self._rows(X)) * self.score(X) + 2 * self._n_parameters()

    def _rows(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        return check_rows(self, X, reset=False)

    def _n_parameters(self) -> int:
        k, d = self.means_.shape
        spread = {"full": k * d * (d + 1) // 2, "tied": d * (d + 1) // 2, "diag": k * d, "spherical": k}
        return k - 1 + k * d + spread[self.covariance_type]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        return tags
