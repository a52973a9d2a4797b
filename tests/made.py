"""Data made for tests."""

import numpy as np

from knoll.mixture import Mixture

CORNERS = np.array([[3, 3], [3, -3], [-3, 3], [-3, -3]], dtype=float)


def corners(n, seed=0):
    rng = np.random.default_rng(seed)
    return CORNERS[rng.integers(4, size=n)] + rng.normal(size=(n, 2))


def branches(n, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.uniform(size=(n, 1))
    return x, np.sin(3 * x[:, 0]) + rng.choice([0.0, 2.0], size=n) + 0.15 * rng.normal(size=n)


def random_mixture(seed, k=None, d=2, spread=3.0):
    rng = np.random.default_rng(seed)
    k = int(rng.integers(2, 13)) if k is None else k
    root = 0.6 * rng.normal(size=(k, d, d))
    covariances = root @ root.transpose(0, 2, 1) + 0.15 * np.eye(d)
    return Mixture(rng.dirichlet(np.full(k, 2.0)), rng.uniform(-spread, spread, (k, d)), covariances)


def three(n, seed=0):
    """The simulation of the DP-GMM paper."""
    rng = np.random.RandomState(seed)
    part = rng.choice(3, n, p=[0.15, 0.35, 0.5])
    return (np.array([17, 30, 50])[part] + np.array([3, 4, 5])[part] * rng.standard_normal(n))[:, None]
