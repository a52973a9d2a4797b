"""What is made of draws: how many they are worth, cells of centres, error bars."""

import numpy as np
import pytest

from knoll.numeric.posterior.bars import bars_of_draws
from knoll.numeric.posterior.cells import figures, filled
from knoll.numeric.posterior.sample import Draws, effective_draws
from knoll.numeric.posterior.view import Kernel, View


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


@pytest.mark.parametrize("d", [2, 3])
def test_what_records_fill_is_seen(d):
    """Gaussians over a part of the window; evenly spread records fill all of it."""
    kernel = Kernel(0.1, np.array([0.9]), np.array([0.1]))
    view = View(np.zeros(d), np.ones(d), (9,) * d, np.array([0.05]), np.zeros((1, 9**d)), 1.0, kernel, 0.5)
    even = np.stack(np.meshgrid(*[(np.arange(8) + 0.5) / 8] * d), axis=-1).reshape(1, -1, d)
    ones, first = np.ones(even.shape[:2]), np.zeros(even.shape[:2], dtype=np.int64)
    low, high, _ = filled(Draws(even, first, ones, view.widths, 1), view)
    assert low == pytest.approx(0.0, abs=0.05)
    assert high == pytest.approx(1.0, abs=0.05)
    low, high, _ = filled(Draws(0.3 + 0.2 * even, first, ones, np.array([0.01]), 1), view)
    assert low == pytest.approx(0.3, abs=0.05)
    assert high == pytest.approx(0.5, abs=0.05)
