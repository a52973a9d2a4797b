"""The last release of spherical k-means: how wide clips are, and what they cut off."""

import warnings

import numpy as np

import knoll
from knoll.queries.sphere import lengthened
from knoll.steps.lifted import cut_off, left_within, squared_distances_left


def test_distances_of_directions_follow_from_their_mean(rng):
    rows = lengthened(rng.normal(size=(500, 6)) + 1.0)
    at = lengthened(np.ones((1, 6))) * 0.7
    moved = rows.mean(axis=0, keepdims=True) - at
    assert np.allclose(squared_distances_left(at, moved), np.square(rows - at).sum(axis=1).mean())


def test_what_clips_cut_off_of_exponential_squares_is_reckoned(rng):
    squares = rng.exponential(0.8, size=400_000)
    spread = np.full((1, 4), 0.2)
    longer = cut_off(np.array([0.8]), spread, np.ones((1, 4)), np.array([1.0]))
    assert np.allclose(longer**2, squares.mean() / np.minimum(squares, 1.0).mean(), rtol=0.01)
    assert cut_off(np.array([0.8]), spread, np.ones((1, 4)), np.array([5.0])) < 1.0001  # a wide clip cuts nothing


def test_variance_between_clusters_is_not_taken_for_theirs():
    at = np.array([[0.5, 0.0, 0.0], [-0.5, 0.0, 0.0]])
    left = left_within(np.array([0.30, 0.05, 0.0]), at, np.ones(2))
    assert left[0] < 0.1
    assert 0 < left[2] < left[1]


def test_error_bars_cover_where_half_the_records_lie_close_and_others_far():
    hits = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        places, label = rng.normal(size=(8, 64)), rng.integers(8, size=5000)
        X = places[label] + np.where(rng.random(5000) < 0.7, 0.02, 0.4)[:, None] * rng.normal(size=(5000, 64))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = knoll.SphericalKMeans(8, epsilon=4.0, random_state=seed).fit(X)
        labels = model.predict(X)
        means = lengthened(np.array([lengthened(X)[labels == i].mean(axis=0) for i in range(8)]))
        known = np.isfinite(model.centers_stderr_)
        hits.append((np.abs(model.cluster_centers_ - means) <= 2 * model.centers_stderr_)[known].mean())
    assert len(hits) == 5
    assert np.mean(hits) > 0.93
