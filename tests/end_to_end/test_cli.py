"""The command line as a newcomer would use it, and break it."""

import csv
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import knoll
from knoll.cli.main import app
from knoll.datasets import write_clinic_csv

BOUNDS = "age=0:110,bmi=10:60"


@pytest.fixture
def run():
    runner = CliRunner()
    return lambda *arguments: runner.invoke(app, list(map(str, arguments)))


@pytest.fixture
def visits(tmp_path):
    path = tmp_path / "visits.csv"
    write_clinic_csv(path, 3000)
    return path


def cluster(run, visits, *more):
    return run("cluster", visits, "--columns", "age,bmi", "--bounds", BOUNDS, "--k", 4, "--missing", "drop", *more)


def test_cluster_writes_what_it_says(run, visits, tmp_path):
    done = cluster(run, visits, "--epsilon", 1, "--out", tmp_path / "out")
    assert done.exit_code == 0, done.output
    assert "±" in done.output
    assert "Spent: epsilon = 0.999" in done.output
    model = knoll.load(tmp_path / "out" / "model.json")
    assert model.cluster_centers_.shape == (4, 2)
    with open(tmp_path / "out" / "centers.csv") as file:
        rows = list(csv.DictReader(file))
    assert [float(row["age"]) for row in rows] == pytest.approx(model.cluster_centers_[:, 0], rel=1e-6)
    assert (tmp_path / "out" / "clusters.png").read_bytes()[:4] == b"\x89PNG"


@pytest.mark.parametrize("method", ["kmeans", "lloyd", "fast-lloyd", "pe-means", "lsh-tree", "cubes", "morse"])
def test_every_method(run, visits, tmp_path, method):
    done = cluster(run, visits, "--method", method, "--out", tmp_path / "out")
    assert done.exit_code == 0, done.output
    assert knoll.load(tmp_path / "out" / "model.json").cluster_centers_.shape == (4, 2)


def test_the_number_of_clusters_can_be_left_open(run, visits, tmp_path):
    done = run("cluster", visits, "--bounds", BOUNDS, "--missing", "drop", "--out", tmp_path / "out")
    assert done.exit_code == 0, done.output
    assert re.search(r"\d clusters?, chosen: right within 5 % with", " ".join(done.output.split()))
    refused = run("cluster", visits, "--bounds", BOUNDS, "--missing", "drop", "--method", "lloyd")
    assert refused.exit_code == 1
    assert "n_clusters=None" in refused.output


def test_predict_labels_every_row(run, visits, tmp_path):
    cluster(run, visits, "--out", tmp_path / "out")
    done = run("predict", tmp_path / "out" / "model.json", visits, "--out", tmp_path / "labels.csv")
    assert done.exit_code == 0, done.output
    with open(tmp_path / "labels.csv") as file:
        labels = [row["cluster"] for row in csv.DictReader(file)]
    assert len(labels) == 3000
    assert {label for label in labels if label} <= {"0", "1", "2", "3"}
    assert "" in labels  # rows with gaps have no cluster


def test_ledger_and_cap(run, visits, tmp_path):
    book = tmp_path / "privacy.db"
    assert run("ledger", "cap", "--ledger", book, "--dataset", "visits", "--epsilon", 1).exit_code == 0
    assert cluster(run, visits, "--epsilon", 0.9, "--ledger", book, "--out", tmp_path / "out").exit_code == 0
    refused = cluster(run, visits, "--epsilon", 0.9, "--ledger", book, "--out", tmp_path / "out")
    assert refused.exit_code == 1
    assert "cap of 'visits'" in refused.output
    shown = run("ledger", "show", "--ledger", book, "--dataset", "visits")
    assert shown.exit_code == 0
    assert "0.899" in shown.output
    assert run("ledger", "show", "--ledger", tmp_path / "none.db").exit_code != 0


def test_plan_simulates_and_draws(run, tmp_path):
    out = tmp_path / "plan"
    done = run("plan", "--rows", 5000, "--dims", 2, "--k", "3,5", "--epsilons", "0.1,1", "--runs", 1, "--out", out)
    assert done.exit_code == 0, done.output
    words = " ".join(done.output.split())
    assert "is the smallest of these that will do" in words
    assert "Someone who is 50 % sure that you are in the data is right at most" in words
    assert (out / "plan.png").stat().st_size > 10_000
    assert len((out / "plan.csv").read_text().splitlines()) == 5


def test_plan_by_a_public_stand_in(run, visits, tmp_path):
    out = tmp_path / "plan"
    done = run("plan", "--like", visits, "--columns", "age,bmi", "--bounds", "age=0:110,bmi=10:60", "--k", 4,
               "--epsilons", 1, "--runs", 1, "--out", out)  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "a public stand-in" in " ".join(done.output.split())


