"""From a released kernel sum to its modes: peaks and passes at every rung, and which ones stand out.

Every figure here is post-processing of one release, whose noise is known exactly.

*Significance.* The height of a peak above the pass to a higher peak, divided by the standard error of that difference.
The error has two parts. The privacy noise of S(top) - S(pass) is known exactly. The sampling error is sum K^2 =
2^(-d/2) S where the density is even, less what the two points share. The highest peak is compared with an even spread
of all records over the bounds.

*The rung.* The one with the largest number of significant modes. Ties go to the rung whose weakest mode is strongest.
"""

from dataclasses import dataclass

import numpy as np

from knoll import progress
from knoll.series.ascent import ascend, distinct, good_starts, polish
from knoll.series.chance import significance_threshold
from knoll.series.persistence import Peaks, merge_tree, mesh_peaks
from knoll.series.series import GridSeries, Series, kernel_volume
from knoll.series.surroundings import Surroundings

CELLS = {1: 6, 2: 3.0, 3: 2.5}  # mesh cells to a bandwidth, by number of columns: recall against time
REACH = 1.5  # bandwidths from a given start within which a peak counts as found from it
MOST_PEAKS = 24  # most peaks in many columns: time grows as its square, by pairs
PATH = np.linspace(0.0, 1.0, 17)[1:-1]  # where a straight line between two peaks is looked at


@dataclass(frozen=True)
class ModeSurvey:
    """Peaks of a kernel sum at one bandwidth.

    Attributes
    ----------
    series : GridSeries or FeatureSeries
        The kernel sum.
    peaks : Peaks
        All of them, highest first.
    significance : array of shape (n_peaks,)
        Of each peak; see above.
    threshold : float
        The significance that some false peak exceeds with at most the chosen chance.
    axes, basin : list of arrays and integer array, or None
        A mesh and the peak that each of its cells belongs to, in few columns.
    """

    series: Series
    peaks: Peaks
    significance: np.ndarray
    threshold: float
    axes: list[np.ndarray] | None
    basin: np.ndarray | None

    @property
    def stands_out(self) -> np.ndarray:
        """Which peaks are significant."""
        return self.significance > self.threshold


def survey(
    series: Series, around: Surroundings, chance: float, seed: int, rungs: int = 1, false: float = 0.0,
    starts: np.ndarray | None = None,
) -> ModeSurvey:  # fmt: skip
    """Find all peaks of a kernel sum and their significance.

    `rungs` is how many bandwidths are examined. Where that lets more stand out, this part `false` of the peaks that do
    may be noise, as expected: with many modes, one false is a smaller fault than several lost (Benjamini and Hochberg).
    In many columns, peaks are climbed to from `starts`; if there are none, from points where the sum is high.
    """
    if isinstance(series, GridSeries):
        axes = mesh_axes(around, series.bandwidth)
        peaks, basin = mesh_peaks(series.on_mesh(*axes), axes)
    else:
        axes, basin = None, None
        peaks = _peaks_of_starts(series, around, seed, starts)
    sides = looked_at(around, series.bandwidth, starts)
    sure = significance(series, peaks, float(np.prod(around.high - around.low)))
    return ModeSurvey(series, peaks, sure, lowered_threshold(sure, chance, false, sides, rungs), axes, basin)


def looked_at(around: Surroundings, bandwidth: np.ndarray, starts: np.ndarray | None) -> np.ndarray:
    """Return the sides, in bandwidths, of the box of all places where a peak could be found.

    From starts that the noise of this sum had no part in, only peaks within REACH bandwidths in every column count.
    """
    sides = (around.high - around.low) / bandwidth
    if starts is None:
        return np.asarray(sides)
    few = (2 * REACH) * len(starts) ** (1 / len(sides))
    return np.asarray(sides if np.prod(sides) < few ** len(sides) else np.full(len(sides), few))


def lowered_threshold(sure: np.ndarray, chance: float, false: float, sides: np.ndarray, rungs: int = 1) -> float:
    """Return the threshold of a chance; lowered, step by step, while a part `false` of what stands out allows more."""
    line = float(sides[0]) if len(sides) == 1 else 0.0
    while True:
        threshold = significance_threshold(chance, sides, rungs=rungs, line=line)
        allowed = false * int((sure > threshold).sum())
        if allowed <= chance:
            return threshold
        chance = allowed


