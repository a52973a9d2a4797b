"""Dask: the same integers as in memory, on workers that may be lost, and refusals where data changes."""

import functools
import logging
import os
import pickle
import random
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from typer.testing import CliRunner

import knoll
from knoll import registry
from knoll.cli.main import app
from knoll.engines import ArrayEngine, task
from knoll.privacy import DataError
from knoll.queries import Count
from knoll.source import as_source, open_source
from tests.contract.registry import QUERIES, make_estimator
from tests.engines import faults
from tests.engines.test_sql import COLUMNS, DATA
from tests.engines.together import assert_same, rows_for_all

dask = pytest.importorskip("dask", reason="no Dask: knoll[dask]")
pytest.importorskip("distributed", reason="no Dask: knoll[dask]")
pytestmark = [
    pytest.mark.xdist_group("dask"),  # one cluster for all
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::ResourceWarning"),
]


@pytest.fixture(scope="module")
def client():
    from dask.distributed import Client, LocalCluster

    logging.getLogger("distributed").setLevel(logging.ERROR)
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as cluster,
        Client(cluster) as client,
    ):
        yield client


def _open(X, **handling):
    given = {"bounds": None, "missing": "refuse", "unit": None, **handling}
    return open_source(as_source(X), given.pop("bounds"), **given)


def _array(rows, chunk=300):
    import dask.array as da

    return da.from_array(rows, chunks=(chunk, 1))


def _frame(table, parts=5):
    import dask.dataframe as dd

    return dd.from_pandas(table, npartitions=parts)


def test_every_query_gives_the_same_integers(client):
    rows = rows_for_all()
    assert_same(_open(_array(rows, 500)), ArrayEngine(rows))


@pytest.mark.parametrize("name", [each.name for each in registry.ESTIMATORS if not each.local])
def test_every_estimator_gives_the_same_model(name):
    """On threads: tasks are packed and sent as to workers, and no process has to start."""
    estimator = make_estimator(name, 2)
    rows = np.random.default_rng(5).normal([[-0.5, -0.5], [0.4, 0.5]], 0.1, size=(400, 2, 2)).reshape(-1, 2)
    models = []
    with dask.config.set(scheduler="sync"):
        for given in (rows, _array(rows, 300)):
            with knoll.testing.seeded_noise(1):
                models.append(clone(estimator).fit(given))
    for each, (one, other) in _published(*models):
        assert np.array_equal(one, other, equal_nan=True), each


def _published(one, other):
    """Yield the arrays that two fitted models hold, by name."""
    found = {name: value for name, value in vars(one).items() if isinstance(value, np.ndarray | float)}
    assert len(found) > 1
    for name, value in found.items():
        if np.asarray(value).dtype.kind in "fiub":
            yield name, (value, vars(other)[name])


def test_kinds_decimals_users_and_empty_partitions(client):
    fit = {"bounds": COLUMNS, "unit": knoll.User("user id", 5), "random_state": 0, "epsilon": 5.0}
    frame = _frame(DATA)
    sparse = frame.map_partitions(_late)  # no row in most partitions
    for given, table in ((frame, DATA), (sparse, sparse.compute())):
        with knoll.testing.seeded_noise(1):
            found = knoll.KMeans(3, **fit).fit(given)
        with knoll.testing.seeded_noise(1):
            expected = knoll.KMeans(3, **fit).fit(table)
        assert np.array_equal(found.cluster_centers_, expected.cluster_centers_)


def _late(part):
    return part[part.index > 1250]


def test_missing_values_are_a_status_and_not_an_error_that_is_tried_again(client):
    rows = np.random.default_rng(0).normal(size=(900, 2))
    rows[500, 1] = np.nan
    with pytest.raises(DataError, match='missing="drop"'):
        _open(_array(rows)).aggregate(Count())
    assert _open(_array(rows), missing="drop").aggregate(Count()) == 899
    with pytest.raises(DataError, match="no rows"):
        _open(_array(rows[:0]))
    with pytest.raises(DataError, match="column 'plan' holds"):
        knoll.KMeans(2, bounds=(0, 1)).fit(_frame(DATA))
    with pytest.raises(DataError, match="no column 'q'"):
        knoll.KMeans(2, bounds={"q": (0, 1)}).fit(_frame(DATA))


