"""Kinds of data for each code: some that must trigger it, some that must not.

Thresholds were looked at with tests/diagnose/registry.py and, once, with the kinds here; those of `last.py` came after.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

import knoll
from knoll.testing import recorded_noise, zero_noise

Rows = np.ndarray
Fit = Callable[[np.random.Generator], Any]


def clusters(rng: Any, n: int, d: int, k: int, apart: float = 6.0, law: str = "normal") -> Rows:
    """Clusters about random places of a cube that grows with their number."""
    places = rng.uniform(-apart, apart, size=(k, d)) * max(1.0, k ** (1 / d) / 2)
    noise = {"normal": rng.normal, "laplace": rng.laplace}[law](size=(n, d))
    return places[rng.integers(k, size=n)] + noise


def around(X: Rows, part: float = 0.1) -> tuple[Rows, Rows]:
    """Bounds that hold the data, and a part of their width more on both sides."""
    low, high = X.min(axis=0), X.max(axis=0)
    return low - part * (high - low), high + part * (high - low)


def wider(X: Rows, times: float, columns: Any = slice(None)) -> tuple[Rows, Rows]:
    """Bounds some times as wide as the data, in some columns."""
    low, high = around(X)
    middle, half = (low + high) / 2, (high - low) / 2
    half[columns] *= times
    return middle - half, middle + half


def fitted(X: Any, model: Any, **given: Any) -> Any:
    return model.set_params(**given).fit(X)


def percent(rng: Any, model: Any) -> Any:
    X = np.column_stack([rng.beta(4, 2, 5000) * 100, rng.normal(0, 1, 5000)])
    return fitted(X, model, bounds=([0, -5], [1, 5]), scale_by_bounds=True)


def cold(rng: Any, model: Any) -> Any:
    X = np.column_stack([rng.normal(20, 8, 8000), rng.gamma(3, 2, 8000)])
    return fitted(X, model, bounds=([-10, 0], [15, 40]), scale_by_bounds=True)


def rich(rng: Any, model: Any) -> Any:
    X = np.column_stack([rng.lognormal(10.5, 0.6, 8000), rng.uniform(18, 80, 8000)])
    return fitted(X, model, bounds=([0, 0], [30_000, 100]), scale_by_bounds=True)


def far_off(rng: Any) -> Any:
    X = rng.normal(0, 1, (5000, 4)) + np.array([9.0, 0, 0, 0])
    return fitted(X, knoll.KMeans(3), bounds=knoll.Ball(2.0, (0.0,) * 4))


def sphere(rng: Any) -> Any:
    places = rng.normal(size=(5, 8))
    X = places[rng.integers(5, size=6000)] + 0.5 * rng.normal(size=(6000, 8))
    return fitted(X / np.linalg.norm(X, axis=1, keepdims=True), knoll.KMeans(5), bounds=knoll.Ball(1.0, (0.0,) * 8))


def flags(rng: Any) -> Any:
    X = np.column_stack([rng.integers(2, size=(8000, 2)), rng.normal(50, 12, 8000)])
    return fitted(X, knoll.KMeans(5), bounds=([0, 0, 0], [1, 1, 110]), scale_by_bounds=True)


def visits(rng: Any, model: Any) -> Any:
    X = np.column_stack([rng.poisson(2, 8000), rng.exponential(10, 8000)])
    return fitted(X, model, bounds=([0, 0], [20, 120]), scale_by_bounds=True)


def held(rng: Any, model: Any, n: int = 8000, d: int = 3, k: int = 4, **how: Any) -> Any:
    X = clusters(rng, n, d, k, **how)
    return fitted(X, model, bounds=around(X))


def uniform(rng: Any, model: Any, n: int = 8000, d: int = 2) -> Any:
    return fitted(rng.uniform(size=(n, d)), model, bounds=(0, 1))


def loose(rng: Any, model: Any, times: float, columns: Any = slice(None), n: int = 20_000) -> Any:
    X = clusters(rng, n, 4, 4, law="laplace")
    return fitted(X, model, bounds=wider(X, times, columns), scale_by_bounds=True)


def padded(rng: Any, model: Any, draw: Callable[..., Rows], n: int = 20_000) -> Any:
    """Clusters in three columns, and two columns of noise."""
    X = np.column_stack([clusters(rng, n, 3, 4), draw(size=(n, 2))])
    return fitted(X, model, bounds=around(X))


def named(rng: Any, name: str) -> Any:
    X = clusters(rng, 3000, 2, 2)
    return fitted(pd.DataFrame(X, columns=[name, "weight"]), knoll.Lloyd(2), bounds=around(X))


def chosen(rng: Any, first: float, second: float) -> Any:
    X = clusters(rng, 3000, 2, 3)
    model = fitted(X, knoll.GaussianMixture(None), bounds=around(X))
    model.n_components_candidates_ = np.array([[2.0, second], [model.n_components_, first]])
    model.n_components_confidence_ = first
    model._diagnose()
    return model


def bought(rng: Any, *doubt: bool) -> Any:
    X = clusters(rng, 3000, 3, 3)
    model = fitted(X, knoll.Lloyd(3), bounds=around(X))
    model.bounds_in_doubt_ = np.array(doubt)
    model._diagnose()
    return model


def buying(rng: Any, n: int, d: int) -> Any:
    return fitted(clusters(rng, n, d, 4) * 10.0 ** rng.integers(-3, 4, d), knoll.Lloyd(4), bounds="private")


def under(rng: Any, source: Any) -> Any:
    with source():
        return held(rng, knoll.Lloyd(3), n=1000)


def raw(rng: Any, low: list[float], high: list[float]) -> Any:
    X = rng.uniform(low, high, size=(3000, len(low)))
    return fitted(X, knoll.KMeans(3), bounds=(low, high), scale_by_bounds=False)


KM, LL, GM = knoll.KMeans, knoll.Lloyd, knoll.GaussianMixture

# code -> (what must trigger it, what must not): name -> fit
KINDS: dict[str, tuple[dict[str, Fit], dict[str, Fit]]] = {
    "centres-on-bounds": (
        {
            "percent as fractions, KMeans": lambda rng: percent(rng, KM(4)),
            "percent as fractions, Lloyd": lambda rng: percent(rng, LL(3)),
            "percent as fractions, mixture": lambda rng: percent(rng, GM(2)),
            "cut at 15 of 20 ± 8": lambda rng: cold(rng, KM(5)),
            "cut at 15 of 20 ± 8, PEMeans": lambda rng: cold(rng, knoll.PEMeans(6)),
            "incomes cut near the median": lambda rng: rich(rng, KM(6)),
            "a ball elsewhere": far_off,
        },
        {
            "even, to the bounds": lambda rng: uniform(rng, KM(12)),
            "even, to the bounds, Lloyd": lambda rng: uniform(rng, LL(6)),
            "flags": flags,
            "counts and waiting times": lambda rng: visits(rng, KM(5)),
            "counts and waiting times, mixture": lambda rng: visits(rng, GM(3)),
            "on a sphere": sphere,
            "clusters": lambda rng: held(rng, KM(4)),
        },
    ),
    "bounds-too-wide": (
        {
            "30 times": lambda rng: loose(rng, KM(4), 30),
            "300 times": lambda rng: loose(rng, KM(4), 300),
            "100 times, one column": lambda rng: loose(rng, KM(4), 100, 2),
            "60 times, mixture": lambda rng: loose(rng, GM(4), 60),
        },
        {
            "3 times": lambda rng: loose(rng, KM(4), 3),
            "3 times, mixture": lambda rng: loose(rng, GM(4), 3),
            "twice, Lloyd": lambda rng: loose(rng, LL(4), 2),
            "even": lambda rng: uniform(rng, KM(5)),
            "counts and waiting times": lambda rng: visits(rng, KM(5)),
        },
    ),
    "bounds-in-doubt": (
        {
            "one column": lambda rng: bought(rng, True, False, False),
            "all": lambda rng: bought(rng, True, True, True),
            "300 rows of 8 columns": lambda rng: buying(rng, 300, 8),
            "1,000 rows of 12 columns": lambda rng: buying(rng, 1000, 12),
        },
        {
            "none": lambda rng: bought(rng, False, False, False),
            "clusters": lambda rng: held(rng, KM(4)),
            "10,000 rows of 3 columns": lambda rng: buying(rng, 10_000, 3),
            "30,000 rows of 8 columns": lambda rng: buying(rng, 30_000, 8),
        },
    ),
    "raw-units": (
        {
            "years and dollars": lambda rng: raw(rng, [0, 0], [110, 5e5]),
            "grams and metres": lambda rng: raw(rng, [0, 1, 50], [1, 2, 150]),
        },
        {
            "one unit": lambda rng: raw(rng, [0, 10], [50, 100]),
            "scaled": lambda rng: rich(rng, KM(3)),
            "ball": sphere,
        },
    ),
    "clusters-not-seen": (
        {
            "epsilon .1": lambda rng: held(rng, KM(30, epsilon=0.1), n=2000),
            "even, 200 of 2000": lambda rng: uniform(rng, KM(200), n=2000),
            "mixture, 40 of 500": lambda rng: held(rng, GM(40), n=500),
            "Lloyd, 60 of 1500": lambda rng: held(rng, LL(60), n=1500),
            "Lloyd, bounds 60 times too wide": lambda rng: loose(rng, LL(4), 60, n=100_000),
            "modes, epsilon .05": lambda rng: held(rng, knoll.ModeSeeking(epsilon=0.05, chance=0.01), n=60, d=2),
        },
        {
            "8 of 8000": lambda rng: held(rng, KM(8), d=4, k=8),
            "mixture, 4 of 8000": lambda rng: held(rng, GM(4), d=2),
            "even": lambda rng: uniform(rng, KM(9)),
            "modes": lambda rng: held(rng, knoll.ModeSeeking(), d=2),
            "Lloyd": lambda rng: uniform(rng, LL(4)),
        },
    ),
    "too-many-clusters": (
        {
            "500 of 10,000": lambda rng: held(rng, KM(500), n=10_000, k=10),
            "mixture, 60 of 800": lambda rng: held(rng, GM(60), n=800),
            "Lloyd, 50 of 600": lambda rng: held(rng, LL(50), n=600),
            "epsilon .1": lambda rng: uniform(rng, KM(20, epsilon=0.1), n=4000),
        },
        {
            "20 of 20,000": lambda rng: held(rng, KM(20), n=20_000, k=20),
            "mixture, 5 of 5000": lambda rng: held(rng, GM(5), n=5000, k=5),
            "Lloyd, 5 of 2000": lambda rng: held(rng, LL(5), n=2000),
            "even": lambda rng: uniform(rng, KM(16)),
        },
    ),
    "number-of-clusters-in-doubt": (
        {"unsure": lambda rng: chosen(rng, 0.4, 0.1), "close": lambda rng: chosen(rng, 0.55, 0.45)},
        {"sure": lambda rng: chosen(rng, 0.9, 0.1), "given": lambda rng: held(rng, GM(3))},
    ),
    "few-records": (
        {
            "50": lambda rng: held(rng, KM(2), n=50),
            "300, epsilon .1": lambda rng: held(rng, KM(3, epsilon=0.1), n=300),
            "mixture, 60": lambda rng: held(rng, GM(2), n=60),
            "Lloyd, 100": lambda rng: held(rng, LL(2), n=100),
            "modes, 40": lambda rng: held(rng, knoll.ModeSeeking(), n=40, d=2),
        },
        {
            "2000": lambda rng: held(rng, KM(4), n=2000),
            "400, epsilon 8": lambda rng: held(rng, KM(3, epsilon=8.0), n=400),
            "mixture": lambda rng: held(rng, GM(3), n=2000),
            "Lloyd": lambda rng: held(rng, LL(3), n=2000),
            "modes": lambda rng: held(rng, knoll.ModeSeeking(), n=2000, d=2),
        },
    ),
    "column-without-differences": (
        {
            "two even columns": lambda rng: padded(rng, KM(4), rng.uniform),
            "two heavy-tailed columns": lambda rng: padded(rng, KM(4), rng.laplace),
            "mixture": lambda rng: padded(rng, GM(4), rng.normal),
            "Lloyd": lambda rng: padded(rng, LL(4), rng.normal, 100_000),
        },
        {
            "clusters": lambda rng: held(rng, KM(6), d=5, k=6),
            "overlapping": lambda rng: held(rng, KM(6), d=3, k=6, apart=2.5),
            "even": lambda rng: uniform(rng, KM(9)),
            "mixture": lambda rng: held(rng, GM(5), d=3, k=5),
            "Lloyd": lambda rng: held(rng, LL(5), d=3, k=5),
        },
    ),
    "id-as-feature": (
        {name: lambda rng, name=name: named(rng, name) for name in ("member_id", "RowNumber", "OrderNo", "guid")},
        {name: lambda rng, name=name: named(rng, name) for name in ("idle_hours", "glycemic_index", "no_of_rooms")},
    ),
    "seeded-noise": (
        {"no noise": lambda rng: under(rng, zero_noise), "recorded": lambda rng: under(rng, recorded_noise)},
        {"clusters": lambda rng: held(rng, KM(4))},
    ),
}  # fmt: skip
