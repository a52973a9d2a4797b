"""What holds for every clusterer with centres."""

import numpy as np
import pytest

import knoll
from knoll.privacy.errors import BoundsError, PrivacyError


@pytest.mark.parametrize("method", ["KMeans", "PEMeans", "Lloyd", "FastLloyd", "LSHTree", "Cubes"])
@pytest.mark.parametrize(
    ("n", "d", "k"), [(300, 3, 1), (2000, 2, 1000), (200, 784, 3), (500, 1, 4), (3, 2, 5)], ids=str
)
def test_extreme_numbers_of_clusters_and_columns(method, n, d, k, rng):
    X = rng.uniform(-1, 1, size=(n, d))
    model = getattr(knoll, method)(k, bounds=(-1, 1), random_state=0).fit(X)
    assert model.cluster_centers_.shape == (k, d)
    assert (np.abs(model.cluster_centers_) <= 1).all()


@pytest.mark.parametrize("method", ["KMeans", "PEMeans", "Lloyd", "FastLloyd", "LSHTree", "Cubes"])
def test_fewer_distinct_points_than_clusters(method):
    X = np.repeat([[-0.5, 0.5], [0.5, -0.5]], 2000, axis=0)
    model = getattr(knoll, method)(5, epsilon=4.0, bounds=(-1, 1), random_state=0).fit(X)
    assert -model.score(X) / len(X) < 0.25


@pytest.mark.parametrize(
    ("method", "other"),
    [
        ("Lloyd", {"n_steps": 9, "restart": True}), ("FastLloyd", {"n_steps": 9, "clip": 0.1, "restart": True}),
        ("LSHTree", {"max_depth": 3}), ("Cubes", {"max_depth": 3, "projection": 1}),
    ],
)  # fmt: skip
def test_the_papers_presets_do_not_look_at_other_parameters(method, other, rng):
    X = rng.uniform(-1, 1, size=(500, 2))
    kind = getattr(knoll, method)
    first, second = (kind(3, bounds=(-1, 1), preset="paper", **more).fit(X).privacy_.releases for more in ({}, other))
    assert [(e.query, e.share, e.sensitivity) for e in first] == [(e.query, e.share, e.sensitivity) for e in second]
    with pytest.raises(ValueError, match="preset"):
        kind(3, bounds=(-1, 1), preset="none").fit(X)


@pytest.mark.parametrize("method", ["KMeans", "PEMeans", "Lloyd", "FastLloyd"])
def test_the_cosine_metric_is_the_sphere(method, tmp_path):
    rng = np.random.default_rng(0)
    X = np.repeat(np.eye(3), 2000, axis=0) + 0.1 * rng.standard_normal((6000, 3))
    X *= rng.uniform(0.1, 50.0, (6000, 1))
    model = getattr(knoll, method)(3, metric="cosine", epsilon=2.0, random_state=0).fit(X)
    assert isinstance(model.bounds_, knoll.queries.Sphere)
    assert model.bounds is None
    np.testing.assert_array_equal(model.predict(X), model.predict(X * rng.uniform(0.1, 9.0, (6000, 1))))
    knoll.save(model, tmp_path / "model.json")
    np.testing.assert_array_equal(knoll.load(tmp_path / "model.json").predict(X), model.predict(X))


def test_the_cosine_metric_has_no_other_bounds():
    X = np.eye(3)
    with pytest.raises(BoundsError, match="Leave them out"):
        knoll.KMeans(3, metric="cosine", bounds=(0, 1)).fit(X)
    with pytest.raises(PrivacyError, match="metric"):
        knoll.KMeans(3, metric="angle", bounds=(0, 1)).fit(X)
