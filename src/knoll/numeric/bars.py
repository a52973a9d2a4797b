"""Error bars of clusters: how far what is published may be from the records that are assigned to it.

A bar answers: what would the same figure be, computed on the records without noise? The last release measured cells of
*earlier* centres. What is published may be shrunk or clipped, and the records are assigned to it afterwards. So

    error  =  published - measured - change + noise of the measurement

`change` is the difference between what is asked about (records assigned to what is published) and what was measured. It
is simulated (made_up.py). Noise that is part of a displacement is known in part: if displacements are no larger than
noise makes them, they are noise (Efron and Morris 1973). The same holds for counts: the largest of many noisy counts is
too large.

Everything here is post-processing of released values. Its randomness is fixed, so that bars can be computed again.
"""

from dataclasses import dataclass

import numpy as np
from scipy.stats import laplace, norm

from knoll.numeric.distances import squared_distances
from knoll.numeric.made_up import WORLDS, Measured, Published, grouped, simulated

CLEAR = 2.5  # a cluster is seen if its count exceeds at least this many standard errors ...
FALSE_ALARMS = 0.03  # ... and so many that this is the expected number of empty clusters that are called seen
CROWD = 2.0  # this many times more if most cells cannot be seen: what is known of the others borders on noise
NEIGHBOURS = 4  # weight of the median of all cells, in columns, when one cell's displacement is compared with its noise
MOST_NOISE = 0.4  # of a displacement is taken for noise, at most: the comparison is itself uncertain
# Bars of centres, and of sizes, are so many times wider: made-up records are not the records (benchmarks/coverage,
# tuned kinds).
MARGIN, SIZE_MARGIN = 1.1, 1.1
MOVED = 1.5  # standard deviations of a squared distance above its mean that noise is taken to make
# Standard errors of m normal numbers, times the root of m: of the square of their median absolute deviation from the
# median, over its value; and of the median, over their standard deviation.
SPREAD_ERROR, MEDIAN_ERROR = 2.33, 1.25
LEAST = 0.25  # of a standard error: records that a cell is taken to hold, at least
# Where no release tells the borders of cells, or records were seen smeared, made-up records that change clusters may
# change elsewhere: this part of them, as a standard error (settled on the tuned kinds of benchmarks/coverage).
ELSEWHERE = 0.45
GUESS = 3**-0.5  # standard deviation of a guess between the bounds, over half their width: a wider bar says nothing


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
    if not len(cells.count):
        return Bars(np.full(published.centres.shape, np.inf), np.full(k, np.inf), np.zeros(k, dtype=bool))
    excess, doubt = counted_together(cells, k, pure=published.pure)
    likely = np.maximum(np.maximum(cells.count - excess, LEAST * cells.count_noise), 1e-9)
    change = simulated(cells, published, likely, doubt)
    mean, noise, hidden = measured_means(cells, published, likely)
    moved, part = displacements(cells, noise, k)
    off = np.clip(published.centres - mean - change.means + part * moved, -4 * published.half, 4 * published.half)
    noise = np.minimum(noise, 4 * published.half)  # no error is stated above twice the half width
    square = np.square(off).mean(axis=0) + (1 - part) * np.square(noise)

    def total(values: np.ndarray) -> np.ndarray:
        return grouped(values[:, None], cells.group, k)[:, 0]

    count, error = total(cells.count), np.sqrt(total(np.square(cells.count_noise)))
    # a mean is divided by a noisy count, and among small clusters those with a count too large are the ones seen
    small = 1 + np.minimum(error / np.maximum(count, 1e-9), 1.0)
    stderr = np.minimum(MARGIN * small[:, None] * np.sqrt(square), 2 * published.half)
    off_size = published.sizes - count - change.sizes + total(excess)
    sharp = cells.borders_known and cells.smear is None
    guessed = 0.0 if sharp else np.square(ELSEWHERE * change.traffic)
    size_error = SIZE_MARGIN * np.sqrt(np.square(off_size).mean(axis=0) + total(np.square(doubt)) + guessed)
    size_error = np.where(total(np.ones(len(likely))) > 0, size_error, np.inf)
    crowd = CROWD if np.median(cells.count) < np.median(cells.count_noise) else 1.0
    clear = count - total(excess) > crowd * clear_level(k, pure=published.pure) * error
    seen = clear & (change.found > WORLDS / 2) & ~hidden
    seen[seen] = told_apart(published.centres[seen] / cells.scales, noise[seen] / cells.scales)
    known = seen[:, None] & (stderr < GUESS * published.half)
    return Bars(np.where(known, stderr, np.inf), size_error, known.any(axis=1))


