"""PE-means."""

import numpy as np
import pytest
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


@pytest.mark.parametrize(("d", "k"), [(2, 120), (16, 100), (17, 100), (40, 120), (24, 7), (400, 200), (400, 2)])
def test_many_clusters_in_many_columns(d, k):
    X = np.random.default_rng(d).uniform(-1, 1, size=(2000, d))
    model = knoll.PEMeans(k, epsilon=5.0, bounds=(-1, 1), random_state=0).fit(X)
    assert model.cluster_centers_.shape == (k, d)
