"""PE-means."""

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

import knoll


def test_pe_means_is_near_k_means_and_ahead_of_its_paper():
    X, _ = make_blobs(6000, 6, centers=8, random_state=4)
    best = KMeans(8, n_init=5, random_state=0).fit(X).inertia_
    loss = {
        preset: np.mean(
            [-knoll.PEMeans(8, bounds=(-15, 15), preset=preset, random_state=r).fit(X).score(X) for r in range(runs)]
        )
        for preset, runs in (("default", 15), ("paper", 5))
    }
    assert loss["default"] < 1.1 * best
    assert loss["default"] < loss["paper"]
