"""Peaks, saddles and merge tree of a mixture: everything the paper's dynamical processing finds, in one call."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from knoll.morse.field import Field
from knoll.morse.flow import ascend, basins, gather
from knoll.morse.saddles import Saddles, find_saddles, with_ways
from knoll.morse.strings import MANY
from knoll.morse.tree import MergeTree, merge_tree

ROUNDS = 3  # saddles may reveal further peaks, whose saddles need another round


@dataclass(frozen=True)
class Landscape:
    """Peaks, saddles and merge tree of a mixture.

    Attributes
    ----------
    mixture : Mixture
        The mixture.
    peaks : array of shape (n_peaks, n_columns)
        Stable points of the flow.
    home : integer array of shape (n_components,)
        The peak to which each component's mean flows.
    saddles : array of shape (n_saddles, n_columns)
        Transition points between peaks.
    saddle_heights : array of shape (n_saddles,)
        Log density there.
    saddle_ends : integer array of shape (n_saddles, 2)
        The two peaks that each joins.
    tree : MergeTree
        In which order and at which level components join. Its first leaves are the components. Of a peak's components,
        the one with the highest mean stands on the peak. The others stand on its slope, at their means, and join at
        once, without persistence. After them come leaves for peaks to which no mean flows.
    leaf : integer array of shape (n_peaks,)
        The leaf of the tree that stands on each peak.
    passes : array of shape (n_leaves - 1, n_columns)
        Where the joins of the tree happen.
    """

    mixture: Any
    peaks: np.ndarray
    home: np.ndarray
    saddles: np.ndarray
    saddle_heights: np.ndarray
    saddle_ends: np.ndarray
    tree: MergeTree
    leaf: np.ndarray
    passes: np.ndarray

    def flow(self, points: np.ndarray) -> np.ndarray:
        """Return the peak to which each point flows."""
        field = Field(self.mixture)
        return basins(field, field.inside(points), field.inside(self.peaks))

    def redrawn(self, mixture: Any) -> MergeTree:
        """Return the tree of another, near mixture, whose peaks and saddles are taken to be at the same places.

        This is right to first order: at a point of zero slope, moving the point does not change the height. Joins keep
        the order of this landscape's tree, so they can be compared one by one.
        """
        tops = mixture.log_density(self._tops())
        again = merge_tree(tops, self.tree.mass, self.tree.ends, mixture.log_density(self.passes))
        back = np.argsort(again.edge)
        return MergeTree(
            again.tops, again.mass, again.edge[back], again.ends[back], again.height[back], again.linkage,
            again.persistence[back], again.prominence[back], again.lighter[back],
        )  # fmt: skip

    def of_leaves(self, clusters: np.ndarray) -> np.ndarray:
        """Return the cluster of each leaf, from those of the components. A peak without any takes its owner's."""
        field, known = Field(self.mixture), np.empty(len(self.tree.tops), dtype=int)
        known[self.leaf] = clusters[field.owner(field.inside(self.peaks))]
        known[: len(clusters)] = clusters
        return known

    def _tops(self) -> np.ndarray:
        """Where the leaves stand."""
        k = len(self.home)
        tops = np.vstack([self.mixture.means, np.empty((len(self.tree.tops) - k, self.mixture.means.shape[1]))])
        tops[self.leaf] = self.peaks
        return tops


@threadpool_limits.wrap(limits=1, user_api="blas")  # small matrices: threads would only wait for each other
def landscape(mixture: Any) -> Landscape:
    """Find the peaks and saddles of a mixture and join its components into a tree.

    Parameters
    ----------
    mixture : Mixture
        Released parameters.

    Examples
    --------
    >>> from knoll.mixture import Mixture
    >>> found = landscape(Mixture([0.5, 0.5], [[-2.0], [2.0]], [[[1.0]], [[1.0]]]))
    >>> found.saddles.round(6) + 0.0
    array([[0.]])
    >>> found.tree.cut(2)
    array([0, 1])
    """
    field = Field(mixture)
    peaks, home = gather(field, ascend(field, field.means))
    for _ in range(ROUNDS):
        known = len(peaks)
        peaks, saddles, ways = find_saddles(field, peaks, home)
        if len(peaks) == known or field.n_components > MANY:
            break
    edges = with_ways(saddles, ways, len(peaks))
    leaf, tree, where = _rooted(field, mixture.weights, peaks, home, edges)
    return Landscape(
        mixture,
        field.outside(peaks),
        home,
        field.outside(saddles.at),
        saddles.height,
        saddles.ends,
        tree,
        leaf,
        field.outside(where[tree.edge]),
    )


def _rooted(
    field: Field, weights: np.ndarray, peaks: np.ndarray, home: np.ndarray, edges: Saddles
) -> tuple[np.ndarray, MergeTree, np.ndarray]:
    """Return the leaf of each peak, the tree, and the places of the graph's edges."""
    k = field.n_components
    at_means, at_peaks = field.height(field.means), field.height(peaks)
    by_height = np.lexsort((-at_means, home))
    leaf = np.full(len(peaks), -1)
    owned, first = np.unique(home[by_height], return_index=True)
    leaf[owned] = by_height[first]
    orphans = np.flatnonzero(leaf < 0)
    leaf[orphans] = k + np.arange(len(orphans))
    tops = np.concatenate([at_means, np.empty(len(orphans))])
    tops[leaf] = at_peaks
    mass = np.concatenate([weights, np.zeros(len(orphans))])
    slope = np.setdiff1d(np.arange(k), leaf)
    ends = np.vstack([leaf[edges.ends], np.column_stack([leaf[home[slope]], slope])])
    height = np.concatenate([edges.height, np.minimum(at_means[slope], at_peaks[home[slope]])])
    where = np.vstack([edges.at, field.means[slope]])
    return leaf, merge_tree(tops, mass, ends, height), where
