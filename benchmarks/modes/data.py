"""The made-up data of the DP-GRAMS paper (5.1) and its supplement (1.3, 1.4), and how the paper scores modes."""

import numpy as np
from scipy.optimize import linear_sum_assignment

GAUSSIAN_MODES = np.array([[3, 3], [3, -3], [-3, 3], [-3, -3]], dtype=float)
T_MODES = np.array([[0, 0], [6, 0], [-6, 0], [0, 6], [0, -6]], dtype=float)
T_FREEDOM, T_SCALE = np.array([15, 6, 10, 8, 20.0]), np.array([0.1, 0.9, 1.3, 1.0, 0.4])


def four_gaussians(n: int, rng: np.random.Generator) -> np.ndarray:
    return GAUSSIAN_MODES[rng.integers(4, size=n)] + rng.normal(size=(n, 2))


def five_t(n: int, rng: np.random.Generator) -> np.ndarray:
    which = rng.integers(5, size=n)
    stretch = np.sqrt(T_FREEDOM[which] / rng.chisquare(T_FREEDOM[which]))
    return T_MODES[which] + (T_SCALE[which] * stretch)[:, None] * rng.normal(size=(n, 2))


def three_levels(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Predictors, responses and the true curve: three levels over overlapping intervals."""
    m = n // 3
    x = np.concatenate([rng.uniform(0, 0.5, m), rng.uniform(0.4, 0.7, m), rng.uniform(0.6, 1, m)])
    level = np.repeat([3.0, 2.0, 1.0], m)
    return x[:, None], level + 0.2 * rng.normal(size=3 * m), level


def two_waves(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Predictors, responses and the true curve: two sinusoids."""
    x = rng.uniform(size=n)
    wave = np.where(np.arange(n) < n // 2, 1.5, 0.0) + 0.5 * np.sin(3 * np.pi * x)
    return x[:, None], wave + 0.15 * rng.normal(size=n), wave


THREE_CORNERS = np.array([[-5, -4], [4, -5], [0, 5]], dtype=float)
CLOSE_PAIR = np.array([[-1.6, 0.0], [1.6, 0.5]])


def gamma(n: int, rng: np.random.Generator) -> np.ndarray:
    """One skewed mode, at 0."""
    return rng.gamma(3.0, 0.5, size=(n, 1)) - 1.0


def lognormal(n: int, rng: np.random.Generator) -> np.ndarray:
    """As incomes are; the mode is at 0."""
    return np.exp(0.6 * rng.normal(size=(n, 1))) - np.exp(-(0.6**2))


def three_skewed(n: int, rng: np.random.Generator) -> np.ndarray:
    return THREE_CORNERS[rng.integers(3, size=n)] + rng.gamma(3.0, 0.5, size=(n, 2)) - 1.0


def close_pair(n: int, rng: np.random.Generator) -> np.ndarray:
    """Four standard deviations apart, so that the true modes are the centres to 0.01."""
    return CLOSE_PAIR[(rng.random(n) < 0.4).astype(int)] + 0.8 * rng.normal(size=(n, 2))


def matched(modes: np.ndarray, truth: np.ndarray) -> tuple[float, float, float]:
    """The paper's matched MSE, the share of true modes found (within 1.0), and the number of false modes."""
    if not len(modes):
        return float("nan"), 0.0, 0.0
    gaps = np.square(truth[:, None] - modes).sum(axis=2)
    i, j = linear_sum_assignment(gaps)
    found = int((gaps[i, j] < 1.0).sum())
    return gaps[i, j].sum() / max(gaps.shape), found / len(truth), float(len(modes) - found)
