"""Spark: the same integers as in memory, Python workers that are killed, and refusals where data changes."""

import os
import shutil
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from typer.testing import CliRunner

import knoll
from knoll.cli.main import app
from knoll.engines import ArrayEngine
from knoll.privacy import DataError
from knoll.queries import Count
from knoll.source import as_source, open_source
from tests.contract.registry import QUERIES
from tests.engines.test_sql import COLUMNS, DATA

pytest.importorskip("pyspark", reason="no Spark: knoll[spark]")
pytestmark = [
    pytest.mark.xdist_group("spark"),  # one session for all
    pytest.mark.skipif(shutil.which("java") is None, reason="no Java on this machine"),
    pytest.mark.filterwarnings("ignore"),
]
SOME = ["moments, box", "votes, scaled", "moments, kinds of columns", "components, hard", "scatter matrix"]


@pytest.fixture(scope="module")
def spark():
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["PYTHONPATH"] = str(Path(__file__).parents[2])  # workers unpickle functions of this file
    from pyspark.sql import SparkSession

    settings = {
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.driver.memory": "1g",
        "spark.speculation": "true",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
    }
    if (other := SparkSession.getActiveSession()) is not None:
        other.stop()  # of another file: getOrCreate would take it as it is, and "local[2]" fails with its first task
    builder = SparkSession.builder.master("local[2,4]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    assert session.sparkContext.master == "local[2,4]"
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


def _frame(spark, table, parts=2):
    return spark.createDataFrame(pa.table(table)).repartition(parts).localCheckpoint()


def _rows(n=1000, d=5):
    return np.random.default_rng(3).normal(scale=20.0, size=(n, d)).round(3)


def _named(rows):
    return {f"c{j}": rows[:, j] for j in range(rows.shape[1])}


def test_queries_give_the_same_integers(spark):
    rows = _rows()
    engine = open_source(as_source(_frame(spark, _named(rows))), None, missing="refuse", unit=None)
    for name in SOME:
        query, d = QUERIES[name]
        assert d == 5
        assert np.array_equal(engine.aggregate(query), ArrayEngine(rows).aggregate(query)), name
    assert engine.column_marks() == ArrayEngine(rows).column_marks()


def test_kinds_decimals_nulls_users_and_predict(spark):
    table = pa.Table.from_pandas(DATA, preserve_index=False)
    gaps = pa.array([None if i % 50 == 0 else value for i, value in enumerate(DATA["plan"])])
    table = table.set_column(table.schema.names.index("plan"), "plan", gaps)
    frame = _frame(spark, table, 3)
    fit = {"bounds": COLUMNS, "unit": knoll.User("user id", 5), "random_state": 0, "epsilon": 5.0, "missing": "drop"}
    with knoll.testing.seeded_noise(1):
        found = knoll.Lloyd(3, **fit).fit(frame)
    with knoll.testing.seeded_noise(1):
        expected = knoll.Lloyd(3, **fit).fit(table)
    assert np.array_equal(found.cluster_centers_, expected.cluster_centers_)
    labels = expected.predict(frame)
    assert type(labels).__module__.startswith("pyspark.")
    got = labels.toArrow().select([*table.schema.names, "label"])
    assert got.column("label").to_pylist() == expected.predict(got.drop_columns(["label"])).tolist()
    assert -1 in got.column("label").to_pylist()


def test_plans_of_chance_are_refused(spark, tmp_path):
    from pyspark.sql.functions import rand

    frame = _frame(spark, _named(_rows(200, 2)))
    ledger = knoll.Ledger(tmp_path / "privacy.db", "rows")
    for given in (frame.filter(rand() > 0.5), frame.withColumn("c1", rand())):
        with pytest.raises(DataError, match=r"not the same each time it is computed.*localCheckpoint"):
            knoll.KMeans(2, bounds=(-60, 60), ledger=ledger).fit(given)
    chance = frame.mapInArrow(_by_chance, frame.schema)  # the plan does not say so
    with pytest.raises(DataError, match="gave other rows than before"):
        knoll.KMeans(2, bounds=(-60, 60), ledger=ledger).fit(chance)
    assert ledger.spend("rows").releases == 0


def _by_chance(batches):
    for batch in batches:
        fresh = np.random.default_rng(int.from_bytes(os.urandom(4))).random(batch.num_rows)
        yield pa.RecordBatch.from_arrays([pa.array(fresh), batch.column(1)], names=batch.schema.names)


def test_bad_data_is_refused_once(spark):
    rows = _rows(200, 2)
    rows[7, 1] = np.nan
    frame = _frame(spark, _named(rows))
    with pytest.raises(DataError, match='missing="drop"'):
        knoll.KMeans(2, bounds=(-60, 60)).fit(frame)
    engine = open_source(as_source(frame), None, missing="drop", unit=None)
    assert engine.aggregate(Count()) == 199
    with pytest.raises(DataError, match="column 'plan' of the Spark DataFrame holds string"):
        knoll.KMeans(2, bounds=(0, 1)).fit(_frame(spark, {"plan": ["x"]}))
    with pytest.raises(DataError, match="no rows"):
        knoll.KMeans(2, bounds=(0, 1)).fit(frame.filter("c0 > 1e9"))


def test_on_the_command_line(spark, tmp_path):
    DATA[["a", "b"]].to_parquet(tmp_path / "rows.parquet")
    given = ["cluster", str(tmp_path / "rows.parquet"), "--bounds", "a=-50:50,b=-5:5", "--k", "2", "--spark"]
    result = CliRunner().invoke(app, [*given, "--method", "lloyd", "--out", str(tmp_path)])
    assert result.exit_code == 0, result.output
    assert (tmp_path / "model.json").exists()


def test_a_python_worker_that_is_killed_changes_nothing(spark):
    rows = _rows(2000, 2)
    frame = _frame(spark, _named(rows))
    with knoll.testing.seeded_noise(1):
        expected = knoll.Lloyd(2, bounds=(-60, 60), random_state=0).fit(rows)
    killed: list[int] = []
    killer = threading.Thread(target=_kill_one, args=[killed])
    killer.start()
    with knoll.testing.seeded_noise(1):
        found = knoll.Lloyd(2, bounds=(-60, 60), random_state=0).fit(frame)
    killer.join()
    assert killed
    assert np.array_equal(found.cluster_centers_, expected.cluster_centers_)


def _kill_one(killed):
    """Kill a Python worker of our own Spark while it works: a child of the daemon that our Java started."""
    time.sleep(0.3)
    until = time.monotonic() + 20
    while not killed and time.monotonic() < until:
        parents = dict(_processes(""))
        daemons = {pid for pid, _ in _processes("pyspark.daemon") if os.getpid() in _above(pid, parents)}
        for pid in [pid for pid in daemons if parents.get(pid) in daemons][:1]:
            os.kill(pid, 9)
            killed.append(pid)


def _processes(word):
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/cmdline") as line, open(f"/proc/{name}/status") as status:
                text, parent = line.read(), next(x for x in status if x.startswith("PPid:"))
        except OSError:
            continue
        if word in text:
            yield int(name), int(parent.split()[1])


def _above(pid, parents):
    while pid in parents and pid > 1:
        pid = parents[pid]
        yield pid
