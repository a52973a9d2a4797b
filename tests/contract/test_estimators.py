"""Every estimator: spends what it declares, releases the same list whatever the data, leaves nothing behind."""

import pickle
import re

import numpy as np
import pytest
from dp_accounting import GaussianDpEvent, LaplaceDpEvent
from dp_accounting.pld import PLDAccountant
from sklearn.base import clone

import knoll
from knoll.privacy import MemoryLedger, PrivacyError, Relation
from knoll.testing import recorded_noise, replayed_noise, seeded_noise, zero_noise
from tests.contract.registry import ESTIMATORS, make_estimator

NAMES = list(ESTIMATORS)
BUDGETS = [(1.0, 1e-6), (0.25, 1e-9), (4.0, 1e-5), (1.0, 0.0)]


def data(d, n=400, seed=0):
    return np.random.default_rng(seed).uniform(-1, 1, size=(n, d))


def published(model):
    """Every fitted number of a model, bit for bit."""
    return {name: np.asarray(getattr(model, name)).tobytes() for name in model._published}


def survives(model):
    """Whatever the noise did, results are numbers; only standard errors may be infinite."""
    for name in model._published:
        values = np.asarray(getattr(model, name))
        assert not np.isnan(values).any(), name
        assert "stderr" in name or np.isfinite(values).all(), name
    assert (getattr(model, "cluster_sizes_", np.zeros(1)) >= 0).all()


def more_groups(name, groups=5):
    """The parameter that sets the number of groups, if there is one."""
    known = make_estimator(name, 2).get_params(deep=False)
    return {size: groups for size in ("n_clusters", "n_components") if size in known}


def referee_epsilon(privacy):
    """Epsilon of the releases by an accountant that we did not write."""
    accountant = PLDAccountant(value_discretization_interval=1e-4)
    for entry in privacy.releases:
        multiplier = entry.scale / entry.sensitivity
        accountant.compose(GaussianDpEvent(multiplier) if entry.law == "gaussian" else LaplaceDpEvent(multiplier))
    return accountant.get_epsilon(max(privacy.delta, 1e-12))


@pytest.mark.parametrize("d", [1, 2, 5, 10, 100])
@pytest.mark.parametrize("name", NAMES)
def test_spent_is_declared(name, d):
    for epsilon, delta in BUDGETS:
        privacy = make_estimator(name, d, epsilon=epsilon, delta=delta).fit(data(d)).privacy_
        assert privacy.spent_epsilon <= epsilon
        assert privacy.spent_epsilon == pytest.approx(epsilon, rel=5e-4)
        assert privacy.is_private
        assert sum(entry.share for entry in privacy.releases) == pytest.approx(1.0)


@pytest.mark.parametrize("d", [2, 100])
@pytest.mark.parametrize("name", NAMES)
def test_referee_agrees(name, d):
    for epsilon, delta in BUDGETS:
        privacy = make_estimator(name, d, epsilon=epsilon, delta=delta).fit(data(d)).privacy_
        found = referee_epsilon(privacy)
        # the referee rounds privacy losses up to its grid, once per release
        assert found <= epsilon + 1e-4 * (len(privacy.releases) + 1)
        if delta > 0:
            assert found >= 0.98 * epsilon


@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize("name", NAMES)
def test_releases_are_the_same_on_neighbouring_data_when_replayed(name, relation):
    X = data(3, n=200)
    outlier = np.full((1, 3), 1e9)
    neighbour = np.vstack([X[1:], outlier]) if relation is Relation.REPLACE_ONE else np.vstack([X, outlier])
    with recorded_noise() as transcript:
        first = make_estimator(name, 3, relation=str(relation)).fit(X)
    with replayed_noise(transcript):
        second = make_estimator(name, 3, relation=str(relation)).fit(neighbour)

    def listed(model):
        return [(e.query, e.shape, e.share, e.scale, e.sensitivity) for e in model.privacy_.releases]

    assert listed(first) == listed(second)
    assert published(first) == published(second)
    assert repr(first.bounds_) == repr(second.bounds_)


@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize("name", NAMES)
def test_noise_is_that_of_the_declared_relation_and_unit(name, relation):
    X = np.column_stack([data(2), np.arange(400) % 100])
    plain = make_estimator(name, 2, relation=str(relation)).fit(X[:, :2]).privacy_
    capped = make_estimator(name, 2, relation=str(relation), unit=knoll.User(2, 3)).fit(X).privacy_
    assert {entry.relation for entry in plain.releases} == {str(relation)} == {plain.relation}
    assert all(entry.unit == "user (column 2, at most 3 records each)" for entry in capped.releases)
    first, shared = plain.releases[0], capped.releases[0]
    assert shared.sensitivity == pytest.approx(3 * first.sensitivity)
    assert first.scale == pytest.approx(first.sensitivity / first.cost.mu_squared**0.5)
    if relation is Relation.REPLACE_ONE and first.query != "count":
        weaker = make_estimator(name, 2).fit(X[:, :2]).privacy_.releases[0]
        assert first.sensitivity > 1.2 * weaker.sensitivity


