"""One column: a released histogram, and a mixture fitted to it by expectation-maximisation, which is free.

    root       release count, mean and variance of all records, with a small share
    histogram  release counts in bins over the bounds, or over mean ± 4 standard deviations if that is far narrower
    fit        expectation-maximisation on the bins; it takes the noise of the counts into account   (binned.py)

A record adds one vote to one bin. No other query says as much about one column with so little noise.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from knoll.estimator import FitContext
from knoll.numeric import bars
from knoll.numeric.binned import LONG, Fits, NoisyCounts, Prior, bin_moments, fit_binned
from knoll.numeric.mixture import Mixture
from knoll.privacy import Ask, Released
from knoll.queries import Ball, Box, ColumnHistograms, Frame
from knoll.steps.choose import Choice
from knoll.steps.tree import ROOT, release_root

# docs/benchmarks.md, "Mixtures" (Old Faithful and the simulation) measures these together, none of them singly.
ROOT_SHARE = 0.06  # for the root: more places the bins better, less leaves more for the bins
# Bins leave the bounds only if the range is below NARROW of them, and the count above CLEAR standard errors: bins in a
# wrong place lose the data, bins over the bounds are only coarse.
NARROW, CLEAR = 0.5, 30.0
REACH = 4.0  # bins cover this many standard deviations about the mean: nearly all records
BINS_EACH, FEWEST, MOST = 12, 24, 240  # bins for each component, and limits in all: finer shows more, at more noise
# While their number is unknown: components that bins are made for at least, standard errors to a bin (more records show
# more components), and how many components more than hills are tried.
GUESS, PER_BIN, MORE = 5, 20.0, 9
CLEAR_HILL = 4.0  # standard errors that a hill must rise above its pass, or any of many bins would make one
REDRAWS, CHOOSING_STEPS = 4, 100  # repetitions for the confidence; steps of a fit while choosing: both limit the time
MISFIT = 1.0  # standard deviation of true counts about those of the mixture, over these, beside chance
SUBBINS = 8  # parts of a bin over which responsibilities are averaged
PRIOR = 3.0  # records of a faint prior per component: none may collapse; `_fit` adds more for wide noise


@dataclass(frozen=True)
class Histogram:
    """A released histogram of one column: finite edges, counts and their noise. Outer bins hold what lies beyond."""

    edges: np.ndarray
    counts: np.ndarray
    stderr: float

    @property
    def observed(self) -> NoisyCounts:
        """The noisy counts, in the form that the fit takes."""
        return NoisyCounts(self.counts, self.stderr)

    def redrawn(self, rng: np.random.RandomState) -> "Histogram":
        """Return a copy with noise of the same size added once more."""
        again = self.counts + self.stderr * rng.standard_normal(len(self.counts))
        return Histogram(self.edges, again, self.stderr * 2**0.5)


def histogram_asks() -> list[Ask]:
    """Return the most that `release_histogram` releases."""
    return [ROOT.plan(1, 1, share=ROOT_SHARE), Ask(1, MOST + 2)]


def release_histogram(context: FitContext, k: int | None) -> Histogram:
    """Spend the budget on a histogram over the range where the records are."""
    frame, first = Frame(context.domain), context.grant.part(ROOT_SHARE)
    spread = ROOT.noise(first, frame)
    root = release_root(first, frame, context.domain.longest())
    middle = float(context.domain.centre[0] + root.mean[0, 0])
    lower, upper = (
        float(context.domain.centre[0] - context.domain.half[0]),
        float(context.domain.centre[0] + context.domain.half[0]),
    )
    half, noise = float(frame.half[0]), spread / float(root.count[0])
    unsure = 2 * noise / ROOT.squares * half**2  # too wide is safer than too narrow
    reach = REACH * float(np.sqrt(root.variance[0, 0] + unsure)) + 2 * noise * half
    low, high = max(lower, middle - reach), min(upper, middle + reach)
    bins = BINS_EACH * (k or GUESS)
    if k is None:
        each = float(context.grant.stderr(ColumnHistograms(np.array([[middle]]))).max())
        bins = max(bins, int(root.count[0] / (PER_BIN * each)))
    bins = int(np.clip(bins, FEWEST, MOST))
    clear = root.count[0] > CLEAR * np.sqrt(root.count_variance[0])
    if clear and high - low < NARROW * (upper - lower):
        edges = np.concatenate([[lower], np.linspace(low, high, bins + 1), [upper]])
        edges = edges[np.concatenate([[True], np.diff(edges) > 1e-9 * (upper - lower)])]
    else:
        edges = np.linspace(lower, upper, bins + 1)
    released: Released = context.grant.release(ColumnHistograms(edges[None, 1:-1]))
    return Histogram(edges, released.value[0].copy(), float(released.stderr.flat[0]))


def fit_histogram(histogram: Histogram, k: int | None, rng: np.random.RandomState, floor: float) -> tuple[Fits, Choice]:
    """Return the fitted components, and their number with how often redrawn histograms agree on it.

    The number of hills counts as much as all redraws: components that make no hill may be clusters that overlap, or one
    cloud that is not normal, and nobody can tell.
    """
    if k is not None:
        return _fit(histogram, k, rng, floor)[0], Choice.given(k)
    hills = hills_of(histogram)
    least = len(hills.means)
    best = choose(histogram, range(least, least + MORE), rng, floor, hills)
    near = range(max(least, best - 1), best + 2)
    drawn = [best, *(choose(histogram.redrawn(rng), near, rng, floor, hills) for _ in range(REDRAWS))]
    drawn += [least] * (len(drawn) + 1) if least != best else []
    return _fit(histogram, best, rng, floor, first=hills)[0], Choice.of(best, np.array(drawn))


def choose(histogram: Histogram, numbers: range, rng: np.random.RandomState, floor: float, hills: Fits) -> int:
    """Return the number of components with the least Bayesian information criterion on the released counts."""
    scores: dict[int, float] = {}
    for k in numbers:
        value = _fit(histogram, k, rng, floor, CHOOSING_STEPS, hills)[1]
        scores[k] = -2 * value + (3 * k - 1) * float(np.log(histogram.observed.total))
        if k >= min(scores, key=lambda j: scores[j]) + 2:
            break
    return min(scores, key=lambda j: scores[j])


def hills_of(histogram: Histogram) -> Fits:
    """Return weights, means and variances of the hills that rise clearly above their passes; at least one."""
    width = np.diff(histogram.edges)
    fine = np.flatnonzero(width < 1.5 * np.median(width))
    smooth = np.convolve(histogram.counts[fine], (0.25, 0.5, 0.25), mode="same")
    error = 0.375 * (histogram.stderr**2 + np.maximum(smooth, 0.0))
    ends = clear_hills(smooth, error)
    hill = np.searchsorted(ends, np.arange(len(fine)), side="right")
    mass = np.maximum(smooth, 0.0) + 1e-9
    middle = (histogram.edges[fine] + histogram.edges[fine + 1]) / 2
    total = np.bincount(hill, mass)
    mean = np.bincount(hill, mass * middle) / total
    variance = np.bincount(hill, mass * np.square(middle - mean[hill])) / total + np.square(width[fine[0]]) / 12
    return Fits(total / total.sum(), mean, variance)


def clear_hills(height: np.ndarray, error: np.ndarray) -> np.ndarray:
    """Return where hills along a line end, but for the last: at passes that both sides rise above by CLEAR_HILL errors.

    `error` holds variances. The least clear pass goes first, with the lower of its two tops.
    """
    padded = np.concatenate([[-np.inf], height, [-np.inf]])
    tops = np.flatnonzero((height >= padded[:-2]) & (height > padded[2:])).tolist()
    passes = [a + int(height[a:b].argmin()) for a, b in pairwise(tops)]
    while passes:
        low = np.array([a if height[a] < height[b] else b for a, b in pairwise(tops)])
        clear = (height[low] - height[passes]) / np.sqrt(error[low] + error[passes])
        i = int(clear.argmin())
        if clear[i] >= CLEAR_HILL:
            break
        lost = tops.index(low[i])
        beside = [j for j in (lost - 1, lost) if 0 <= j < len(passes)]
        passes.pop(max(beside, key=lambda j: height[passes[j]]))
        tops.pop(lost)
    return np.array(passes, dtype=int)


def _fit(
    histogram: Histogram, k: int, rng: np.random.RandomState, floor: float, steps: int = LONG, first: Fits | None = None
) -> tuple[Fits, float]:
    bulk, width = _span(histogram)
    low = float(histogram.edges[np.flatnonzero(np.diff(histogram.edges) < 1.5 * width)[0]])
    hidden = histogram.stderr**2 * len(histogram.counts) / histogram.observed.total
    prior = Prior(PRIOR + hidden, (bulk / (6 * k)) ** 2, hidden, low + bulk * (np.arange(k) + 0.5) / k)
    least = max(floor, (width / 4) ** 2)
    first = first if first is not None and len(first.means) == k else None
    return fit_binned(histogram.observed, histogram.edges, k, rng, floor=least, prior=prior, steps=steps, first=first)


def _span(histogram: Histogram) -> tuple[float, float]:
    """Return the width of all fine bins together, and that of one."""
    widths = np.diff(histogram.edges)
    width = float(np.median(widths))
    return width * int((widths < 1.5 * width).sum()), width


def noise_errors(histogram: Histogram, fits: Fits) -> np.ndarray:
    """Return the standard errors (3, k) of weights, means and variances that come from the noise of the counts.

    The fit solves J^T W (counts - intensities) = 0. W holds the inverse variances of the counts. Noise in the counts
    moves the solution by H^-1 J^T W noise, where H = J^T W J.
    """
    k = len(fits.means)
    scale = np.concatenate([np.full(k, 1e-4), 1e-4 * np.sqrt(fits.variances), 1e-4 * fits.variances])
    start = np.concatenate([fits.weights, fits.means, fits.variances])

    def intensities(at: np.ndarray) -> np.ndarray:
        moved = Fits(at[:k], at[k : 2 * k], at[2 * k :])
        return histogram.observed.total * (moved.weights[:, None] * bin_moments(moved, histogram.edges)[0]).sum(axis=0)

    steps = np.diag(scale)
    slope = np.array(
        [
            (intensities(start + step) - intensities(start - step)) / (2 * h)
            for step, h in zip(steps, scale, strict=True)
        ]
    ).T
    weight = 1 / (np.maximum(intensities(start), 0.0) + histogram.stderr**2)
    solve = np.linalg.pinv(slope.T @ (weight[:, None] * slope), rcond=1e-10, hermitian=True) @ (slope.T * weight)
    return histogram.stderr * np.sqrt(np.square(solve).sum(axis=1)).reshape(3, k)


def histogram_bars(histogram: Histogram, mixture: Mixture, domain: Box | Ball, *, pure: bool) -> bars.Bars:
    """Return error bars of weights (as counts) and means against records weighted by their responsibilities.

    The histogram tells these weighted moments directly, up to its noise and what lies within its bins: there, records
    are spread evenly, or with a slope towards the higher neighbour. The second is used, the first tells how unsure
    that is.
    """
    flat, sloped = (weighted_bins(histogram, mixture, slope) for slope in (0.0, 1.0))
    counts, noise = likely_counts(histogram, mixture)
    share = sloped[0]
    n, error = share.T @ counts, np.sqrt(np.square(share).T @ noise**2)
    safe = np.maximum(n, error)
    means = [each[1].T @ counts / np.maximum(each[0].T @ counts, error) for each in (flat, sloped)]
    away = sloped[1] - share * means[1]
    spread = np.square(np.diff(histogram.edges)) / 12
    place = (np.square(away).T @ noise**2 + share.T @ (np.maximum(counts, 0.0) * spread)) / safe**2
    place = np.sqrt(place + np.square(mixture.means[:, 0] - means[1]) + np.square(means[1] - means[0]) / 4)
    unsure = np.square(n - flat[0].T @ counts) / 4 + share.T * (1 - share.T) @ np.maximum(counts, 0.0) / 12
    sizes = np.sqrt(error**2 + np.square(mixture.weights * max(float(counts.sum()), 1.0) - n) + unsure)
    clear = n > bars.clear_level(len(n), pure=pure) * histogram.stderr * np.sqrt(np.square(share).sum(axis=0))
    seen = clear & (place < bars.GUESS * domain.half[0])
    return bars.Bars(np.where(seen, place, np.inf)[:, None], sizes, seen)


def likely_counts(histogram: Histogram, mixture: Mixture) -> tuple[np.ndarray, np.ndarray]:
    """Return counts averaged with those of the mixture, by precision, and their standard errors.

    Where the mixture has few records, at least half of what differs from it is noise.
    """
    fits = Fits(mixture.weights, mixture.means[:, 0], mixture.covariances[:, 0, 0])
    inside = bin_moments(fits, histogram.edges)[0]
    model = histogram.observed.total * (mixture.weights[:, None] * inside).sum(axis=0)
    differ = model + np.square(MISFIT * model) + histogram.stderr**2
    gain = differ / (differ + histogram.stderr**2)
    return model + gain * (histogram.counts - model), histogram.stderr * np.sqrt(gain)


def weighted_bins(histogram: Histogram, mixture: Mixture, slope: float) -> tuple[np.ndarray, np.ndarray]:
    """Return responsibilities, and responsibilities times place, of the records of each bin, both (bins, k)."""
    width = np.diff(histogram.edges)
    middles = (histogram.edges[1:] + histogram.edges[:-1]) / 2
    density = histogram.counts / width
    rise = slope * np.gradient(density, middles) / np.maximum(density, histogram.stderr / width)
    share, place = np.zeros((2, len(middles), mixture.n_components))
    for at in (np.arange(SUBBINS) + 0.5) / SUBBINS - 0.5:
        points = middles + at * width
        weight = (1 + np.clip(rise * width, -2.0, 2.0) * at) / SUBBINS
        each = weight[:, None] * mixture.predict_proba(points[:, None])
        share, place = share + each, place + each * points[:, None]
    return share, place
