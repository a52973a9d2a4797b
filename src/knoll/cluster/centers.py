"""What every clusterer with centres shares: what it publishes, and what a fitted model can do."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin, clone
from sklearn.metrics import pairwise_distances, pairwise_distances_argmin
from sklearn.utils.validation import check_is_fitted

from knoll.cluster.found import Clusters, error_bars, places, without_unseen
from knoll.diagnose import Facts, Quality, chosen, facts_of, quality_of_cells, quietest, visible
from knoll.estimator import DropsUnseen, FitContext, PrivateFit, one_thread, open_curator
from knoll.parameters import MOST_CLUSTERS, Rule, Whole, check_shape
from knoll.privacy import Ask
from knoll.rows import label_rows, points_of, same_columns
from knoll.steps.cells import moments_asks, moments_of_cells
from knoll.steps.choose import as_far_as_seen
from knoll.steps.moments import Form
from knoll.summary import Summarised

CENTERS = """cluster_centers_ : array of shape (n_clusters, n_features)
        Released centres.
    cluster_sizes_ : array of shape (n_clusters,)
        Released sizes. Negative ones are set to zero.
    centers_stderr_, cluster_sizes_stderr_ : arrays of shape (n_clusters, n_features) and (n_clusters,)
        One standard error of what privacy changes: the released value against the same figure computed, without
        noise, on the records that `predict` assigns to the cluster (their mean, clipped to the bounds; their number).
        Infinite where nothing can be said.
    clusters_seen_ : boolean array of shape (n_clusters,)
        Which clusters can be told from noise.
    n_clusters_ : int
        The number of clusters.
    quality_ : Quality or None
        Within-cluster variance, explained part of the variance and silhouette, with standard errors. None for methods
        that release no variances (only `KMeans` and the default `PEMeans` do), or whose clusters need not be round.
    """


class PrivateCenters(
    DropsUnseen, Summarised, PrivateFit, ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator
):
    """Base of clusterers that release centres. A method implements `_search` and nothing else."""

    cluster_centers_: np.ndarray
    clusters_seen_: np.ndarray
    scales_: np.ndarray
    quality_: Quality | None
    _rules: ClassVar[dict[str, Rule]] = {"n_clusters": Whole(MOST_CLUSTERS)}
    _ATTRIBUTES = CENTERS
    _published: ClassVar = {
        "cluster_centers_": "kd", "centers_stderr_": "kd", "cluster_sizes_": "k", "cluster_sizes_stderr_": "k",
        "clusters_seen_": "k", "scales_": "d",
    }  # fmt: skip

    def _n_clusters(self) -> int | None:
        """Return the number of clusters, or None to choose it."""
        return None if self.n_clusters is None else int(self.n_clusters)

    def _asks(self, n_columns: int) -> Sequence[Ask]:
        return self._asks_for(n_columns, self._n_clusters())

    def _asks_for(self, n_columns: int, k: Any) -> Sequence[Ask]:
        """Return the most that a search for k centres releases. Only public facts are used."""
        return ()

    def _fit(self, context: FitContext, rng: np.random.RandomState) -> dict[str, Any]:
        found = self._search(context, self._n_clusters(), rng)
        with one_thread():  # matrices of centres and made-up records are small, whatever the number of columns
            bars = error_bars(found, context)
            seen = bars.seen
            if self.drop_unseen:
                found, bars = without_unseen(found, bars, context)
            quality = None if found.means.sums is None else quality_of_cells(found.means.sums)
        means = found.means
        return {
            "n_clusters_": len(means.centres),
            "cluster_centers_": means.centres,
            "centers_stderr_": bars.centres,
            "cluster_sizes_": np.maximum(means.counts, 0.0),
            "cluster_sizes_stderr_": bars.sizes,
            "clusters_seen_": bars.seen,
            "scales_": context.scales,
            "quality_": quality,
            **(found.more if self.n_clusters is not None else as_far_as_seen(found.more, seen)),
        }

    def _facts(self) -> Facts:
        errors, sizes, size_errors = self.centers_stderr_, self.cluster_sizes_, self.cluster_sizes_stderr_
        variances = getattr(self, "cluster_variances_", None)
        known = np.isfinite(size_errors)
        return facts_of(
            self,
            at=self.cluster_centers_,
            errors=errors,
            sizes=sizes,
            seen=visible(self, "clusters_seen_", errors, sizes, size_errors),
            spread=None if variances is None else np.sqrt(np.maximum(variances, 0.0)),
            records=float(sizes.sum()),
            noise=float(np.median(size_errors[known])) if known.any() else np.inf,
            quietest=quietest(self),
            **chosen(self, "n_clusters", self.n_clusters),
        )

    def _search(self, context: FitContext, k: Any, rng: np.random.RandomState) -> Clusters:
        """Find k centres through the door."""
        raise NotImplementedError

    def _restore(self) -> None:
        """Complete a model that was read from a file. Refuse values that no fit could give."""
        if not np.isfinite(self.cluster_centers_).all():
            raise ValueError("a centre is not finite")
        if not (self.scales_ > 0).all():
            raise ValueError("a scale is not positive")
        self.clusters_seen_ = self.clusters_seen_.astype(bool)
        self.n_clusters_ = len(self.cluster_centers_)
        self.quality_ = getattr(self, "quality_", None)  # files of earlier versions have none

    def predict(self, X: Any) -> np.ndarray:
        """Return the cluster of each row: that of the nearest released centre, unless the class documents another rule.

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
        return label_rows(self, X, self._labels)

    def _labels(self, rows: np.ndarray) -> np.ndarray:
        """Return the cluster of each complete row."""
        return pairwise_distances_argmin(rows / self.scales_, self._places())

    def _places(self) -> np.ndarray:
        """Return the centres in the metric of the fit; on a sphere their directions, so that cosines count."""
        return places(self.bounds_, self.cluster_centers_, self.scales_)

    def _summarised(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self.cluster_centers_, self.centers_stderr_, self.cluster_sizes_

    def fit_predict(self, X: Any, y: Any = None) -> np.ndarray:
        """Fit on X, then return the cluster of each of its rows. Labels are not private: they describe records."""
        return self.fit(X).predict(X)

    def to_mixture(
        self,
        X: Any,
        *,
        epsilon: float | None = None,
        delta: float | None = None,
        covariance_type: str = "full",
        covariance_floor: float = 0.001,
    ) -> Any:
        """Release the moments of the cells and return them as a `knoll.mixture.Mixture`: one Gaussian per centre.

        This looks at X again and spends a budget of its own, which the same ledger records. It releases three
        `CellShapes` of the cells, then one `ComponentMoments`; ``mixture_privacy_`` states what was spent. The centres
        count as public, since they are released already.

        Parameters
        ----------
        X : array, DataFrame, Arrow table, path or Source
            The records, as for `fit`.
        epsilon, delta : float, optional
            Budget of this release; by default that of the fit.
        covariance_type : {"full", "tied", "diag", "spherical"}
            Shape of the covariances.
        covariance_floor : float
            Public floor: no standard deviation is below this fraction of the bounds' half widths.

        Returns
        -------
        mixture : Mixture
        """
        check_is_fitted(self)
        X = same_columns(self, X)
        floor = check_shape(covariance_type, covariance_floor)
        again = clone(self).set_params(
            bounds=getattr(self, "columns_", self.bounds_),
            epsilon=self.epsilon if epsilon is None else epsilon,
            delta=self.delta if delta is None else delta,
        )
        if hasattr(self, "imputed_"):  # released already
            again.imputed_ = self.imputed_
        asks = moments_asks(self.bounds_.n_columns, len(self.cluster_centers_), covariance_type)
        with open_curator(again, X, public=("the parameters", "the centres"), asks=asks) as context:
            form = Form.of(covariance_type, floor, context.domain, self.scales_)
            belief = moments_of_cells(context.grant, context.domain, self.cluster_centers_, form)
            self.mixture_privacy_ = context.statement()
        found, fixed = belief.mixture, self.bounds_.constant
        return replace(found, means=np.where(fixed, self.bounds_.centre, found.means)) if fixed.any() else found

    def transform(self, X: Any) -> np.ndarray:
        """Return the distance of each row to each released centre, in the metric of the fit (see `scale_by_bounds`).

        With ``bounds="sphere"``: to the direction of each centre, so that the nearest is that of the largest cosine.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            Rows to measure.

        Returns
        -------
        distances : array of shape (n_samples, n_clusters)
        """
        check_is_fitted(self)
        rows = points_of(self, X) / self.scales_
        return pairwise_distances(rows, self._places())

    def score(self, X: Any, y: Any = None) -> float:
        """Return minus the sum of squared distances of X to the nearest centre, in the metric of the fit.

        **Not private: keep it to yourself.** It is computed from X without noise. `quality_` is the private figure.
        """
        return -float(np.square(self.transform(X).min(axis=1)).sum())

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_centers_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        return tags

    def _more_tags(self) -> dict[str, bool]:
        return {"non_deterministic": True}  # the same for scikit-learn 1.5
