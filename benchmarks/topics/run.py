"""Clusters of embeddings: spherical k-means against `KMeans` on the sphere, and without noise.

    python -m benchmarks.topics.run                about two minutes; writes results/topics.md
    python -m benchmarks.topics.run --quick        made-up directions only, one run each
    python -m benchmarks.topics.run --unknown      the number of clusters not given
    python -m benchmarks.topics.run --speed        50,000 x 384: seconds over those of the same steps without privacy

Corpora lie in the folder that KNOLL_DATA names. ARI of labels by cosine; loss is one minus the mean cosine with the
nearest centre. Shares and rounds were settled on these corpora as a whole, so none of them is held out; halves show
what half the records cost. Made-up directions are von Mises-Fisher-like, new seeds of a family that was tuned on.
"""

import argparse
import os
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.cluster import KMeans as NonprivateKMeans
from sklearn.metrics import adjusted_rand_score

import knoll
from benchmarks.common import median_seconds, write
from benchmarks.topics.data import folder

DELTA = 1e-6
CORPORA = [
    ("stackoverflow20_wl128", "y", 20, {1: 0.69, 4: 0.70}),
    ("clinc150_wl128", "y", 150, {1: 0.40, 4: 0.52}),
    ("clinc150_wl128", "domain", 10, {1: 0.36, 4: 0.37}),
    ("agnews_glove100", "y", 4, {1: 0.62, 4: 0.63}),
]  # file, labels, clusters, goals by epsilon
MADE = [(20_000, 64, 14, 0.9), (15_000, 256, 20, 0.8), (12_000, 128, 77, 1.0)]  # rows, columns, groups, distance
SPEED = (50_000, 384, 20)
ROUNDS, MERGED, WORDS = 8, 4, 150  # of the same steps without privacy
Case = tuple[str, np.ndarray, np.ndarray, int, dict[int, float]]


