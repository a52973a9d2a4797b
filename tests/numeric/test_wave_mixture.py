"""Gaussians from waves: width, places and slopes."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from knoll.numeric.distances import squared_distances
from knoll.numeric.wave_mixture import Waves, _Search, explain, squared_width
from knoll.steps.waves import drawn_frequencies

WALLS = np.full(4, -20.0), np.full(4, 20.0)


def seen_of(rng, at, width, noise):
    """Waves of equal Gaussians about their mean, with noise."""
    spread = at.var(axis=0) + width
    frequencies = drawn_frequencies(spread, np.random.RandomState(1))
    fall = np.exp(-width * np.square(frequencies).sum(axis=1) / 2)
    cos, sin = ((fall * f(at @ frequencies.T)).mean(axis=0) for f in (np.cos, np.sin))
    cos, sin = (part + noise * rng.normal(size=len(fall)) for part in (cos, sin))
    return Waves(frequencies, cos, sin, np.full(len(fall), noise), spread)


def centres(rng, k=6, d=4):
    at = rng.uniform(-10, 10, (k, d))
    return at - at.mean(axis=0)


def test_the_width_is_told_by_the_power_of_waves(rng):
    for width in (0.5, 4.0):
        found = squared_width(seen_of(rng, centres(rng), width, 0.02), 6)
        assert 0.4 * width < found < 2.5 * width


def test_clusters_are_found_in_waves_with_noise(rng):
    at = centres(rng)
    found = explain(seen_of(rng, at, 1.0, 0.05), 6, WALLS, np.random.RandomState(0))
    assert np.sqrt(squared_distances(at, found.at).min(axis=1)).max() < 1.5
    assert found.part == pytest.approx(np.full(6, 1 / 6), abs=0.08)


def test_the_slopes_of_the_misfit_are_right(rng):
    at = centres(rng, 3)
    search = _Search(seen_of(rng, at, 1.0, 0.1), 3, WALLS, np.full(4, 1.0))
    trust = rng.uniform(10, 100, 800)
    x = np.concatenate([rng.normal(size=12), np.log([0.2, 0.5, 0.3]), [0.1]])
    slopes = approx_fprime(x, lambda y: search._misfit(y, 2.0, trust)[0], 1e-6)
    assert search._misfit(x, 2.0, trust)[1] == pytest.approx(slopes, rel=1e-3, abs=1e-2)


def test_most_of_many_clusters_are_found_with_some_spares(rng):
    at = centres(rng, 24)
    found = explain(seen_of(rng, at, 0.5, 0.01), 28, WALLS, np.random.RandomState(0))
    assert np.mean(squared_distances(at, found.at).min(axis=1) < 2.0) > 0.8


def test_what_gaussians_explain_is_what_is_seen_of_them(rng):
    at = centres(rng)
    seen = seen_of(rng, at, 1.0, 1e-9)
    cos, sin = seen.of(at, np.exp(-seen.square / 2))
    assert np.abs(cos.mean(axis=0) - seen.cosines).max() < 1e-6
    assert np.abs(sin.mean(axis=0) - seen.sines).max() < 1e-6
