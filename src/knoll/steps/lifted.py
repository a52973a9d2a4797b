"""The last release of spherical k-means: count, mean and variance of every cluster, in all columns.

Clusters are the cells of words along the released axes; a record lies in one. What is released of it is its
displacement from where its cluster's mean is expected, clipped. Noise is taken out axis by axis: where all clusters
together show no more than noise, means stay where they were expected.
"""

from dataclasses import dataclass

import numpy as np

from knoll.diagnose import CellSums
from knoll.estimator import FitContext
from knoll.numeric.bars import Bars, bars
from knoll.numeric.distances import nearest
from knoll.numeric.made_up import Measured, Published
from knoll.privacy import Ask, Grant
from knoll.queries import Directions, Frame, Nearest
from knoll.queries.sphere import lengthened
from knoll.steps.directions import View
from knoll.steps.means import CellMeans
from knoll.steps.shapes import ShapeRequest, affordable_room, effective, pulled
from knoll.steps.words import LONGEST, ROOM, Words, ellipsoids

LAST = ShapeRequest("count, mean and variance of directions, all columns", count=0.4, squares=0.2, bias=1e-3)
LIKE = 4.0  # clusters' worth of the average signal that an axis is taken to have shown besides its own
CLEAR = 3.0  # standard errors that squares stand out of the noise, at least, where a clip is wider than it must be
TRUST = 0.5  # of the variances that are expected: half of them is their standard error
# LEFT: least part of a variance that is left within clusters. EVEN: part of what is left that is spread over all axes
# evenly. LEAST_LEFT: least squared distance of directions to their mean. LEAST_WIDE: least part of the variances that
# squares show, where lengths say that there is less. Settled on made-up directions and the tuned kinds of
# benchmarks/coverage: of EVEN = 0, .1, .3 and .6, .1 leaves the least error.
LEFT, EVEN, LEAST_LEFT, LEAST_WIDE = 0.1, 0.1, 0.01, 0.3


@dataclass(frozen=True)
class Lifted:
    """Clusters in the columns: centres of length one with what was released of them, their error bars, mean cosines."""

    means: CellMeans
    bars: Bars
    cosines: np.ndarray


def last_asks(n_columns: int, k: int, share: float) -> list[Ask]:
    """Return what `lift` releases."""
    return [LAST.plan(n_columns, k, share=share)]


def lift(grant: Grant, context: FitContext, view: View, frame: Frame, words: Words) -> Lifted:
    """Release the clusters of words in all columns."""
    directions = frame.domain
    assert isinstance(directions, Directions)
    whole, inside = view.whole(context), lengthened(words.at)
    at = view.along(view.outside(words.at))
    at *= np.minimum(1.0, LONGEST / np.maximum(np.linalg.norm(at, axis=1), 1e-300))[:, None]
    axes, radii = ellipsoids(at, left_within(view.all_variances, at, words.weight))
    ratio = words.weight / LAST.noise(grant, whole)
    wide = affordable_room(effective(axes**-2.0), ratio, LAST.bias)
    wide = np.minimum(wide, LAST.squares * ratio / (CLEAR * at.shape[1] ** 0.5))
    radii = np.minimum(radii * np.sqrt(np.maximum(wide / ROOM, 1.0)), 2 * axes.max(axis=1))
    seen = LAST.ask(grant, Nearest(inside, frame.domain), whole, at, axes, radii)
    visible = seen.count > 2 * seen.count_sd
    n = np.maximum(np.where(visible, seen.count, words.weight), seen.count_sd)[:, None]
    moved, noise = seen.sums / n, np.square(seen.sums_sd / n)
    gain = gains(moved, noise)
    found = at + gain * moved
    lengths = np.linalg.norm(found, axis=1)
    found *= np.minimum(1.0, 1.0 / np.maximum(lengths, 1e-300))[:, None]
    spread = axes**-4.0
    variance = np.maximum(seen.variance(seen.rescaled(spread, TRUST, n), TRUST, n), 0.1 * spread)
    about = squared_distances_left(at, moved)
    longer, hidden = cut_off(about, spread, axes, radii), pulled(seen, n, moved, axes, radii)
    unsure = np.sqrt(noise + np.square(moved * (seen.count_sd / n)))
    wider = np.maximum(about / variance.sum(axis=1), LEAST_WIDE)[:, None]
    measured = Measured(
        at + longer[:, None] * moved, np.where(hidden[:, None], np.inf, unsure), wider * variance, seen.count,
        np.full(len(n), seen.count_sd), np.arange(len(n)), np.zeros(at.shape[1]),
        np.eye(at.shape[1]) if view.turn is None else view.turn,
        rule=lambda rows: nearest(directions.seen(rows), inside),
    )  # fmt: skip
    centres = lengthened(view.back(found))
    sums = CellSums(
        at, view.along(centres), seen.count, seen.count_sd, seen.sums, seen.sums_sd, seen.squares, seen.squares_sd,
        variance, seen.sums_sd / (LAST.count * seen.count_sd),
    )  # fmt: skip
    known = _bars(measured, context, view, found, centres)
    means = CellMeans(centres, known.centres, seen.count, np.full(len(n), seen.count_sd), visible, None, sums)
    along = lengthened(found)
    cosines = ((at + moved) * along).sum(axis=1) - (gain * noise * along**2).sum(axis=1) / np.maximum(lengths, 1e-3)
    return Lifted(means, known, np.clip(cosines, 0.0, 1.0))


