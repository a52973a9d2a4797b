"""Quality: near the figures on the records, the same from the same released values, and safe to read from a file."""

import json

import numpy as np
import pytest
from sklearn.metrics import pairwise_distances

import knoll
from knoll.testing import zero_noise
from tests.diagnose.registry import three

UNROUND = [knoll.Lloyd, knoll.FastLloyd, knoll.LSHTree, knoll.Cubes, knoll.MorseClustering, knoll.ModeClustering]


def on_records(model, X, scale=1.0):
    """The same figures from the records."""
    distances = np.sort(pairwise_distances(X, model.cluster_centers_), axis=1) / scale
    within = np.square(distances[:, 0]).mean()
    return within, 1 - within / (X.var(axis=0) / scale**2).sum(), (1 - distances[:, 0] / distances[:, 1]).mean()


def figures(quality):
    return quality.within_variance, quality.explained, quality.silhouette


def errors(quality):
    return quality.within_variance_stderr, quality.explained_stderr, quality.silhouette_stderr


@pytest.mark.parametrize("kind", [knoll.KMeans, knoll.PEMeans])
@pytest.mark.parametrize("scaled", [False, True])
def test_clusters_without_noise(kind, scaled):
    X = three(0, 20_000)
    with zero_noise():
        model = kind(3, bounds=(-10, 10), scale_by_bounds=scaled, random_state=0).fit(X)
    expected = on_records(model, X, 10.0 if scaled else 1.0)
    assert figures(model.quality_) == pytest.approx(expected, rel=0.15, abs=0.02)


@pytest.mark.parametrize("kind", [knoll.KMeans, knoll.PEMeans])
def test_two_standard_errors_cover_the_figures_of_the_records(kind):
    inside = []
    for seed in range(12):
        X = three(seed)
        model = kind(3, bounds=(-10, 10), scale_by_bounds=False, random_state=seed).fit(X)
        off = np.abs(np.subtract(figures(model.quality_), on_records(model, X)))
        inside.append(off <= 2 * np.array(errors(model.quality_)))
    assert np.mean(inside) > 0.8


@pytest.mark.parametrize("kind", [knoll.KMeans, knoll.GaussianMixture])
def test_tails_that_clips_hide_lie_within_the_errors(kind):
    inside = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        places = rng.uniform(-10, 10, (5, 3))
        X = places[rng.integers(5, size=12_000)] + 0.5 * rng.standard_t(3, size=(12_000, 3))
        X = np.clip(X, -15, 15)
        model = kind(5, bounds=(-15, 15), scale_by_bounds=False, random_state=seed).fit(X)
        if kind is knoll.KMeans:
            true = on_records(model, X)
        else:
            part, away = model.predict_proba(X), pairwise_distances(X, model.means_)
            within = (part * away**2).sum() / len(X)
            true = within, 1 - within / X.var(axis=0).sum()
        off = np.abs(np.subtract(figures(model.quality_)[:2], true[:2]))
        inside.append(off <= 2 * np.array(errors(model.quality_)[:2]))
    assert np.mean(inside) > 0.85


def test_many_columns():
    rng = np.random.default_rng(0)
    X = 4 * rng.normal(size=(5, 20))[rng.integers(5, size=20_000)] + rng.normal(size=(20_000, 20))
    model = knoll.KMeans(5, bounds=(-18, 18), scale_by_bounds=False, random_state=0).fit(X)
    expected = on_records(model, X)
    assert model.quality_.within_variance == pytest.approx(expected[0], rel=0.4)
    assert model.quality_.explained == pytest.approx(expected[1], abs=0.05)
    assert model.cluster_variances_.sum(axis=1) == pytest.approx(20, rel=0.5)


def test_mixtures():
    X = three(0, 20_000)
    model = knoll.GaussianMixture(3, bounds=(-10, 10), scale_by_bounds=False, random_state=0).fit(X)
    assert model.quality_.within_variance == pytest.approx(2.0, rel=0.1)
    assert model.quality_ == model.quality_
    for shape in ("tied", "diag", "spherical"):
        other = knoll.GaussianMixture(
            3, bounds=(-10, 10), scale_by_bounds=False, covariance_type=shape, random_state=0
        ).fit(X)
        assert other.quality_.explained == pytest.approx(model.quality_.explained, abs=0.02)
    with pytest.raises(ValueError, match="not fitted"):
        _ = knoll.GaussianMixture(3).quality_


def test_more_clusters_explain_more():
    X = three(0, 20_000)
    few, right = (knoll.KMeans(k, epsilon=4.0, bounds=(-10, 10), random_state=0).fit(X).quality_ for k in (2, 3))
    assert few.explained + 2 * few.explained_stderr < right.explained
    assert few.silhouette + few.silhouette_stderr < right.silhouette + right.silhouette_stderr


@pytest.mark.parametrize("kind", UNROUND)
def test_none_where_no_variances_are_released_or_clusters_need_not_be_round(kind):
    assert kind(2, bounds=(-10, 10), random_state=0).fit(three(0, 2000)).quality_ is None


def test_one_cluster_has_no_silhouette_and_nothing_is_known_of_nothing():
    one = knoll.KMeans(1, bounds=(-10, 10)).fit(three(0)).quality_
    assert one.silhouette_stderr == np.inf
    assert one.explained < 0.05
    assert "silhouette not seen" in str(one)
    none = knoll.KMeans(3, epsilon=0.01, bounds=(-10, 10)).fit(three(0, 5)).quality_
    assert errors(none) == (np.inf, np.inf, np.inf)


def test_quality_in_words():
    quality = knoll.Quality(1.2346, 0.06, 0.9, 0.004, 0.5, 0.02)
    assert str(quality) == (
        "Quality: within-cluster variance 1.235 ± 0.060, explained part of the variance 0.9000 ± 0.0040, "
        "silhouette 0.500 ± 0.020."
    )
    assert knoll.Quality.from_dict(quality.to_dict()) == quality


@pytest.mark.parametrize("bad", [[], 3, {}, {"explained": 1.0}, "x"])
def test_damaged_files_are_refused(bad, tmp_path):
    path = tmp_path / "model.json"
    knoll.save(knoll.KMeans(2, bounds=(-10, 10)).fit(three(0, 2000)), path)
    data = json.loads(path.read_text())
    for broken in (bad, {**data["quality"], "explained": bad}, {**data["quality"], "explained": -1.0}):
        path.write_text(json.dumps({**data, "quality": broken}))
        with pytest.raises(ValueError, match="damaged"):
            knoll.load(path)
    del data["quality"]  # as earlier versions wrote it
    path.write_text(json.dumps(data))
    assert knoll.load(path).quality_ is None
