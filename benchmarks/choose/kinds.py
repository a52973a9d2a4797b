"""Made-up data for the number of clusters: all widths, shapes and sizes at once. Settled on with other seeds."""

from collections.abc import Iterator

import numpy as np

Made = tuple[np.ndarray, np.ndarray]


def placed(k: int, d: int, apart: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return centres, each pair at least as far apart as the larger of its two entries of `apart`."""
    side, centres = 1.3 * float(apart.mean()) * max(1.0, k ** (1 / d)), np.empty((0, d))
    while len(centres) < k:
        tried, i = rng.uniform(0, side, d), len(centres)
        if (np.linalg.norm(centres - tried, axis=1) >= np.maximum(apart[:i], apart[i])).all():
            centres = np.vstack([centres, tried])
        side *= 1.0002
    return centres


def mixed(k: int, d: int, each: int, apart: float, rng: np.random.Generator) -> Made:
    """Return Gaussian clusters of all widths, shapes and sizes at once; `apart` is in their largest deviations."""
    wide = np.exp(rng.uniform(np.log(0.6), np.log(1.4), k))
    y = np.repeat(np.arange(k), (each * np.exp(rng.uniform(0, np.log(4), k))).astype(int))
    centres, X = placed(k, d, apart * wide, rng), rng.normal(size=(len(y), d))
    for j in range(k):
        turn = np.linalg.qr(rng.normal(size=(d, d)))[0]
        X[y == j] = X[y == j] * wide[j] * np.exp(rng.uniform(np.log(0.4), 0, d)) @ turn
    return centres[y] + X, y


def groups(g: int, each: int, d: int, n: int, rng: np.random.Generator) -> Made:
    """Return g groups of clusters: ten times as far from each other as the clusters inside."""
    tops = placed(g, d, np.full(g, 60.0), rng)
    parts = [tops[i] + placed(each, d, np.full(each, 6.0), rng) for i in range(g)]
    y = np.repeat(np.arange(g * each), rng.integers(n, int(1.6 * n), g * each))
    return np.vstack(parts)[y] + rng.normal(size=(len(y), d)), y


def cloud(kind: str, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
    """Return records that are one cluster."""
    if kind == "gamma":
        return rng.gamma(2.0, size=(n, d))
    if kind == "log-normal":
        return np.minimum(rng.lognormal(0, 0.6, (n, d)), 15)
    if kind == "simplex":
        return rng.dirichlet(np.ones(d + 1), n)[:, :d]
    if kind == "Student, common scale":
        return np.clip(rng.normal(size=(n, d)) / np.sqrt(rng.chisquare(5, (n, 1)) / 5), -15, 15)
    along, X = rng.uniform(-1.5 * np.pi, 1.5 * np.pi, n), 0.15 * rng.normal(size=(n, d))  # an S, as a sheet
    X[:, 0] += np.sin(along)
    X[:, 1] += np.sign(along) * (np.cos(along) - 1)
    X[:, 2:] += rng.uniform(-1, 1, (n, 1))
    return X


def bent(rng: np.random.Generator, n: int = 8000) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Return bent shapes in the plane, with a tenth of noise records (-1)."""

    def arc(at: tuple[float, float], radius: float, start: float, end: float, m: int, wide: float = 0.08) -> np.ndarray:
        turn = rng.uniform(start * np.pi, end * np.pi, m)
        return at + radius * np.column_stack([np.cos(turn), np.sin(turn)]) + wide * rng.normal(size=(m, 2))

    def bar(x: float, y: float, wide: float, high: float, m: int) -> np.ndarray:
        return (x, y) + rng.uniform(-1, 1, (m, 2)) * (wide, high)

    q = n // 4
    yield "arcs about a ball", *_noisy([arc((0, 0), 2, 0.1, 0.9, q), arc((0, 0), 2, 1.1, 1.9, q),
                                        0.35 * rng.normal(size=(2 * q, 2))], rng)  # fmt: skip
    yield "hooks and bars", *_noisy([arc((0, 0), 1.2, 0.0, 1.3, q), arc((3.5, 0), 1.2, 1.0, 2.3, q),
                                     bar(0.0, -2.2, 1.2, 0.15, q), bar(5.5, 0, 0.15, 1.8, q)], rng)  # fmt: skip
    yield "nested half rings", *_noisy([arc((0, 0), r, 0, 1, int(q * r)) for r in (0.7, 1.4, 2.1)], rng)
    links = [arc((-1.1, 0), 1.0, 0.15, 1.85, q), arc((1.6, 0), 1.0, 0, 2, q), bar(0.2, 2, 2, 0.2, q)]
    yield "links", *_noisy(links, rng)
    snake = np.vstack([arc((2.0 * i, 0), 1.0, i % 2, i % 2 + 1, q // 2) for i in range(4)])
    discs = [arc(at, 0.0, 0, 1, q // 2, 0.15) for at in ((0, -0.2), (2, 0.2))]
    yield "a snake and discs", *_noisy([snake, *discs], rng)


def _noisy(parts: list[np.ndarray], rng: np.random.Generator) -> Made:
    X, y = np.vstack(parts), np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    low, high = X.min(axis=0), X.max(axis=0)
    noise = rng.uniform(low - 0.1 * (high - low), high + 0.1 * (high - low), (len(X) // 10, 2))
    return np.vstack([X, noise]), np.concatenate([y, np.full(len(noise), -1)])
