"""From a released kernel sum to its modes: peaks and passes at every rung, which ones stand out, where they are.

Every figure here is post-processing of one release, whose noise is known exactly.

*Significance.* A peak's height above the pass to a higher one, over the standard error of that difference: the
privacy noise of S(top) - S(pass), exact, and the sampling error, sum K^2 = 2^(-d/2) S where the density is even, less
what the two points share. A highest peak is held against an even spread of all records over the bounds.

*The rung.* The one with the most significant modes; of those, the one whose least significant mode is the most so.

*The place.* A mode's place has variance H^-1 C H^-1 (H the Hessian, C the covariance of the gradient: noise and
sampling). Wider bandwidths have less of it and more bias. Each mode is followed up the ladder and the bandwidth is the
one that minimises variance plus what the bias is at least, seen from narrower ones (Goldenshluger and Lepski 2011).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from knoll.modes.ascent import ascend, distinct, good_starts, polish
from knoll.modes.chance import significance_threshold
from knoll.modes.persistence import Peaks, merge_tree, mesh_peaks
from knoll.modes.release import Surroundings
from knoll.modes.series import GridSeries, Series

CELLS = {1: 6, 2: 3.0, 3: 2.5}  # mesh cells to a bandwidth
MOST_PEAKS = 24  # followed in many columns
MOST_CURVED = 32  # columns up to which the curvature of a mode is computed
FOLLOWED = 6  # quarter octaves that a mode is followed up the ladder
PATH = np.linspace(0.0, 1.0, 17)[1:-1]


@dataclass(frozen=True)
class Landscape:
    """Peaks of a kernel sum at one bandwidth.

    Attributes
    ----------
    series : GridSeries or FeatureSeries
        The kernel sum.
    peaks : Peaks
        All of them, highest first.
    significance : array of shape (n_peaks,)
        How far each stands out.
    threshold : float
        What significance no false peak exceeds, but with the chosen chance.
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


def clipper(around: Surroundings) -> Callable[[np.ndarray], np.ndarray]:
    """Return the map of public points into the domain."""
    return around.domain.clip


def survey(series: Series, around: Surroundings, chance: float, seed: int, rungs: int = 1) -> Landscape:
    """Find all peaks of a kernel sum and weigh them, one bandwidth of so many that are looked at."""
    if isinstance(series, GridSeries):
        axes = mesh_axes(around, series.bandwidth)
        peaks, basin = mesh_peaks(series.on_mesh(*axes), axes)
    else:
        axes, basin = None, None
        peaks = _peaks_of_starts(series, around, seed)
    sides = (around.high - around.low) / series.bandwidth
    threshold = significance_threshold(chance, sides, rungs=rungs, line=sides[0] if len(sides) == 1 else 0.0)
    sure = significance(series, peaks, float(np.prod(around.high - around.low)))
    return Landscape(series, peaks, sure, threshold, axes, basin)


def mesh_axes(around: Surroundings, bandwidth: np.ndarray) -> list[np.ndarray]:
    """A mesh over the bounds, fine against the bandwidth."""
    per = CELLS[around.n_columns]
    return [
        np.linspace(low, high, int(np.clip(np.ceil((high - low) / h * per), 16, 2**11)) + 1)
        for low, high, h in zip(around.low, around.high, bandwidth, strict=True)
    ]


def significance(series: Series, peaks: Peaks, volume: float) -> np.ndarray:
    """Height over the pass, or for a peak without one over an even spread, in standard errors."""
    d = len(series.bandwidth)
    kernel = float(np.prod(series.bandwidth)) * (2 * np.pi) ** (d / 2)
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


def _peaks_of_starts(series: Series, around: Surroundings, seed: int) -> Peaks:
    """In many columns: climb from good starts; passes are the least values on straight lines between peaks."""
    clip = clipper(around)
    starts = good_starts(series, around.low, around.high, clip, seed, 3 * MOST_PEAKS)
    points = distinct(series, ascend(series, starts, clip))[:MOST_PEAKS]
    if around.n_columns <= 10:
        points = distinct(series, polish(series, points, clip, steps=5))
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
    series: Series, hs: np.ndarray, around: Surroundings, chance: float, seed: int, n_modes: int | None = None
) -> tuple[Landscape, list[Landscape]]:
    """Survey every rung; return the best one, and all of them."""
    views = [survey(series.at(h), around, chance, seed, len(hs)) for h in hs]
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


def place_variance(series: Series, points: np.ndarray) -> np.ndarray:
    """Covariance of the place of tops: noise and sampling error of the gradient through the Hessian, (m, d, d).

    The spread r h^2 of the records around a top is read off its curvature, S'' = S / (h^2 + r h^2), and with it the
    sampling variance of the gradient.
    """
    h, d = series.bandwidth, points.shape[1]
    value, _, hessian = series.derivatives(points)
    value = np.maximum(value, series.noise + 1e-300)
    curve = -hessian * np.outer(h, h)
    rate = np.trace(curve, axis1=1, axis2=2) / d / value
    r = np.clip(1 / np.maximum(rate, 0.02) - 1, 0.0, 50.0)
    sampling = value * (1 + r) ** (d / 2) * (1 + 2 * r) ** (-d / 2) * r / (1 + 2 * r)
    spread = sampling[:, None] + (series.gradient_noise * h) ** 2
    with np.errstate(all="ignore"):
        turned = np.linalg.pinv(curve)
    return turned @ (spread[:, :, None] * np.eye(d)) @ turned * np.outer(h, h)


def settle(series: Series, points: np.ndarray, around: Surroundings, *, follow: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return the places of tops and the covariance of each, the bandwidth chosen mode by mode if `follow`."""
    clip = clipper(around)
    d = points.shape[1]
    if not len(points) or d > MOST_CURVED:  # too many columns for Hessians
        return points, np.full((len(points), d, d), np.inf)
    points = polish(series, points, clip)
    places, covariances = [points], [place_variance(series, points)]
    alive = np.ones(len(points), dtype=bool)
    for step in range(1, FOLLOWED + 1 if follow else 1):
        wider = series.at(series.bandwidth * 2 ** (step / 4))
        moved = polish(wider, places[-1], clip)
        gap = np.linalg.norm((moved - places[-1]) / wider.bandwidth, axis=1)
        others = np.linalg.norm((moved[:, None] - moved) / wider.bandwidth, axis=-1) + 9 * np.eye(len(moved))
        down = np.linalg.eigvalsh(wider.hessian(moved))[:, -1] < 0
        alive = alive & down & (gap < 0.5) & (others.min(axis=1) > 0.5)
        places.append(np.where(alive[:, None], moved, places[-1]))
        covariances.append(np.where(alive[:, None, None], place_variance(wider, moved), np.inf))
    return _least_risk(np.array(places), np.array(covariances), series.bandwidth)


def _least_risk(places: np.ndarray, covariances: np.ndarray, unit: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Per mode, the bandwidth with the least variance plus squared bias, as far as narrower ones reveal it."""
    variance = np.trace(covariances / np.outer(unit, unit), axis1=2, axis2=3)
    risk = variance.copy()
    for wide in range(1, len(places)):
        moved = np.square((places[wide] - places[:wide]) / unit).sum(axis=2)
        known = np.where(np.isfinite(variance[wide]), variance[wide], 0.0)
        chance = 2 * np.maximum(variance[:wide] - known, 0.0)  # twice what noise alone would move it
        risk[wide] += np.maximum(moved - chance, 0.0).max(axis=0)
    best = risk.argmin(axis=0)
    mode = np.arange(places.shape[1])
    return places[best, mode], covariances[best, mode]
