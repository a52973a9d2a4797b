"""Spherical (cosine) k-means: clusters of directions, as of embeddings of texts.

    mean, scatter   release the mean of the directions, and their scatter matrix about it: it tells the axes along which
                    they vary more than noise would                                               (directions.py)
    words           many random directions along these axes move to the means of the records nearest to them, in rounds;
                    they are merged, step by step, to k                                           (words.py)
    last            release count, mean and variance of the k clusters in all columns             (lifted.py)

With k unknown, more words are left. Joined one pair after another, they show an elbow at the number of clusters, if
these are clear (numeric/elbow.py): that is free. A record is its direction: rows are scaled to length one by a public
rule (queries/sphere.py), so there are no bounds to know.
"""

from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from knoll.cluster.centers import PrivateCenters
from knoll.cluster.found import Clusters
from knoll.diagnose import Facts
from knoll.estimator import FitContext, declared
from knoll.parameters import MOST_CLUSTERS, Whole
from knoll.privacy import Ask, Shares
from knoll.privacy.errors import BoundsError, brief
from knoll.queries import Sphere
from knoll.queries.given import SPHERE
from knoll.sparse_labels import label_sparse, sparse_distances, weighs_columns
from knoll.steps.choose import Choice
from knoll.steps.directions import release_view, view_asks
from knoll.steps.lifted import last_asks, lift
from knoll.steps.sparse import sparse_asks, sparse_clusters
from knoll.steps.words import MOST_PIECES, choose_words, find_words, step, word_asks


@dataclass(frozen=True)
class SphericalShares(Shares):
    """Shares of the budget. The words find the clusters, and most of the error is in what they do not find."""

    mean: float = 0.02
    scatter: float = 0.15
    words: float = 0.73
    last: float = 0.1


@dataclass(frozen=True)
class ChoiceShares(Shares):
    """Shares if the number of clusters is chosen: from the words, which then move on to as many clusters."""

    mean: float = 0.03
    scatter: float = 0.1
    words: float = 0.6
    steps: float = 0.17
    last: float = 0.1


SHARES, CHOICE_SHARES = SphericalShares(), ChoiceShares()
MOST_TOLD = 20  # columns that remarks on sparse rows look at: those that differ most
LAST_STEPS = 2  # if the number was chosen


