"""Missing values filled in by released means: charged, stated, saved; a null record stays null."""

import numpy as np
import pandas as pd
import pytest

import knoll
from knoll.columns import Columns, domain_of
from knoll.engines import ArrayEngine
from knoll.privacy import MemoryLedger
from knoll.queries import Count, ObservedMeans
from knoll.releases import Fit, counted

COLUMNS = {
    "age": knoll.Number(0, 110, missing="impute"),
    "income": knoll.Log(1e3, 1e6, missing="impute"),
    "plan": knoll.Category("basic", "gold", missing="impute"),
    "smoker": knoll.Boolean(missing="impute"),
    "visit": knoll.Date("2020-01-01", "2023-12-31", missing="impute"),
    "hour": knoll.Cyclic.hour(missing="impute"),
    "bmi": knoll.Number(10, 60),
}


def people(n=4000, gaps=0.3, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.normal(40, 5, n),
            "income": np.exp(rng.normal(10, 0.3, n)),
            "plan": rng.choice(["basic", "gold"], n, p=[0.3, 0.7]).astype(object),
            "smoker": rng.choice([True, False], n, p=[0.8, 0.2]).astype(object),
            "visit": pd.Timestamp("2021-06-01") + pd.to_timedelta(rng.integers(0, 100, n), "D"),
            "hour": (23.5 + rng.normal(size=n)) % 24,
        }
    )
    frame = frame.mask(rng.random(frame.shape) < gaps)
    return frame.assign(bmi=rng.normal(25, 2, n))


@pytest.fixture(scope="module")
def model():
    return knoll.KMeans(2, epsilon=8.0, bounds=COLUMNS, random_state=0).fit(people())


def test_gaps_are_filled_with_released_means(model):
    told = model.columns_.decode(model.imputed_[None, :])
    assert told["age"][0] == pytest.approx(40, abs=2)
    assert told["income"][0] == pytest.approx(np.exp(10), rel=0.15)
    assert told["plan"][0] == "gold"
    assert model.imputed_[3] == pytest.approx(0.8, abs=0.05)
    assert str(told["visit"][0])[:7] == "2021-07"
    assert abs((told["hour"][0] + 12) % 24 - 11.5) < 0.5
    assert np.isnan(told["bmi"][0])
    assert model.cluster_sizes_.sum() == pytest.approx(4000, rel=0.05)


def test_the_release_is_stated_and_within_the_budget(model):
    names = [entry.query for entry in model.privacy_.releases]
    assert names[0] == "means of observed values"
    assert names.count("means of observed values") == 1
    assert model.privacy_.spent_epsilon <= 8.0
    fit = Fit.of(model)
    assert counted("KMeans", fit, names) is not None
    assert counted("KMeans", fit, names[1:]) is None


@pytest.mark.parametrize("name", ["Lloyd", "PEMeans", "LSHTree", "Cubes", "MorseClustering", "GaussianMixture"])
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_every_estimator_stays_within_its_budget(name, delta):
    model = getattr(knoll, name)(2, bounds=COLUMNS, delta=delta, random_state=0).fit(people(500))
    assert model.privacy_.spent_epsilon <= 1.0
    assert model.privacy_.releases[0].query == "means of observed values"
    assert (model.predict(people(50, seed=1)) >= 0).all()


def test_saved_models_fill_in_too(model, tmp_path):
    rows = people(200, seed=2)
    knoll.save(model, tmp_path / "model.json")
    again = knoll.load(tmp_path / "model.json")
    np.testing.assert_array_equal(again.imputed_, model.imputed_)
    labels = model.predict(rows)
    assert (labels >= 0).all()
    assert (again.predict(rows) == labels).all()
    assert np.isfinite(model.transform(rows)).all()
    text = (tmp_path / "model.json").read_text()
    for bad in ('"imputed": [],', '"imputed": [1, 2, 3, 4, 5, 6, 7],', '"imputed": null,', ""):
        start = text.index('"imputed"')
        (tmp_path / "bad.json").write_text(text[:start] + bad + text[text.index('"fitted"') :])
        with pytest.raises(ValueError, match="not a knoll model"):
            knoll.load(tmp_path / "bad.json")


def test_moments_of_the_cells_take_the_released_means(model):
    ledger = MemoryLedger()
    model.set_params(ledger=ledger)
    model.to_mixture(people())
    model.set_params(ledger=None)
    assert "means of observed values" not in [entry.query for entry in model.mixture_privacy_.releases]


def engine_of(rows, columns, *, nulls):
    columns = Columns(columns)
    return ArrayEngine(np.array(rows), columns.names, nulls=nulls, rules=columns.missing("refuse"))


def test_a_null_record_is_not_filled_in():
    columns = {"a": knoll.Number(0, 1, missing="impute"), "b": knoll.Number(0, 1, missing="impute")}
    rows = [[0.5, 0.5], [np.nan, 0.5], [np.nan, np.nan]]
    means = ObservedMeans(domain_of(Columns(columns)), [0, 1])
    for nulls, records in ((True, 2), (False, 3)):
        engine = engine_of(rows, columns, nulls=nulls)
        assert engine.aggregate(means)[[0, 2]].tolist() == [1, 2]
        assert engine.aggregate(Count()) == 1  # nothing is filled in yet
        engine.impute(np.array([0.1, 0.2]))
        assert engine.aggregate(Count()) == records
    found = np.vstack([block for block, _ in engine.blocks()])
    np.testing.assert_array_equal(found, [[0.5, 0.5], [0.1, 0.5], [0.1, 0.2]])


def test_rules_of_other_columns_come_first():
    columns = {"a": knoll.Number(0, 1, missing="impute"), "b": knoll.Number(0, 1, missing="drop")}
    engine = engine_of([[np.nan, 0.5], [0.5, np.nan], [np.nan, np.nan]], columns, nulls=False)
    engine.impute(np.array([0.1, 0.9]))
    assert engine.aggregate(Count()) == 1
    strict = engine_of([[np.nan, np.nan]], {"a": columns["a"], "b": knoll.Number(0, 1)}, nulls=False)
    with pytest.raises(ValueError, match="missing"):
        strict.aggregate(Count())


@pytest.mark.parametrize("relation", ["replace_special", "replace_one"])
def test_null_records_under_the_replace_relations(relation):
    columns = {"age": knoll.Number(0, 110, missing="impute"), "plan": knoll.Category("gold", missing="impute")}
    frame = people(2000)
    frame.loc[:999] = None
    model = knoll.KMeans(1, epsilon=4.0, bounds=columns, relation=relation, random_state=0).fit(frame)
    assert model.cluster_sizes_.sum() < 1200


def test_nobody_has_a_value():
    frame = pd.DataFrame({"age": [None] * 100, "bmi": [20.0] * 100})
    columns = {"age": knoll.Number(0, 110, missing="impute"), "bmi": (10, 60)}
    model = knoll.Lloyd(1, bounds=columns, random_state=0).fit(frame)
    assert 0 <= model.imputed_[0] <= 110


def test_rules_are_declared_in_text_and_toml(tmp_path):
    columns = Columns.from_text("age=0:110;missing=impute,plan={a,b};missing=level,bmi=0:1;missing=drop")
    assert columns.missing("refuse") == ("impute", "refuse", "drop")
    assert Columns.from_text(str(columns)) == columns
    assert Columns.from_dict(columns.to_dict()) == columns
    with pytest.raises(ValueError, match='is not one of "refuse", "drop", "impute"'):
        knoll.Number(0, 1, missing="mean")
