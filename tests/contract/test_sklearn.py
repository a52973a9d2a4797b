"""scikit-learn's own checks, and what a user of scikit-learn expects."""

from inspect import signature

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks

import knoll
from knoll.testing import zero_noise

NO_LABELS = "labels_ would describe records: a fitted model holds released values only"
NOISE = "two fits draw different noise; random_state seeds public randomness only"
OLD = "expected_failed_checks" not in signature(parametrize_with_checks).parameters  # scikit-learn 1.5
EXPECTED_FAILURES = {"check_clustering": NO_LABELS, "check_fit_idempotent": NOISE}


@parametrize_with_checks(
    [
        knoll.Lloyd(3, bounds=(-20.0, 20.0), epsilon=10.0),
        knoll.KMeans(3, bounds=(-20.0, 20.0), epsilon=10.0),
        knoll.PEMeans(3, bounds=(-20.0, 20.0), epsilon=1.0),
        knoll.Cubes(3, bounds=(-20.0, 20.0), epsilon=10.0),
        knoll.GaussianMixture(3, bounds=(-20.0, 20.0), epsilon=10.0),
        knoll.LocalGaussianMixture(3, bounds=(-20.0, 20.0), epsilon=10.0),
    ],
    **({} if OLD else {"expected_failed_checks": lambda _: EXPECTED_FAILURES}),
)
def test_sklearn_checks(estimator, check):
    if OLD and check.func.__name__ in EXPECTED_FAILURES:
        pytest.xfail(EXPECTED_FAILURES[check.func.__name__])
    check(estimator)


@pytest.fixture(scope="module")
def blobs():
    return make_blobs(6000, 2, centers=[[-6, 0], [6, 0], [0, 8]], random_state=0)


BOUNDS = {"a": (-10, 12), "b": (-6, 14)}


def test_finds_the_clusters(blobs):
    X, y = blobs
    for delta in (1e-6, 0.0):
        labels = knoll.Lloyd(3, epsilon=2.0, delta=delta, bounds=(-12, 14), random_state=1).fit_predict(X)
        assert adjusted_rand_score(y, labels) > 0.95


def test_without_noise_it_is_lloyds_algorithm(blobs):
    X, _ = blobs
    with zero_noise():
        ours = knoll.Lloyd(3, bounds=(-15, 15), n_steps=20, random_state=1).fit(X)
    start = ours.cluster_centers_ + 0.5
    theirs = KMeans(3, init=start, n_init=1).fit(X)
    assert np.sort(ours.cluster_centers_, axis=0) == pytest.approx(np.sort(theirs.cluster_centers_, axis=0), abs=1e-3)
    assert np.sort(ours.cluster_sizes_) == pytest.approx(np.sort(np.bincount(theirs.labels_)))


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "arrow"])
def test_frames_in_and_names_kept(blobs, frame):
    X, _ = blobs
    table = frame({"a": X[:, 0], "b": X[:, 1]})
    model = knoll.Lloyd(3, bounds=BOUNDS, random_state=0).fit(table)
    assert model.feature_names_in_.tolist() == ["a", "b"]
    assert model.n_features_in_ == 2
    assert model.bounds_.names == ("a", "b")
    assert len(model.predict(table)) == len(X)
    assert model.get_feature_names_out().tolist() == ["lloyd0", "lloyd1", "lloyd2"]


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "arrow"])
def test_user_column_is_taken_off_a_frame(blobs, frame):
    X, _ = blobs
    table = frame({"who": [f"u{i % 900}" for i in range(len(X))], "a": X[:, 0], "b": X[:, 1]})
    with zero_noise():
        model = knoll.Lloyd(3, bounds=BOUNDS, unit=knoll.User("who", 2)).fit(table)
    assert model.cluster_sizes_.sum() == 1800
    assert "user (column 'who', at most 2 records each)" in str(model.privacy_)


