"""One search by tree, for clusters and for mixtures. It returns leaves: cells with released counts and shapes.

root    release count, mean and variance of all records
hedge   add a few points of little weight, for records that no release shows
axes    if the bounds have many dimensions: release the scatter matrix, rotate to its axes, search those that stand out
tree    release count, mean and variance of cells, level by level; halve cells that are large and wide
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from knoll.estimator import FitContext
from knoll.numeric.mixture import Mixture
from knoll.privacy import Grant
from knoll.queries import Frame
from knoll.steps.axes import MOST_AXES, Rotation, principal_axes, rotates
from knoll.steps.refine import hedge_points
from knoll.steps.tree import Leaves, grow_tree, release_root


@dataclass(frozen=True)
class Searched:
    """What a search found.

    Attributes
    ----------
    frame : Frame
        Coordinates of `root`: the columns, or all axes if there is a rotation.
    root : Leaves
        All records as one cell.
    rotation : Rotation or None
        Released axes.
    seed, leaves : Leaves
        The root and the leaves in the axes that were searched.
    hedge : array of shape (n_points, n_searched)
        Points of the hedge in the same axes.
    k : int
        Number of clusters that was searched for.
    """

    frame: Frame
    root: Leaves
    rotation: Rotation | None
    seed: Leaves
    leaves: Leaves
    hedge: np.ndarray
    k: int

    def in_columns(self, points: np.ndarray, context: FitContext) -> np.ndarray:
        """Return points of the frame as points in the columns."""
        if self.rotation is None:
            return self.frame.outside(points)
        return np.asarray(context.domain.centre + points @ self.turn(context))

    def turn(self, context: FitContext) -> np.ndarray:
        """Return the matrix that turns displacements in the frame to displacements in the columns."""
        return np.diag(context.scales) if self.rotation is None else self.rotation.axes * context.scales

    def mixture(
        self, weights: np.ndarray, at: np.ndarray, variance: np.ndarray, context: FitContext, floor: np.ndarray
    ) -> Mixture:
        """Return cells of the frame, with variances along its axes, as Gaussians in the columns."""
        turn = self.turn(context)
        covariances = np.einsum("ki,ij,il->kjl", variance, turn, turn, optimize=True)
        return Mixture.nearest(weights, context.domain.clip(self.in_columns(at, context)), covariances, floor)


def search_tree(
    context: FitContext,
    grants: Any,
    k: int | Callable[[Frame, Leaves], int],
    rng: np.random.RandomState,
    *,
    finer: int = 1,
    without_axes: Grant | None = None,
    alike: bool = False,
    root: Leaves | None = None,
    tree: bool = True,
    most_axes: int = MOST_AXES,
) -> Searched:
    """Search with grants for root, axes, tails and tree.

    Parameters
    ----------
    context : FitContext
        Domain and metric.
    grants : object
        With the grants `root`, `axes`, `tails` and `tree`.
    k : int or callable
        Number of clusters that the hedge is made for; or how to tell it from the frame and the released root, along
        the axes if these are released.
    rng : RandomState
        Public randomness.
    finer : int
        The tree is grown as if for this many times k clusters.
    without_axes : Grant, optional
        Grant for the tree if no axes are released; by default `grants.tree`.
    alike : bool
        Whether the cells of the tree are taken to be alike (`grow_tree`).
    root : Leaves, optional
        All records as one cell, if that is released already.
    tree : bool
        Whether a tree is grown along the axes; if not, the root is the only leaf there.
    most_axes : int
        Axes that are searched, at most.
    """
    frame = Frame(context.domain, context.scales)
    if root is None:
        root = release_root(grants.root, frame, context.domain.longest(context.scales))
    if not rotates(frame):
        k = k if isinstance(k, int) else k(frame, root)
        levels = grants.tree if without_axes is None else without_axes
        hedge = hedge_points(root, k, rng)
        leaves = grow_tree(grants.tails, levels, frame, root, finer * k, alike=alike)
        return Searched(frame, root, None, root, leaves, hedge, k)
    rotation = principal_axes(grants.axes, frame, root, most_axes)
    turned = rotation.turn(root)
    k = k if isinstance(k, int) else k(frame, turned)
    hedge = rotation.along(hedge_points(root, k, rng))
    seed = rotation.clear(turned)
    leaves = seed
    if tree:
        leaves = grow_tree(grants.tails, grants.tree, rotation.search(context), seed, finer * k, alike=alike)
    return Searched(rotation.frame(context), turned, rotation, seed, leaves, hedge, k)
