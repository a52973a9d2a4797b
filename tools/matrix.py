"""Install knoll beside the lowest and the newest versions of its dependencies, on several Pythons, and run the tests.

python -m tools.matrix                                    every row: each runs all tests (an hour, on two cores)
python -m tools.matrix --python 3.12 --versions newest    one row
python -m tools.matrix --python 3.11 --versions lowest -- tests/compiled tests/engines
                                                          the same, with some tests only

Environments are made by uv (`pip install uv`), each in a folder of its own, with what `pyproject.toml` declares.
"Lowest" is the floor of every dependency; what these need in turn, and pytest, are as old as the floors (`AS_OF`), for
nobody has old libraries beside new ones. A row is written down once it has run (`tools/results/matrix.md`).
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from tools.output import RESULTS, write

ROOT = Path(__file__).resolve().parent.parent
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
AS_OF = "2024-12-01"  # the floors of pyproject.toml were the newest, or older, on this day
LOWEST_ON = ("3.11", "3.12")  # later Pythons have no wheels of libraries that old
TOOLS = ("pytest", "pytest-xdist", "hypothesis", "dp-accounting", "mpmath", "xlsxwriter", "xlwt")
OURS = "numpy scipy scikit-learn threadpoolctl randomgen numba pyarrow typer rich matplotlib pandas polars fastexcel"
LEFT_OUT = ("tests/report", "tests/docs")  # a browser, and the site's own tools: not a matter of these versions


def floors() -> dict[str, str]:
    """Return the lowest version that pyproject.toml allows of every dependency of the package."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = declared["optional-dependencies"]
    lines = declared["dependencies"] + extras["plots"] + extras["frames"] + extras["excel"]
    return dict(line.split(">=", 1) for line in lines)


def run(*command: str, environment: Path) -> str:
    """Run a command for an environment; return what it printed."""
    variables = {**os.environ, "VIRTUAL_ENV": str(environment)}
    return subprocess.run(command, check=True, text=True, capture_output=True, env=variables, cwd=ROOT).stdout


def made(python: str, versions: str, folder: Path) -> Path:
    """Make an environment with the lowest or the newest versions; return its folder."""
    environment, pins = folder / "environment", folder / "pins.txt"
    run("uv", "venv", "--quiet", "--python", python, str(environment), environment=environment)
    old = ["--exclude-newer", AS_OF] if versions == "lowest" else []
    resolution = ["--resolution", "lowest-direct" if old else "highest"]
    extras = ["--extra", "plots", "--extra", "frames", "--extra", "excel"]
    compiled = ["uv", "pip", "compile", "--quiet", "--python", python, *old, *resolution, *extras]
    run(*compiled, "pyproject.toml", "--output-file", str(pins), environment=environment)
    run("uv", "pip", "install", "--quiet", *old, "-r", str(pins), *TOOLS, environment=environment)
    run("uv", "pip", "install", "--quiet", "--no-deps", str(ROOT), environment=environment)
    return environment


def tested(environment: Path, tests: list[str], jobs: int) -> str:
    """Run tests in an environment; return pytest's last words."""
    chosen = tests or ["tests", *(f"--ignore={each}" for each in LEFT_OUT)]
    call = [str(environment / "bin" / "python"), "-m", "pytest", "-n", str(jobs), "-p", "no:cacheprovider", *chosen]
    one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    done = subprocess.run(call, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env={**os.environ, **one},
                          cwd=ROOT)  # fmt: skip
    print(done.stdout[-6000:])
    counts = re.findall(r"\d+ (?:passed|failed|errors?|xfailed|skipped)", done.stdout.strip().splitlines()[-1])
    return ", ".join(counts) if counts else "failed: no counts" if done.returncode else "all passed"


def row(python: str, versions: str, tests: list[str], jobs: int) -> dict[str, str]:
    """Make one environment, run the tests there, and say which versions it held."""
    with tempfile.TemporaryDirectory() as folder:
        environment = made(python, versions, Path(folder))
        listed = json.loads(run("uv", "pip", "list", "--format", "json", environment=environment))
        version = {each["name"]: each["version"] for each in listed}
        outcome = tested(environment, tests, jobs)
    shown = {name: version.get(name, "-") for name in OURS.split()}
    return {"Python": python, "versions": versions, **shown, "tests": " ".join(tests) or "all", "outcome": outcome}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", choices=PYTHONS, action="append", help="only this one; may be repeated")
    parser.add_argument("--versions", choices=("lowest", "newest"), action="append", help="only these")
    parser.add_argument("--jobs", type=int, default=2, help="tests that run at once")
    parser.add_argument("tests", nargs="*", help="tests to run, all by default")
    options = parser.parse_args()
    wanted = [
        (python, versions)
        for versions in options.versions or ("lowest", "newest")
        for python in options.python or PYTHONS
        if versions == "newest" or python in LOWEST_ON
    ]
    known = RESULTS / "matrix.json"
    rows = {(r["Python"], r["versions"]): r for r in json.loads(known.read_text())["rows"]} if known.exists() else {}
    for python, versions in wanted:
        print(f"Python {python}, {versions} versions ...", flush=True)
        rows[python, versions] = row(python, versions, options.tests, options.jobs)
        write("matrix", "python -m tools.matrix", [rows[key] for key in sorted(rows)])
    sys.exit(any("failed" in r["outcome"] or "error" in r["outcome"] for r in rows.values()))


if __name__ == "__main__":
    main()
