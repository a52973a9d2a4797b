"""Peaks of a released kernel sum along its last column: conditional modes, for many points at once.

At a point x of the other columns, the sum is a profile over a mesh of y. On either side of a peak, take the lowest
point on the way to a higher value; the pass is the higher of the two. The significance of a peak is its height above
the pass, in standard errors of that difference (noise and sampling), as in landscape.py.
"""

from dataclasses import dataclass

import numpy as np
from scipy.stats import qmc

from knoll.series.chance import significance_threshold
from knoll.series.persistence import merge_tree
from knoll.series.series import GridSeries, Series

PER_BANDWIDTH = 6  # mesh points to a bandwidth of y: a finer mesh misses fewer peaks and takes longer
EVEN = 4096  # points, spread evenly over the predictors, at which records are counted to tell what is typical
ROWS = 512  # profiles held at a time: bounds memory


@dataclass(frozen=True)
class Profiles:
    """Peaks of profiles: the row and place of each, its height, significance and the variance of its place."""

    row: np.ndarray
    at: np.ndarray
    height: np.ndarray
    significance: np.ndarray
    variance: np.ndarray


def y_mesh(low: float, high: float, bandwidth: float) -> np.ndarray:
    """A mesh of the last column, fine against the bandwidth."""
    return np.linspace(low, high, int(np.clip(np.ceil((high - low) / bandwidth * PER_BANDWIDTH), 32, 1024)) + 1)


def profile(series: Series, x: np.ndarray, mesh: np.ndarray) -> np.ndarray:
    """The kernel sum at points x of the first columns and a mesh of the last: (points, mesh)."""
    if isinstance(series, GridSeries):
        return series.profile(x, mesh)
    points = np.hstack([np.repeat(x, len(mesh), axis=0), np.tile(mesh, len(x))[:, None]])
    return series.value(points).reshape(len(x), len(mesh))


