"""Spark, classic and Connect: the same integers as in memory, workers and executors that are killed, and refusals."""

import functools
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import knoll
from knoll.cli.main import app
from knoll.engines import ArrayEngine
from knoll.privacy import DataError
from knoll.queries import Count
from knoll.source import as_source, open_source
from tests.engines import faults, spark_cluster
from tests.engines.test_sql import COLUMNS, DATA
from tests.engines.together import assert_same, rows_for_all

pytest.importorskip("pyspark", reason="no Spark: knoll[spark]")
pytestmark = [
    pytest.mark.xdist_group("spark"),  # one session for all
    pytest.mark.skipif(shutil.which("java") is None, reason="no Java on this machine"),
    pytest.mark.filterwarnings("ignore"),
]
CONNECT = pytest.mark.skipif(find_spec("grpc") is None, reason="no Spark Connect: pyspark[connect]")
BOUNDS = (-60, 60)


@pytest.fixture(scope="module", autouse=True)
def _stopped_at_the_end():
    yield
    spark_cluster.stop()


@pytest.fixture
def spark():
    return spark_cluster.session()


@pytest.fixture(params=["classic", pytest.param("connect", marks=CONNECT)])
def either(request):
    return spark_cluster.session() if request.param == "classic" else spark_cluster.remote()


def _frame(spark, table, parts=2):
    return spark.createDataFrame(pa.table(table)).repartition(parts)


def _rows(n=1000, d=5):
    return np.random.default_rng(3).normal(scale=20.0, size=(n, d)).round(3)


def _named(rows):
    return {f"c{j}": rows[:, j] for j in range(rows.shape[1])}


def _open(frame, **handling):
    return open_source(as_source(frame), None, **{"missing": "refuse", "unit": None, **handling})


def test_every_query_gives_the_same_integers(either, monkeypatch):
    rows = rows_for_all()
    frame = _frame(either, _named(rows))
    engine = _open(frame)
    assert_same(engine, ArrayEngine(rows))  # packed
    assert engine.column_marks() == ArrayEngine(rows).column_marks()
    monkeypatch.setattr("knoll.engines.spark._MOST_KEPT", 0)
    monkeypatch.setattr("knoll.engines.spark._MOST_RESULTS", 1)
    assert_same(_open(frame), ArrayEngine(rows))  # as they are, and partial sums added in two stages


def test_empty_partitions_and_packed_rows_of_any_number(spark):
    rows = _rows(1003, 3)
    frame = spark.createDataFrame(pa.table(_named(rows))).coalesce(1)
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "100")
    try:
        for given in (frame, frame.repartition(4, "c0").filter("c0 > 0")):
            kept = rows if given is frame else rows[rows[:, 0] > 0]
            engine = _open(given.union(frame.filter("c0 > 1e9")))
            assert engine.aggregate(Count()) == len(kept)
            assert engine.column_marks() == ArrayEngine(kept).column_marks()
    finally:
        spark.conf.unset("spark.sql.execution.arrow.maxRecordsPerBatch")


def test_kinds_decimals_nulls_users_and_predict(either):
    table = pa.Table.from_pandas(DATA, preserve_index=False)
    gaps = pa.array([None if i % 50 == 0 else value for i, value in enumerate(DATA["plan"])])
    table = table.set_column(table.schema.names.index("plan"), "plan", gaps)
    frame = _frame(either, table, 3)
    fit = {"bounds": COLUMNS, "unit": knoll.User("user id", 5), "random_state": 0, "epsilon": 5.0, "missing": "drop"}
    with knoll.testing.seeded_noise(1):
        found = knoll.Lloyd(3, n_steps=2, **fit).fit(frame)
    with knoll.testing.seeded_noise(1):
        expected = knoll.Lloyd(3, n_steps=2, **fit).fit(table)
    assert np.array_equal(found.cluster_centers_, expected.cluster_centers_)
    labels = expected.predict(frame)
    assert type(labels).__module__.startswith("pyspark.")
    got = labels.toArrow().select([*table.schema.names, "label"])
    assert got.column("label").to_pylist() == expected.predict(got.drop_columns(["label"])).tolist()
    assert -1 in got.column("label").to_pylist()


def test_plans_of_chance_are_refused(either, tmp_path):
    from pyspark.sql import functions, is_remote
    from pyspark.sql.connect.functions import rand

    chance = functions.rand if hasattr(either, "sparkContext") and not is_remote() else rand
    frame = _frame(either, _named(_rows(200, 2)))
    ledger = knoll.Ledger(tmp_path / "privacy.db", "rows")
    for given in (frame.filter(chance() > 0.5), frame.withColumn("c1", chance())):
        with pytest.raises(DataError, match=r"not the same each time it is computed.*localCheckpoint"):
            knoll.KMeans(2, bounds=BOUNDS, ledger=ledger).fit(given)
    hidden = frame.mapInArrow(_by_chance, frame.schema)  # the plan does not say so
    with pytest.raises(DataError, match="gave other rows than before"):
        knoll.KMeans(2, bounds=BOUNDS, ledger=ledger).fit(hidden)
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