def test_predict_is_lazy_and_of_the_same_kind(client):
    table = DATA[["a", "b"]]
    model = knoll.KMeans(2, bounds={"a": (-30, 30), "b": (-5, 5)}, random_state=0).fit(_frame(table))
    labels = model.predict(_frame(table))
    assert type(labels).__module__.startswith("dask.")
    assert np.array_equal(labels.compute(), model.predict(table))
    array = knoll.KMeans(2, bounds=(-30, 30), random_state=0).fit(table.to_numpy())
    assert np.array_equal(array.predict(_array(table.to_numpy())).compute(), array.predict(table.to_numpy()))


def test_rows_that_differ_each_time_are_refused(client, tmp_path):
    import dask.array as da

    chance = da.map_blocks(_by_chance, _array(np.zeros((900, 2)), 300).rechunk({1: -1}), dtype=float)
    ledger = knoll.Ledger(tmp_path / "privacy.db", "rows")
    with pytest.raises(DataError, match=r"gave other rows than before.*persist\(\)"):
        knoll.KMeans(2, bounds=(0, 1), ledger=ledger).fit(chance)
    assert ledger.spend("rows").releases == 0
    assert knoll.KMeans(2, bounds=(0, 1)).fit(chance.persist()).n_clusters_ == 2


def _by_chance(block):
    return np.random.default_rng(int.from_bytes(os.urandom(4))).random(block.shape)


def test_another_version_of_knoll_is_refused():
    ours, packed = task.Task(Count(), list, 1, {"missing": "refuse", "unit": None}).packed()
    assert pickle.loads(packed).n_columns == 1
    found = task.run((ours + ".dev1", b"never looked into"), [])
    with pytest.raises(DataError, match="install one version"):
        task.checked(found)


ROWS = np.random.default_rng(3).normal(scale=20.0, size=(2000, 2))
FIT = {"bounds": (-60, 60), "random_state": 0, "n_steps": 4}


def _expected():
    with knoll.testing.seeded_noise(1):
        return knoll.Lloyd(3, **FIT).fit(ROWS)


def test_workers_that_are_killed_change_nothing(client, tmp_path):
    """A worker dies in the middle of some pass, the first look among them: the totals are the same, bit for bit."""
    expected = _expected()
    for number in random.Random(1).sample(range(5), 2):
        folder = tmp_path / str(number)
        with knoll.testing.seeded_noise(1), faults.struck([number], faults.kill_worker, folder):
            found = knoll.Lloyd(3, **FIT).fit(_array(ROWS, 400))
        assert faults.strikes(folder) == 1
        assert np.array_equal(found.cluster_centers_, expected.cluster_centers_)


def test_a_task_that_always_kills_its_worker_is_given_up_and_nothing_is_recorded(client, tmp_path):
    ledger = knoll.Ledger(tmp_path / "privacy.db", "rows")
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 1}),
        faults.struck([2], faults.kill_worker, tmp_path, times=99),
        pytest.raises(DataError, match="cannot be read .*KilledWorker"),
    ):
        knoll.Lloyd(3, **FIT, ledger=ledger).fit(_array(ROWS, 2000))
    assert ledger.spend("rows").releases == 1  # of the pass before; pass 0 looks
    client.wait_for_workers(1, timeout=60)
    assert knoll.Lloyd(3, **FIT, ledger=ledger).fit(_array(ROWS, 2000)).n_clusters_ == 3
    assert ledger.spend("rows").releases == 5


def test_all_workers_lost(tmp_path, monkeypatch):
    from dask.distributed import Client, LocalCluster

    monkeypatch.setattr("knoll.engines.dask._PATIENCE", 0.5)
    monkeypatch.setattr("knoll.engines.dask._LOOK", 0.2)
    ledger = knoll.Ledger(tmp_path / "privacy.db", "rows")
    started = LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0", silence_logs=50)
    with started as cluster, Client(cluster) as alone:

        def lose():
            cluster.scale(0)
            while alone.nthreads():
                time.sleep(0.05)

        with faults.at_passes([2], lose), pytest.raises(DataError, match="has lost all its workers"):
            knoll.Lloyd(3, **FIT, ledger=ledger).fit(_array(ROWS, 400))
        assert ledger.spend("rows").releases == 1
        monkeypatch.setattr("knoll.engines.dask._PATIENCE", 60.0)
        cluster.scale(1)
        with knoll.testing.seeded_noise(1):  # Dask waits for the worker that starts
            found = knoll.Lloyd(3, **FIT, ledger=ledger).fit(_array(ROWS, 400))
    assert np.array_equal(found.cluster_centers_, _expected().cluster_centers_)


