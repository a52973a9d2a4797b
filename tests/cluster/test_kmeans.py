"""The flagship: close to non-private k-means, on data that it was not made for."""

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

import knoll
from knoll.testing import zero_noise


def ratio(X, k, *, average=np.mean, runs=3, **kw):
    """Loss of the private centres over that of non-private k-means."""
    box = knoll.Box(tuple(X.min(axis=0)), tuple(X.max(axis=0)))
    best = KMeans(k, n_init=5, random_state=0).fit(X).inertia_
    return average([-knoll.KMeans(k, bounds=box, random_state=r, **kw).fit(X).score(X) / best for r in range(runs)])


@pytest.mark.parametrize(
    ("d", "k", "limit"), [(2, 10, 1.1), (4, 6, 1.1), (8, 12, 1.1), (16, 10, 1.1), (32, 8, 1.25), (64, 6, 1.25)]
)
def test_near_the_non_private_loss_at_300_records_a_cluster(d, k, limit):
    X, _ = make_blobs(300 * k, d, centers=k, cluster_std=1.5, random_state=d)
    assert ratio(X, k, epsilon=1.0, delta=len(X) ** -1.1) < limit  # the delta of the PE-means benchmark


def test_many_clusters_in_many_columns_are_not_missed():
    X, _ = make_blobs(300 * 40, 32, centers=40, cluster_std=1.5, random_state=1)
    assert ratio(X, 40, average=np.median, runs=7, epsilon=1.0, delta=len(X) ** -1.1) < 1.15


def test_no_centre_stays_where_no_record_is():
    """Tight clusters in wide bounds, two of them close: a centre kept for records that are not there would miss one."""
    rng = np.random.default_rng(5)
    centres = rng.uniform(-1, 1, size=(15, 2))
    X = centres[rng.integers(0, 15, 5000)] + 0.03 * rng.normal(size=(5000, 2))
    assert ratio(X, 15, runs=15, epsilon=1.0, delta=len(X) ** -1.1) < 1.08


def test_heavy_tails_and_uneven_clusters(rng):
    parts = [rng.standard_t(3, size=(n, 3)) * s + c for n, s, c in ((9000, 1.0, -8), (900, 0.3, 0), (3000, 2.0, 9))]
    assert ratio(np.clip(np.vstack(parts), -40, 40), 3, epsilon=1.0) < 1.15


def _stretched(rng, centres, label):
    d = centres.shape[1]
    turn = np.linalg.qr(rng.normal(size=(d, d)))[0] * np.geomspace(0.2, 3.0, d)
    return centres[label] + rng.normal(size=(len(label), d)) @ turn.T


def _with_background(rng, centres, label):
    X = centres[label] + rng.normal(size=(len(label), centres.shape[1]))
    return np.vstack([X, rng.uniform(-12, 12, size=(len(X) // 10, X.shape[1]))])


KINDS = {
    "stretched": _stretched,
    "heavy tails": lambda rng, centres, label: (
        centres[label] + np.clip(rng.standard_t(3, size=(len(label), centres.shape[1])), -30, 30)
    ),
    "background": _with_background,
    "overlapping": lambda rng, centres, label: centres[label] + 4 * rng.normal(size=(len(label), centres.shape[1])),
    "uneven": lambda rng, centres, label: np.vstack(
        [(x := centres[label] + rng.normal(size=(len(label), centres.shape[1]))), x[label == 0] + 0.1]
    ),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("d", "k", "limit"), [(8, 8, 1.1), (16, 8, 1.1), (48, 6, 1.25)])
def test_other_kinds_of_data(kind, d, k, limit):
    rng = np.random.default_rng(d)
    centres, label = rng.uniform(-10, 10, size=(k, d)), np.repeat(np.arange(k), 300)
    X = KINDS[kind](rng, centres, label)
    assert ratio(X, k, average=np.median, runs=5, epsilon=1.0, delta=len(X) ** -1.1) < limit


def test_columns_of_very_different_widths(rng):
    X = np.vstack([rng.normal(c, 1, size=(2000, 2)) for c in (-4, 4)]) * [1e5, 1e-3]
    assert ratio(X, 2, epsilon=1.0) < 1.05
    model = knoll.KMeans(2, bounds=([-1e6, -0.01], [1e6, 0.01]), scale_by_bounds=True).fit(X)
    assert np.sort(model.cluster_centers_[:, 1]) == pytest.approx([-4e-3, 4e-3], abs=5e-4)


def test_without_noise_it_finds_what_k_means_finds():
    X, _ = make_blobs(5000, 5, centers=7, random_state=2)
    with zero_noise():
        assert ratio(X, 7) < 1.01


def test_steps_are_left_out_when_centres_rest():
    """What they would have cost goes to the last one, and nothing is lost."""
    X = np.random.default_rng(0).uniform(size=(200_000, 2))
    best = KMeans(4, n_init=5, random_state=0).fit(X).inertia_
    model = knoll.KMeans(4, epsilon=8.0, bounds=(0, 1), scale_by_bounds=False, random_state=0).fit(X)
    steps = [release for release in model.privacy_.releases if release.query == "count, mean and variance of clusters"]
    assert 1 < len(steps) < 5
    assert steps[-1].share > 0.5
    assert 7.9 < model.privacy_.spent_epsilon <= 8.0
    assert -model.score(X) < 1.002 * best


def test_pure_differential_privacy_and_replace_one():
    X, _ = make_blobs(6000, 3, centers=4, random_state=5)
    assert ratio(X, 4, epsilon=2.0, delta=0.0) < 1.2
    assert ratio(X, 4, epsilon=2.0, relation="replace_one") < 1.1


@pytest.mark.parametrize("k", [1, 2, 5])
def test_the_number_of_clusters_is_found(k):
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


def test_years_and_dollars_count_alike_by_default(rng):
    """In raw units the incomes would decide alone, and the noise of ages would be that of incomes."""
    groups = np.array([[28, 30_000], [67, 25_000], [52, 140_000], [45, 300_000]])
    X = groups[rng.integers(0, 4, 20_000)] + rng.normal(size=(20_000, 2)) * [3, 6_000]
    model = knoll.KMeans(4, bounds=([0, 0], [110, 500_000]), random_state=0).fit(X)
    ages = np.sort(model.cluster_centers_[:, 0])
    np.testing.assert_allclose(ages, [28, 45, 52, 67], atol=1.0)
    assert model.centers_stderr_[:, 0].max() < 1
