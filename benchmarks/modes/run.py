"""Modes, modal regression and clustering by modes: Tables 1 to 8 of the DP-GRAMS supplement, ours beside the paper's.

Modes: three figures, since the paper's MSE divides by the larger number of modes and so rewards inventing them. Places:
modes with one long side or a near neighbour, and even ones. Modal regression: as many steps, ceil(log n), of partial
mean shift from every record, on the records and on the release, at the same bandwidth (the paper's rule of thumb for
the spread of the distribution, a number given to both); the two sets of (x, y) matched as modes are. Beside it the
error start by start, that of an estimate told the true density (a floor), that of both followed until they rest, and
that of the default bandwidth to the true curve.
Clustering: ARI and NMI against labels; public bounds (iris and digits: round numbers; MNIST: each component's range).
delta = 1e-5.

    make bench-modes                  about 40 minutes
    make bench-modes ARGS=--quick     about two minutes
    make bench-modes ARGS="--only clusters"
"""

import argparse
import math
import time
from dataclasses import replace

import numpy as np
from matplotlib.figure import Figure
from rich.progress import track
from sklearn.datasets import load_digits, load_iris
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

import knoll
from benchmarks.common import RESULTS, median_seconds, write
from benchmarks.data import folder
from benchmarks.modes.data import (
    CLOSE_PAIR,
    GAUSSIAN_MODES,
    T_MODES,
    THREE_CORNERS,
    close_pair,
    five_t,
    four_gaussians,
    gamma,
    lognormal,
    matched,
    three_levels,
    three_skewed,
    two_waves,
)
from benchmarks.modes.paper import (
    CLUSTER_EPSILONS,
    EPSILONS,
    REGRESSION_EPSILONS,
    SIZES,
    SIZES_3,
    SIZES_4,
    TABLE_1,
    TABLE_2,
    TABLE_3,
    TABLE_4,
    TABLE_8,
    TABLES_5_TO_7,
)
from knoll.plots import plot_mode_tree, plot_modes, plot_regression, plot_surface
from knoll.reference import nonprivate_mean_shift, nonprivate_partial_mean_shift
from knoll.series.conditional import shift_last
from knoll.series.place import settle
from knoll.series.series import GridSeries

DELTA = 1e-5
PARTS = ("modes", "places", "regression", "even", "clusters", "speed", "pictures")


def half(values) -> float:
    """Half a 95 % interval."""
    values = np.asarray(values, dtype=float)
    values = values[np.isfinite(values)]
    return float(1.96 * values.std(ddof=1) / len(values) ** 0.5) if len(values) > 1 else 0.0


def bench_modes(runs: int, stem: str) -> None:
    """Tables 1 and 2, with default settings."""
    rng = np.random.default_rng(0)
    rows = []
    cases = (("1: 4 Gaussians", four_gaussians, GAUSSIAN_MODES, 10, TABLE_1), ("2: 5 t", five_t, T_MODES, 12, TABLE_2))
    cells = [(case, i, j) for case in cases for i in range(len(SIZES)) for j in range(len(EPSILONS))]
    for (name, make, truth, reach, paper), i, j in track(cells, description="Tables 1, 2"):
        n, epsilon = SIZES[i], EPSILONS[j]
        scores = []
        for run in range(runs):
            model = knoll.ModeSeeking(epsilon=epsilon, delta=DELTA, bounds=(-reach, reach), random_state=run)
            scores.append(matched(model.fit(make(n, rng)).modes_, truth))
        mse, share, false = np.array(scores).T
        mean = float(np.nanmean(mse)) if np.isfinite(mse).any() else float("nan")
        rows.append({
            "table": name, "n": n, "epsilon": epsilon, "paper MSE": paper[i][j], "MSE": f"{mean:.4f} ± {half(mse):.4f}",
            "modes found": f"{share.mean():.2f}", "runs with all": f"{(share == 1).mean():.2f}",
            "false modes a run": f"{false.mean():.2f}", "lower than the paper": "yes" if mean < paper[i][j] else "no",
        })  # fmt: skip
    write(f"{stem}-tables-1-2", command("modes", runs), rows)
    draw_modes(rows, RESULTS / f"{stem}-tables-1-2.png")