def test_a_quick_plan_simulates_nothing(run, tmp_path):
    done = run("plan", "--rows", 20000, "--dims", 4, "--k", 5, "--epsilon", 1, "--quick")
    assert done.exit_code == 0
    assert "± size of a cluster" in done.output
    assert list(tmp_path.iterdir()) == []


def test_a_plan_for_more_clusters_than_records_says_so(run):
    for more in (["--quick"], []):
        done = run("plan", "--rows", 20, "--dims", 2, "--k", 50, *more)
        assert "more clusters" in done.output or "more than 20 records" in done.output
        assert "of 0" not in done.output
    assert "give --rows and --dims" in run("plan", "--k", 5, "--rows", 100).output
    assert "is not a whole number" in run("plan", "--k", "five", "--rows", 100, "--dims", 2).output


def test_plan_tells_the_noise_of_a_fit(rng):
    rows = rng.uniform(size=(2000, 3))
    with knoll.testing.zero_noise():
        exact = knoll.Lloyd(4, bounds=(0, 1), n_steps=1, random_state=0).fit(rows)
    fits = [knoll.Lloyd(4, bounds=(0, 1), n_steps=1, random_state=0).fit(rows) for _ in range(60)]
    off = np.array([fit.cluster_sizes_ - exact.cluster_sizes_ for fit in fits])
    plan = knoll.plan(2000, 3, 4, steps=1)
    assert plan.size_stderr == pytest.approx(off.std(), rel=0.2)
    middle = np.median([np.median(fit.centers_stderr_) for fit in fits])
    assert 0.3 * middle < plan.center_stderr < 3 * middle


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["--epsilon", "0"], "positive"),
        (["--bounds", "age=0:110"], "no bounds for column 'bmi'"),
        (["--bounds", "age=zero:110,bmi=1:2"], "not a range"),
        (["--bounds", "age=110:0,bmi=10:60"], "not below"),
        (["--columns", "age,height"], "no column 'height'"),
        (["--missing", "refuse"], "missing"),
        (["--user", "nobody"], "nobody"),
        (["--relation", "cousins"], "relation"),
        (["--k", "0"], "n_clusters"),
        (["--out", "/proc/nowhere"], ""),
    ],
    ids=str,
)
def test_mistakes_get_one_clear_line_and_cost_nothing(run, visits, tmp_path, more, says):
    book = tmp_path / "privacy.db"
    done = cluster(run, visits, "--ledger", book, "--out", tmp_path / "out", *more)
    assert done.exit_code != 0
    assert says in " ".join(done.output.split())
    assert "Traceback" not in done.output
    assert not book.exists() or knoll.Ledger(book).lines() == []


def test_no_bounds_explains_both_ways(run, visits):
    done = run("cluster", visits, "--columns", "age,bmi", "--k", 2)
    assert done.exit_code == 1
    assert 'bounds="private"' in done.output


def test_demo_end_to_end(run, tmp_path):
    done = run("demo", "--out", tmp_path / "demo", "--rows", 3000)
    assert done.exit_code == 0, done.output
    assert (tmp_path / "demo" / "clusters.png").exists()
    assert "Open" in done.output
    words = " ".join(done.output.split())
    assert "--user patient --cap 2" in words  # half of the patients come twice: a visit is not a person
    assert "user (column 'patient', at most 2 records each)" in words
    with open(tmp_path / "demo" / "visits.csv") as file:
        ids = [row["patient"] for row in csv.DictReader(file)]
    assert max(ids.count(each) for each in set(ids)) == 2


@pytest.mark.parametrize("command", [[], ["cluster"], ["predict"], ["plan"], ["ledger"], ["ledger", "show"], ["demo"]])
def test_help_helps(run, command):
    done = run(*command, "--help")
    assert done.exit_code == 0
    assert "Usage" in done.output


@pytest.mark.parametrize(
    "text",
    [
        "", "{}", "[]", "null", "7", '{"knoll": 1}', '{"knoll": 2, "estimator": "Lloyd"}', "{" * 10_000, "\x00\x01",
        '{"knoll": 1, "estimator": "os.system", "bounds": {}, "parameters": {}}',
    ],
    ids=lambda text: repr(text[:25]),
)  # fmt: skip
def test_hostile_models_are_refused(tmp_path, text):
    path = tmp_path / "model.json"
    path.write_text(text)
    with pytest.raises(knoll.privacy.DataError):
        knoll.load(path)


