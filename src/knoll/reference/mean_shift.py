"""Gaussian mean shift and partial mean shift, without privacy (Fukunaga and Hostetler 1975; Einbeck and Tutz 2006)."""

import numpy as np

_CHUNK = 2**22


def nonprivate_mean_shift(
    X: np.ndarray, starts: np.ndarray, bandwidth: np.ndarray | float, *, steps: int = 200, tolerance: float = 1e-6
) -> np.ndarray:
    """Move every start to the kernel-weighted mean of the records until it rests.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        Records.
    starts : array of shape (n_starts, n_features)
        Where to start.
    bandwidth : float or array of shape (n_features,)
        Of the Gaussian kernel.
    steps, tolerance
        At most so many steps; a point that moves less than `tolerance` bandwidths rests.

    Returns
    -------
    ends : array of shape (n_starts, n_features)
    """
    return _shift(np.asarray(X, float), np.asarray(starts, float), bandwidth, steps, tolerance, np.asarray(X, float), 0)


def nonprivate_partial_mean_shift(
    X: np.ndarray,
    y: np.ndarray,
    starts_x: np.ndarray,
    starts_y: np.ndarray,
    bandwidth: np.ndarray | float,
    *,
    steps: int = 500,
    tolerance: float = 1e-6,
) -> np.ndarray:
    """Move the response of every start to the kernel-weighted mean of the responses; the predictors stay.

    Parameters
    ----------
    X : array of shape (n_samples, n_predictors)
    y : array of shape (n_samples,)
    starts_x, starts_y : arrays of shape (n_starts, n_predictors) and (n_starts,)
    bandwidth : float or array of shape (n_predictors + 1,)
        Of the Gaussian kernel, the response last.
    steps, tolerance
        As in `nonprivate_mean_shift`.

    Returns
    -------
    modes : array of shape (n_starts,)
    """
    rows = np.column_stack([np.asarray(X, float), np.asarray(y, float)])
    starts = np.column_stack([np.asarray(starts_x, float), np.asarray(starts_y, float)])
    return _shift(rows, starts, bandwidth, steps, tolerance, rows[:, -1:], starts.shape[1] - 1)[:, -1]


def _shift(
    rows: np.ndarray, starts: np.ndarray, bandwidth: np.ndarray | float, steps: int, tolerance: float,
    targets: np.ndarray, first: int,
) -> np.ndarray:  # fmt: skip
    """Shared loop: columns from `first` on move to the weighted mean of `targets`."""
    h = np.broadcast_to(np.asarray(bandwidth, float), (rows.shape[1],))
    scaled, points = rows / h, starts.copy()
    moving, chunk = np.arange(len(points)), max(1, _CHUNK // max(len(rows), 1))
    for _ in range(steps):
        if not len(moving):
            break
        still = np.zeros(len(moving), dtype=bool)
        for i in range(0, len(moving), chunk):
            part = moving[i : i + chunk]
            here = points[part] / h
            gaps = (here**2).sum(1)[:, None] + (scaled**2).sum(1) - 2 * here @ scaled.T
            weight = np.exp(-(gaps - gaps.min(axis=1, keepdims=True)) / 2)
            moved = weight @ targets / weight.sum(axis=1, keepdims=True)
            still[i : i + chunk] = (np.abs(moved - points[part, first:]) / h[first:]).max(axis=1) < tolerance
            points[part, first:] = moved
        moving = moving[~still]
    return points
