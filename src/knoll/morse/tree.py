"""The merge tree of a landscape (Algorithm 4 of the paper), the persistence of its hills, and cuts.

Lower a water level from the highest peak down: peaks appear as islands, and at saddles islands join. Joining order and
levels are those of the minimum spanning tree of the graph of saddles, so the tree is a list of its edges, in order.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree


@dataclass(frozen=True)
class MergeTree:
    """Edges of the tree, the first joining first.

    Attributes
    ----------
    peaks : array of shape (n,)
        Heights log p of the peaks.
    mass : array of shape (n,)
        Share of the mixture's weight that belongs to each peak.
    ends : integer array of shape (n - 1, 2)
        The peaks on both sides of the saddle at which two islands join.
    height : array of shape (n - 1,)
        Heights log p at which they join, falling.
    linkage : array of shape (n - 1, 4)
        The same as SciPy's dendrogram: islands, distance (of `height` below the highest peak), number of peaks.
    persistence : array of shape (n - 1,)
        How far the lower of the two islands rises above the level at which they join.
    prominence : array of shape (n - 1,)
        The smaller, over the two islands, of mass x (1 - density at the saddle / density at the island's peak).
    """

    peaks: np.ndarray
    mass: np.ndarray
    ends: np.ndarray
    height: np.ndarray
    linkage: np.ndarray
    persistence: np.ndarray
    prominence: np.ndarray

    def cut(self, n_clusters: int, by: str = "prominence") -> np.ndarray:
        """Return the cluster of each peak when the tree is cut into so many, or as many as there are peaks.

        Parameters
        ----------
        n_clusters : int
            Clusters wanted.
        by : {"prominence", "persistence", "height"}
            What keeps islands apart. ``"height"`` is the paper's Algorithm 4: undo the last joins. It gives a far
            and tiny island a cluster of its own before a deep valley between two large ones; the others do not.
        """
        score = -self.height if by == "height" else getattr(self, by)
        apart = np.argsort(-score, kind="stable")[: max(0, n_clusters - 1)]
        return self.without(apart)

    def without(self, apart: np.ndarray) -> np.ndarray:
        """Return the cluster of each peak when these joins are undone; numbered by falling mass."""
        n = len(self.peaks)
        joined = np.delete(self.ends, apart, axis=0)
        graph = coo_array((np.ones(len(joined)), (joined[:, 0], joined[:, 1])), shape=(n, n))
        labels = connected_components(graph, directed=False)[1]
        mass = np.bincount(labels, self.mass)
        rank = np.empty(len(mass), dtype=int)
        rank[np.argsort(-mass, kind="stable")] = np.arange(len(mass))
        return rank[labels]


def merge_tree(peaks: np.ndarray, mass: np.ndarray, ends: np.ndarray, height: np.ndarray) -> MergeTree:
    """Build the tree.

    Parameters
    ----------
    peaks, mass : arrays of shape (n,)
        Heights of the peaks, and the weight that belongs to each.
    ends, height : arrays of shape (m, 2) and (m,)
        Edges of the graph: pairs of peaks, and the highest level at which each is known to be joined.
    """
    n = len(peaks)
    order = np.argsort(-height, kind="stable")
    # distances as ranks: exact, positive, and the spanning tree is that of any increasing function of them
    kept = minimum_spanning_tree(_lightest(ends[order], n)).tocoo()
    chosen = np.sort(order[np.rint(kept.data).astype(int) - 1], kind="stable")
    chosen = chosen[np.argsort(-height[chosen], kind="stable")]
    ends, height = ends[chosen], height[chosen]
    linkage, persistence, prominence = _join(peaks, mass, ends, height)
    return MergeTree(peaks, mass, ends, height, linkage, persistence, prominence)


def _lightest(ends: np.ndarray, n: int) -> coo_array:
    """The graph with rank + 1 as weights, the first (highest) of parallel edges kept."""
    low, high = ends.min(axis=1), ends.max(axis=1)
    _, first = np.unique(low * n + high, return_index=True)
    return coo_array((first + 1.0, (low[first], high[first])), shape=(n, n)).tocsr()


def _join(peaks: np.ndarray, mass: np.ndarray, ends: np.ndarray, height: np.ndarray) -> tuple[np.ndarray, ...]:
    """Join islands edge by edge; one pass over the n - 1 edges of the tree."""
    n = len(peaks)
    island, top, weight, size = np.arange(n), peaks.tolist(), mass.tolist(), [1] * n
    linkage, persistence, prominence = np.empty((len(ends), 4)), np.empty(len(ends)), np.empty(len(ends))
    summit = max(top)
    for step, ((i, j), level) in enumerate(zip(ends.tolist(), height.tolist(), strict=True)):
        a, b = sorted((int(island[i]), int(island[j])))
        rise = [max(0.0, top[a] - level), max(0.0, top[b] - level)]
        persistence[step] = min(rise)
        prominence[step] = min(-np.expm1(-rise[0]) * weight[a], -np.expm1(-rise[1]) * weight[b])
        linkage[step] = a, b, max(0.0, summit - level), size[a] + size[b]
        island[(island == a) | (island == b)] = n + step
        top.append(max(top[a], top[b]))
        weight.append(weight[a] + weight[b])
        size.append(size[a] + size[b])
    return linkage, persistence, prominence
