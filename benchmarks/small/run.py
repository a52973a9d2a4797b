"""Small budgets in two and three columns: loss over the best known non-private one, with oracles beside it.

Best known: the least of `--starts` starts of scikit-learn's `KMeans` and three runs of breathing k-means. Found: true
centres that have a released centre within half the usual distance of neighbours. Means over runs, geometric means over
sets.

    tree           `KMeans` as it would be without the kernel sum
    KMeans         as it is; "kernel sum", "votes" or "tree" says what it did in most runs
    KMeans, pure   the same with delta = 0, with `--pure`
    started true   the same releases, every chain begun at the true centres: search is not in the way (not private)
    right basins   means of the best known clusters, released with the whole budget in one step (not private)

    python -m benchmarks.small.run --runs 3               kinds that constants were settled on, two columns
    python -m benchmarks.small.run --held-out             kinds and seeds for the last look
    python -m benchmarks.small.run --three                three columns, kinds and seeds for the last look
    python -m benchmarks.small.run --plane                s1, birch2 and blobs of docs/benchmarks.md (KNOLL_DATA)
    python -m benchmarks.small.run --held-out --pure      pure budgets beside others
    python -m benchmarks.small.run --sets                 all sets of docs/benchmarks.md; the two largest run once

With `--sets` delta is records ** -1.1 and only `tree` and `KMeans` are run unless `--methods` says otherwise.
"""

import argparse
import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.cluster import KMeans as NonprivateKMeans
from sklearn.metrics import pairwise_distances
from sklearn.utils import check_random_state
from threadpoolctl import threadpool_limits

import knoll
from benchmarks.common import write
from benchmarks.data import datasets
from benchmarks.small.kinds import HELD_OUT, THREE, TUNED
from knoll.cluster.kmeans import SHARES, KMeansByTree
from knoll.estimator import open_curator
from knoll.numeric.breathe import breathe
from knoll.numeric.posterior.cells import best_cells
from knoll.numeric.posterior.sample import sample
from knoll.queries import Box, Count, Frame
from knoll.steps.centres import with_variances
from knoll.steps.one_release import release_view
from knoll.steps.refine import Refined, lloyd_step

PLANE = ["s1", "birch2_25k", "blobs_10000_2_16"]
LARGE = ("gas", "mnist_pca50")
METHODS = ("tree", "KMeans", "started true", "right basins")
PURE = "KMeans, pure"


def sets(options: Any) -> Iterator[tuple[str, np.ndarray, np.ndarray | None, int]]:
    """Yield name, records, true centres if they are known, number of clusters."""
    if options.plane or options.sets:
        yield from ((name, X, None, k) for name, X, k in datasets(PLANE if options.plane else options.data))
        return
    for case in THREE if options.three else HELD_OUT if options.held_out else TUNED:
        yield case.name, *case.records(), case.k


@threadpool_limits.wrap(limits=1)
def best_known(X: np.ndarray, k: int, starts: int) -> np.ndarray:
    """Return the best centres that many non-private runs find."""
    rng = np.random.RandomState(0)
    runs = [NonprivateKMeans(k, n_init=starts, random_state=0).fit(X)]
    runs += [breathe(X, np.ones(len(X)), k, rng) for _ in range(3)]
    best = min(runs, key=lambda run: run.inertia_)
    return NonprivateKMeans(k, init=best.cluster_centers_, n_init=1).fit(X).cluster_centers_


