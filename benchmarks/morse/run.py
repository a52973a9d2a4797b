"""Morse clustering: base against base-Morse, numbers of sub-clusters, bent shapes, speed.

Protocol of the paper: every column scaled to [-1, 1] outside the boundary (bounds are public), usps reduced to three
dimensions by t-SNE outside the boundary, sub-clusters as in its Table 1, merged to the true number of classes; labels
are used for the adjusted Rand index alone. delta = 1e-6. emg is six of the ten normal actions: the paper leaves similar
ones out without naming them, so here those with the most similar covariances go. Where the sets differ in size from the
paper's: shuttle 58,000 rows (43,500), emg 30,068 (59,130), sloan 15 columns (16), pulsar 17,898 rows (9,273).
Non-private: the same code without noise. Set KNOLL_DATA to a folder of NPZ files.

    make bench-morse                     an hour or two
    make bench-morse ARGS=--quick        a few minutes, bent shapes and speed only
    make bench-morse ARGS="--only table2 --runs 20"
    make bench-morse ARGS="--only made"  clusters made up, no data needed
    make bench-morse ARGS="--only steady"  the same with more and more sub-clusters, two ways to join them
"""

import argparse
import json
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from rich.progress import track
from sklearn.datasets import make_circles, make_moons
from sklearn.decomposition import PCA
from sklearn.manifold import TSNE
from sklearn.metrics import adjusted_rand_score

import knoll
from benchmarks.common import RESULTS, median_seconds, write
from benchmarks.data import folder
from benchmarks.morse.made import MADE
from knoll.mixture import Mixture
from knoll.morse import landscape
from knoll.testing import zero_noise

EPSILONS = (0.5, 1.0, 2.0, 5.0, 10.0)
# name -> file, classes, sub-clusters (Table 1 of the paper)
SETS = {
    "shuttle": ("shuttle", 7, 12), "emg": ("emg_100k", 6, 10), "magic": ("magic", 2, 6), "sloan": ("sloan_all", 3, 6),
    "pulsar": ("pulsar", 2, 6), "usps": ("usps", 10, 13),
}  # fmt: skip
BASES = ("HardEMGaussianMixture", "Lloyd", "Cubes", "LSHTree", "PEMeans", "KMeans")
TABLE2 = (
    ("pulsar", "HardEMGaussianMixture"),
    ("magic", "KMeans"),
    ("pulsar", "KMeans"),
    ("magic", "HardEMGaussianMixture"),
)
PAPER = {
    "pulsar": {10.0: 0.754, 5.0: 0.694, 2.0: 0.689, 1.0: 0.561},
    "magic": {10.0: 0.259, 5.0: 0.217, 2.0: 0.083, 1.0: 0.040},
}


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return rows scaled to [-1, 1] and labels."""
    stem = SETS[name][0]
    where = folder()
    if where is None or not (where / f"{stem}.npz").exists():
        raise SystemExit(f"{stem}.npz is not in KNOLL_DATA")
    data = np.load(where / f"{stem}.npz")
    X, y = data["X"].astype(float), data["y"]
    if name == "emg":
        X, y = unlike(X[y < 10], y[y < 10], SETS[name][1])
    if name == "usps":
        X, y = three_dimensions(X[:7291]), y[:7291]
    low, high = X.min(axis=0), X.max(axis=0)
    return 2 * (X - low) / np.where(high > low, high - low, 1.0) - 1, y


def unlike(X: np.ndarray, y: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Drop classes until k are left: of the two nearest Gaussians (Bhattacharyya), the one nearer to others."""
    kept = np.unique(y)
    means = np.array([X[y == c].mean(axis=0) for c in kept])
    spreads = np.array([np.cov(X[y == c].T) for c in kept])
    middle = (spreads[:, None] + spreads) / 2
    away = means[:, None] - means
    far = np.einsum("abi,abij,abj->ab", away, np.linalg.inv(middle), away) / 8
    logs = np.linalg.slogdet(spreads)[1]
    far += np.linalg.slogdet(middle)[1] / 2 - (logs[:, None] + logs) / 4
    far[np.diag_indices(len(kept))] = np.inf
    while len(kept) > k:
        out = np.lexsort(np.sort(far, axis=1).T[::-1])[0]
        kept, far = np.delete(kept, out), np.delete(np.delete(far, out, 0), out, 1)
    rows = np.isin(y, kept)
    return X[rows], y[rows]


def three_dimensions(X: np.ndarray) -> np.ndarray:
    """Reduce by t-SNE; kept in the temporary folder, as it takes minutes."""
    kept = Path(tempfile.gettempdir()) / "knoll-usps-tsne.npz"
    if not kept.exists():
        print("t-SNE of usps: some minutes ...", flush=True)
        reduced = TSNE(3, random_state=0, init="pca").fit_transform(PCA(30, random_state=0).fit_transform(X))
        np.savez(kept, X=reduced)
    return np.load(kept)["X"].astype(float)


