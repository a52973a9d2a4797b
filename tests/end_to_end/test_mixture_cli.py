"""knoll mixture and knoll local, from files to pictures."""

import csv
import json

import numpy as np
import pytest
from typer.testing import CliRunner

import knoll
from knoll.cli.main import app
from knoll.plots import plot_mixture, plot_side_by_side


@pytest.fixture
def run():
    runner = CliRunner()
    return lambda *arguments: runner.invoke(app, list(map(str, arguments)))


@pytest.fixture
def table(tmp_path):
    rng = np.random.RandomState(0)
    X = np.vstack([rng.normal([30, 25], [6, 3], (2000, 2)), rng.normal([65, 32], [8, 4], (3000, 2))])
    path = tmp_path / "people.csv"
    np.savetxt(path, X, delimiter=",", header="age,bmi", comments="", fmt="%.4f")
    return path


BOUNDS = "age=0:110,bmi=10:60"


@pytest.mark.parametrize("method", ["central", "em", "hard-em"])
def test_mixture_writes_what_it_says(run, table, tmp_path, method):
    out = tmp_path / "out"
    done = run("mixture", table, "--bounds", BOUNDS, "--k", 2, "--method", method, "--synthetic", 20, "--out", out)
    assert done.exit_code == 0, done.output
    assert "Spent: epsilon = 0.999" in done.output
    model = knoll.load(out / "model.json")
    assert np.sort(model.means_[:, 0]) == pytest.approx([30, 65], abs=3)
    with open(out / "components.csv") as file:
        rows = list(csv.DictReader(file))
    assert [float(row["age"]) for row in rows] == pytest.approx(model.means_[:, 0], rel=1e-6)
    assert [float(row["cov_age_bmi"]) for row in rows] == pytest.approx(model.covariances_[:, 0, 1], rel=1e-6)
    assert (out / "mixture.png").read_bytes()[:4] == b"\x89PNG"
    synthetic = np.loadtxt(out / "synthetic.csv", delimiter=",", skiprows=1)
    assert synthetic.shape == (20, 2)
    labels = run("predict", out / "model.json", table)
    assert labels.output.count("\n") == 5001


def test_the_number_of_components_can_be_left_open(run, table, tmp_path):
    done = run("mixture", table, "--columns", "age", "--bounds", "age=0:110", "--epsilon", 3, "--out", tmp_path / "out")
    assert done.exit_code == 0, done.output
    assert "2 components, chosen from the released values" in done.output


def test_bad_options_cost_nothing(run, table, tmp_path):
    for bad in (["--covariance", "round"], ["--k", 0], ["--epsilon", -1], ["--bounds", "age=110:0"]):
        done = run("mixture", table, "--bounds", BOUNDS, "--k", 2, "--ledger", tmp_path / "l.db", *bad)
        assert done.exit_code == 1, done.output
        assert "knoll:" in done.output


def test_local_from_client_to_picture(run, table, tmp_path):
    client, reports, out = tmp_path / "client.json", tmp_path / "reports.jsonl", tmp_path / "out"
    done = run("local", "client", "--bounds", "age=0:110", "--epsilon", 4, "--out", client)
    assert done.exit_code == 0, done.output
    done = run("local", "report", client, table, "--out", reports)
    assert done.exit_code == 0, done.output
    assert "5,000 reports" in done.output
    with open(reports, "a") as file:
        file.write('"hostile"\n[[[\n{"a": 1}\n\n-5\n')
    done = run("local", "fit", client, reports, "--k", 2, "--seed", 0, "--out", out)
    assert done.exit_code == 0, done.output
    assert "5 reports left out" in done.output
    model = knoll.load(out / "model.json")
    assert np.sort(model.means_[:, 0]) == pytest.approx([30, 65], abs=4)
    assert model.feature_names_in_.tolist() == ["age"]
    assert (out / "mixture.png").read_bytes()[:4] == b"\x89PNG"


def test_what_is_not_a_client_is_refused(run, tmp_path):
    reports = tmp_path / "r.jsonl"
    reports.write_text("1\n")
    for text in ("[]", "{}", "not json", json.dumps({"client": "square wave", "epsilon": "x"})):
        bad = tmp_path / "client.json"
        bad.write_text(text)
        assert run("local", "fit", bad, reports, "--out", tmp_path / "o").exit_code == 1
    assert run("local", "client", "--bounds", "0:1", "--epsilon", 0).exit_code == 1


def test_pictures_of_every_kind():
    rng = np.random.RandomState(0)
    one = rng.normal(0, 1, (500, 1))
    central = knoll.GaussianMixture(2, bounds=(-5, 5), random_state=0).fit(one)
    local = knoll.LocalGaussianMixture(2, bounds=(-5, 5), random_state=0).fit(one)
    assert len(plot_side_by_side({"central": central, "local": local}, "both").axes) == 2
    drowned = knoll.GaussianMixture(14, epsilon=0.01, bounds=(-5, 5), random_state=0).fit(rng.normal(0, 1, (60, 3)))
    assert len(plot_mixture(drowned, "a $title$").axes) == 2
