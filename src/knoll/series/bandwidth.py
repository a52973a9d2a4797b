"""Bandwidths of modal regression: those released, and the one whose conditional modes have the least error."""

import numpy as np

from knoll.series.conditional import climb_last, last_derivatives, peaks_of_profiles, place_variance, threshold
from knoll.series.series import Series
from knoll.series.surroundings import Surroundings

ACROSS, ALONG = (5.0, 10.0, 20.0), (10.0, 20.0)  # bandwidths of x and y are the width of the bounds divided by these
POINTS = 64  # points of the predictors at which bandwidths are compared: accuracy against time


def regression_rungs(around: Surroundings) -> np.ndarray:
    """All combinations of bandwidths of x and y, widest first: a curve may be smooth in x and sharp in y."""
    width = around.high - around.low
    return np.array([np.append(width[:-1] / across, width[-1] / along) for across in ACROSS for along in ALONG])


def choose_bandwidth(series: Series, around: Surroundings, chance: float, seed: int, rungs: int) -> Series:
    """Return the bandwidth whose significant conditional modes have the least error, as narrower ones reveal it.

    The error of a bandwidth is the mean variance of the modes' places plus their squared bias. The bias is how far the
    modes move at bandwidths narrower in x or y, less twice what noise explains. Bandwidths that show modes in too
    little of the domain come last.
    """
    rng = np.random.RandomState(seed)
    d = around.n_columns
    x = around.low[:-1] + (around.high - around.low)[:-1] * (
        (np.arange(POINTS)[:, None] + 0.5) / POINTS if d == 2 else rng.uniform(size=(2 * POINTS, d - 1))
    )
    low, high = around.low[-1], around.high[-1]
    across, along = (2.0 ** np.arange(np.log2(f[0]), np.log2(f[-1]) + 0.01, 0.5) for f in (ACROSS, ALONG))
    views, found = {}, {}
    for i, wide in enumerate(across):
        for j, tall in enumerate(along):
            width = around.high - around.low
            views[i, j] = view = series.at(np.append(width[:-1] / wide, width[-1] / tall))
            peaks = peaks_of_profiles(view, x, low, high)
            kept = peaks.significance > threshold(view, around.high - around.low, chance, rungs)
            found[i, j] = (np.column_stack([x[peaks.row[kept]], peaks.at[kept]]), peaks.variance[kept])
    seen = {key: len(np.unique(points[:, :-1], axis=0)) if d > 1 else len(points) for key, (points, _) in found.items()}
    risk = {}
    for (i, j), (points, variance) in found.items():
        if seen[i, j] < 0.8 * max(seen.values()) or not len(points):
            risk[i, j] = (1, -float(seen[i, j]))
            continue
        bias = np.zeros(len(points))
        for key in ((i + 1, j), (i + 2, j), (i, j + 1), (i, j + 2), (i + 2, j + 2)):
            if key in views:
                moved = climb_last(views[key], points, low, high, steps=30)
                height, _, curve = last_derivatives(views[key], moved)
                clear = height > 2 * views[key].noise
                known = np.where(clear, place_variance(views[key], height, curve), np.inf)
                bias = np.maximum(bias, (moved[:, -1] - points[:, -1]) ** 2 - 2 * np.maximum(known - variance, 0.0))
        risk[i, j] = (0, float((variance + bias).mean()))
    return views[min(risk, key=lambda key: risk[key])]
