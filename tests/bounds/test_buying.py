"""Bought bounds: what they hold, what they cost, and when they are in doubt."""

import json

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine

import knoll
from knoll.bounds import MOST_SHARE, bounds_asks
from knoll.privacy import DataError
from knoll.testing import seeded_noise

N = 10_000
KINDS = {
    "normal": lambda rng, n: rng.normal(170, 10, n),
    "log-normal": lambda rng, n: rng.lognormal(10, 1, n),
    "pareto": lambda rng, n: rng.pareto(1.5, n) + 1,
    "discrete": lambda rng, n: rng.choice(5, n, p=[0.1, 0.2, 0.3, 0.3, 0.1]) * 1.0,
    "rare": lambda rng, n: (rng.uniform(size=n) < 0.1) * 1.0,
    "bimodal": lambda rng, n: rng.normal(np.where(rng.uniform(size=n) < 0.3, 40.0, 0.0), 1.0),
    "constant": lambda rng, n: np.full(n, 42.0),
    "zero": lambda rng, n: np.zeros(n),
    "tiny": lambda rng, n: rng.uniform(2e-6, 3e-6, n),
    "huge": lambda rng, n: rng.uniform(-3e9, 1e9, n),
    "far": lambda rng, n: rng.uniform(1e6 - 5, 1e6 + 5, n),
}


def fitted(X, seed=0, **options):
    with seeded_noise(seed):
        return knoll.Lloyd(1, n_steps=1, bounds="private", random_state=0, **options).fit(X)


def clipped(model, X):
    return (np.clip(X, *model.bounds_.corners) != X).mean(axis=0)


def share(model):
    return sum(each.share for each in bought(model))


def bought(model):
    return [each for each in model.privacy_.releases if each.query in ("column histograms", "outside votes")]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_held_without_doubt(kind, rng):
    for n in (3000, N):
        X = KINDS[kind](rng, n)[:, None]
        for seed in range(5):
            model = fitted(X, seed)
            assert clipped(model, X) <= 0.02
            assert not model.bounds_in_doubt_.any()


def test_all_kinds_together(rng):
    X = np.column_stack([draw(rng, N) for draw in KINDS.values()])
    for seed in range(5):
        model = fitted(X, seed)
        assert (clipped(model, X)[~model.bounds_in_doubt_] <= 0.02).all()
        assert model.bounds_in_doubt_.sum() <= 1


@pytest.mark.parametrize("kind", ["normal", "discrete", "tiny", "huge", "far"])
def test_bounds_are_not_much_wider_than_the_data(kind, rng):
    X = KINDS[kind](rng, N)[:, None]
    widths = [2 * fitted(X, seed).bounds_.half / np.ptp(X) for seed in range(5)]
    assert np.median(widths) < 2


@pytest.mark.parametrize(
    "options", [{"delta": 0.0}, {"relation": "replace_one"}, {"relation": "replace_special"}, {"epsilon": 0.3}]
)
def test_every_law_and_relation(options, rng):
    X = np.column_stack([KINDS[kind](rng, N) for kind in ("normal", "far", "log-normal")])
    model = fitted(X, **options)
    assert (clipped(model, X) <= 0.02).all()
    assert not model.bounds_in_doubt_.any()


def test_far_records_that_histograms_do_not_show_are_taken_in_or_doubted(rng):
    bad = []
    for columns in (5, 10):
        far = rng.uniform(size=N) < 0.08
        X = rng.normal(size=(N, columns)) * np.where(far, 40.0, 1.0)[:, None]
        for seed in range(3):
            model = fitted(X, seed)
            assert not model.bounds_in_doubt_.all()
            bad += list((clipped(model, X) > 0.02) & ~model.bounds_in_doubt_)
    assert np.mean(bad) < 0.1


def test_users_with_several_rows(rng):
    pandas = pytest.importorskip("pandas")
    age, income = KINDS["normal"](rng, N), KINDS["log-normal"](rng, N)
    frame = pandas.DataFrame({"who": np.arange(N) // 2, "age": age, "income": income})
    model = fitted(frame, unit=knoll.User("who", 2))
    assert model.bounds_.names == ("age", "income")
    assert (clipped(model, frame[["age", "income"]].to_numpy()) <= 0.02).all()


def test_few_records_in_many_columns_are_in_doubt_and_bounds_stay_sane():
    X = load_wine().data
    for seed in range(10):
        model = fitted(X, seed)
        assert model.bounds_in_doubt_.all()
        assert np.abs(model.bounds_.corners).max() < 1e12


@pytest.mark.parametrize("n", [1, 20])
def test_next_to_no_records(n, rng):
    model = fitted(rng.normal(size=(n, 3)))
    assert model.bounds_in_doubt_.all()
    assert np.isfinite(model.bounds_.corners).all()


def test_what_is_spent_depends_on_records_and_columns(rng):
    few, many = rng.normal(size=(1000, 4)), rng.normal(size=(100_000, 4))
    assert share(fitted(few)) > 0.3
    assert share(fitted(many)) < 0.08
    assert share(fitted(many[:N])) > share(fitted(many[:N, :1]))


def test_no_fit_spends_or_releases_more_than_planned(rng):
    most = sum(ask.times for ask in bounds_asks(8))
    sizes = max(ask.size for ask in bounds_asks(8))
    for n in (10, 1000, N):
        model = fitted(rng.normal(size=(n, 8)) * 10.0 ** np.arange(-4, 4))
        found = bought(model)
        assert share(model) <= MOST_SHARE + 1e-9
        assert 4 <= len(found) <= most
        assert max(np.prod(each.shape) for each in found) <= sizes


def test_given_bounds_are_never_in_doubt(rng):
    model = knoll.Lloyd(2, bounds=(-3, 3)).fit(rng.normal(size=(100, 3)))
    assert model.bounds_in_doubt_.dtype == bool
    assert model.bounds_in_doubt_.tolist() == [False] * 3


def test_doubts_are_saved(tmp_path, rng):
    X = np.column_stack([rng.normal(size=1000) for _ in range(12)])
    model = fitted(X)
    assert model.bounds_in_doubt_.any()
    knoll.save(model, tmp_path / "model.json")
    again = knoll.load(tmp_path / "model.json")
    assert again.bounds_in_doubt_.dtype == bool
    assert np.array_equal(again.bounds_in_doubt_, model.bounds_in_doubt_)
    assert not hasattr(clone(model), "bounds_in_doubt_")


@pytest.mark.parametrize("bad", [[True], [0, 1], "no", [None, False]])
def test_damaged_doubts_are_refused(bad, tmp_path, rng):
    path = tmp_path / "model.json"
    knoll.save(knoll.Lloyd(2, bounds=(-3, 3)).fit(rng.normal(size=(100, 2))), path)
    path.write_text(json.dumps({**json.loads(path.read_text()), "bounds_in_doubt": bad}))
    with pytest.raises(DataError, match="doubts"):
        knoll.load(path)
