"""What the kernel hides of a mode is part of its error bar."""

import numpy as np
import pytest
from scipy.stats import norm

import knoll
from knoll.series.hidden_bias import Path, hidden_height, widths
from knoll.testing import seeded_noise


def test_the_width_of_a_gaussian_bump_is_read_off_its_curvature():
    R = np.array([[2.0, 0.5], [0.5, 1.0]])
    assert widths(np.linalg.inv(np.eye(2) + R)) == pytest.approx([2.0, 1.0])


def test_a_gaussian_bump_is_higher_than_its_top_by_what_the_kernel_took():
    """At least: bumps with long tails lose more. A bump as narrow as a point tells nothing."""
    spread = 0.7
    lost = norm(0, spread).pdf(0) / norm(0, (1 + spread**2) ** 0.5).pdf(0) - 1
    found = hidden_height(np.array([[[1 / (1 + spread**2)]], [[0.99]]]))
    assert lost < found[0] < 3 * lost
    assert found[1] == np.inf


def _path(places, curves):
    places, curves = np.array(places, dtype=float), np.array(curves, dtype=float)
    h = 2.0 ** (np.arange(len(places)) / 4)[:, None]
    return Path(places[:, None, None], np.full((len(h), 1, 1, 1), 1e-8), curves[:, None, None, None], h)


def test_a_top_that_moves_with_the_bandwidth_has_a_wide_bar():
    """The top of a bump of variance 1 and third cumulant c is at -c / (2 (1 + h^2)); its mode at -c / 2."""
    square, c = 2.0 ** (np.arange(5) / 2), 0.6
    curves = 1 / (1 + 1 / square)
    moving, still = _path(-c / 2 / (1 + square), curves), _path(np.zeros(5), curves)
    (wide,), (narrow,) = (p.hidden(np.array([0]), p.places[0])[0] for p in (moving, still))
    assert c / 2 - c / 4 < wide**0.5 < 1.3 * (c / 2 - c / 4)
    assert narrow**0.5 < 0.01


def test_a_top_sharper_than_one_kernel_is_not_of_records():
    path = _path(np.zeros(5), np.full(5, 1.5))
    assert path.hidden(np.array([0]), path.places[0]) == np.inf


def test_a_top_that_gets_flatter_may_hold_two_modes():
    square = 2.0 ** (np.arange(5) / 2)
    variance = np.array([6.0, 4.0, 3.0, 2.5, 2.2])
    flat, even = _path(np.zeros(5), square / (square + variance)), _path(np.zeros(5), square / (square + 3.0))
    (more,), (less,) = (p.hidden(np.array([1]), p.places[1])[0] for p in (flat, even))
    assert more**0.5 > 0.5
    assert less**0.5 < 0.01


@pytest.mark.parametrize(("draw", "mode"), [
    (lambda rng, n: rng.lognormal(0.0, 0.6, (n, 1)), np.exp(-0.36)),
    (lambda rng, n: rng.gamma(3.0, 0.6, (n, 1)), 1.2),
    (lambda rng, n: rng.normal(2.0, 1.0, (n, 1)), 2.0),
])  # fmt: skip
def test_two_standard_errors_cover_the_modes_of_few_skewed_records(draw, mode):
    """Before, the bars of skewed modes of few records covered a fifth."""
    hits, bars = [], []
    for seed in range(12):
        X = draw(np.random.default_rng(seed), 400)
        with seeded_noise(seed):
            model = knoll.ModeSeeking(1, epsilon=1.0, bounds=(-2, 10), random_state=0).fit(X)
        bars.append(model.modes_stderr_[0, 0])
        hits.append(abs(model.modes_[0, 0] - mode) <= 2 * bars[-1])
    assert sum(hits) >= 10
    assert np.median(bars) < 1.0
