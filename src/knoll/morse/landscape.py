"""Peaks, saddles and merge tree of a mixture: everything the paper's dynamical processing finds, in one call."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from knoll.morse.field import Field
from knoll.morse.flow import ascend, basins, gather
from knoll.morse.saddles import edges, find_saddles
from knoll.morse.tree import MergeTree, merge_tree

ROUNDS = 3  # saddles may reveal further peaks, whose saddles are looked for in turn


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
        In which order and at which level peaks join.
    """

    mixture: Any
    peaks: np.ndarray
    home: np.ndarray
    saddles: np.ndarray
    saddle_heights: np.ndarray
    saddle_ends: np.ndarray
    tree: MergeTree

    def flow(self, points: np.ndarray) -> np.ndarray:
        """Return the peak to which each point flows."""
        field = Field(self.mixture)
        return basins(field, field.inside(points), field.inside(self.peaks))


def landscape(mixture: Any) -> Landscape:
    """Find the peaks and saddles of a mixture and join them into a tree.

    Parameters
    ----------
    mixture : Mixture
        Released parameters.
    """
    field = Field(mixture)
    peaks, home = gather(field, ascend(field, field.means))
    for _ in range(ROUNDS):
        known = len(peaks)
        peaks, saddles, ways = find_saddles(field, peaks, home)
        if len(peaks) == known:
            break
    heights = field.height(peaks)
    mass = np.bincount(home, mixture.weights, minlength=len(peaks))
    tree = merge_tree(heights, mass, *edges(saddles, ways, len(peaks)))
    return Landscape(
        mixture, field.outside(peaks), home, field.outside(saddles.at), saddles.height, saddles.ends, tree
    )
