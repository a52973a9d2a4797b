"""One fit on every engine, in one run, beside the k-means of Dask and Spark; and what larger tables would cost.

python -m benchmarks.engines.run                  10,000,000 x 8 (640 MB on disk, removed afterwards)
python -m benchmarks.engines.run --rows 1000000   the same with fewer rows
python -m benchmarks.engines.run --costs          what the cost model is made of, alone

All engines must give the same centres under the same noise, or the run ends with an error. What is not installed is
left out and said so. Every fit is timed once, after one of 100,000 rows of the same kind. Times depend on what else the
machine does: read them as ratios.
"""

import argparse
import contextlib
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from sklearn.datasets import make_blobs

import knoll
from benchmarks.common import write
from benchmarks.engines import page
from benchmarks.engines.model import Costs, table_of
from knoll.queries import Box, CellMoments, Nearest
from knoll.source import as_source, open_source

NAMES = [f"c{j}" for j in range(8)]
BOUNDS = dict.fromkeys(NAMES, (-15.0, 15.0))
PARTS, MANY, SMALL = 4, 24, 100_000
QUERY = CellMoments(Nearest(np.random.default_rng(0).uniform(-12, 12, (16, 8)), Box((-15.0,) * 8, (15.0,) * 8)))
Open = Callable[[Path], Any]


def timed(work: Any) -> tuple[float, Any]:
    start = time.perf_counter()
    found = work()
    return time.perf_counter() - start, found


def our_fit(X: Any) -> Any:
    with knoll.testing.seeded_noise(0):
        return knoll.KMeans(16, bounds=BOUNDS, random_state=0).fit(X)


def pass_seconds(X: Any) -> float:
    """Return the time of a pass that sums moments in 16 cells, once rows that are kept are kept."""
    engine = open_source(as_source(X), BOUNDS, missing="refuse", unit=None)
    engine.aggregate(QUERY)
    return min(timed(lambda: engine.aggregate(QUERY))[0] for _ in range(2))


def row_of(name: str, opened: Open, paths: dict[str, Path]) -> tuple[dict, Any]:
    """Time a fit, a pass, and a pass over a handful of rows."""
    our_fit(opened(paths["small"]))
    X = opened(paths["all"])
    seconds, model = timed(lambda: our_fit(X))
    found = {"engine": name, "fit, seconds": f"{seconds:.1f}", "of theirs": "-"}
    elsewhere = as_source(X) is not None
    found["a pass, seconds"] = f"{pass_seconds(X):.2f}" if elsewhere else "-"
    found["a pass over 8 rows"] = f"{pass_seconds(opened(paths['tiny'])):.3f}" if elsewhere else "-"
    print(found, flush=True)
    return found, model


def local() -> Iterator[tuple[str, Open]]:
    yield "array", lambda path: pq.read_table(path).to_pandas()
    yield "parquet file", lambda path: path
    if find_spec("polars"):
        import polars

        yield "lazy frame of polars", polars.scan_parquet
    if find_spec("duckdb"):
        import duckdb

        yield "relation of DuckDB", lambda path: duckdb.connect().sql(f"SELECT * FROM '{path}'")


@contextlib.contextmanager
def on_postgres() -> Iterator[Open]:
    import adbc_driver_postgresql.dbapi as dbapi

    from tests.engines import postgres

    with postgres.running() as server:

        def opened(path: Path) -> Any:
            with dbapi.connect(server.uri) as con, con.cursor() as cursor:
                cursor.adbc_ingest(path.stem, pq.ParquetFile(path).iter_batches(), mode="replace")
                con.commit()
            return knoll.Table(server.uri, path.stem)

        yield opened


@contextlib.contextmanager
def on_dask() -> Iterator[Open]:
    from dask.dataframe import read_parquet
    from dask.distributed import Client, LocalCluster, wait

    def opened(path: Path, parts: int = PARTS, persist: bool = True) -> Any:
        if not persist:
            return read_parquet(path, split_row_groups=True)
        frame = read_parquet(path).repartition(npartitions=parts).persist()
        wait(frame)
        return frame

    workers = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50)
    with workers, Client(workers):
        yield opened


@contextlib.contextmanager
def on_spark() -> Iterator[Open]:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": "4g",
        "spark.sql.shuffle.partitions": str(PARTS),
        "spark.sql.execution.arrow.maxRecordsPerBatch": "65536",
    }
    builder = SparkSession.builder.master("local[2]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")

    def opened(path: Path, parts: int = PARTS, persist: bool = True) -> Any:
        frame = session.read.parquet(str(path))
        return frame.coalesce(parts) if parts == PARTS else frame.repartition(parts)

    yield opened
    session.stop()


def processor_seconds() -> float:
    """Return the processor time of this process and of all that it started."""
    import psutil

    here, total = psutil.Process(), 0.0
    for each in (here, *here.children(recursive=True)):
        with contextlib.suppress(psutil.Error):
            total += sum(each.cpu_times()[:2])
    return total


def pass_costs(X: Any) -> tuple[float, float]:
    """Return the seconds, and the processor seconds of all processes, of a pass."""
    engine = open_source(as_source(X), BOUNDS, missing="refuse", unit=None)
    engine.aggregate(QUERY)
    before = processor_seconds()
    seconds = [timed(lambda: engine.aggregate(QUERY))[0] for _ in range(3)]
    return min(seconds), (processor_seconds() - before) / 3


