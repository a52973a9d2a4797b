"""Synthetic rows: the names, types and bounds that went in; shares and correlations of the model."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
from typer.testing import CliRunner

import knoll
from knoll.cli.main import app
from knoll.columns import Columns
from knoll.columns.frames import TableType, to_table

COLUMNS = {
    "age": (0, 60), "visits": "int:0:30", "income": knoll.Log(1e3, 1e6), "plan": {"basic", "gold"}, "smoker": bool,
    "joined": ("2020-01-01", "2023-12-31"), "seen": ("2020-01-01", "2023-12-31T12:00"), "hour": knoll.Cyclic.hour(),
    "day": knoll.Cyclic.weekday(), "size": knoll.Ordered("S", "M", "L"), "stars": knoll.Ordered(1, 2, 3),
    "code": knoll.Category("a", missing="level"),
}  # fmt: skip


@pytest.fixture(scope="module")
def people():
    rng, n = np.random.default_rng(3), 4000
    old = rng.random(n) < 0.5
    return pd.DataFrame(
        {
            "id": np.arange(n),
            "age": np.where(old, 50, 25) + 4 * rng.normal(size=n),
            "visits": rng.poisson(np.where(old, 9, 2)),
            "income": np.exp(np.where(old, 11, 9.5) + 0.2 * rng.normal(size=n)),
            "plan": pd.Categorical(np.where(rng.random(n) < 0.2, "rare", np.where(old, "gold", "basic"))),
            "smoker": rng.random(n) < np.where(old, 0.9, 0.2),
            "joined": pd.Timestamp("2021-01-01") + pd.to_timedelta(rng.integers(0, 500, n), "D"),
            "seen": pd.Timestamp("2021-01-01") + pd.to_timedelta(rng.integers(0, 10**6, n), "min"),
            "hour": (np.where(old, 23, 1) + rng.normal(size=n)) % 24,
            "day": np.where(old, 1, 4),
            "size": np.where(old, "L", "S"),
            "stars": np.where(old, 3, 1),
            "code": np.where(rng.random(n) < 0.5, "a", None),
        }
    )


@pytest.fixture(scope="module")
def models(people):
    return {
        name: getattr(knoll, name)(2, epsilon=8.0, bounds=COLUMNS, random_state=0).fit(people)
        for name in ("KMeans", "GaussianMixture")
    }


@pytest.mark.parametrize("name", ["KMeans", "GaussianMixture"])
def test_rows_have_the_names_types_and_bounds_that_went_in(people, models, name):
    rows = models[name].sample(3000, random_state=1)
    assert list(rows) == list(COLUMNS)
    kinds = {each: str(rows[each].dtype) for each in rows}
    assert kinds["plan"] == "category"
    assert kinds["smoker"] == "bool"
    assert kinds["visits"] == kinds["day"] == kinds["stars"] == "int64"
    assert kinds["age"] == kinds["income"] == kinds["hour"] == "float64"
    assert kinds["joined"].startswith("datetime64")
    assert kinds["seen"].startswith("datetime64")
    assert set(rows["plan"].unique()) <= {"basic", "gold", "other"}
    assert set(rows["size"]) <= {"S", "M", "L"}
    assert set(rows["code"].dropna()) <= {"a", "other"}
    assert rows["code"].isna().mean() == pytest.approx(0.5, abs=0.06)
    assert rows["age"].between(0, 60).all()
    assert rows["visits"].between(0, 30).all()
    assert rows["income"].between(1e3, 1e6).all()
    assert rows["hour"].between(0, 24, inclusive="left").all()
    assert rows["day"].isin(range(7)).all()
    assert rows["joined"].between("2020-01-01", "2023-12-31").all()


@pytest.mark.parametrize("name", ["KMeans", "GaussianMixture"])
def test_rows_are_like_the_records(people, models, name):
    rows = models[name].sample(4000, random_state=2)
    for column in ("age", "visits"):
        assert rows[column].mean() == pytest.approx(people[column].mean(), rel=0.1)
    assert (rows["plan"] == "other").mean() == pytest.approx(0.2, abs=0.04)
    for smoker in (False, True):
        real = people.loc[people["smoker"] == smoker, "age"].mean()
        assert rows.loc[rows["smoker"] == smoker, "age"].mean() == pytest.approx(real, rel=0.12)
    assert set(rows["day"].mode()) <= {1, 4}


def test_levels_and_numbers_go_together_over_components(people):
    model = knoll.GaussianMixture(4, epsilon=8.0, bounds={"age": (0, 60), "plan": {"basic", "gold"}}, random_state=0)
    rows = model.fit(people).sample(5000, random_state=0)
    ages = rows.groupby("plan", observed=True)["age"].mean()
    real = people.groupby(people["plan"].astype(str))["age"].mean()
    assert ages["gold"] == pytest.approx(real["gold"], abs=3)
    assert ages["basic"] == pytest.approx(real["basic"], abs=3)


def test_the_library_of_the_input_is_remembered(people, tmp_path):
    bounds = {"age": (0, 60), "plan": {"basic", "gold"}}
    for table, kind in ((people, pd.DataFrame), (pl.from_pandas(people), pl.DataFrame)):
        model = knoll.KMeans(2, bounds=bounds, random_state=0).fit(table)
        knoll.save(model, tmp_path / "model.json")
        for each in (model, knoll.load(tmp_path / "model.json")):
            assert isinstance(each.sample(5), kind)
            assert isinstance(each.summary(), kind)
            assert each.table_type_.categories == ("plan",)
    assert isinstance(model.sample(5, frame="pandas"), pd.DataFrame)
    assert isinstance(model.sample(5, frame=None), pa.Table)
    assert model.sample(5)["plan"].dtype == pl.Categorical
    lazy = knoll.KMeans(2, bounds=bounds, random_state=0).fit(pl.from_pandas(people).lazy())
    assert isinstance(lazy.summary(), pl.DataFrame)
    people.to_csv(tmp_path / "people.csv", index=False)
    model = knoll.KMeans(2, bounds=bounds, random_state=0).fit(tmp_path / "people.csv")
    assert isinstance(model.sample(5), pd.DataFrame)
    assert isinstance(model.sample(5)["plan"][0], str)


def test_plain_numbers_come_as_they_went_in_within_the_bounds(people):
    bounds = {"age": (20, 52), "visits": (0, 30)}
    model = knoll.GaussianMixture(2, bounds=[(20, 52), (0, 30)], random_state=0).fit(people[list(bounds)].to_numpy())
    assert isinstance(model.sample(5), np.ndarray)
    model = knoll.GaussianMixture(2, bounds=bounds, random_state=0).fit(people)
    rows = model.sample(500, random_state=0)
    assert isinstance(rows, pd.DataFrame)
    assert (rows.to_numpy() >= [20, 0]).all()
    assert (rows.to_numpy() <= [52, 30]).all()
    assert list(model.sample(5, frame="pandas")) == ["age", "visits"]


def test_a_column_named_like_one_of_the_summary(people):
    table = people.rename(columns={"age": "size", "size": "t"})
    found = knoll.KMeans(2, bounds={"size": (0, 60), "plan": {"basic"}}, random_state=0).fit(table).summary()
    assert found["size"].sum() == pytest.approx(4000, rel=0.2)
    assert found["size (column)"].between(0, 60).all()


def test_the_command_draws_rows(people, tmp_path, models):
    knoll.save(models["KMeans"], tmp_path / "model.json")
    for ending in ("csv", "parquet", "arrow"):
        out = tmp_path / f"rows.{ending}"
        done = CliRunner().invoke(app, ["sample", str(tmp_path / "model.json"), "--rows", "50", "--out", str(out)])
        assert done.exit_code == 0, done.output
    table = pyarrow.parquet.read_table(tmp_path / "rows.parquet")
    assert table.num_rows == 50
    assert isinstance(table["joined"][0].as_py(), datetime.date)
    again = knoll.KMeans(2, bounds=COLUMNS, random_state=0)
    for ending in ("csv", "parquet", "arrow"):  # what comes out can be read as what went in
        again.fit(tmp_path / f"rows.{ending}")
    bad = CliRunner().invoke(app, ["sample", str(tmp_path / "model.json"), "--out", str(tmp_path / "rows.txt")])
    assert bad.exit_code == 1
    knoll.save(knoll.Lloyd(2, bounds={"age": (0, 60)}).fit(people), tmp_path / "lloyd.json")
    bad = CliRunner().invoke(app, ["sample", str(tmp_path / "lloyd.json")])
    assert bad.exit_code == 1
    assert "no spreads" in bad.output


def test_a_strangers_table_type_is_checked():
    for bad in (None, [], {"library": "os", "categories": []}, {"library": None, "categories": [1]}, {"library": 1}):
        with pytest.raises(ValueError, match="its table"):
            TableType.from_dict(bad)
    kind = TableType("polars", ("plan",))
    assert TableType.from_dict(kind.to_dict()) == kind


def test_a_thousand_levels_come_back_as_texts():
    columns = Columns({"code": knoll.Category(*range(1000))})
    found = to_table(columns, np.array([[0.0], [999.0], [1000.0]]), ("code",))
    assert found["code"].to_pylist() == ["0", "999", "other"]