def loss(X: np.ndarray, centres: np.ndarray) -> float:
    """Return the mean squared distance to the nearest centre."""
    parts = np.array_split(X, max(1, len(X) * len(centres) // 2**22))
    return sum(float(np.square(pairwise_distances(part, centres).min(axis=1)).sum()) for part in parts) / len(X)


def found(centres: np.ndarray, true: np.ndarray) -> float:
    """Return the part of the true centres with a released centre within half the usual distance of neighbours."""
    gaps = pairwise_distances(true)
    np.fill_diagonal(gaps, np.inf)
    return float((pairwise_distances(true, centres).min(axis=1) < np.median(gaps.min(axis=1)) / 2).mean())


def started_true(model: Any, X: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Return the centres of a kernel sum whose chains begin at the true centres. Not private."""
    rng = check_random_state(model.random_state)
    with open_curator(model, X) as context:
        k, total = model.n_clusters, float(context.grant.part(SHARES.root).release(Count()).value)
        view = release_view(context, context.grant.rest, total, k, rng)
        low = context.domain.centre + view.low * context.scales
        draws = sample(view, k, total, rng, start=(centres - low) / context.scales)
        return np.asarray(low + best_cells(draws, view, k, rng).centres * context.scales)


def right_basins(model: Any, X: np.ndarray, best: np.ndarray) -> np.ndarray:
    """Return released means of the best known clusters, as the noise leaves them. Not private."""
    with open_curator(model, X) as context:
        frame = Frame(context.domain, context.scales)
        at, rows = ((points - context.domain.centre) / context.scales for points in (best, X))
        centres = with_variances(at, rows, np.ones(len(X)), pairwise_distances(rows, at).argmin(axis=1))
        half = context.domain.half / context.scales
        step = lloyd_step(Refined.start(centres), context.grant, frame, len(best), (-half, half))
        assert step.moved is not None
        return np.asarray(context.domain.clip(frame.outside(at + step.moved)))


def centres_of(method: str, X: np.ndarray, true: np.ndarray, best: np.ndarray, given: dict[str, Any]) -> Any:
    """Return the centres of a method, and the fitted model if there is one."""
    if method in ("tree", "KMeans", PURE):
        given = given | {"delta": 0.0} if method == PURE else given
        model = (KMeansByTree if method == "tree" else knoll.KMeans)(**given).fit(X)
        return model.cluster_centers_, model
    model = knoll.KMeans(**given)
    return (started_true(model, X, true) if method == "started true" else right_basins(model, X, best)), None


def measure(name: str, X: np.ndarray, true: np.ndarray | None, k: int, options: Any) -> Iterator[dict[str, Any]]:
    """Yield a row for each epsilon."""
    best = best_known(X, k, 2 if name in LARGE else options.starts)
    least, d = loss(X, best), X.shape[1]
    box = Box((0.0,) * d, (1.0,) * d) if true is not None else Box(tuple(X.min(axis=0) - 1e-9), tuple(X.max(axis=0)))
    for epsilon in options.epsilons:
        row: dict[str, Any] = {"set": name, "records": len(X), "epsilon": epsilon}
        for method in options.methods:
            losses, seen, took, did = [], [], [], []
            for run in range(1 if name in LARGE else options.runs):
                delta = len(X) ** -1.1 if options.sets else options.delta
                given = {"n_clusters": k, "epsilon": epsilon, "delta": delta, "bounds": box}
                given |= {"scale_by_bounds": true is not None, "random_state": run}
                start = time.process_time()
                centres, model = centres_of(method, X, best if true is None else true, best, given)
                took.append(time.process_time() - start)
                losses.append(loss(X, centres) / least)
                seen.append(np.nan if true is None else found(centres, true))
                did.append("" if model is None else model.strategy_)
            row[method] = float(np.mean(losses))
            row[f"{method}: found"] = float(np.mean(seen))
            if method == "KMeans":
                row |= {"did": max(set(did), key=did.count), "seconds": float(np.median(took))}
        yield row


def together(rows: list[dict[str, Any]], methods: list[str]) -> Iterator[dict[str, Any]]:
    """Yield the geometric means of losses and the means of what was found, for each epsilon."""
    for epsilon in sorted({row["epsilon"] for row in rows}):
        some = [row for row in rows if row["epsilon"] == epsilon]
        row: dict[str, Any] = {"set": "all", "records": "", "epsilon": epsilon}
        for method in methods:
            row[method] = float(np.exp(np.mean([np.log(each[method]) for each in some])))
            row[f"{method}: found"] = float(np.mean([each[f"{method}: found"] for each in some]))
            if method == "KMeans":
                row |= {"did": "", "seconds": float(np.median([each["seconds"] for each in some]))}
        yield row


def shown(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row for readers."""
    text = {}
    for name, value in row.items():
        if name.endswith("found"):
            text[name] = "" if np.isnan(value) else f"{value:.0%}"
        elif isinstance(value, float) and name != "epsilon":
            text[name] = f"{value:.2f}" if name == "seconds" else f"{value:.3f}"
        else:
            text[name] = value
    return text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--starts", type=int, default=50, help="of non-private k-means")
    parser.add_argument("--epsilons", type=lambda text: [float(each) for each in text.split(",")], default=[0.1, 0.25])
    parser.add_argument("--delta", type=float, default=1e-6)
    parser.add_argument("--pure", action="store_true", help="KMeans with delta as it is and with delta = 0, alone")
    parser.add_argument("--data", type=lambda text: text.split(","), help="with --sets: some of them alone")
    parser.add_argument("--methods", type=lambda text: text.split(","), help=f"default: {','.join(METHODS)}")
    parser.add_argument("--held-out", action="store_true", help="kinds and seeds for the last look")
    parser.add_argument("--three", action="store_true", help="three columns")
    parser.add_argument("--plane", action="store_true", help="plane sets of docs/benchmarks.md")
    parser.add_argument("--sets", action="store_true", help="all sets of docs/benchmarks.md")
    options = parser.parse_args()
    usual = ("KMeans", PURE) if options.pure else METHODS[:2] if options.sets else METHODS
    options.methods = options.methods or list(usual)
    warnings.simplefilter("ignore")
    rows = []
    for each in sets(options):
        for row in measure(*each, options):
            rows.append(row)
            print("  ".join(f"{name} {value}" for name, value in shown(row).items()), flush=True)
    if not rows:
        parser.error("no set was found: set KNOLL_DATA to a folder of NPZ files")
    flags = [name for name in ("held_out", "three", "plane", "sets", "pure") if getattr(options, name)]
    command = " ".join(["python -m benchmarks.small.run", *(f"--{flag.replace('_', '-')}" for flag in flags)])
    command += f" --data {','.join(options.data)}" if options.data else ""
    command += f" --runs {options.runs} --starts {options.starts} --epsilons {','.join(map(str, options.epsilons))}"
    table = [shown(row) for row in [*rows, *together(rows, options.methods)]]
    write("-".join(["small", *(flag.replace("_", "-") for flag in flags)]), command, table)


if __name__ == "__main__":
    main()
