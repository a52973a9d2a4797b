"""The number of clusters, chosen: clear clusters, one cloud, groups of groups; and what comes with the answer."""

import numpy as np
import pytest

import knoll
from knoll.steps.choose import Choice, as_far_as_seen, coarser_level


def clusters(centres, each, seed=0):
    rng = np.random.default_rng(seed)
    return np.repeat(np.asarray(centres, dtype=float), each, axis=0) + rng.normal(
        size=(len(centres) * each, len(centres[0]))
    )


def chosen(X, epsilon=1.0):
    reach = np.abs(X).max() * 1.1
    return knoll.KMeans(None, epsilon=epsilon, bounds=(-reach, reach), scale_by_bounds=True, random_state=0).fit(X)


def test_many_clear_clusters_are_counted():
    grid = np.stack(np.meshgrid(*[np.arange(6) * 7.0 - 17.5] * 2), axis=-1).reshape(-1, 2)
    model = chosen(clusters(grid, 500))
    assert abs(model.n_clusters_ - 36) <= 2


def test_two_hundred_clusters_are_counted():
    grid = np.stack(np.meshgrid(np.arange(20) * 6.0 - 57, np.arange(10) * 6.0 - 27), axis=-1).reshape(-1, 2)
    assert abs(chosen(clusters(grid, 500)).n_clusters_ - 200) <= 10


@pytest.mark.parametrize("kind", ["normal", "uniform"])
def test_one_cloud_is_one(kind):
    model = chosen(getattr(np.random.default_rng(0), kind)(size=(8000, 4)))
    assert model.n_clusters_ == 1 or model.n_clusters_confidence_ < 0.5


def test_confidence_and_candidates_agree():
    model = chosen(clusters([[0, 0], [8, 0], [0, 8], [8, 8]], 1000))
    first = model.n_clusters_candidates_[0]
    assert first.tolist() == [model.n_clusters_, model.n_clusters_confidence_]
    assert len(model.n_clusters_candidates_) <= 5
    assert 0 < model.n_clusters_candidates_[:, 1].sum() <= 1 + 1e-9


def test_a_given_number_is_the_only_candidate():
    model = knoll.KMeans(3, bounds=(-5, 5), random_state=0).fit(np.random.default_rng(0).normal(size=(2000, 2)))
    assert model.n_clusters_candidates_.tolist() == [[3.0, 1.0]]


def test_groups_of_groups_are_a_coarser_level():
    near = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0], [6.0, 6.0]])
    assert coarser_level(np.vstack([near, near + 60.0])) == 2
    assert coarser_level(near) == 0
    choice = Choice.of(8, np.array([8, 8, 8, 7])).with_coarser(2)
    assert 2.0 in choice.candidates[:, 0]
    assert choice.candidates[:, 1].sum() <= 1


@pytest.mark.parametrize("estimator", [knoll.MorseClustering, knoll.ModeClustering])
def test_groups_of_groups_show_in_the_plane(estimator):
    near = np.array([[0.0, 0.0], [8.0, 0.0], [0.0, 8.0], [8.0, 8.0]])
    X = clusters(np.vstack([near, near + 40.0]), 1000)
    model = estimator(None, epsilon=4.0, bounds=(-8, 56), random_state=0).fit(X)
    assert {8.0, 2.0} <= set(model.n_clusters_candidates_[:, 0])


def test_a_number_is_no_surer_than_its_clusters_are_seen():
    known = Choice.of(6, np.array([6, 6, 6, 5])).attributes()
    assert as_far_as_seen(known, np.ones(6, dtype=bool))["n_clusters_confidence_"] == 0.75
    none = as_far_as_seen(known, np.zeros(6, dtype=bool))
    assert none["n_clusters_confidence_"] == 0
    assert none["n_clusters_candidates_"].tolist() == [[6, 0], [5, 0.25]]
    assert as_far_as_seen({"other": 1}, np.zeros(6, dtype=bool)) == {"other": 1}


def test_runners_up_are_doubted_as_the_choice_is():
    choice = Choice.of(11, np.array([11, 11, 10, 10]), 0.5)
    assert choice.candidates.tolist() == [[11, 0.25], [10, 0.25]]
