"""A first look in many columns: where modes may be, and how wide the groups of records around them are.

    tree    release count, mean and variance of cells, level by level                     (search.py)
    pieces  weighted k-means on points drawn from the leaves: free                        (refine.py)
    hills   pieces between which no clear valley shows are one group: free                (hills.py)
    sum     release a kernel sum whose bandwidths suit these groups; climb from the pieces to its peaks

Without a look, bandwidths are fractions of the bounds, which are often much wider than the groups, and climbs begin at
random points. All but tree and sum is post-processing of released values.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from knoll.estimator import FitContext
from knoll.numeric.distances import squared_distances
from knoll.numeric.hills import hills
from knoll.privacy import Ask, Grant, Shares
from knoll.queries import FourierFeatures
from knoll.series.surroundings import Surroundings
from knoll.steps.axes import rotated_tree_asks
from knoll.steps.pieces import MOST, how_many
from knoll.steps.refine import solve, synthetic_points
from knoll.steps.search import search_tree


@dataclass(frozen=True)
class LookShares(Shares):
    """Shares of the budget: for the tree, the kernel sum and the side views. Without axes, the sum has their share."""

    root: float = 0.04
    axes: float = 0.06
    tails: float = 0.02
    tree: float = 0.26
    kernel: float = 0.37
    sides: float = 0.25


SHARES = LookShares()
# Settled on the tuned kinds of benchmarks/small/modes.py.
RISE, COARSE = 1.0, 2.5  # of a hill over its pass, in log density: of a group, and of what sets the widest bandwidth
LIGHT = 0.1  # groups of a smaller part of an average group's records do not set bandwidths
SEEN = 2.0  # pieces below this many standard errors of a count are left out
FAR = 2.0  # squared distance of a piece from its mode, in widths, for each column: those beyond are around no mode
LONG = 2.5  # widest bandwidth of a ladder for one group, over the narrowest
LONGEST = 8  # rungs: a longer ladder costs noise at every rung
PURE_RUNGS = 2  # with Laplace noise, which grows with the number of frequencies
POWER = 0.2  # mean square of a frequency's total, over that of all groups in phase
FEWEST = 32  # frequencies


@dataclass(frozen=True)
class Look:
    """What a look showed: pieces of groups of records, in the columns.

    Attributes
    ----------
    at, variance : arrays of shape (n_pieces, n_columns)
        Their means and variances.
    weight : array of shape (n_pieces,)
        How many records they have.
    group : integer array of shape (n_pieces,)
        Which of them seem to belong together.
    """

    at: np.ndarray
    variance: np.ndarray
    weight: np.ndarray
    group: np.ndarray

    @property
    def starts(self) -> np.ndarray:
        """Where peaks may be: the middles of groups, then those of pieces."""
        return np.vstack([self._moments(self.group)[0], self.at])

    def rungs(self, *, pure: bool) -> np.ndarray:
        """Return bandwidths for the groups, coarsest first, (rungs, columns): in steps of about sqrt 2.

        At the coarsest, a group keeps about a fifth of its height, whatever the number of columns.
        """
        _, widths, weight = self._moments(self.group)
        shape, sizes = shape_and_sizes(widths, weight)
        seen = sizes[weight >= LIGHT * weight.mean()]
        _, widths, weight = self._moments(hills(self.at, self.variance, self.weight, COARSE))
        coarse = np.average(np.exp(np.log(widths / shape).mean(axis=1)), weights=weight)
        widest = np.sqrt(1 + len(shape) / 3)
        high, low = np.log(widest * max(seen.max(), coarse)), np.log(widest / LONG * seen.min())
        steps = int(np.clip(round(2 * (high - low) / np.log(2)), 2, LONGEST - 1))
        found = np.exp(np.linspace(high, low, steps + 1))[:, None] * shape
        return found[:PURE_RUNGS] if pure else found

    def frequencies(self, grant: Grant, around: Surroundings, most: int) -> int:
        """Return how many frequencies give the kernel sum the least error: of the noise, and of using a sample.

        Gaussian noise does not grow with their number: then it is `most`. Laplace noise does.
        """
        power = POWER * float(self.weight.sum()) ** 2 / (int(self.group.max()) + 1)
        tried = [most >> k for k in range(most.bit_length()) if k == 0 or most >> k >= FEWEST]

        def error(m: int) -> float:
            probe = FourierFeatures(around.domain, np.zeros((m, around.n_columns)))
            return (float(grant.stderr(probe)[1]) ** 2 + power) / m

        return min(tried, key=error) if around.pure else most

    def around(self, modes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the widths of the records around modes, all of one shape, and the middles of pieces around none."""
        _, widths, weight = self._moments(self.group)
        shape = np.sqrt(np.average(widths**2, axis=0, weights=weight))
        gaps = squared_distances(self.at / shape, modes / shape)
        near, far = gaps.argmin(axis=1), gaps.min(axis=1) > FAR * len(shape)
        widths, weight = np.tile(shape, (len(modes), 1)), np.ones(len(modes))
        for i in np.unique(near[~far]):
            _, wide, heavy = self._moments(np.where((near == i) & ~far, 0, -1))
            widths[i], weight[i] = wide[0], heavy[0]
        shape, sizes = shape_and_sizes(widths, weight)
        return sizes[:, None] * shape, self.at[far]

    def _moments(self, group: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return means, standard deviations and weights of groups of pieces; those of group -1 are left out."""
        part = np.where(group == np.arange(group.max() + 1)[:, None], self.weight, 0.0)
        weight = part.sum(axis=1)
        part /= weight[:, None]
        at = part @ self.at
        return at, np.sqrt(part @ (self.variance + np.square(self.at - at[np.maximum(group, 0)]))), weight


def shape_and_sizes(widths: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the usual width of groups along each column, and the width of each group over it."""
    shape = np.exp(np.average(np.log(widths), axis=0, weights=weight))
    return shape, np.exp(np.log(widths / shape).mean(axis=1))


def look_asks(n_columns: int) -> list[Ask]:
    """Return the most that a look releases, before the kernel sum."""
    return rotated_tree_asks(n_columns, MOST, (SHARES.root, SHARES.axes, SHARES.tails, SHARES.tree))


def first_look(context: FitContext, grants: Any, rng: np.random.RandomState) -> Look:
    """Release a tree of shapes, with grants by the names of `LookShares`; return where modes may be."""
    found = search_tree(context, grants, lambda frame, root: how_many(context.grant, frame, root), rng, alike=True)
    points, weights = synthetic_points(found.leaves, found.hedge, rng)
    pieces = solve(points, weights, min(found.k, len(points) // 2), rng)
    if found.rotation is not None:
        pieces = found.rotation.lift(pieces, found.root)
    noise = float(np.sqrt(np.median(found.leaves.count_variance)))
    which = np.flatnonzero((pieces.weight > SEEN * noise) | (pieces.weight == pieces.weight.max()))
    at, weight = pieces.at[which], pieces.weight[which]
    group = hills(at, pieces.variance[which], weight, RISE)
    domain = context.domain
    variance = pieces.variance[which] @ np.square(found.turn(context))
    variance = np.where(domain.constant, domain.half**2, np.maximum(variance, np.square(1e-4 * domain.half)))
    return Look(domain.clip(found.in_columns(at, context)), variance, weight, group)
