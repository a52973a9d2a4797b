"""Benchmark datasets: scikit-learn's own, blobs made on the spot, and NPZ files from the folder KNOLL_DATA."""

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits, load_iris, make_blobs
from sklearn.decomposition import PCA

FILES = {
    "wine": 3, "wdbc": 2, "yeast": 10, "s1": 15, "birch2_25k": 100, "letter": 26, "magic": 2, "pulsar": 2, "shuttle": 7,
    "gas": 10, "mnist_pca50": 10, "g2mg_8_30": 2, "g2mg_64_30": 2,
}  # fmt: skip
BLOBS = {"blobs_25000_8_16": (25000, 8, 16), "blobs_10000_2_16": (10000, 2, 16), "blobs_25000_32_16": (25000, 32, 16)}
QUICK = ("iris", "digits", "wine", "s1", "blobs_10000_2_16")


def folder() -> Path | None:
    """The folder with NPZ files, if there is one."""
    path = os.environ.get("KNOLL_DATA")
    return Path(path) if path and Path(path).is_dir() else None


def datasets(names: list[str] | None = None) -> Iterator[tuple[str, np.ndarray, int]]:
    """Yield (name, scaled data, k) for all datasets that can be found."""
    for name in names or ["iris", "digits", *FILES, *BLOBS]:
        found = load(name)
        if found is not None:
            X, k = found
            yield name, unit_ball(X), k


def load(name: str) -> tuple[np.ndarray, int] | None:
    """Return raw data and its number of clusters, or None if it is not here."""
    if name == "iris":
        return load_iris().data, 3
    if name == "digits":
        return load_digits().data, 10
    if name in BLOBS:
        n, d, k = BLOBS[name]
        return make_blobs(n, d, centers=k, random_state=1)[0], k
    where = folder()
    stem = {"birch2_25k": "birch2", "mnist_pca50": "mnist_full"}.get(name, name)
    if where is None or not (where / f"{stem}.npz").exists():
        return None
    X = np.load(where / f"{stem}.npz")["X"].astype(float)
    if name == "birch2_25k":
        X = X[np.random.default_rng(0).permutation(len(X))[:25000]]
    if name == "mnist_pca50":
        X = PCA(50, random_state=0).fit_transform(X)
    return X, FILES[name]


def unit_ball(X: np.ndarray) -> np.ndarray:
    """Centre and scale to a largest norm of one: outside the privacy boundary, the same for every method."""
    X = X - X.mean(axis=0)
    return X / np.linalg.norm(X, axis=1).max()