def mesh_axes(around: Surroundings, bandwidth: np.ndarray) -> list[np.ndarray]:
    """A mesh over the bounds, fine against the bandwidth."""
    per = CELLS[around.n_columns]
    return [
        np.linspace(low, high, int(np.clip(np.ceil((high - low) / h * per), 16, 2**11)) + 1)
        for low, high, h in zip(around.low, around.high, bandwidth, strict=True)
    ]


def significance(series: Series, peaks: Peaks, volume: float) -> np.ndarray:
    """Height above the pass (without a pass: above an even spread), in standard errors."""
    d = len(series.bandwidth)
    kernel = kernel_volume(series.bandwidth)
    flat = 2.0 ** (-d / 2)
    merges = peaks.parent >= 0
    heights = np.maximum(peaks.heights, 0.0)
    gaps = np.square((peaks.points - peaks.pass_points) / series.bandwidth).sum(axis=1)
    low = np.where(merges, peaks.pass_heights, max(series.count, 0.0) * kernel / volume)
    noise = np.where(
        merges,
        series.noise_of_difference(peaks.points, peaks.pass_points),
        np.hypot(series.noise, series.count_stderr * kernel / volume),
    )
    apart = np.where(merges, 1 - np.exp(-gaps / 4), 1.0)
    sampling = flat * (heights + np.where(merges, np.maximum(low, 0.0), 0.0)) * apart
    return (peaks.heights - low) / np.sqrt(noise**2 + sampling + series.approximation**2 + 1e-300)


def _peaks_of_starts(series: Series, around: Surroundings, seed: int, starts: np.ndarray | None) -> Peaks:
    """Climb from given or good starts, in many columns. A pass is the least value on a straight line between peaks."""
    clip = around.domain.clip
    given = starts is not None
    if starts is None:
        starts = good_starts(series, around.low, around.high, clip, seed, 3 * MOST_PEAKS)
    points = distinct(series, ascend(series, starts, clip))[:MOST_PEAKS]
    if around.n_columns <= 10:
        points = distinct(series, polish(series, points, clip, steps=5))
    if given:
        gaps = np.abs((points[:, None] - starts) / series.bandwidth).max(axis=2).min(axis=1)
        points = points[(gaps <= REACH) | (gaps == gaps.min())]
    return peaks_between(series, points)


def peaks_between(series: Series, points: np.ndarray) -> Peaks:
    """Order given tops by height and join them by the passes on straight lines."""
    heights = series.value(points)
    order = np.argsort(-heights, kind="stable")
    points, heights = points[order], heights[order]
    a, b = np.triu_indices(len(points), 1)
    lines = points[a][:, None] + PATH[:, None] * (points[b] - points[a])[:, None]
    along = series.value(lines.reshape(-1, points.shape[1])).reshape(len(a), len(PATH))
    lowest = along.argmin(axis=1) if len(a) else np.empty(0, dtype=int)
    passes = along[np.arange(len(a)), lowest]
    parent, meets = merge_tree(heights, np.column_stack([a, b]), passes)
    met = meets >= 0
    where, low = points.copy(), np.full(len(points), -np.inf)
    where[met] = lines[meets[met], lowest[meets[met]]]
    low[met] = np.minimum(passes[meets[met]], heights[met])
    return Peaks(points, heights, parent, where, low)


def choose_rung(
    series: Series, hs: np.ndarray, around: Surroundings, chance: float, seed: int, n_modes: int | None = None,
    false: float = 0.0, starts: np.ndarray | None = None,
) -> tuple[ModeSurvey, list[ModeSurvey]]:  # fmt: skip
    """Survey every rung; return the best one, and all of them."""
    views = []
    for number, h in enumerate(hs):
        progress.report("looking for peaks", number / len(hs))
        views.append(survey(series.at(h), around, chance, seed, len(hs), false, starts))
    if n_modes is None:
        keys = []
        for view in views:
            kept = view.significance[view.stands_out]
            keys.append((len(kept), float(kept.min()) if len(kept) else float(view.significance.max())))
    else:
        keys = []
        for view in views:
            ranked = np.sort(view.significance)[::-1]
            enough = len(ranked) >= n_modes
            keys.append((int(enough), float(ranked[n_modes - 1]) if enough else float(len(ranked))))
    return views[max(range(len(views)), key=lambda i: keys[i])], views
