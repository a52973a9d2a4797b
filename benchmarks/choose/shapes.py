"""Made-up data for another look at the number of clusters: other shapes. The rule was settled on them with other seeds.

Clusters with heavy tails, with edges (balls), stretched one to four, on a lattice, of sizes one to ten and widths one
to six; clouds with an edge, with a saddle, skewed, and of whole numbers alone.
"""

from collections.abc import Iterator

import numpy as np

from benchmarks.choose.kinds import Made, placed

Case = tuple[str, str, int, float, np.ndarray, np.ndarray]
CLEAR = [  # law, clusters, columns, records at least, largest size in smallest ones, narrowest and widest
    ("normal", 12, 2, 300, 10, (0.5, 1.5)), ("normal", 25, 5, 500, 10, (0.5, 1.5)),
    ("normal", 10, 3, 400, 2, (0.3, 1.8)),
    ("stretched", 15, 2, 300, 3, (0.5, 1.5)), ("stretched", 20, 8, 500, 3, (0.5, 1.5)),
    ("Student", 8, 2, 600, 2, (0.5, 1.5)), ("Student", 12, 6, 600, 2, (0.5, 1.5)),
    ("ball", 20, 2, 300, 2, (0.5, 1.5)), ("ball", 10, 10, 600, 2, (0.5, 1.5)),
]  # fmt: skip
LATTICES = [(5, 2, 300), (3, 3, 300), (2, 4, 400)]  # to a side, columns, records of each


def shaped(law: str, k: int, d: int, each: int, ratio: float, widths: tuple[float, float], rng: np.random.Generator,
           apart: float = 5.5) -> Made:  # fmt: skip
    """Return clusters of a law with sizes up to `ratio` times `each`, `apart` of their widths from each other."""
    wide = rng.uniform(*widths, k)
    centres = placed(k, d, apart * wide, rng)
    y = np.repeat(np.arange(k), (each * np.exp(rng.uniform(0, np.log(ratio), k))).astype(int))
    X = rng.normal(size=(len(y), d))
    if law == "Student":
        X = np.clip(rng.standard_t(5, X.shape) * 0.6**0.5, -6, 6)
    elif law == "ball":
        X *= (d + 2) ** 0.5 * rng.random((len(y), 1)) ** (1 / d) / np.linalg.norm(X, axis=1, keepdims=True)
    elif law == "stretched":
        for j in range(k):
            turn = np.linalg.qr(rng.normal(size=(d, d)))[0]
            X[y == j] = X[y == j] * np.r_[1.0, np.full(d - 1, 0.25)] @ turn
    return centres[y] + X * wide[y, None], y


def clouds(n: int, rng: np.random.Generator) -> Iterator[tuple[str, float, np.ndarray]]:
    """Return names, epsilons and records that are one cluster."""
    ball = rng.normal(size=(n, 4))
    yield "ball", 1.0, ball / np.linalg.norm(ball, axis=1, keepdims=True) * rng.random((n, 1)) ** 0.25
    yield "log-normal", 1.0, np.minimum(rng.lognormal(0, 0.8, (n, 3)), 20)
    flat = rng.uniform(-1, 1, (n, 2))
    bent = np.square(flat[:, 0]) - np.square(flat[:, 1])
    yield "saddle", 1.0, np.column_stack([flat, bent]) + 0.05 * rng.normal(size=(n, 3))
    yield "beta", 1.0, rng.beta(1.2, 5, (n, 2))
    yield "whole numbers, binomial", 1.0, rng.binomial(9, 0.4, (n, 2)).astype(float)
    answers = 3 + 0.7 * rng.normal(size=(n, 1)) + 0.8 * rng.normal(size=(n, 4))
    yield "answers from 1 to 5", 1.0, np.clip(np.rint(answers), 1, 5)
    yield "exponential", 4.0, np.minimum(rng.exponential(1, (n, 5)), 12)


def cases(seed: int) -> Iterator[Case]:
    """Return goal, name, number of clusters, epsilon, records and labels of every dataset."""
    rng = np.random.default_rng([seed, 2])
    for law, k, d, each, ratio, widths in CLEAR:
        yield "clear", f"{law}, {k} in {d} columns", k, 1.0, *shaped(law, k, d, each, ratio, widths, rng)
    for side, d, each in LATTICES:
        corners = 6.0 * np.indices([side] * d).reshape(d, -1).T
        y = np.repeat(np.arange(len(corners)), each)
        yield "clear", f"lattice, {side}^{d}", len(corners), 1.0, corners[y] + rng.normal(size=(len(y), d)), y
    for law, k in (("normal", 14), ("stretched", 35)):
        yield "overlapping", f"{law}, {k}", k, 4.0, *shaped(law, k, 2, 250, 2, (0.8, 1.2), rng, apart=4.0)
    for name, epsilon, X in clouds(8000, rng):
        yield "one cloud", name, 1, epsilon, X, np.zeros(len(X), dtype=int)
