"""Mixtures of one released histogram."""

import numpy as np
import pytest

from knoll.steps.histogram import Histogram, clear_hills, fit_histogram


def test_a_histogram_of_noise_alone_is_survived():
    rng = np.random.RandomState(0)
    histogram = Histogram(np.linspace(0, 1, 31), 50 * rng.standard_normal(30), 50.0)
    fits, _ = fit_histogram(histogram, 4, rng, 1e-6)
    assert np.isfinite(fits.means).all()
    assert fits.weights.sum() == pytest.approx(1.0)
    assert (fits.variances >= 1e-6).all()


def of_normals(middles, each, bins=240, stderr=2.0, seed=0):
    rng = np.random.default_rng(seed)
    edges = np.linspace(min(middles) - 6, max(middles) + 6, bins + 1)
    records = np.repeat(middles, each) + rng.normal(size=len(middles) * each)
    counts = np.histogram(records, edges)[0] + stderr * rng.normal(size=bins)
    return Histogram(edges, counts, stderr)


def test_more_than_nine_components_are_counted():
    fits, choice = fit_histogram(of_normals(6.0 * np.arange(14), 400), None, np.random.RandomState(0), 1e-6)
    assert choice.k == len(fits.means) == 14
    assert choice.confidence > 0.9
    np.testing.assert_allclose(fits.means, 6.0 * np.arange(14), atol=0.3)


def test_components_without_hills_of_their_own_are_in_doubt():
    rng = np.random.default_rng(0)
    edges = np.linspace(-15, 15, 121)
    counts = np.histogram(np.clip(rng.standard_t(3, 20_000), -15, 15), edges)[0] + 2.0 * rng.normal(size=120)
    _, choice = fit_histogram(Histogram(edges, counts, 2.0), None, np.random.RandomState(0), 1e-6)
    assert choice.k == 1 or choice.confidence < 0.5
    assert 1.0 in choice.candidates[:, 0]


def test_hills_end_at_passes_that_both_sides_rise_above():
    height = np.array([0.0, 9, 1, 8, 7.5, 8.5, 0, 9, 0])
    assert clear_hills(height, np.full(9, 0.1)).tolist() == [2, 6]
    assert clear_hills(height, np.full(9, 50.0)).tolist() == []
    assert clear_hills(np.zeros(9), np.ones(9)).tolist() == []
