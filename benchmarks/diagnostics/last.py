"""Further kinds, which no threshold was set by: the figures to believe.

They were looked at once before the last changes, which were made for the kinds of `kinds.py`. One had been listed on
the wrong side: k-means does not cut a cloud along its narrow columns, so it is right to say that nothing differs there.
"""

from typing import Any

import numpy as np
from sklearn.datasets import load_iris, load_wine, make_moons, make_s_curve

import knoll
from benchmarks.diagnostics.kinds import GM, KM, LL, Fit, around, chosen, fitted, named, raw, wider


def ages(rng: Any, n: int = 12_000) -> np.ndarray:
    """Ages, incomes with a long tail, hours with a heap at 40."""
    age = np.clip(rng.gamma(6, 7, n), 0, 109)
    income = np.minimum(rng.lognormal(10, 0.7, n) + 300 * age, 490_000)
    hours = np.where(rng.random(n) < 0.5, 40.0, np.clip(rng.normal(36, 12, n), 0, 98))
    return np.column_stack([age, income, hours])


WIDTHS = np.array([110.0, 500_000.0, 100.0])


def survey(rng: Any, model: Any, upper: Any = WIDTHS, n: int = 12_000) -> Any:
    return fitted(ages(rng, n), model, bounds=(np.zeros(3), np.asarray(upper)), scale_by_bounds=True)


def real(rng: Any, model: Any, load: Any, times: float = 1.0, repeats: int = 40) -> Any:
    """A small dataset of scikit-learn, repeated with a little noise."""
    X = np.repeat(load().data, repeats, axis=0)
    X = X + 0.05 * X.std(axis=0) * rng.normal(size=X.shape)
    return fitted(X, model, bounds=wider(X, times), scale_by_bounds=True)


def bent(rng: Any, model: Any, n: int = 6000, shift: float = 0.0) -> Any:
    seed = int(rng.integers(2**31))
    X = make_moons(n, noise=0.1, random_state=seed)[0]
    low, high = around(X)
    return fitted(X, model, bounds=(low + shift * (high - low), high + shift * (high - low)))


def sheet(rng: Any, model: Any, extra: int = 0, n: int = 20_000) -> Any:
    X = make_s_curve(n, noise=0.1, random_state=int(rng.integers(2**31)))[0]
    X = np.column_stack([X, rng.standard_t(5, size=(n, extra))])
    return fitted(X, model, bounds=around(X), scale_by_bounds=True)


def shells(rng: Any, model: Any, radius: float) -> Any:
    """A cloud in six columns, in a ball."""
    X = rng.normal(size=(8000, 6)) * np.linspace(0.5, 1.5, 6)
    return fitted(X, model, bounds=knoll.Ball(radius, (0.0,) * 6))


