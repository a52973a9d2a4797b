"""The parts of bought bounds, each by itself: bins, what stands out, where tails end."""

import numpy as np
import pytest

from knoll.bounds.grids import around, closed, magnitudes, rarity
from knoll.bounds.seen import seen, segments, spread
from knoll.bounds.tails import upper_end
from knoll.privacy.laws import GAUSSIAN, LAPLACE


def test_bins_of_every_magnitude_increase_and_reach_the_largest_bounds():
    edges = magnitudes(2)
    assert (np.diff(edges) > 0).all()
    assert edges.max() < 1e30 < 16 * edges.max()
    assert rarity().shape == (edges.shape[1] + 1,)


@pytest.mark.parametrize(("low", "high"), [(0.0, 0.0), (1e6, 1e6), (-1e-25, 1e-25), (-1e29, 1e29), (42.0, 43.0)])
@pytest.mark.parametrize("far", [0, 10])
def test_bins_around_any_range_increase(low, high, far):
    edges = closed(around(np.array([low]), np.array([high]), bins=64, near=3, far=far))
    assert np.isfinite(edges).all()
    assert (np.diff(edges) > 0).all()
    assert edges.shape == (1, 64 + 1 + 2 * (3 + far) + 2)


@pytest.mark.parametrize("law", [GAUSSIAN, LAPLACE])
def test_noise_alone_rarely_stands_out(law, rng):
    draw = rng.normal if law is GAUSSIAN else lambda size: rng.laplace(size=size) / np.sqrt(2)
    first, zoom = segments(1, 200, 0, 16), segments(1, 90, 14, 1)
    assert sum(seen(draw(size=200), 1.0, law, first).clear for _ in range(500)) <= 2
    assert sum(seen(draw(size=90), 1.0, law, zoom).clear for _ in range(200)) <= 60  # among equal bins, cheap


def test_what_is_spread_over_many_bins_is_seen_in_runs(rng):
    counts = rng.normal(size=80)
    counts[30:62] += 2.0
    found = seen(counts, 1.0, GAUSSIAN, segments(1, 80, 8, 4))
    assert found.clear
    assert 24 <= found.first <= 38
    assert 54 <= found.last <= 66


def test_if_nothing_stands_out_likelier_magnitudes_win():
    counts = np.zeros(9)
    counts[[1, 4]] = 2.0, 1.9
    found = seen(counts, 1.0, GAUSSIAN, segments(1, 9, 0, 1), rare=np.abs(np.arange(9) - 4.0))
    assert not found.clear
    assert (found.first, found.last) == (4, 4)


def test_a_narrow_column_does_not_fill_its_bins():
    parts = segments(1, 64, 8, 1)
    narrow, wide = np.zeros(64), np.zeros(64)
    narrow[[20, 21, 40]] = 600.0, 300.0, 50.0
    wide[20:40] = 50.0
    assert not spread(seen(narrow, 1.0, GAUSSIAN, parts), narrow)
    assert spread(seen(wide, 1.0, GAUSSIAN, parts), wide)


@pytest.mark.parametrize(
    ("quantile", "most"),
    [
        (lambda u: u, 1.4),  # uniform
        (lambda u: -np.log(1 - u), 2.0),  # exponential
        (lambda u: (1 - u) ** (-1 / 1.5), 8.0),  # Pareto
    ],
)
def test_a_tail_is_continued_by_its_shape(quantile, most):
    n, edges = 10_000, np.linspace(0, 2 * quantile(0.98), 61)
    values = quantile((np.arange(n) + 0.5) / n)
    counts = np.histogram(values, edges)[0].astype(float)
    end = upper_end(counts, edges, 29, 0, 20.0, n)
    assert end.told
    assert (values > end.at).mean() < 0.01
    assert end.at < most * quantile(0.98)


def test_a_tail_in_much_noise_is_not_told():
    counts, edges = np.full(20, 50.0), np.linspace(0.0, 1.0, 21)
    assert upper_end(counts, edges, 19, 0, 5.0, 1000.0).told
    assert not upper_end(counts, edges, 19, 0, 30.0, 1000.0).told
