"""A record far from all others leaves no trace; the paper's own method, which starts at records, is caught at once."""

import math

import numpy as np
from scipy.stats import beta, fisher_exact

import knoll

FAR, NEAR = np.array([60.0, 60.0]), 30.0
EPSILON, DELTA, SURE = 1.0, 1e-5, 1e-6


def clump(rng, *, far):
    X = rng.normal(size=(400, 2))
    return np.vstack([X, FAR]) if far else X


def paper_modes(X, rng, *, start=0.9, h=1.0):
    """Algorithm 1 as printed, in small: starts are records, clipped steps are divided by the density."""
    n = len(X)
    points = X[rng.uniform(size=n) < start]
    steps, batch = math.ceil(math.log(n)), math.ceil(n / math.log(n))
    each = EPSILON / math.sqrt(8 * steps * math.log(2 / DELTA))
    clip = 1 / (0.15 * math.pi * h)
    sigma = (
        clip
        / batch
        / math.log(1 + n * math.expm1(each) / batch)
        * math.sqrt(8 * math.log(2.5 * batch * steps / (n * DELTA)))
    )
    for _ in range(steps):
        some = X[rng.choice(n, batch, replace=False)]
        gaps = some - points[:, None]
        kernel = np.exp(-np.square(gaps / h).sum(axis=2) / 2)
        square = np.square(X).sum(axis=1) + np.square(points).sum(axis=1)[:, None] - 2 * points @ X.T
        density = np.exp(-np.maximum(square, 0) / h**2 / 2).mean(axis=1) + 1e-12
        moves = gaps * kernel[..., None] / density[:, None, None]
        length = np.linalg.norm(moves, axis=2, keepdims=True)
        moves *= np.minimum(1, clip / np.maximum(length, 1e-300))
        points = points + moves.mean(axis=1) + sigma * rng.normal(size=points.shape)
    return points


def appears(modes):
    return len(modes) > 0 and bool((np.linalg.norm(modes - FAR, axis=1) < NEAR).any())


def broken(with_it, without, runs):
    """Whether the counts refute (epsilon, delta), at odds of one in a million each way."""
    low = beta.ppf(SURE, with_it, runs - with_it + 1) if with_it else 0.0
    high = beta.ppf(1 - SURE, without + 1, runs - without) if without < runs else 1.0
    return low > math.exp(EPSILON) * high + DELTA


def test_the_papers_method_is_caught():
    rng, runs = np.random.default_rng(0), 80
    seen = [sum(appears(paper_modes(clump(rng, far=far), rng)) for _ in range(runs)) for far in (True, False)]
    assert broken(*seen, runs)


def test_ours_shows_no_trace():
    rng, runs = np.random.default_rng(0), 30
    settings = {"epsilon": EPSILON, "delta": DELTA, "bounds": (-70, 70), "bandwidth": 3.0, "scale_by_bounds": False}
    seen = [
        sum(appears(knoll.ModeSeeking(**settings).fit(clump(rng, far=far)).modes_) for _ in range(runs))
        for far in (True, False)
    ]
    assert not broken(*seen, runs)
    table = [[count, runs - count] for count in seen]
    assert fisher_exact(table).pvalue > SURE
    assert max(seen) < runs / 4
