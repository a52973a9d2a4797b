"""K-means that breathes."""

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

from knoll.numeric.breathe import breathe
from knoll.progress import listening


def test_k_means_that_breathes_finds_what_restarts_miss():
    X, _, centres = make_blobs(6000, 12, centers=60, random_state=2, return_centers=True)
    weights = np.random.default_rng(0).uniform(0.5, 1.5, len(X))
    best = KMeans(60, init=centres, n_init=1).fit(X, sample_weight=weights).inertia_
    found = breathe(X, weights, 60, np.random.RandomState(0))
    assert found.inertia_ < 1.001 * best
    assert KMeans(60, n_init=3, random_state=0).fit(X, sample_weight=weights).inertia_ > 1.01 * best


def test_many_clusters_take_few_deep_breaths_and_tell_how_far_they_are():
    rng, heard = np.random.default_rng(0), []
    points, weights = rng.uniform(size=(2400, 2)), rng.exponential(size=2400)
    with listening(lambda what, fraction: heard.append((what, fraction))):
        found = breathe(points, weights, 800, np.random.RandomState(0))
    plain = KMeans(800, n_init=1, random_state=0).fit(points, sample_weight=weights).inertia_
    assert found.inertia_ < 0.97 * plain
    assert 1 < len(heard) <= 6
    assert [fraction for _, fraction in heard] == sorted(fraction for _, fraction in heard)
