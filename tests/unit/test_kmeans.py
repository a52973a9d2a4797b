"""The flagship: close to non-private k-means, on data that it was not made for."""

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

import knoll
from knoll.testing import zero_noise


def ratio(X, k, **kw):
    """Loss of the private centres over that of non-private k-means."""
    box = knoll.Box(tuple(X.min(axis=0)), tuple(X.max(axis=0)))
    best = KMeans(k, n_init=5, random_state=0).fit(X).inertia_
    return np.mean([-knoll.KMeans(k, bounds=box, random_state=run, **kw).fit(X).score(X) / best for run in range(3)])


@pytest.mark.parametrize(
    ("d", "k", "limit"), [(2, 10, 1.1), (4, 6, 1.1), (8, 12, 1.1), (16, 10, 1.1), (32, 8, 1.25), (64, 6, 1.25)]
)
def test_near_the_non_private_loss_at_300_records_a_cluster(d, k, limit):
    X, _ = make_blobs(300 * k, d, centers=k, cluster_std=1.5, random_state=d)
    assert ratio(X, k, epsilon=1.0, delta=len(X) ** -1.1) < limit  # the delta of the PE-means benchmark


def test_heavy_tails_and_uneven_clusters(rng):
    parts = [rng.standard_t(3, size=(n, 3)) * s + c for n, s, c in ((9000, 1.0, -8), (900, 0.3, 0), (3000, 2.0, 9))]
    assert ratio(np.clip(np.vstack(parts), -40, 40), 3, epsilon=1.0) < 1.15


def test_columns_of_very_different_widths(rng):
    X = np.vstack([rng.normal(c, 1, size=(2000, 2)) for c in (-4, 4)]) * [1e5, 1e-3]
    assert ratio(X, 2, epsilon=1.0) < 1.05
    model = knoll.KMeans(2, bounds=([-1e6, -0.01], [1e6, 0.01]), scale_by_bounds=True).fit(X)
    assert np.sort(model.cluster_centers_[:, 1]) == pytest.approx([-4e-3, 4e-3], abs=5e-4)


def test_without_noise_it_finds_what_k_means_finds():
    X, _ = make_blobs(5000, 5, centers=7, random_state=2)
    with zero_noise():
        assert ratio(X, 7) < 1.01


def test_pure_differential_privacy_and_replace_one():
    X, _ = make_blobs(6000, 3, centers=4, random_state=5)
    assert ratio(X, 4, epsilon=2.0, delta=0.0) < 1.2
    assert ratio(X, 4, epsilon=2.0, relation="replace_one") < 1.1


@pytest.mark.parametrize("k", [1, 2, 5])
def test_the_number_of_clusters_is_found_at_no_cost(k):
    X, _ = make_blobs(20_000, 2, centers=k, cluster_std=0.7, random_state=3)
    model = knoll.KMeans(None, epsilon=4.0, bounds=(-15, 15), random_state=0).fit(X)
    assert model.n_clusters_ == k == len(model.cluster_centers_)
    assert model.n_clusters_confidence_ > 0.5
    assert model.privacy_.spent_epsilon <= 4.0


def test_stderr_is_of_the_size_of_the_error():
    X, _ = make_blobs(9000, 2, centers=[[-6, 0], [6, 0], [0, 8]], random_state=0)
    fits = [knoll.KMeans(3, bounds=(-12, 14), random_state=0).fit(X) for _ in range(25)]
    ordered = [(m.cluster_centers_[(o := np.argsort(m.cluster_centers_[:, 0]))], m.centers_stderr_[o]) for m in fits]
    observed = np.std([centres for centres, _ in ordered], axis=0)
    stated = np.median([stderr for _, stderr in ordered], axis=0)
    assert (observed < 2.5 * stated).all()
    assert (observed > 0.3 * stated).all()
