"""Error bars of clusters: how far what is published may be from the records that are assigned to it.

A bar answers: what would the same figure be, computed on the records without noise? The last release measured cells of
*earlier* centres. What is published may be shrunk or clipped, and the records are assigned to it afterwards. So

    error  =  published - measured - change + noise of the measurement

`change` is the difference between what is asked about (records assigned to what is published) and what was measured. It
is simulated: made-up records are drawn from the released counts, means and variances of cells, and both figures are
computed of them. Noise that is part of a displacement is known in part: if displacements are no larger than noise
makes them, they are noise (Efron and Morris 1973). The same holds for counts: the largest of many noisy counts is
too large.

Everything here is post-processing of released values. Its randomness is fixed, so that bars can be computed again.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import gammainc
from scipy.stats import laplace, norm
from sklearn.metrics import pairwise_distances_argmin
from sklearn.neighbors import NearestNeighbors

WORLDS = 6  # sets of made-up records: the change is averaged over them; more are smoother and take longer
MOST_MADE = 20_000  # made-up records of a set: more take longer; beyond, each stands for several
CLEAR = 2.5  # a cluster is seen if its count exceeds at least this many standard errors ...
FALSE_ALARMS = 0.03  # ... and so many that this is the expected number of empty clusters that are called seen
NEIGHBOURS = 4  # weight of the median of all cells, in columns, when one cell's displacement is compared with its noise
MOST_NOISE = 0.4  # of a displacement is taken for noise, at most: the comparison is itself uncertain
NEAREST = 3  # neighbours whose distance tells the width of a cell, if no release does
MOST_CLIPPED = 20.0  # largest mean square of lengths that were clipped to one: clipping hides how much larger it is
GUESS = 3**-0.5  # standard deviation of a guess between the bounds, over half their width: a wider bar says nothing


@dataclass(frozen=True)
class Measured:
    """What the last release showed of cells. Coordinates are such that distances are Euclidean.

    Attributes
    ----------
    mean, noise, variance : arrays of shape (m, d)
        Released means, standard errors of their noise, variances of records about the mean (released or guessed).
    count, count_noise : arrays of shape (m,)
        Released counts and the standard errors of their noise.
    group : integer array of shape (m,)
        The cluster that each cell belongs to.
    origin, turn : arrays of shape (d,) and (d, d)
        A point x of these coordinates is ``origin + x @ turn`` in the columns.
    at : array of shape (m, d), optional
        Cell i holds the records nearest to ``at[i]``. None if cells are of another kind.
    radius : array of shape (m,) or None
        Displacements from `at`, times `axes`, were clipped to this length.
    axes : array of shape (m, d) or None
        Weights of the columns in that length.
    """

    mean: np.ndarray
    noise: np.ndarray
    variance: np.ndarray
    count: np.ndarray
    count_noise: np.ndarray
    group: np.ndarray
    origin: np.ndarray
    turn: np.ndarray
    at: np.ndarray | None = None
    radius: np.ndarray | None = None
    axes: np.ndarray | None = None

    def outside(self, points: np.ndarray) -> np.ndarray:
        """Return points in the columns."""
        return self.origin + points @ self.turn

    def spread(self, errors: np.ndarray) -> np.ndarray:
        """Return standard errors in the columns."""
        return np.sqrt(np.square(errors) @ np.square(self.turn))


@dataclass(frozen=True)
class Published:
    """Published centres and sizes, the rule that assigns records (in the columns) to them, and the bounds."""

    centres: np.ndarray
    sizes: np.ndarray
    assign: Callable[[np.ndarray], np.ndarray]
    clip: Callable[[np.ndarray], np.ndarray]
    half: np.ndarray
    pure: bool = False


@dataclass(frozen=True)
class Bars:
    """Standard errors of centres and sizes, and which clusters are told from noise."""

    centres: np.ndarray
    sizes: np.ndarray
    seen: np.ndarray


def clear_level(k: int, *, pure: bool) -> float:
    """Return how many standard errors a count must exceed so that none of k empty clusters is likely called seen."""
    law = laplace(scale=2**-0.5) if pure else norm
    return max(CLEAR, float(law.isf(FALSE_ALARMS / max(k, 1))))


def bars(cells: Measured, published: Published) -> Bars:
    """Return the error bars of published clusters, from what the last release showed of cells."""
    k = len(published.centres)
    noise_of_count, count_doubt = counted(cells.count, cells.count_noise, pure=published.pure)
    likely = np.maximum(cells.count - noise_of_count, 0.25 * cells.count_noise)
    count = np.bincount(cells.group, cells.count, k)
    error = np.sqrt(np.bincount(cells.group, np.square(cells.count_noise), k))
    share = likely / np.maximum(np.bincount(cells.group, likely, k), 1e-300)[cells.group]
    measured = grouped(cells.outside(cells.mean) * share[:, None], cells.group, k)
    measured = published.clip(measured)
    # the noise of a mean was reckoned with the released count, which may be too large
    wider = np.maximum(cells.count, 1e-9) / likely
    noise = cells.spread(np.where(np.isfinite(cells.noise), cells.noise, 0.0) * np.maximum(wider, 1.0)[:, None])
    noise = np.sqrt(grouped(np.square(share[:, None] * noise), cells.group, k))
    moved, part = displacements(cells, noise, k)
    changes, sizes, found = simulated(cells, published, likely, count_doubt)
    off = published.centres - measured - changes + part * moved
    square = np.square(off).mean(axis=0) + (1 - part) * np.square(noise)
    stderr = np.minimum(np.sqrt(square), 2 * published.half)
    shift = np.bincount(cells.group, noise_of_count, k)
    doubt = np.bincount(cells.group, np.square(count_doubt), k)
    off_size = published.sizes - count - sizes + shift
    size_error = np.sqrt(np.square(off_size).mean(axis=0) + doubt)
    seen = (count > clear_level(k, pure=published.pure) * error) & (found > WORLDS / 2)
    hidden = np.bincount(cells.group, ~np.isfinite(cells.noise).all(axis=1) * share, k) > 0.5
    known = (seen & ~hidden)[:, None] & (stderr < GUESS * published.half)
    return Bars(np.where(known, stderr, np.inf), size_error, known.any(axis=1))


def counted(count: np.ndarray, error: np.ndarray, *, pure: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return the noise that each count is likely to hold, and how uncertain that is.

    A count that is no larger than the largest of so many noisy ones would be shrinks to the median. Others stay.
    """
    usual = float(np.median(count))
    spread = (1.4826 * float(np.median(np.abs(count - usual)))) ** 2
    true = np.maximum(spread - np.square(error), 0.0) + max(usual, 1.0)
    wide = np.sqrt(true + np.square(error))
    law = laplace(scale=2**-0.5) if pure else norm
    common = np.minimum(1.0, 2 * len(count) * law.sf(np.abs(count - usual) / wide))
    part = common * np.square(error / wide) if len(count) > 2 else np.zeros(len(count))
    return part * (count - usual), error * np.sqrt(1 - part)


