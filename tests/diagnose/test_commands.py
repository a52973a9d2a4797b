"""Commands print remarks and quality, in the colours of their severity, and do not warn besides."""

import numpy as np
import pytest
from typer.testing import CliRunner

import knoll
from knoll.cli import printed
from knoll.cli.main import app
from knoll.testing import seeded_noise
from tests.diagnose.registry import people, three


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "people.csv"
    people(0, 3000, user_id=1).rename(columns={"age": "[red]age"}).to_csv(path, index=False)
    return path


BOUNDS = "[red]age=0:1,income=0:200000,user_id=0:3000"


def test_cluster_prints_remarks_and_quality(table, tmp_path):
    done = CliRunner().invoke(
        app, ["cluster", str(table), "--k", "3", "--bounds", BOUNDS, "--out", str(tmp_path / "o")]
    )
    assert done.exit_code == 0, done.output
    assert "Quality: within-cluster variance" in done.output
    assert "error: Every cluster is on the bounds of '[red]age'" in done.output
    assert "warning: By name, 'user_id' is an id" in done.output
    assert "DiagnosticWarning" not in done.output
    model = knoll.load(tmp_path / "o" / "model.json")
    assert {"centres-on-bounds", "id-as-feature"} <= {each.code for each in model.diagnostics_}


@pytest.mark.parametrize("command", ["mixture", "modes", "regress"])
def test_every_command_prints_remarks(table, tmp_path, command):
    out = str(tmp_path / "o")
    done = CliRunner().invoke(app, [command, str(table), "--bounds", BOUNDS, "--out", out])
    assert done.exit_code == 0, done.output
    assert "warning: By name, 'user_id' is an id" in done.output


def test_a_good_fit_has_no_remarks(tmp_path):
    np.savetxt(tmp_path / "rows.csv", three(0), delimiter=",", header="a,b", comments="")
    more = ["--k", "3", "--bounds", "a=-10:10,b=-10:10", "--out", str(tmp_path / "o")]
    done = CliRunner().invoke(app, ["cluster", str(tmp_path / "rows.csv"), *more])
    assert "warning" not in done.output
    assert "error" not in done.output.replace("standard error", "")


def test_that_a_fit_is_not_private_is_said_once(capsys):
    with seeded_noise(0):
        model = knoll.KMeans(3, bounds=(-10, 10)).fit(three(0))
    with printed.console.capture() as caught:
        printed.print_remarks(model)
    assert "NOT PRIVATE" not in caught.get()
