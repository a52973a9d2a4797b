"""Small data: 150 to 400 rows in 2 to 13 columns, 2 to 5 clusters. Loss over the best known non-private one.

Best known: the least of many starts of scikit-learn's `KMeans` and of three runs of breathing k-means.

    KMeans         as it is; the column "did" says by which releases
    tree           `KMeans` as it would be without kernel sums, votes and waves
    true start     the steps of the tree, begun at the best known centres, with the whole budget (not private)
    right basins   means of the best known clusters, released with the whole budget in one step (not private)

    python -m benchmarks.small.tiny                    kinds that constants were settled on
    python -m benchmarks.small.tiny --held-out         kinds and seeds for the last look
    python -m benchmarks.small.tiny --real             iris and wine, a check that was in view
    python -m benchmarks.small.tiny --delta 0          pure budgets
"""

import argparse
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.datasets import load_iris, load_wine
from sklearn.metrics import pairwise_distances

import knoll
from benchmarks.common import write
from benchmarks.data import unit_ball
from benchmarks.small.run import best_known, loss, right_basins, shown
from knoll.cluster.kmeans import KMeansByTree
from knoll.estimator import open_curator
from knoll.queries import Frame
from knoll.steps.centres import with_variances
from knoll.steps.refine import affordable_steps, refine
from knoll.steps.tree import ask_root, root_of

METHODS = ("tree", "KMeans", "true start", "right basins")
SHAPES = ((150, 2, 3), (200, 4, 2), (300, 7, 4), (180, 10, 3), (400, 13, 5), (250, 3, 5))  # rows, columns, clusters
LAST_SHAPES = ((160, 3, 2), (220, 5, 4), (350, 8, 5), (170, 12, 3), (280, 13, 2), (400, 2, 4))
ROOT = 0.05  # of the budget: what tells how many steps are worth it

Draw = Callable[[np.random.Generator, int, int, int], np.ndarray]


def clear(rng: np.random.Generator, n: int, d: int, k: int) -> np.ndarray:
    """Round clusters of one width."""
    at, label = rng.normal(0, 4, (k, d)), rng.integers(0, k, n)
    return at[label] + rng.normal(0, 1, (n, d))


def overlapping(rng: np.random.Generator, n: int, d: int, k: int) -> np.ndarray:
    """Clusters that overlap, columns of different widths."""
    at, label, width = rng.normal(0, 1.7, (k, d)), rng.integers(0, k, n), rng.gamma(3, 1 / 3, d)
    return (at[label] + rng.normal(0, 1, (n, d))) * width


def uneven(rng: np.random.Generator, n: int, d: int, k: int) -> np.ndarray:
    """Sizes and widths differ."""
    part = np.maximum(rng.dirichlet(np.full(k, 2.0)), 0.1)
    label, width = rng.choice(k, n, p=part / part.sum()), rng.uniform(0.5, 2, k)
    return rng.normal(0, 3.5, (k, d))[label] + rng.normal(0, 1, (n, d)) * width[label, None]


def long_tails(rng: np.random.Generator, n: int, d: int, k: int) -> np.ndarray:
    """Columns with long tails to one side."""
    at, label = rng.normal(0, 1, (k, d)), rng.integers(0, k, n)
    return np.exp(0.6 * (at[label] + 0.4 * rng.normal(0, 1, (n, d))))


def one_column(rng: np.random.Generator, n: int, d: int, k: int) -> np.ndarray:
    """One wide column, as prices beside shares would be; clusters differ mostly there."""
    X = clear(rng, n, d, k)
    X[:, 0] *= 6
    return X


def correlated(rng: np.random.Generator, n: int, d: int, k: int) -> np.ndarray:
    """Columns that go together, as measures of one body do."""
    at, label, turn = rng.normal(0, 3, (k, d)), rng.integers(0, k, n), rng.normal(0, 1, (d, d))
    return (at[label] + rng.normal(0, 1, (n, d))) @ (turn * rng.gamma(1, 1, d)[:, None])


def counts(rng: np.random.Generator, n: int, d: int, k: int) -> np.ndarray:
    """Small counts."""
    return rng.poisson(rng.gamma(2, 2, (k, d))[rng.integers(0, k, n)]).astype(float)


def evenly_filled(rng: np.random.Generator, n: int, d: int, k: int) -> np.ndarray:
    """Evenly filled boxes."""
    at, label = rng.uniform(-4, 4, (k, d)), rng.integers(0, k, n)
    return at[label] + rng.uniform(-1, 1, (n, d)) * rng.uniform(0.5, 2.5, (k, d))[label]


