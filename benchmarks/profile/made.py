"""Made-up tables of ten columns of different kinds; parameters for work, and others that are kept for the last look."""

from dataclasses import dataclass

import numpy as np
from numpy.random import RandomState

from knoll.columns import Boolean, Category, Columns, Date, Log, Number, Whole, encode_table

BINS = 32
ALPHAS = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True)
class Parameters:
    """What the columns are drawn with; where there are several, one by chance."""

    normal: tuple[tuple[float, float, float, float], ...]  # mean, standard deviation, bounds
    log_normal: tuple[tuple[float, float, float], ...]  # mean and standard deviation of the logarithm, upper bound
    uniform: tuple[tuple[float, float, float, float], ...]  # ends, bounds
    rates: tuple[float, ...]  # of a Poisson column
    powers: tuple[float, ...]  # of a Pareto tail
    levels: tuple[tuple[int, float], ...]  # of a category, and the power by which they become rare
    chances: tuple[float, ...]  # of a yes
    growth: tuple[float, ...]  # of dates: how much more there are at the end than at the beginning
    modes: tuple[tuple[float, float, float], ...]  # share of the second mode, its distance, its width
    zeros: tuple[tuple[float, float], ...]  # share of zeros, shape of the others


WORK = Parameters(
    normal=((40, 12, 0, 110), (170, 9, 0, 300)), log_normal=((8, 1, 200_000), (3, 0.6, 1000)),
    uniform=((100, 900, 0, 1000), (0, 1, -1, 3)), rates=(1, 3, 9), powers=(1.2, 1.6, 2.5),
    levels=((12, 1.5), (6, 1.0), (30, 2.0)), chances=(0.04, 0.23, 0.5), growth=(1, 3),
    modes=((0.4, 7, 1), (0.2, 12, 0.5)), zeros=((0.6, 2), (0.85, 1)),
)  # fmt: skip
LAST = Parameters(
    normal=((-5, 3, -60, 60), (1500, 200, 0, 5000)), log_normal=((6, 1.3, 100_000), (10, 0.8, 500_000)),
    uniform=((-3, 4, -10, 10), (2000, 2010, 1950, 2050)), rates=(0.6, 5, 14), powers=(1.4, 2.0, 3.0),
    levels=((9, 1.2), (20, 1.7), (4, 0.5)), chances=(0.1, 0.35, 0.7), growth=(0.5, 6),
    modes=((0.3, 9, 0.7), (0.5, 5, 2)), zeros=((0.4, 3), (0.75, 0.7)),
)  # fmt: skip


def table(n: int, given: Parameters, rng: RandomState) -> tuple[dict[str, np.ndarray], Columns]:
    """Return a table, and what is declared of its columns: bounds as a user would guess them."""
    pick = lambda choices: choices[rng.randint(len(choices))]  # noqa: E731 (short, and used for every column)
    mean, spread, low, high = pick(given.normal)
    place, width, most = pick(given.log_normal)
    start, stop, first, last = pick(given.uniform)
    number, power = pick(given.levels)
    part, distance, narrow = pick(given.modes)
    none, shape = pick(given.zeros)
    names = np.array([f"level {i}" for i in range(number)])
    weights = (1.0 + np.arange(number)) ** -power
    second = rng.rand(n) < part
    days = (rng.power(pick(given.growth), n) * 2500).astype(int)
    data = {
        "normal": rng.normal(mean, spread, n),
        "log-normal": np.exp(rng.normal(place, width, n)),
        "uniform": rng.uniform(start, stop, n),
        "discrete": rng.poisson(pick(given.rates), n),
        "pareto": 100 * (rng.pareto(pick(given.powers), n) + 1),
        "category": names[rng.choice(number, n, p=weights / weights.sum())],
        "boolean": rng.rand(n) < pick(given.chances),
        "date": np.datetime64("2017-03-01") + days,
        "bimodal": np.where(second, rng.normal(distance, narrow, n), rng.normal(0, 1, n)),
        "zero-inflated": np.where(rng.rand(n) < none, 0.0, rng.gamma(shape, 50, n)),
    }
    declared = {
        "normal": Number(low, high), "log-normal": Number(0, most), "uniform": Number(first, last),
        "discrete": Whole(0, 50), "pareto": Log(10, 1_000_000), "category": Category(*names), "boolean": Boolean(),
        "date": Date("2015-01-01", "2025-12-31"), "bimodal": Number(-20, 30), "zero-inflated": Number(0, 1000),
    }  # fmt: skip
    return data, Columns(declared)


@dataclass(frozen=True)
class Asked:
    """What is asked of one column, and the truth: its encoded values, edges of bins, and whether it has quantiles."""

    name: str
    values: np.ndarray
    edges: np.ndarray
    whole: bool
    ordered: bool

    def shares(self, values: np.ndarray | None = None) -> np.ndarray:
        """Return the share of the values in each bin."""
        counts = np.bincount(self.bins(), minlength=len(self.edges) - 1)
        return counts / len(self.values)

    def bins(self) -> np.ndarray:
        """Return the bin of each value."""
        return np.clip(np.searchsorted(self.edges, self.values, side="right") - 1, 0, len(self.edges) - 2)

    def quantiles(self) -> np.ndarray:
        """Return the quantiles of the values: some of them, so that a step is at one side."""
        return np.quantile(self.values, ALPHAS, method="inverted_cdf")


def asked(columns: Columns, data: dict[str, np.ndarray]) -> list[Asked]:
    """Return what is asked of a table: equal bins between the bounds, or one for each level or whole number."""
    encoded = encode_table(columns, data)
    found = []
    for j, (name, kind) in enumerate(columns):
        whole = isinstance(kind, Category | Boolean | Whole)
        if isinstance(kind, Category):
            low, high = 0, len(kind.names) - 1
        else:
            low, high = kind.part[1:]
        edges = np.arange(low, high + 2) - 0.5 if whole else np.linspace(low, high, BINS + 1)
        if isinstance(kind, Date):  # whole days, the last one too
            edges = np.floor(np.linspace(low, high + 1, BINS + 1))
        values = np.clip(encoded[:, j], low, high)
        found.append(Asked(name, values, edges, whole, not isinstance(kind, Category | Boolean)))
    return found
