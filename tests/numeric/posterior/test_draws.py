"""What is made of draws: how many they are worth, cells of centres, error bars."""

import numpy as np
import pytest

from knoll.numeric.posterior.bars import bars_of_draws
from knoll.numeric.posterior.cells import figures
from knoll.numeric.posterior.sample import effective_draws
from knoll.numeric.posterior.view import spacing_of


def test_independent_draws_are_worth_their_number_and_stuck_chains_one_each(rng):
    free = rng.normal(size=(160, 50))
    assert effective_draws(free, 8) > 100
    stuck = np.repeat(rng.normal(size=(8, 50)), 20, axis=0) + 0.01 * rng.normal(size=(160, 50))
    assert effective_draws(stuck, 8) < 12


def cells(rng, draws=200, noise=5.0):
    """Two cells on a line of ten points each, with noisy records."""
    points = np.column_stack([np.concatenate([np.linspace(0, 0.3, 10), np.linspace(0.7, 1, 10)]), np.full(20, 0.5)])
    density = 20.0 + noise * rng.normal(size=(draws, 20))
    return figures(points, density, np.array([[0.15, 0.5], [0.85, 0.5]]), 8)


def test_figures_are_those_of_the_draws(rng):
    found = cells(rng)
    assert found.count == pytest.approx([200, 200], rel=0.02)
    assert found.count_sd == pytest.approx([5 * 10**0.5] * 2, rel=0.2)
    spread = 5 * np.sqrt(np.square(np.linspace(-0.15, 0.15, 10)).sum()) / 200
    assert found.mean_sd[:, 0] == pytest.approx([spread] * 2, rel=0.2)
    assert found.mean_sd[:, 1] == pytest.approx(0.0, abs=1e-12)


def test_bars_hold_the_spread_of_draws_and_unseen_cells_say_so(rng):
    clear, faint = cells(rng), cells(rng, noise=60.0)
    half = np.array([0.5, 0.5])
    bars = bars_of_draws(clear, half)
    assert bars.seen.all()
    assert (bars.centres[:, 0] > clear.mean_sd[:, 0]).all()
    assert (bars.sizes > clear.count_sd).all()
    unseen = bars_of_draws(faint, half)
    assert not unseen.seen.any()
    assert np.isinf(unseen.centres).all()


def test_clusters_are_taken_to_fill_what_records_fill():
    window = np.array([2.0, 2.0])
    assert spacing_of(window, window / 12**0.5, 4, 0.02) == pytest.approx(1.0)
    assert spacing_of(window, window / 12**0.5 / 4, 4, 0.02) == pytest.approx(0.25)
    assert spacing_of(window, np.zeros(2), 4, 0.02) == pytest.approx(0.02)
    assert spacing_of(np.full(3, 2.0), np.full(3, 9.0), 8, 0.02) == pytest.approx(1.0)