def row_peaks(values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Peaks of every row: row, column, height of the pass to a higher peak (-inf: none), and the pass's column.

    All rows make one long profile, with walls of minus infinity between them; neighbouring peaks meet at the lowest
    point between them.
    """
    n = values.shape[1]
    padded = np.pad(values, ((0, 0), (1, 1)), constant_values=-np.inf)
    flat = padded.ravel()
    peak = np.flatnonzero((flat[1:-1] >= flat[:-2]) & (flat[1:-1] > flat[2:])) + 1
    low = np.minimum.reduceat(flat, peak)[:-1]
    segment = np.repeat(np.arange(len(peak) - 1), np.diff(peak))
    reached = np.flatnonzero(flat[peak[0] : peak[-1]] == low[segment])
    first = np.unique(segment[reached], return_index=True)[1]
    where = reached[first] + peak[0]
    real = np.isfinite(low)
    order = np.argsort(-flat[peak], kind="stable")
    rank = np.empty(len(peak), dtype=np.int64)
    rank[order] = np.arange(len(peak))
    pairs = np.column_stack([rank[:-1], rank[1:]])[real]
    _, meets = merge_tree(flat[peak[order]], pairs, low[real])
    meets = meets[rank]
    met = meets >= 0
    height, column = np.full(len(peak), -np.inf), peak % (n + 2) - 1
    height[met] = low[real][meets[met]]
    place = column.copy()
    place[met] = where[real][meets[met]] % (n + 2) - 1
    return peak // (n + 2), column, height, place


def peaks_of_profiles(series: Series, x: np.ndarray, low: float, high: float) -> Profiles:
    """Find and weigh all peaks along the last column, at every point x."""
    mesh = y_mesh(low, high, float(series.bandwidth[-1]))
    parts = [_peaks(series, x[i : i + ROWS], mesh, i) for i in range(0, len(x), ROWS)]
    return Profiles(
        *(np.concatenate([getattr(part, name) for part in parts]) for name in Profiles.__dataclass_fields__)
    )


def _peaks(series: Series, x: np.ndarray, mesh: np.ndarray, first: int) -> Profiles:
    values = profile(series, x, mesh)
    row, column, low, where = row_peaks(values)
    start = np.column_stack([x[row], mesh[column]])
    points = climb_last(series, start, mesh[0], mesh[-1])
    gap = mesh[1] - mesh[0]
    points[:, -1] = np.clip(points[:, -1], mesh[column] - 2 * gap, mesh[column] + 2 * gap)
    height, _, curve = last_derivatives(series, points)
    highest = ~np.isfinite(low)
    even, noise_over_even = even_spread(series, x, mesh)
    level = np.where(highest, even[row], low)
    pass_points = np.column_stack([x[row], np.where(highest, points[:, -1], mesh[where])])
    flat = 2.0 ** (-points.shape[1] / 2)
    apart = (points[:, -1] - pass_points[:, -1]) / series.bandwidth[-1]
    shared = np.where(highest, 1.0, 1 - np.exp(-(apart**2) / 4))
    noise = np.where(highest, noise_over_even, series.noise_of_difference(points, pass_points))
    sampling = flat * (np.maximum(height, 0.0) + np.where(highest, 0.0, np.maximum(level, 0.0))) * shared
    sure = (height - level) / np.sqrt(noise**2 + sampling + series.approximation**2 + 1e-300)
    return Profiles(row + first, points[:, -1], height, sure, place_variance(series, height, curve))


def even_spread(series: Series, x: np.ndarray, mesh: np.ndarray) -> tuple[np.ndarray, float]:
    """Height of each profile if its records were spread evenly, and the noise of (a value - that height)."""
    width = float(mesh[-1] - mesh[0])
    if isinstance(series, GridSeries):
        return series.even_profile(x, width)
    gap, beyond = mesh[1] - mesh[0], 2 * float(series.bandwidth[-1])  # kernels reach beyond the two ends
    wide = np.arange(mesh[0] - beyond, mesh[-1] + beyond + gap / 2, gap)
    return profile(series, x, wide).sum(axis=1) * gap / width, series.noise


def records_near(series: Series, x: np.ndarray, low: float, high: float) -> np.ndarray:
    """Released number of records near each x, whatever their y: the kernel sum over the first columns alone."""
    mesh = y_mesh(low, high, float(series.bandwidth[-1]))
    even = np.concatenate([even_spread(series, x[i : i + ROWS], mesh)[0] for i in range(0, len(x), ROWS)] or [x[:, 0]])
    return even * (high - low) / (np.sqrt(2 * np.pi) * float(series.bandwidth[-1]))


def records_near_typical(series: Series, lower: np.ndarray, upper: np.ndarray) -> float:
    """Released number of records near a typical record: the mean of `records_near`, weighted by itself."""
    x = qmc.scale(qmc.Sobol(len(lower) - 1, scramble=False).random(EVEN), lower[:-1], upper[:-1])
    near = np.maximum(records_near(series, x, float(lower[-1]), float(upper[-1])), 0.0)
    return float(np.square(near).sum() / max(near.sum(), 1e-300))


def place_variance(series: Series, height: np.ndarray, curve: np.ndarray) -> np.ndarray:
    """Variance of the place of a peak along the last column; see `place.place_variance`."""
    h, d = float(series.bandwidth[-1]), len(series.bandwidth)
    value = np.maximum(height, series.noise + 1e-300)
    rate = np.clip(-curve * h**2 / value, 1e-3, None)
    r = np.clip(1 / rate - 1, 0.0, 50.0)
    sampling = value * 2.0 ** (-(d - 1) / 2) * (1 + r) ** 0.5 * (1 + 2 * r) ** -0.5 * r / (1 + 2 * r)
    return (sampling + (series.gradient_noise[-1] * h) ** 2) / (rate * value) ** 2 * h**2


def last_derivatives(series: Series, points: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Value, first and second derivative along the last column."""
    last = points.shape[1] - 1
    found = series._evaluate(points, [(), (last,), (last, last)])
    return found[:, 0], found[:, 1], found[:, 2]


def climb_last(series: Series, points: np.ndarray, low: float, high: float, steps: int = 100) -> np.ndarray:
    """Partial mean shift y + h^2 S_y / S, with Newton's step where the profile curves down. x stays fixed."""
    points = points.copy()
    points[:, -1] = np.clip(points[:, -1], low, high)
    h = float(series.bandwidth[-1])
    moving = np.arange(len(points))
    for _ in range(steps):
        if not len(moving):
            break
        value, slope, curve = last_derivatives(series, points[moving])
        step = h**2 * slope / np.maximum(np.abs(value), series.noise + 1e-300)
        newton = (curve < 0) & (np.abs(slope) < 0.3 * h * np.abs(curve))
        step[newton] = -slope[newton] / curve[newton]
        moved = np.clip(points[moving, -1] + np.clip(step, -h / 2, h / 2), low, high)
        still = np.abs(moved - points[moving, -1]) < 1e-6 * h
        points[moving, -1] = moved
        moving = moving[~still]
    return points


def shift_last(series: Series, points: np.ndarray, low: float, high: float, steps: int) -> np.ndarray:
    """Take plain steps of partial mean shift, y + h^2 S_y / S. A sum S below its noise is replaced by it."""
    points = points.copy()
    h = float(series.bandwidth[-1])
    for _ in range(steps):
        value, slope, _ = last_derivatives(series, points)
        step = h**2 * slope / np.maximum(np.abs(value), series.noise + 1e-300)
        points[:, -1] = np.clip(points[:, -1] + step, low, high)
    return points


def threshold(series: Series, widths: np.ndarray, chance: float, rungs: int) -> float:
    """Significance that noise exceeds somewhere with at most this chance. Passes lie along the last column."""
    sides = widths / series.bandwidth
    return significance_threshold(chance, sides, rungs=rungs, line=float(sides[-1]))
