"""Clusters by modes, in few and many columns."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

import knoll


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
