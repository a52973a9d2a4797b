"""Dask: the same integers as in memory, on workers that may be lost, and refusals where data changes."""

import contextlib
import logging
import os
import pickle
import random
import threading
import time

import numpy as np
import pytest
from typer.testing import CliRunner

import knoll
from knoll.cli.main import app
from knoll.engines import ArrayEngine, task
from knoll.privacy import DataError
from knoll.queries import Count
from knoll.source import as_source, open_source
from tests.contract.registry import QUERIES
from tests.engines.test_sql import COLUMNS, DATA

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
    rows = np.random.default_rng(3).normal(scale=20.0, size=(1000, 7)).round(3)
    engines = {d: _open(_array(rows[:, :d], 500)) for d in {d for _, d in QUERIES.values()}}
    for name, (query, d) in QUERIES.items():
        assert np.array_equal(engines[d].aggregate(query), ArrayEngine(rows[:, :d]).aggregate(query)), name


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


def test_workers_that_are_killed_change_nothing(client):
    """Kill a worker at random moments of some fits: the totals are the same, bit for bit."""
    rows = np.random.default_rng(3).normal(scale=20.0, size=(2000, 2))
    fit = {"bounds": (-60, 60), "random_state": 0}
    with knoll.testing.seeded_noise(1):
        expected = knoll.KMeans(3, **fit).fit(rows)
    X = _array(rows, 400)
    chance = random.Random(1)
    for _ in range(int(os.environ.get("KNOLL_KILLS", "2"))):
        killer = threading.Timer(chance.uniform(0.1, 1.2), _kill_one, [client])
        killer.start()
        with knoll.testing.seeded_noise(1):
            found = knoll.KMeans(3, **fit).fit(X)
        killer.join()
        assert np.array_equal(found.cluster_centers_, expected.cluster_centers_)
        if len(client.scheduler_info()["workers"]) < 2:
            with contextlib.suppress(TimeoutError):  # a nanny that was hit while it started another may give up
                client.wait_for_workers(2, timeout=10)
        client.wait_for_workers(1, timeout=30)


def _kill_one(client):
    """Kill the process of one worker; its nanny starts another."""
    pids = client.run(os.getpid)
    os.kill(sorted(pids.values())[0], 9)
    time.sleep(0.1)


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


def test_on_the_command_line(client, tmp_path):
    DATA[["a", "b", "user id"]].iloc[:700].to_parquet(tmp_path / "0.parquet")
    DATA[["a", "b", "user id"]].iloc[700:].to_parquet(tmp_path / "1.parquet")
    out, address = tmp_path / "out", client.scheduler.address
    given = ["cluster", str(tmp_path / "*.parquet"), "--bounds", "a=-50:50,b=-5:5", "--k", "2", "--out", str(out)]
    given += ["--user", "user id", "--cap", "3", "--ledger", str(tmp_path / "privacy.db")]
    with knoll.testing.seeded_noise(1):
        result = CliRunner().invoke(app, [*given, "--dask", address, "--seed", "0"])
    assert result.exit_code == 0, result.output
    on_dask = (out / "centers.csv").read_text()
    with knoll.testing.seeded_noise(1):
        result = CliRunner().invoke(app, [*given, "--seed", "0"])
    assert result.exit_code == 0, result.output
    assert (out / "centers.csv").read_text() == on_dask
    (tmp_path / "x.csv").write_text("a,b\n1,2\n")
    result = CliRunner().invoke(app, [*given[:1], str(tmp_path / "x.csv"), *given[2:], "--dask", address])
    assert result.exit_code == 1
    assert "a cluster reads parquet files" in result.output
