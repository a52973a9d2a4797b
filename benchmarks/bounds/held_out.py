"""Columns of further kinds: eight that the count of what lies outside was made for, and four looked at once, later."""

import numpy as np
from numpy.random import RandomState

KINDS = (
    "gamma", "student-t", "zero-inflated", "ages by fives", "epoch seconds", "negative skew", "ids", "two scales",
)  # fmt: skip
ONCE = ("Weibull", "log-uniform", "code for missing", "small far group")


def column(kind: str, n: int, rng: RandomState) -> np.ndarray:
    """Return one column of a kind."""
    unit = 10.0 ** rng.uniform(-4, 6)
    pick = lambda *numbers: numbers[rng.randint(len(numbers))]  # noqa: E731 (short, and used in every branch)
    if kind == "gamma":
        return rng.gamma(pick(0.7, 2.0, 9.0), size=n) * unit
    if kind == "student-t":
        return (rng.standard_t(pick(2, 3, 5), n) + pick(0.0, 30.0)) * unit
    if kind == "zero-inflated":
        return np.where(rng.rand(n) < pick(0.3, 0.6, 0.9), 0.0, rng.lognormal(pick(1.0, 4.0), 0.8, n))
    if kind == "ages by fives":
        return np.clip(5 * np.round(rng.normal(pick(38, 55), pick(12, 20), n) / 5), 0, 105)
    if kind == "epoch seconds":
        return np.floor(1.6e9 + 86_400 * pick(1, 30, 700) * rng.beta(pick(1, 2), pick(1, 3), n))
    if kind == "negative skew":
        return (pick(100, 0) - rng.gamma(pick(1.5, 4.0), pick(2, 8), n)) * pick(1, unit)
    if kind == "ids":
        first = pick(1, 100_000, 70_000_000)
        return first + rng.permutation(pick(1, 5, 50) * n)[:n].astype(float)
    wide = rng.rand(n) < pick(0.1, 0.3)
    return rng.normal(size=n) * np.where(wide, pick(10, 50), 1.0) * unit


def column_once(kind: str, n: int, rng: RandomState) -> np.ndarray:
    """Return one column of a kind that was looked at once."""
    unit = 10.0 ** rng.uniform(-4, 6)
    pick = lambda *numbers: numbers[rng.randint(len(numbers))]  # noqa: E731 (short, and used in every branch)
    if kind == "Weibull":
        return rng.weibull(pick(0.6, 1.5, 4.0), n) * unit
    if kind == "log-uniform":
        return 10.0 ** rng.uniform(0, pick(2, 4), n) * unit
    far = rng.rand(n) < pick(0.04, 0.08)
    if kind == "code for missing":
        return np.where(far, pick(-1.0, 999.0, 9999.0), np.round(rng.gamma(4.0, 10.0, n)))
    return rng.normal(np.where(far, pick(15.0, 60.0), 0.0), np.where(far, 3.0, 1.0)) * unit


def table_once(n: int, d: int, rng: RandomState) -> tuple[np.ndarray, list[str]]:
    """Return n rows of d columns of the kinds that were looked at once, and their kinds."""
    kinds = [ONCE[i % len(ONCE)] for i in rng.permutation(max(len(ONCE), d))[:d]]
    return np.column_stack([column_once(kind, n, rng) for kind in kinds]), kinds


def table(n: int, d: int, rng: RandomState) -> tuple[np.ndarray, list[str]]:
    """Return n rows of d columns, of as many kinds as there is room for, and their kinds."""
    kinds = [KINDS[i % len(KINDS)] for i in rng.permutation(max(len(KINDS), d))[:d]]
    return np.column_stack([column(kind, n, rng) for kind in kinds]), kinds
