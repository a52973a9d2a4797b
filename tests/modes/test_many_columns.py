"""Modes in many columns: a first look, and places from the side."""

import numpy as np
import pytest

import knoll
from knoll.series.side_views import BINS, PER_WIDTH, SideViews


@pytest.mark.parametrize("reach", [13, 40])
def test_modes_are_found_however_wide_the_bounds(reach):
    rng = np.random.default_rng(0)
    centres = np.array([[-8, -6, 5, 0, 7, -3], [6, 8, -4, -7, 0, 5], [0, -8, -8, 6, -6, 2], [8, -2, 3, 8, 2, -8.0]])
    X = centres[rng.integers(0, 4, 5000)] + rng.standard_normal((5000, 6))
    model = knoll.ModeSeeking(epsilon=1.0, bounds=(-reach, reach), random_state=0).fit(X)
    gap = np.linalg.norm(model.modes_[:, None] - centres, axis=2)
    assert model.n_modes_ == 4
    assert gap.min(axis=0).max() < 1.0
    off = np.abs(model.modes_ - centres[gap.argmin(axis=1)])
    assert (off <= 2 * model.modes_stderr_).mean() > 0.8
    assert model.modes_stderr_.max() < 1.0


def test_a_side_view_finds_the_mode_of_a_skewed_column():
    rng = np.random.default_rng(1)
    x = (rng.gamma(3.0, 1.0, (4, 20_000)) - 3.0) / 3**0.5  # mean 0, mode -0.58
    counts = [np.histogram(BINS / 2 + PER_WIDTH * each, np.arange(BINS + 1))[0] for each in x]
    at, variance = SideViews.of(np.array(counts, dtype=float), 20.0).placed()
    mode = (at - BINS / 2) / PER_WIDTH
    assert (np.abs(mode + 0.577) < 0.2).all()
    assert (np.abs(mode + 0.577) < 2 * np.sqrt(variance) / PER_WIDTH).all()
