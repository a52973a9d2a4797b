"""A profile: figures near the truth within their errors, one budget, found bounds, and what it shows."""

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import knoll
from knoll.cli.main import app
from knoll.privacy import Budget, CapExceededError
from knoll.privacy.errors import BoundsError, DataError, PrivacyError

N = 20_000
COLUMNS = {
    "age": (0, 110), "income": knoll.Log(100, 1_000_000), "visits": knoll.Whole(0, 50),
    "plan": knoll.Category("basic", "gold"), "smoker": bool, "size": knoll.Ordered("S", "M", "L"),
    "joined": ("2015-01-01", "2025-12-31"), "hour": knoll.Cyclic.hour(), "spent": (0, 1000),
}  # fmt: skip


def made(rng):
    table = pd.DataFrame(
        {
            "age": rng.normal(40, 10, N), "income": np.exp(rng.normal(10, 1, N)), "visits": rng.poisson(4, N),
            "plan": rng.choice(["basic", "gold", "trial"], N, p=[0.6, 0.3, 0.1]), "smoker": rng.random(N) < 0.2,
            "size": rng.choice(["S", "M", "L"], N, p=[0.2, 0.5, 0.3]),
            "joined": np.datetime64("2018-01-01") + rng.integers(0, 1000, N), "hour": rng.normal(12, 2, N),
            "spent": np.where(rng.random(N) < 0.6, 0.0, rng.gamma(2, 50, N)),
        }
    )  # fmt: skip
    table.loc[rng.random(N) < 0.1, "age"] = np.nan
    return table


@pytest.fixture
def table(rng):
    return made(rng)


@pytest.fixture
def profile(table):
    return knoll.Profile(COLUMNS, epsilon=1.0).fit(table)


def test_figures_are_near_the_truth_and_in_the_users_terms(profile, table):
    assert abs(profile.n_records_ - N) < 5 * profile.n_records_stderr_ < 200
    row = profile.summary("pandas").set_index("column")
    assert row.loc["age", "missing"] == pytest.approx(table["age"].isna().mean(), abs=0.01)
    for name, tolerance in (("age", 0.5), ("income", 1000), ("visits", 0.2), ("spent", 5)):
        value, error = profile.quantile(name, 0.5)
        assert abs(value - table[name].median()) < tolerance, name
        assert error < tolerance
        assert abs(row.loc[name, "mean"] - table[name].mean()) < max(5 * row.loc[name, "mean ±"], tolerance), name
    assert abs((row.loc["joined", "50 %"] - table["joined"].median().date()).days) < 10
    shares = profile.histogram("plan", None)
    assert shares["level"] == ["basic", "gold", "other"]
    assert shares["share"] == pytest.approx([0.6, 0.3, 0.1], abs=0.02)
    assert profile.histogram("size", None)["level"] == ["S", "M", "L"]
    assert profile.histogram("smoker", None)["share"][1] == pytest.approx(0.2, abs=0.02)
    for name in COLUMNS:
        assert sum(profile.histogram(name, None)["share"]) == pytest.approx(1.0)


def test_one_budget_and_nothing_but_looks(profile):
    assert profile.privacy_.epsilon <= 1.0
    assert {each.query for each in profile.privacy_.releases} == {"column profile"}
    assert len(profile.privacy_.releases) == 3
    flat = knoll.Profile({"plan": {"basic", "gold"}}).fit({"plan": ["basic"] * 50 + ["gold"] * 50})
    assert len(flat.privacy_.releases) == 1  # nothing to search for


def test_the_ledger_is_charged_once_and_found_bounds_are_free(table, tmp_path):
    book = knoll.Ledger(tmp_path / "spent.ledger", "customers")
    book.set_cap("customers", Budget(1.9, 1e-6))
    profile = knoll.Profile(COLUMNS, epsilon=0.5, ledger=book).fit(table)
    model = knoll.KMeans(2, bounds=profile, epsilon=1.0, missing="drop", ledger=book, random_state=0).fit(table)
    assert list(model.feature_names_in_) == list(COLUMNS)
    assert "column profile" not in {each.query for each in model.privacy_.releases}
    with pytest.raises(CapExceededError):
        knoll.Profile(COLUMNS, epsilon=2.0, ledger=book).fit(table)


def test_found_bounds_are_narrower_and_hold_the_records(profile, table):
    found = profile.found_columns
    assert found.names == tuple(COLUMNS)
    age, income, spent = found["age"], found["income"], found["spent"]
    assert 0 <= age.lower < 20
    assert 60 < age.upper < 100
    assert spent.upper < 600
    assert (table["income"].between(income.lower, income.upper)).mean() > 0.97
    assert found["plan"].keys == ["basic", "gold"]
    again = knoll.Profile(profile, epsilon=1.0).fit(table)
    assert again.columns_["age"] == age


def test_an_array_without_names_has_places(rng):
    X = rng.normal(0, 1, (5000, 2))
    profile = knoll.Profile(bounds=(-100, 100)).fit(X)
    low, high = profile.found_columns.kinds[0].part[1:]
    assert -30 < low < -2 < 2 < high < 30
    model = knoll.KMeans(2, bounds=profile, random_state=0).fit(X)
    assert model.cluster_centers_.shape == (2, 2)