def displacements(cells: Measured, noise: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return how far each cell's mean is from where it was measured, and which part of that is likely noise."""
    if cells.at is None or len(cells.at) != k:
        return np.zeros(noise.shape), np.zeros((k, 1))
    moved = (cells.mean - cells.at) @ cells.turn
    known = (noise > 0).all(axis=1)
    ratio = np.square(moved / np.maximum(noise, 1e-300)).mean(axis=1)
    d, median = noise.shape[1], float(np.median(ratio[known])) if known.any() else 1.0
    ratio = (d * ratio + NEIGHBOURS * median) / (d + NEIGHBOURS)
    return moved, np.where(known, np.minimum(1 / np.maximum(ratio, 1.0), MOST_NOISE), 0.0)[:, None]


def simulated(
    cells: Measured, published: Published, likely: np.ndarray, doubt: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return changes of means (worlds, k, d) and counts (worlds, k), and in how many worlds a cluster has records."""
    k = len(published.centres)
    rng = np.random.RandomState(0)
    changes, sizes, found = [], [], np.zeros(k)
    for world in range(WORLDS):
        made, weight, origin = made_up(cells, likely, doubt, rng, even=world % 2 == 0)
        rows = published.clip(cells.outside(made))
        before = cells.group[measured_in(cells, made, origin)]
        after = published.assign(rows)
        mean, n = means(clipped(cells, made, rows, origin), before, weight, k)
        target, m = means(rows, after, weight, k)
        both = (n > 0) & (m > 0)
        found += m > 0
        changes.append(np.where(both[:, None], target - mean, 0.0))
        sizes.append(m - n)
    return np.array(changes), np.array(sizes), found


def made_up(
    cells: Measured, likely: np.ndarray, doubt: np.ndarray, rng: np.random.RandomState, *, even: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw records of a world that may have given the release: positions, weights, and cells they come from.

    Records of a cell are normal, or `even`: cells that share a cluster are full up to their borders.
    """
    count = np.maximum(likely + doubt * rng.standard_normal(len(likely)), 0.0)
    each = max(1.0, float(count.sum()) / MOST_MADE)
    number = np.maximum(rng.poisson(count / each), count > 0.5).astype(int)
    origin = np.repeat(np.arange(len(count)), number)
    shift = np.where(np.isfinite(cells.noise), cells.noise, 0.0) * rng.standard_normal(cells.mean.shape)
    shape = len(origin), cells.mean.shape[1]
    away = rng.uniform(-(3**0.5), 3**0.5, shape) if even else rng.standard_normal(shape)
    middle, _ = means(away, origin, np.ones(len(origin)), len(count))
    away = (away - middle[origin]) * np.sqrt(cells.variance)[origin]
    weight = (count / np.maximum(number, 1))[origin]
    return cells.mean[origin] + shift[origin] + away, weight, origin


def measured_in(cells: Measured, made: np.ndarray, origin: np.ndarray) -> np.ndarray:
    """Return the cell in which each made-up record would have been measured."""
    return origin if cells.at is None or not len(made) else pairwise_distances_argmin(made, cells.at)


def clipped(cells: Measured, made: np.ndarray, rows: np.ndarray, origin: np.ndarray) -> np.ndarray:
    """Return made-up records as the release would have seen them: displacements clipped."""
    if cells.radius is None or cells.at is None or cells.axes is None:
        return rows
    cell = measured_in(cells, made, origin)
    away = made - cells.at[cell]
    length = np.linalg.norm(away * cells.axes[cell], axis=1)
    short = np.minimum(1.0, cells.radius[cell] / np.maximum(length, 1e-300))
    return cells.outside(cells.at[cell] + away * short[:, None])


def means(points: np.ndarray, labels: np.ndarray, weight: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return weighted means and total weights of groups of points."""
    mass = np.bincount(labels, weight, k)
    return grouped(points * weight[:, None], labels, k) / np.maximum(mass, 1e-300)[:, None], mass


def grouped(values: np.ndarray, labels: np.ndarray, k: int) -> np.ndarray:
    """Return the sums of rows by group: (m, d) -> (k, d)."""
    return np.column_stack([np.bincount(labels, column, k) for column in values.T])


def gap_variance(points: np.ndarray, most: np.ndarray) -> np.ndarray:
    """Guess the variances of cells, per column, from the distances of each point to the nearest others.

    Records spread evenly over cells of width w have variance w^2 / 12; cells at the rim are wider, hence w^2 / 8.
    """
    if len(points) < 2:
        return np.tile(most, (len(points), 1))
    number = min(len(points), 1 + NEAREST)
    gaps = NearestNeighbors(n_neighbors=number).fit(points).kneighbors(points)[0][:, 1:]
    return np.minimum(np.square(gaps).mean(axis=1)[:, None] / 8, most)


def unclipped(part: np.ndarray, dims: np.ndarray) -> np.ndarray:
    """Return the mean square of lengths before they were clipped to one, from the mean square after.

    Squared lengths are taken for a sum of `dims` equal squares of normal numbers.
    """
    tried = np.geomspace(0.01, MOST_CLIPPED, 60)
    a = np.maximum(dims, 1.0)[:, None] / 2
    after = tried * gammainc(a + 1, a / tried) + 1 - gammainc(a, a / tried)
    return np.array([np.interp(value, row, tried) for value, row in zip(part, after, strict=True)])