def costs_of(name: str, opened: Any, paths: dict[str, Path], rows: int, passes: int, bare: Any) -> Costs:
    """Measure what the cost model is made of: a pass from files, a pass of nothing, and with more tasks."""
    with bare:  # nothing is kept between passes: a table of 10^12 rows does not fit into memory
        _, files = pass_costs(opened(paths["all"], persist=False))
        few_seconds, few = pass_costs(opened(paths["tiny"], PARTS))
        _, many = pass_costs(opened(paths["tiny"], MANY))
    task = max(0.0, many - few) / (MANY - PARTS)
    return Costs(name, passes, max(0.0, files - few) / rows, task, few_seconds)


def dask_ml_fit(frame: Any) -> Any:
    from dask_ml.cluster import KMeans

    return KMeans(16, random_state=0).fit(frame.to_dask_array(lengths=True))


def spark_ml_fit(frame: Any) -> Any:
    from pyspark.ml.clustering import KMeans
    from pyspark.ml.feature import VectorAssembler

    vectors = VectorAssembler(inputCols=NAMES, outputCol="features").transform(frame).select("features").cache()
    found = KMeans(k=16, seed=0).fit(vectors)
    vectors.unpersist()
    return found


def theirs(name: str, fit: Any, opened: Open, paths: dict[str, Path], ours: dict) -> dict:
    """Time another library's fit of the same rows; say in our row what part of it ours takes."""
    fit(opened(paths["small"]))
    X = opened(paths["all"])
    seconds, _ = timed(lambda: fit(X))
    ours["of theirs"] = f"{float(ours['fit, seconds']) / seconds:.2f}"
    print(f"{name}: {seconds:.1f} s; ours takes {ours['of theirs']} of it", flush=True)
    blank = dict.fromkeys(ours, "-")
    return {**blank, "engine": f"{name}, not private", "fit, seconds": f"{seconds:.1f}"}


STARTED = [
    ("Dask, persisted, 2 workers", "distributed", on_dask, ("dask-ml", "dask_ml", dask_ml_fit), contextlib.nullcontext),
    (
        "Spark, local[2]",
        "pyspark",
        on_spark,
        ("pyspark.ml", "pyspark", spark_ml_fit),
        lambda: patch("knoll.engines.spark._MOST_KEPT", 0),
    ),
    ("PostgreSQL", "adbc_driver_postgresql", on_postgres, None, None),
]
"""What has to be started: its name, what it needs, how, another library's fit there, and how nothing is kept there."""


class Found:
    """What was measured; written after every engine, so that a run that is ended keeps what it has."""

    def __init__(self, command: str):
        self.command = command
        self.table: list[dict] = []
        self.costs: list[Costs] = []
        self._centres: np.ndarray | None = None

    def add(self, model: Any, *rows: dict) -> None:
        """Add the row of an engine, and of another library; end the run if the model is not that of the others."""
        if self._centres is not None and not np.array_equal(model.cluster_centers_, self._centres):
            sys.exit("the engines do not agree")
        self._centres = model.cluster_centers_
        self.table += rows
        write("engines", self.command, self.table)

    def write_costs(self) -> None:
        """Write what clusters cost, and the model that is made of it."""
        write("engines-costs", self.command, [each.row_of_table() for each in self.costs])
        write("engines-model", self.command, table_of(self.costs))


def measure(found: Found, paths: dict[str, Path], rows: int, only: str, costs_only: bool) -> None:
    """Measure all engines that are there."""
    for name, opened in () if costs_only else local():
        row, model = row_of(name, opened, paths)
        found.add(model, row)
    for name, module, start, other, bare in STARTED:
        if only and only not in name:
            continue
        if not find_spec(module):
            print(f"{name}: left out, {module} is not installed")
            continue
        with start() as opened:
            if costs_only:
                measure_costs(found, name, opened, paths, rows, our_fit(opened(paths["small"])), bare)
                continue
            row, model = row_of(name, opened, paths)
            there = other is not None and find_spec(other[1])
            beside = [theirs(other[0], other[2], opened, paths, row)] if there and other else []
            measure_costs(found, name, opened, paths, rows, model, bare)
            found.add(model, row, *beside)


def measure_costs(
    found: Found, name: str, opened: Any, paths: dict[str, Path], rows: int, model: Any, bare: Any
) -> None:
    """Measure what the cost model needs, of a cluster."""
    if bare is None:
        return
    passes = len(model.privacy_.releases) + 1  # and the first look
    found.costs.append(costs_of(name.partition(",")[0], opened, paths, rows, passes, bare()))
    print(found.costs[-1], flush=True)
    found.write_costs()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--only", default="", help="of those that have to be started, names that hold this")
    parser.add_argument("--costs", action="store_true", help="measure only what the cost model is made of")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        rows, _ = make_blobs(given.rows, 8, centers=16, random_state=0)
        paths = {}
        for name, n in (("all", given.rows), ("small", SMALL), ("tiny", 8)):
            paths[name] = Path(folder) / f"{name}.parquet"
            made = pa.table(dict(zip(NAMES, rows[:n].T, strict=True)))
            pq.write_table(made, paths[name], row_group_size=2 if n == 8 else 250_000)
        del rows, made
        more = (f" --only {given.only}" if given.only else "") + (" --costs" if given.costs else "")
        found = Found(f"make bench-engines ARGS='--rows {given.rows}{more}'")
        measure(found, paths, given.rows, given.only, given.costs)
    page.update()


if __name__ == "__main__":
    main()
