"""Spherical k-means: made-up directions, and rows that no one should trust."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

import knoll
from knoll.privacy.errors import BoundsError


def directions(n, d, k, apart, seed=0):
    """Directions about k points, seen from a common mean, and their groups."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(k, d))
    centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    group = rng.integers(0, k, n)
    rows = 0.3 + apart * centres[group] + rng.normal(size=(n, d)) / d**0.5
    return rows / np.linalg.norm(rows, axis=1, keepdims=True), group


@pytest.mark.parametrize(("d", "k", "epsilon"), [(16, 4, 1.0), (64, 10, 1.0), (128, 30, 4.0)])
def test_groups_of_directions_are_found(d, k, epsilon):
    X, group = directions(12_000, d, k, 1.5)
    model = knoll.SphericalKMeans(k, epsilon=epsilon, random_state=0).fit(X)
    assert adjusted_rand_score(group, model.predict(X)) > 0.9
    assert np.allclose(np.linalg.norm(model.cluster_centers_, axis=1), 1.0)
    cosine = (X * model.cluster_centers_[model.predict(X)]).sum(axis=1).mean()
    assert np.average(model.cluster_cosines_, weights=model.cluster_sizes_) == pytest.approx(cosine, abs=0.03)


@pytest.mark.parametrize("k", [5, 12])
def test_the_number_of_clusters_is_chosen(k):
    X, _ = directions(20_000, 40, k, 1.5, seed=k)
    model = knoll.SphericalKMeans(None, epsilon=4.0, random_state=0).fit(X)
    assert abs(model.n_clusters_ - k) <= 1


def test_words_without_records_are_not_one_cluster_more():
    X, _ = directions(20_000, 32, 20, 1.1, seed=1)  # so tight that many words are nobody's
    model = knoll.SphericalKMeans(None, epsilon=4.0, random_state=0).fit(X)
    assert model.n_clusters_ == 20
    assert model.n_clusters_confidence_ > 0.8


def test_one_cloud_is_in_doubt():
    X = np.random.default_rng(0).normal(size=(20_000, 30))
    with pytest.warns(knoll.DiagnosticWarning):
        model = knoll.SphericalKMeans(None, epsilon=4.0, random_state=0).fit(X)
    assert model.n_clusters_confidence_ < 0.5


def test_many_columns_are_projected_first():
    X, group = directions(6000, 500, 5, 2.0)
    model = knoll.SphericalKMeans(5, epsilon=4.0, random_state=0).fit(X)
    assert adjusted_rand_score(group, model.predict(X)) > 0.8
    assert model.cluster_centers_.shape == (5, 500)


def test_lengths_do_not_matter_and_poisoned_rows_do_no_harm():
    X, group = directions(8000, 20, 4, 1.5)
    scale = np.random.default_rng(1).uniform(1e-6, 1e6, size=(len(X), 1))
    poison = np.vstack([np.full((1, 20), 1e308), np.zeros((3, 20)), np.full((1, 20), 5e-324), -1e300 * np.eye(20)])
    model = knoll.SphericalKMeans(4, epsilon=2.0, random_state=0).fit(np.vstack([X * scale, poison]))
    assert adjusted_rand_score(group, model.predict(X)) > 0.9
    assert np.isfinite(model.cluster_centers_).all()
    rows = np.vstack([poison, np.full((1, 20), np.nan)])
    dropped = knoll.SphericalKMeans(2, epsilon=2.0, missing="drop", random_state=0).fit(rows)
    assert dropped.predict(rows)[-1] == -1


def test_standard_errors_cover():
    X, _ = directions(15_000, 32, 6, 1.2, seed=3)
    model = knoll.SphericalKMeans(6, epsilon=1.0, random_state=0).fit(X)
    labels = model.predict(X)
    means = np.array([X[labels == i].mean(axis=0) for i in range(6)])
    means /= np.linalg.norm(means, axis=1, keepdims=True)
    assert (np.abs(model.cluster_centers_ - means) < 2 * model.centers_stderr_).mean() > 0.9
    assert (np.abs(model.cluster_sizes_ - np.bincount(labels)) < 3 * model.cluster_sizes_stderr_).all()


def test_other_bounds_are_refused():
    with pytest.raises(BoundsError, match="KMeans, if lengths matter"):
        knoll.SphericalKMeans(2, bounds=(0, 1)).fit(np.ones((10, 2)))


def test_saved_models_and_reports(tmp_path):
    X, _ = directions(4000, 8, 3, 1.5)
    model = knoll.SphericalKMeans(3, epsilon=2.0, random_state=0).fit(X)
    knoll.save(model, tmp_path / "model.json")
    again = knoll.load(tmp_path / "model.json")
    assert np.array_equal(again.predict(X), model.predict(X))
    assert np.allclose(again.cluster_cosines_, model.cluster_cosines_)
    model.report(tmp_path / "report.html")
    assert (tmp_path / "report.html").stat().st_size > 1000
    assert model.plot() is not None
