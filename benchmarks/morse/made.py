"""Made-up clusters, of the kinds on which Morse clustering was judged: long, skew, bent, cut off, diffuse, unequal.

Each maker takes a seed and returns rows scaled to [-1, 1] and labels. Sets that were judged had seeds below 100; the
benchmark reports on others.
"""

from collections.abc import Callable

import numpy as np

Made = tuple[np.ndarray, np.ndarray]
Draw = Callable[[np.random.Generator, np.ndarray, int, int], np.ndarray]


def _rotation(rng: np.random.Generator, d: int) -> np.ndarray:
    return np.linalg.qr(rng.normal(size=(d, d)))[0]


def _scaled(X: np.ndarray, y: np.ndarray) -> Made:
    low, high = X.min(axis=0), X.max(axis=0)
    return 2 * (X - low) / (high - low) - 1, y


def _centres(rng: np.random.Generator, k: int, d: int, apart: float) -> np.ndarray:
    """Random centres no nearer to each other than `apart`, in the smallest box where they are soon found."""
    side, near = 0.4 * apart, 0.0
    while near <= apart:
        centres = rng.uniform(-side, side, (k, d))
        gaps = np.linalg.norm(centres[:, None] - centres, axis=2)
        gaps[np.diag_indices(k)] = np.inf
        near, side = gaps.min(), side * 1.0006
    return centres


def _clusters(draw: Draw, d: int, k: int, n: int, apart: float) -> Callable[[int], Made]:
    def make(seed: int) -> Made:
        rng = np.random.default_rng(seed)
        weights = np.maximum(rng.dirichlet(np.full(k, 2.0)), 0.05)
        y = rng.choice(k, size=n, p=weights / weights.sum())
        centres = _centres(rng, k, d, apart)
        return _scaled(centres[y] + draw(rng, y, k, d), y)

    return make


def _long(rng: np.random.Generator, y: np.ndarray, k: int, d: int) -> np.ndarray:
    X = rng.normal(size=(len(y), d))
    for j in range(k):
        width = np.exp(rng.normal(0, 0.9, d))
        X[y == j] = X[y == j] * (width / np.sqrt(np.mean(width**2))) @ _rotation(rng, d)
    return X


def _heavy(rng: np.random.Generator, y: np.ndarray, k: int, d: int) -> np.ndarray:
    width = 0.8 * np.exp(rng.normal(0, 0.4, (k, d)))
    return rng.normal(size=(len(y), d)) * width[y] / np.sqrt(rng.chisquare(4, size=(len(y), 1)) / 4)


def _skew(rng: np.random.Generator, y: np.ndarray, k: int, d: int) -> np.ndarray:
    bend = rng.uniform(0.4, 1.0, (k, d))[y]
    side = np.where(rng.random(d) < 0.3, -1, 1)
    return np.clip(0.7 * np.expm1(rng.normal(size=(len(y), d)) * bend) / bend * side, -12, 12)


def _bent(rng: np.random.Generator, y: np.ndarray, k: int, d: int) -> np.ndarray:
    X, along = 0.3 * rng.normal(size=(len(y), d)), rng.uniform(-2, 2, len(y))
    X[:, 0] += 2 * np.sin(along)
    X[:, 1] += 2 * np.cos(along)
    for j in range(k):
        X[y == j] = X[y == j] @ _rotation(rng, d)
    return X


def _sizes(rng: np.random.Generator, y: np.ndarray, k: int, d: int) -> np.ndarray:
    return rng.normal(size=(len(y), d)) * np.exp(rng.normal(-0.3, 0.6, k))[y][:, None]


def _tail(d: int, n: int, kind: str) -> Callable[[int], Made]:
    """A dense majority, Gaussian, heavy-tailed or skew, and a diffuse tenth off to one side."""

    def make(seed: int) -> Made:
        rng = np.random.default_rng(seed)
        y = (rng.random(n) < 0.1).astype(int)
        X = rng.normal(size=(n, d))
        if kind == "heavy":
            X /= np.sqrt(rng.chisquare(5, size=(n, 1)) / 5)
        if kind == "skew":
            X = np.expm1(0.5 * X) / 0.5
        X = X * np.exp(rng.normal(0, 0.3, d)) @ (np.eye(d) + 0.4 * rng.normal(size=(d, d)) / d**0.5)
        away = rng.normal(size=d)
        m = int(y.sum())
        far = 1.2 * rng.gamma(5, size=(m, 1)) * away / np.linalg.norm(away)
        X[y == 1] = 1.6 * rng.normal(size=(m, d)) + far
        return _scaled(X, y)

    return make


def _nested(d: int, k: int, n: int) -> Callable[[int], Made]:
    """Clusters about one point, each about twice as wide as the one before."""

    def make(seed: int) -> Made:
        rng = np.random.default_rng(seed)
        y = rng.choice(k, size=n)
        width = 0.5 * 2.2 ** np.arange(k)[:, None] * np.exp(rng.normal(0, 0.5, (k, d)))
        return _scaled(rng.normal(size=(n, d)) * width[y], y)

    return make


