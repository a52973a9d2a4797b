"""How many clusters, which ones, and how sure: from a released mixture, its tree and redrawn copies, at no cost."""

from typing import Any

import numpy as np

from knoll.morse.overlap import DRAWS, FULL, join
from knoll.morse.tree import MergeTree

RIPPLE = 1.0  # persistence between the Gaussians of cells of one even cloud: less proves no cluster
VIEWS = 0.3  # standard deviation of the log of that, from view to view: overlapping clusters are no deeper than ripples
LIGHT = 0.25  # an island lighter than this part of an average leaf is not a cluster
CLEAR = 3.0  # persistence of a clear valley: that some are deeper still makes no gap between clear ones
DOUBT = 0.1  # a join is judged by this quantile of its redrawn persistence: lower is more careful


def choose_cut(tree: MergeTree, redrawn: list[MergeTree], ripple: float = RIPPLE) -> np.ndarray:
    """Return the joins to undo: those before the largest gap in persistence, which is above `ripple`.

    Only persistence that survives redrawing the noise counts. One even cloud, cut into cells, has valleys of up to
    about one unit between the Gaussians of its cells. So persistence below one unit makes no gap, and there may be only
    one cluster. Gaps are ratios. Valleys above CLEAR are alike: else two groups of clusters would hide the clusters.
    """
    if not len(tree.height):
        return np.empty(0, dtype=int)
    copies = np.array([tree.persistence, *(copy.persistence for copy in redrawn)])
    sure = np.minimum(tree.persistence, np.quantile(copies, DOUBT, axis=0))
    sure = np.where(tree.lighter >= LIGHT / np.count_nonzero(tree.mass), sure, 0.0)
    order = np.argsort(-sure, kind="stable")
    level = np.log(np.clip(np.append(sure[order], 0.0), ripple, CLEAR))
    gaps = level[:-1] - level[1:]
    return order[: int(gaps.argmax()) + 1] if gaps.max() > 0 else order[:0]


def numbers_again(redrawn: list[MergeTree], rng: np.random.RandomState) -> np.ndarray:
    """Return the number of clusters in each redrawn tree, each in another view of how deep a ripple may be."""
    views = RIPPLE * np.exp(VIEWS * rng.standard_normal(len(redrawn)))
    return np.array([len(choose_cut(copy, [], view)) + 1 for copy, view in zip(redrawn, views.tolist(), strict=True)])


def clusters_of(
    mixture: Any, tree: MergeTree, n_clusters: int, errors: np.ndarray | float = 0.0, draws: int = DRAWS
) -> np.ndarray:
    """Return the cluster of each component: hills if there are enough of them, or else by overlap.

    A hill is an island with enough persistence and enough mass. With enough hills, the most prominent ones become
    clusters. With fewer, some cluster is not a hill, and the tree cannot tell which.
    """
    hills = np.flatnonzero((tree.persistence > RIPPLE) & (tree.lighter >= FULL / n_clusters))
    if len(hills) < n_clusters - 1:
        return join(mixture, n_clusters, errors, draws)
    apart = hills[np.argsort(-tree.prominence[hills], kind="stable")[: n_clusters - 1]]
    return tree.without(apart)[: len(mixture.weights)]


def confidence(tree: MergeTree, redrawn: list[MergeTree], apart: np.ndarray, by: str) -> np.ndarray:
    """Return, for each join, how often it stays on its side of the cut when the released noise is redrawn.

    The cut is the geometric middle between two scores: of the weakest undone join and of the strongest other join.
    """
    if not len(tree.height):
        return np.empty(0)
    score = tree.scores(by)
    undone = np.zeros(len(score), dtype=bool)
    undone[apart] = True
    low = float(score[~undone].max(initial=-np.inf))
    if not undone.any() or not np.isfinite(low):
        return np.mean([(copy.persistence > RIPPLE) == undone for copy in redrawn], axis=0)
    high = float(score[undone].min())
    middle = (low + high) / 2 if by == "height" or min(low, high) <= 0 else float(np.sqrt(low * high))
    return np.mean([(copy.scores(by) > middle) == undone for copy in redrawn], axis=0)


def agreement(tree: MergeTree, clusters: np.ndarray, redrawn: list[np.ndarray]) -> np.ndarray:
    """Return, for each join, how often its two ends stay in one cluster, or apart, when the noise is redrawn.

    Clusters are those of the leaves, here and in the redrawn copies.
    """
    i, j = tree.ends.T
    apart = clusters[i] != clusters[j]
    return np.mean([(copy[i] != copy[j]) == apart for copy in redrawn], axis=0)