def left_within(variance: np.ndarray, at: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return what is left, within clusters at these places, of the variances along all axes.

    What the places differ by is taken off. Axes that show little, and whose variances are not well known, get a part of
    what is left in all.
    """
    away = np.square(at - np.average(at, axis=0, weights=weight))
    left = np.maximum(variance - np.average(away, axis=0, weights=weight), LEFT * variance)
    return (1 - EVEN) * left + EVEN * left.mean()


def squared_distances_left(at: np.ndarray, moved: np.ndarray) -> np.ndarray:
    """Return the mean squared distance of directions to the point where their mean was expected.

    Directions have length one: their distances follow from their mean, and no clip hides them.
    """
    return np.clip(1.0 - np.square(at).sum(axis=1) - 2 * (at * moved).sum(axis=1), LEAST_LEFT, 2.0)


def cut_off(about: np.ndarray, spread: np.ndarray, axes: np.ndarray, radii: np.ndarray) -> np.ndarray:
    """Return how many times longer mean displacements are than clips left them.

    Squared lengths, in squared radii, are taken for exponential: some records lie far beyond, as where clusters meet.
    Then a mean square w before the clip is one of w (1 - exp(-1 / w)) after it.
    """
    whole = about / spread.sum(axis=1) * (np.square(axes / radii[:, None]) * spread).sum(axis=1)
    return np.asarray(np.sqrt(1 / -np.expm1(-1 / whole)))


def gains(moved: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """Return James and Stein's factors, one for each axis."""
    k, shown = len(moved), (np.square(moved) / noise).mean(axis=0)
    shown = (k * shown + LIKE * shown.mean()) / (k + LIKE)
    return np.maximum(0.0, 1.0 - 1.0 / np.maximum(shown, 1e-12))


def _bars(measured: Measured, context: FitContext, view: View, found: np.ndarray, centres: np.ndarray) -> Bars:
    """Return error bars of centres of length one: those of the means, divided by their lengths."""
    means = view.back(found)
    published = Published(
        means, np.maximum(measured.count, 0.0), lambda rows: nearest(rows, centres), context.domain,
        pure=context.grant.norm == 1,
    )  # fmt: skip
    known = bars(measured, published)
    lengths = np.maximum(np.linalg.norm(means, axis=1, keepdims=True), 1e-3)
    return Bars(
        np.minimum(known.centres / lengths, np.where(np.isfinite(known.centres), 2.0, np.inf)), known.sizes, known.seen
    )
