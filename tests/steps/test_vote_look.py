"""Votes in a grid, where noise is Laplace: what they show, when they are used, and that they find more than a tree."""

import numpy as np
import pytest

import knoll
from knoll.cluster.kmeans import KMeansByTree
from knoll.estimator import open_curator
from knoll.queries import Count
from knoll.steps.one_release import once_asks, release_view
from knoll.testing import zero_noise


def blobs(k=9, each=400, d=2, width=0.03, seed=0):
    """Clusters on a grid between 0 and 1, and their centres."""
    rng = np.random.default_rng(seed)
    side = int(np.ceil(k ** (1 / d) - 1e-9))
    at = (np.stack(np.meshgrid(*[np.arange(side)] * d), axis=-1).reshape(-1, d)[:k] + 0.5) / side
    return np.clip(np.repeat(at, each, axis=0) + width * rng.normal(size=(k * each, d)), 0, 1), at


def fit(X, k, estimator=knoll.KMeans, **given):
    given = {"bounds": knoll.Box((0.0,) * X.shape[1], (1.0,) * X.shape[1]), "random_state": 0, "delta": 0.0} | given
    return estimator(k, **given).fit(X)


@pytest.mark.parametrize("d", [2, 3])
def test_pure_budgets_have_votes(d):
    model = fit(blobs(8, 400, d)[0], 8, epsilon=0.2)
    assert model.strategy_ == "votes"
    assert "votes in a grid show more" in model.strategy_reason_
    assert [entry.query for entry in model.privacy_.releases][1:] == ["counts on a lattice"] * 2
    assert model.privacy_.delta == 0
    assert model.effective_draws_ >= 8


@pytest.mark.parametrize("given", [{"epsilon": 20.0}, {"n_clusters": 1}, {"estimator": KMeansByTree}])
def test_the_tree_is_used_where_votes_are_not(given):
    given = {"n_clusters": 4, "epsilon": 0.2, "estimator": knoll.KMeans} | given
    model = fit(blobs(4, 500)[0], given.pop("n_clusters"), **given)
    assert model.strategy_ == "tree"


@pytest.mark.parametrize(("d", "cells"), [(2, 15), (3, 8)])
def test_without_noise_all_records_are_seen(d, cells):
    X = np.random.default_rng(0).uniform(size=(600, d))
    model = knoll.KMeans(8, bounds=knoll.Box((0.0,) * d, (1.0,) * d), delta=0.0)
    with zero_noise(), open_curator(model, X) as context:
        view = release_view(context, context.grant.rest, 600.0, 8, np.random.RandomState(0))
    middle = view.fields[-1].reshape(view.shape)[tuple(n // 2 for n in view.shape)]
    gap = view.fields[-1].reshape(view.shape)
    assert gap.shape == view.shape
    assert min(view.shape) >= cells
    parts = zip(view.kernel.heights, view.kernel.bandwidths, strict=True)
    inside = sum(height * (2 * np.pi * h * h) ** (d / 2) for height, h in parts)
    assert middle == pytest.approx(600 * inside / float(np.prod(view.window)), rel=0.35)


def test_its_noise_is_that_of_one_vote():
    X = np.random.default_rng(0).uniform(size=(600, 2))
    with open_curator(knoll.KMeans(8, bounds=knoll.Box((0.0, 0.0), (1.0, 1.0)), delta=0.0), X) as context:
        vote = float(context.grant.worth(context.grant.share).stderr(Count()))
        view = release_view(context, context.grant.rest, 600.0, 8, np.random.RandomState(0))
    assert vote < view.noise < 1.25 * vote  # a first look, or two looks


@pytest.mark.parametrize("d", [2, 3])
def test_they_find_more_than_the_tree(d):
    X, at = blobs(27 if d == 3 else 25, 400, d)
    lost = {}
    for kind in (knoll.KMeans, KMeansByTree):
        runs = [fit(X, len(at), kind, epsilon=0.25, random_state=r) for r in range(2)]
        lost[kind] = -np.mean([model.score(X) for model in runs])
    assert lost[knoll.KMeans] < 0.5 * lost[KMeansByTree]


def test_a_plan_covers_what_is_asked():
    (ask,) = once_asks(2, 0.95, pure=True)
    for released in fit(blobs(6, 200)[0], 6, epsilon=0.2).privacy_.releases[1:]:
        assert np.prod(released.shape) <= ask.size
        assert released.sensitivity == pytest.approx(ask.bound[0])


@pytest.mark.parametrize("wide", [3.0, 20.0])
def test_the_second_look_is_nearer_where_bounds_are_loose(wide):
    """Clusters in a corner of bounds that are far too wide."""
    X, at = blobs(9, 600)
    box = knoll.Box((-0.2 * wide, -0.8 * wide), (0.8 * wide, 0.2 * wide + 1))
    models = [fit(X, 9, epsilon=0.3, bounds=box, random_state=r) for r in range(2)]
    trees = [fit(X, 9, KMeansByTree, epsilon=0.3, bounds=box, random_state=r) for r in range(2)]
    assert all(model.strategy_ == "votes" for model in models)
    assert np.mean([model.score(X) for model in models]) > 0.8 * np.mean([model.score(X) for model in trees])
    if wide < 10:
        assert np.linalg.norm(at[:, None] - models[0].cluster_centers_, axis=2).min(axis=1).max() < 0.12


def test_it_survives_saving_and_reports(tmp_path):
    model = fit(blobs(6, 200)[0], 6, epsilon=0.2)
    knoll.save(model, tmp_path / "model.json")
    again = knoll.load(tmp_path / "model.json")
    assert (again.strategy_, again.strategy_reason_) == (model.strategy_, model.strategy_reason_)
    model.report(tmp_path / "report.html")
    assert model.strategy_reason_ in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_a_ball_and_users_are_served():
    X, at = blobs(4, 500)
    ball = fit(X - 0.5, 4, epsilon=0.3, bounds=knoll.Ball(0.75, (0.0, 0.0)))
    assert ball.strategy_ == "votes"
    assert np.linalg.norm(at[:, None] - 0.5 - ball.cluster_centers_, axis=2).min(axis=1).max() < 0.15
