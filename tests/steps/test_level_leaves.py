"""A start over numbers and levels, fitted to leaves."""

import numpy as np
import pytest

from knoll.numeric.levels import MixedMixture
from knoll.queries import Corners, Line, Product
from knoll.steps.level_leaves import MOST_LEVELS, fit_levels
from knoll.steps.moments import Form
from knoll.steps.tree import Leaves

LEVELS = Product.of([Line(0.0, 10.0), Corners(3), Corners(2), Corners(2)])
TWO = np.array([[2.0, 1, 0, 0, 1, 0, 1, 0], [8.0, 0, 1, 0, 0, 1, 1, 0]])


def leaves_of(means, counts):
    """Return leaves without noise, all their records at their mean."""
    means, ones = np.array(means, dtype=float), np.ones(len(means))
    wide = np.ones(means.shape)
    return Leaves(np.arange(len(means)), np.array(counts, dtype=float), ones, means, 0.01 * wide, 0 * wide, wide)


def across(domain):
    """Return what a unit along each coordinate is in the numbers."""
    return np.eye(domain.n_columns)[:, domain.number_places]


def begun(domain, means, variance=4.0):
    k, q = len(means), len(domain.number_places)
    return MixedMixture(np.full(k, 1 / k), means, np.tile(variance * np.eye(q), (k, 1, 1)), domain)


def form_of(domain):
    return Form.of("full", 0.001, domain, domain.scales)


def test_a_component_of_several_levels_is_one_and_a_small_one_is_told_apart():
    domain, parts = Product.of([Corners(2)] * 5), np.eye(2)
    large = [np.concatenate([parts[i], parts[j], *[parts[0]] * 3]) for i in range(2) for j in range(2)]
    small = [np.concatenate([parts[i], parts[j], *[parts[1]] * 3]) for i in range(2) for j in range(2)]
    halves = np.array([[0.8, 0.2, 0.5, 0.5, *[0.96, 0.04] * 3], [0.2, 0.8, 0.5, 0.5, *[0.92, 0.08] * 3]])
    leaves = leaves_of(large + small, [1000] * 4 + [80] * 4)
    found = fit_levels(leaves, across(domain), begun(domain, halves), form_of(domain))
    rare = int(found.weights.argmin())
    assert found.weights[rare] == pytest.approx(320 / 4320, abs=0.02)
    assert np.all(found.means[rare, 5::2] > 0.9)
    assert np.allclose(found.means[1 - rare, :4], 0.5, atol=0.03)


def test_numbers_keep_their_means_and_the_spread_inside_leaves():
    rng = np.random.default_rng(0)
    means = np.repeat(TWO, 50, axis=0)
    means[:, 0] += rng.normal(0, 0.5, 100)
    found = fit_levels(leaves_of(means, np.full(100, 50.0)), across(LEVELS), begun(LEVELS, TWO), form_of(LEVELS))
    for half, mean, covariance in zip(np.split(means[:, 0], 2), found.means, found.covariances, strict=True):
        assert mean[0] == pytest.approx(half.mean(), abs=0.02)
        assert covariance[0, 0] == pytest.approx(half.var() + 0.01, rel=0.1)


def test_leaves_that_are_noise_have_no_say():
    noise = leaves_of([*TWO, [0.0, 0, 0, 1, 0, 1, 0, 1]], [500, 500, 0.5])
    without = leaves_of(TWO, [500, 500])
    first = begun(LEVELS, TWO + 0.0)
    one, other = (fit_levels(each, across(LEVELS), first, form_of(LEVELS)) for each in (noise, without))
    assert np.allclose(one.means, other.means)
    assert np.allclose(one.weights, other.weights)


def test_very_many_levels_are_left_as_they_were():
    domain = Product.of([Line(0.0, 1.0), Corners(MOST_LEVELS + 1)])
    means = np.full((2, domain.n_columns), 1 / (MOST_LEVELS + 1))
    first = begun(domain, means)
    assert fit_levels(leaves_of(means, [5, 5]), across(domain), first, form_of(domain)) is first