def fitted(base: str, k: int, **options):
    name = "n_components" if base.endswith("Mixture") else "n_clusters"
    return getattr(knoll, base)(**{name: k}, bounds=(-1.0, 1.0), **options)


def pair(base: str, X, y, k: int, sub: int, **options) -> tuple[float, float]:
    """Rand index of a base with k clusters, and of its sub-clusters merged to k, at the same budget."""
    plain = fitted(base, k, **options).fit(X).predict(X)
    morse = knoll.MorseClustering(k, base=getattr(knoll, base)(), n_subclusters=sub, bounds=(-1.0, 1.0), **options)
    return adjusted_rand_score(y, plain), adjusted_rand_score(y, morse.fit(X).predict(X))


def compare(names, bases, runs: int, keep: bool) -> dict:
    """Base against base-Morse in all cells; runs x epsilons x 2, and without noise."""
    kept = RESULTS / "morse-scores.json"
    found = json.loads(kept.read_text()) if keep and kept.exists() else {}
    for name in names:
        X, y = load(name)
        _, k, sub = SETS[name]
        for base in track(bases, description=name):
            scores = [
                [pair(base, X, y, k, sub, epsilon=epsilon, random_state=run) for epsilon in EPSILONS]
                for run in range(runs)
            ]
            with zero_noise():
                free = pair(base, X, y, k, sub, epsilon=10.0, random_state=0)
            found[f"{name} {base}"] = {"scores": scores, "non-private": free}
            means = np.mean(scores, axis=0)
            print(
                name,
                base,
                *(f"{e:g}: {b:.3f} -> {m:.3f}" for e, (b, m) in zip(EPSILONS, means, strict=True)),
                flush=True,
            )
            (RESULTS / "morse-scores.json").write_text(json.dumps(found) + "\n")
    return found


def report_compare(found: dict, runs: int) -> None:
    rows, higher, gains = [], [], []
    for cell, values in found.items():
        means = np.mean(values["scores"], axis=0)
        name, base = cell.split()
        row = {"dataset": name, "base": base}
        row |= {f"eps {e:g}": f"{b:.3f} -> {m:.3f}" for e, (b, m) in zip(EPSILONS, means, strict=True)}
        free = values["non-private"]
        rows.append(row | {"no noise": f"{free[0]:.3f} -> {free[1]:.3f}"})
        for epsilon, (b, m) in zip(EPSILONS, means, strict=True):
            if epsilon >= 1:
                higher.append(m > b)
                gains += [m - b] if b > 0.1 else []
    write("morse", f'make bench-morse ARGS="--only compare --runs {runs}"', rows)
    line = (
        f"Morse is above its base in {np.mean(higher):.0%} of {len(higher)} cells with epsilon >= 1; mean gain where "
        f"the base is above 0.1: {np.mean(gains):+.3f} ({len(gains)} cells)."
    )
    print(line)
    with open(RESULTS / "morse.md", "a") as file:
        file.write("\n" + line + "\n")
    draw(found, RESULTS / "morse.png")


def draw(found: dict, path: Path) -> None:
    names = list(dict.fromkeys(cell.split()[0] for cell in found))
    bases = list(dict.fromkeys(cell.split()[1] for cell in found))
    figure = Figure(figsize=(2.6 * len(names), 2.2 * len(bases)), layout="constrained")
    grid = figure.subplots(len(bases), len(names), squeeze=False, sharex=True)
    for i, base in enumerate(bases):
        for j, name in enumerate(names):
            axes, values = grid[i, j], found[f"{name} {base}"]
            means = np.mean(values["scores"], axis=0)
            for column, colour, label in ((0, "tab:grey", "base"), (1, "tab:blue", "base-Morse")):
                axes.plot(EPSILONS, means[:, column], marker="o", ms=3, color=colour, label=label)
                axes.axhline(values["non-private"][column], color=colour, ls=":", lw=1)
            axes.set_xscale("log")
            axes.set_xticks(EPSILONS, [f"{e:g}" for e in EPSILONS])
            axes.minorticks_off()
            if i == 0:
                axes.set_title(name)
            if j == 0:
                axes.set_ylabel(base.replace("GaussianMixture", ""))
    grid[0, 0].legend(fontsize=7, frameon=False)
    figure.supxlabel("epsilon")
    figure.supylabel("adjusted Rand index (dotted: without noise)")
    figure.savefig(path, dpi=110)


