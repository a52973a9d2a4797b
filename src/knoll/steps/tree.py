"""A tree of released shapes. For each cell it tells how many records there are, where, and how far they spread.

root:   count, mean and variance of all records, within the public bounds
tails:  a core, and a cell for each side of each column where the bounds are far from the mean (rare outlying groups)
levels: halve the cells that are large and wide, at the mean of their widest column;
        release the shapes of all cells, old and new, and average them with what is known
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from knoll.privacy import Ask, Grant
from knoll.queries import Frame, SplitTree
from knoll.steps.shapes import ShapeRequest, Shapes, ellipsoid

# Counts weigh as much as displacements here, since they decide what is split. `bias`: see `ellipsoid`.
ROOT = ShapeRequest("count, mean and variance of all records", count=1.0, squares=0.7, bias=0.0)
TREE = ShapeRequest("count, mean and variance of tree cells", count=1.0, squares=0.5, bias=1e-2)
# docs/benchmarks.md, "K-means utility", measures these together; it varies none of them singly.
LEVEL_GROWTH = 1.3  # each level gets this many times the budget of the one before: later cells are smaller
MORE_LEVELS = 5  # at most this many levels more than log2(k): more are finer, but each gets less budget
SPLIT_NOISE = 6.0  # split a cell only if its count exceeds this many standard errors of the next level's counts ...
SPLIT_GAIN = 1 / 32  # ... and if its count * variance is above this part of a cluster's average: else little is gained
TAIL = 4.0  # tails start this many standard deviations from the mean, but at least half-way to the bound
HALF_MEAN, HALF_VARIANCE = 0.8, 0.36  # of one half of a standard Gaussian: sqrt(2 / pi) and 1 - 2 / pi


@dataclass(frozen=True)
class Leaves:
    """Cells of a tree: nodes, counts and their noise variances, means, variances per column, boxes."""

    nodes: np.ndarray
    count: np.ndarray
    count_variance: np.ndarray
    mean: np.ndarray
    variance: np.ndarray
    lower: np.ndarray
    upper: np.ndarray

    def take(self, which: np.ndarray) -> "Leaves":
        """Return some of the cells."""
        return Leaves(*(getattr(self, name)[which] for name in self.__dataclass_fields__))

    def join(self, *others: "Leaves") -> "Leaves":
        """Return these cells and others."""
        parts = (self, *others)
        return Leaves(*(np.concatenate([getattr(part, name) for part in parts]) for name in self.__dataclass_fields__))


def release_root(grant: Grant, frame: Frame, reach: float) -> Leaves:
    """Release count, mean and variances of all records.

    Empirical Bayes shrinks the mean towards the middle of the bounds. It shrinks the variances towards a common
    fraction of the bounds' widths, since noise matters much less for this one number than for each variance.
    """
    return root_of(ask_root(grant, frame, reach), frame, reach)


def ask_root(grant: Grant, frame: Frame, reach: float) -> Shapes:
    """Release count, sums and squares of all records, as they are."""
    half = frame.half
    axes = 1 / np.sqrt(half)
    radius = min(float(np.linalg.norm(axes * half)), float(axes.max()) * reach)
    return ROOT.ask(grant, SplitTree(frame.domain), frame, np.zeros((1, len(half))), axes[None], np.array([radius]))


def root_of(seen: Shapes, frame: Frame, reach: float) -> Leaves:
    """Return all records as one cell, from what `ask_root` released."""
    half = frame.half
    n = max(float(seen.count[0]), 1.0)
    moved, noise = seen.sums[0] / n, (seen.sums_sd[0] / n) ** 2
    prior = np.clip((moved**2 - noise).sum() / (half**2).sum(), 0.05**2, 0.5**2) * half**2
    guess = (half / 3) ** 2
    total = max(float((seen.squares[0] / n - moved**2).sum()), float(np.linalg.norm(seen.squares_sd[0])) / n)
    guess = guess * np.clip(total / guess.sum(), 1e-6, min(1.0, reach**2 / guess.sum()))
    variance = np.clip(seen.variance(guess, 1.0, np.array([[n]]))[0], 1e-2 * guess, half**2)
    mean = np.clip(prior / (prior + noise) * moved, -half, half)
    count_variance = np.array([seen.count_sd**2])
    return Leaves(np.array([0]), np.array([n]), count_variance, mean[None], variance[None], -half[None], half[None])


def grow_tree(tails: Grant, levels: Grant, frame: Frame, root: Leaves, k: int, *, alike: bool = False) -> Leaves:
    """Return the leaves of a tree grown from a root, with grants for the tails and for the levels.

    With `alike`, what was expected of the cells' variances is corrected by factors for all cells and all columns of a
    cell: a tree over groups of groups sees sooner how narrow the groups are.
    """
    tree = SplitTree(frame.domain)
    cells = first_cells(tree, frame, root)
    if len(cells.nodes) > 1:
        cells = observe(tails, tree, frame, cells, None, alike=alike)
    else:
        levels = levels.joined(tails)
    unit = TREE.noise(levels, frame)
    depth = round(math.log2(max(root.count[0] * 1.5 / unit / 8, 1.0))) + 2
    depth = int(np.clip(depth, 1, most_levels(k)))
    for level in levels.in_proportion(LEVEL_GROWTH ** np.arange(depth)):
        next_sd = TREE.noise(level, frame) / TREE.count
        gain = np.maximum(cells.count, 0) * cells.variance.max(axis=1)
        chosen = (cells.count > SPLIT_NOISE * next_sd) & (gain > SPLIT_GAIN * gain.sum() / k)
        parents = cells.take(chosen)
        cells = cells.take(~chosen).join(*halve(tree, frame, parents))
        cells = observe(level, tree, frame, cells, parents, alike=alike)
    return cells


def most_levels(k: int) -> int:
    """Return the most levels that a tree for k clusters may have."""
    return MORE_LEVELS + math.ceil(math.log2(k)) if k > 1 else MORE_LEVELS


def tree_asks(n_columns: int, k: int, shares: tuple[float, float, float]) -> list[Ask]:
    """Return the most that root, tails and tree for k clusters release. Each level may halve every cell."""
    root, tails, tree = shares
    levels, cells = most_levels(k), (2 * n_columns + 1) << most_levels(k)
    first = tree / float((LEVEL_GROWTH ** np.arange(levels)).sum())
    return [
        ROOT.plan(n_columns, 1, share=root),
        TREE.plan(n_columns, cells, share=tails),
        TREE.plan(n_columns, cells, levels, share=first),
    ]


def first_cells(tree: SplitTree, frame: Frame, root: Leaves) -> Leaves:
    """Return a core and its tails. The tails are cut off one after the other."""
    mean, sd, lower, upper = root.mean[0], np.sqrt(root.variance[0]), root.lower[0], root.upper[0]
    core, tails = root, []
    for side, space in ((-1, mean - lower), (1, upper - mean)):
        start = np.maximum(space / 2, TAIL * sd)
        for j in np.flatnonzero(start < 0.8 * space):
            cut = mean[j] + side * start[j]
            children = tree.split(int(core.nodes[0]), int(j), float(cut / frame.steps[j]))
            inner, outer = ("upper", "lower") if side > 0 else ("lower", "upper")
            tails.append(_tail(root, int(j), cut, outer, children[side > 0]))
            core = _with(replace(core, nodes=np.array([children[side < 0]])), inner, int(j), cut)
    if tails:
        core = replace(core, count_variance=1e6 * core.count_variance)
    return core.join(*tails) if tails else core


def _tail(root: Leaves, j: int, cut: float, side: str, node: int) -> Leaves:
    """Return the cell beyond a cut. Nothing is known of it yet."""
    tail = _with(replace(root, nodes=np.array([node]), count=np.ones(1), count_variance=np.full(1, 1e12)), side, j, cut)
    low, high = tail.lower[0, j], tail.upper[0, j]
    return _with(_with(tail, "mean", j, (low + high) / 2), "variance", j, (high - low) ** 2 / 12)


def _with(cell: Leaves, name: str, j: int, value: float) -> Leaves:
    """Return a copy of one cell with one entry changed."""
    changed = getattr(cell, name).copy()
    changed[0, j] = value
    return replace(cell, **{name: changed})


def halve(tree: SplitTree, frame: Frame, parents: Leaves) -> tuple[Leaves, Leaves]:
    """Split cells at the mean of their widest column. Predict both halves as if the cell were Gaussian."""
    row, axis = np.arange(len(parents.nodes)), parents.variance.argmax(axis=1)
    at, s = parents.mean[row, axis], np.sqrt(parents.variance[row, axis])
    children = [
        tree.split(int(node), int(j), float(cut / frame.steps[j]))
        for node, j, cut in zip(parents.nodes, axis, at, strict=True)
    ]
    halves = []
    for side, name in ((0, "upper"), (1, "lower")):
        mean, variance, wall = parents.mean.copy(), parents.variance.copy(), getattr(parents, name).copy()
        limit = parents.lower[row, axis] if side == 0 else parents.upper[row, axis]
        moved = at + (HALF_MEAN if side else -HALF_MEAN) * s
        mean[row, axis] = np.maximum(moved, (limit + at) / 2) if side == 0 else np.minimum(moved, (limit + at) / 2)
        variance[row, axis] *= HALF_VARIANCE
        wall[row, axis] = at
        nodes = np.array([pair[side] for pair in children], dtype=np.int64)
        halves.append(replace(parents, nodes=nodes, mean=mean, variance=variance, **{name: wall}))
    return halves[0], halves[1]


def observe(
    grant: Grant, tree: SplitTree, frame: Frame, cells: Leaves, parents: Leaves | None, *, alike: bool = False
) -> Leaves:
    """Release the shapes of all cells; average them with what is known. The last cells are halves of `parents`."""
    tree.open(cells.nodes.tolist())
    m, p = len(cells.nodes), 0 if parents is None else len(parents.nodes)
    fresh = np.arange(m) >= m - 2 * p
    noise = TREE.noise(grant, frame)
    width = np.maximum(cells.upper - cells.lower, 1e-300)
    axes, radii = ellipsoid(cells.variance, cells.count * np.where(fresh, 0.5, 1.0), noise, TREE.bias)
    radii = np.minimum(radii, np.linalg.norm(axes * width, axis=1))
    seen = TREE.ask(grant, tree, frame, cells.mean, axes, radii)
    count, count_variance = fuse_counts(seen, cells, parents)
    n = np.maximum(count, seen.count_sd)[:, None]
    prior = cells.variance * np.where(fresh, 0.3, 0.1)[:, None]
    mean = cells.mean + prior / (prior + (seen.sums_sd / n) ** 2) * seen.sums / n
    floor, ceiling = 0.05 * cells.variance, np.maximum(width**2 / 4, 1e-300)
    guess = seen.rescaled(cells.variance, 0.7, n) if alike else cells.variance
    variance = np.clip(seen.variance(guess, 0.7, n), np.minimum(floor, ceiling), ceiling)
    mean = np.clip(mean, cells.lower, cells.upper)
    return replace(cells, count=count, count_variance=count_variance, mean=mean, variance=variance)


def fuse_counts(seen: Shapes, cells: Leaves, parents: Leaves | None) -> tuple[np.ndarray, np.ndarray]:
    """Return counts and variances. Old cells are averaged by precision; halves are fitted to their parents' counts."""
    m, p = len(cells.nodes), 0 if parents is None else len(parents.nodes)
    s2 = seen.count_sd**2
    count, variance = seen.count.copy(), np.full(m, s2)
    old = slice(0, m - 2 * p)
    known = cells.count_variance[old]
    count[old] = (count[old] * known + cells.count[old] * s2) / (known + s2)
    variance[old] = known * s2 / (known + s2)
    if parents is not None and p:
        whole = parents.count_variance + 2 * s2
        gap = (parents.count - count[m - 2 * p : m - p] - count[m - p :]) / whole * s2
        count[m - 2 * p :] += np.tile(gap, 2)
        variance[m - 2 * p :] = s2 - s2**2 / np.tile(whole, 2)
    return count, variance
