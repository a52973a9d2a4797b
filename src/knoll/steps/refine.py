"""From a tree's leaves to centres, and Lloyd steps that take their own noise into account."""

import math
from dataclasses import dataclass, replace

import numpy as np

from knoll.diagnose import CellSums
from knoll.numeric.breathe import breathe, lloyd, with_more
from knoll.numeric.made_up import Measured
from knoll.numeric.threads import one_thread
from knoll.privacy import Ask, Grant
from knoll.queries import Frame, Nearest
from knoll.steps.centres import Centres, fused, swap, with_variances
from knoll.steps.means import CellMeans
from knoll.steps.shapes import ShapeRequest, Shapes, effective, ellipsoid, measured_shapes, mostly_levels, times_wider
from knoll.steps.tree import Leaves

# Small weights of count and squares mean more noise there and less in the displacements, which move the centres.
STEP = ShapeRequest("count, mean and variance of clusters", count=0.5, squares=0.3, bias=1e-3)
# "settled": by the datasets of docs/benchmarks.md, "K-means utility". It says nothing of the others' values.
STEP_GROWTH = 1.2  # each step gets this many times the budget of the one before: the last one decides the error
POINTS, NUMBERS = 8000, 2**24  # drawn from the leaves, and coordinates of them: more take longer, and memory
KEEP_NOISE = 2.0  # leaves below this many standard errors give no points; also the weight of the hedge (settled)
CHANGE = 0.1  # part of a cell's count that may change from step to step: less averages longer, more follows faster
EMPTY = 0.2  # a cell in which no record is seen weighs at least this many standard errors (settled on made-up clusters)
UNKNOWN = math.inf
SPARE, SPARE_STEPS = 5, 3  # one spare centre for each 5 (settled); Lloyd steps, free, that place the spares
FINE = 4  # with more leaves than this, for each cluster and column, there are no spares (settled)
USUAL = 4  # columns, or centres, that the average of all counts for, beside a centre's or a column's own
MAX_BOOST = 4.0  # longest step, over the plain one: a longer one could leave the cluster
REST = 1e-3  # centres rest if a step, with its noise, changes the loss by a smaller part: its budget goes to the last
# Steps for each unit of signal over noise (`affordable_steps`), and at most. With Laplace noise the error of a share
# grows with their number, not with its root: fewer steps (settled on tuned kinds of benchmarks/small/wide.py).
STEPS, PURE_STEPS, MOST_STEPS = 0.3, 0.05, 10