def made(bases, runs: int, first_seed: int = 100) -> None:
    """Made-up clusters that had no part in settling anything: base against base-Morse with the default sub-clusters."""
    rows, higher, gains = [], [], []
    for name, (make, k) in track(MADE.items(), description="made"):
        row = {"set": name, "k": k}
        for base in bases:
            scores = []
            for run in range(runs):
                X, y = make(first_seed + run)
                scores += [
                    pair(base, X, y, k, max(6, 2 * k), epsilon=epsilon, random_state=run) for epsilon in (1.0, 5.0)
                ]
            plain, merged = np.mean(scores, axis=0)
            row[base] = f"{plain:.3f} -> {merged:.3f}"
            higher.append(merged > plain)
            gains += [merged - plain] if plain > 0.1 else []
        rows.append(row)
        print(row, flush=True)
    write("morse-made", f'make bench-morse ARGS="--only made --runs {runs} --bases {",".join(bases)}"', rows)
    line = (
        f"Morse is above its base in {np.mean(higher):.0%} of {len(higher)} cells (mean of epsilon 1 and 5, {runs} "
        f"sets each); mean gain where the base is above 0.1: {np.mean(gains):+.3f} ({len(gains)} cells)."
    )
    print(line)
    with open(RESULTS / "morse-made.md", "a") as file:
        file.write("\n" + line + "\n")


def steady(runs: int, subs: tuple[int, ...] = (6, 24), first_seed: int = 100) -> None:
    """Made-up clusters, few and many sub-clusters of KMeans: the same mixtures joined by overlap and by prominence."""
    rows, found = [], []
    for name, (make, k) in track(MADE.items(), description="steady"):
        scores = np.empty((runs, 2, len(subs), 2))  # sets x epsilons x sub-clusters x ways to join
        for run, e, s in np.ndindex(scores.shape[:3]):
            X, y = make(first_seed + run)
            options = {"epsilon": (1.0, 5.0)[e], "bounds": (-1.0, 1.0), "random_state": run}
            model = knoll.MorseClustering(k, base=knoll.KMeans(), n_subclusters=max(subs[s], k), **options).fit(X)
            part = model.mixture_.predict(X)
            by_tree = landscape(model.mixture_).tree.cut(k, "prominence")
            scores[run, e, s] = [adjusted_rand_score(y, each[part]) for each in (model.component_clusters_, by_tree)]
        found.append(scores.mean(axis=(0, 1)))
        spread = scores.std(axis=2).mean(axis=(0, 1))
        row = {"set": name, "k": k}
        for way, label in enumerate(("overlap", "prominence")):
            row |= {f"{label}, {sub}": f"{value:.3f}" for sub, value in zip(subs, found[-1][:, way], strict=True)}
            row[f"{label}, spread"] = f"{spread[way]:.3f}"
        rows.append(row)
        print(row, flush=True)
    write("morse-steady", f'make bench-morse ARGS="--only steady --runs {runs}"', rows)
    means = np.mean(found, axis=0)
    line = "; ".join(
        f"{label}: mean ARI " + ", ".join(f"{m:.3f} with {sub}" for m, sub in zip(means[:, way], subs, strict=True))
        + f", mean spread over them {np.mean([float(row[f'{label}, spread']) for row in rows]):.3f}"
        for way, label in enumerate(("overlap", "prominence"))
    )  # fmt: skip
    print(line)
    with open(RESULTS / "morse-steady.md", "a") as file:
        file.write(f"\nMeans of epsilon 1 and 5. {line}.\n")


def table2(runs: int, subs: tuple[int, ...] = (6, 5, 4, 10, 15, 20)) -> None:
    """Number of sub-clusters on pulsar and magic, beside the paper's own figures; written as it goes."""
    cells = [(name, base, epsilon) for name, base in TABLE2 for epsilon in (10.0, 5.0, 2.0, 1.0)]
    rows = [
        {"dataset": name, "base": base, "epsilon": f"{epsilon:g}", "paper, 6": PAPER[name][epsilon]}
        for name, base, epsilon in cells
    ]
    for sub in subs:
        for row, (name, base, epsilon) in zip(rows, cells, strict=True):
            X, y = load(name)
            scores = []
            for run in range(runs):
                model = knoll.MorseClustering(
                    2, base=getattr(knoll, base)(), n_subclusters=sub, bounds=(-1.0, 1.0), epsilon=epsilon,
                    random_state=run,
                ).fit(X)  # fmt: skip
                scores.append(adjusted_rand_score(y, model.predict(X)))
            row[f"{sub} ({len(scores)} runs)"] = (
                f"{np.mean(scores):.3f} ± {1.96 * np.std(scores) / len(scores) ** 0.5:.3f}"
            )
            print(row, flush=True)
        write("morse-subclusters", f'make bench-morse ARGS="--only table2 --runs {runs}"', rows)


