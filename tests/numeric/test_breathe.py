"""K-means that breathes."""

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

from knoll.numeric.breathe import breathe


def test_k_means_that_breathes_finds_what_restarts_miss():
    X, _, centres = make_blobs(6000, 12, centers=60, random_state=2, return_centers=True)
    weights = np.random.default_rng(0).uniform(0.5, 1.5, len(X))
    best = KMeans(60, init=centres, n_init=1).fit(X, sample_weight=weights).inertia_
    found = breathe(X, weights, 60, np.random.RandomState(0))
    assert found.inertia_ < 1.001 * best
    assert KMeans(60, n_init=3, random_state=0).fit(X, sample_weight=weights).inertia_ > 1.01 * best
