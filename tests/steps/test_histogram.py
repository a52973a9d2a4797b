"""Mixtures of one released histogram."""

import numpy as np
import pytest

from knoll.steps.histogram import Histogram, fit_histogram


def test_a_histogram_of_noise_alone_is_survived():
    rng = np.random.RandomState(0)
    histogram = Histogram(np.linspace(0, 1, 31), 50 * rng.standard_normal(30), 50.0)
    fits, _ = fit_histogram(histogram, 4, rng, 1e-6)
    assert np.isfinite(fits.means).all()
    assert fits.weights.sum() == pytest.approx(1.0)
    assert (fits.variances >= 1e-6).all()
