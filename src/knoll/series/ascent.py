"""Going uphill on a released kernel sum: mean shift, and Newton's method near a top. All points move at once."""

from collections.abc import Callable

import numpy as np
from scipy.stats import qmc

from knoll.series.base import Surface
from knoll.series.series import Series

_LONGEST = 0.5  # bandwidths per step, at most: a longer step may jump over a peak
_APART = 0.3  # bandwidths: points that ended nearer than this are one peak
_STILL = 1e-6  # bandwidths: stop when all steps are smaller
_QUICK = 1e-3  # bandwidths: stop when all steps are Newton's and smaller; the next would be of the order of its square


def mean_shift_step(series: Series, points: np.ndarray) -> np.ndarray:
    """The step m(x) - x = h^2 grad S / S of Gaussian mean shift. A sum S below its noise is replaced by it."""
    return _shift(series, *series.value_and_gradient(points))


def _shift(series: Surface, value: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    return series.bandwidth**2 * gradient / np.maximum(np.abs(value), series.noise + 1e-300)[:, None]


def ascend(series: Series, points: np.ndarray, clip: Callable[[np.ndarray], np.ndarray], steps: int = 60) -> np.ndarray:
    """Follow mean shift from every point, inside a domain."""
    points, moving = clip(points), np.arange(len(points))
    for _ in range(steps):
        if not len(moving):
            break
        step = _short(mean_shift_step(series, points[moving]), series.bandwidth)
        moved = clip(points[moving] + step)
        still = np.abs((moved - points[moving]) / series.bandwidth).max(axis=1) < 1e-3
        points[moving] = moved
        moving = moving[~still]
    return points


def polish(
    series: Surface, points: np.ndarray, clip: Callable[[np.ndarray], np.ndarray], steps: int = 20,
    matters: np.ndarray | None = None,
) -> np.ndarray:  # fmt: skip
    """Move points that are near a top onto it: Newton where the surface curves down, mean shift elsewhere.

    Points that do not matter are moved along, and not waited for.
    """
    points = clip(points)
    wait = np.ones(len(points), dtype=bool) if matters is None else matters
    for _ in range(steps):
        if not len(points):
            break
        value, gradient, hessian = series.derivatives(points)
        step = _shift(series, value, gradient)
        down = np.linalg.eigvalsh(hessian)[:, -1] < 0
        if down.any():
            step[down] = -np.linalg.solve(hessian[down], gradient[down][..., None])[..., 0]
        moved = clip(points + _short(step, series.bandwidth))
        size = np.abs((moved - points) / series.bandwidth).max(axis=1)
        points = moved
        if (size < np.where(down, _QUICK, _STILL))[wait].all():
            break
    return points


def good_starts(
    series: Series, low: np.ndarray, high: np.ndarray, clip: Callable[[np.ndarray], np.ndarray], seed: int, most: int
) -> np.ndarray:
    """Points where a sum in many columns is high: low-discrepancy points, then several rounds near the best."""
    sobol = qmc.Sobol(len(low), scramble=True, seed=seed)
    points = clip(low + (high - low) * sobol.random(1024))
    rng = np.random.RandomState(seed)
    value = series.value(points)
    for _ in range(5):
        best = np.argsort(-value, kind="stable")[: 2 * most]
        near = points[best] + series.bandwidth * rng.standard_normal((2, *points[best].shape))
        near = clip(near.reshape(-1, len(low)))
        points, value = np.vstack([points[best], near]), np.concatenate([value[best], series.value(near)])
    return points[np.argsort(-value, kind="stable")[:most]]


def distinct(series: Series, points: np.ndarray) -> np.ndarray:
    """Return one of each group of points that ended together, highest first."""
    points = points[np.argsort(-series.value(points), kind="stable")]
    chosen: list[int] = []
    for i in range(len(points)):
        gaps = np.linalg.norm((points[chosen] - points[i]) / series.bandwidth, axis=1)
        if not chosen or gaps.min() > _APART:
            chosen.append(i)
    return points[chosen]


def _short(step: np.ndarray, bandwidth: np.ndarray) -> np.ndarray:
    """Shorten steps that are longer than half a bandwidth."""
    length = np.linalg.norm(step / bandwidth, axis=1, keepdims=True)
    return step * np.minimum(1.0, _LONGEST / np.maximum(length, 1e-300))