@pytest.mark.parametrize("name", NAMES)
def test_the_price_of_the_sampler_is_charged(name):
    for delta in (1e-6, 0.0):
        privacy = make_estimator(name, 2, delta=delta).fit(data(2)).privacy_
        for entry in privacy.releases:
            ideal = entry.sensitivity / entry.scale
            if delta:
                assert entry.cost.epsilon > 0
                assert entry.cost.delta > 0
            else:
                assert entry.cost.epsilon > ideal


@pytest.mark.parametrize("name", NAMES)
def test_labels_of_everything_that_can_be_fitted(name, tmp_path):
    if not hasattr(make_estimator(name, 2), "fit_predict"):
        pytest.skip("it gives no labels")
    X = data(2)
    X[3, 1] = np.nan
    np.savetxt(tmp_path / "rows.csv", X, delimiter=",", header="a,b", comments="")
    model = make_estimator(name, 2, missing="drop")
    for source in (X, tmp_path / "rows.csv"):
        labels = model.fit_predict(source)
        assert labels[3] == -1
        assert (np.delete(labels, 3) >= 0).all()
    with_users = np.column_stack([data(2), np.arange(400) % 100])
    assert len(make_estimator(name, 2, unit=knoll.User(2, 3)).fit_predict(with_users)) == 400


def totals_of(entry):
    """How many totals an entry stands for: disjoint parts of the records share one."""
    parts = re.search(r"each of (\d+) disjoint parts", entry.query)
    return int(parts[1]) if parts else 1


@pytest.mark.parametrize("name", NAMES)
def test_exact_totals_of_neighbours_differ_by_at_most_the_sensitivity(name):
    """End to end: the totals inside the door, not only the query's own word."""
    X = data(2, n=300)
    far = np.vstack([X, [[1e9, -1e9]]])
    with recorded_noise() as before:
        model = make_estimator(name, 2).fit(X)
    with replayed_noise(before) as after:
        make_estimator(name, 2).fit(far)
    moved = iter([np.linalg.norm((a - b).astype(float)) for a, b in zip(before.exact, after.exact, strict=True)])
    for entry in model.privacy_.releases:
        together = [next(moved) for _ in range(totals_of(entry))]
        assert np.linalg.norm(together) <= entry.sensitivity
    assert next(moved, None) is None
    assert not np.array_equal(before.exact[0], after.exact[0])


@pytest.mark.parametrize("name", NAMES)
def test_refit_spends_again_and_clone_has_spent_nothing(name):
    ledger = MemoryLedger("d")
    model = make_estimator(name, 2, ledger=ledger)
    model.fit(data(2))
    once = len(ledger.lines)
    model.fit(data(2))
    assert len(ledger.lines) > once > 0
    assert not hasattr(clone(model), "privacy_")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "bad",
    [
        {"epsilon": -1}, {"epsilon": 0}, {"epsilon": float("nan")}, {"epsilon": "one"}, {"epsilon": 1e9},
        {"delta": -1e-9},
        {"delta": 0.5}, {"delta": float("inf")}, {"size": 0}, {"size": 10**9}, {"size": 2.5},
        {"relation": "neighbours"}, {"missing": "impute"}, {"bounds": (1, -1)}, {"bounds": (0, 0)},
        {"bounds": (float("nan"), 1)}, {"bounds": (0, float("inf"))}, {"bounds": ([0, 0, 0], [1, 1, 1])}, {"bounds": 7},
        {"bounds": "auto"}, {"bounds": {0: (0, 1)}}, {"bounds": {0: (0, 1), 1: (0, 1), 2: (0, 1)}}, {"unit": "user"},
    ],
    ids=str,
)  # fmt: skip
def test_bad_parameters_are_refused_and_cost_nothing(name, bad):
    ledger = MemoryLedger("d")
    model = make_estimator(name, 2, ledger=ledger)
    if "size" in bad:
        bad = dict.fromkeys(more_groups(name), bad["size"])
        if not bad:
            pytest.skip("it has no number of groups")
    with pytest.raises(ValueError, match=r"\w"):
        model.set_params(**bad).fit(data(2))
    assert ledger.lines == []
    assert not hasattr(model, "privacy_")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "bad",
    [
        [["a", "b"], ["c", "d"]], [[1, "b"], [2, 3]], [[1.0, np.nan]] * 5, [[1.0, np.inf]] * 5, [], [[]],
        np.empty((0, 2)), [1, 2, 3],
        np.zeros((2, 2, 2)), np.zeros((3, 2)) + 1j, None, [[None, 1]], "no/such/file.csv", {"a": [1]},
    ],
    ids=lambda bad: str(bad)[:20],
)  # fmt: skip
def test_bad_data_is_refused_and_costs_nothing(name, bad):
    ledger = MemoryLedger("d")
    model = make_estimator(name, 2, ledger=ledger)
    with pytest.raises((ValueError, TypeError)):
        model.fit(bad)
    assert ledger.lines == []