def test_the_process_that_asks_is_killed(client, tmp_path):
    """What was recorded before its noise is in the ledger, and the next fit goes on, on the same cluster."""
    path = tmp_path / "privacy.db"
    program = DRIVER.format(address=client.scheduler.address, path=path, at=3)
    assert subprocess.run([sys.executable, "-c", program], cwd=ROOT, timeout=120).returncode == -9
    ledger = knoll.Ledger(path, "rows")
    assert ledger.spend("rows").releases == 2  # pass 0 looks, passes 1 and 2 released
    knoll.Lloyd(3, **FIT, ledger=ledger).fit(_array(ROWS, 400))
    assert ledger.spend("rows").releases == 6


ROOT = Path(__file__).parents[2]
DRIVER = """
from dask.distributed import Client
import knoll
from tests.engines import faults
from tests.engines.test_dask import FIT, ROWS, _array
client = Client("{address}")
with faults.at_passes([{at}], faults.kill_driver):
    knoll.Lloyd(3, **FIT, ledger=knoll.Ledger("{path}", "rows")).fit(_array(ROWS, 400))
"""


def test_files_that_change_between_passes_are_refused(client, tmp_path):
    import dask.dataframe as dd

    table, path = DATA[["a", "b"]], tmp_path / "rows.parquet"
    table.to_parquet(path)
    ledger = knoll.Ledger(tmp_path / "privacy.db", "rows")
    rewritten = functools.partial(table.iloc[1:].to_parquet, path)
    with faults.at_passes([3], rewritten), pytest.raises(DataError, match="gave other rows|cannot be read"):
        knoll.Lloyd(2, bounds=(-50, 50), n_steps=5, ledger=ledger).fit(dd.read_parquet(path))
    assert ledger.spend("rows").releases == 2


def test_two_stages_of_sums(client, monkeypatch):
    monkeypatch.setattr("knoll.engines.dask._GROUP", 2)
    rows = np.random.default_rng(0).normal(size=(900, 2))
    query, _ = QUERIES["votes, 7 in a box"]
    assert np.array_equal(_open(_array(rows, 100)).aggregate(query), ArrayEngine(rows).aggregate(query))


def test_marks_of_columns_are_those_of_a_table_in_memory(client):
    rows = np.random.default_rng(0).normal(size=(900, 2))
    rows[:, 1] = 5.0
    found = _open(_array(rows)).column_marks()
    assert found == ArrayEngine(rows).column_marks()
    assert len(found) == 1


def test_folders_and_globs_on_the_command_line(client, tmp_path):
    (tmp_path / "in" / "year=2020").mkdir(parents=True)
    table = DATA[["a", "b", "user id"]]
    table.iloc[:700].to_parquet(tmp_path / "in" / "0.parquet")
    table.iloc[700:].to_parquet(tmp_path / "in" / "year=2020" / "1.parquet")  # the folder is no column
    table.iloc[:0].to_parquet(tmp_path / "in" / "year=2020" / "empty.parquet")
    given = ["--bounds", "-50:50", "--k", "2", "--out", str(tmp_path / "out"), "--user", "user id", "--cap", "3"]
    given += ["--ledger", str(tmp_path / "privacy.db"), "--seed", "0"]
    address, written = client.scheduler.address, []
    for data, more in (("in", ["--dask", address]), ("in/**/*.parquet", ["--dask", address]), ("in", [])):
        with knoll.testing.seeded_noise(1):
            result = CliRunner().invoke(app, ["cluster", str(tmp_path / data), *given, *more, "--dataset", "visits"])
        assert result.exit_code == 0, result.output
        written.append((tmp_path / "out" / "centers.csv").read_text())
    assert written[0] == written[1] == written[2]
    (tmp_path / "x.csv").write_text("a,b\n1,2\n")
    result = CliRunner().invoke(app, ["cluster", str(tmp_path / "x.csv"), *given, "--dask", address])
    assert result.exit_code == 1
    assert "a cluster reads parquet files" in result.output
    result = CliRunner().invoke(app, ["cluster", str(tmp_path / "x.csv"), *given, "--dask", address, "--spark"])
    assert result.exit_code == 2
    assert "one of both" in result.output