LAST: dict[str, tuple[dict[str, Fit], dict[str, Fit]]] = {
    "centres-on-bounds": (
        {
            "hours, at most 30": lambda rng: survey(rng, KM(5), [110, 500_000, 30]),
            "incomes, at most 10,000": lambda rng: survey(rng, GM(3), [110, 10_000, 100]),
            "ages as fractions, Lloyd": lambda rng: survey(rng, LL(4), [1, 500_000, 100]),
            "moons, shifted bounds": lambda rng: bent(rng, KM(4), shift=0.6),
            "modes, shifted bounds": lambda rng: bent(rng, knoll.ModeSeeking(), shift=0.6),
            "a ball that is too small": lambda rng: shells(rng, KM(6), 1.2),
        },
        {
            "survey": lambda rng: survey(rng, KM(6)),
            "survey, mixture": lambda rng: survey(rng, GM(3)),
            "wine": lambda rng: real(rng, KM(3), load_wine),
            "moons": lambda rng: bent(rng, knoll.MorseClustering(2)),
            "modes of moons": lambda rng: bent(rng, knoll.ModeSeeking()),
            "a ball": lambda rng: shells(rng, KM(6), 8.0),
            "a sheet": lambda rng: sheet(rng, knoll.PEMeans(8)),
        },
    ),
    "bounds-too-wide": (
        {
            "wine, 40 times": lambda rng: real(rng, KM(3), load_wine, 40),
            "iris, 50 times, mixture": lambda rng: real(rng, GM(3), load_iris, 50),
            "incomes up to 1e9": lambda rng: survey(rng, KM(4), [110, 1e9, 100]),
            "a huge ball": lambda rng: shells(rng, KM(4), 200.0),
        },
        {
            "survey": lambda rng: survey(rng, KM(6)),
            "iris, twice": lambda rng: real(rng, KM(3), load_iris, 2),
            "wine, mixture": lambda rng: real(rng, GM(3), load_wine),
            "a ball": lambda rng: shells(rng, KM(6), 8.0),
            "moons, Lloyd": lambda rng: bent(rng, LL(4)),
        },
    ),
    "raw-units": (
        {"survey": lambda rng: raw(rng, [0, 0, 0], [110, 5e5, 100])},
        {"lengths": lambda rng: raw(rng, [0, 0, 0], [3, 8, 25])},
    ),
    "clusters-not-seen": (
        {
            "survey, 80 of 1500": lambda rng: survey(rng, KM(80), n=1500),
            "moons, mixture, epsilon .05": lambda rng: bent(rng, GM(6, epsilon=0.05), 800),
            "LSHTree, 60 of 1000": lambda rng: bent(rng, knoll.LSHTree(60), 1000),
        },
        {
            "survey": lambda rng: survey(rng, KM(6)),
            "moons": lambda rng: bent(rng, knoll.MorseClustering(2)),
            "iris": lambda rng: real(rng, KM(3), load_iris),
            "modes of moons": lambda rng: bent(rng, knoll.ModeSeeking()),
        },
    ),
    "too-many-clusters": (
        {
            "survey, 300": lambda rng: survey(rng, KM(300), n=8000),
            "moons, PEMeans, 100 of 2000": lambda rng: bent(rng, knoll.PEMeans(100), 2000),
            "iris, once": lambda rng: real(rng, KM(8), load_iris, repeats=1),
        },
        {
            "survey": lambda rng: survey(rng, KM(12)),
            "moons": lambda rng: bent(rng, GM(4)),
            "a sheet, Cubes": lambda rng: sheet(rng, knoll.Cubes(6)),
        },
    ),
    "number-of-clusters-in-doubt": (
        {"a third each": lambda rng: chosen(rng, 0.34, 0.33)},
        {"three quarters": lambda rng: chosen(rng, 0.75, 0.2)},
    ),
    "few-records": (
        {
            "iris, once": lambda rng: real(rng, KM(3), load_iris, repeats=1),
            "wine, once, mixture": lambda rng: real(rng, GM(3), load_wine, repeats=1),
            "moons, 1000, epsilon .05": lambda rng: bent(rng, KM(2, epsilon=0.05), 1000),
        },
        {
            "survey": lambda rng: survey(rng, KM(4), n=3000),
            "iris": lambda rng: real(rng, GM(3), load_iris),
            "moons": lambda rng: bent(rng, knoll.MorseClustering(2), 3000),
            "density": lambda rng: bent(rng, knoll.KernelDensity(), 2000),
        },
    ),
    "column-without-differences": (
        {
            "a sheet and noise": lambda rng: sheet(rng, KM(5), extra=2),
            "a sheet and noise, mixture": lambda rng: sheet(rng, GM(4), extra=1),
            "a cloud, narrow in two columns": lambda rng: shells(rng, KM(12), 8.0),
        },
        {
            "survey": lambda rng: survey(rng, KM(6)),
            "iris": lambda rng: real(rng, KM(3), load_iris),
            "moons": lambda rng: bent(rng, KM(4)),
        },
    ),
    "id-as-feature": (
        {name: lambda rng, name=name: named(rng, name) for name in ("hospitalId", "CASE_ID", "student number", "idx")},
        {name: lambda rng, name=name: named(rng, name) for name in ("oxide", "number of visits", "uv_index", "side")},
    ),
}  # fmt: skip
