"""Made-up columns of seven kinds, in odd units; parameters for work, and others that are kept for the last look."""

from dataclasses import dataclass

import numpy as np
from numpy.random import RandomState

KINDS = ("normal", "log-normal", "pareto", "discrete", "bimodal", "constant", "uniform")


@dataclass(frozen=True)
class Parameters:
    """What the columns are drawn with; each number is one of a few, by chance."""

    offsets: tuple[float, ...]  # of a normal column, in standard deviations
    widths: tuple[float, ...]  # of a log-normal column: standard deviations of the logarithm
    powers: tuple[float, ...]  # of a Pareto tail
    levels: tuple[tuple[float, ...], ...]  # chances of the values 0, 1, 2, ... of a discrete column
    rates: tuple[float, ...]  # of a Poisson column
    distances: tuple[float, ...]  # of two modes, in standard deviations
    parts: tuple[float, ...]  # share of the records in the second mode
    constants: tuple[float, ...]
    places: tuple[tuple[float, float], ...]  # middle and half width of uniform columns


WORK = Parameters(
    offsets=(0, 3, -20), widths=(0.5, 1.0, 1.5), powers=(1.2, 1.5, 2.0, 3.0),
    levels=((0.5, 0.5), (0.9, 0.1), (0.2,) * 5, (0.4, 0.3, 0.15, 0.1, 0.05)), rates=(1, 3, 10),
    distances=(5, 20, 100), parts=(0.1, 0.3, 0.5), constants=(0, 1, -7, 42, 1e6, 3.3e-5),
    places=((1e6, 5), (0.5e-6, 0.5e-6), (0, 1e9), (10.5, 0.5)),
)  # fmt: skip
LAST = Parameters(
    offsets=(-1, 6, 50), widths=(0.7, 1.2, 1.4), powers=(1.3, 1.7, 2.5),
    levels=((0.7, 0.3), (0.85, 0.15), (0.1,) * 10, (0.55, 0.25, 0.1, 0.06, 0.04)), rates=(0.7, 5, 30),
    distances=(7, 30, 60), parts=(0.15, 0.25, 0.4), constants=(0, -1, 3, 1999, -2.5e8, 7e-7),
    places=((2e6, 7), (3e-7, 2e-7), (4e8, 3e8), (1999, 20), (-1e5, 10)),
)  # fmt: skip


def column(kind: str, n: int, given: Parameters, rng: RandomState) -> np.ndarray:
    """Return one column of a kind."""
    unit = 10.0 ** rng.uniform(-6, 9)
    pick = lambda numbers: numbers[rng.randint(len(numbers))]  # noqa: E731 (short, and used in every branch)
    if kind == "normal":
        return (rng.normal(size=n) + pick(given.offsets)) * unit
    if kind == "log-normal":
        return np.exp(rng.normal(0, pick(given.widths), n)) * unit
    if kind == "pareto":
        return (rng.pareto(pick(given.powers), n) + 1) * unit
    if kind == "discrete":
        chances = pick(given.levels)
        values = rng.choice(len(chances), n, p=chances) if rng.rand() < 0.6 else rng.poisson(pick(given.rates), n)
        return values.astype(float)
    if kind == "bimodal":
        second = rng.rand(n) < pick(given.parts)
        return (rng.normal(size=n) + np.where(second, pick(given.distances), 0.0)) * unit
    if kind == "constant":
        return np.full(n, float(pick(given.constants)))
    middle, half = pick(given.places)
    return rng.uniform(middle - half, middle + half, n)


def table(n: int, d: int, *, given: Parameters, rng: RandomState) -> tuple[np.ndarray, list[str]]:
    """Return n rows of d columns, of as many kinds as there is room for, and their kinds."""
    kinds = [KINDS[i % len(KINDS)] for i in rng.permutation(max(len(KINDS), d))[:d]]
    return np.column_stack([column(kind, n, given, rng) for kind in kinds]), kinds


def clusters(n: int, d: int, *, given: Parameters, rng: RandomState, k: int = 5) -> np.ndarray:
    """Return k clusters of different sizes in d columns of different units; about half the columns are skew."""
    sizes = rng.dirichlet(np.full(k, 5.0))
    labels = rng.choice(k, n, p=sizes)
    centres = rng.uniform(-1, 1, (k, d))
    rows = centres[labels] + rng.normal(0, 0.12, (n, d))
    skew = rng.rand(d) < 0.5
    rows[:, skew] = np.exp(rows[:, skew] * given.widths[0])
    far = np.where(rng.rand(d) < 0.3, 1000.0, 0.0)  # columns far from zero
    return (rows + far) * 10.0 ** rng.uniform(-6, 9, d)