@declared
class SphericalKMeans(PrivateCenters):
    """K-means of directions (cosine k-means), under differential privacy, with nothing to tune and no bounds to give.

    Rows are scaled to length one. A row of zeros has no direction: it is counted, and moves no centre. Rows may be
    sparse (scipy's csr and csc, arrays and matrices): tags, bags of words. Then columns are chosen and weighed by how
    often they occur, which is released, and rows are never made dense.

    Parameters
    ----------
    n_clusters : int or None, default=8
        Number of clusters. With None it is chosen: where the loss of joined words has an elbow. If it has none, as many
        as can be told apart, with a confidence of zero.
    {parameters}

    Attributes
    ----------
    {attributes}
    cluster_cosines_ : array of shape (n_clusters,)
        Mean cosine of each cluster's records with its centre: 1 if all have the same direction.
    column_weights_ : array of shape (n_features,)
        For sparse rows: the weight of each column, 0 if it was not chosen; centres are of weighed rows. Else ones.
    n_clusters_confidence_ : float
        If the number of clusters was chosen: the probability that it is right within 5 %.
    n_clusters_candidates_ : array of shape (n_candidates, 2)
        Numbers of clusters and their probabilities, the chosen one first.

    Notes
    -----
    Centres have length one, so the nearest centre is the one with the largest cosine. Their standard errors are those
    of the direction of the mean.

    {releases}

    Examples
    --------
    >>> import knoll
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = np.repeat(np.eye(3), 5_000, axis=0) + 0.2 * rng.standard_normal((15_000, 3))
    >>> model = knoll.SphericalKMeans(3, epsilon=1.0, random_state=0).fit(X)
    >>> np.sort(model.cluster_centers_.max(axis=1)).round(1).tolist()
    [1.0, 1.0, 1.0]
    """

    n_clusters: int | None = 8
    _: KW_ONLY
    bounds: Any = SPHERE

    _rules: ClassVar = {"n_clusters": Whole(MOST_CLUSTERS, none=True)}
    _published: ClassVar = {
        **PrivateCenters._published, "cluster_cosines_": "k", "n_clusters_confidence_": "",
        "n_clusters_candidates_": "qo", "column_weights_": "d",
    }  # fmt: skip
    _takes_sparse: ClassVar = True

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if not (isinstance(self.bounds, Sphere) or self.bounds == SPHERE):
            raise BoundsError(
                f"bounds={brief(self.bounds)}: SphericalKMeans scales rows to length one and has no other bounds. "
                "Leave them out; or use KMeans, if lengths matter"
            )

    def _asks_for(self, n_columns: int, k: int | None) -> list[Ask]:
        shares = CHOICE_SHARES if k is None else SHARES
        most = MOST_PIECES if k is None else k
        words = word_asks(n_columns, most, shares.words)
        if k is None:
            words += word_asks(n_columns, most, CHOICE_SHARES.steps, LAST_STEPS)
        return [*view_asks(n_columns, shares.mean, shares.scatter), *words, *last_asks(n_columns, most, shares.last)]

    def _facts(self) -> Facts:
        facts = super()._facts()
        if (self.column_weights_ == 1.0).all():
            return facts
        told = np.sort(np.argsort(-np.ptp(facts.at, axis=0), kind="stable")[:MOST_TOLD])  # of thousands of columns
        each = {name: getattr(facts, name)[told] for name in ("lower", "upper", "in_doubt", "closed")}
        return replace(
            facts, names=tuple(facts.names[i] for i in told), at=facts.at[:, told], errors=facts.errors[:, told], **each
        )

    def _sparse_asks(self, n_columns: int) -> list[Ask]:
        return sparse_asks(n_columns, self._n_clusters())

    def predict(self, X: Any) -> np.ndarray:
        """Return the cluster of each row: that of the nearest released centre, by cosine.

        The labels go to whoever holds X; the model keeps nothing of it.

        Parameters
        ----------
        X : array, sparse matrix, DataFrame, Arrow table, path or Source
            Rows to label, as for `fit`.

        Returns
        -------
        labels : integer array of shape (n_samples,)
            -1 for a row with a missing value, if ``missing="drop"`` or X is a file.
        """
        check_is_fitted(self)
        return label_sparse(self, X) if weighs_columns(self, X) else super().predict(X)

    def transform(self, X: Any) -> np.ndarray:
        """Return the distance of each row, scaled to length one, to each released centre.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            Rows to measure.

        Returns
        -------
        distances : array of shape (n_samples, n_clusters)
        """
        check_is_fitted(self)
        return sparse_distances(self, X) if weighs_columns(self, X) else super().transform(X)

    def _search(self, context: FitContext, k: int | None, rng: np.random.RandomState) -> Clusters:
        if context.sparse:
            return Clusters(*sparse_clusters(context, k, rng), each=("cluster_cosines_",))
        grants = context.grant.split(CHOICE_SHARES if k is None else SHARES)
        view = release_view(grants.mean, grants.scatter, context, rng)
        frame = view.frame(context)
        if k is None:
            words, choice = choose_words(grants.words, frame, view, rng)
            words = words.merged(choice.k, rng)
            for part in grants.steps.even(LAST_STEPS):
                words = step(words, part, frame, view.variance)
        else:
            words, choice = find_words(grants.words, frame, view, k, rng), Choice.given(k)
        found = lift(grants.last, context, view, frame, words)
        weights = np.ones(context.domain.n_columns)
        more = {"cluster_cosines_": found.cosines, "column_weights_": weights, **choice.attributes()}
        return Clusters(found.means, more, bars=found.bars, each=("cluster_cosines_",))