def test_user_column_of_an_array(blobs):
    X, _ = blobs
    table = np.column_stack([X, np.arange(len(X)) % 900])
    with zero_noise():
        model = knoll.Lloyd(3, bounds=(-15, 15), unit=knoll.User(2, 3)).fit(table)
    assert model.cluster_sizes_.sum() == 2700
    assert model.n_features_in_ == 2


def test_missing_rows_can_be_dropped(blobs):
    X = blobs[0].copy()
    X[::10, 0] = np.nan
    with zero_noise():
        model = knoll.Lloyd(3, bounds=(-15, 15), missing="drop").fit(X)
    assert model.cluster_sizes_.sum() == 5400


def test_pipeline_clone_and_params(blobs):
    X, _ = blobs
    pipeline = make_pipeline(FunctionTransformer(), knoll.Lloyd(3, bounds=(-15, 15)))
    assert pipeline.fit_predict(X).shape == (6000,)
    model = clone(pipeline[-1]).set_params(n_clusters=4)
    assert model.get_params()["n_clusters"] == 4
    assert model.fit(X).transform(X).shape == (6000, 4)


def test_private_bounds_cover_the_data(blobs):
    X, _ = blobs
    shifted = X * [1.0, 1000.0] + [500.0, 0.0]
    model = knoll.Lloyd(3, epsilon=2.0, bounds="private", scale_by_bounds=True).fit(shifted)
    low, high = model.bounds_.corners
    inside = ((shifted >= low) & (shifted <= high)).all(axis=1).mean()
    assert inside > 0.98
    assert (high - low < [300, 3e4]).all()
    assert 0.05 < sum(e.share for e in model.privacy_.releases if e.query == "column histograms") < 0.4
    assert "bounds" not in model.privacy_.assumed_public


@pytest.mark.parametrize(
    "kind", [knoll.Lloyd, knoll.FastLloyd, knoll.KMeans, knoll.PEMeans, knoll.LSHTree, knoll.Cubes]
)
def test_every_clusterer_takes_extreme_sizes(kind, rng):
    wide = rng.uniform(size=(60, 784))
    assert np.isfinite(kind(2, bounds=(0, 1)).fit(wide).cluster_centers_).all()
    assert kind(1000, bounds=(0, 1)).fit(wide[:, :2]).cluster_centers_.shape == (1000, 2)
    assert kind(1, bounds=(0, 1)).fit(wide[:, :1]).cluster_centers_.shape == (1, 1)


def test_more_clusters_and_columns_than_sense(rng):
    wide = rng.uniform(size=(30, 784))
    assert knoll.Lloyd(2, bounds=(0, 1), n_steps=1).fit(wide).cluster_centers_.shape == (2, 784)
    assert knoll.Lloyd(1000, bounds=(0, 1), n_steps=2).fit(wide[:, :2]).cluster_centers_.shape == (1000, 2)
    assert knoll.Lloyd(1, bounds=(0, 1), n_steps=1).fit(wide[:, :1]).cluster_centers_.shape == (1, 1)


def test_stderr_tells_the_error_of_centres(blobs):
    X, _ = blobs
    scores = []
    for _ in range(60):
        model = knoll.KMeans(3, bounds=(-15, 15), random_state=1).fit(X)
        labels = model.predict(X)
        means = np.array([X[labels == i].mean(axis=0) for i in range(3)])
        scores.append((model.cluster_centers_ - means) / model.centers_stderr_)
    assert (np.abs(scores) < 2).mean() > 0.93
    assert np.std(scores) > 0.3


def test_help_and_printing():
    assert "Privacy" in knoll.Lloyd.__doc__
    assert repr(knoll.Lloyd(3, epsilon=2.0)) == "Lloyd(epsilon=2.0, n_clusters=3)"
    assert "Lloyd" in dir(knoll)
    with pytest.raises(AttributeError):
        knoll.NoSuchThing  # noqa: B018 (the access is the test)
