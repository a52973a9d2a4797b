"""Figures of the PE-means paper: loss against k (its Figures 3 and 4) and vote splitting (its Figure 1)."""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

import knoll
from benchmarks.data import datasets
from knoll.numeric.weighted import levy_flights, uniform_points, weighted_kmeans
from knoll.queries import Box, Nearest, NearestVotes

CLUSTERS = (2, 4, 8, 16, 32)


def loss_against_k(path: Path, methods: list[str], runs: int) -> None:
    """Loss of each method at epsilon = 1, for several k, on data of 2, 8 and 16 columns."""
    sets = list(datasets(["s1", "blobs_25000_8_16", "letter"]))
    figure = Figure(figsize=(4.4 * len(sets), 3.6), layout="constrained")
    for axes, (name, X, _) in zip(figure.subplots(1, len(sets), squeeze=False)[0], sets, strict=True):
        box = Box(tuple(X.min(axis=0) - 1e-9), tuple(X.max(axis=0) + 1e-9))
        plain = [KMeans(k, n_init=3, random_state=0).fit(X).inertia_ / len(X) for k in CLUSTERS]
        for method in methods:
            kind = getattr(knoll, method)
            losses = [
                np.mean(
                    [
                        -kind(k, delta=len(X) ** -1.1, bounds=box, scale_by_bounds=False, random_state=r)
                        .fit(X)
                        .score(X)
                        for r in range(runs)
                    ]
                )
                / len(X)
                for k in CLUSTERS
            ]
            axes.plot(CLUSTERS, losses, marker="o", ms=3, lw=1.4, label=method)
        axes.plot(CLUSTERS, plain, color="grey", ls=":", label="non-private")
        axes.set(title=f"{name}, epsilon = 1", xlabel="k", ylabel="loss", xscale="log", yscale="log")
        axes.set_xticks(CLUSTERS, [str(k) for k in CLUSTERS])
        axes.minorticks_off()
    figure.axes[0].legend(frameon=False, fontsize=7)
    figure.savefig(path, dpi=120)


def vote_splitting(path: Path) -> None:
    """Without noise: taking the k most voted candidates loses clusters, weighted k-means keeps them."""
    X, _ = make_blobs(2000, 2, centers=4, random_state=3)
    box, rng = Box((-15.0, -15.0), (15.0, 15.0)), np.random.RandomState(0)
    figure = Figure(figsize=(12, 6), layout="constrained")
    grid = figure.subplots(2, 4, sharex=True, sharey=True)
    first = uniform_points(box, 400, rng)
    for row, rule in zip(grid, ("most votes", "weighted k-means"), strict=True):
        population = first
        for step, axes in enumerate(row):
            votes = NearestVotes(Nearest(population, box)).summarise(X)
            best = (
                population[np.argsort(-votes)[:4]]
                if rule == "most votes"
                else weighted_kmeans(population, votes.astype(float), 4, rng)[0]
            )
            axes.scatter(*X.T, s=2, color="#c9d1d8")
            axes.scatter(*population.T, s=5, color="#3b6ea5", alpha=0.6)
            axes.scatter(*best.T, s=60, color="#c0392b", edgecolor="white", zorder=3)
            axes.set_title(f"{rule}, step {step + 1}", fontsize=10)
            moved = best[:, None] + 0.3 * levy_flights((4, 100, 2), rng)
            population = np.vstack([best, box.clip(moved.reshape(-1, 2))])
    figure.savefig(path, dpi=110)
