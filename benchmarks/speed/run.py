"""Speed and memory, as ratios in one run: noise, Lloyd against scikit-learn, files against memory.

python -m benchmarks.speed.run            about two minutes, 20,000,000 rows on disk (1.3 GB, removed afterwards)
python -m benchmarks.speed.run --quick    about twenty seconds, 2,000,000 rows
"""

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

import knoll
from benchmarks.common import median_seconds, write
from knoll.privacy import noise
from knoll.queries import Nearest, candidates

BOUNDS = (-15.0, 15.0)
ROOT = Path(__file__).parents[2]


def noise_rows() -> list[dict]:
    values = 10**6
    generator = np.random.default_rng()
    base = median_seconds(lambda: generator.normal(size=values), 9)
    return [
        {
            "what": f"{law} noise, 1,000,000 values",
            "seconds": f"{(seconds := median_seconds(lambda: draw(12345.6, values), 9)):.4f}",  # noqa: B023 (called here)
            "against": "numpy normal",
            "ratio": f"{seconds / base:.2f}",
            "limit": "5",
        }
        for law, draw in (("gaussian", noise.gaussian), ("laplace", noise.laplace))
    ]


def lloyd_rows(rows: int) -> list[dict]:
    X, _ = make_blobs(rows, 8, centers=16, random_state=1)
    theirs = median_seconds(lambda: KMeans(16, n_init=1, max_iter=5, tol=0, random_state=0).fit(X))
    found = []
    for what, bounds in (("equal bounds", BOUNDS), ("bounds of different widths", (-15.0, np.linspace(13, 20, 8)))):
        ours = median_seconds(lambda: knoll.Lloyd(16, bounds=bounds, scale_by_bounds=False, random_state=0).fit(X))  # noqa: B023 (called here)
        found.append(
            {
                "what": f"Lloyd, 5 steps, {rows:,} x 8, k=16, {what}",
                "seconds": f"{ours:.3f}",
                "against": "sklearn KMeans(n_init=1, max_iter=5, tol=0)",
                "ratio": f"{ours / theirs:.2f}",
                "limit": "2",
            }
        )
    return found


def kmeans_rows(rows: int) -> list[dict]:
    X, _ = make_blobs(rows, 8, centers=16, random_state=1)
    theirs = median_seconds(lambda: KMeans(16, n_init=1, random_state=0).fit(X), 3)
    found = []
    for kind, limit in ((knoll.KMeans, "3"), (knoll.PEMeans, "10")):
        ours = median_seconds(lambda: kind(16, bounds=BOUNDS, random_state=0).fit(X), 3)  # noqa: B023 (called here)
        found.append(
            {
                "what": f"{kind.__name__}, {rows:,} x 8, k=16",
                "seconds": f"{ours:.2f}",
                "against": "sklearn KMeans(n_init=1)",
                "ratio": f"{ours / theirs:.2f}",
                "limit": limit,
            }
        )
    return found


def candidates_rows(rows: int) -> list[dict]:
    """Votes among very many candidates, against votes among few."""
    found, rng = [], np.random.default_rng(0)
    for d in (2, 8, 16):
        X, _ = make_blobs(rows, d, centers=16, random_state=1)
        box = knoll.Box((-15.0,) * d, (15.0,) * d)
        points = X[rng.integers(0, rows, 50_000)] + 0.3 * rng.standard_normal((50_000, d))
        few = median_seconds(lambda: Nearest(points[:500], box).labels(X), 3)  # noqa: B023 (called here)
        many = median_seconds(lambda: candidates(points, box).labels(X), 3)  # noqa: B023 (called here)
        found.append(
            {
                "what": f"nearest of 50,000 candidates, {rows:,} x {d}",
                "seconds": f"{many:.2f}",
                "against": "nearest of 500",
                "ratio": f"{many / few:.2f}",
                "limit": "",
            }
        )
    return found


def write_parquet(path: Path, rows: int) -> None:
    centres = np.random.default_rng(0).uniform(-10, 10, size=(16, 8))
    names = [f"x{j}" for j in range(8)]
    with pq.ParquetWriter(path, pa.schema([(name, pa.float64()) for name in names])) as writer:
        rng = np.random.default_rng(1)
        for start in range(0, rows, 500_000):
            part = min(500_000, rows - start)
            X = centres[rng.integers(0, 16, part)] + rng.standard_normal((part, 8))
            writer.write_table(pa.table({name: X[:, j] for j, name in enumerate(names)}))


def fit_and_report(path: str) -> None:
    """In a process of its own: fit from a file and print seconds and peak memory."""
    model = knoll.Lloyd(16, bounds=BOUNDS, random_state=0)
    start = time.perf_counter()
    model.fit(path)
    print(time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6)


def file_rows(rows: int) -> list[dict]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        print(f"writing {rows:,} x 8 to parquet ...", flush=True)
        write_parquet(path, rows)
        call = [sys.executable, "-m", "benchmarks.speed.run", "--fit", str(path)]
        print("streaming it five times ...", flush=True)
        seconds, gigabytes = map(
            float, subprocess.run(call, check=True, capture_output=True, text=True, cwd=ROOT).stdout.split()
        )
        sample = pq.ParquetFile(path).iter_batches(batch_size=min(rows, 2_000_000))
        X = np.column_stack([column.to_numpy() for column in next(sample).columns])
    in_memory = median_seconds(lambda: knoll.Lloyd(16, bounds=BOUNDS, random_state=0).fit(X), 3) / len(X)
    name = f"Lloyd, 5 steps, {rows:,} x 8 from parquet"
    return [
        {
            "what": f"{name}: time per row",
            "seconds": f"{seconds:.1f}",
            "against": "the same rows in memory",
            "ratio": f"{seconds / rows / in_memory:.2f}",
            "limit": "2",
        },
        {"what": f"{name}: peak memory", "seconds": "", "against": "GB", "ratio": f"{gigabytes:.2f}", "limit": "1"},
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer rows")
    parser.add_argument("--fit", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.fit:
        fit_and_report(options.fit)
        return
    print("This takes about", "twenty seconds." if options.quick else "two minutes.", flush=True)
    rows = noise_rows() + lloyd_rows(200_000 if options.quick else 1_000_000)
    rows += kmeans_rows(200_000 if options.quick else 1_000_000)
    rows += candidates_rows(20_000 if options.quick else 100_000)
    rows += file_rows(2_000_000 if options.quick else 20_000_000)
    name = "speed-quick" if options.quick else "speed"
    write(name, "make bench-speed" + (" ARGS=--quick" if options.quick else ""), rows)


if __name__ == "__main__":
    main()
