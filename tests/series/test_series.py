"""The released sum is the kernel sum, and its noise is as told."""

import numpy as np
import pytest

import knoll
from knoll.testing import seeded_noise, zero_noise
from tests.made import corners


@pytest.mark.parametrize(("d", "tolerance"), [(1, 0.004), (2, 0.006), (3, 0.01), (5, 0.12)])
def test_without_noise_it_is_the_kernel_sum(d, tolerance):
    X = np.random.default_rng(0).normal(size=(600, d))
    points = np.random.default_rng(1).uniform(-1.5, 1.5, size=(40, d))
    h = 0.8
    with zero_noise():
        model = knoll.KernelDensity(h, bounds=(-5, 5), scale_by_bounds=False, n_frequencies=4096, random_state=0).fit(X)
    gaps = points[:, None] - X
    kernel = np.exp(-np.square(gaps / h).sum(axis=2) / 2)
    series = model.series_
    largest = kernel.sum(axis=1).max()
    assert series.value(points) == pytest.approx(kernel.sum(axis=1), abs=tolerance * largest)
    slopes = -(gaps / h**2 * kernel[..., None]).sum(axis=1)
    assert series.gradient(points) == pytest.approx(slopes, abs=3 * tolerance * largest)
    assert model.density(points) == pytest.approx(kernel.mean(axis=1) / (2 * np.pi * h**2) ** (d / 2), rel=0.3)


@pytest.mark.parametrize(("d", "delta"), [(1, 1e-6), (2, 1e-6), (5, 1e-6), (1, 0.0), (2, 0.0)])
def test_noise_is_as_told(d, delta):
    X = np.random.default_rng(0).normal(size=(300, d))
    points = np.zeros((1, d))
    settings = {"bandwidth": 0.2, "bounds": (-3, 3), "delta": delta, "n_frequencies": 512, "random_state": 0}
    with zero_noise():
        exact = knoll.KernelDensity(**settings).fit(X).series_.value(points)
    scores = []
    for seed in range(60):
        with seeded_noise(seed):
            series = knoll.KernelDensity(**settings).fit(X).series_
        scores.append((series.value(points) - exact)[0] / series.noise)
    # 60 draws: a false alarm is as rare as a normal beyond 5, a wrong factor of 1.7 is seen
    assert 0.6 < np.std(scores) < 1.5
    assert abs(np.mean(scores)) < 5 / 60**0.5


def test_one_release_holds_every_bandwidth():
    X = corners(2000)
    with zero_noise():
        ladder = knoll.ModeSeeking(bounds=(-10, 10)).fit(X)
        single = knoll.ModeSeeking(bandwidth=0.1, bounds=(-10, 10)).fit(X)
    points = np.random.default_rng(0).uniform(-5, 5, size=(30, 2))
    seen = ladder.series_.at(single.bandwidth_)
    assert seen.value(points) == pytest.approx(single.series_.value(points), abs=2.0)
    assert len(ladder.rungs_) > 4
