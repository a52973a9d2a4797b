"""Fits against scikit-learn's, without privacy, on the same rows: ratios of times that alternate.

The machine's other work hits both alike. The ratio of processor times is told as well: threads that only wait for each
other count there, and the machine's other work does not.
"""

import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.mixture import GaussianMixture

import knoll

BOUNDS = (-15.0, 15.0)
ROOT = Path(__file__).parents[2]


def compared(what: str, ours: Callable, theirs: Callable, against: str, limit: float, repeats: int = 5) -> dict:
    """Run both in turns and take the median of their ratios."""
    ours()  # compiled, and in cache
    pairs = np.array([[timed(ours), timed(theirs)] for _ in range(repeats)])  # (repeats, whose, wall and processor)
    ratio, processor = np.median(pairs[:, 0] / pairs[:, 1], axis=0)
    print(f"{what}: {ratio:.2f} (limit {limit:g}), of processor time {processor:.2f}", flush=True)
    return {
        "what": what, "seconds": f"{np.median(pairs[:, 0, 0]):.3f}", "against": against, "ratio": f"{ratio:.2f}",
        "limit": f"{limit:g}", "of processor time": f"{processor:.2f}",
    }  # fmt: skip


def timed(work: Callable) -> tuple[float, float]:
    """Return seconds and seconds of processor time."""
    start = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - start[0], time.process_time() - start[1]


def unit_vectors(rows: int, columns: int, k: int) -> np.ndarray:
    """Return rows about k directions, as embeddings of texts are; made in place, part by part."""
    rng = np.random.default_rng(0)
    X, middles = np.empty((rows, columns)), rng.normal(size=(k, columns))
    for part in np.array_split(X, max(1, rows // 5000)):
        part[:] = middles[rng.integers(0, k, len(part))] + 0.8 * rng.normal(size=part.shape)
        part /= np.linalg.norm(part, axis=1, keepdims=True)
    return X


def lloyd_rows(X: np.ndarray) -> list[dict]:
    found, other = [], (-15.0, np.linspace(13, 20, 8))  # with other widths, distances have a grid of their own
    for what, bounds, limit in (("equal bounds", BOUNDS, 0.2), ("bounds of different widths", other, 0.25)):
        model = knoll.Lloyd(16, bounds=bounds, scale_by_bounds=False, random_state=0)
        theirs = KMeans(16, n_init=1, max_iter=5, tol=0, random_state=0)
        name = f"Lloyd, 5 steps, {len(X):,} x 8, k=16, {what}"
        against = "sklearn KMeans(n_init=1, max_iter=5, tol=0)"
        found.append(compared(name, partial(model.fit, X), partial(theirs.fit, X), against, limit))
    return found


def kmeans_row(model: knoll.KMeans | knoll.PEMeans, X: np.ndarray, limit: float, repeats: int = 5) -> dict:
    k = model.n_clusters
    theirs = partial(KMeans(k, n_init=1, random_state=0).fit, X)
    name = f"{type(model).__name__}, {len(X):,} x {X.shape[1]}, k={k}"
    return compared(name, partial(model.fit, X), theirs, "sklearn KMeans(n_init=1)", limit, repeats)


def in_ball(k: int, columns: int) -> knoll.KMeans:
    return knoll.KMeans(k, bounds=knoll.Ball(1.0, (0.0,) * columns), random_state=0)


def mixture_row(rows: int, limit: float, repeats: int = 5) -> dict:
    """As many steps of expectation-maximisation as ours takes; both find their own start."""
    X, _ = make_blobs(rows, 8, centers=10, random_state=1)
    ours = knoll.GaussianMixture(10, bounds=BOUNDS, random_state=0)
    theirs = GaussianMixture(10, max_iter=4, tol=0, random_state=0)
    name = f"GaussianMixture, {rows:,} x 8, 10 components"
    return compared(name, partial(ours.fit, X), partial(theirs.fit, X), "sklearn, 4 steps", limit, repeats)


def memory_rows(*, quick: bool) -> list[dict]:
    """What rows and a fit take of a process's memory at most, beyond what its libraries take, in sizes of the rows."""
    rows, columns, k = 10_000 if quick else 100_000, 768, 50
    run = [sys.executable, "-W", "ignore", "-m", "benchmarks.speed.fits", str(rows), str(columns), str(k)]
    peak = float(subprocess.run(run, check=True, capture_output=True, text=True, cwd=ROOT).stdout)
    return [
        {
            "what": f"KMeans, {rows:,} x {columns}, k={k}: peak memory, rows and fit", "seconds": "",
            "against": "the rows alone", "ratio": f"{peak / (rows * columns * 8):.2f}", "limit": "" if quick else "2",
        }
    ]  # fmt: skip


def peak_memory() -> int:
    """Return the most memory that this process ever had, in bytes; what `resource` tells begins with its parent's."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


def narrow_rows(*, quick: bool) -> list[dict]:
    X, _ = make_blobs(200_000 if quick else 1_000_000, 8, centers=16, random_state=1)
    return [
        *lloyd_rows(X),
        kmeans_row(knoll.KMeans(16, bounds=BOUNDS, random_state=0), X, 1.5 if quick else 0.7),
        kmeans_row(knoll.PEMeans(16, bounds=BOUNDS, random_state=0), X, 2.5 if quick else 1.5),
    ]


def wide_rows(*, quick: bool) -> list[dict]:
    return [kmeans_row(in_ball(20, 384), unit_vectors(5_000 if quick else 50_000, 384, 20), 12 if quick else 1.5)]


def wider_rows(*, quick: bool) -> list[dict]:
    if quick:
        return []
    return [kmeans_row(in_ball(50, 768), unit_vectors(100_000, 768, 50), 2.0, 3)]


def many_rows(*, quick: bool) -> list[dict]:
    """Very many centres; once only, since scikit-learn takes minutes."""
    X, _ = make_blobs(20_000 if quick else 1_000_000, 8, centers=16, random_state=1)
    return [kmeans_row(knoll.KMeans(1000, bounds=BOUNDS, random_state=0), X, 4.0 if quick else 1.0, 1)]


def mixture_rows(*, quick: bool) -> list[dict]:
    return [mixture_row(20_000, 1.0)] if quick else [mixture_row(200_000, 0.3), mixture_row(1_000_000, 0.15, 3)]


if __name__ == "__main__":  # a process of its own: make rows, fit, and print how far its memory grew
    n, d, clusters = map(int, sys.argv[1:])
    before = peak_memory()
    in_ball(clusters, d).fit(unit_vectors(n, d, clusters))
    print(peak_memory() - before)