def test_tampered_models_are_refused(run, visits, tmp_path):
    cluster(run, visits, "--out", tmp_path / "out")
    path = tmp_path / "out" / "model.json"
    good = json.loads(path.read_text())
    for change in (
        lambda m: m["fitted"].update(cluster_centers_=[[1.0, "x"]] * 4),
        lambda m: m["fitted"].update(cluster_centers_=[[1.0]] * 4),
        lambda m: m["fitted"].update(cluster_centers_=[[None, 1.0]] * 4),
        lambda m: m.update(columns=["a"]),
        lambda m: m["bounds"].update(lower=[9e9, 9e9]),
        lambda m: m["privacy"].pop("spent"),
        lambda m: m["parameters"].pop("epsilon"),
    ):
        model = json.loads(json.dumps(good))
        change(model)
        path.write_text(json.dumps(model))
        with pytest.raises(knoll.privacy.DataError):
            knoll.load(path)


def test_import_is_quick_and_light():
    code = (
        "import time, sys; t = time.perf_counter(); import knoll; e = time.perf_counter() - t; "
        "heavy = {'sklearn', 'matplotlib', 'pyarrow', 'pandas', 'rich', 'typer'} & set(sys.modules); "
        "assert e < 1.0 and not heavy, (e, heavy)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_morse_chooses_and_draws(run, visits, tmp_path):
    out = tmp_path / "out"
    done = run(
        "cluster", visits, "--columns", "age,bmi", "--bounds", BOUNDS, "--missing", "drop", "--method", "morse",
        "--epsilon", 4, "--out", out,
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "clusters, chosen: right within 5 %" in " ".join(done.output.split())
    assert (out / "morse.png").stat().st_size > 10_000
    model = knoll.load(out / "model.json")
    assert model.n_clusters_ == len(np.unique(model.component_clusters_))
    assert run("predict", out / "model.json", visits, "--out", out / "labels.csv").exit_code == 0


def test_rooms_are_there_after_a_plain_import():
    """As the documentation writes it: `import knoll`, then `knoll.plots.plot_morse(model)`."""
    code = "import knoll; knoll.plots.plot_morse, knoll.morse.landscape, knoll.audit.audit, knoll.testing.zero_noise"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_bought_bounds_are_printed(run, visits, tmp_path):
    bought = ("--columns", "age,bmi", "--bounds", "private", "--k", 2, "--missing", "drop")
    done = run("cluster", visits, *bought, "--out", tmp_path / "out")
    assert done.exit_code == 0, done.output
    box = knoll.load(tmp_path / "out" / "model.json").bounds_
    text = " ".join(done.output.split())
    assert f"age {box.lower[0]:.6g} to {box.upper[0]:.6g}" in text
    doubtful = run("cluster", visits, *bought, "--epsilon", 0.05, "--out", tmp_path / "out")
    assert "in doubt: give bounds for it" in " ".join(doubtful.output.split())
    given = cluster(run, visits, "--out", tmp_path / "out")
    assert "bought from the budget" not in given.output


def test_columns_are_drafted_and_kept(run, tmp_path):
    (tmp_path / "x.csv").write_text("customer id,income,plan\nu1,secret,gold\n")
    drafted = run("columns", "x.csv")
    assert drafted.exit_code == 0, drafted.output
    assert "secret" not in drafted.output
    assert '# "customer id" = ' in drafted.output
    assert '# plan = "{level,level}"' in drafted.output
    assert run("columns", "x.csv", "--out", "columns.toml").exit_code == 0
    assert run("columns", "x.csv", "--out", "columns.toml").exit_code == 1  # what was filled in stays
    assert (tmp_path / "columns.toml").read_text() == drafted.output


def test_files_are_declared_on_the_command_line(run, tmp_path):
    rows = [f"{i % 100},5;{'1.' if i % 2 else ''}200,25" for i in range(2000)]
    (tmp_path / "x.csv").write_bytes(("\u00e4lter;betrag\n" + "\n".join(rows) + "\n").encode("latin-1"))
    bounds = "\u00e4lter=0:100,betrag=0:2000"
    declared = ["--encoding", "latin-1", "--decimal", ",", "--k", 2, "--out", tmp_path / "out"]
    done = run("cluster", "x.csv", "--bounds", bounds, *declared)
    assert done.exit_code == 0, done.output
    assert run("cluster", "x.csv", "--bounds", bounds, "--k", 2).exit_code == 1
    both = run("cluster", "x.csv", "--bounds", bounds, "--columns", "columns.toml", *declared)
    assert both.exit_code == 2
    assert run("cluster", "x.csv", "--bounds", "\u00e4lter={a", *declared).exit_code == 2


def test_the_version_is_one(run):
    root = Path(__file__).parents[2]
    assert run("--version").output.strip() == f"knoll {knoll.__version__}"
    assert f'version = "{knoll.__version__}"' in (root / "pyproject.toml").read_text()
    assert f"version: {knoll.__version__}\n" in (root / "CITATION.cff").read_text()
