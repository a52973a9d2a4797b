"""K-means utility: loss of every private method here over epsilon, on all datasets that can be found.

Protocol: data centred and scaled to norm one; public bounds the same for every method (the box of each column);
delta = n^-1.1; loss = mean squared distance to the nearest centre; AUC over epsilon by the trapezoid rule, divided
by its width. Set KNOLL_DATA to a folder of NPZ files for more datasets.

    make bench-kmeans                          about half an hour with all datasets, 10 runs
    make bench-kmeans ARGS=--quick             a few minutes
    make bench-kmeans ARGS="--bounds ball"     on the terms of the PE-means paper: nothing but the unit ball is known
    make bench-kmeans ARGS="--methods KMeans --keep"    one method again, next to the others' results of the last run
    make bench-kmeans ARGS=--diffprivlib       with diffprivlib, in an environment of its own that is made for it
"""

import argparse
import json
import time

import numpy as np
from matplotlib.figure import Figure
from rich.progress import track
from scipy.integrate import trapezoid
from sklearn.cluster import KMeans

import knoll
from benchmarks.common import RESULTS, write
from benchmarks.data import QUICK, datasets
from benchmarks.kmeans.figures import loss_against_k, vote_splitting
from benchmarks.kmeans.with_diffprivlib import Diffprivlib

EPSILONS = (0.25, 0.5, 1.0, 2.0, 4.0)
RATIOS = (1.05, 1.1, 1.2, 1.3, 1.5, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000)  # ticks of the picture
OTHERS = ("Lloyd", "FastLloyd", "LSHTree", "Cubes")
METHODS = (*OTHERS, "PEMeans", "KMeans")


def loss(model, X: np.ndarray) -> float:
    return -model.score(X) / len(X)


def public_bounds(X: np.ndarray, kind: str):
    """The range of each column, or the unit ball: the same for every method."""
    if kind == "ball":
        return knoll.Ball(1.0, (0.0,) * X.shape[1])
    return knoll.Box(tuple(X.min(axis=0) - 1e-9), tuple(X.max(axis=0) + 1e-9))


def losses(X: np.ndarray, k: int, methods: list[str], runs: int, kind: str) -> dict:
    """Loss of each method, epsilon and run; and of non-private k-means."""
    bounds = public_bounds(X, kind)
    found = {"non-private": KMeans(k, n_init=10, random_state=0).fit(X).inertia_ / len(X)}
    for name in methods:
        table, start = [], time.perf_counter()
        for run in range(runs):
            fits = [
                getattr(knoll, name)(
                    k, epsilon=e, delta=len(X) ** -1.1, bounds=bounds, scale_by_bounds=False, random_state=run
                ).fit(X)
                for e in EPSILONS
            ]
            table.append([loss(fit, X) for fit in fits])
        found[name] = {"losses": table, "seconds": (time.perf_counter() - start) / runs / len(EPSILONS)}
    return found


def auc(table: list[list[float]]) -> tuple[float, float]:
    """Mean AUC over its width, and half its 95 % interval."""
    areas = trapezoid(np.array(table), EPSILONS, axis=1) / (EPSILONS[-1] - EPSILONS[0])
    return float(areas.mean()), float(1.96 * areas.std(ddof=1) / len(areas) ** 0.5) if len(areas) > 1 else 0.0


def summary(results: dict, methods: list[str]) -> list[dict]:
    rows = []
    for name, found in results.items():
        areas = {method: auc(found[method]["losses"]) for method in methods}
        best = min(areas, key=lambda method: areas[method][0])
        row = {"dataset": name, "non-private": f"{found['non-private']:.3g}"}
        row |= {method: f"{mean:.3g} ± {half:.1g}" for method, (mean, half) in areas.items()}
        rows.append(row | {"winner": best})
    return rows


