"""Waves instead of a tree: when they are used, and that they find clusters."""

import numpy as np
import pytest

import knoll
from knoll.cluster.kmeans import KMeansByTree
from knoll.numeric.distances import squared_distances
from knoll.steps.refine import gains


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(3)
    at = rng.uniform(-8, 8, (6, 16))
    label = rng.integers(0, 6, 6000)
    return at, at[label] + 1.5 * rng.normal(size=(6000, 16))


def fit(X, k=6, estimator=knoll.KMeans, **given):
    given = {"epsilon": 0.15, "delta": 1e-5, "bounds": (-14, 14), "random_state": 0} | given
    return estimator(k, **given).fit(X)


@pytest.mark.filterwarnings("ignore::knoll.DiagnosticWarning")
def test_waves_find_the_clusters_at_a_small_budget(data):
    at, X = data
    model = fit(X)
    assert model.strategy_ == "waves"
    assert "not above 60" in model.strategy_reason_
    assert [each.query for each in model.privacy_.releases].count("Fourier features") == 1
    assert not any("tree" in each.query for each in model.privacy_.releases)
    assert np.sqrt(squared_distances(at, model.cluster_centers_).min(axis=1)).max() < 6


@pytest.mark.filterwarnings("ignore::knoll.DiagnosticWarning")
@pytest.mark.parametrize("given", [{"delta": 0.0}, {"epsilon": 4.0}, {"k": 41}, {"estimator": KMeansByTree}])
def test_the_tree_is_used_where_waves_show_less(given, data):
    assert fit(data[1], **given).strategy_ == "tree"


def test_columns_with_signal_are_believed_more_than_others(rng):
    moved = rng.normal(size=(40, 10))
    moved[:, :3] += 5 * rng.choice([-1, 1], (40, 3))
    found = gains(moved, np.ones((40, 10)), np.arange(40) > 0)
    assert (found[0] == 0).all()
    assert found[1:, :3].mean() > 0.9
    assert found[1:, 3:].mean() < 0.5
