"""DPTree: a coreset from a tree of random hyperplanes (Chang and Kamath 2021, Google's LSH tree).

    hash every record by the sides of random hyperplanes that it lies on
    from the root down: release the counts of the current nodes + noise; split large nodes by the next hyperplane
    release the (count, sum) of every leaf + noise: leaf means, weighted by their counts, are the coreset
    run weighted k-means on the coreset

Where we differ. Leaf counts and sums are one joint query. A node is split if its count is many times the noise, not if
it has a fixed number of points. Hyperplanes pass through the middle of the domain, never through the middle of the
records.
"""

from dataclasses import KW_ONLY, replace
from typing import ClassVar

import numpy as np

from knoll.cluster.centers import PrivateCenters
from knoll.cluster.found import Clusters
from knoll.estimator import FitContext, declared
from knoll.numeric.made_up import Measured
from knoll.numeric.weighted import weighted_kmeans
from knoll.parameters import PRESET, Whole
from knoll.privacy import Ask
from knoll.queries import CellMoments, SplitTree, random_hyperplanes
from knoll.steps.count_tree import grow_ask, grow_by_counts
from knoll.steps.means import CellMeans, cell_means, means_ask

PAPER_DEPTH = 20  # what `preset="paper"` uses
CONE = 0.5  # standard deviation of records along a cone, over the distance of their mean from its tip: about even
COUNTS_SHARE = 0.8  # for the tree, the rest for the means of its leaves: the tree has many levels to pay for


@declared
class LSHTree(PrivateCenters):
    """K-means on a coreset of the leaves of a random hyperplane tree, under differential privacy.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    max_depth : int, default=20
        Number of hyperplanes from the root to the deepest leaf. All levels share 80 % of the budget equally. The leaf
        means get 20 %.
    preset : {"default", "paper"}, default="default"
        "paper": the published depth, 20. The parameters above are then ignored.
    {parameters}

    Attributes
    ----------
    {attributes}

    Notes
    -----
    {releases}

    A record lies in exactly one node of each level. Hyperplanes are public randomness.

    References
    ----------
    Chang, Kamath (2021). Practical differentially private clustering.

    Examples
    --------
    >>> import knoll
    >>> from sklearn.datasets import make_blobs
    >>> X, _ = make_blobs(20_000, 2, centers=[[-5, 0], [5, 0]], random_state=0)
    >>> model = knoll.LSHTree(2, epsilon=1.0, bounds=(-10, 10), random_state=0).fit(X)
    >>> sorted(model.cluster_centers_[:, 0].round(0).tolist())
    [-5.0, 5.0]
    """

    n_clusters: int = 8
    _: KW_ONLY
    max_depth: int = 20
    preset: str = "default"

    _rules: ClassVar = {"preset": PRESET, "max_depth": Whole(64)}

    def _asks_for(self, n_columns: int, k: int) -> list[Ask]:
        depth = PAPER_DEPTH if self.preset == "paper" else self.max_depth
        return [grow_ask(depth, COUNTS_SHARE), means_ask(n_columns, 2**depth, share=1 - COUNTS_SHARE)]

    def _search(self, context: FitContext, k: int, rng: np.random.RandomState) -> Clusters:
        domain, scales = context.domain, context.scales
        depth = PAPER_DEPTH if self.preset == "paper" else self.max_depth
        hashes = random_hyperplanes(domain, depth, rng, scales)
        tree = SplitTree(hashes)

        def by_hyperplane(node: int, level: int) -> tuple[int, int]:
            return tree.split(node, axis=level, threshold=0.0)

        grown = grow_by_counts(context.grant.part(COUNTS_SHARE), tree, depth, by_hyperplane)
        moments = context.grant.release(CellMoments(tree, domain, scales))
        middle = np.tile(domain.centre, (tree.n_cells, 1))
        leaves = cell_means(moments, domain.centre, domain, otherwise=middle).with_measured(domain, scales)
        return Clusters(merge_cells(leaves, k, scales, rng, grown.total))


def merge_cells(
    leaves: CellMeans, k: int, scales: np.ndarray, rng: np.random.RandomState, total: float = 0.0
) -> CellMeans:
    """Run weighted k-means on the means of cells, and compute the noise of the clusters from that of the cells.

    A cluster's mean is the average of its cells' means, weighted by count. Noise is independent between cells. Of
    `total` records, those that no cell shows belong to some cluster too.
    """
    weights = np.where(leaves.seen, leaves.counts, 0.0)
    centres, labels = weighted_kmeans(leaves.centres / scales, weights, k, rng, restarts=10)
    counts, errors = np.zeros(k), np.zeros(k)
    variance = np.zeros(centres.shape)
    used = np.flatnonzero(weights > 0)
    np.add.at(counts, labels[used], weights[used])
    np.add.at(errors, labels[used], leaves.counts_stderr[used] ** 2)
    np.add.at(variance, labels[used], (weights[used, None] * leaves.stderr[used]) ** 2)
    seen = counts > 0
    stderr = np.full(centres.shape, np.inf)
    stderr[seen] = np.sqrt(variance[seen]) / counts[seen, None]
    noise = float(leaves.counts_stderr.max())
    measured = None
    if leaves.measured is not None:
        cones = replace(leaves.measured, roots=cone_roots(leaves.measured))
        measured = cones.of_groups(used, labels[used]).with_missing(total - float(weights.sum()))
    return CellMeans(centres * scales, stderr, counts, np.maximum(np.sqrt(errors), noise), seen, measured)


def cone_roots(leaves: Measured) -> np.ndarray:
    """Guess the roots of the covariances of leaves: hyperplanes through the middle cut cones, which are long."""
    length = np.linalg.norm(leaves.mean, axis=1)
    along = leaves.mean / np.maximum(length, 1e-300)[:, None]
    round_part = np.einsum("mi,ij->mij", np.sqrt(leaves.variance), np.eye(leaves.mean.shape[1]))
    return round_part + CONE * length[:, None, None] * along[:, :, None] * along[:, None, :]
