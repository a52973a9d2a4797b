"""Pure functions of a released mixture: gradient flow, saddles, merge tree, overlap. Nothing here sees a record."""

from knoll.morse.choose import agreement, choose_cut, clusters_of, confidence, numbers_again
from knoll.morse.landscape import Landscape, landscape
from knoll.morse.overlap import join
from knoll.morse.tree import MergeTree, merge_tree

__all__ = [
    "Landscape",
    "MergeTree",
    "agreement",
    "choose_cut",
    "clusters_of",
    "confidence",
    "join",
    "landscape",
    "merge_tree",
    "numbers_again",
]
