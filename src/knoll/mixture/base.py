"""What every mixture shares: what it publishes, and what a fitted model can do."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, DensityMixin
from sklearn.utils.validation import check_is_fitted

from knoll.columns import domain_of
from knoll.diagnose import Diagnosed, Facts, Quality, chosen, facts_of, quality_of_mixture, quietest, visible
from knoll.estimator import DropsUnseen, FitContext
from knoll.numeric.bars import Bars
from knoll.numeric.levels import MixedMixture
from knoll.numeric.mixture import Mixture
from knoll.parameters import SHAPE, Rule, Whole, check_rules, check_shape
from knoll.privacy import Ask
from knoll.privacy.errors import PrivacyError
from knoll.rows import label_rows, points_of
from knoll.steps.choose import Choice, as_far_as_seen
from knoll.steps.component_bars import PublishedParts, component_bars
from knoll.steps.levels import LevelBelief, has_levels, levels_ask, walk_levels
from knoll.steps.moments import Belief, Form, hard_shares, moments_ask, standard_errors, walk
from knoll.summary import Summarised
from knoll.synthetic import Sampled

MOST_COMPONENTS = 10_000  # a limit that refuses typing errors: no release could show so many
MOST_COLUMNS = 3000  # coordinates: a start's covariances have the square of it, 72 MB each, and take minutes

MIXTURE = """weights_ : array of shape (n_components,)
        Released weights, on the simplex.
    means_ : array of shape (n_components, n_features)
        Released means.
    covariances_ : array of shape (n_components, n_features, n_features)
        Released covariances: positive definite matrices for every `covariance_type`.
    weights_stderr_, means_stderr_ : arrays of shape (n_components,) and (n_components, n_features)
        One standard error of what privacy changes: the released value against the same figure computed, without
        noise, on the records, weighted by their responsibilities (clipped to the bounds). Infinite where nothing can
        be said.
    covariances_stderr_ : array of shape (n_components, n_features, n_features)
        Standard errors from privacy noise alone. Infinite for what the noise hides.
    components_seen_ : boolean array of shape (n_components,)
        Which components can be told from noise.
    shrinkage_ : array of shape (n_components,)
        How far correlations were shrunk, to zero and to what components share, because of privacy noise: 0 not at all,
        1 all the way.
    n_components_ : int
        The number of components.
    n_records_ : float
        Released number of records.
    quality_ : Quality
        Variance within components, explained part of the variance and silhouette, with standard errors.
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
        How far correlations were shrunk.
    total : float
        Released number of records.
    choice : Choice, optional
        The number of components, if it was chosen, with its candidates.
    more : mapping
        Further fitted attributes by name.
    belief : Belief, optional
        What steps of expectation-maximisation showed, for the error bars.
    seen : boolean array of shape (n_components,), optional
        Which components can be told from noise; if not given, those with finite errors.
    bars : Bars, optional
        Error bars of sizes and means, if the method computes them itself.
    """

    mixture: Mixture
    errors: tuple[np.ndarray, np.ndarray, np.ndarray]
    shrinkage: np.ndarray
    total: float
    choice: Choice | None = None
    more: Mapping[str, Any] = field(default_factory=dict)
    belief: Belief | LevelBelief | None = None
    seen: np.ndarray | None = None
    bars: Bars | None = None

    @classmethod
    def of_belief(
        cls, belief: Belief | LevelBelief, choice: Choice | None = None, more: Mapping[str, Any] | None = None
    ) -> "Components":
        """Return what steps of expectation-maximisation found."""
        total = float(belief.counts.sum())
        errors = belief.errors() if isinstance(belief, LevelBelief) else standard_errors(belief)
        return cls(belief.mixture, errors, belief.shrinkage, total, choice, more or {}, belief)

    def with_bars(self, bars: Bars) -> "Components":
        """Return the components with other error bars of weights and means. What is not seen has none."""
        spreads = np.where(bars.seen[:, None, None], self.errors[2], np.inf)
        return replace(self, errors=(bars.sizes / max(self.total, 1.0), bars.centres, spreads), seen=bars.seen)

    @property
    def visible(self) -> np.ndarray:
        """Which components can be told from noise."""
        return np.isfinite(self.errors[1]).all(axis=1) if self.seen is None else self.seen

    def without_unseen(self) -> tuple["Components", np.ndarray]:
        """Leave out components that cannot be told from noise, and say which component each of the old ones is now."""
        keep = self.visible.copy()
        keep[self.mixture.weights.argmax()] |= not keep.any()
        whole, weights = self.mixture, self.mixture.weights[keep]
        weights = weights / weights.sum() if weights.sum() > 0 else np.full(len(weights), 1 / len(weights))
        mixture = whole.like(weights, whole.means[keep], whole.covariances[keep])
        errors = self.errors[0][keep], self.errors[1][keep], self.errors[2][keep]
        seen = None if self.seen is None else self.seen[keep]
        less = replace(self, mixture=mixture, errors=errors, shrinkage=self.shrinkage[keep], seen=seen)
        return less, np.where(keep, np.cumsum(keep) - 1, -1)

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
            "components_seen_": self.visible,
            **(self.choice or Choice.given(self.mixture.n_components)).attributes("n_components"),
            **self.more,
        }


class PrivateMixture(DropsUnseen, Summarised, Sampled, Diagnosed, DensityMixin, BaseEstimator):
    """Base of mixtures. A method implements `_search` and nothing else."""

    weights_: np.ndarray
    means_: np.ndarray
    covariances_: np.ndarray
    components_seen_: np.ndarray
    _rules: ClassVar[dict[str, Rule]] = {"n_components": Whole(MOST_COMPONENTS), **SHAPE}
    _ATTRIBUTES = MIXTURE
    _soft: ClassVar = True
    _published: ClassVar = {
        "weights_": "k", "means_": "kd", "covariances_": "kcc", "weights_stderr_": "k", "means_stderr_": "kd",
        "covariances_stderr_": "kcc", "shrinkage_": "k", "components_seen_": "k",
        "n_records_": "", "n_components_confidence_": "", "n_components_candidates_": "qo",
    }  # fmt: skip

    def _check_parameters(self) -> None:
        check_rules(self)

    def _n_components(self) -> int | None:
        """Return the number of components, or None to choose it."""
        return None if self.n_components is None else int(self.n_components)

    def _asks(self, n_columns: int) -> Sequence[Ask]:
        if n_columns > MOST_COLUMNS:
            raise PrivacyError(
                f"{n_columns:,} columns (levels count each) are too many for a mixture, whose components have a "
                f"covariance each: take {MOST_COLUMNS:,} at most, or use KMeans (knoll cluster), which takes more"
            )
        return self._asks_for(n_columns, self._n_components())

    def _steps_ask(self, n_columns: int, k: int, shape: str, **options: Any) -> Ask:
        """Return what steps of expectation-maximisation release, over numbers or over kinds of columns."""
        columns = getattr(self, "columns_", None)
        domain = None if columns is None else domain_of(columns)
        if domain is not None and has_levels(domain):
            return levels_ask(domain, k, shape, **options)
        return moments_ask(n_columns, k, shape, **options)

    def _asks_for(self, n_columns: int, k: Any) -> Sequence[Ask]:
        """Return the most that a search for k components releases. Only public facts are used."""
        return ()

    def _fit(self, context: FitContext, rng: np.random.RandomState) -> dict[str, Any]:
        floor = check_shape(self.covariance_type, self.covariance_floor)
        form = Form.of(self.covariance_type, floor, context.domain, context.scales)
        found = self._search(context, self._n_components(), rng, form)
        every = np.arange(found.mixture.n_components)
        found = self._with_bars(found, context, every, found.mixture)
        seen = found.visible
        if self.drop_unseen and not seen.all():
            less, groups = found.without_unseen()
            found = self._with_bars(less, context, groups, found.mixture)
        known = found.attributes()
        return known if self.n_components is not None else as_far_as_seen(known, seen, "n_components")

    def _with_bars(self, found: Components, context: FitContext, groups: np.ndarray, whole: Mixture) -> Components:
        """Return error bars from what the steps showed: against records weighted by the published responsibilities.

        `groups` holds the component that each of the measured ones is now, -1 if it was left out.
        """
        if found.belief is None:
            same = found.bars is not None and len(found.bars.seen) == found.mixture.n_components
            return found.with_bars(found.bars) if found.bars is not None and same else found
        mixture = found.mixture
        shares = mixture.predict_proba if self._soft else hard_shares(mixture)
        sizes = mixture.weights * max(found.total, 1.0)
        published = PublishedParts(mixture.means, sizes, shares, groups, pure=context.grant.norm == 1)
        return found.with_bars(component_bars(found.belief.steps, whole, context.domain, published))

    @property
    def quality_(self) -> Quality:
        """How well the components fit, from released values: costs no budget. The same values give the same figures."""
        check_is_fitted(self)
        scaled = getattr(self, "scale_by_bounds", True)
        mixture, spread_errors = self.to_mixture(), self.covariances_stderr_
        if isinstance(mixture, MixedMixture):
            spread_errors = mixture.all_coordinates(spread_errors, self.means_stderr_)
        return quality_of_mixture(
            self.weights_,
            self.means_,
            mixture.spreads,
            (self.weights_stderr_, self.means_stderr_, spread_errors),
            self.bounds_.scales if scaled else np.ones(self.bounds_.n_columns),
            tied=self.covariance_type == "tied",
            round_=self.covariance_type == "spherical",
        )

    def _facts(self) -> Facts:
        n = float(self.n_records_)
        known = np.isfinite(self.weights_stderr_)
        sizes, size_errors = n * self.weights_, np.full(len(known), np.inf)
        size_errors[known] = n * self.weights_stderr_[known]
        return facts_of(
            self,
            kind="component",
            at=self.means_,
            errors=self.means_stderr_,
            sizes=sizes,
            seen=visible(self, "components_seen_", self.means_stderr_, sizes, size_errors),
            spread=np.sqrt(self.to_mixture().variances),
            records=n,
            noise=max(float(np.median(size_errors[known])) if known.any() else 0.0, quietest(self)),
            **chosen(self, "n_components", self.n_components),
        )

    def _search(self, context: FitContext, k: Any, rng: np.random.RandomState, form: Form) -> Components:
        """Find a mixture through the door."""
        raise NotImplementedError

    def _restore(self) -> None:
        """Complete a model that was read from a file. Refuse values that no fit could give."""
        self.components_seen_ = self.components_seen_.astype(bool)
        self.n_components_ = self.to_mixture().n_components

    def to_mixture(self) -> Mixture:
        """Return the fitted mixture as one immutable object. It is free: it holds released values only."""
        check_is_fitted(self)
        if has_levels(self.bounds_):
            return MixedMixture(self.weights_, self.means_, self.covariances_, self.bounds_)
        return Mixture(self.weights_, self.means_, self.covariances_)

    def predict(self, X: Any) -> np.ndarray:
        """Return the most probable component of each row.

        The labels go to whoever holds X; the model keeps nothing of it.

        Parameters
        ----------
        X : whatever `fit` takes
            Rows to label.

        Returns
        -------
        labels : integer array of shape (n_samples,)
            -1 for a row with a missing value, if ``missing="drop"`` or X is not in memory. Of what is computed when it
            is read, the same kind of thing: a Dask Series or array; a Spark DataFrame, lazy frame or DuckDB relation
            with one more column, "label"; of an Arrow stream or a `Table` a reader of batches with that column.
        """
        check_is_fitted(self)
        return label_rows(self, X, self.to_mixture().predict)

    def _summarised(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self.means_, self.means_stderr_, self.weights_ * self.n_records_

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
        """Return the mean log density of X. **Not private: keep it to yourself.** It is computed without noise."""
        return float(self.score_samples(X).mean())

    def _drawn_from(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self.weights_, self.means_, self.covariances_

    def nonprivate_bic(self, X: Any) -> float:
        """Return the Bayesian information criterion on X (lower is better). Not private: for the holder of X."""
        rows = self._rows(X)
        return -2 * len(rows) * self.score(X) + self._n_parameters() * float(np.log(len(rows)))

    def nonprivate_aic(self, X: Any) -> float:
        """Return Akaike's information criterion on X (lower is better). Not private: for the holder of X."""
        return -2 * len(self._rows(X)) * self.score(X) + 2 * self._n_parameters()

    def _rows(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        return points_of(self, X)

    def _n_parameters(self) -> int:
        k, d = self.means_.shape
        spread = {"full": k * d * (d + 1) // 2, "tied": d * (d + 1) // 2, "diag": k * d, "spherical": k}
        return k - 1 + k * d + spread[self.covariance_type]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        return tags

    def _more_tags(self) -> dict[str, bool]:
        return {"non_deterministic": True}  # the same for scikit-learn 1.5


def take_steps(
    context: FitContext, steps: int, mixture: Mixture, total: float, form: Form, *, soft: bool
) -> Belief | LevelBelief:
    """Spend what is left of a fit on steps of expectation-maximisation from a first mixture."""
    if isinstance(mixture, MixedMixture):
        return walk_levels(context.grant, steps, LevelBelief.start(mixture, total), form, soft=soft)
    return walk(context.grant, steps, context.domain, Belief.start(mixture, total), form, soft=soft)