def test_folders_and_globs_on_the_command_line(spark, tmp_path):
    (tmp_path / "in" / "year=2020").mkdir(parents=True)
    DATA[["a", "b"]].iloc[:700].to_parquet(tmp_path / "in" / "0.parquet")
    DATA[["a", "b"]].iloc[700:].to_parquet(tmp_path / "in" / "year=2020" / "1.parquet")  # the folder is no column
    DATA[["a", "b"]].iloc[:0].to_parquet(tmp_path / "in" / "year=2020" / "empty.parquet")
    written = []
    for data, more in (("in", ["--spark"]), ("in/**/*.parquet", ["--spark"]), ("in", [])):
        given = ["cluster", str(tmp_path / data), "--bounds", "-50:50", "--k", "2", "--seed", "0", *more]
        with knoll.testing.seeded_noise(1):
            result = CliRunner().invoke(app, [*given, "--method", "lloyd", "--out", str(tmp_path / "out")])
        assert result.exit_code == 0, result.output
        written.append((tmp_path / "out" / "centers.csv").read_text())
    assert written[0] == written[1] == written[2]


FIT = {"bounds": BOUNDS, "random_state": 0, "n_steps": 3}


@pytest.fixture
def kept(spark, tmp_path):
    """Rows in files, which an executor that is lost does not take with it."""
    rows = _rows(2000, 2)
    pq.write_table(pa.table(_named(rows)), tmp_path / "rows.parquet")
    return rows, spark.read.parquet(str(tmp_path / "rows.parquet")).repartition(2, "c0")


def test_a_task_that_always_fails_is_given_up_and_nothing_is_recorded(kept, tmp_path):
    frame = kept[1].coalesce(1)
    ledger = knoll.Ledger(tmp_path / "privacy.db", "rows")
    with (
        faults.struck([2], faults.kill_worker, tmp_path / "struck", times=4),
        pytest.raises(DataError, match="the Spark DataFrame cannot be read"),
    ):
        knoll.Lloyd(2, **FIT, ledger=ledger).fit(frame)
    assert ledger.spend("rows").releases == 1  # of the pass before; pass 0 looks
    knoll.Lloyd(2, **FIT, ledger=ledger).fit(frame)
    assert ledger.spend("rows").releases == 4


def test_files_that_change_between_passes(kept, tmp_path, monkeypatch):
    """Rows that were kept are those of the first look; without them, the change is noticed."""
    rows, frame = kept
    fewer = functools.partial(pq.write_table, pa.table(_named(rows[1:])), tmp_path / "rows.parquet")
    monkeypatch.setattr("knoll.engines.spark._MOST_KEPT", 0)
    ledger = knoll.Ledger(tmp_path / "privacy.db", "rows")
    with faults.at_passes([2], fewer), pytest.raises(DataError, match="gave other rows|cannot be read"):
        knoll.Lloyd(2, **FIT, ledger=ledger).fit(frame)
    assert ledger.spend("rows").releases == 1


@pytest.mark.parametrize("driver", ["classic", pytest.param("connect", marks=CONNECT)])
def test_a_driver_that_is_killed(driver, tmp_path):
    """What was recorded before its noise is in the ledger, and the next fit goes on."""
    path = tmp_path / "privacy.db"
    start = f'remote("{spark_cluster.address()}")' if driver == "connect" else 'master("local[1]")'
    program = DRIVER.format(start=start, path=path, at=2)
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], cwd=spark_cluster.ROOT, timeout=120)
    assert done.returncode == -9
    ledger = knoll.Ledger(path, "rows")
    assert ledger.spend("rows").releases == 1
    knoll.Lloyd(2, **FIT, ledger=ledger).fit(_frame(spark_cluster.session(), _named(_rows(500, 2))))
    assert ledger.spend("rows").releases == 4


DRIVER = """
from pyspark.sql import SparkSession
import knoll
from tests.engines import faults
from tests.engines.test_spark import FIT, _frame, _named, _rows
spark = SparkSession.builder.{start}.getOrCreate()
with faults.at_passes([{at}], faults.kill_driver):
    knoll.Lloyd(2, **FIT, ledger=knoll.Ledger("{path}", "rows")).fit(_frame(spark, _named(_rows(500, 2))))
"""


@pytest.mark.parametrize(
    ("strike", "passes", "times"),
    [
        (faults.kill_worker, [0, 2], 1),
        (faults.be_slow, [2], 1),
        (faults.kill_executor, [2], 2),  # both of them; the last of these tests, since new ones start slowly
    ],
    ids=["Python workers", "speculation", "both executors"],
)
def test_what_is_lost_or_slow_changes_nothing(kept, strike, passes, times, tmp_path):
    rows, frame = kept
    with knoll.testing.seeded_noise(1):
        expected = knoll.Lloyd(2, **FIT).fit(rows)
    with knoll.testing.seeded_noise(1), faults.struck(passes, strike, tmp_path / "struck", times):
        found = knoll.Lloyd(2, **FIT).fit(frame)
    assert faults.strikes(tmp_path / "struck") == times * len(passes)
    assert faults.readings(tmp_path / "struck") > 2 * len(passes)  # of two parts: one was read again, or by a copy
    assert np.array_equal(found.cluster_centers_, expected.cluster_centers_)
