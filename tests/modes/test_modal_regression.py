"""Modal regression follows every branch, and draws no curve in noise."""

import numpy as np
import pandas as pd
import pytest

import knoll
from knoll.privacy import PrivacyError
from knoll.reference import nonprivate_partial_mean_shift
from knoll.testing import seeded_noise, zero_noise
from tests.made import branches


def test_modal_regression_follows_both_branches():
    x, y = branches(20_000)
    model = knoll.ModalRegression(epsilon=2.0, bounds=([0, -2], [1, 5]), random_state=0).fit(x, y)
    at = np.linspace(0.1, 0.9, 9)[:, None]
    for found, truth in zip(model.predict_modes(at), np.sin(3 * at[:, 0]), strict=True):
        assert found == pytest.approx([truth, truth + 2], abs=0.15)
    best = model.predict(at) - np.sin(3 * at[:, 0])
    assert np.minimum(np.abs(best), np.abs(best - 2)).max() < 0.15
    ours = model.ascend(x[:200], y[:200])
    theirs = nonprivate_partial_mean_shift(x, y, x[:200], y[:200], model.bandwidth_)
    assert np.median((ours - theirs) ** 2) < 1e-3
    inside = [any(low <= value <= high for low, high in sets) for sets, value in
              zip(model.predict_interval(x[:500], 0.9), y[:500], strict=True)]  # fmt: skip
    assert np.mean(inside) > 0.85


def test_so_many_steps_are_those_of_partial_mean_shift():
    x, y = branches(3000)
    with zero_noise():
        model = knoll.ModalRegression((0.1, 0.3), epsilon=10.0, bounds=([0, -2], [1, 5]), random_state=0).fit(x, y)
    for steps in (0, 1, 8):
        theirs = nonprivate_partial_mean_shift(x, y, x[:200], y[:200], (0.1, 0.3), steps=steps, tolerance=0.0)
        for restore in (False, True):
            assert model.ascend(x[:200], y[:200], steps, restore=restore) == pytest.approx(theirs, abs=0.03)
    with pytest.raises(PrivacyError, match="steps"):
        model.ascend(x[:5], y[:5], steps=-1)


def test_modal_regression_buys_the_slope_along_the_response():
    x, y = branches(100)
    settings = {"epsilon": 1.0, "bounds": ([0, -2], [1, 5]), "random_state": 0}
    slope = knoll.ModalRegression((0.1, 0.3), **settings).fit(x, y).series_
    level = knoll.KernelDensity((0.1, 0.3), **settings).fit(np.column_stack([x, y])).series_
    assert slope.gradient_noise[1] < 0.84 * level.gradient_noise[1]
    assert level.noise < slope.noise < 1.3 * level.noise


def test_the_ends_of_the_response_make_no_curve():
    table = np.random.default_rng(0).uniform(-1, 1, size=(50_000, 2))
    with seeded_noise(0):
        model = knoll.ModalRegression(0.1, epsilon=5.0, bounds=(-1, 1), random_state=0).fit(table)
    assert not len(model.curves(100).y)


def test_no_curve_is_drawn_in_noise():
    x, y = branches(200)
    model = knoll.ModalRegression(epsilon=0.05, bounds=([0, -2], [1, 5]), random_state=0)
    drawn = [len(model.fit(x, y).curves(50).y) for _ in range(7)]  # with some chance noise looks like a curve
    assert np.median(drawn) < 10
    assert np.isfinite(model.predict(x)).all()


def test_several_predictors_and_frames():
    rng = np.random.default_rng(0)
    x = rng.uniform(size=(8000, 2))
    y = x[:, 0] + x[:, 1] + 0.1 * rng.normal(size=8000)
    table = pd.DataFrame({"a": x[:, 0], "b": x[:, 1]})
    bounds = {"a": (0, 1), "b": (0, 1), "y": (-1, 3)}
    model = knoll.ModalRegression(epsilon=2.0, bounds=bounds, random_state=0).fit(table, pd.Series(y, name="y"))
    assert model.predict(table[:50]) == pytest.approx(x[:50].sum(axis=1), abs=0.4)
    deep = knoll.ModalRegression(0.3, epsilon=4.0, bounds=(0, 2), n_frequencies=512, random_state=0)
    deep.fit(np.hstack([x, x]), y)
    assert np.isfinite(deep.predict(np.hstack([x, x])[:20])).all()
