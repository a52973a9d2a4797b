"""knoll's own k-means: a tree of released shapes, weighted k-means on it, and noise-aware Lloyd steps.

    root    release count, mean and variance of all records
    axes    if the bounds have many dimensions: release the scatter matrix, rotate to its axes      (axes.py)
    tree    release the shapes of cells, level by level; halve cells that are large and wide        (tree.py)
    solve   weighted k-means on points sampled from the released leaves: free                       (refine.py)
    refine  Lloyd steps on clipped displacements, shrunk by their noise, with the rest of the budget. They begin with
            spare centres; half-way, pairs that share a cluster are merged. When centres rest, steps are left out.

Every release is one query: a record lies in one cell and adds (count, displacement, squares) to it, clipped to that
cell's own ellipsoid. Schedules depend on released values, k, the bounds and the noise, never on the records.
"""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from knoll.cluster.centers import PrivateCenters
from knoll.cluster.found import Clusters
from knoll.estimator import FitContext, declared
from knoll.parameters import MOST_CLUSTERS, Whole
from knoll.privacy import Ask, Shares
from knoll.steps import choose
from knoll.steps.axes import rotated_tree_asks
from knoll.steps.choose import GUESS, Choice, choose_k
from knoll.steps.refine import affordable_steps, refine, solve, spare_centres, step_asks, synthetic_points
from knoll.steps.search import search_tree


@dataclass(frozen=True)
class KMeansShares(Shares):
    """Shares of the budget. If there is no rotation, the steps get the share of the axes.

    The search finds the clusters, the steps place the centres: each needs what the other gets. docs/benchmarks.md,
    "K-means utility", measures these shares together.
    """

    root: float = 0.05
    axes: float = 0.12
    tails: float = 0.03
    tree: float = 0.32
    steps: float = 0.48


SHARES = KMeansShares()


@declared
class KMeans(PrivateCenters):
    """K-means under differential privacy, with nothing to tune.

    Parameters
    ----------
    n_clusters : int or None, default=8
        Number of clusters. With None it is chosen from what is released anyway, at no cost.
    {parameters}

    Attributes
    ----------
    {attributes}
    n_clusters_confidence_ : float
        If the number of clusters was chosen: how often it is chosen again when the released noise is redrawn.
    cluster_variances_ : array of shape (n_clusters, n_features)
        Variance of each cluster's records about its mean, per column. Drawn to what is expected where noise is large.

    Notes
    -----
    {releases}

    Examples
    --------
    >>> import knoll
    >>> from sklearn.datasets import make_blobs
    >>> X, _ = make_blobs(20_000, 2, centers=[[-5, 0], [5, 0]], random_state=0)
    >>> model = knoll.KMeans(2, epsilon=1.0, bounds=(-10, 10), random_state=0).fit(X)
    >>> sorted(model.cluster_centers_[:, 0].round(0).tolist())
    [-5.0, 5.0]
    """

    n_clusters: int | None = 8

    _rules: ClassVar = {"n_clusters": Whole(MOST_CLUSTERS, none=True)}
    _published: ClassVar = {**PrivateCenters._published, "n_clusters_confidence_": "", "cluster_variances_": "kd"}

    def _asks_for(self, n_columns: int, k: int | None, shares: KMeansShares = SHARES) -> list[Ask]:
        tree = rotated_tree_asks(n_columns, k or GUESS, (shares.root, shares.axes, shares.tails, shares.tree))
        return [*tree, *step_asks(n_columns, k or choose.MOST, shares.steps)]

    def _search(
        self, context: FitContext, k: int | None, rng: np.random.RandomState, shares: KMeansShares = SHARES
    ) -> Clusters:
        found = search_tree(context, context.grant.split(shares), k or GUESS, rng)
        frame, root, rotation, hedge = found.frame, found.root, found.rotation, found.hedge
        choice = choose_k(found.leaves, hedge, rng) if k is None else Choice(k, 1.0)
        k = choice.k
        steps = affordable_steps(context.grant, frame, root, k)
        spare = spare_centres(k, steps, len(found.leaves.count) / found.seed.mean.shape[1])
        centres = solve(*synthetic_points(found.leaves, hedge, rng), k, rng, spare, len(hedge))
        if rotation is not None:
            centres = rotation.lift(centres, root)
        refined = refine(context.grant.rest, steps, frame, centres, k, (root.lower[0], root.upper[0]))
        turn = np.diag(context.scales) if rotation is None else rotation.axes * context.scales
        if rotation is None:
            at = frame.outside(refined.centres)
            stderr = refined.stderr * context.scales
        else:
            at = context.domain.centre + refined.centres @ rotation.axes * context.scales
            with np.errstate(invalid="ignore"):
                stderr = np.sqrt(np.square(refined.stderr) @ np.square(rotation.axes)) * context.scales
            stderr[~refined.seen] = np.inf
        means = replace(refined, centres=context.domain.clip(at), stderr=stderr).turned(context.domain, turn)
        assert refined.sums is not None
        turned = refined.sums.variance if rotation is None else refined.sums.variance @ np.square(rotation.axes)
        more = {"n_clusters_confidence_": choice.confidence, "cluster_variances_": turned * np.square(context.scales)}
        return Clusters(means, more, each=("cluster_variances_",))
