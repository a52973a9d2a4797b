"""Local mixtures: what reports alone can tell."""

import numpy as np
import pandas as pd
import pytest

import knoll
from tests.made import three


@pytest.mark.parametrize("mechanism", ["auto", "response", "unary", "noise"])
def test_two_groups_of_one_column_are_told_apart(mechanism):
    rng = np.random.RandomState(0)
    X = np.concatenate([rng.normal(30, 4, 4000), rng.normal(70, 5, 6000)])[:, None]
    epsilon = 60.0 if mechanism == "noise" else 3.0
    model = knoll.LocalGaussianMixture(2, epsilon=epsilon, bounds=(0, 100), mechanism=mechanism, random_state=0).fit(X)
    order = np.argsort(model.means_[:, 0])
    rough = 2 if mechanism == "noise" else 1
    assert model.means_[order, 0] == pytest.approx([30, 70], abs=3 * rough)
    assert model.weights_[order] == pytest.approx([0.4, 0.6], abs=0.08 * rough)
    assert model.privacy_.spent_epsilon <= epsilon


def test_the_simulation_of_the_paper():
    errors = []
    for seed in range(4):
        X = three(1000, seed)
        model = knoll.LocalGaussianMixture(3, epsilon=3.0, bounds=(0, 70), random_state=seed).fit(X)
        errors.append(model.means_[np.argsort(model.means_[:, 0]), 0] - [17, 30, 50])
    assert np.sqrt(np.square(errors).mean(axis=0)).mean() < 3.3  # the authors' figure


def test_waves_on_two_columns():
    rng = np.random.RandomState(0)
    X = np.vstack([rng.normal([3, 3], [1, 0.5], (5000, 2)), rng.normal([-3, -2], 1, (5000, 2))])
    frame = pd.DataFrame(X, columns=["a", "b"])
    bounds = {"b": (-7, 7), "a": (-8, 8)}  # matched by name, whatever their order
    model = knoll.LocalGaussianMixture(2, epsilon=4.0, bounds=bounds, random_state=0).fit(frame)
    assert model.bounds_.upper == (8.0, 7.0)
    order = np.argsort(model.means_[:, 0])
    assert model.means_[order].ravel() == pytest.approx([-3, -2, 3, 3], abs=0.4)
    assert model.feature_names_in_.tolist() == ["a", "b"]


def test_noise_is_deconvolved_with_its_correlation():
    rng = np.random.RandomState(0)
    X = rng.multivariate_normal([1, -1], [[2.0, 1.2], [1.2, 1.0]], 40_000)
    model = knoll.LocalGaussianMixture(1, epsilon=10.0, bounds=(-8, 8), mechanism="noise", random_state=0)
    model.fit(X)
    assert model.means_[0] == pytest.approx([1, -1], abs=4 * model.means_stderr_.max())
    found = model.covariances_[0].ravel()
    assert found == pytest.approx([2.0, 1.2, 1.2, 1.0], abs=4 * model.covariances_stderr_.max())
    assert model.covariances_[0, 0, 0] < 5  # the noise alone has variance above 40


def test_the_number_of_components_is_chosen_from_reports():
    rng = np.random.RandomState(1)
    X = np.concatenate([rng.normal(25, 4, 3000), rng.normal(75, 4, 3000)])[:, None]
    assert knoll.LocalGaussianMixture(None, epsilon=4.0, bounds=(0, 100), random_state=0).fit(X).n_components_ == 2


def test_stderr_is_of_the_size_of_the_error():
    errors, told = [], []
    for seed in range(10):
        X = np.random.RandomState(seed).normal(40, 6, 2000)[:, None]
        model = knoll.LocalGaussianMixture(1, epsilon=2.0, bounds=(0, 100), random_state=0).fit(X)
        errors.append(model.means_[0, 0] - 40)
        told.append(model.means_stderr_[0, 0])
    assert 0.3 < np.sqrt(np.square(errors).mean()) / np.median(told) < 3


def test_models_survive_json(tmp_path):
    model = knoll.LocalGaussianMixture(2, epsilon=3.0, bounds=(0, 70), random_state=0).fit(three(500))
    knoll.save(model, tmp_path / "m.json")
    copy = knoll.load(tmp_path / "m.json")
    assert copy.to_mixture() == model.to_mixture()
    assert copy.privacy_ == model.privacy_
    assert copy.predict(three(10)).shape == (10,)
