"""An install without matplotlib: fits, reports, notebooks and commands work; pictures say what to install."""

import subprocess
import sys

import pytest

HIDE = """
import sys
from importlib.abc import MetaPathFinder
import importlib.util
class Hidden(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "matplotlib":
            raise ModuleNotFoundError("No module named 'matplotlib'", name="matplotlib")
sys.meta_path.insert(0, Hidden())
found = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name == "matplotlib" else found(name, *rest)
"""
MODEL = """
import numpy as np, knoll
X = np.random.default_rng(0).normal([[-4, 0], [4, 0]], 1, size=(500, 2, 2)).reshape(-1, 2)
model = knoll.KMeans(2, epsilon=2.0, bounds=(-9, 9)).fit(X)
model.report("report.html")
assert "data:image/png" not in model._repr_mimebundle_()["text/html"]
for ask in (model.plot, lambda: knoll.plots.plot(model), lambda: knoll.audit.plot_audit):
    try:
        ask()
    except ModuleNotFoundError as error:
        assert "pip install 'knoll[plots]'" in str(error), error
    else:
        raise AssertionError("a picture without matplotlib")
assert not any(name.partition(".")[0] == "matplotlib" for name in sys.modules)
"""


def run(code, folder):
    return subprocess.run([sys.executable, "-c", HIDE + code], cwd=folder, capture_output=True, text=True)


def test_python(tmp_path):
    done = run(MODEL, tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "report.html").stat().st_size > 10_000


COMMANDS = {
    "cluster": ("cluster t.csv --bounds 0:10 --k 2 --method morse --epsilon 4 --out out", "clusters.png and morse.png"),
    "modes": ("modes t.csv --bounds 0:10 --out out", "modes.png and mode-tree.png"),
    "regress": ("regress t.csv --bounds 0:10 --out out", "curves.png"),
    "profile": ("profile t.csv --bounds 0:10 --out out", "profile.png"),
    "mixture": ("mixture t.csv --bounds 0:10 --k 2 --out out", "mixture.png"),
    "plan": ("plan --rows 300 --dims 2 --k 2 --epsilons 1 --runs 1 --out out", "plan.png"),
    "audit": ("audit Lloyd --runs 40 --out out/report.png", "report.png"),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_commands(command, tmp_path):
    typed, pictures = COMMANDS[command]
    table = "".join(f"{2 + i % 5 + 3 * (i % 2)},{1 + i % 3 + 4 * (i % 2)}\n" for i in range(600))
    (tmp_path / "t.csv").write_text("a,b\n" + table)
    (tmp_path / "out").mkdir()
    code = f"from knoll.cli.main import app\nsys.argv = ['knoll', *{typed.split()!r}]\napp()"
    done = run(code, tmp_path)
    said = " ".join(done.stdout.split())
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"No {pictures}: pictures need matplotlib, pip install 'knoll[plots]'" in said
    assert (tmp_path / "out" / "report.html").stat().st_size > 10_000
    assert not list(tmp_path.rglob("*.png"))
