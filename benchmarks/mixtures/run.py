"""Mixtures: Old Faithful and the simulation of the DP-GMM paper, several dimensions, and speed, beside references.

Protocol. Old Faithful (KNOLL_DATA): 50 runs at epsilon = 3, bounds 30 to 110 minutes, compared with a non-private fit
of the same data. Simulation: the paper's three components, rounded to integers as theirs, bounds 0 to 70; RMSE of
weights, means and variances against the truth, averaged over components; figures of the authors' own code (10 runs)
beside it. Central fits are pure (delta = 0), as in the paper, unless a column says otherwise. Dimensions: five
components with random full covariances, mean log-likelihood of the data beside a non-private fit with three starts
(dimensions.py).

    make bench-mixtures                  about 15 minutes
    make bench-mixtures ARGS=--quick     about a minute
"""

import argparse
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullLocator
from rich.progress import track
from sklearn.mixture import GaussianMixture as NonprivateMixture

import knoll
from benchmarks.common import RESULTS, median_seconds, write
from benchmarks.data import folder
from benchmarks.mixtures.dimensions import dimensions, random_mixture
from knoll.mixture.central import STEPS
from knoll.plots import plot_side_by_side

WEIGHTS, MEANS, VARIANCES = np.array([0.15, 0.35, 0.5]), np.array([17.0, 30.0, 50.0]), np.array([9.0, 16.0, 25.0])
AUTHORS = {  # (n, epsilon) -> method -> RMSE of weights, means, variances, measured with the authors' code
    (1000, 1.0): {"central": (0.199, 5.6, 27), "local": (0.167, 6.3, 22)},
    (1000, 3.0): {"central": (0.187, 6.7, 20), "local": (0.099, 3.3, 12)},
    (1000, 10.0): {"central": (0.143, 5.5, 14), "local": (0.115, 5.1, 13)},
    (300, 3.0): {"central": (0.178, 4.2, 35), "local": (0.166, 6.3, 21)},
}
TABLE_1 = {  # of the paper: weight, mean and variance of both components
    "paper, non-private": (0.363, 54.7, 35.3, 0.637, 80.1, 33.8),
    "paper, central": (0.429, 56.8, 34.5, 0.571, 80.2, 32.9),
    "paper, local": (0.411, 58.1, 89.4, 0.589, 81.7, 73.9),
}


def parameters(model) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    order = np.argsort(model.means_[:, 0])
    return model.weights_[order], model.means_[order, 0], model.covariances_[order, 0, 0]


def nonprivate(X: np.ndarray, k: int, starts: int, seed: int):
    return NonprivateMixture(k, n_init=starts, random_state=seed).fit(X)


# ---- Old Faithful ---------------------------------------------------------------------------------


def old_faithful(runs: int) -> list[dict]:
    where = folder()
    if where is None or not (where / "old_faithful.npz").exists():
        print("Old Faithful is not in KNOLL_DATA: skipped")
        return []
    X = np.load(where / "old_faithful.npz")["X"].astype(float).reshape(-1, 1)
    target = parameters(nonprivate(X, 2, 10, 0))
    common = {"epsilon": 3.0, "bounds": (30, 110)}
    methods = {
        "central, delta = 0": lambda s: knoll.GaussianMixture(2, delta=0.0, random_state=s, **common),
        "central, delta = 1e-6": lambda s: knoll.GaussianMixture(2, random_state=s, **common),
        "local": lambda s: knoll.LocalGaussianMixture(2, random_state=s, **common),
        "local, unary encoding": lambda s: knoll.LocalGaussianMixture(2, mechanism="unary", random_state=s, **common),
        "local, randomised response": lambda s: knoll.LocalGaussianMixture(
            2, mechanism="response", random_state=s, **common
        ),
    }
    rows = [_row(name, values) for name, values in TABLE_1.items()]
    rows.append(_row("non-private, here", np.stack(target, axis=1).ravel()))
    shown = {}
    for name, make in methods.items():
        fits = [make(seed).fit(X) for seed in track(range(runs), description=name)]
        found = [parameters(fit) for fit in fits]
        means = np.array([np.abs(fit[1] - target[1]).max() for fit in found])
        spreads = np.array([np.abs(fit[2] / target[2] - 1).max() for fit in found])
        typical = np.median([np.stack(fit, axis=1).ravel() for fit in found], axis=0)
        row = _row(f"{name} (median of {runs})", typical)
        row["means within 1.5"] = f"{(means <= 1.5).mean():.0%}"
        row["and variances within 20 %"] = f"{((means <= 1.5) & (spreads <= 0.2)).mean():.0%}"
        row["means within 4"] = f"{(means <= 4).mean():.0%}"
        rows.append(row)
        shown[name] = fits[0]
        shown[name].feature_names_in_ = np.array(["minutes"], dtype=object)
    pair = {"central": shown["central, delta = 0"], "local": shown["local"]}
    plot_side_by_side(pair, "Old Faithful: minutes between eruptions").savefig(
        RESULTS / "mixtures-old-faithful.png", dpi=120
    )
    return rows