def spirals(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Two arms of one and a half turns."""
    rng = np.random.default_rng(seed)
    y, t = rng.integers(0, 2, n), np.sqrt(rng.uniform(0.04, 1, n))
    angle = 2 * np.pi * (1.5 * t + y / 2)
    return np.column_stack([t * np.cos(angle), t * np.sin(angle)]) + 0.03 * rng.normal(size=(n, 2)), y


SHAPES = {
    "two moons": (lambda n, seed: make_moons(n, noise=0.06, random_state=seed), ([-1.5, -1.0], [2.5, 1.5]), None),
    "two rings": (lambda n, seed: make_circles(n, noise=0.05, factor=0.5, random_state=seed), (-1.3, 1.3), None),
    "spirals": (spirals, (-1.3, 1.3), 2),
}


def shapes(runs: int) -> None:
    """Bent shapes in the plane, n = 5,000, epsilon = 2."""
    rows, pictures = [], []
    for name, (make, bounds, k) in SHAPES.items():
        scores, counts, against = [], [], []
        for run in range(runs):
            X, y = make(5000, run)
            model = knoll.MorseClustering(k, epsilon=2.0, bounds=bounds, scale_by_bounds=False, random_state=run).fit(X)
            scores.append(adjusted_rand_score(y, model.predict(X)))
            counts.append(model.n_clusters_)
            plain = knoll.KMeans(2, epsilon=2.0, bounds=bounds, scale_by_bounds=False, random_state=run).fit(X)
            against.append(adjusted_rand_score(y, plain.predict(X)))
        row = {"shape": name, "k": "unknown" if k is None else k, "runs": runs, "ARI": f"{np.mean(scores):.3f}"}
        row |= {"least ARI": f"{np.min(scores):.3f}", "right k": f"{np.mean(np.array(counts) == 2):.0%}"}
        rows.append(row | {"KMeans, k = 2": f"{np.mean(against):.3f}"})
        pictures.append((name, model))
    write("morse-shapes", "make bench-morse ARGS='--only shapes'", rows)
    from knoll.plots import plot_morse

    for name, model in pictures:
        plot_morse(model, title=f"{name}: n = 5,000, epsilon = 2").savefig(
            RESULTS / f"morse-{name.replace(' ', '-')}.png", dpi=100
        )


def random_mixture(k: int, d: int, spread: float, seed: int = 0) -> Mixture:
    rng = np.random.default_rng(seed)
    root = 0.6 * rng.normal(size=(k, d, d))
    covariances = root @ root.transpose(0, 2, 1) + 0.15 * np.eye(d)
    return Mixture(rng.dirichlet(np.full(k, 2.0)), rng.uniform(-spread, spread, (k, d)), covariances)


def speed() -> None:
    """Peaks, saddles, graph and merge tree of random mixtures."""
    rows = []
    for k, d, spread, repeats in (
        (12, 9, 2.0, 5),
        (12, 9, 5.0, 5),
        (200, 16, 5.0, 1),
        (200, 16, 2.0, 1),
        (200, 2, 10.0, 1),
    ):
        mixture = random_mixture(k, d, spread)
        found = landscape(mixture)
        start = time.process_time()
        wall = median_seconds(lambda mixture=mixture: landscape(mixture), repeats)
        cpu = (time.process_time() - start) / (repeats + 1)
        row = {"components": k, "dimensions": d, "means within ±": spread, "peaks": len(found.peaks)}
        rows.append(row | {"saddles": len(found.saddles), "wall s": f"{wall:.2f}", "processor s": f"{cpu:.2f}"})
    write("morse-speed", "make bench-morse ARGS='--only speed'", rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="bent shapes and speed, few runs")
    parser.add_argument("--only", help="compare, made, steady, table2, shapes or speed, separated by commas")
    parser.add_argument("--runs", type=int)
    parser.add_argument("--data", default=",".join(SETS))
    parser.add_argument("--bases", default=",".join(BASES))
    parser.add_argument("--keep", action="store_true", help="keep the cells of earlier runs of compare")
    options = parser.parse_args()
    parts = (
        options.only.split(",")
        if options.only
        else ["shapes", "speed"] + ([] if options.quick else ["compare", "made", "steady", "table2"])
    )
    warnings.simplefilter("ignore")
    RESULTS.mkdir(exist_ok=True)
    print("Running", ", ".join(parts), flush=True)
    if "shapes" in parts:
        shapes(options.runs or (3 if options.quick else 20))
    if "speed" in parts:
        speed()
    if "compare" in parts:
        runs = options.runs or 5
        report_compare(compare(options.data.split(","), options.bases.split(","), runs, options.keep), runs)
    if "made" in parts:
        made(options.bases.split(","), options.runs or 2)
    if "steady" in parts:
        steady(options.runs or 1)
    if "table2" in parts:
        table2(options.runs or 20)


if __name__ == "__main__":
    main()
