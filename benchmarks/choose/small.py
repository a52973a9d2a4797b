"""The number of clusters at small budgets, in the plane: by a kernel sum, or by pieces and votes as at larger budgets.

Clusters of 100 to 800 records (kinds of benchmarks/small), 5 to 50 of them, and clouds of 1,000 to 6,000 records that
are one cluster. Right means within 5 %. `pieces` is `KMeans` as it would be without the kernel sum.

    python -m benchmarks.choose.small                 about five minutes; other seeds than those that settled it
"""

import argparse
import warnings
from collections.abc import Iterator

import numpy as np

import knoll
from benchmarks.common import write
from benchmarks.small.kinds import Case
from knoll.cluster.kmeans import KMeansByTree
from knoll.queries import Box

KINDS = ("blobs", "discs", "skewed", "heavy tails")
NUMBERS = (5, 9, 16, 30, 50)
CLOUDS = ("Gaussian", "uniform", "ball", "Student", "beta", "half ring")
COMMAND = "python -m benchmarks.choose.small"
METHODS = {"kernel sum": knoll.KMeans, "pieces": KMeansByTree}


def cloud(kind: str, rng: np.random.RandomState) -> np.ndarray:
    """Return records between 0 and 1 that are one cluster."""
    n = rng.randint(1000, 6001)
    X = rng.standard_normal((n, 2))
    if kind == "uniform":
        X = rng.uniform(-1, 1, (n, 2))
    elif kind == "ball":
        X *= (rng.uniform(0, 1, n) ** 0.5 / np.linalg.norm(X, axis=1))[:, None]
    elif kind == "Student":
        X = np.clip(rng.standard_t(4, (n, 2)), -15, 15)
    elif kind == "beta":
        X = rng.beta(1.2, 5, (n, 2))
    elif kind == "half ring":
        along = rng.uniform(0, np.pi, n)
        X = 2 * np.column_stack([np.cos(along), np.sin(along)]) + 0.15 * X
    low, high = X.min(axis=0), X.max(axis=0)
    return (X - low) / (high - low) / 1.2 + 0.08


def cases(seed: int) -> Iterator[tuple[str, int, np.ndarray]]:
    """Return kinds, true numbers and records."""
    for i, (k, kind) in enumerate((k, kind) for k in NUMBERS for kind in KINDS):
        yield f"{k} {kind}", k, Case(kind, k, 100, 800, 1000 * seed + i).records()[0] * 0.9 + 0.05
    for i, kind in enumerate(CLOUDS):
        yield kind, 1, cloud(kind, np.random.RandomState(1000 * seed + 500 + i))


def tables(rows: list[dict]) -> tuple[list[dict], list[dict]]:
    """Return how often fits are right, by epsilon, and how often those with a confidence are."""
    first, second = [], []
    for epsilon in sorted({row["epsilon"] for row in rows}):
        line: dict = {"epsilon": epsilon}
        for method in METHODS:
            of = [row for row in rows if (row["epsilon"], row["method"]) == (epsilon, method)]
            for what, some in (("clusters", [row for row in of if row["k"] > 1]),
                               ("one cloud", [row for row in of if row["k"] == 1])):  # fmt: skip
                line[f"{what}, {method}"] = f"{np.mean([row['right'] for row in some]):.0%}"
            off = [abs(np.log(row["found"] / row["k"])) for row in of if row["k"] > 1]
            line[f"found / true, {method}"] = f"{np.exp(-np.mean(off)):.2f}"
        first.append(line)
    for low, high in ((0.9, 1.01), (0.7, 0.9), (0.5, 0.7), (0.0, 0.5)):
        line = {"confidence": f"{low:.0%} to {min(high, 1):.0%}"}
        for method in METHODS:
            some = [row["right"] for row in rows if row["method"] == method and low <= row["sure"] < high]
            line[f"right, {method}"] = f"{sum(some)} of {len(some)}"
        second.append(line)
    return first, second


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=8)
    parser.add_argument(
        "--epsilons", type=lambda text: [float(each) for each in text.split(",")], default=[0.1, 0.25, 0.5]
    )
    parser.add_argument("--dry", action="store_true", help="write nothing")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    for name, k, X in cases(options.seed):
        for epsilon in options.epsilons:
            for method, kind in METHODS.items():
                given = {"epsilon": epsilon, "delta": 1e-6, "bounds": Box((0.0, 0.0), (1.0, 1.0))}
                model = kind(None, **given, random_state=options.seed).fit(X)
                found, sure = model.n_clusters_, model.n_clusters_confidence_
                right = bool(abs(found - k) <= 0.05 * k)
                rows.append({"name": name, "k": k, "epsilon": epsilon, "method": method, "found": found, "sure": sure,
                             "right": right})  # fmt: skip
                print(f"{name:16} {epsilon:5} {method:11} {found:3} {sure:.2f} {model.strategy_}", flush=True)
    for name, table in zip(("choose-small", "choose-small-confidence"), tables(rows), strict=True):
        for line in table:
            print(line)
        if not options.dry:
            write(name, f"{COMMAND} --seed {options.seed} --epsilons {','.join(map(str, options.epsilons))}", table)


if __name__ == "__main__":
    main()
