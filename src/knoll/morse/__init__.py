"""Pure functions of a released mixture: gradient flow, saddles, merge tree. Nothing here sees a record."""

from knoll.morse.choose import choose_cut, confidence
from knoll.morse.landscape import Landscape, landscape
from knoll.morse.tree import MergeTree, merge_tree

__all__ = ["Landscape", "MergeTree", "choose_cut", "confidence", "landscape", "merge_tree"]
