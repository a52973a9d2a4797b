"""The number of clusters from a kernel sum: where it is used, that it is right, and what its confidence is worth."""

import numpy as np
import pytest

import knoll
from knoll.cluster.kmeans import KMeansByTree
from knoll.numeric.posterior.sample import Draws
from knoll.numeric.posterior.view import Kernel, View
from knoll.steps.once_choice import SURE, Hills, hills_of
from knoll.testing import zero_noise
from tests.steps.test_once import UNIT, blobs


def chosen(X, kind=knoll.KMeans, **given):
    return kind(None, **{"bounds": UNIT[X.shape[1]], "random_state": 0, **given}).fit(X)


@pytest.mark.parametrize("kind", [knoll.KMeans, knoll.GaussianMixture])
def test_it_is_used_at_small_budgets_in_the_plane(kind):
    X, _, at = blobs(9, 400)
    small, large = chosen(X, kind, epsilon=0.3), chosen(X, kind, epsilon=4.0)
    assert [small.strategy_, large.strategy_] == ["kernel sum", "tree"]
    assert [entry.query for entry in small.privacy_.releases][1:] == ["Fourier coefficients"] * 2
    assert small.effective_draws_ > 1
    assert "hills of likely densities" in small.strategy_reason_
    places = small.cluster_centers_ if kind is knoll.KMeans else small.means_
    assert len(places) == 9
    assert np.linalg.norm(at[:, None] - places, axis=2).min(axis=1).max() < 0.08


@pytest.mark.parametrize(
    "given", [{"delta": 0.0}, {"epsilon": 1e-4}, {"bounds": knoll.Box((0.0, 0.5), (1.0, 0.5))}, {"epsilon": 2.0}]
)
def test_where_it_cannot_be_used_pieces_are(given):
    model = chosen(blobs(4, 300)[0], **{"epsilon": 0.3, **given})
    assert model.strategy_ == "tree"
    assert "votes" in model.strategy_reason_


def test_it_counts_where_pieces_do_not():
    X, _, _ = blobs(16, 400)
    models = [chosen(X, epsilon=0.25, random_state=seed) for seed in range(3)]
    pieces = [chosen(X, KMeansByTree, epsilon=0.25, random_state=seed) for seed in range(3)]
    assert sum(abs(model.n_clusters_ - 16) <= 1 for model in models) >= 2
    assert sum(abs(model.n_clusters_ - 16) for model in pieces) > sum(abs(model.n_clusters_ - 16) for model in models)


@pytest.mark.parametrize("kind", ["normal", "uniform"])
def test_a_cloud_is_one_or_in_doubt(kind):
    rng = np.random.default_rng(1)
    for seed in range(3):
        X = rng.normal(0.5, 0.12, (2500, 2)) if kind == "normal" else rng.uniform(0.1, 0.9, (2500, 2))
        model = chosen(X, epsilon=0.25, random_state=seed)
        assert model.strategy_ == "kernel sum"
        assert model.n_clusters_ == 1 or model.n_clusters_confidence_ < 0.9


def test_hardly_any_budget_is_not_sure_of_many():
    """Clusters of 100 records, noise of some 45: whatever is counted, nobody can be sure of 25."""
    model = chosen(blobs(25, 100)[0], epsilon=0.1)
    assert model.n_clusters_ < 25
    assert model.n_clusters_ == 1 or model.n_clusters_confidence_ < 0.9


def test_without_noise_the_number_is_right_and_sure():
    X, _, _ = blobs(9, 500)
    with zero_noise():
        model = chosen(X, epsilon=0.3)
    assert model.n_clusters_ == 9
    assert model.n_clusters_candidates_[0].tolist() == [9.0, model.n_clusters_confidence_]


def painted_view():
    """A view of a square of side one; its fields do not matter."""
    kernel = Kernel(0.03, np.array([0.97]), np.array([0.1]))
    return View(np.full(2, -0.5), np.ones(2), (9, 9), np.array([0.05, 0.1]), np.zeros((2, 81)), 1.0, kernel, 0.3)


def draws(weights):
    """Draws of three Gaussians at fixed places, with these weights: (draws, 3)."""
    n = len(weights)
    places = np.tile([[0.2, 0.2], [0.8, 0.2], [0.5, 0.8]], (n, 1, 1))
    return Draws(places, np.zeros((n, 3), dtype=np.int64), np.asarray(weights, float), np.array([0.05, 0.1]), 2)


def test_a_hill_that_draws_agree_on_counts_and_one_that_they_do_not_is_left_out():
    rng = np.random.RandomState(0)
    sure = hills_of(painted_view(), draws(np.array([300.0, 200.0, 100.0]) + rng.normal(size=(20, 3))))
    assert sure.k == 3
    assert sure.choice(rng).confidence > 0.95
    assert np.sort(sure.centres[:, 0]) == pytest.approx([0.2, 0.5, 0.8], abs=0.02)
    shaky = np.tile([300.0, 200.0, 0.0], (20, 1))
    shaky[0, 2] = 2000.0  # one draw in twenty sees it: its surety is 1 / sqrt(19)
    two = hills_of(painted_view(), draws(shaky))
    assert two.k == 2
    assert two.centres.shape == (2, 2)


def test_the_confidence_is_how_often_the_number_is_drawn_again():
    view, some = painted_view(), draws(np.full((4, 3), 100.0))
    points, density, group = np.zeros((1, 2)), np.ones((4, 1)), np.zeros(1, dtype=int)
    confident = {}
    for level in (1.01, 2.0, 10.0):
        sure = np.array([[np.inf, level * SURE, 10.0]])
        hills = Hills(view, some, points, density, group, np.zeros((3, 2)), sure)
        confident[level] = hills.choice(np.random.RandomState(0)).confidence
    assert confident[1.01] == pytest.approx(0.5, abs=0.1)
    assert 0.85 < confident[2.0] < 0.99
    assert confident[10.0] == 1.0


def test_what_could_hardly_be_seen_leaves_a_doubt():
    """One hill where only two could be seen is no evidence of one cluster."""
    X = np.random.default_rng(0).normal(0.5, 0.1, (1400, 2))
    few, many = chosen(X, epsilon=0.1), chosen(X, epsilon=0.6)
    assert [few.n_clusters_, many.n_clusters_] == [1, 1]
    assert few.strategy_ == many.strategy_ == "kernel sum"
    assert few.n_clusters_confidence_ < 0.5 < many.n_clusters_confidence_
