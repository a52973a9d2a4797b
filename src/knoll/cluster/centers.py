"""What every clusterer with centres can do once it is fitted: predict, transform, save. Post-processing only."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.metrics import pairwise_distances, pairwise_distances_argmin
from sklearn.utils.validation import check_is_fitted

from knoll.estimator import check_rows


class CentersMixin(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin):
    """Labels and distances from released centres. Stores nothing of what it is given."""

    cluster_centers_: np.ndarray
    scales_: np.ndarray

    def predict(self, X: Any) -> np.ndarray:
        """Return the cluster of each row: the nearest released centre.

        The labels go to whoever holds X; the model keeps nothing of it.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            Rows to label.

        Returns
        -------
        labels : integer array of shape (n_samples,)
        """
        check_is_fitted(self)
        rows = check_rows(self, X, reset=False) / self.scales_
        return pairwise_distances_argmin(rows, self.cluster_centers_ / self.scales_)

    def fit_predict(self, X: Any, y: Any = None) -> np.ndarray:
        """Fit on X, then return the cluster of each of its rows (the labels are not released by the model)."""
        return self.fit(X).predict(X)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit; each clusterer says how."""
        raise NotImplementedError

    def transform(self, X: Any) -> np.ndarray:
        """Return the distance of each row to each released centre.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            Rows to measure.

        Returns
        -------
        distances : array of shape (n_samples, n_clusters)
        """
        check_is_fitted(self)
        rows = check_rows(self, X, reset=False) / self.scales_
        return pairwise_distances(rows, self.cluster_centers_ / self.scales_)

    def score(self, X: Any, y: Any = None) -> float:
        """Return minus the sum of squared distances of X to the nearest centre.

        Computed from X without noise: for the holder of X, not for publication.
        """
        return -float(np.square(self.transform(X).min(axis=1)).sum())

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_centers_)

    def __sklearn_tags__(self) -> Any:
        tags = BaseEstimator.__sklearn_tags__(self)
        tags.estimator_type = "clusterer"
        tags.non_deterministic = True
        tags.transformer_tags = TransformerMixin.__sklearn_tags__(self).transformer_tags
        return tags
