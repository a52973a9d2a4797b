"""What Morse clustering publishes of sub-clusters and their landscape, and how many sub-clusters it looks for."""

from typing import Any

import numpy as np

from knoll.cluster.found import Clusters
from knoll.estimator import FitContext
from knoll.morse import Landscape
from knoll.steps.means import CellMeans
from knoll.steps.subclusters import Subclusters


def default_subclusters(n_clusters: int | None, n_columns: int) -> int:
    """Return how many sub-clusters to look for.

    Up to three columns there are many, since shapes bend; beyond there are fewer, since noise matters more. At least 6
    was settled by made-up clusters: docs/benchmarks.md, "Morse clustering" (`--only table2`).
    """
    if n_columns <= 3:
        return 24 if n_clusters is None else max(24, 3 * n_clusters)
    return 12 if n_clusters is None else max(6, 2 * n_clusters)


def described(
    cells: Subclusters, found: Landscape, clusters: np.ndarray, more: dict[str, Any], context: FitContext
) -> Clusters:
    """Return the fitted attributes of the landscape, and the clusters' means and sizes."""
    mixture, tree = cells.mixture, found.tree
    labels = clusters[: mixture.n_components]
    member = np.eye(int(labels.max()) + 1)[:, labels]
    counts = member @ cells.counts
    part = member * cells.counts / np.maximum(counts, 1e-300)[:, None]
    means = CellMeans(
        part @ mixture.means,
        np.sqrt(part**2 @ cells.means_stderr**2),
        counts,
        np.sqrt(member @ cells.counts_stderr**2),
        np.ones(len(counts), dtype=bool),
    )
    bars = cells.bars(labels, context.domain, means.centres, counts, pure=context.grant.norm == 1)
    landscape = {
        "weights_": mixture.weights, "means_": mixture.means, "covariances_": mixture.covariances,
        "component_clusters_": labels, "peak_clusters_": clusters[found.leaf], "peaks_": found.peaks,
        "saddles_": found.saddles, "saddle_heights_": found.saddle_heights, "saddle_ends_": found.saddle_ends,
        "dendrogram_": tree.linkage, "merge_heights_": tree.height, "merge_persistence_": tree.persistence,
    }  # fmt: skip
    refers = ("component_clusters_", "peak_clusters_")
    return Clusters(means, {**landscape, **more}, bars=bars, refers=refers)
