"""diffprivlib's KMeans, in an environment of its own: it does not import beside a current scikit-learn.

As a module: makes the environment and runs this file in it; `python -m benchmarks.kmeans.with_diffprivlib` prints how
many times the declared epsilon a fit spends. As a script, in that environment: reads an NPZ of data, fits, prints
losses as JSON. It is given each column's exact range, works with delta = 0, and spends more than it
declares above five columns (it swaps two parts of its budget), so its figures flatter it.
"""

import json
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

HOME = Path(__file__).parents[2] / ".venv-diffprivlib"
PACKAGES = ("diffprivlib==0.6.6", "scikit-learn==1.5.2", "numpy<2.2")
COLUMNS = (2, 10, 100)


@dataclass(frozen=True)
class Diffprivlib:
    """An environment that can run diffprivlib."""

    python: Path
    name: str = "diffprivlib"

    @classmethod
    def install(cls) -> "Diffprivlib | None":
        """Make the environment, or say that it cannot be made."""
        python = HOME / "bin" / "python"
        try:
            if not python.exists():
                print("making an environment for diffprivlib ...", flush=True)
                subprocess.run([sys.executable, "-m", "venv", str(HOME)], check=True, capture_output=True)
                subprocess.run([python, "-m", "pip", "install", "--quiet", *PACKAGES], check=True, capture_output=True)
            subprocess.run([python, "-c", "import diffprivlib.models"], check=True, capture_output=True)
        except (subprocess.CalledProcessError, OSError):
            print("diffprivlib cannot be installed here; it is left out.", flush=True)
            return None
        return cls(python)

    def losses(self, X, k: int, runs: int, epsilons: tuple[float, ...]) -> dict:
        """Loss of each run and epsilon, as for our own methods."""
        import numpy as np

        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "data.npz"
            np.savez(path, X=X, k=k, runs=runs, epsilons=np.array(epsilons))
            done = subprocess.run([self.python, __file__, str(path)], check=True, capture_output=True, text=True)
        return json.loads(done.stdout)

    def spending(self, columns: tuple[int, ...]) -> list[float]:
        """Return how many times the declared epsilon a fit spends, for these numbers of columns."""
        names = [str(d) for d in columns]
        done = subprocess.run([self.python, __file__, "spends", *names], check=True, capture_output=True, text=True)
        return json.loads(done.stdout)


def spends(columns: list[int]) -> None:
    """Add up what the mechanisms of one cluster are given: a record is in one cluster at each step."""
    import warnings
    from unittest.mock import patch

    import numpy as np
    from diffprivlib.models import KMeans, k_means

    warnings.simplefilter("ignore")
    spent: list[float] = []

    def counted(mechanism: type):
        plain = mechanism.randomise

        def randomise(self, value):
            spent.append(self.epsilon)
            return plain(self, value)

        return patch.object(mechanism, "randomise", randomise)

    ratios = []
    for d in columns:
        X = np.random.default_rng(0).uniform(size=(1000, d))
        spent.clear()
        with counted(k_means.GeometricFolded), counted(k_means.LaplaceBoundedDomain):
            KMeans(1, epsilon=1.0, bounds=(np.zeros(d), np.ones(d)), random_state=0).fit(X)
        ratios.append(sum(spent))
    print(json.dumps(ratios))


def main(path: str) -> None:
    import warnings

    import numpy as np
    from diffprivlib.models import KMeans

    warnings.simplefilter("ignore")
    with np.load(path) as data:
        X, k, runs, epsilons = data["X"], int(data["k"]), int(data["runs"]), data["epsilons"].tolist()
    bounds = (X.min(axis=0) - 1e-9, X.max(axis=0) + 1e-9)
    start, table = time.perf_counter(), []
    for run in range(runs):
        row = []
        for epsilon in epsilons:
            centres = KMeans(k, epsilon=epsilon, bounds=bounds, random_state=run).fit(X).cluster_centers_
            squares = np.square(X).sum(axis=1)[:, None] - 2 * X @ centres.T + np.square(centres).sum(axis=1)
            row.append(float(np.maximum(squares.min(axis=1), 0.0).mean()))
        table.append(row)
    seconds = (time.perf_counter() - start) / runs / len(epsilons)
    print(json.dumps({"losses": table, "seconds": seconds}))


if __name__ == "__main__":
    if len(sys.argv) == 1 and (found := Diffprivlib.install()) is not None:
        for d, ratio in zip(COLUMNS, found.spending(COLUMNS), strict=True):
            print(f"{d} columns: spends {ratio:.2f} times the epsilon that it declares")
    elif sys.argv[1:2] == ["spends"]:
        spends([int(d) for d in sys.argv[2:]])
    elif len(sys.argv) > 1:
        main(sys.argv[1])