def synthetic_points(leaves: Leaves, hedge: np.ndarray, rng: np.random.RandomState) -> tuple[np.ndarray, np.ndarray]:
    """Return weighted points: Gaussian samples of the leaves, and the hedge for records that no leaf shows.

    All points of the hedge together weigh as much as the smallest leaf that is kept: fewer records cannot be seen.
    """
    sd = np.sqrt(leaves.count_variance)
    keep = leaves.count > KEEP_NOISE * sd
    keep[leaves.count.argmax()] = True
    kept = leaves.take(keep)
    m, d = kept.mean.shape
    times = int(np.clip(min(POINTS, NUMBERS // d) // m, 2, 200))
    normal = rng.standard_normal((times, m, d))
    points = np.clip(kept.mean + np.sqrt(kept.variance) * (normal - normal.mean(axis=0)), kept.lower, kept.upper)
    mass = KEEP_NOISE * np.median(sd)
    weights = np.concatenate(
        [np.tile(np.maximum(kept.count, 1e-3) / times, times), np.full(len(hedge), mass / len(hedge))]
    )
    return np.vstack([points.reshape(times * m, d), hedge]), weights


def hedge_points(root: Leaves, k: int, rng: np.random.RandomState) -> np.ndarray:
    """Return points on the lines through the mean of all records, along the columns, from bound to bound."""
    n = max(4 * k, 64)
    width = root.upper[0] - root.lower[0]
    axis = rng.choice(len(width), n, p=width / width.sum())
    points = np.tile(root.mean[0], (n, 1))
    points[np.arange(n), axis] = root.lower[0, axis] + (rng.permutation(n) + 0.5) / n * width[axis]
    return points


def solve(
    points: np.ndarray, weights: np.ndarray, k: int, rng: np.random.RandomState, spare: int = 0, hedge: int = 0
) -> Centres:
    """Run weighted k-means on released points, of which the last `hedge` are the hedge. Then add spare centres."""
    fitted = breathe(points, weights, k, rng)
    if spare:
        seen = np.where(np.arange(len(points)) < len(points) - hedge, weights, 0.0)
        with one_thread(loops=True):
            start = with_more(points, seen, fitted, spare, rng)
            fitted = lloyd(points, weights, start, SPARE_STEPS)
    return with_variances(fitted.cluster_centers_, points, weights, fitted.labels_)


def spare_centres(k: int, steps: int, leaves: float = 0.0) -> int:
    """Return how many spare centres the steps begin with, so that no cluster is missed.

    A record is in one cell, so more cells cost no budget. There are no spares if steps are few, since it takes some to
    tell which centres to merge. Nor if `leaves`, their number for each column, are many: these show every cluster
    already, and a merge could lose one.
    """
    return k // SPARE if steps > 2 and leaves <= FINE * k else 0


@dataclass(frozen=True)
class Refined:
    """The state of the refinement after a step: the centres, and what the step showed of them."""

    centres: Centres
    count: np.ndarray
    doubt: np.ndarray
    boost: float = 1.0
    moved: np.ndarray | None = None
    spread: np.ndarray | None = None
    gain: np.ndarray | None = None
    seen: Shapes | None = None
    resting: bool = False
    before: np.ndarray | None = None
    axes: np.ndarray | None = None
    radii: np.ndarray | None = None
    sums: CellSums | None = None
    levels: bool = False

    @classmethod
    def start(cls, centres: Centres) -> "Refined":
        """Return the state before the first step: only the weights of the centres are known."""
        return cls(centres, centres.weight, np.full(len(centres.weight), UNKNOWN))

    def means(self) -> CellMeans:
        """Return the centres with the standard errors of the last step."""
        assert self.seen is not None
        assert self.spread is not None
        assert self.gain is not None
        visible = self.seen.count > 2 * self.seen.count_sd
        error = np.sqrt(self.spread) * np.maximum(self.boost * self.gain, 1.0)
        sizes = np.full(len(visible), self.seen.count_sd)
        stderr = np.where(visible[:, None], error, np.inf)
        return CellMeans(self.centres.at, stderr, self.seen.count, sizes, visible, self.measured(), self.sums)

    def measured(self) -> Measured:
        """Return what the last step showed of the cells of the centres before it, for the error bars."""
        assert self.seen is not None
        assert self.before is not None
        assert self.moved is not None
        assert self.axes is not None
        assert self.radii is not None
        clip = self.axes, self.radii
        return measured_shapes(self.seen, self.before, self.moved, self.centres.variance, *clip, levels=self.levels)


def refine(
    grant: Grant, steps: int, frame: Frame, centres: Centres, k: int, walls: tuple[np.ndarray, np.ndarray]
) -> CellMeans:
    """Move centres by Lloyd steps on clipped displacements, shrunk by their noise. Return k of them in the frame.

    Half-way, spare centres are merged: by then the steps have shown which pairs share a cluster. When centres rest,
    steps are left out, and the last step gets their budget.
    """
    now, step, half, left = Refined.start(centres), 0, (steps - 1) // 2, grant.left
    while step < steps:
        share = left / float((STEP_GROWTH ** np.arange(steps - step)).sum())
        left -= share
        now = lloyd_step(now, grant.worth(share), frame, k, walls)
        spare = len(now.centres.at) > k
        if step == half and spare:
            now = without_spares(now, k)
        elif step < steps - 2:
            now = with_swaps(now)
        ahead = half if spare and step < half else steps - 1
        step = max(step + 1, ahead) if now.resting else step + 1
    return now.means()


def lloyd_step(
    now: Refined, grant: Grant, frame: Frame, k: int, walls: tuple[np.ndarray, np.ndarray], how: ShapeRequest = STEP
) -> Refined:
    """Release the displacements of records from their centres; move each centre as far as its noise allows."""
    centres, (lower, upper) = now.centres, walls
    before = centres.at.copy()
    floor = 1e-12 * np.maximum(upper - lower, 1e-300) ** 2
    inside = np.maximum(centres.variance, floor)
    about = inside * (1 + centres.error / inside.sum(axis=1))[:, None]  # centres are not quite at their means
    axes, radii = ellipsoid(about, centres.weight, how.noise(grant, frame), how.bias)
    far = np.maximum(upper - centres.at, centres.at - lower)
    radii = np.minimum(radii, np.linalg.norm(axes * np.maximum(far, 1e-300), axis=1))
    cells = Nearest(frame.outside(centres.at), frame.domain, frame.scales)
    seen = how.ask(grant, cells, frame, centres.at, axes, radii)
    count, doubt = averaged(now.count, now.doubt, seen)
    weight = expected(count, doubt, k)
    n = np.maximum(seen.count, seen.count_sd)[:, None]
    moved, spread = seen.sums / n, (seen.sums_sd / n) ** 2
    mult = boost(now.boost, moved, now.moved, spread, n) if now.moved is not None else 1.0
    gain = gains(moved, spread, seen.count > 2 * seen.count_sd)
    at = np.clip(centres.at + mult * gain * moved, lower, upper)
    prior = seen.rescaled(about, 0.5, n) * times_wider(seen, n, about, axes, radii)
    variance = np.maximum(seen.variance(prior, 0.5, n), 0.1 * prior)
    resting = float(weight @ (moved**2 + spread).sum(axis=1)) < REST * float(weight @ variance.sum(axis=1))
    reach = seen.sums_sd / (STEP.count * seen.count_sd)  # noise is in proportion to it
    shown = (seen.count, seen.count_sd, seen.sums, seen.sums_sd, seen.squares, seen.squares_sd)
    sums = CellSums(centres.at, at, *shown, variance, reach)
    centres = Centres(at, variance, weight, (gain * spread).sum(axis=1))
    return Refined(
        centres, count, doubt, mult, moved, spread, gain, seen, resting, before, axes, radii, sums,
        mostly_levels(frame.domain),
    )  # fmt: skip


def without_spares(now: Refined, k: int) -> Refined:
    """Merge pairs of centres until k are left. The last moves belong to the old centres and are forgotten."""
    centres = fused(now.centres, k)
    return replace(now, centres=centres, count=centres.weight, doubt=np.full(k, UNKNOWN), moved=None, resting=False)


def with_swaps(now: Refined) -> Refined:
    """Merge cheap pairs of centres and split wide cells (`swap`). The counts of these cells are then unknown."""
    assert now.seen is not None
    assert now.moved is not None
    swapped = swap(now.centres, now.seen.count > 5 * now.seen.count_sd, now.moved)
    doubt = np.where((now.moved == 0).all(axis=1), UNKNOWN, now.doubt)
    return replace(now, doubt=doubt, resting=now.resting and not swapped)


def step_asks(n_columns: int, k: int, share: float) -> list[Ask]:
    """Return the most that the steps of k centres and their spares release."""
    first = share / float((STEP_GROWTH ** np.arange(MOST_STEPS)).sum())
    return [STEP.plan(n_columns, k + k // SPARE, MOST_STEPS, share=first)]


def averaged(count: np.ndarray, doubt: np.ndarray | float, seen: Shapes) -> tuple[np.ndarray, np.ndarray]:
    """Return counts averaged over the steps by precision, and their variances. Cells may change by CHANGE a step."""
    gain = 1 / (1 + seen.count_sd**2 / (doubt + np.square(CHANGE * count)))
    return count + gain * (seen.count - count), gain * seen.count_sd**2


def expected(count: np.ndarray, doubt: np.ndarray, k: int) -> np.ndarray:
    """Return the weights of cells: their counts, shrunk to the average count as far as they are noise.

    A cell that seems empty keeps little weight if the noise is small, so that a swap may take its centre. If the noise
    is large, nobody knows, and its weight stays near the average.
    """
    usual = max(float(count.sum()), 1.0) / k
    drawn = (np.maximum(count, 0.0) * usual**2 + usual * doubt) / (usual**2 + doubt)
    return np.maximum(drawn, EMPTY * np.sqrt(doubt))


def gains(moved: np.ndarray, spread: np.ndarray, visible: np.ndarray) -> np.ndarray:
    """Return what part of each displacement to believe: signal / (signal + noise), (centres, columns).

    The signal over noise is one figure for each centre, averaged with the median of all centres, times one for each
    column, averaged over centres: columns in which no centre was searched yet have most of it (James and Stein 1961).
    """
    ratio = moved**2 / spread
    d, z = moved.shape[1], ratio.mean(axis=1)
    z = (d * z + USUAL * np.median(z)) / (d + USUAL)
    some = max(int(visible.sum()), 1)
    column = ratio[visible].sum(axis=0) / some
    above = np.maximum((some * column + USUAL * column.mean()) / (some + USUAL) - 1, 0.0)
    part = above / above.mean() if above.any() else np.ones(d)
    signal = np.maximum(z - 1, 0.0)[:, None] * part
    return np.where(visible[:, None], signal / (1 + signal), 0.0)


def boost(mult: float, moved: np.ndarray, last: np.ndarray, spread: np.ndarray, weight: np.ndarray) -> float:
    """Return a Barzilai-Borwein step length, above 1 if steps converge slowly and the displacement is not noise."""
    signal = max(0.0, 1 - (weight * spread).sum() / max((weight * moved**2).sum(), 1e-300))
    slope = (weight * moved * last).sum() / max((weight * last**2).sum(), 1e-300)
    return 1 + signal**2 * (float(np.clip(mult / max(1 - slope, 0.05), 1, MAX_BOOST)) - 1)


def affordable_steps(grant: Grant, frame: Frame, root: Leaves, k: int) -> int:
    """Return how many Lloyd steps the noise of a whole grant allows: few for small clusters in many dimensions."""
    resolution = (
        root.count[0] * (STEP.count**2 + 1 + STEP.squares**2) ** 0.5 / STEP.noise(grant.worth(grant.share), frame) / k
    )
    dims = float(effective(np.sqrt(root.variance[0])))
    each = PURE_STEPS if grant.norm == 1 else STEPS
    return int(np.clip(round(each * resolution / dims**0.5), 1, MOST_STEPS))
