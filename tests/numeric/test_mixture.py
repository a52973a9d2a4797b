"""The mixture object: agrees with scipy, with finite differences, and with itself after a round trip."""

import json

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from knoll.mixture import Mixture
from knoll.numeric.mixture import onto_simplex
from knoll.privacy import DataError


def mixture(k=4, d=3, seed=0):
    rng = np.random.default_rng(seed)
    roots = rng.normal(size=(k, d, d))
    return Mixture(rng.dirichlet(np.ones(k)), rng.normal(size=(k, d)), roots @ roots.transpose(0, 2, 1) + np.eye(d) / 2)


@pytest.mark.parametrize("d", [1, 3, 8])
def test_density_is_scipys(d):
    m = mixture(d=d)
    X = np.random.default_rng(1).normal(size=(50, d))
    parts = zip(m.weights, m.means, m.covariances, strict=True)
    assert m.density(X) == pytest.approx(sum(w * multivariate_normal(mu, c).pdf(X) for w, mu, c in parts))
    assert m.predict_proba(X).sum(axis=1) == pytest.approx(1.0)
    assert np.array_equal(m.predict_proba(X).argmax(axis=1), m.predict(X))


@pytest.mark.parametrize("d", [1, 3, 8])
def test_derivatives_are_those_of_the_log_density(d):
    m = mixture(d=d)
    X = np.random.default_rng(2).normal(size=(20, d))
    step = 1e-5
    for j in range(d):
        e = step * np.eye(d)[j]
        assert m.gradient(X)[:, j] == pytest.approx(
            (m.log_density(X + e) - m.log_density(X - e)) / (2 * step), abs=1e-6
        )
        assert m.hessian(X)[:, j] == pytest.approx((m.gradient(X + e) - m.gradient(X - e)) / (2 * step), abs=1e-5)


def test_far_points_have_finite_derivatives():
    m = mixture()
    X = np.full((1, 3), 1e4)
    assert np.isfinite(m.gradient(X)).all()
    assert np.isfinite(m.hessian(X)).all()
    assert np.isfinite(m.log_density(X)).all()


def test_blocks_do_not_matter(monkeypatch):
    m = mixture()
    X = np.random.default_rng(3).normal(size=(100, 3))
    whole = m.hessian(X)
    monkeypatch.setattr("knoll.numeric.mixture._ENTRIES", 50)
    assert m.hessian(X) == pytest.approx(whole)
    assert m.log_density(np.empty((0, 3))).shape == (0,)


def test_samples_have_its_moments():
    m = mixture()
    X = m.sample(200_000, random_state=0)
    mean = m.weights @ m.means
    away = m.means - mean
    covariance = np.tensordot(m.weights, m.covariances + away[:, :, None] * away[:, None, :], axes=1)
    assert X.mean(axis=0) == pytest.approx(mean, abs=0.03)
    assert np.cov(X.T) == pytest.approx(covariance, abs=0.1)


def test_round_trip_and_immutability():
    m = mixture()
    copy = Mixture.from_dict(json.loads(json.dumps(m.to_dict())))
    assert copy == m
    assert hash(copy) == hash(m)
    with pytest.raises(ValueError, match="read-only"):
        m.weights[0] = 1.0


def test_nearest_survives_any_noise():
    rng = np.random.default_rng(4)
    for _ in range(100):
        noise = rng.normal(size=(5, 4, 4)) * 10.0 ** rng.integers(-8, 8)
        m = Mixture.nearest(rng.normal(size=5), rng.normal(size=(5, 4)), noise, np.array([1e-6, 1.0, 2.0, 100.0]))
        assert m.weights.sum() == pytest.approx(1.0)
        assert np.isfinite(m.log_density(m.means)).all()


def test_nearest_leaves_good_parameters_alone():
    m = mixture()
    again = Mixture.nearest(m.weights, m.means, m.covariances, 1e-3)
    assert again.weights == pytest.approx(m.weights)
    assert again.covariances == pytest.approx(m.covariances)


def test_simplex():
    assert onto_simplex([0.2, 0.3, 0.5]) == pytest.approx([0.2, 0.3, 0.5])
    assert onto_simplex([-5.0, -6.0]) == pytest.approx([1.0, 0.0])
    assert onto_simplex([100.0]) == pytest.approx([1.0])


@pytest.mark.parametrize(
    "bad",
    [
        ([0.5, 0.6], [[0.0], [1.0]], [[[1.0]], [[1.0]]]),
        ([-0.5, 1.5], [[0.0], [1.0]], [[[1.0]], [[1.0]]]),
        ([0.5, 0.5], [[0.0], [1.0]], [[[1.0]], [[-1.0]]]),
        ([0.5, 0.5], [[0.0], [np.nan]], [[[1.0]], [[1.0]]]),
        ([1.0], [[0.0], [1.0]], [[[1.0]], [[1.0]]]),
        ([1.0], [[0.0, 1.0]], [[[1.0, 0.9], [0.1, 1.0]]]),
        ([], np.empty((0, 1)), np.empty((0, 1, 1))),
        ([1.0], [0.0], [1.0]),
    ],
)
def test_bad_parameters_are_refused(bad):
    with pytest.raises(DataError):
        Mixture(*bad)


def test_bad_dictionaries_and_points_are_refused():
    for bad in ({}, {"weights": "x", "means": 1, "covariances": None}):
        with pytest.raises(DataError, match="not a mixture"):
            Mixture.from_dict(bad)
    with pytest.raises(DataError, match="shape"):
        mixture().density(np.zeros((3, 2)))
