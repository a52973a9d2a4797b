"""Cases for error bars: kinds of data, numbers of clusters and records, bounds and units, drawn at random by a seed."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import knoll

Rng = np.random.Generator
SIZES = (300, 1000, 5000, 50_000)
TIMES = (1, 3, 50)  # clusters asked for, over the true number
EPSILONS = (0.1, 0.25, 1.0, 4.0)
SHAPES = ((2, 3), (2, 8), (4, 5), (12, 4))  # columns, true clusters
WIDE = ((4, 5), (12, 4), (64, 8))  # of directions


def _centres(rng: Rng, k: int, d: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    return rng.uniform(-10, 10, (k, d)), rng.integers(k, size=n)


def blobs(rng: Rng, k: int, d: int, n: int) -> np.ndarray:
    centres, label = _centres(rng, k, d, n)
    return centres[label] + rng.normal(size=(n, d))


def uneven(rng: Rng, k: int, d: int, n: int) -> np.ndarray:
    centres, _ = _centres(rng, k, d, n)
    label = rng.choice(k, n, p=rng.dirichlet(np.ones(k)))
    return centres[label] + rng.uniform(0.3, 2.5, k)[label][:, None] * rng.normal(size=(n, d))


def skewed(rng: Rng, k: int, d: int, n: int) -> np.ndarray:
    centres, label = _centres(rng, k, d, n)
    return centres[label] + rng.exponential(1.5, (n, d))


def uniform(rng: Rng, k: int, d: int, n: int) -> np.ndarray:
    return rng.uniform(-10, 10, (n, d))


def overlapping(rng: Rng, k: int, d: int, n: int) -> np.ndarray:
    centres, label = _centres(rng, k, d, n)
    return centres[label] + 4 * rng.normal(size=(n, d))


def heavy(rng: Rng, k: int, d: int, n: int) -> np.ndarray:
    centres, label = _centres(rng, k, d, n)
    return centres[label] + rng.standard_t(3, (n, d))


def stretched(rng: Rng, k: int, d: int, n: int) -> np.ndarray:
    centres, label = _centres(rng, k, d, n)
    turn = np.linalg.qr(rng.normal(size=(d, d)))[0] * np.geomspace(0.2, 3.0, d)
    return centres[label] + rng.normal(size=(n, d)) @ turn.T


def background(rng: Rng, k: int, d: int, n: int) -> np.ndarray:
    X = blobs(rng, k, d, n)
    X[: n // 5] = rng.uniform(-14, 14, (n // 5, d))
    return X


def whole_numbers(rng: Rng, k: int, d: int, n: int) -> np.ndarray:
    return np.rint(uneven(rng, k, d, n))


def rings(rng: Rng, k: int, d: int, n: int) -> np.ndarray:
    _, label = _centres(rng, k, d, n)
    X = rng.normal(size=(n, d))
    return X / np.linalg.norm(X, axis=1, keepdims=True) * (1 + 9 * label / k)[:, None] + 0.3 * rng.normal(size=(n, d))


def log_normal(rng: Rng, k: int, d: int, n: int) -> np.ndarray:
    centres, label = _centres(rng, k, d, n)
    return centres[label] + np.minimum(np.exp(0.8 * rng.normal(size=(n, d))), 12.0)


def zeros(rng: Rng, k: int, d: int, n: int) -> np.ndarray:
    X = np.abs(uneven(rng, k, d, n))
    X[rng.random((n, d)) < 0.3] = 0.0
    return X


def sheet(rng: Rng, k: int, d: int, n: int) -> np.ndarray:
    t = rng.uniform(0, 2 * np.pi, n)
    X = 0.4 * rng.normal(size=(n, d))
    X[:, 0] += 8 * np.cos(t)
    X[:, 1] += 8 * np.sin(2 * t)
    return X


def two_scales(rng: Rng, k: int, d: int, n: int) -> np.ndarray:
    centres, label = _centres(rng, k, d, n)
    return centres[label] + np.where(rng.random(n) < 0.5, 0.2, 2.0)[:, None] * rng.laplace(size=(n, d))


def counts(rng: Rng, k: int, d: int, n: int) -> np.ndarray:
    _, label = _centres(rng, k, d, n)
    return rng.poisson(rng.gamma(1.5, 6.0, (k, d))[label]).astype(float)


def spiked(rng: Rng, k: int, d: int, n: int) -> np.ndarray:
    centres, label = _centres(rng, k, d, n)
    return centres[label] + np.where(rng.random(n) < 0.6, 0.0, 1.5)[:, None] * rng.normal(size=(n, d))


def boxes(rng: Rng, k: int, d: int, n: int) -> np.ndarray:
    centres, label = _centres(rng, k, d, n)
    return centres[label] + rng.uniform(0.5, 4.0, (k, d))[label] * rng.uniform(-1, 1, (n, d))


def crescents(rng: Rng, k: int, d: int, n: int) -> np.ndarray:
    centres, label = _centres(rng, k, d, n)
    X = centres[label] + 0.4 * rng.normal(size=(n, d))
    t = rng.uniform(0, np.pi, n)
    return X + 3 * np.cos(t)[:, None] * np.eye(d)[0] + 3 * np.sin(t)[:, None] * np.eye(d)[1]


def one_far(rng: Rng, k: int, d: int, n: int) -> np.ndarray:
    centres, label = _centres(rng, k, d, n)
    centres[1:] /= 4
    return centres[label] + rng.gamma(2.0, 0.7, (n, d)) * rng.choice([-1.0, 1.0], (n, d))


Kind = Callable[[Rng, int, int, int], np.ndarray]
TUNED: dict[str, Kind] = {f.__name__: f for f in (blobs, uneven, skewed, uniform, overlapping, heavy)}
HELD_OUT: dict[str, Kind] = {f.__name__: f for f in (stretched, background, whole_numbers, rings, log_normal)}
LAST: dict[str, Kind] = {f.__name__: f for f in (zeros, sheet, two_scales)}
# Beyond `TUNED`, constants of the bars were settled on `HELD_OUT`, too; the figures of `LAST` were known. Of these,
# nothing was known.
NEW: dict[str, Kind] = {f.__name__: f for f in (counts, spiked, boxes, crescents, one_far)}


@dataclass(frozen=True)
class Case:
    """One fit: what the records are and how they are clustered."""

    kind: str
    n: int
    d: int
    k: int
    times: int
    epsilon: float
    bounds: str
    scaled: bool
    seed: int

    def records(self) -> np.ndarray:
        """Make the records; if distances are scaled, columns come in different units."""
        rng = np.random.default_rng(self.seed)
        X = {**TUNED, **HELD_OUT, **LAST, **NEW}[self.kind](rng, self.k, self.d, self.n)
        return X * 10.0 ** rng.uniform(-2, 2, self.d) if self.scaled and self.bounds == "box" else X

    def domain(self, X: np.ndarray) -> knoll.Box | knoll.Ball:
        """Return public bounds: somewhat wider than the records, or so that a few are clipped."""
        rng = np.random.default_rng(self.seed + 1)
        low, high = np.quantile(X, [0.002, 0.998], axis=0)
        middle, half = (low + high) / 2, (high - low) / 2 * rng.uniform(1.0, 2.0)
        if self.bounds == "ball":
            return knoll.Ball(float(np.linalg.norm(half)), tuple(middle))
        return knoll.Box(tuple(middle - half), tuple(middle + half))


def draw_cases(
    kinds: dict[str, Kind], number: int, seed: int, largest: int, shapes: tuple[tuple[int, int], ...] = SHAPES
) -> list[Case]:
    """Draw cases: every factor by itself, so that each level of each is met often."""
    rng = np.random.default_rng(seed)
    names = sorted(kinds)
    cases = []
    for i in range(number):
        d, k = shapes[rng.integers(len(shapes))]
        n, times = SIZES[rng.integers(len(SIZES))], TIMES[rng.integers(len(TIMES))]
        cases.append(
            Case(
                names[i % len(names)], min(n, largest), d, k, times, EPSILONS[rng.integers(len(EPSILONS))],
                ("box", "ball")[rng.integers(2)], bool(rng.integers(2)), int(rng.integers(2**31)),
            )
        )  # fmt: skip
    return cases