def informed(series: GridSeries, pairs: np.ndarray, n: int) -> tuple[GridSeries, GridSeries]:
    """What nobody can have: the sum by the true density, of which pairs are a large sample, alone and with the release.

    Totals of n records have mean n E[f] and covariance n E[f f'] under it; the second is their best linear estimate.
    """
    one, other = (series.lattice.basis(j, column) for j, column in enumerate(pairs.T))
    known = series.stderr > 0
    features = np.einsum("ia,ib->iab", one, other)[:, known]
    mean, covariance = n * features.mean(axis=0), n * features.T @ features / len(features)
    gap = np.linalg.solve(covariance + np.diag(series.stderr[known] ** 2), series.totals[known] - mean)
    found = []
    for values in (mean, mean + covariance @ gap):
        totals = np.zeros(series.totals.shape)
        totals[known] = values
        found.append(replace(series, totals=totals))
    return found[0], found[1]


def bench_regression(runs: int, stem: str) -> None:
    """Tables 3 and 4. Both sets have a spread of 0.84 (and quartiles further apart), which the rule of thumb takes."""
    rng = np.random.default_rng(0)
    rows = []
    cases = (
        ("3: three levels", three_levels, ([0, 0], [1, 4]), SIZES_3, TABLE_3),
        ("4: two waves", two_waves, ([0, -1.5], [1, 3]), SIZES_4, TABLE_4),
    )
    cells = [(case, i, j) for case in cases for i in range(4) for j in range(len(REGRESSION_EPSILONS))]
    for (name, make, bounds, sizes, paper), i, j in track(cells, description="Tables 3, 4"):
        n, epsilon = sizes[i], REGRESSION_EPSILONS[j]
        h, steps = 0.9 * 0.84 * n**-0.2, math.ceil(math.log(n))
        scores, floors, rests, defaults = [], [], [], []
        many, response, _ = make(30_000, np.random.default_rng(1))
        law = np.clip(np.column_stack([many, response]), *bounds)
        for run in range(runs):
            x, y, truth = make(n, rng)
            settings = {"epsilon": epsilon, "delta": DELTA, "bounds": bounds, "random_state": run}
            given = knoll.ModalRegression((h, h), **settings).fit(x, y)
            target = nonprivate_partial_mean_shift(x, y, x, y, h, steps=steps, tolerance=0.0)
            plain, mine = given.ascend(x, y, steps), given.ascend(x, y, steps, restore=True)
            pairs = matched(np.column_stack([x, mine]), np.column_stack([x, target]))[0]
            scores.append((pairs, np.mean((mine - target) ** 2), np.mean((plain - target) ** 2)))
            if run < max(1, runs // 3):
                for view in informed(given.series_, law, n):
                    end = shift_last(view, np.column_stack([x, y]), bounds[0][1], bounds[1][1], steps)[:, -1]
                    floors.append(np.mean((end - target) ** 2))
            if run < max(1, runs // 9):  # these take longer than all the rest
                some = rng.choice(n, min(n, 200), replace=False)
                rest = nonprivate_partial_mean_shift(x, y, x[some], y[some], h, tolerance=1e-4)
                both = given.ascend(x[some], y[some]) - rest, rest - truth[some]
                rests.append([np.mean(gaps**2) for gaps in both])
                chosen = knoll.ModalRegression(**settings).fit(x, y)
                gaps = chosen.ascend(x[some], y[some]) - truth[some]
                defaults.append((np.mean(gaps**2), len(np.unique(chosen.curves(100).row)) / 100))
        mse, one_by_one, plain = np.array(scores).mean(axis=0)
        by_law, by_both = np.reshape(floors, (-1, 2)).mean(axis=0)
        at_rest, reference = np.array(rests).mean(axis=0)
        to_truth, drawn = np.array(defaults).mean(axis=0)
        rows.append({
            "table": name, "n": n, "epsilon": epsilon, "bandwidth": f"{h:.2f}", "paper MSE": paper[i][j],
            "MSE to partial mean shift": f"{mse:.5f} ± {half(np.array(scores)[:, 0]):.5f}",
            "lower than the paper": "yes" if mse < paper[i][j] else "no", "start by start": f"{one_by_one:.5f}",
            "not restored": f"{plain:.5f}", "told the true density": f"{by_law:.5f}",
            "told it, with the release": f"{by_both:.5f}", "both until they rest": f"{at_rest:.4f}",
            "default, MSE to the true curve": f"{to_truth:.4f}",
            "partial mean shift, to the true curve": f"{reference:.4f}", "of x with a significant mode": f"{drawn:.2f}",
        })  # fmt: skip
    write(f"{stem}-tables-3-4", command("regression", runs), rows)


def bench_places(runs: int, stem: str) -> None:
    """How far modes are from the true ones where a wide kernel is drawn aside, and how far it is drawn."""
    rng = np.random.default_rng(0)
    rows = []
    cases = (
        ("Gamma(3)", gamma, np.zeros((1, 1)), (-2, 8)),
        ("log-normal, sigma .6", lognormal, np.zeros((1, 1)), (-2, 10)),
        ("three of Gamma(3) x Gamma(3)", three_skewed, THREE_CORNERS, (-9, 9)),
        ("two near each other", close_pair, CLOSE_PAIR, (-6, 6)),
        ("four Gaussians (Table 1)", four_gaussians, GAUSSIAN_MODES, (-10, 10)),
    )
    cells = [(case, n) for case in cases for n in (2000, 50_000)]
    for (name, make, truth, bounds), n in track(cells, description="Places"):
        scores, within = [], []
        for run in range(runs):
            settings = {"epsilon": 1.0, "delta": DELTA, "bounds": bounds, "random_state": run}
            model = knoll.ModeSeeking(len(truth), **settings).fit(make(n, rng))
            plain, _ = settle(model.series_, model.modes_, model._around())
            gaps = np.linalg.norm(model.modes_[:, None] - truth, axis=2)
            near = truth[gaps.argmin(axis=1)]
            within.append(np.mean(np.abs(model.modes_ - near) < 2 * model.modes_stderr_))
            scores.append([np.square(places - near).sum(axis=1).mean() for places in (model.modes_, plain)])
        placed, plain = np.sqrt(np.mean(scores, axis=0))
        rows.append({
            "data": name, "n": n, "off by": f"{placed:.3f}", "at the bandwidth that shows the modes": f"{plain:.3f}",
            "within two standard errors": f"{np.mean(within):.2f}",
        })  # fmt: skip
    write(f"{stem}-places", command("places", runs), rows)


def bench_even(runs: int, stem: str) -> None:
    """How often a fit of even data, which has no mode, shows one: `chance` (0.1 by default) is what it may be."""
    rng = np.random.default_rng(0)
    rows = []
    cells = [(d, *sizes) for d in (1, 2, 3) for sizes in ((500, 1.0), (5000, 0.1), (50_000, 10.0))]
    for d, n, epsilon in track(cells, description="Even data"):
        shown, drawn = 0, 0
        for run in range(runs):
            X = rng.uniform(-1, 1, size=(n, d))
            common = {"epsilon": epsilon, "delta": DELTA, "bounds": (-1, 1), "random_state": run}
            shown += knoll.ModeSeeking(**common).fit(X).n_modes_ > 0
            if d == 2:
                drawn += len(knoll.ModalRegression(**common).fit(X).curves(100).y) > 0
        rows.append({
            "columns": d, "n": n, "epsilon": epsilon, "fits that show a mode": f"{shown / runs:.2f}",
            "fits that draw a curve": f"{drawn / runs:.2f}" if d == 2 else "",
        })  # fmt: skip
    write(f"{stem}-even", command("even", runs), rows)


def cluster_sets(quick: bool) -> dict:
    """Data, labels, number of clusters and public bounds."""
    iris, digits = load_iris(), load_digits()
    found = {
        "iris": (iris.data, iris.target, 3, knoll.Box((4, 2, 1, 0), (8, 4.5, 7, 2.5))),
        "digits": (digits.data, digits.target, 10, knoll.Box((0,) * 64, (16,) * 64)),
    }
    where = folder()
    if not quick and where is not None and (where / "mnist_full.npz").exists():
        mnist = np.load(where / "mnist_full.npz")
        X = PCA(50, random_state=0).fit_transform(mnist["X"].astype(np.float32)).astype(float)
        found["mnist"] = (X, mnist["y"], 10, knoll.Box(tuple(X.min(axis=0)), tuple(X.max(axis=0))))
    return found


def bench_clusters(runs: int, stem: str, quick: bool) -> None:
    """Tables 5 to 8."""
    rows, summary = [], []
    for name, (X, y, k, box) in cluster_sets(quick).items():
        printed, dp_kmeans = TABLES_5_TO_7[name]
        centres = np.array([X[y == label].mean(axis=0) for label in range(k)])
        for j, epsilon in enumerate(track(CLUSTER_EPSILONS, description=name)):
            scores, start = [], time.perf_counter()
            for run in range(max(2, runs // 4) if name == "mnist" else runs):
                model = knoll.ModeClustering(
                    k, epsilon=epsilon, delta=DELTA, bounds=box, scale_by_bounds=False, random_state=run
                ).fit(X)
                labels = model.predict(X)
                mse = matched(model.cluster_centers_, centres)[0]
                scores.append((adjusted_rand_score(y, labels), normalized_mutual_info_score(y, labels), mse))
            seconds = (time.perf_counter() - start) / len(scores)
            ari, nmi, mse = np.array(scores).mean(axis=0)
            rows.append({
                "data": name, "epsilon": epsilon, "ARI": f"{ari:.3f} ± {half([s[0] for s in scores]):.3f}",
                "NMI": f"{nmi:.3f}", "MSE of centres": f"{mse:.4g}", "seconds": f"{seconds:.2f}",
                "paper DP-KMeans ARI": dp_kmeans[j], "beaten": "yes" if ari > dp_kmeans[j] else "no",
                "paper DP-GRAMS-C ARI (not private)": printed[j],
            })  # fmt: skip
            if epsilon == 1.0:
                ours = {"ModeClustering (ours)": f"{ari:.3f}", "seconds": f"{seconds:.2f}"}
                summary.append(
                    {"data": name, **ours, **{f"paper {key}": value for key, value in TABLE_8[name].items()}}
                )
    write(f"{stem}-tables-5-7", command("clusters", runs), rows)
    write(f"{stem}-table-8", command("clusters", runs), summary)


def bench_speed(stem: str) -> None:
    """One run, warm, medians."""
    rng = np.random.default_rng(0)
    X, big = four_gaussians(5000, rng), four_gaussians(1_000_000, rng)
    settings = {"epsilon": 1.0, "delta": DELTA, "bounds": (-10, 10), "random_state": 0}
    once = median_seconds(lambda: knoll.ModeSeeking(**settings).fit(X))
    given = median_seconds(lambda: knoll.ModeSeeking(bandwidth=0.12, **settings).fit(X))
    steps = median_seconds(lambda: knoll.ModeSeeking(release="each-step", **settings).fit(X), 3)
    plain = median_seconds(lambda: nonprivate_mean_shift(X, X[:500], 1.2, tolerance=1e-3), 3)
    million = median_seconds(lambda: knoll.ModeSeeking(**settings).fit(big), 3)
    rows = [
        {"what": "5,000 x 2, ladder of bandwidths", "seconds": f"{once:.3f}", "over each-step": f"{once / steps:.2f}"},
        {"what": "5,000 x 2, bandwidth given", "seconds": f"{given:.3f}", "over each-step": f"{given / steps:.2f}"},
        {"what": "5,000 x 2, a release at each step", "seconds": f"{steps:.3f}", "over each-step": "1.00"},
        {"what": "5,000 x 2, non-private mean shift, 500 starts", "seconds": f"{plain:.3f}",
         "over each-step": f"{plain / steps:.2f}"},
        {"what": "1,000,000 x 2, ladder of bandwidths", "seconds": f"{million:.3f}", "over each-step": ""},
    ]  # fmt: skip
    write(f"{stem}-speed", command("speed", 0), rows)


def bench_pictures(stem: str) -> None:
    """The paper's Figures 2 and 3 in our own drawing: density and modes, surface, mode tree, regression curves."""
    rng = np.random.default_rng(0)
    model = knoll.ModeSeeking(epsilon=1.0, delta=DELTA, bounds=(-12, 12), random_state=0).fit(five_t(4000, rng))
    plot_modes(model).savefig(RESULTS / f"{stem}-map.png", dpi=100)
    plot_surface(model).savefig(RESULTS / f"{stem}-surface.png", dpi=100)
    plot_mode_tree(model).savefig(RESULTS / f"{stem}-tree.png", dpi=100)
    for name, make, bounds in (("levels", three_levels, ([0, 0], [1, 4])), ("waves", two_waves, ([0, -1.5], [1, 3]))):
        x, y, _ = make(2100, rng)
        curves = knoll.ModalRegression(epsilon=1.0, delta=DELTA, bounds=bounds, random_state=0).fit(x, y)
        plot_regression(curves).savefig(RESULTS / f"{stem}-{name}.png", dpi=100)
    print(f"Wrote pictures to {RESULTS.name}")


def draw_modes(rows: list[dict], path) -> None:
    """MSE against epsilon, ours and the paper's, one panel per table (the paper's Figure 1)."""
    figure = Figure(figsize=(11, 4.2), layout="constrained")
    for axes, table in zip(figure.subplots(1, 2), dict.fromkeys(row["table"] for row in rows), strict=True):
        for colour, n in zip(("#1f77b4", "#ff7f0e", "#2ca02c", "#d62728"), SIZES, strict=True):
            mine = [row for row in rows if row["table"] == table and row["n"] == n]
            x = [row["epsilon"] for row in mine]
            axes.plot(x, [float(row["MSE"].split()[0]) for row in mine], "o-", color=colour, label=f"n = {n:,}")
            axes.plot(x, [row["paper MSE"] for row in mine], ":", color=colour, lw=1)
        axes.set(xscale="log", yscale="log", title=f"Table {table}", xlabel="epsilon", ylabel="matched MSE")
        axes.set_xticks(EPSILONS, [f"{epsilon:g}" for epsilon in EPSILONS])
        axes.minorticks_off()
        axes.legend(frameon=False, fontsize=8, title="dotted: the paper", title_fontsize=8)
    figure.savefig(path, dpi=120)


def command(part: str, runs: int) -> str:
    return f'make bench-modes ARGS="--only {part}' + (f' --runs {runs}"' if runs else '"')


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few runs, no MNIST")
    parser.add_argument("--runs", type=int, help="runs per cell (60; 20 for places, 10 for clusters)")
    parser.add_argument("--only", choices=PARTS)
    options = parser.parse_args()
    runs = options.runs or (2 if options.quick else 20)
    stem = "modes-quick" if options.quick else "modes"
    few, many = options.runs or max(2, runs // 2), options.runs or 3 * runs
    work = {
        "modes": lambda: bench_modes(many, stem),
        "places": lambda: bench_places(runs, stem),
        "regression": lambda: bench_regression(many, stem),
        "even": lambda: bench_even(many, stem),
        "clusters": lambda: bench_clusters(few, stem, options.quick),
        "speed": lambda: bench_speed(stem),
        "pictures": lambda: bench_pictures(stem),
    }
    print(f"{'about two minutes' if options.quick else 'about 40 minutes'} for all parts", flush=True)
    for part in [options.only] if options.only else PARTS:
        work[part]()


if __name__ == "__main__":
    main()
