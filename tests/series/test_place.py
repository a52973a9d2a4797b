"""Where modes are placed: neighbours taken away, long sides followed down the ladder."""

import numpy as np
import pytest

import knoll
from knoll.series.ascent import polish
from knoll.series.place import Alone, Bumps, _least_risk, place_variance, seen_at, settle
from knoll.testing import seeded_noise, zero_noise


def grown(d: int, seed: int = 0) -> Bumps:
    rng = np.random.default_rng(seed)
    turns = rng.normal(size=(3, d, d))
    return Bumps(rng.normal(size=(3, d)), np.array([50.0, 80.0, 20.0]), turns @ np.swapaxes(turns, 1, 2) / d)


@pytest.mark.parametrize("d", [1, 2, 4])
def test_other_bumps_are_kernel_sums_of_gaussians(d):
    """The kernel sum of a Gaussian of records, by drawing them; its slopes by differences."""
    bumps, rng = grown(d), np.random.default_rng(1)
    h = rng.uniform(0.5, 1.0, size=d)
    points = rng.normal(size=(3, d))
    kernels = bumps.kernels(h)
    value, gradient, hessian = bumps.others(points, *kernels)
    drawn = [rng.multivariate_normal(c, s, size=200_000) for c, s in zip(bumps.centres, bumps.covariances, strict=True)]
    for i in range(3):
        sums = [
            n * np.exp(-np.square((points[i] - X) / h).sum(axis=1) / 2).mean()
            for j, (n, X) in enumerate(zip(bumps.records, drawn, strict=True))
            if j != i
        ]
        assert value[i] == pytest.approx(sum(sums), rel=0.03)
    for a in range(d):
        step = 1e-5 * np.eye(d)[a]
        up, down = bumps.others(points + step, *kernels), bumps.others(points - step, *kernels)
        assert gradient[:, a] == pytest.approx((up[0] - down[0]) / 2e-5, abs=1e-5)
        assert hessian[:, a] == pytest.approx((up[1] - down[1]) / 2e-5, abs=1e-4)


