"""Pictures of modes, and the commands that draw them."""

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import knoll
from knoll.cli.main import app
from knoll.plots import plot_mode_tree, plot_modes, plot_regression, plot_surface
from knoll.report import write_curves
from tests.made import corners


def test_pictures_and_commands(tmp_path):
    X = corners(3000)
    model = knoll.ModeSeeking(epsilon=2.0, bounds=(-10, 10), random_state=0).fit(X)
    for draw in (plot_modes, plot_surface, plot_mode_tree):
        draw(model).savefig(tmp_path / "p.png")
    plot_modes(knoll.ModeSeeking(bounds=(-10, 10), random_state=0).fit(X[:, :1])).savefig(tmp_path / "p.png")
    plot_regression(knoll.ModalRegression(0.1, bounds=(-10, 10), random_state=0).fit(X)).savefig(tmp_path / "p.png")
    pd.DataFrame(X, columns=["a", "b"]).to_csv(tmp_path / "x.csv", index=False)
    for command, files in (("modes", ("modes.csv", "modes.png")), ("regress", ("curves.csv", "curves.png"))):
        out = tmp_path / command
        result = CliRunner().invoke(app, [command, str(tmp_path / "x.csv"), "--bounds", "-10:10", "--out", str(out)])
        assert result.exit_code == 0, result.output
        assert all((out / name).stat().st_size > 0 for name in (*files, "model.json"))
        assert "epsilon = 1" in result.output


@pytest.fixture
def sheet(rng):
    """A bent sheet over two predictors, and 30 mistyped records far from all others."""
    x, z = rng.normal(40, 12, 8000), rng.uniform(0, 10, 8000)
    frame = pd.DataFrame({"x": x, "z": z, "y": 20 + 0.3 * x + z + rng.normal(size=8000)})
    frame.loc[:29, ["x", "y"]] = 109.0, 5.0
    return frame


def run(*arguments):
    return CliRunner().invoke(app, [str(each) for each in arguments])


def test_modes_in_three_columns_are_drawn_in_pairs(sheet, tmp_path):
    sheet.to_csv(tmp_path / "x.csv", index=False)
    done = run("modes", tmp_path / "x.csv", "--bounds", "x=0:110,z=0:10,y=0:90", "--out", tmp_path / "out")
    assert done.exit_code == 0, done.output
    assert "in pairs of columns" in done.output
    assert (tmp_path / "out" / "modes.png").stat().st_size > 10_000
    model = knoll.load(tmp_path / "out" / "model.json")
    assert [axes.get_xlabel() for axes in plot_modes(model).axes[:3]] == ["x", "x", "z"]


def test_regression_on_two_predictors_is_drawn_and_on_three_it_says_why_not(sheet, tmp_path):
    sheet.to_csv(tmp_path / "x.csv", index=False)
    done = run("regress", tmp_path / "x.csv", "--bounds", "x=0:110,z=0:10,y=0:90", "--out", tmp_path / "out")
    assert done.exit_code == 0, done.output
    assert (tmp_path / "out" / "curves.png").stat().st_size > 10_000
    found = pd.read_csv(tmp_path / "out" / "curves.csv")
    assert list(found)[:3] == ["x", "z", "y"]
    middle = found[(found.few_records == 0) & found.x.between(25, 55) & found.z.between(2, 8)]
    assert (
        middle.y - 20 - 0.3 * middle.x - middle.z
    ).abs().median() < 4  # of 90: the kernel blurs what little there is
    sheet.assign(w=1.0)[["x", "z", "w", "y"]].to_csv(tmp_path / "x.csv", index=False)
    more = ("--bounds", "x=0:110,z=0:10,w=0:2,y=0:90", "--bandwidth", 0.2, "--out", tmp_path / "three")
    done = run("regress", tmp_path / "x.csv", *more)
    assert done.exit_code == 0, done.output
    assert "No picture" in done.output
    assert "there are 3" in " ".join(done.output.split())


def test_curves_of_few_records_are_marked(sheet, tmp_path):
    model = knoll.ModalRegression(epsilon=4.0, bounds={"x": (0, 110), "y": (0, 90)}).fit(sheet[["x", "y"]])
    curves = model.curves(111)
    x = curves.x[curves.row, 0]
    assert (x > 100).any(), "30 records in one place are significant"
    assert curves.few[x > 100].all()
    assert not curves.few[(x > 25) & (x < 55)].any()
    assert curves.records[x > 100].max() < 100 < curves.records[(x > 25) & (x < 55)].min()
    write_curves(model, tmp_path / "curves.csv")
    found = pd.read_csv(tmp_path / "curves.csv")
    assert (found.few_records[found.x > 100] == 1).all()
    assert (found.few_records[found.x.between(25, 55)] == 0).all()
    assert "Hollow" in plot_regression(model).get_supxlabel()


def test_predict_names_what_it_predicts_and_cuts_no_digits(sheet, tmp_path):
    bounds = {"x": (0, 110), "z": (0, 10), "y": (0, 90)}
    sheet.head(50).to_csv(tmp_path / "rows.csv", index=False)
    sheet[["x", "z"]].head(50).to_csv(tmp_path / "predictors.csv", index=False)
    models = {
        "y": knoll.ModalRegression(0.1, bounds=bounds), "mode": knoll.ModeSeeking(bounds=bounds),
        "component": knoll.GaussianMixture(2, bounds=bounds), "cluster": knoll.ModeClustering(2, bounds=bounds),
    }  # fmt: skip
    for what, model in models.items():
        knoll.save(model.fit(sheet), tmp_path / "model.json")
        for rows in ("rows.csv", *(("predictors.csv",) if what == "y" else ())):
            done = run("predict", tmp_path / "model.json", tmp_path / rows, "--out", tmp_path / "out.csv")
            assert done.exit_code == 0, done.output
            found = pd.read_csv(tmp_path / "out.csv")
            assert list(found) == ["row", what]
            assert np.allclose(found[what], model.predict(sheet.head(50)), rtol=1e-6)
    assert models["y"].predict(sheet.head(50))[-1] % 1 > 0
    knoll.save(knoll.KernelDensity(0.1, bounds=bounds).fit(sheet), tmp_path / "model.json")
    assert "nothing to predict" in run("predict", tmp_path / "model.json", tmp_path / "rows.csv").output


def test_a_regression_without_names_predicts_a_prediction(sheet, tmp_path):
    knoll.save(knoll.ModalRegression(0.1, bounds=(0, 110)).fit(sheet[["x", "y"]].to_numpy()), tmp_path / "model.json")
    sheet[["x"]].head(5).to_csv(tmp_path / "rows.csv", index=False)
    done = run("predict", tmp_path / "model.json", tmp_path / "rows.csv")
    assert done.output.splitlines()[0] == "row,prediction"