def test_missing_values_by_rule(rng):
    table = {"a": [1.0, None, 3.0] * 400, "b": [1.0, 2.0, 3.0] * 400}
    counted = knoll.Profile({"a": (0, 10), "b": (0, 10)}).fit(table)
    assert counted.missing_shares_ == pytest.approx([1 / 3, 0], abs=0.1)
    dropped = knoll.Profile({"a": (0, 10), "b": (0, 10)}, missing="drop").fit(table)
    assert dropped.n_records_ == pytest.approx(800, abs=150)
    with pytest.raises(DataError, match="missing"):
        knoll.Profile({"a": (0, 10), "b": (0, 10)}, missing="refuse").fit(table)


@pytest.mark.parametrize("relation", ["add_remove", "replace_one", "replace_special"])
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_every_relation_and_law(relation, delta, rng):
    table = {"a": rng.normal(0, 1, 8000), "b": rng.choice(["x", "y"], 8000)}
    profile = knoll.Profile({"a": (-10, 10), "b": {"x", "y"}}, relation=relation, delta=delta).fit(table)
    median, error = profile.quantile("a", 0.5)
    assert abs(median) < 0.3
    assert error < 0.3
    assert profile.privacy_.delta <= delta


def test_a_constant_an_empty_and_a_tiny_table(rng):
    same = knoll.Profile({"a": (0, 1000)}, epsilon=5.0).fit({"a": np.full(3000, 7.0)})
    value, _ = same.quantile("a", 0.5)
    assert abs(value - 7.0) < 1.0
    assert same.quantiles_low_[0, 3] <= 7.0 <= same.quantiles_high_[0, 3]
    few = knoll.Profile({"a": (0, 1000), "b": bool}, epsilon=0.1).fit({"a": [1.0, 2.0], "b": [True, False]})
    assert np.isfinite(few.quantiles_).all()
    assert (few.quantiles_low_ <= few.quantiles_).all()
    assert (few.quantiles_ <= few.quantiles_high_).all()
    assert "records" in str(few)


def test_what_it_shows(profile, tmp_path):
    text = str(profile)
    assert text.splitlines()[0].endswith("records, 9 columns")
    assert all(name in text for name in COLUMNS)
    assert "gold" in text
    panels = [axes for axes in profile.plot().axes if axes.get_visible()]
    assert len(panels) == 9
    profile.plot().savefig(tmp_path / "p.png")
    again = knoll.load(knoll.save(profile, tmp_path / "p.json") or tmp_path / "p.json")
    assert str(again) == text
    assert "±" in profile.summary("polars").columns[3]


def test_refusals(table):
    with pytest.raises(BoundsError, match="same"):
        knoll.Profile(COLUMNS, bounds=COLUMNS).fit(table)
    with pytest.raises(PrivacyError, match="too many"):
        knoll.Profile({f"x{j}": (0, 1) for j in range(2001)}).fit({f"x{j}": [0.5] for j in range(2001)})
    fitted = knoll.Profile({"age": (0, 110), "plan": {"basic", "gold"}}).fit(table)
    with pytest.raises(DataError, match="no column"):
        fitted.histogram("nobody")
    with pytest.raises(DataError, match="quantiles are released at"):
        fitted.quantile("plan", 0.5)
    with pytest.raises(DataError, match="quantiles are released at"):
        fitted.quantile("age", 0.4)


def test_the_command_writes_a_profile_that_gives_bounds(table, tmp_path):
    table.to_csv(tmp_path / "x.csv", index=False)
    out = tmp_path / "out"
    bounds = "age=0:110,income=log:100:1000000,plan={basic,gold},smoker=bool,joined=2015-01-01:2025-12-31"
    call = ["profile", str(tmp_path / "x.csv"), "--bounds", bounds, "--epsilon", ".5", "--out", str(out)]
    done = CliRunner().invoke(app, call)
    assert done.exit_code == 0, done.output
    assert "smoker" in done.output
    assert (out / "profile.png").stat().st_size > 10_000
    rows = pd.read_csv(out / "profile.csv")
    assert rows["column"].tolist() == ["age", "income", "plan", "smoker", "joined"]
    profile = knoll.load(out / "profile.json")
    assert profile.privacy_.epsilon <= 0.5
    model = knoll.KMeans(2, bounds=profile, missing="drop", random_state=0).fit(str(tmp_path / "x.csv"))
    assert list(model.feature_names_in_) == rows["column"].tolist()


def test_a_mean_that_noise_hides_is_not_seen():
    cost = np.exp(np.random.default_rng(0).normal(6, 1, 4000))
    wide = knoll.Profile({"cost": knoll.Log(1, 1e9)}, epsilon=0.5).fit(pd.DataFrame({"cost": cost}))
    assert wide.summary(None)["mean ±"] == [np.inf]
    assert "not seen" in str(wide)
    near = knoll.Profile({"cost": knoll.Log(1, 1e4)}, epsilon=1.0).fit(pd.DataFrame({"cost": cost}))
    assert abs(near.summary(None)["mean"][0] - cost.clip(1, 1e4).mean()) < 5 * near.summary(None)["mean ±"][0] < 500
