"""A messy file, from the first look to synthetic rows, with nothing prepared: what a newcomer does."""

import csv
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import adjusted_rand_score
from typer.testing import CliRunner

import knoll
from knoll.cli.main import app
from tests.end_to_end.customers import COLUMNS, PLANS, write_customers

WRITTEN = ["--encoding", "cp1252", "--dates", "day-first"]


def run(*args):
    done = CliRunner().invoke(app, [str(each) for each in args], terminal_width=200)
    assert done.exit_code == 0, done.output
    return done.output


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("customers")
    np.save(folder / "segment.npy", write_customers(folder / "kunden.csv"))
    (folder / "columns.toml").write_text(COLUMNS, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def looked(folder):
    shared = [folder / "kunden.csv", "--columns", folder / "columns.toml", "--out", folder, *WRITTEN]
    return run("profile", *shared, "--epsilon", 0.5)


def test_a_draft_names_every_column_and_no_value(folder):
    draft = run("columns", folder / "kunden.csv", "--encoding", "cp1252")
    for name in ("Kunden-Nr", '"Kunde seit"', "Umsatz", "Käufe"):
        assert f"# {name}" in draft.replace('# "Käufe"', "# Käufe")
    assert "Müller" not in draft
    assert "K0000000" not in draft
    undeclared = CliRunner().invoke(app, ["columns", str(folder / "kunden.csv")])
    assert undeclared.exit_code == 1
    assert "--encoding" in undeclared.output


def test_the_segments_come_back(folder, looked):
    """From profile to clusters, labels, summary and synthetic rows, at epsilon 1."""
    shared = [folder / "kunden.csv", "--columns", folder / "columns.toml", "--out", folder, *WRITTEN]
    assert re.search(r"(29,9|30,0)\d\d ± \d+ records, 7 columns", looked)
    found = run("cluster", *shared, "--epsilon", 1, "--k", 5, "--seed", 0)
    assert "What sets each apart" in found
    for name in ("profile.png", "clusters.png", "report.html", "summary.csv"):
        assert (folder / name).stat().st_size > 1000
    run("predict", folder / "model.json", folder / "kunden.csv", "--out", folder / "labels.csv", *WRITTEN)
    with open(folder / "labels.csv", newline="", encoding="utf-8") as file:
        labels = np.array([int(row["cluster"] or -1) for row in csv.DictReader(file)])
    known = labels >= 0
    assert 0.95 < known.mean() < 0.98  # rows without a turnover or a date have none
    assert adjusted_rand_score(np.load(folder / "segment.npy")[known], labels[known]) >= 0.9
    summary = knoll.load(folder / "model.json").summary()
    assert len(summary) == 5
    assert summary["Kunde seit"].astype(str).str.match(r"20[012]\d-\d\d-\d\d").all()
    assert summary["Umsatz"].between(30, 9000).all()
    run("sample", folder / "model.json", "--rows", 2000, "--out", folder / "synthetic.csv", "--seed", 0)
    rows = pd.read_csv(folder / "synthetic.csv", parse_dates=["Kunde seit"])
    assert set(rows["Tarif"].dropna()) <= {*PLANS, "other"}
    assert rows["Geburtsjahr"].between(1920, 2010).all()
    assert rows["Newsletter"].dropna().isin([True, False]).all()


def test_a_profile_gives_bounds(folder, looked):
    profile = folder / "profile.json"
    out = folder / "by-profile"
    run("cluster", folder / "kunden.csv", "--bounds", profile, "--k", 5, "--seed", 0, "--out", out, *WRITTEN)
    model = knoll.load(out / "model.json")
    assert model.bounds_.names[0] == "Geburtsjahr"
    labels = model.predict(knoll.Source(folder / "kunden.csv", encoding="cp1252", dates="day-first"))
    known = labels >= 0
    assert adjusted_rand_score(np.load(folder / "segment.npy")[known], labels[known]) >= 0.9
