"""The parts of bought bounds, each by itself: bins, what stands out, where tails end."""

import numpy as np
import pytest

from knoll.bounds.grids import around, closed, magnitudes, rarity
from knoll.bounds.outside import RINGS, Extension, extension, hidden_by_parts, surroundings
from knoll.bounds.seen import seen, segments, spread
from knoll.bounds.tails import upper_end
from knoll.privacy.laws import GAUSSIAN, LAPLACE
from knoll.queries import OutsideVotes


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
    assert (values > end).mean() < 0.01
    assert end < most * quantile(0.98)


@pytest.mark.parametrize(("low", "high"), [(0.0, 0.0), (1e6, 1e6), (-1e28, 1e28), (42.0, 43.0)])
def test_rings_about_any_range_increase_and_reach_the_widest_range(low, high):
    widest = np.array([low - 1e9]), np.array([high + 1e3])
    edges = surroundings(np.array([low]), np.array([high]), widest)[0]
    assert (np.diff(edges) > 0).all()
    assert edges[0] <= low - 1e9 * (1 - 1e-9)
    assert edges[-1] >= high + 1e3 * (1 - 1e-9)


def rings(**counts):
    """Records in rings, by their number: b0 is next below the range, a0 next above."""
    found = np.zeros(2 * RINGS)
    for name, count in counts.items():
        i = int(name[1:])
        found[RINGS + i if name[0] == "a" else RINGS - 1 - i] = count
    return found


@pytest.mark.parametrize(
    ("outside", "found"),
    [
        ({}, Extension(0, 0, True)),
        ({"a0": 9.0, "b0": 9.0}, Extension(0, 0, True)),
        ({"a0": 30.0}, Extension(0, 1, True)),
        ({"a0": 9.0, "a3": 30.0}, Extension(0, 4, True)),
        ({"b2": 40.0, "a0": 9.0}, Extension(3, 0, True)),
        ({"b1": 40.0, "a1": 40.0}, Extension(2, 2, True)),
        ({f"a{RINGS - 1}": 40.0}, Extension(RINGS - 1, RINGS - 1, False)),  # the last ring is open
    ],
)
def test_a_range_is_extended_by_the_rings_that_hold_too_many(outside, found):
    votes = rings(**outside)
    assert extension(votes.sum(), votes, (0.1, 0.1), 20.0, 1.0) == found


def test_what_noise_may_hide_counts():
    nothing = rings()
    assert extension(0.0, nothing, (10.0, 13.0), 20.0, 1.0) == Extension(0, 0, True)
    assert not extension(0.0, nothing, (50.0, 60.0), 20.0, 1.0).enough
    beyond = extension(15.0, rings(a0=15.0), (10.0, 10.0), 20.0, 1.0)  # few, but 10 more may be hidden
    assert beyond.above > 0


@pytest.mark.parametrize("power", [1, 2])
def test_parts_of_votes_are_made_up_for(power):
    query = OutsideVotes(np.tile([-2.0, -1.0, 1.0, 2.0], (8, 1)), power)
    alone, together = np.zeros((100, 8)), np.full((100, 8), 5.0)
    alone[:, 3] = 5.0
    for rows, short in ((alone, 1.0), (together, 8 ** (1 / power))):
        totals, _, classes = query.split(query.summarise(rows) * query.step)
        assert hidden_by_parts(query, classes, 1.0) == pytest.approx(short, rel=0.25)
        assert totals[3] * short == pytest.approx(100, rel=0.01)
    assert hidden_by_parts(query, np.zeros(query.n_classes), 1.0) == 1.0