def _row(name: str, values) -> dict:
    labels = ("weight 1", "mean 1", "variance 1", "weight 2", "mean 2", "variance 2")
    row = {"fit": name, **{label: f"{value:.3g}" for label, value in zip(labels, values, strict=True)}}
    return row | {"means within 1.5": "", "and variances within 20 %": "", "means within 4": ""}


# ---- the paper's simulation -----------------------------------------------------------------------


def simulate(n: int, seed: int) -> np.ndarray:
    rng = np.random.RandomState(seed)
    part = rng.choice(3, n, p=WEIGHTS)
    return np.rint(MEANS[part] + np.sqrt(VARIANCES[part]) * rng.standard_normal(n))[:, None]


def rmse(found: list) -> tuple[float, float, float]:
    """RMSE over runs of weights, means and variances, averaged over components."""
    parts = zip(zip(*found, strict=True), (WEIGHTS, MEANS, VARIANCES), strict=True)
    return tuple(float(np.sqrt(np.square(np.array(part) - truth).mean(axis=0)).mean()) for part, truth in parts)


def simulation(n: int, epsilon: float, runs: int) -> dict:
    data = [simulate(n, seed) for seed in range(runs)]
    common = {"epsilon": epsilon, "bounds": (0, 70)}
    return {
        "non-private, one start": rmse([parameters(nonprivate(X, 3, 1, s)) for s, X in enumerate(data)]),
        "non-private, ten starts": rmse([parameters(nonprivate(X, 3, 10, s)) for s, X in enumerate(data)]),
        "central": rmse(
            [
                parameters(knoll.GaussianMixture(3, delta=0.0, random_state=s, **common).fit(X))
                for s, X in enumerate(data)
            ]
        ),
        "central, delta = 1e-6": rmse(
            [parameters(knoll.GaussianMixture(3, random_state=s, **common).fit(X)) for s, X in enumerate(data)]
        ),
        "local": rmse(
            [parameters(knoll.LocalGaussianMixture(3, random_state=s, **common).fit(X)) for s, X in enumerate(data)]
        ),
    }


def simulations(runs: int, quick: bool) -> list[dict]:
    epsilons = (1.0, 3.0) if quick else (0.1, 0.3, 1.0, 3.0, 10.0)
    sizes = (300,) if quick else (100, 200, 300, 500, 2000)
    cells = [(1000, epsilon) for epsilon in epsilons] + [(n, 3.0) for n in sizes]
    found = {cell: simulation(*cell, runs) for cell in track(cells, description="simulation")}
    draw(found, RESULTS / ("mixtures-quick.png" if quick else "mixtures.png"))
    rows = []
    for (n, epsilon), results in found.items():
        row = {"n": n, "epsilon": f"{epsilon:g}"}
        row |= {name: " / ".join(f"{value:.3g}" for value in values) for name, values in results.items()}
        for method in ("central", "local"):
            theirs = AUTHORS.get((n, epsilon), {}).get(method)
            row[f"authors, {method}"] = " / ".join(f"{value:.3g}" for value in theirs) if theirs else ""
        ratios = np.array(results["central"]) / np.array(results["non-private, ten starts"])
        row["central over ten starts"] = " / ".join(f"{ratio:.2f}" for ratio in ratios)
        rows.append(row)
    return rows


