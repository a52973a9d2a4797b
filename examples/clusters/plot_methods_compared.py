"""
The methods of the literature, side by side
===========================================

All of them stand behind the same door with the same budget. Here is how far each stays above k-means without privacy.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

import knoll

X, _ = make_blobs(10_000, 4, centers=10, cluster_std=1.0, random_state=2)
epsilons = [0.25, 0.5, 1.0, 2.0, 4.0]


def loss(centres):
    """Mean squared distance to the nearest centre. It reads records: for comparisons on made-up data only."""
    return ((X[:, None] - centres[None]) ** 2).sum(axis=2).min(axis=1).mean()


best = loss(KMeans(10, n_init=5, random_state=0).fit(X).cluster_centers_)
fig, axes = plt.subplots(figsize=(7, 4), layout="constrained")
for method in (knoll.Lloyd, knoll.FastLloyd, knoll.LSHTree, knoll.PEMeans, knoll.KMeans):
    losses = [
        np.mean([loss(method(10, epsilon=e, bounds=(-14, 14), random_state=s).fit(X).cluster_centers_) for s in (0, 1)])
        for e in epsilons
    ]
    axes.plot(epsilons, np.array(losses) / best, marker="o", label=method.__name__)
axes.axhline(1, color="grey", lw=0.8)
axes.set(xscale="log", yscale="log", xlabel="epsilon", ylabel="loss over k-means without privacy")
axes.set_xticks(epsilons, map(str, epsilons))
axes.minorticks_off()
axes.yaxis.set_major_formatter("{x:g}")
axes.set_yticks([1, 2, 3, 5])
axes.spines[["top", "right"]].set_visible(False)
axes.legend(frameon=False)