@pytest.mark.parametrize("d", [1, 2])
def test_bumps_are_read_off_the_sum(d):
    """Records, spread and the variance at narrower bandwidths of a Gaussian, from the sum at a wide one."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100_000, d)) * np.array([1.0, 0.6])[:d]
    with zero_noise():
        series = knoll.ModeSeeking(1, epsilon=1.0, bounds=(-8, 8)).fit(X).series_.at(np.full(d, 1.4))
    bumps = Bumps.seen(series, np.zeros((1, d)))
    assert bumps.records == pytest.approx(len(X), rel=0.03)
    assert np.diagonal(bumps.covariances[0]) == pytest.approx(X.var(axis=0), rel=0.1)
    narrower = series.at(series.bandwidth / 2)
    ours, seen = bumps.place_variance(narrower)[0], place_variance(narrower, *seen_at(narrower, np.zeros((1, d))))[0]
    assert np.trace(ours) == pytest.approx(np.trace(seen), rel=0.25)


def test_a_top_is_placed_as_if_it_were_alone():
    """Two Gaussians that overlap: at a wide bandwidth each top is drawn to the other, less so once that is gone."""
    rng = np.random.default_rng(0)
    truth = np.array([[-1.6, 0.0], [1.6, 0.5]])
    which = (rng.random(200_000) < 0.4).astype(int)
    X = truth[which] + 0.8 * rng.normal(size=(len(which), 2))
    with zero_noise():
        model = knoll.ModeSeeking(2, epsilon=1.0, bounds=(-6, 6)).fit(X)
    narrow, wide = (model.series_.at(np.full(2, h)) for h in (0.5, 0.9))
    around = model._around()
    tops, _ = settle(wide, truth, around)
    bumps = Bumps.seen(narrow, settle(narrow, truth, around)[0])
    alone = polish(Alone(wide, bumps), tops, around.domain.clip)
    drawn, left = (np.linalg.norm(places - truth, axis=1) for places in (tops, alone))
    assert (drawn > 0.05).all()
    assert (left < 0.5 * drawn).all()


def test_overlapping_modes_are_placed_better_than_at_one_bandwidth():
    rng = np.random.default_rng(0)
    truth = np.array([[-1.6, 0.0], [1.6, 0.5]])
    errors = []
    for seed in range(8):
        which = (rng.random(5000) < 0.4).astype(int)
        X = truth[which] + 0.8 * rng.normal(size=(len(which), 2))
        with seeded_noise(seed):
            model = knoll.ModeSeeking(2, epsilon=1.0, bounds=(-6, 6), random_state=0).fit(X)
        series, around = model.series_, model._around()
        others = [settle(series.at(np.full(2, h)), truth, around)[0] for h in (0.35, 0.5, 0.7)]
        gaps = (np.square(truth[:, None] - places).sum(axis=2).min(axis=1) for places in (model.modes_, *others))
        errors.append([gap.mean() for gap in gaps])
    placed, *others = np.mean(errors, axis=0)
    assert placed < 0.8 * min(others)


@pytest.mark.parametrize("d", [1, 2])
def test_the_mode_of_skewed_data_is_not_its_middle(d):
    """Gamma(3): the mode is 0 here, the mean 0.5, to which a bandwidth wide enough to show one mode is drawn."""
    X = np.random.default_rng(0).gamma(3.0, 0.5, size=(50_000, d)) - 1.0
    with seeded_noise(1):
        model = knoll.ModeSeeking(epsilon=1.0, bounds=(-2, 8), random_state=0).fit(X)
    wide, _ = settle(model.series_.at(np.full(d, 1.0)), model.modes_, model._around())
    assert len(model.modes_) == 1
    assert np.linalg.norm(wide) > 0.2 * d**0.5
    assert np.linalg.norm(model.modes_) < 0.12 * d**0.5
    assert (np.abs(model.modes_) < 3 * model.modes_stderr_).all()


def test_a_lean_as_the_square_of_the_bandwidth_is_taken_off_and_added_to_the_error():
    """Two tops, of which the first leans; variances so small that its narrowest bandwidth, below the rung, is best."""
    squared = 2.0 ** (np.arange(7) / 2)
    places = np.stack([0.3 * squared, np.ones(7)], axis=1)[:, :, None]
    covariances = np.repeat(1e-4 / squared[:, None, None, None], 2, axis=1)
    best, points, covariance = _least_risk(places, covariances, np.ones(1), 4)
    assert best.tolist() == [0, 6]
    assert points[:, 0] == pytest.approx([0.0, 1.0])
    assert covariance[:, 0, 0] == pytest.approx([1e-4 + 0.3**2, 1e-4 / squared[-1]])


def test_the_height_of_a_narrow_mode_is_not_smoothed_away():
    """Gamma(3) again: the density at the mode is 2 exp(-2) / 0.5; a kernel as wide as the spread would halve it."""
    X = np.random.default_rng(0).gamma(3.0, 0.5, size=(50_000, 1)) - 1.0
    with seeded_noise(1):
        model = knoll.ModeSeeking(epsilon=1.0, bounds=(-2, 8), random_state=0).fit(X)
    assert model.mode_heights_ == pytest.approx([4 * np.exp(-2)], rel=0.06)
    assert model.density(model.modes_) == pytest.approx(model.mode_heights_)


def test_noise_moves_no_even_mode_down_the_ladder():
    """Normal data: the place is nearly as good as the mean of all records, in nearly every fit."""
    errors = []
    for seed in range(20):
        X = np.random.default_rng(seed).normal(size=(20_000, 1))
        with seeded_noise(seed):
            model = knoll.ModeSeeking(1, epsilon=1.0, bounds=(-8, 8), random_state=0).fit(X)
        errors.append(abs(model.modes_[0, 0]) / model.modes_stderr_[0, 0])
    assert np.sort(errors)[-3] < 3


def test_places_stay_in_the_bounds(monkeypatch):
    """A mode near the edge, also if what is taken off its lean carries it past."""
    X = np.random.default_rng(0).exponential(0.3, size=(50_000, 2))
    with seeded_noise(0):
        model = knoll.ModeSeeking(epsilon=4.0, bounds=(0, 3), random_state=0).fit(X)
    assert len(model.modes_)
    assert ((model.modes_ >= 0) & (model.modes_ <= 3)).all()
    assert np.isfinite(model.modes_stderr_).all()
    monkeypatch.setattr(
        "knoll.series.place._least_risk", lambda places, covariances, *_: (np.array([0]), places[0] - 9, covariances[0])
    )
    assert settle(model.series_, model.modes_, model._around(), model.rungs_[-1])[0].tolist() == [[0.0, 0.0]]
