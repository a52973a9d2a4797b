"""Pictures of modes, and the commands that draw them."""

import pandas as pd
from typer.testing import CliRunner

import knoll
from knoll.cli.main import app
from knoll.plots import plot_mode_tree, plot_modes, plot_regression, plot_surface
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
