"""Noisy covariances of several components become likely ones, nearer to the truth and positive definite."""

import numpy as np
import pytest
from scipy.stats import truncnorm

from knoll.numeric.shrink import Measured, above_zero, likely_correlations, likely_variances, not_narrower

K, D, NOISE = 6, 8, 0.3


def wigner(rng, k=K, d=D):
    """Noise of variance one on the diagonal and one half beside it."""
    half = rng.standard_normal((k, d, d)) / 2
    return half + half.transpose(0, 2, 1)


def found(truth, seed, noise=NOISE):
    rng = np.random.RandomState(seed)
    before = np.broadcast_to(np.eye(D), truth.shape)
    noises = np.full(K, noise**2)
    return Measured(truth + noise * wigner(rng), before, noises, np.full(K, 500.0), np.full(K, True))


def likely(measured, shared=True):
    variances = likely_variances(measured, 0.1)
    shapes, shrinkage = likely_correlations(measured, variances, shared=shared)
    return shapes * np.sqrt(variances[:, :, None] * variances[:, None, :]), shrinkage


def alike(seed):
    root = np.random.RandomState(seed).standard_normal((D, D)) / D**0.5
    covariance = root @ root.T + 0.3 * np.eye(D)
    return np.tile(covariance / np.sqrt(np.multiply.outer(np.diag(covariance), np.diag(covariance))), (K, 1, 1))


def error(covariances, truth):
    return float(np.square(covariances - truth).sum())


@pytest.mark.parametrize("seed", range(5))
def test_uncorrelated_columns_lose_nearly_all_of_the_noise(seed):
    truth = np.tile(np.eye(D), (K, 1, 1))
    measured = found(truth, seed)
    drawn, shrinkage = likely(measured)
    assert error(drawn, truth) < 0.35 * error(measured.covariances, truth)
    assert shrinkage.mean() > 0.6


@pytest.mark.parametrize("seed", range(5))
def test_components_that_are_alike_learn_from_each_other(seed):
    truth = alike(seed)
    measured = found(truth, seed)
    together, alone = likely(measured)[0], likely(measured, shared=False)[0]
    assert error(together, truth) < 0.7 * error(alone, truth)
    assert error(together, truth) < 0.5 * error(measured.covariances, truth)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("noise", [0.01, 0.3, 3.0])
def test_whatever_the_noise_covariances_are_positive_definite(seed, noise):
    drawn, shrinkage = likely(found(alike(seed), seed, noise))
    assert np.linalg.eigvalsh(drawn).min() > 0
    assert (shrinkage >= 0).all()
    assert (shrinkage <= 1).all()


def test_without_noise_nothing_changes():
    truth = alike(0) * np.linspace(0.5, 2.0, K)[:, None, None]
    drawn, shrinkage = likely(found(truth, 0, 0.0))
    assert drawn == pytest.approx(truth, abs=1e-6)
    assert shrinkage.max() < 1e-6


def test_what_was_never_measured_has_no_correlations():
    measured = found(alike(1), 1)
    some = Measured(measured.covariances, measured.before, measured.noise, measured.sizes, np.arange(K) > 0)
    drawn, shrinkage = likely(some)
    assert shrinkage[0] == 1
    assert not (drawn[0] * (1 - np.eye(D))).any()
    assert (drawn[1] * (1 - np.eye(D))).any()


def test_means_above_zero_are_those_of_cut_bell_curves():
    middle, error = np.array([-4.0, -1.0, 0.0, 0.5, 3.0]), np.array([1.0, 2.0, 0.5, 1.0, 0.2])
    expected = truncnorm(-middle / error, np.inf, loc=middle, scale=error).mean()
    assert above_zero(middle, error) == pytest.approx(expected, rel=1e-6)
    assert above_zero(np.array([-50.0]), np.array([1.0]))[0] > 0


def test_no_direction_becomes_far_narrower_at_once():
    before = np.tile(np.diag([4.0, 1.0]), (2, 1, 1))
    new = np.stack([np.diag([0.1, 1.0]), np.diag([3.0, 0.5])])
    held = not_narrower(new, before, 0.1)
    assert held[0] == pytest.approx(np.diag([0.4, 1.0]))
    assert (held[1] == new[1]).all()
