"""The merge tree of a landscape (Algorithm 4 of the paper), the persistence of its hills, and cuts.

Lower a water level from the highest peak down. Peaks appear as islands, and islands join at saddles. The order and the
levels of the joins are those of the minimum spanning tree of the graph of saddles. So the tree is a list of its edges.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree

SLOPE = 0.3  # weight of the higher island's rise in `prominence`: separates shoulders, which have no persistence


@dataclass(frozen=True)
class MergeTree:
    """Edges of the tree, the first joining first.

    Attributes
    ----------
    tops : array of shape (n,)
        Heights log p of the leaves.
    mass : array of shape (n,)
        Share of the mixture's weight that belongs to each leaf.
    edge : integer array of shape (n - 1,)
        Which of the edges of the graph the edges of the tree are.
    ends : integer array of shape (n - 1, 2)
        The leaves on both sides of the saddle at which two islands join.
    height : array of shape (n - 1,)
        Heights log p at which they join, falling.
    linkage : array of shape (n - 1, 4)
        The same as SciPy's dendrogram: islands, distance (of `height` below the highest top), number of leaves.
    persistence : array of shape (n - 1,)
        How far the lower of the two islands rises above the level at which they join.
    prominence : array of shape (n - 1,)
        (rise of the lower island above that level + SLOPE x rise of the higher one) x square root of the lighter mass.
        This is in units of its statistical error, up to a constant: the log density of a hill of n records is known
        to about n^-1/2. The second part ranks shoulders, which have no persistence: one far down a slope is nearer to
        being an island than one beside the summit.
    lighter : array of shape (n - 1,)
        Mass of the lighter island.
    """

    tops: np.ndarray
    mass: np.ndarray
    edge: np.ndarray
    ends: np.ndarray
    height: np.ndarray
    linkage: np.ndarray
    persistence: np.ndarray
    prominence: np.ndarray
    lighter: np.ndarray

    def cut(self, n_clusters: int, by: str = "prominence") -> np.ndarray:
        """Return the cluster of each leaf when the tree is cut into `n_clusters`, at most the number of leaves.

        Parameters
        ----------
        n_clusters : int
            Clusters wanted.
        by : {"prominence", "persistence", "height"}
            Which joins are undone first. ``"height"`` is the paper's Algorithm 4: undo the last joins. It separates a
            far and tiny island before two large islands with a deep valley between them; the others do not.
        """
        return self.without(self.strongest(n_clusters - 1, by))

    def scores(self, by: str) -> np.ndarray:
        """Return the score of each join; high scores are undone first. Islands without weight never are."""
        score = -self.height if by == "height" else {"prominence": self.prominence, "persistence": self.persistence}[by]
        return np.where(self.lighter > 0, score, -np.inf)

    def strongest(self, joins: int, by: str = "prominence") -> np.ndarray:
        """Return the joins to undo first."""
        order = np.argsort(-self.scores(by), kind="stable")
        return order[: int(np.clip(joins, 0, np.count_nonzero(self.lighter > 0)))]

    def without(self, apart: np.ndarray) -> np.ndarray:
        """Return the cluster of each leaf when these joins are undone; numbered by falling mass."""
        n = len(self.tops)
        joined = np.delete(self.ends, apart, axis=0).astype(np.int32)
        graph = coo_array((np.ones(len(joined)), (joined[:, 0], joined[:, 1])), shape=(n, n))
        labels = connected_components(graph, directed=False)[1]
        mass = np.bincount(labels, self.mass)
        rank = np.empty(len(mass), dtype=int)
        rank[np.argsort(-mass, kind="stable")] = np.arange(len(mass))
        return rank[labels]


def merge_tree(tops: np.ndarray, mass: np.ndarray, ends: np.ndarray, height: np.ndarray) -> MergeTree:
    """Build the tree.

    Parameters
    ----------
    tops, mass : arrays of shape (n,)
        Heights of the leaves, and the weight that belongs to each.
    ends, height : arrays of shape (m, 2) and (m,)
        Edges of a connected graph: pairs of leaves, and the highest level at which each is known to be joined.
    """
    n = len(tops)
    order = np.argsort(-height, kind="stable")
    # ranks as distances: exact and positive; the spanning tree depends on their order only
    kept = minimum_spanning_tree(_lightest(ends[order], n)).tocoo()
    edge = order[np.sort(np.rint(kept.data).astype(int)) - 1]
    parts = _join(tops, mass, ends[edge], height[edge])
    return MergeTree(tops, mass, edge, ends[edge], height[edge], *parts)


def _lightest(ends: np.ndarray, n: int) -> coo_array:
    """The graph with rank + 1 as weights, the first (highest) of parallel edges kept."""
    low, high = ends.min(axis=1), ends.max(axis=1)
    _, first = np.unique(low * n + high, return_index=True)
    where = low[first].astype(np.int32), high[first].astype(np.int32)  # spanning trees of older scipy want 32 bits
    return coo_array((first + 1.0, where), shape=(n, n)).tocsr()


def _join(tops: np.ndarray, mass: np.ndarray, ends: np.ndarray, height: np.ndarray) -> tuple[np.ndarray, ...]:
    """Join islands edge by edge: one pass over the n - 1 edges of the tree."""
    n, m = len(tops), len(ends)
    island, top, weight, size = np.arange(n), tops.tolist(), mass.tolist(), [1] * n
    linkage, persistence, rise, lighter = np.empty((m, 4)), np.empty(m), np.empty(m), np.empty(m)
    summit = max(top)
    for step, ((i, j), level) in enumerate(zip(ends.tolist(), height.tolist(), strict=True)):
        a, b = sorted((int(island[i]), int(island[j])))
        persistence[step] = max(0.0, min(top[a], top[b]) - level)
        rise[step] = max(0.0, max(top[a], top[b]) - level)
        lighter[step] = min(weight[a], weight[b])
        linkage[step] = a, b, max(0.0, summit - level), size[a] + size[b]
        island[(island == a) | (island == b)] = n + step
        top.append(max(top[a], top[b]))
        weight.append(weight[a] + weight[b])
        size.append(size[a] + size[b])
    # 1e-12: of components at one place, the heavier ones are separated first
    return linkage, persistence, (persistence + SLOPE * rise + 1e-12) * np.sqrt(lighter), lighter