def measured_means(
    cells: Measured, published: Published, likely: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the measured mean of each cluster, the standard error of its noise, and whether noise hides it.

    The noise of a cell's mean was reckoned with the released count, which may be too large. If a cluster has several
    cells, the noise of their counts moves its mean too.
    """
    k = len(published.centres)
    total = np.maximum(grouped(likely[:, None], cells.group, k), 1e-3)  # with fewer records nothing is seen
    share = likely[:, None] / total[cells.group]
    places = cells.outside(cells.mean)
    mean = grouped(share * places, cells.group, k)
    wider = np.maximum(np.maximum(cells.count, 1e-9) / likely, 1.0)[:, None]
    finite = np.isfinite(cells.noise).all(axis=1, keepdims=True)
    noise = share * wider * cells.spread(np.where(finite, cells.noise, 0.0))
    away = (places - mean[cells.group]) * cells.count_noise[:, None] / total[cells.group]
    square = grouped(np.square(noise) + np.square(away), cells.group, k)
    return published.clip(mean), np.sqrt(square), grouped(share * ~finite, cells.group, k)[:, 0] > 1 / 2


def told_apart(at: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """Return which centres cannot be another, better known one that noise has moved.

    If a centre were another one, its records would be nearer to that, and it would have none. Then the squared distance
    is a sum of squares of noise, whose mean and variance are known.
    """
    square = np.square(noise)
    mean, spread = square.sum(axis=1), np.sqrt(2 * np.square(square).sum(axis=1))
    chance = mean + MOVED * spread
    gaps = squared_distances(at, at)
    gaps[mean[:, None] <= mean] = np.inf
    return gaps.min(axis=1, initial=np.inf) > chance


def counted(count: np.ndarray, error: np.ndarray, *, pure: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return the noise that each count is likely to hold, and how uncertain that is.

    A count that is no larger than the largest of so many noisy ones would be shrinks to the median. Others stay. Of few
    counts, neither the median nor how far they differ is well known: the spread is taken a standard error wider, and
    the error of the median is added.
    """
    m, usual = len(count), float(np.median(count))
    spread = (1 + SPREAD_ERROR * m**-0.5) * (1.4826 * float(np.median(np.abs(count - usual)))) ** 2
    true = np.maximum(spread - np.square(error), 0.0) + max(usual, 1.0)
    wide = np.sqrt(true + np.square(error))
    law = laplace(scale=2**-0.5) if pure else norm
    common = np.minimum(1.0, 2 * m * law.sf(np.abs(count - usual) / wide))
    part = common * np.square(error / wide) if m > 2 else np.zeros(m)
    return part * (count - usual), np.sqrt(np.square(error) * (1 - part) + np.square(part * MEDIAN_ERROR * wide) / m)


def counted_together(cells: Measured, k: int, *, pure: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return the same for cells, of which several may be one cluster.

    Clusters are compared with each other, and not their cells: the cells of a grid all hold little, but they were kept
    for what they and their neighbours hold, and a cluster of hundreds is well known.
    """
    square = np.square(cells.count_noise)
    count, noise, number = (
        grouped(each[:, None], cells.group, k)[:, 0] for each in (cells.count, square, np.ones(len(square)))
    )
    excess, doubt = np.zeros(k), np.zeros(k)
    have = number > 0
    excess[have], doubt[have] = counted(count[have], np.sqrt(noise[have]), pure=pure)
    share = np.divide(square, noise[cells.group], out=np.zeros(len(square)), where=noise[cells.group] > 0)
    share[cells.group < 0] = 0.0
    return excess[cells.group] * share, doubt[cells.group] * np.sqrt(share)


def displacements(cells: Measured, noise: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return how far each cell's mean is from where it was measured, and which part of that is likely noise."""
    if cells.at is None or cells.view is not None or len(cells.at) != k:
        return np.zeros(noise.shape), np.zeros((k, 1))
    moved = cells.turned(cells.mean - cells.at)
    known = np.all(noise > 0, axis=1)
    ratio = np.square(
        np.divide(moved, noise, out=np.zeros(moved.shape), where=np.broadcast_to(known[:, None], moved.shape))
    ).mean(axis=1)
    d, median = noise.shape[1], float(np.median(ratio[known])) if known.any() else 1.0
    ratio = (d * ratio + NEIGHBOURS * median) / (d + NEIGHBOURS)
    return moved, np.where(known, np.minimum(1 / np.maximum(ratio, 1.0), MOST_NOISE), 0.0)[:, None]