def _halo(d: int, n: int, kind: str) -> Callable[[int], Made]:
    """A dense class and a diffuse one that reaches over it, two to one: even, skew, or folded and cut at bounds."""

    def make(seed: int) -> Made:
        rng = np.random.default_rng(seed)
        y = (rng.random(n) < 0.35).astype(int)
        away = rng.normal(size=d)
        X = rng.normal(size=(n, d)) * np.exp(rng.normal(0, 0.3, (2, d)))[y]
        X = np.where(y[:, None] == 1, 2.5 * X + 3.5 * away / np.linalg.norm(away), X)
        X = X @ (np.eye(d) + 0.4 * rng.normal(size=(d, d)) / d**0.5)
        if kind == "skew":
            X = np.expm1(0.35 * np.clip(X, -9, 9))
        if kind == "cut":
            X = np.clip(X, np.quantile(X, 0.1, axis=0), np.quantile(X, 0.97, axis=0))
            X[:, ::2] = np.abs(X[:, ::2])
        return _scaled(X, y)

    return make


def _two_tails(d: int, n: int) -> Callable[[int], Made]:
    """A dense majority with a diffuse tail of its own, and as diffuse a minority on another side, further out."""

    def make(seed: int) -> Made:
        rng = np.random.default_rng(seed)
        part = rng.choice(3, size=n, p=[0.86, 0.06, 0.08])
        away = np.linalg.qr(rng.normal(size=(d, d)))[0][:2] * [[8.0], [11.0]]
        X = rng.normal(size=(n, d)) * np.exp(rng.normal(0, 0.3, d)) * np.where(part > 0, 2.5, 1.0)[:, None]
        X += rng.gamma(9, size=(n, 1)) / 9 * np.vstack([np.zeros(d), away])[part]
        return _scaled(X, (part == 2).astype(int))

    return make


def _folded(rng: np.random.Generator, y: np.ndarray, k: int, d: int) -> np.ndarray:
    return 1.1 * rng.exponential(size=(len(y), d)) * np.exp(rng.normal(0, 0.4, (k, d)))[y]


def _tenth(d: int, k: int, n: int, draw: Draw) -> Callable[[int], Made]:
    """One great cluster and others a tenth of its size."""

    def make(seed: int) -> Made:
        rng = np.random.default_rng(seed)
        y = rng.choice(k, size=n, p=np.append(1.0, np.full(k - 1, 0.1)) / (1 + 0.1 * (k - 1)))
        return _scaled(_centres(rng, k, d, 4.0)[y] + draw(rng, y, k, d), y)

    return make


MADE: dict[str, tuple[Callable[[int], Made], int]] = {
    "long, 3 columns": (_clusters(_long, 3, 5, 10_000, 2.6), 5),
    "long, 8": (_clusters(_long, 8, 4, 12_000, 2.6), 4),
    "long, 12": (_clusters(_long, 12, 5, 15_000, 3.0), 5),
    "heavy tails, 5": (_clusters(_heavy, 5, 4, 10_000, 3.0), 4),
    "skew, 4": (_clusters(_skew, 4, 4, 10_000, 3.0), 4),
    "skew, 10": (_clusters(_skew, 10, 3, 15_000, 3.5), 3),
    "bent, 3": (_clusters(_bent, 3, 3, 10_000, 2.5), 3),
    "bent, 6": (_clusters(_bent, 6, 3, 10_000, 2.5), 3),
    "sizes, 6": (_clusters(_sizes, 6, 5, 12_000, 2.6), 5),
    "minority, 8": (_tail(8, 12_000, "Gaussian"), 2),
    "minority by heavy tails, 8": (_tail(8, 12_000, "heavy"), 2),
    "minority by a skew one, 6": (_tail(6, 12_000, "skew"), 2),
    "nested, 6": (_nested(6, 3, 12_000), 3),
    "core and halo, 5": (_halo(5, 12_000, "even"), 2),
    "skew core and halo, 10": (_halo(10, 15_000, "skew"), 2),
    "cut core and halo, 8": (_halo(8, 12_000, "cut"), 2),
    "two tails, 8": (_two_tails(8, 12_000), 2),
    "from an edge, 5": (_clusters(_folded, 5, 3, 12_000, 3.0), 3),
    "from an edge, 9": (_clusters(_folded, 9, 4, 15_000, 3.0), 4),
    "one in ten, skew, 3": (_tenth(3, 2, 10_000, _skew), 2),
    "one in ten, long, 8": (_tenth(8, 3, 12_000, _long), 3),
    "one in ten, heavy tails, 6": (_tenth(6, 2, 12_000, _heavy), 2),
}
