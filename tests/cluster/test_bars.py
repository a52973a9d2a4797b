"""Error bars cover, clusters that are only noise are marked, and may be left out."""

import numpy as np
import pytest

import knoll
from benchmarks.coverage.run import errors
from knoll.numeric.bars import clear_level, counted
from knoll.privacy import PrivacyError

CLUSTERERS = ["KMeans", "Lloyd", "FastLloyd", "PEMeans", "LSHTree", "Cubes", "MorseClustering", "ModeClustering"]
MIXTURES = ["GaussianMixture", "EMGaussianMixture", "HardEMGaussianMixture"]


def blobs(n, seed, d=2):
    rng = np.random.default_rng(seed)
    return rng.uniform(-8, 8, (5, d))[rng.integers(5, size=n)] + rng.normal(size=(n, d))


def fit(name, X, k, seed=0, **more):
    return getattr(knoll, name)(k, bounds=(-12, 12), random_state=seed, **more).fit(X)


@pytest.mark.parametrize("name", CLUSTERERS + MIXTURES)
def test_two_standard_errors_cover(name):
    hits = {"centres": [], "sizes": []}
    for seed, k in [(0, 5), (1, 5), (2, 15), (3, 15), (4, 15)]:
        X = blobs(2000, seed)
        for what, (error, bar) in errors(fit(name, X, k, seed), X).items():
            hits[what] += (np.abs(error) <= 2 * bar)[np.isfinite(bar)].tolist()
    assert min(np.mean(each) for each in hits.values()) > 0.85  # of about 100, which are not independent


@pytest.mark.parametrize("name", CLUSTERERS + MIXTURES)
def test_right_clusters_are_seen(name):
    model = fit(name, blobs(20_000, 3), 5, epsilon=4.0)
    seen = getattr(model, "clusters_seen_", getattr(model, "components_seen_", None))
    assert seen.dtype == bool
    assert seen.mean() >= 0.8


@pytest.mark.parametrize("name", ["KMeans", "Lloyd", "FastLloyd", "PEMeans", "Cubes"])
def test_far_too_many_clusters_are_not_seen(name):
    model = fit(name, blobs(300, 0), 200)
    assert model.clusters_seen_.mean() < 0.05
    assert np.isinf(model.centers_stderr_[~model.clusters_seen_]).all()


@pytest.mark.parametrize("name", [*CLUSTERERS, *MIXTURES])
def test_unseen_can_be_left_out(name, tmp_path):
    X = blobs(400, 1, d=3)
    model = fit(name, X, 20, drop_unseen=True)
    mixture = name in MIXTURES
    k = model.n_components_ if mixture else model.n_clusters_
    assert 1 <= k < 20
    assert set(model.predict(X)) <= set(range(k))
    places = model.means_ if mixture else model.cluster_centers_
    assert len(places) == k
    knoll.save(model, tmp_path / "model.json")
    again = knoll.load(tmp_path / "model.json")
    what = "components_seen_" if mixture else "clusters_seen_"
    assert getattr(again, what).dtype == bool
    np.testing.assert_array_equal(getattr(again, what), getattr(model, what))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_drop_unseen_changes_nothing_else():
    X = blobs(20_000, 5)
    with knoll.testing.zero_noise():
        plain, dropping = (fit("KMeans", X, 5, drop_unseen=drop) for drop in (False, True))
    np.testing.assert_array_equal(plain.cluster_centers_, dropping.cluster_centers_)


def test_a_bad_flag_is_refused():
    with pytest.raises(PrivacyError, match="drop_unseen"):
        fit("KMeans", blobs(100, 0), 2, drop_unseen="yes")


def test_more_clusters_need_larger_counts():
    levels = [clear_level(k, pure=False) for k in (1, 10, 1000)]
    assert levels == sorted(levels)
    assert clear_level(1000, pure=True) > levels[-1]  # Laplace noise has longer tails


def test_the_largest_of_many_noisy_counts_shrink_and_clear_ones_stay(rng):
    count = np.concatenate([7 + 13 * rng.standard_normal(2000), [4000.0]])
    excess, doubt = counted(count, np.full(2001, 13.0), pure=False)
    assert np.abs(count - excess)[:2000].max() < 45
    assert abs(excess[-1]) < 1
    assert (doubt <= 13).all()
