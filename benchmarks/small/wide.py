"""Small budgets in 16 to 40 columns: loss over the best known non-private one, with oracles beside it.

Best known: the least of many starts of scikit-learn's `KMeans` and of three runs of breathing k-means.

    tree           `KMeans` as it would be without waves
    KMeans         as it is; "waves" or "tree" says what it did
    right basins   means of the best known clusters, released with the whole budget in one step (not private)

    python -m benchmarks.small.wide                    kinds that constants were settled on
    python -m benchmarks.small.wide --held-out         kinds and seeds for the last look
    python -m benchmarks.small.wide --delta 0          pure budgets
"""

import argparse
import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

import knoll
from benchmarks.common import write
from benchmarks.small.run import best_known, loss, right_basins, shown
from knoll.cluster.kmeans import KMeansByTree

METHODS = ("tree", "KMeans", "right basins")
SHAPES = ((16, 12, 750), (40, 10, 750), (24, 20, 500))  # columns, clusters, records in each
LAST_SHAPES = ((18, 9, 600), (30, 14, 900), (36, 24, 700))


def even(rng, k, d, width):
    """Centres anywhere, round clusters of one width."""
    return rng.uniform(-10, 10, (k, d)), np.full((k, d), width), rng.integers(0, k, 10**6)


def round_clusters(rng, k, d):
    return even(rng, k, d, 2.0)


def narrow(rng, k, d):
    return even(rng, k, d, 0.6)


def overlapping(rng, k, d):
    return even(rng, k, d, 4.0)


def uneven(rng, k, d):
    """Sizes and widths differ."""
    part = np.maximum(rng.dirichlet(np.full(k, 4.0)), 0.3 / k)
    label = rng.choice(k, 10**6, p=part / part.sum())
    return rng.uniform(-10, 10, (k, d)), np.repeat(rng.uniform(0.7, 3, (k, 1)), d, axis=1), label


def few_directions(rng, k, d):
    """Centres in a plane of six dimensions."""
    return (
        rng.uniform(-10, 10, (k, 6)) @ rng.normal(size=(6, d)) / 6**0.5,
        np.full((k, d), 1.2),
        rng.integers(0, k, 10**6),
    )


def normal_centres(rng, k, d):
    """Centres as a normal distribution has them; columns of different widths."""
    return 5 * rng.normal(size=(k, d)), np.tile(rng.gamma(4, 0.5, d), (k, 1)), rng.integers(0, k, 10**6)


def some_columns(rng, k, d):
    """Half the columns tell nothing of the clusters."""
    at = rng.uniform(-8, 8, (k, d))
    at[:, d // 2 :] = 0.0
    return at, np.full((k, d), 1.6), rng.integers(0, k, 10**6)


def corners(rng, k, d):
    """Centres on corners of a cube, as answers of yes and no would be."""
    return rng.choice([-4.0, 4.0], (k, d)), rng.uniform(1, 2.5, (k, d)), rng.integers(0, k, 10**6)


TUNED = (round_clusters, narrow, overlapping, uneven, few_directions)
LAST = (normal_centres, some_columns, corners)


def sets(*, held_out: bool) -> Iterator[tuple[str, np.ndarray, int]]:
    """Yield name, records, number of clusters."""
    for d, k, each in LAST_SHAPES if held_out else SHAPES:
        for number, kind in enumerate(LAST if held_out else TUNED):
            rng = np.random.default_rng(1000 * d + number + 500_000 * held_out)
            at, width, label = kind(rng, k, d)
            label = label[: k * each]
            yield (
                f"{kind.__name__.replace('_', ' ')}, {d} columns, k = {k}",
                at[label] + width[label] * rng.normal(size=(len(label), d)),
                k,
            )


def centres_of(method: str, X: np.ndarray, best: np.ndarray, given: dict[str, Any]) -> tuple[np.ndarray, str]:
    """Return the centres of a method, and which releases it made."""
    if method == "right basins":
        return right_basins(knoll.KMeans(**given), X, best), ""
    model = (knoll.KMeans if method == "KMeans" else KMeansByTree)(**given).fit(X)
    return model.cluster_centers_, model.strategy_


def measure(name: str, X: np.ndarray, k: int, options: Any) -> Iterator[dict[str, Any]]:
    """Yield a row for each epsilon."""
    best = best_known(X, k, options.starts)
    least = loss(X, best)
    box = knoll.Box(tuple(X.min(axis=0) - 1e-9), tuple(X.max(axis=0) + 1e-9))
    for epsilon in options.epsilons:
        row: dict[str, Any] = {"set": name, "records": len(X), "epsilon": epsilon}
        for method in METHODS:
            losses, did, took = [], [], []
            for run in range(options.runs):
                delta = len(X) ** -1.1 if options.delta is None else options.delta
                given = {"n_clusters": k, "epsilon": epsilon, "delta": delta, "bounds": box, "random_state": run}
                start = time.process_time()
                centres, what = centres_of(method, X, best, given | {"scale_by_bounds": False})
                took.append(time.process_time() - start)
                losses.append(loss(X, centres) / least)
                did.append(what)
            row[method] = float(np.mean(losses))
            if method == "KMeans":
                row |= {"did": max(set(did), key=did.count), "seconds": float(np.median(took))}
        yield row


def together(rows: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the geometric means of losses for each epsilon."""
    for epsilon in sorted({row["epsilon"] for row in rows}):
        some = [row for row in rows if row["epsilon"] == epsilon]
        means = {method: float(np.exp(np.mean([np.log(each[method]) for each in some]))) for method in METHODS}
        yield {"set": "all", "records": "", "epsilon": epsilon} | means | {"did": "", "seconds": ""}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--starts", type=int, default=50, help="of non-private k-means")
    parser.add_argument("--epsilons", type=lambda text: [float(each) for each in text.split(",")], default=[0.1, 0.25])
    parser.add_argument("--delta", type=float, help="default: records ** -1.1")
    parser.add_argument("--held-out", action="store_true", help="kinds and seeds for the last look")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    for each in sets(held_out=options.held_out):
        for row in measure(*each, options):
            rows.append(row)
            print("  ".join(f"{name} {value}" for name, value in shown(row).items()), flush=True)
    flags = ["--held-out"] * options.held_out + [f"--delta {options.delta:g}"] * (options.delta is not None)
    command = " ".join(["python -m benchmarks.small.wide", *flags, f"--runs {options.runs} --starts {options.starts}"])
    command += f" --epsilons {','.join(map(str, options.epsilons))}"
    table = [shown(row) for row in [*rows, *together(rows)]]
    for row in table[-len(options.epsilons) :]:
        print(row)
    write("small-wide" + "-held-out" * options.held_out + "-pure" * (options.delta == 0), command, table)


if __name__ == "__main__":
    main()