def directions(n: int, d: int, k: int, apart: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return directions about k points along few axes, with a common mean and axes of falling width, and groups."""
    rng = np.random.default_rng(seed)
    group = rng.choice(k, n, p=rng.dirichlet(np.full(k, 5.0)))
    width = np.arange(1, d + 1) ** -0.5
    turn = np.linalg.qr(rng.normal(size=(d, d)))[0]
    few = min(d, 40)
    centres = rng.normal(size=(k, few)) @ (turn[:few] * width[:few, None])
    centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    rows = 0.4 * turn[-1] + apart * centres[group] + (rng.normal(size=(n, d)) * width) @ turn / np.linalg.norm(width)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True), group


def cases(*, quick: bool, parts: bool) -> Iterator[Case]:
    """Yield name, rows, labels, clusters and goals."""
    for i, (n, d, k, apart) in enumerate(MADE):
        rows, group = directions(n, d, k, apart, seed=1000 + i)
        yield f"made up, {d} columns", rows, group, k, {}
    if quick or "KNOLL_DATA" not in os.environ:
        return
    for name, which, k, goals in CORPORA:
        data = np.load(folder() / f"{name}.npz")
        X, y = data["X"].astype(np.float64), data[which]
        yield f"{name}, {which}", X, y, k, goals
        if parts:
            order = np.random.default_rng(0).permutation(len(X))
            for part, half in zip(("first", "second"), np.array_split(order, 2), strict=True):
                yield f"{name}, {which}, {part} half", X[half], y[half], k, {}


def judged(centres: np.ndarray, X: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Return ARI and loss of labels by cosine."""
    unit = centres / np.maximum(np.linalg.norm(centres, axis=1, keepdims=True), 1e-12)
    cosine = X @ unit.T
    return float(adjusted_rand_score(y, cosine.argmax(axis=1))), 1.0 - float(cosine.max(axis=1).mean())


def row(case: Case, epsilon: int, runs: int) -> dict[str, Any]:
    """Return a line of the table."""
    name, X, y, k, goals = case

    def mean(make: Any) -> str:
        given = {"epsilon": epsilon, "delta": DELTA, "bounds": "sphere"}
        found = [judged(make(k, **given, random_state=r).fit(X).cluster_centers_, X, y) for r in range(runs)]
        return shown(*np.mean(found, axis=0))

    plain = judged(NonprivateKMeans(k, n_init=2, random_state=0).fit(X).cluster_centers_, X, y)
    goal = f"{goals[epsilon]:.2f}" if epsilon in goals else "-"
    return {
        "set": name, "k": k, "epsilon": epsilon, "goal": goal,
        "SphericalKMeans: ARI, loss": mean(knoll.SphericalKMeans),
        "KMeans on the sphere": mean(knoll.KMeans), "without noise": shown(*plain),
    }  # fmt: skip


def shown(ari: float, loss: float) -> str:
    """Return two figures as a cell of the table."""
    return f"{ari:.3f}, {loss:.4f}"


def unknown(case: Case, epsilon: int, runs: int) -> dict[str, Any]:
    """Return a line of the table of numbers of clusters that were chosen, and their confidence."""
    name, X, _, k, _ = case
    fits = [knoll.SphericalKMeans(None, epsilon=epsilon, delta=DELTA, random_state=r).fit(X) for r in range(runs)]
    numbers = ", ".join(str(fit.n_clusters_) for fit in fits)
    sure = ", ".join(f"{fit.n_clusters_confidence_:.2f}" for fit in fits)
    return {"set": name, "k": k, "epsilon": epsilon, "chosen": numbers, "confidence": sure}


def plain_steps(X: np.ndarray, k: int, axes: int) -> np.ndarray:
    """Do what a fit does, without privacy: mean, axes, rounds with words along them, centres in all columns."""
    rng = np.random.default_rng(0)
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    away = unit - unit.mean(axis=0)
    vectors = np.linalg.eigh(away.T @ away)[1][:, -axes:]
    seen = away @ vectors
    seen /= np.linalg.norm(seen, axis=1, keepdims=True)
    words = rng.normal(size=(WORDS, axes))
    for number in range(ROUNDS):
        words /= np.linalg.norm(words, axis=1, keepdims=True)
        label = (seen @ words.T).argmax(axis=1)
        words = sums(seen, label, len(words))
        if number == MERGED:
            words = NonprivateKMeans(k, n_init=3, random_state=0).fit(words).cluster_centers_
    return sums(unit, (seen @ words.T).argmax(axis=1), k)


def sums(rows: np.ndarray, label: np.ndarray, k: int) -> np.ndarray:
    """Return the sum of the rows of each label."""
    one = sparse.csr_array((np.ones(len(label)), (label, np.arange(len(label)))), shape=(k, len(label)))
    return np.asarray(one @ rows) + 1e-12


def speed() -> dict[str, Any]:
    """Return seconds over those of the same steps without privacy, and of Lloyd's algorithm in all columns."""
    n, d, k = SPEED
    X, _ = directions(n, d, k, 0.8, seed=5)
    model = NonprivateKMeans(k, init=X[:k].copy(), n_init=1, max_iter=ROUNDS, tol=0.0)
    ours = median_seconds(lambda: knoll.SphericalKMeans(k, epsilon=1.0, random_state=0).fit(X), 3)
    same, sklearn = median_seconds(lambda: plain_steps(X, k, 30), 3), median_seconds(lambda: model.fit(X), 3)
    size = {"rows": f"{n:,}", "columns": d, "k": k}
    lloyd = f"over {ROUNDS} steps of scikit-learn's KMeans"
    return {**size, "over the same steps in numpy": f"{ours / same:.2f}", lloyd: f"{ours / sklearn:.2f}"}


def main() -> None:
    """Measure, print, and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--runs", type=int, default=5)
    for flag in ("--quick", "--halves", "--unknown", "--speed"):
        parser.add_argument(flag, action="store_true")
    args = parser.parse_args()
    rows, line = [speed()] if args.speed else [], unknown if args.unknown else row
    for case in () if args.speed else cases(quick=args.quick, parts=args.halves):
        for epsilon in (1, 4):
            rows.append(line(case, epsilon, 1 if args.quick else args.runs))
            print(*rows[-1].values(), sep="  ", flush=True)
    name = "topics" + "".join(f"_{flag}" for flag in ("quick", "halves", "unknown", "speed") if getattr(args, flag))
    write(name, "python -m benchmarks.topics.run " + " ".join(f"--{flag}" for flag in name.split("_")[1:]), rows)


if __name__ == "__main__":
    main()
