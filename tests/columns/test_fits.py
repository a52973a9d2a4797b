"""Kinds of columns from a table to clusters in the user's terms, and back."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import adjusted_rand_score

import knoll
from knoll.privacy import MemoryLedger
from knoll.privacy.errors import BoundsError

COLUMNS = {
    "age": (0, 110), "income": knoll.Log(1e3, 1e6), "plan": {"basic", "gold", "flex"}, "smoker": bool,
    "visit": ("2020-01-01", "2023-12-31"), "hour": knoll.Cyclic.hour(),
}  # fmt: skip
TEXT = (
    "age=0:110,income=log:1000:1000000,plan={basic,gold,flex},smoker=bool,visit=2020-01-01:2023-12-31,hour=cyclic:hour"
)
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(scope="module")
def customers():
    rng, n = np.random.default_rng(0), 12_000
    group = rng.integers(0, 4, n)
    frame = pd.DataFrame(
        {
            "id": np.arange(n),
            "age": np.array([20, 40, 60, 50])[group] + 5 * rng.normal(size=n),
            "income": np.exp(np.array([10, 11, 12, 10.5])[group] + 0.3 * rng.normal(size=n)),
            "plan": np.where(rng.random(n) < 0.85, np.array(["basic", "gold", "flex", "flex"])[group], "rare"),
            "smoker": np.where(rng.random(n) < np.array([0.9, 0.1, 0.2, 0.8])[group], "yes", "no"),
            "visit": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 1000, n), "D"),
            "hour": (np.array([2, 23, 12, 1])[group] + rng.normal(size=n)) % 24,
        }
    )
    return frame, group


@pytest.mark.parametrize("name", ["KMeans", "PEMeans", "LSHTree", "GaussianMixture", "MorseClustering"])
def test_every_kind_of_column_at_once(customers, name, tmp_path):
    frame, group = customers
    model = getattr(knoll, name)(4, epsilon=2.0, bounds=COLUMNS, random_state=0).fit(frame)
    labels = model.predict(frame)
    assert adjusted_rand_score(group, labels) > 0.5
    assert model.n_features_in_ == 6
    assert list(model.feature_names_in_) == list(COLUMNS)
    knoll.save(model, tmp_path / "model.json")
    assert (knoll.load(tmp_path / "model.json").predict(frame) == labels).all()


def test_files_and_frames_give_the_same_totals(customers, tmp_path):
    frame, group = customers
    frame.to_csv(tmp_path / "x.csv", index=False)
    frame.to_parquet(tmp_path / "x.parquet")
    fits = []
    for table in (frame, tmp_path / "x.csv", str(tmp_path / "x.parquet")):
        with knoll.testing.seeded_noise(1):
            fits.append(knoll.KMeans(4, bounds=COLUMNS, random_state=0).fit(table))
    for each in fits[1:]:
        np.testing.assert_allclose(each.cluster_centers_, fits[0].cluster_centers_, rtol=1e-9)
    assert adjusted_rand_score(group, fits[0].predict(tmp_path / "x.csv")) > 0.85


def test_a_summary_speaks_the_users_terms(customers):
    frame, _ = customers
    table = knoll.KMeans(4, epsilon=4.0, bounds=COLUMNS, random_state=0).fit(frame).summary()
    young = table.iloc[table["age"].argmin()]
    assert young["age"] == pytest.approx(20, abs=2)
    assert young["income"] == pytest.approx(np.exp(10), rel=0.1)
    assert young["plan"].startswith("basic 8")
    assert young["smoker"] == pytest.approx(0.9, abs=0.05)
    assert str(young["visit"])[:4] == "2021"
    assert young["hour"] == pytest.approx(2, abs=0.3)
    assert "plan=basic more" in young["sets it apart"]
    assert table["share"].sum() == pytest.approx(1)


def test_methods_along_columns_refuse_levels_before_anything_is_spent(customers):
    frame, _ = customers
    ledger = MemoryLedger()
    with pytest.raises(BoundsError, match="'plan' is one of"):
        knoll.ModeSeeking(bounds=COLUMNS, ledger=ledger).fit(frame)
    assert not ledger.lines
    lines = {name: kind for name, kind in COLUMNS.items() if name in ("age", "income", "visit")}
    assert knoll.ModeSeeking(bounds=lines).fit(frame).modes_.shape[1] == 3


def test_bounds_by_name_choose_columns_of_a_frame(customers):
    frame, _ = customers
    model = knoll.KMeans(4, bounds={"hour": (0, 24), "age": (0, 110)}).fit(frame)
    assert list(model.feature_names_in_) == ["hour", "age"]
    assert len(model.predict(frame)) == len(frame)


def test_the_command_line(customers, tmp_path):
    from typer.testing import CliRunner

    from knoll.cli.main import app

    frame, _ = customers
    frame.to_csv("x.csv", index=False)
    run = CliRunner().invoke(app, ["cluster", "x.csv", "--bounds", TEXT, "--k", "4", "--epsilon", "4"])
    assert run.exit_code == 0, run.output
    assert "basic 8" in Path("out/summary.csv").read_text()
    labelled = CliRunner().invoke(app, ["predict", "out/model.json", "x.csv", "--out", "labels.csv"])
    assert labelled.exit_code == 0, labelled.output
    labels = pd.read_csv("labels.csv")["cluster"]
    assert (labels == knoll.load("out/model.json").predict(frame)).all()


def test_a_null_record_is_no_record_of_missing_levels(customers):
    frame, _ = customers
    level = {"plan": knoll.Category("basic", "gold", missing="level")}
    with pytest.raises(BoundsError, match="null record"):
        knoll.KMeans(2, bounds=level, relation="replace_special").fit(frame)
    assert knoll.KMeans(2, bounds=level).fit(frame).cluster_centers_.shape == (2, 4)


def test_levels_are_not_said_to_be_cut():
    """Yes and no, and levels in order, end where they end: clusters may lie there."""
    rng = np.random.default_rng(0)
    group = rng.integers(0, 2, 3000)
    table = {
        "grown": group == 1,
        "class": np.array(["1", "3"])[group],
        "age": np.array([10.0, 40.0])[group] + rng.normal(0, 3, 3000),
    }
    bounds = {"grown": bool, "class": "ordered:{1,2,3}", "age": (0, 90)}
    model = knoll.KMeans(2, epsilon=5.0, bounds=bounds, random_state=0).fit(table)
    assert "centres-on-bounds" not in [each.code for each in model.diagnostics_]
    narrow = knoll.KMeans(2, epsilon=5.0, bounds=bounds | {"age": (0, 30)}, random_state=0).fit(table)
    assert "centres-on-bounds" in [each.code for each in narrow.diagnostics_]


def test_shares_in_words_are_proper_and_unknown_amounts_are_not_numbers():
    from knoll.summary import _in_terms, _levels

    assert _levels(["a", "b", "c"], np.array([0.98, 0.21, -0.05])) == "a 88 %, b 12 %"
    values, errors = _in_terms(knoll.Log(1, 1e6), np.array([[3.0], [4.0]]), np.array([[0.1], [np.inf]]))
    assert values == [8.0, 16.0]
    assert 0 < errors[0] < 1
    assert errors[1] == np.inf


@pytest.mark.parametrize("kind", ["hour", "date"])
def test_an_even_column_of_another_kind_does_not_hide_clusters(kind):
    rng = np.random.default_rng(0)
    places = np.array([[40, 40, 40], [60, 60, 40], [60, 40, 60]])
    segment = rng.integers(3, size=20_000)
    numbers = places[segment] + 4 * rng.normal(size=(20_000, 3))
    more, what = {
        "hour": (rng.uniform(0, 24, 20_000), knoll.Cyclic.hour()),
        "date": (rng.integers(0, 1000, 20_000).astype("M8[D]"), ("1970-01-01", "1972-09-27")),
    }[kind]
    table = {"a": numbers[:, 0], "b": numbers[:, 1], "c": numbers[:, 2], "more": more}
    bounds = {"a": (0, 100), "b": (0, 100), "c": (0, 100), "more": what}
    model = knoll.KMeans(3, epsilon=2.0, bounds=bounds, random_state=0).fit(table)
    assert adjusted_rand_score(segment, model.predict(table)) > 0.95