def draw(results: dict, methods: list[str], path) -> None:
    columns = min(4, len(results))
    figure = Figure(figsize=(3.6 * columns, 2.8 * -(-len(results) // columns)), layout="constrained")
    grid = figure.subplots(-(-len(results) // columns), columns, squeeze=False).ravel()
    for axes, (name, found) in zip(grid, results.items(), strict=False):
        for method in methods:
            table = np.array(found[method]["losses"]) / found["non-private"]
            axes.plot(EPSILONS, table.mean(axis=0), marker="o", ms=3, lw=1.4, label=method)
        axes.axhline(1.0, color="grey", ls=":", lw=1, label="non-private")
        axes.set(title=name, xscale="log", yscale="log")
        axes.set_xticks(EPSILONS, [f"{epsilon:g}" for epsilon in EPSILONS])
        low, high = axes.get_ylim()
        ticks = [1.0]
        for tick in RATIOS:
            if tick <= high and np.log(tick / ticks[-1]) > 0.1 * np.log(high / low):
                ticks.append(tick)
        axes.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
        axes.minorticks_off()
    for axes in grid[len(results) :]:
        axes.axis("off")
    grid[0].legend(fontsize=7, frameon=False)
    figure.supxlabel("epsilon")
    figure.supylabel("loss / non-private loss")
    figure.savefig(path, dpi=120)


def report(results: dict) -> None:
    """Print how PEMeans compares with the methods that its paper compares with, and who wins."""
    found = {
        name: {m: auc(of[m]["losses"])[0] for m in (*OTHERS, "PEMeans") if m in of} for name, of in results.items()
    }
    if not all(len(of) == len(OTHERS) + 1 for of in found.values()):
        return
    below = np.array([[1 - of["PEMeans"] / of[m] for m in OTHERS] for of in found.values()])
    print(f"PEMeans is below all of {', '.join(OTHERS)} on {(below > 0).all(axis=1).sum()} of {len(below)} datasets,")
    print(f"by {below.min(axis=1).mean():.0%} below the best of them on average, and below each of them by")
    print(", ".join(f"{m} {mean:.0%}" for m, mean in zip(OTHERS, below.mean(axis=0), strict=True)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small datasets, 3 runs")
    parser.add_argument("--runs", type=int)
    parser.add_argument("--data", help="datasets, separated by commas")
    parser.add_argument("--bounds", choices=("box", "ball"), default="box", help="what is public")
    parser.add_argument("--diffprivlib", action="store_true", help="make an environment for diffprivlib and run it too")
    parser.add_argument("--methods", help="methods, separated by commas", default=",".join(METHODS))
    parser.add_argument("--keep", action="store_true", help="keep the last run's results of the other methods")
    options = parser.parse_args()
    runs = options.runs or (3 if options.quick else 10)
    methods = [name for name in options.methods.split(",") if hasattr(knoll, name)]
    names = options.data.split(",") if options.data else list(QUICK) if options.quick else None
    sets = list(datasets(names))
    print(
        f"{len(sets)} datasets, {runs} runs of {', '.join(methods)}:", ", ".join(name for name, *_ in sets), flush=True
    )
    other = Diffprivlib.install() if options.diffprivlib else None
    stem = "kmeans" + "-quick" * options.quick + "-ball" * (options.bounds == "ball")
    losses_file = RESULTS / f"{stem}-losses.json"
    kept = json.loads(losses_file.read_text()) if options.keep else {}
    results = {}
    for name, X, k in track(sets, description="datasets"):
        results[name] = kept.get(name, {}) | losses(X, k, methods, runs, options.bounds)
        if other is not None:
            results[name][other.name] = other.losses(X, k, runs, EPSILONS)
        areas = {m: f"{auc(results[name][m]['losses'])[0]:.4g}" for m in methods}
        print(name, X.shape, k, f"non-private {results[name]['non-private']:.4g}", areas, flush=True)
    shown = [m for m in METHODS if all(m in found for found in results.values())]
    shown += [other.name] if other is not None else []
    flags = [f"--runs {runs}"] + ["--quick"] * options.quick + ["--diffprivlib"] * options.diffprivlib
    flags += ["--bounds ball"] * (options.bounds == "ball") + [f"--data {options.data}"] * bool(options.data)
    flags += [f"--methods {options.methods}"] * (methods != list(METHODS)) + ["--keep"] * options.keep
    write(stem, f'make bench-kmeans ARGS="{" ".join(flags)}"', summary(results, shown))
    losses_file.write_text(json.dumps(results) + "\n")
    draw(results, shown, RESULTS / f"{stem}.png")
    report(results)
    if options.bounds == "ball":
        return
    print("loss against k, and vote splitting ...", flush=True)
    loss_against_k(RESULTS / f"{stem}-loss-k.png", shown, 1 if options.quick else 3)
    vote_splitting(RESULTS / f"{stem}-vote-splitting.png")


if __name__ == "__main__":
    main()