TUNED: tuple[Draw, ...] = (clear, overlapping, uneven, long_tails)
LAST: tuple[Draw, ...] = (one_column, correlated, counts, evenly_filled)


def sets(options: Any) -> Iterator[tuple[str, np.ndarray, int]]:
    """Yield name, records, number of clusters."""
    if options.real:
        yield "iris", unit_ball(load_iris().data), 3
        yield "wine", unit_ball(load_wine().data), 3
        return
    for kind in LAST if options.held_out else TUNED:
        for n, d, k in LAST_SHAPES if options.held_out else SHAPES:
            rng = np.random.default_rng(1000 * n + d + 500_000 * options.held_out)
            name = f"{kind.__name__.replace('_', ' ')}, {d} columns, k = {k}"
            yield name, unit_ball(kind(rng, n, d, k)), k


def true_start(model: Any, X: np.ndarray, best: np.ndarray) -> np.ndarray:
    """Return the centres of steps that begin at the best known ones. Not private."""
    with open_curator(model, X) as context:
        frame = Frame(context.domain, context.scales)
        reach = context.domain.longest(context.scales)
        root = root_of(ask_root(context.grant.part(ROOT), frame, reach), frame, reach)
        at, rows = ((points - context.domain.centre) / context.scales for points in (best, X))
        centres = with_variances(at, rows, np.ones(len(X)), pairwise_distances(rows, at).argmin(axis=1))
        steps = affordable_steps(context.grant, frame, root, len(best))
        walls = root.lower[0], root.upper[0]
        refined = refine(context.grant.rest, steps, frame, centres, len(best), walls)
        return np.asarray(context.domain.clip(frame.outside(refined.centres)))


def centres_of(method: str, X: np.ndarray, best: np.ndarray, given: dict[str, Any]) -> tuple[np.ndarray, str]:
    """Return the centres of a method, and which releases it made."""
    if method in ("true start", "right basins"):
        how = true_start if method == "true start" else right_basins
        return how(knoll.KMeans(**given), X, best), ""
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
            losses, did = [], []
            for run in range(options.runs):
                delta = len(X) ** -1.1 if options.delta is None else options.delta
                given = {"n_clusters": k, "epsilon": epsilon, "delta": delta, "bounds": box, "random_state": run}
                centres, what = centres_of(method, X, best, given | {"scale_by_bounds": False})
                losses.append(loss(X, centres) / least)
                did.append(what)
            row[method] = float(np.mean(losses))
            if method == "KMeans":
                row["did"] = max(set(did), key=did.count)
        yield row


def together(rows: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield geometric means and the worst set for each epsilon."""
    for epsilon in sorted({row["epsilon"] for row in rows}):
        some = [row for row in rows if row["epsilon"] == epsilon]
        means = {method: float(np.exp(np.mean([np.log(each[method]) for each in some]))) for method in METHODS}
        yield {"set": "all", "records": "", "epsilon": epsilon} | means | {"did": ""}
        worst = {method: max(each[method] for each in some) for method in METHODS}
        yield {"set": "worst", "records": "", "epsilon": epsilon} | worst | {"did": ""}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--starts", type=int, default=50, help="of non-private k-means")
    parser.add_argument("--epsilons", type=lambda text: [float(each) for each in text.split(",")], default=[1.0])
    parser.add_argument("--delta", type=float, help="default: records ** -1.1")
    parser.add_argument("--held-out", action="store_true", help="kinds and seeds for the last look")
    parser.add_argument("--real", action="store_true", help="iris and wine")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    for each in sets(options):
        for row in measure(*each, options):
            rows.append(row)
            print("  ".join(f"{name} {value}" for name, value in shown(row).items()), flush=True)
    table = [shown(row) for row in [*rows, *together(rows)]]
    for row in table[-2 * len(options.epsilons) :]:
        print(row)
    flags = ["--held-out"] * options.held_out + ["--real"] * options.real
    flags += [] if options.delta is None else [f"--delta {options.delta:g}"]
    command = " ".join(["python -m benchmarks.small.tiny", *flags, f"--runs {options.runs} --starts {options.starts}"])
    command += f" --epsilons {','.join(map(str, options.epsilons))}"
    name = "small-tiny" + "-held-out" * options.held_out + "-real" * options.real + "-pure" * (options.delta == 0)
    write(name, command, table)


if __name__ == "__main__":
    main()
