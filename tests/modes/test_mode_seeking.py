"""Modes: what is found is there, and where nothing is, nothing is found."""

import numpy as np
import pytest

import knoll
from knoll.privacy import PrivacyError
from knoll.testing import seeded_noise
from tests.made import CORNERS, corners


def all_found(modes, truth, within=0.6):
    gaps = np.linalg.norm(truth[:, None] - modes, axis=2)
    return len(modes) == len(truth) and (gaps.min(axis=1) < within).all()


@pytest.mark.parametrize("delta", [1e-6, 0.0])
@pytest.mark.parametrize("bandwidth", ["ladder", "private", 0.12])
def test_finds_the_modes(bandwidth, delta):
    model = knoll.ModeSeeking(bandwidth=bandwidth, epsilon=2.0, delta=delta, bounds=(-10, 10), random_state=0)
    model.fit(corners(5000))
    assert all_found(model.modes_, CORNERS)
    assert (model.mode_significance_ > model.threshold_).all()
    assert (np.abs(model.modes_stderr_) < 0.5).all()
    labels = model.predict(CORNERS)
    assert sorted(labels) == [0, 1, 2, 3]


def test_step_by_step_finds_them_too():
    model = knoll.ModeSeeking(4, epsilon=4.0, bandwidth=0.12, release="each-step", bounds=(-10, 10), random_state=0)
    model.fit(corners(5000))
    assert all_found(model.modes_, CORNERS, within=1.0)
    assert len(set(model.predict(CORNERS))) == 4
    with pytest.raises(ValueError, match="no density"):
        model.density([[0.0, 0.0]])


def test_mini_batches_find_them_and_are_one_entry():
    settings = {"epsilon": 4.0, "bandwidth": 0.12, "bounds": (-10, 10), "random_state": 0}
    model = knoll.ModeSeeking(4, release="each-step", mini_batches=True, **settings).fit(corners(40_000))
    assert all_found(model.modes_, CORNERS, within=1.0)
    assert len(model.privacy_.releases) == 2
    assert "11 disjoint parts" in model.privacy_.releases[1].query
    with pytest.raises(PrivacyError, match="mini_batches"):
        knoll.ModeSeeking(mini_batches=3, **settings).fit(corners(100))


def test_a_given_number_of_modes_is_given():
    X = corners(5000)
    for n in (1, 2, 4, 6):
        assert knoll.ModeSeeking(n, epsilon=2.0, bounds=(-10, 10), random_state=0).fit(X).n_modes_ == n
    four = knoll.ModeSeeking(4, epsilon=2.0, bounds=(-10, 10), random_state=0).fit(X)
    assert all_found(four.modes_, CORNERS)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_even_data_has_no_mode(d):
    """Each fit shows a false mode with chance 0.1: seven in twelve has odds of one in twenty thousand."""
    rng = np.random.default_rng(0)
    runs = {1: 12, 2: 12, 3: 3}[d]
    fits = (knoll.ModeSeeking(bounds=(-1, 1), random_state=0).fit(rng.uniform(-1, 1, (2000, d))) for _ in range(runs))
    assert sum(fit.n_modes_ > 0 for fit in fits) < max(3, 0.55 * runs)


def test_odd_data():
    point = knoll.ModeSeeking(bounds=(-1, 1), random_state=0).fit(np.full((2000, 2), 0.3))
    assert point.n_modes_ == 1
    assert point.modes_[0] == pytest.approx([0.3, 0.3], abs=0.02)
    edge = knoll.ModeSeeking(bounds=(-1, 1), random_state=0).fit(np.full((2000, 2), 9.0))
    assert edge.modes_[0] == pytest.approx([1.0, 1.0], abs=0.05)
    heavy = np.random.default_rng(0).standard_cauchy(size=(5000, 1))
    found = knoll.ModeSeeking(bounds=(-30, 30), random_state=0).fit(heavy)
    assert np.abs(found.modes_).min() < 0.5


def test_basins_follow_the_density():
    X = corners(5000)
    model = knoll.ModeSeeking(epsilon=2.0, bounds=(-10, 10), random_state=0).fit(X)
    labels = model.basins(X)
    nearest = np.linalg.norm(X[:, None] - model.modes_, axis=2).argmin(axis=1)
    assert (labels == nearest).mean() > 0.97


def test_featureless_data_shows_no_more_modes_than_said():
    rng = np.random.default_rng(0)
    shown = 0
    for run in range(40):
        with seeded_noise(run):
            model = knoll.ModeSeeking(epsilon=0.2, chance=0.2, bounds=(-1, 1), random_state=0)
            shown += model.fit(rng.uniform(-1, 1, size=(3000, 1))).n_modes_ > 0
    assert shown <= 10


@pytest.mark.parametrize(
    "bad",
    [{"bandwidth": 0}, {"bandwidth": -1.0}, {"bandwidth": "auto"}, {"bandwidth": [1.0, 1.0, 1.0]}, {"bandwidth": 1e9},
     {"bandwidth": None}, {"n_modes": 0}, {"n_modes": 1.5}, {"release": "never"}, {"chance": 0}, {"chance": 2},
     {"n_frequencies": 0}, {"n_frequencies": "many"}],
    ids=str,
)  # fmt: skip
def test_bad_parameters_are_refused_before_anything_is_spent(bad):
    from knoll.privacy import MemoryLedger

    ledger = MemoryLedger("d")
    with pytest.raises(ValueError, match=r"\w"):
        knoll.ModeSeeking(bounds=(-10, 10), ledger=ledger, **bad).fit(corners(100)) if "n_modes" not in bad else (
            knoll.ModeSeeking(bad["n_modes"], bounds=(-10, 10), ledger=ledger).fit(corners(100))
        )
    assert ledger.lines == []


def test_models_without_modes_can_be_saved(tmp_path):
    model = knoll.ModeSeeking(epsilon=0.01, bounds=(-10, 10), chance=1e-7, random_state=0).fit(corners(50))
    assert model.n_modes_ == 0
    knoll.save(model, tmp_path / "m.json")
    again = knoll.load(tmp_path / "m.json")
    assert again.modes_.shape == (0, 2)
    assert again.density([[1.0, 2.0]]) == pytest.approx(model.density([[1.0, 2.0]]), rel=1e-12)
    assert (again.predict(corners(5)) == -1).all()
