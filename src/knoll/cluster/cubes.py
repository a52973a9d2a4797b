"""DPCube: recursive cubes, weighted k-means, noisy averaging (Balcan, Dick, Liang, Mou, Zhang 2017).

    project records to a low dimension at random
    from the root cube down: release the counts of the current cubes + noise; halve the large cubes, axis by axis
    run weighted k-means on the middles of the cubes, weighted by their counts: k cells
    release (count, sum) per cell in the original space + noise: the centres

Where we differ. Projected records are clipped to a public radius again. Weighted k-means on the released cubes picks
the cells; the paper's private swaps spend more budget. Count and sum of the averaging are one joint query.
"""

from dataclasses import KW_ONLY, replace
from typing import ClassVar

import numpy as np

from knoll.cluster.centers import PrivateCenters
from knoll.cluster.found import Clusters
from knoll.estimator import FitContext, declared
from knoll.numeric.weighted import weighted_kmeans
from knoll.parameters import PRESET, Whole
from knoll.privacy import Ask
from knoll.queries import Box, CellMoments, Nearest, Projected, SplitTree, random_projection
from knoll.queries.query import UNIT
from knoll.steps.centres import with_variances
from knoll.steps.count_tree import grow_ask, grow_by_counts
from knoll.steps.means import cell_means, means_ask

PAPER_DIMENSIONS, PAPER_DEPTH = 8, 24  # what `preset="paper"` uses
COUNTS_SHARE = 0.5  # for the cubes, the rest for the averaging: better cells against better means in them


@declared
class Cubes(PrivateCenters):
    """K-means on recursively halved cubes of a projection, under differential privacy.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    projection : int, optional
        Dimensions of the cubes. By default all up to 8 columns, else a random projection to 8.
    max_depth : int, default=24
        Number of halvings from the root to the smallest cube. All levels share half of the budget equally. The
        averaging gets the other half.
    preset : {"default", "paper"}, default="default"
        "paper": a projection to 8 dimensions and 24 halvings. The parameters above are then ignored.
    {parameters}

    Attributes
    ----------
    {attributes}

    Notes
    -----
    {releases}

    A record lies in exactly one cube of each level.

    References
    ----------
    Balcan, Dick, Liang, Mou, Zhang (2017). Differentially private clustering in high-dimensional Euclidean spaces.

    Examples
    --------
    >>> import knoll
    >>> from sklearn.datasets import make_blobs
    >>> X, _ = make_blobs(20_000, 2, centers=[[-5, 0], [5, 0]], random_state=0)
    >>> model = knoll.Cubes(2, epsilon=1.0, bounds=(-10, 10), random_state=0).fit(X)
    >>> sorted(model.cluster_centers_[:, 0].round(0).tolist())
    [-5.0, 5.0]
    """

    n_clusters: int = 8
    _: KW_ONLY
    projection: int | None = None
    max_depth: int = 24
    preset: str = "default"

    _rules: ClassVar = {"preset": PRESET, "max_depth": Whole(200), "projection": Whole(10_000, none=True)}

    def _asks_for(self, n_columns: int, k: int) -> list[Ask]:
        depth = PAPER_DEPTH if self.preset == "paper" else self.max_depth
        return [grow_ask(depth, COUNTS_SHARE), means_ask(n_columns, k, share=1 - COUNTS_SHARE)]

    def _search(self, context: FitContext, k: int, rng: np.random.RandomState) -> Clusters:
        domain, scales = context.domain, context.scales
        paper = self.preset == "paper"
        depth = PAPER_DEPTH if paper else self.max_depth
        p = (not paper and self.projection) or min(PAPER_DIMENSIONS, domain.n_columns)
        low = (
            random_projection(domain, p, rng, scales) if p < domain.n_columns or not isinstance(domain, Box) else domain
        )
        tree = SplitTree(low)
        cubes = {0: np.tile([[-float(UNIT)], [float(UNIT)]], p)}

        def halve(node: int, level: int) -> tuple[int, int]:
            axis = level % p
            middle = cubes[node][:, axis].mean()
            children = tree.split(node, axis, middle)
            for child, side in zip(children, (1, 0), strict=True):
                cubes[child] = cubes[node].copy()
                cubes[child][side, axis] = middle
            return children

        leaves = grow_by_counts(context.grant.part(COUNTS_SHARE), tree, depth, halve)
        middles = np.array([cubes[node].mean(axis=0) for node in leaves.nodes]) * low.steps + low.centre
        unit = scales if low is domain else np.ones(p)
        centres, labels = weighted_kmeans(middles / unit, leaves.counts, k, rng, restarts=10)
        cells = Nearest(centres * unit, low, scales if low is domain else None)
        moments = context.grant.release(CellMoments(cells, domain, scales))
        otherwise = np.tile(domain.centre, (k, 1)) if isinstance(low, Projected) else centres * unit
        means = cell_means(moments, domain.centre, domain, otherwise=otherwise)
        within = np.array([np.ptp(cubes[node], axis=0) for node in leaves.nodes]) * low.steps / unit
        variance = cell_variance(middles / unit, within, leaves.counts, centres, labels)
        if not isinstance(low, Projected):
            return Clusters(means.with_measured(domain, scales, at=centres * unit, variance=variance))
        alike = np.tile(variance.mean(axis=1, keepdims=True), domain.n_columns)  # the projection is a random one
        seen = means.with_measured(domain, scales, variance=alike)
        assert seen.measured is not None
        return Clusters(replace(seen, measured=replace(seen.measured, at=centres, view=low.matrix)))


def cell_variance(
    middles: np.ndarray, within: np.ndarray, counts: np.ndarray, centres: np.ndarray, labels: np.ndarray
) -> np.ndarray:
    """Return the variances of cells from the middles and widths of their cubes, in which records are taken for even."""
    spread = with_variances(centres, middles, np.maximum(counts, 1e-9), labels).variance
    cubes = [np.square(within[labels == i]) for i in range(len(centres))]
    inside = np.array([each.mean(axis=0) if len(each) else np.zeros(centres.shape[1]) for each in cubes])
    return spread + inside / 12
