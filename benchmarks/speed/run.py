"""Speed and memory, as ratios in one run: noise, fits against scikit-learn, files against memory.

python -m benchmarks.speed.run            about ten minutes, 20,000,000 rows on disk (1.3 GB, removed afterwards)
python -m benchmarks.speed.run --quick    about a minute, 2,000,000 rows on disk
python -m benchmarks.speed.run --part wide  one part, the last figures of the others stay
python -m benchmarks.speed.run --roofline which part of the machine's limits queries reach
python -m benchmarks.speed.run --scaling  how a pass grows with rows, centres and columns

A ratio above its limit ends the run with an error.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from sklearn.datasets import make_blobs

import knoll
from benchmarks.common import RESULTS, median_seconds, write
from benchmarks.speed import fits
from benchmarks.speed.fits import BOUNDS, peak_memory
from benchmarks.speed.limits import roofline_rows, scaling_rows
from knoll.privacy import noise
from knoll.queries import Nearest, candidates

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
    """In a process of its own, once all is compiled: fit from a file and print seconds and peak memory."""
    model = knoll.Lloyd(16, bounds=BOUNDS, random_state=0)
    model.fit(np.random.default_rng(0).normal(size=(1000, 8)))
    seconds = median_seconds(lambda: model.fit(path), 3)
    print(seconds, peak_memory() / 1e9)


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
        decoding = median_seconds(lambda: decode(path), 3) / rows
        X = np.empty((rows, 8))
        for j, name in enumerate(pq.read_schema(path).names):
            X[:, j] = pq.read_table(path, columns=[name])[name].to_numpy()
    in_memory = median_seconds(lambda: knoll.Lloyd(16, bounds=BOUNDS, random_state=0).fit(X), 5) / rows
    name = f"Lloyd, 5 steps, {rows:,} x 8 from parquet"
    taken, again = seconds / rows, 5 * decoding + in_memory

    def row(what: str, told: str, against: str, ratio: float, limit: str) -> dict:
        return {"what": what, "seconds": told, "against": against, "ratio": f"{ratio:.2f}", "limit": limit}

    return [
        row(f"{name}: time per row", f"{seconds:.1f}", "the same rows in memory", taken / in_memory, ""),
        row(f"{name}: the same", f"{seconds:.1f}", "pyarrow decoding it five times, and in memory", taken / again, "1"),
        row("pyarrow decoding it once", f"{rows * decoding:.1f}", "all five steps in memory", decoding / in_memory, ""),
        row(f"{name}: peak memory", "", "GB", gigabytes, "0.6"),
    ]


def decode(path: Path) -> None:
    """Decode a file as quickly as pyarrow does, and forget it: what no fit from a file can do without."""
    for _ in pq.ParquetFile(path).iter_batches(2**16):
        pass


PARTS: dict[str, Callable[..., list[dict]]] = {
    "noise": lambda quick: noise_rows(),
    "narrow": fits.narrow_rows,
    "wide": fits.wide_rows,
    "wider": fits.wider_rows,
    "memory": fits.memory_rows,
    "many": fits.many_rows,
    "mixtures": fits.mixture_rows,
    "candidates": lambda quick: candidates_rows(20_000 if quick else 100_000),
    "files": lambda quick: file_rows(2_000_000 if quick else 20_000_000),
}
NO_ROW = dict.fromkeys(("what", "seconds", "against", "ratio", "limit", "of processor time"), "")


def merged(known: list[dict], fresh: list[dict]) -> list[dict]:
    """Return known rows with fresh ones in their places, or at the end."""
    new = {row["what"]: row for row in fresh}
    return [new.pop(row["what"], row) for row in known] + list(new.values())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer rows")
    parser.add_argument("--roofline", action="store_true", help="only the table of the machine's limits")
    parser.add_argument("--scaling", action="store_true", help="only how time grows with rows, centres and columns")
    parser.add_argument(
        "--part", action="append", choices=list(PARTS), help="only this; the last figures of others stay"
    )
    parser.add_argument("--fit", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.fit:
        fit_and_report(options.fit)
        return
    if options.roofline or options.scaling:
        name = "roofline" if options.roofline else "scaling"
        rows = roofline_rows(2**20) if options.roofline else scaling_rows()
        write(f"speed-{name}", f"make bench-speed ARGS=--{name}", rows)
        return
    print("This takes about", "a minute." if options.quick else "ten minutes.", flush=True)
    rows = [row for part in options.part or PARTS for row in PARTS[part](quick=options.quick)]
    name = "speed-quick" if options.quick else "speed"
    if options.part:
        rows = merged(json.loads((RESULTS / f"{name}.json").read_text())["rows"], rows)
    write(name, "make bench-speed" + (" ARGS=--quick" if options.quick else ""), [NO_ROW | row for row in rows])
    beyond = [row["what"] for row in rows if row["limit"] and float(row["ratio"]) > float(row["limit"])]
    if beyond:
        raise SystemExit(f"slower than its limit: {'; '.join(beyond)}")


if __name__ == "__main__":
    main()
