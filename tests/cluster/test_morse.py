"""MorseClustering's own promises."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs, make_circles, make_moons
from sklearn.metrics import adjusted_rand_score

import knoll
from knoll.mixture import Mixture
from knoll.morse import landscape
from knoll.privacy import MemoryLedger, PrivacyError
from knoll.testing import seeded_noise, zero_noise


@pytest.mark.parametrize("n_subclusters", [6, 12, 20])
def test_a_diffuse_class_is_found_with_any_number_of_subclusters(n_subclusters):
    rng = np.random.default_rng(0)
    y = (rng.random(12_000) < 0.35).astype(int)
    X = rng.normal(size=(12_000, 5)) * np.where(y, 2.5, 1.0)[:, None] + np.where(y, 3.0, 0.0)[:, None] * np.eye(5)[0]
    with seeded_noise(1):
        model = knoll.MorseClustering(
            2, base=knoll.KMeans(), n_subclusters=n_subclusters, epsilon=5.0, bounds=(-12, 12), random_state=0
        ).fit(X)
    assert adjusted_rand_score(y, model.predict(X)) > 0.7
    assert model.merge_confidence_.shape == model.merge_heights_.shape
    assert ((model.merge_confidence_ >= 0) & (model.merge_confidence_ <= 1)).all()


def test_two_cells_of_one_hill_have_no_valley_between():
    X = np.random.default_rng(0).normal(size=(20_000, 3)) * [1.0, 0.5, 0.5]
    shared = {"epsilon": 5.0, "bounds": (-4, 4), "random_state": 0}
    with zero_noise():
        model = knoll.MorseClustering(1, base=knoll.Lloyd(), n_subclusters=2, **shared).fit(X)
        lloyd = knoll.Lloyd(2, **shared).fit(X)
        cells = landscape(lloyd.to_mixture(X))
    assert cells.tree.persistence.max() > 0.1
    assert model.merge_persistence_.max() < 0.02


def test_flow_and_component_agree_where_hills_are_clear():
    mixture = Mixture([0.5, 0.5], [[-3.0, 0.0], [3.0, 0.0]], [np.eye(2)] * 2)
    found = landscape(mixture)
    points = mixture.sample(300, random_state=0)
    assert (found.leaf[found.flow(points)] == mixture.predict(points)).mean() > 0.99


SHAPES = {
    "moons": (make_moons(5000, noise=0.06, random_state=0), ([-1.5, -1.0], [2.5, 1.5])),
    "rings": (make_circles(5000, noise=0.05, factor=0.5, random_state=0), (-1.3, 1.3)),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("assign", ["component", "flow"])
def test_bent_shapes_are_found_without_being_told_their_number(shape, assign):
    (X, y), bounds = SHAPES[shape]
    with seeded_noise(1):
        model = knoll.MorseClustering(epsilon=2.0, bounds=bounds, assign=assign, random_state=0).fit(X)
    assert model.n_clusters_ == 2
    assert adjusted_rand_score(y, model.predict(X)) > 0.9
    assert adjusted_rand_score(y, knoll.KMeans(2, epsilon=2.0, bounds=bounds).fit(X).predict(X)) < 0.6


def test_one_cloud_is_one_cluster():
    X = np.random.default_rng(0).normal(size=(5000, 2))
    with seeded_noise(1):
        model = knoll.MorseClustering(epsilon=2.0, bounds=(-5, 5), random_state=0).fit(X)
    assert model.n_clusters_ == 1


BASES = [
    knoll.KMeans(), knoll.Lloyd(restart=True), knoll.PEMeans(), knoll.Cubes(), knoll.LSHTree(), knoll.FastLloyd(),
    knoll.HardEMGaussianMixture(), knoll.GaussianMixture(), knoll.EMGaussianMixture(),
]  # fmt: skip


@pytest.mark.parametrize("base", BASES, ids=lambda base: type(base).__name__)
def test_every_base_works_within_one_budget(base):
    X, y = make_blobs(6000, 3, centers=[[-3, 0, 0], [3, 0, 0], [0, 5, 0]], random_state=0)
    ledger = MemoryLedger("blobs")
    model = knoll.MorseClustering(
        3, base=base, n_subclusters=6, epsilon=4.0, bounds=(-10, 10), ledger=ledger, random_state=0
    ).fit(X)
    assert len(ledger.lines) == len(model.privacy_.releases)
    assert model.privacy_.spent_epsilon <= 4.0
    assert sum(entry.share for entry in model.privacy_.releases) == pytest.approx(1.0)
    assert not hasattr(base, "privacy_")
    assert adjusted_rand_score(y, model.predict(X)) > 0.5


def test_the_landscape_costs_nothing():
    """All releases are the base's and the moments': what the same base and moments release by themselves."""
    X, _ = make_blobs(2000, 3, centers=3, random_state=0)
    ledger = MemoryLedger("blobs")
    model = knoll.MorseClustering(3, base=knoll.Lloyd(n_steps=2), bounds=(-15, 15), ledger=ledger, random_state=0).fit(
        X
    )
    names = [entry.query for entry in model.privacy_.releases]
    assert (
        names
        == ["cell counts and sums"] * 2 + ["count, mean and variance of cells"] * 3 + ["soft component moments"] * 4
    )
    before = len(ledger.lines)
    model.predict(X)
    landscape(model.mixture_).tree.cut(2)
    assert len(ledger.lines) == before


@pytest.mark.parametrize(
    "bad",
    [{"base": "kmeans"}, {"base": knoll.MorseClustering()}, {"cut": "depth"}, {"assign": "peak"}, {"n_subclusters": 0},
     {"n_subclusters": 2, "n_clusters": 3}, {"base": knoll.Lloyd(n_steps=0)},
     {"base": knoll.LocalGaussianMixture(2)}, {"base": knoll.GaussianMixture(2, covariance_floor=0)}],
)  # fmt: skip
def test_bad_parameters_cost_nothing(bad):
    ledger = MemoryLedger("d")
    with pytest.raises(PrivacyError):
        knoll.MorseClustering(bounds=(0, 1), ledger=ledger).set_params(**bad).fit(np.zeros((20, 3)))
    assert not ledger.lines


@pytest.mark.parametrize("n_clusters", [1, 3])
def test_saved_and_loaded(tmp_path, n_clusters):
    X, _ = make_blobs(3000, 3, centers=3, random_state=0)
    model = knoll.MorseClustering(
        n_clusters, base=knoll.Lloyd(), n_subclusters=4, bounds=(-15, 15), random_state=0
    ).fit(X)
    knoll.save(model, tmp_path / "model.json")
    again = knoll.load(tmp_path / "model.json")
    for assign in ("component", "flow"):
        np.testing.assert_array_equal(
            again.set_params(assign=assign).predict(X), model.set_params(assign=assign).predict(X)
        )
    assert again.mixture_ == model.mixture_
    assert again.saddle_ends_.shape == model.saddle_ends_.shape
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


def test_chosen_pieces_start_the_density_without_another_release_of_their_shapes():
    X, y = make_blobs(6000, 4, centers=5, center_box=(-10, 10), random_state=0)
    model = knoll.MorseClustering(bounds=(-15, 15), random_state=0).fit(X)
    asked = [release.query for release in model.privacy_.releases]
    assert model.n_clusters_ == 5
    assert adjusted_rand_score(y, model.predict(X)) > 0.95
    assert not any("of cells" in query for query in asked)
    assert sum("soft component moments" in query for query in asked) == 4


def test_many_clusters_along_a_line_are_counted():
    X = np.repeat(6.0 * np.arange(20), 400)[:, None] + np.random.default_rng(0).normal(size=(8000, 1))
    model = knoll.MorseClustering(bounds=(-10, 124), random_state=0).fit(X)
    assert abs(model.n_clusters_ - 20) <= 1