def draw(found: dict, path: Path) -> None:
    figure = Figure(figsize=(11, 6), layout="constrained")
    grid = figure.subplots(2, 3)
    for row, along in enumerate(("epsilon", "n")):
        cells = sorted(cell for cell in found if (cell[0] == 1000 if along == "epsilon" else cell[1] == 3.0))
        x = [cell[1] if along == "epsilon" else cell[0] for cell in cells]
        for column, what in enumerate(("weights", "means", "variances")):
            axes = grid[row, column]
            for colour, name in enumerate(("non-private, ten starts", "central", "local")):
                axes.plot(x, [found[c][name][column] for c in cells], marker="o", ms=3, color=f"C{colour}", label=name)
            for colour, method in ((1, "central"), (2, "local")):
                theirs = [(a, AUTHORS[c][method][column]) for a, c in zip(x, cells, strict=True) if c in AUTHORS]
                label = f"authors' {method}"
                axes.plot(*zip(*theirs, strict=True), ls="", marker="x", color=f"C{colour}", label=label)
            axes.set(xscale="log", yscale="log", xlabel=along)
            axes.set_title(f"RMSE of {what}" + (", n = 1000" if along == "epsilon" else ", epsilon = 3"), fontsize=10)
            axes.set_xticks(x, [f"{each:g}" for each in x])
            axes.xaxis.set_minor_locator(NullLocator())
            axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:g}"))
            axes.yaxis.set_minor_formatter(FuncFormatter(lambda y, _: f"{y:g}" if f"{y:.0e}"[0] in "25" else ""))
            axes.tick_params(labelsize=8, which="both")
    handles, labels = grid[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=5, fontsize=8.5, frameon=False)
    figure.savefig(path, dpi=120)


# ---- speed --------------------------------------------------------------------------------------


def speed(quick: bool) -> list[dict]:
    n, d, k = (100_000 if quick else 1_000_000), 8, 10
    X = random_mixture(d, k, n, 0)
    repeats = 1 if quick else 3
    ours = median_seconds(lambda: knoll.GaussianMixture(k, bounds=(-12, 12), random_state=0).fit(X), repeats)

    def theirs_once() -> None:
        import warnings

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it stops at max_iter, as it is told to
            NonprivateMixture(k, max_iter=STEPS, tol=0.0, random_state=0).fit(X)

    theirs = median_seconds(theirs_once, repeats)
    return [
        {
            "rows": f"{n:,}", "columns": d, "components": k, "steps": STEPS, "GaussianMixture, s": f"{ours:.2f}",
            "scikit-learn, same max_iter, s": f"{theirs:.2f}", "ratio": f"{ours / theirs:.2f}",
        }
    ]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer runs and cells")
    parser.add_argument("--only", help="old-faithful, simulation, dimensions or speed")
    options = parser.parse_args()
    quick, suffix = options.quick, "-quick" if options.quick else ""
    print("About a minute." if quick else "About 15 minutes.", flush=True)
    RESULTS.mkdir(exist_ok=True)
    parts = {
        "old-faithful": lambda: old_faithful(10 if quick else 50),
        "simulation": lambda: simulations(5 if quick else 20, quick),
        "dimensions": lambda: dimensions(1 if quick else 3, quick),
        "speed": lambda: speed(quick),
    }
    for name, run in parts.items():
        if options.only in (None, name):
            arguments = [*(["--quick"] if quick else []), *(["--only", name] if options.only else [])]
            rows = run()
            if rows:
                extra = f' ARGS="{" ".join(arguments)}"' if arguments else ""
                write(f"mixtures-{name}{suffix}", f"make bench-mixtures{extra}", rows)


if __name__ == "__main__":
    main()
