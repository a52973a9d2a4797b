"""KMeans against non-private k-means on kinds of data that no default was chosen on, at epsilon = 1.

Every kind has at least 300 records per cluster. Limits: within 10 % of the non-private
loss in up to 16 dimensions, within 25 % in up to 64.

    python -m benchmarks.kmeans.kinds             about two minutes
    python -m benchmarks.kmeans.kinds --quick     one run each
"""

import argparse

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

import knoll
from benchmarks.common import write

SHAPES = ((2, 10), (8, 12), (16, 10), (32, 8), (64, 6))  # columns, clusters
PER_CLUSTER = 300


def _centred(rng, k, d):
    return rng.uniform(-10, 10, size=(k, d)), rng.integers(0, k, size=PER_CLUSTER * k)


def blobs(rng, k, d):
    return make_blobs(PER_CLUSTER * k, d, centers=k, cluster_std=1.5, random_state=int(rng.integers(1000)))[0]


def anisotropic(rng, k, d):
    centres, label = _centred(rng, k, d)
    stretch = np.linalg.qr(rng.normal(size=(d, d)))[0] * np.geomspace(0.2, 3.0, d)
    return centres[label] + rng.normal(size=(len(label), d)) @ stretch.T


def uneven(rng, k, d):
    centres, _ = _centred(rng, k, d)
    label = np.repeat(np.arange(k), np.geomspace(PER_CLUSTER, 8 * PER_CLUSTER, k).astype(int))
    return centres[label] + rng.normal(size=(len(label), d)) * np.linspace(0.5, 2.0, k)[label][:, None]


def tight(rng, k, d):
    centres, label = _centred(rng, k, d)
    return centres[label] + 0.3 * rng.normal(size=(len(label), d))


def heavy_tails(rng, k, d):
    centres, label = _centred(rng, k, d)
    return np.clip(centres[label] + rng.standard_t(3, size=(len(label), d)), -40, 40)


def overlapping(rng, k, d):
    centres, label = _centred(rng, k, d)
    return centres[label] + 4.0 * rng.normal(size=(len(label), d))


def noisy(rng, k, d):
    X = blobs(rng, k, d)
    background = rng.uniform(X.min(axis=0), X.max(axis=0), size=(len(X) // 10, d))
    return np.vstack([X, background])


def many(rng, k, d):
    return blobs(rng, 5 * k, d)


KINDS = {f.__name__: f for f in (blobs, anisotropic, uneven, tight, heavy_tails, overlapping, noisy, many)}


def ratio(kind: str, d: int, k: int, run: int) -> float:
    """Loss of KMeans over that of non-private k-means, on the same data."""
    X = KINDS[kind](np.random.default_rng(1000 * d + run), k, d)
    clusters = 5 * k if kind == "many" else k
    box = knoll.Box(tuple(X.min(axis=0) - 1e-9), tuple(X.max(axis=0) + 1e-9))
    plain = KMeans(clusters, n_init=5, random_state=0).fit(X).inertia_
    return (
        -knoll.KMeans(clusters, epsilon=1.0, delta=len(X) ** -1.1, bounds=box, scale_by_bounds=False, random_state=run)
        .fit(X)
        .score(X)
        / plain
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one run each")
    quick = parser.parse_args().quick
    runs = 1 if quick else 4
    print(f"{len(KINDS)} kinds, {len(SHAPES)} shapes, {runs} runs each", flush=True)
    rows = []
    for kind in KINDS:
        row = {"loss / non-private": kind}
        for d, k in SHAPES:
            row[f"{d} columns, limit {1.1 if d <= 16 else 1.25}"] = (
                f"{np.mean([ratio(kind, d, k, r) for r in range(runs)]):.3f}"
            )
        print(row, flush=True)
        rows.append(row)
    write("kmeans-kinds", "python -m benchmarks.kmeans.kinds" + " --quick" * quick, rows)


if __name__ == "__main__":
    main()
