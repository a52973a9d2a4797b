"""Spherical k-means."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from knoll.cluster.centers import PrivateCenters
from knoll.cluster.found import Clusters
from knoll.estimator import FitContext, declared
from knoll.parameters import MOST_CLUSTERS, Whole
from knoll.privacy import Ask, Grant, Shares
from knoll.queries import Frame, Nearest
from knoll.queries.sphere import lengthened
from knoll.sparse_labels import label_sparse, sparse_distances, weighs_columns
from knoll.steps.centres import Centres
from knoll.steps.directions import View, release_view
from knoll.steps.means import CellMeans
from knoll.steps.pieces import PIECE
from knoll.steps.refine import Refined, lloyd_step, refine, solve
from knoll.steps.shapes import ShapeRequest, ellipsoid
from knoll.steps.sparse import sparse_asks, sparse_clusters


@dataclass(frozen=True)
class SphericalShares(Shares):
    mean: float = 0.03
    scatter: float = 0.12
    codebook: float = 0.30
    steps: float = 0.40
    last: float = 0.15


SHARES = SphericalShares()
ROUNDS = 3
N_STEPS = 5
PER_WORD = 6.0


@declared
class SphericalKMeans(PrivateCenters):
    """K-means of directions (cosine k-means) under differential privacy.

    Parameters
    ----------
    n_clusters : int or None, default=8
        Number of clusters.
    {parameters}

    Attributes
    ----------
    {attributes}
    """

    n_clusters: int | None = 8
    _: KW_ONLY
    bounds: Any = "sphere"

    _rules: ClassVar = {"n_clusters": Whole(MOST_CLUSTERS, none=True)}

    def _asks_for(self, n_columns: int, k: int | None) -> list[Ask]:
        return []

    _takes_sparse: ClassVar = True
    _published: ClassVar = {**PrivateCenters._published, "column_weights_": "d"}

    def _sparse_asks(self, n_columns: int) -> list[Ask]:
        return sparse_asks(n_columns, self._n_clusters())

    def _search_sparse(self, context: FitContext, k: int | None, rng: np.random.RandomState) -> Clusters:
        def start(grant: Grant, frame: Frame, view: View) -> np.ndarray:
            groups = k or view.clear + 1
            points, weights = word_points(codebook(grant, frame, view, groups, rng), rng)
            return solve(points, weights, groups, rng, 0).at

        found = sparse_clusters(context, k, rng, start)
        return Clusters(found.in_all_columns(), more={"column_weights_": found.column_weights()})

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
            return self._search_sparse(context, k, rng)
        grants = context.grant.split(SHARES)
        view = release_view(grants.mean, grants.scatter, context)
        frame = view.frame(context)
        words = codebook(grants.codebook, frame, view, k, rng)
        hedge = np.zeros((0, view.clear))
        points, weights = word_points(words, rng)
        centres = solve(points, weights, k, rng, k // 5)
        refined = refine(grants.steps, N_STEPS, frame, centres, k, (-np.ones(view.clear), np.ones(view.clear)))
        means = last_release(grants.last, context, view, frame, refined)
        return Clusters(means, more={"column_weights_": np.ones(context.domain.n_columns)})


def codebook(grant, frame, view, k, rng):
    q = view.clear
    sd = np.sqrt(view.variance[:q])
    unit = PIECE.noise(grant.part(1 / ROUNDS), frame) / PIECE.count
    m = int(np.clip(view.count / (PER_WORD * unit), 2 * k, 1000))
    at = lengthened(rng.standard_normal((m, q)) * sd)
    var = view.variance[:q] / view.variance[:q].sum()
    centres = Centres(at, np.tile(0.6 * var, (m, 1)), np.full(m, view.count / m), np.zeros(m))
    walls = (-np.ones(q), np.ones(q))
    now = Refined.start(centres)
    for part in grant.even(ROUNDS):
        now = lloyd_step(now, part, frame, m, walls, PIECE)
    return now


def word_points(words, rng):
    c = words.centres
    m, q = c.at.shape
    keep = words.count > 2 * np.sqrt(words.doubt)
    keep[words.count.argmax()] = True
    at, var, w = c.at[keep], c.variance[keep], np.maximum(words.count[keep], 1e-3)
    times = int(np.clip(8000 // len(at), 2, 200))
    normal = rng.standard_normal((times, len(at), q))
    pts = lengthened(at + np.sqrt(var) * (normal - normal.mean(axis=0)))
    return pts.reshape(-1, q), np.tile(w / times, times)


LAST = ShapeRequest("count, mean and variance of clusters in all columns", count=0.5, squares=0.3, bias=1e-3)


def last_release(grant, context, view, frame, refined):
    domain, q = context.domain, view.clear
    whole = view.whole(context)
    inside = lengthened(refined.centres)
    k, d = len(inside), domain.n_columns
    # expected centres along all axes
    mean = view.axes @ view.mean
    spread = np.sqrt(max(1.0 - float(view.mean @ view.mean), 0.01))
    at = np.tile(mean, (k, 1))
    scale = np.sqrt(view.variance[:q].sum())
    at[:, :q] += refined.centres * scale
    variance = np.tile(np.maximum(view.variance, 0.05 * view.variance.mean()), (k, 1))
    variance[:, :q] *= 0.6
    count = np.maximum(refined.counts, 1.0)
    axes, radii = ellipsoid(variance, count, LAST.noise(grant, whole), LAST.bias)
    cells = Nearest(inside, frame.domain)
    seen = LAST.ask(grant, cells, whole, at, axes, radii)
    n = np.maximum(seen.count, seen.count_sd)[:, None]
    moved, noise = seen.sums / n, np.square(seen.sums_sd / n)
    # shrink per axis: variance of true moves over clusters
    signal = np.maximum((np.square(moved) - noise).mean(axis=0), 0.0)
    gain = signal / (signal + noise)
    new = at + gain * moved
    centres = lengthened(new @ view.axes)
    stderr = np.sqrt(np.square(np.sqrt(gain * noise)) @ np.square(view.axes))
    return CellMeans(centres, stderr, seen.count, np.full(k, seen.count_sd), seen.count > 2 * seen.count_sd)
