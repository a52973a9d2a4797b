"""One fit on every engine, in one run, beside the k-means of Dask and Spark themselves.

python -m benchmarks.engines.run                  10,000,000 x 8 (640 MB on disk, removed afterwards)
python -m benchmarks.engines.run --rows 1000000   the same with fewer rows

All engines must give the same centres under the same noise, or the run ends with an error. What is not installed is
left out and said so. Times depend on what else the machine does: read them as ratios.
"""

import argparse
import contextlib
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from sklearn.datasets import make_blobs

import knoll
from benchmarks.common import write
from knoll.queries import Count
from knoll.source import as_source, open_source

NAMES = [f"c{j}" for j in range(8)]
BOUNDS = dict.fromkeys(NAMES, (-15.0, 15.0))
PARTS = 4


def timed(work: Any) -> tuple[float, Any]:
    start = time.perf_counter()
    found = work()
    return time.perf_counter() - start, found


def our_fit(X: Any) -> Any:
    with knoll.testing.seeded_noise(0):
        return knoll.KMeans(16, bounds=BOUNDS, random_state=0).fit(X).cluster_centers_


def row_of(name: str, X: Any) -> tuple[dict, Any]:
    """Time a fit, and a pass that counts."""
    our_fit(X)  # compiled, read once, workers awake
    seconds, centres = timed(lambda: our_fit(X))
    each = "-"
    if (source := as_source(X)) is not None:
        engine = open_source(source, BOUNDS, missing="refuse", unit=None)
        engine.aggregate(Count())
        each = f"{timed(lambda: engine.aggregate(Count()))[0]:.2f}"
    print(f"{name}: {seconds:.1f} s, a pass that counts {each} s", flush=True)
    return {"engine": name, "fit, seconds": f"{seconds:.1f}", "a pass that counts, seconds": each}, centres


def local(path: Path) -> Iterator[tuple[str, Any]]:
    yield "array", pq.read_table(path).to_pandas()
    yield "parquet file", path
    if find_spec("polars"):
        import polars

        yield "lazy frame of polars", polars.scan_parquet(path)
    if find_spec("duckdb"):
        import duckdb

        yield "relation of DuckDB", duckdb.connect().sql(f"SELECT * FROM '{path}'")


@contextlib.contextmanager
def on_postgres(path: Path) -> Iterator[Any]:
    import adbc_driver_postgresql.dbapi as dbapi

    from tests.engines import postgres

    with postgres.running() as server:
        with dbapi.connect(server.uri) as con, con.cursor() as cursor:
            cursor.adbc_ingest("visits", pq.read_table(path))
            con.commit()
        yield knoll.Table(server.uri, "visits")


@contextlib.contextmanager
def on_dask(path: Path) -> Iterator[Any]:
    from dask.dataframe import read_parquet
    from dask.distributed import Client, LocalCluster, wait

    workers = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50)
    with workers, Client(workers):
        frame = read_parquet(path).repartition(npartitions=PARTS).persist()
        wait(frame)
        yield frame


@contextlib.contextmanager
def on_spark(path: Path) -> Iterator[Any]:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": "4g",
        "spark.sql.shuffle.partitions": str(PARTS),
    }
    builder = SparkSession.builder.master("local[2]")
    for name, value in {**settings, "spark.sql.execution.arrow.maxRecordsPerBatch": "65536"}.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session.read.parquet(str(path)).coalesce(PARTS)
    session.stop()


def dask_ml_fit(frame: Any) -> Any:
    from dask_ml.cluster import KMeans

    return KMeans(16, random_state=0).fit(frame.to_dask_array(lengths=True))


def spark_ml_fit(frame: Any) -> Any:
    from pyspark.ml.clustering import KMeans
    from pyspark.ml.feature import VectorAssembler

    vectors = VectorAssembler(inputCols=NAMES, outputCol="features").transform(frame).select("features").cache()
    return KMeans(k=16, seed=0).fit(vectors)


def theirs(name: str, work: Any) -> dict:
    work()
    seconds, _ = timed(work)
    print(f"{name}: {seconds:.1f} s", flush=True)
    return {"engine": name, "fit, seconds": f"{seconds:.1f}", "a pass that counts, seconds": "-"}


def elsewhere(path: Path, only: str) -> Iterator[tuple[str, Any, list[tuple[str, Any]]]]:
    """Yield what has to be started: its name, the rows, and other libraries' fits of them."""
    known = [
        ("PostgreSQL", "adbc_driver_postgresql", on_postgres, None),
        ("Dask, persisted, 2 workers", "distributed", on_dask, ("dask-ml", "dask_ml", dask_ml_fit)),
        ("Spark, local[2]", "pyspark", on_spark, ("pyspark.ml", "pyspark", spark_ml_fit)),
    ]
    for name, module, opened, other in known:
        if only and only not in name:
            continue
        if not find_spec(module):
            print(f"{name}: left out, {module} is not installed")
            continue
        with opened(path) as X:
            there = other is not None and find_spec(other[1])
            yield name, X, [(f"{other[0]}, not private", other[2])] if there and other else []


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--only", default="", help="of those that have to be started, names that hold this")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    table, centres = [], []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        rows, _ = make_blobs(given.rows, 8, centers=16, random_state=0)
        pq.write_table(pa.table(dict(zip(NAMES, rows.T, strict=True))), path, row_group_size=250_000)
        del rows
        for name, X in local(path):
            row, found = row_of(name, X)
            table.append(row)
            centres.append(found)
        for name, X, others in elsewhere(path, given.only):
            row, found = row_of(name, X)
            table.append(row)
            centres.append(found)
            table += [theirs(each, lambda X=X, fit=fit: fit(X)) for each, fit in others]
    if not all(np.array_equal(each, centres[0]) for each in centres):
        sys.exit("the engines do not agree")
    write("engines", f"make bench-engines ARGS='--rows {given.rows}'", table)


if __name__ == "__main__":
    main()