@pytest.mark.parametrize("name", NAMES)
def test_shape_errors_quote_no_value(name):
    for bad in (np.array([47.11, 0.2]), np.array(47.11), np.array([[47.11 + 1j, 0]])):
        with pytest.raises(ValueError, match=r"\w") as caught:
            make_estimator(name, 2).fit(bad)
        assert "47.11" not in str(caught.value)


@pytest.mark.parametrize("name", NAMES)
def test_errors_quote_no_value(name):
    with pytest.raises(ValueError, match="not numbers") as caught:
        make_estimator(name, 2).fit(np.array([["4711", "secretname"]] * 5, dtype=object))
    assert "secretname" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


@pytest.mark.parametrize("name", NAMES)
def test_models_survive_pickling_and_json(name, tmp_path):
    X = data(2)
    model = make_estimator(name, 2).fit(X)
    for copy in (pickle.loads(pickle.dumps(model)), _through_json(model, tmp_path / "model.json")):
        assert published(copy) == published(model)
        assert copy.privacy_ == model.privacy_
        assert fitted(model) <= fitted(copy)  # nothing that a fit sets is lost; series are made anew when asked for
        if hasattr(model, "predict"):
            assert np.array_equal(copy.predict(X), model.predict(X))


def fitted(model):
    """Return the names of everything that a fit sets, and the values of plain ones."""
    plain = {name: value for name, value in vars(model).items() if name.endswith("_")}
    return {(name, value if isinstance(value, int | float) else "") for name, value in plain.items()}


def _through_json(model, path):
    knoll.save(model, path)
    return knoll.load(path)


@pytest.mark.parametrize("name", NAMES)
def test_a_fitted_model_holds_no_record(name):
    X = data(2, n=5000)
    model = make_estimator(name, 2).fit(X)
    numbers = sum(np.size(getattr(model, attribute)) for attribute in model._published)
    assert len(pickle.dumps(model)) < 20_000 + 8 * numbers
    if len(pickle.dumps(model)) >= 20_000:  # a model that publishes a whole density is as large, whatever the data
        fewer = [make_estimator(name, 2).fit(X[:n]) for n in (500, 3000)]
        alike = [each for each in fewer if getattr(each, "strategy_", "") == getattr(model, "strategy_", "")]
        assert alike
        for each in alike:
            assert len(pickle.dumps(each)) == pytest.approx(len(pickle.dumps(model)), rel=0.02)
    assert not hasattr(model, "labels_")
    assert not hasattr(model, "inertia_")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "source", [lambda: seeded_noise(1), zero_noise, recorded_noise], ids=["seeded", "zero", "recorded"]
)
def test_test_noise_says_so_everywhere(name, source, tmp_path):
    ledger = knoll.Ledger(tmp_path / "privacy.db", "d")
    with source():
        model = make_estimator(name, 2, ledger=ledger).fit(data(2))
    assert not model.privacy_.is_private
    assert "NOT PRIVATE" in str(model.privacy_)
    assert "NOT PRIVATE" in model.privacy_._repr_html_()
    assert not ledger.spend("d").private
    assert not any(line.entry.private for line in ledger.lines())
    knoll.save(model, tmp_path / "m.json")
    assert "NOT PRIVATE" in knoll.load(tmp_path / "m.json").privacy_.warning


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("delta", [1e-6, 0.0])
@pytest.mark.parametrize(
    "X",
    [np.zeros((50, 2)), np.zeros((1, 2)), np.full((40, 2), 1e6), np.repeat([[0.5, -0.5]], 9, axis=0)],
    ids=["all zero", "one record", "all outside", "all equal"],
)
def test_degenerate_data_survives(name, X, delta):
    survives(make_estimator(name, 2, delta=delta, **more_groups(name)).fit(X))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("epsilon", [1e-6, 1e-3, 30.0, 100.0])
@pytest.mark.parametrize("delta", [0.0, 1e-24, 1e-12, 0.1])
def test_extreme_budgets_work(name, epsilon, delta):
    """Or, next to the least there is, are refused before anything is spent."""
    ledger = MemoryLedger()
    try:
        model = make_estimator(name, 2, epsilon=epsilon, delta=delta, ledger=ledger).fit(data(2))
    except PrivacyError:
        assert (epsilon, ledger.lines) == (1e-6, [])
        return
    assert model.privacy_.spent_epsilon <= epsilon
    survives(model)


@pytest.mark.parametrize("name", [name for name in NAMES if hasattr(make_estimator(name, 2), "n_steps")])
@pytest.mark.parametrize("steps", [0, -1, 2.5, 10**9])
def test_bad_numbers_of_steps_are_refused(name, steps):
    with pytest.raises(ValueError, match="n_steps"):
        make_estimator(name, 2, n_steps=steps).fit(data(2))
