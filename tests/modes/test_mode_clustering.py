"""Clusters by modes, in few and many columns."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

import knoll
from knoll.modes.mode_clustering import choice_of_modes
from knoll.series.survey import ModeSurvey, lowered_threshold


def test_clusters_of_few_and_many_columns():
    X, y = make_blobs(6000, 2, centers=[[-6, 0], [6, 0], [0, 8]], random_state=0)
    for labels in ("basin", "nearest"):
        model = knoll.ModeClustering(epsilon=2.0, bounds=(-12, 14), labels=labels, random_state=0)
        assert adjusted_rand_score(y, model.fit_predict(X)) > 0.95
        assert model.n_clusters_ == 3
        assert model.cluster_sizes_ == pytest.approx([2000] * 3, rel=0.15)
    X, y = make_blobs(20_000, 8, centers=5, random_state=1)
    model = knoll.ModeClustering(5, epsilon=4.0, bounds=(-15, 15), random_state=0)
    assert adjusted_rand_score(y, model.fit_predict(X)) > 0.9
    assert len(model.local_modes_) >= 5


@pytest.mark.parametrize(("n", "share"), [(100, 0.3), (20_000, 0.12)])
def test_where_clusters_are_faint_the_axes_get_more(n, share):
    X = np.random.default_rng(0).uniform(-1, 1, size=(n, 16))
    model = knoll.ModeClustering(4, epsilon=0.5, bounds=(-1, 1), random_state=0).fit(X)
    spent = {release.query: release.share for release in model.privacy_.releases}
    assert spent["scatter matrix"] == pytest.approx(0.98 * share)


def test_many_clusters_in_three_columns_are_counted_by_pieces():
    grid = np.stack(np.meshgrid(*[np.arange(3) * 6.0 - 6.0] * 3), axis=-1).reshape(-1, 3)
    X = np.repeat(grid, 400, axis=0) + np.random.default_rng(0).normal(size=(27 * 400, 3))
    model = knoll.ModeClustering(bounds=(-12, 12), random_state=0).fit(X)
    assert abs(model.n_clusters_ - 27) <= 1
    given = knoll.ModeClustering(bandwidth=2.0, bounds=(-12, 12), random_state=0).fit(X)
    assert not any("pieces" in release.query for release in given.privacy_.releases)


def test_with_many_modes_some_may_be_noise():
    sides, clear, faint = np.full(2, 40.0), np.full(60, 20.0), np.full(5, 3.9)
    strict = lowered_threshold(np.append(clear, faint), 0.1, 0.0, sides)
    assert strict > 3.9 > lowered_threshold(np.append(clear, faint), 0.1, 0.02, sides)
    assert lowered_threshold(np.append(clear[:3], faint), 0.1, 0.02, sides) == strict


def test_modes_that_a_finer_bandwidth_still_adds_are_in_doubt():
    def view(significance):
        return ModeSurvey(None, None, np.array(significance, dtype=float), 4.0, None, None)

    coarse, settled, fine = view([20.0] * 4), view([20.0] * 10), view([20.0] * 10)
    rng = np.random.RandomState(0)
    assert choice_of_modes(fine, [coarse, fine], 10, rng).confidence < 0.5
    assert choice_of_modes(fine, [settled, fine], 10, rng).confidence > 0.9
    assert choice_of_modes(settled, [settled, coarse], 10, rng).confidence > 0.9
