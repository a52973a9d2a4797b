"""The density: samples and scores."""

import numpy as np
from scipy.stats import kstest

import knoll


def test_density_samples_and_scores():
    X = np.random.default_rng(0).normal(size=(20_000, 1))
    model = knoll.KernelDensity(epsilon=2.0, bounds=(-5, 5), random_state=0).fit(X)
    sample = model.sample(4000, random_state=0)
    assert kstest(sample[:, 0], "norm").statistic < 0.05
    assert model.score_samples([[0.0]])[0] > model.score_samples([[2.0]])[0]
    assert np.isfinite(model.score_samples([[4.9]])).all()
    wide = knoll.KernelDensity(epsilon=2.0, bounds=(-5, 5), random_state=0).fit(np.hstack([X] * 4))
    assert wide.sample(50, random_state=0).shape == (50, 4)
