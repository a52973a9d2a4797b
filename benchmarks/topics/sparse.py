"""Clusters of sparse rows: tags that are made up, and bags of words of news; agreement with the labels.

    python -m benchmarks.topics.sparse [--runs 5] [--seed 0] [--speed]

Tags have 2,001 columns, 16 groups and about 31 or 76 of them in a row, such that a non-private spherical k-means
reaches about .83 and .88. --speed fits 100,000 x 20,000 with 30 entries in a row, and tells time and memory.
"""

import argparse
import time
import tracemalloc

import numpy as np
from scipy import sparse
from sklearn.metrics import adjusted_rand_score

import knoll
from benchmarks.topics.data import bag, labels, tags

EPSILONS = (1.0, 4.0)


def score(X: sparse.csr_array, y: np.ndarray, k: int, epsilon: float, seed: int) -> float:
    """Return the agreement of one fit with the labels."""
    model = knoll.SphericalKMeans(k, epsilon=epsilon, random_state=seed).fit(X)
    return float(adjusted_rand_score(y, model.predict(X)))


def rows(runs: int, seed: int) -> None:
    """Print a row for each set: mean agreement at every budget."""
    sets = [(f"tags, {per_row} a row", *tags(per_row, own, seed=seed), 16) for per_row, own in ((31, 0.5), (76, 0.32))]
    sets += [("agnews, words", bag("agnews"), labels("agnews"), 4)]
    sets += [("clinc150 domains, words", bag("clinc150"), labels("clinc150", "domain"), 10)]
    print("| set | " + " | ".join(f"epsilon {each:g}" for each in EPSILONS) + " |")
    print("|---" * (1 + len(EPSILONS)) + "|")
    for name, X, y, k in sets:
        found = [np.mean([score(X, y, k, epsilon, run) for run in range(runs)]) for epsilon in EPSILONS]
        print(f"| {name} | " + " | ".join(f"{each:.3f}" for each in found) + " |", flush=True)


def speed() -> None:
    """Print time and memory of a fit of 100,000 x 20,000."""
    rng = np.random.default_rng(0)
    column = rng.zipf(1.3, size=(100_000, 30)) % 20_000
    X = sparse.csr_array(
        (np.ones(column.size), column.ravel(), np.arange(0, column.size + 1, 30)), shape=(100_000, 20_000)
    )
    X.sum_duplicates()
    knoll.SphericalKMeans(16, epsilon=1.0, random_state=0).fit(X[:2000])
    size = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    for epsilon in EPSILONS:
        start, cpu = time.perf_counter(), time.process_time()
        knoll.SphericalKMeans(16, epsilon=epsilon, random_state=0).fit(X)
        took = time.perf_counter() - start, time.process_time() - cpu
        tracemalloc.start()
        knoll.SphericalKMeans(16, epsilon=epsilon, random_state=0).fit(X)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        more = (size + peak) / size
        print(
            f"epsilon {epsilon:g}: {took[0]:.1f} s, {took[1]:.1f} s of processor, memory {more:.2f} x the input",
            flush=True,
        )


def main() -> None:
    """Print what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--speed", action="store_true")
    given = parser.parse_args()
    if given.speed:
        speed()
    else:
        rows(given.runs, given.seed)


if __name__ == "__main__":
    main()
