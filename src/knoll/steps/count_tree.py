"""Growing a tree of released counts: a node is split only if its count stands out from the noise."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from knoll.privacy import Ask, Grant
from knoll.queries import SplitTree, TreeCounts
from knoll.queries.query import COUNT_WEIGHT

SPLIT_NOISE = 8.0
"""A node is split if its released count exceeds this many standard errors of a count.

Lower, the tree splits noise; higher, it leaves small clusters together. docs/benchmarks.md measures no other value.
"""


@dataclass(frozen=True)
class CountedLeaves:
    """Leaves of a grown tree, each with its last released count, and the standard error of a count.

    `total` is the released number of all records, also of those whose leaves were left out.
    """

    nodes: list[int]
    counts: np.ndarray
    stderr: float
    total: float


def grow_ask(levels: int, share: float) -> Ask:
    """Return what growing a tree releases."""
    bound = (float(COUNT_WEIGHT), float(COUNT_WEIGHT))
    return Ask(1, 2**levels, levels, share=share / levels, bound=bound)


def grow_by_counts(
    grant: Grant, tree: SplitTree, levels: int, split: Callable[[int, int], tuple[int, int]]
) -> CountedLeaves:
    """Split large nodes, level by level, and release the counts of their children.

    Parameters
    ----------
    grant : Grant
        For all levels together.
    tree : SplitTree
        A tree with one leaf.
    levels : int
        Number of levels, which is public. Every level costs the same, whether or not a node is split.
    split : callable (node, level) -> (left, right)
        Splits a node of the tree.
    """
    done: list[tuple[int, float]] = []
    growing: list[tuple[int, float]] = [(0, np.inf)]
    noise, total = 0.0, 0.0
    for level, part in enumerate(grant.even(levels)):
        large = [node for node, count in growing if count > SPLIT_NOISE * noise]
        done += [(node, count) for node, count in growing if count <= SPLIT_NOISE * noise]
        children = [child for node in large for child in split(node, level)]
        tree.open(children or [0])
        released = part.release(TreeCounts(tree))
        noise = float(released.stderr.max())
        total = float(released.value.sum()) if level == 0 else total
        growing = list(zip(children, released.value.tolist(), strict=True)) if children else []
    leaves = [(node, count) for node, count in done + growing if count > noise]
    if not leaves:
        leaves = [max(done + growing, key=lambda leaf: leaf[1], default=(0, 0.0))]
    tree.open([node for node, _ in leaves])
    counts = np.array([max(count, 0.0) for _, count in leaves])
    return CountedLeaves([node for node, _ in leaves], counts, noise, total)
