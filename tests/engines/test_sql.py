"""Tables of PostgreSQL and SQLite: the same model as in memory, one snapshot, and no credentials anywhere."""

import contextlib
import datetime
import decimal
import itertools
import pickle
import sqlite3
import traceback
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from typer.testing import CliRunner

import knoll
from knoll.cli.main import app
from knoll.engines import ArrayEngine
from knoll.engines.stream import StreamEngine
from knoll.privacy import DataError
from knoll.queries import Count
from tests.contract.registry import QUERIES
from tests.engines import postgres

pytestmark = pytest.mark.xdist_group("sql")  # one server for all
COLUMNS = {"a": (-50, 50), "plan": {"x", "y"}, "since": ("2020-01-01", "2020-12-31"), "paid": (0, 9)}


def _table(n=1500):
    rng = np.random.default_rng(4)
    return pd.DataFrame(
        {
            "a": rng.normal(scale=20, size=n) / 3,
            "b": rng.normal(size=n),
            "paid": [decimal.Decimal(int(i)) / 1000 for i in rng.integers(0, 9000, n)],
            "plan": [["x", "y", "z"][i] for i in rng.integers(0, 3, n)],
            "since": [datetime.date(2020, 1, 1) + datetime.timedelta(int(i)) for i in rng.integers(0, 300, n)],
            "user id": rng.integers(0, 60, n) + 2**60,
        }
    )


DATA = _table()


@pytest.fixture(scope="module")
def server():
    dbapi = pytest.importorskip("adbc_driver_postgresql.dbapi", reason="no ADBC driver of PostgreSQL: knoll[sql]")
    if postgres.programs() is None:
        pytest.skip("no PostgreSQL server on this machine")
    with postgres.running() as server:
        with contextlib.closing(dbapi.connect(server.uri)) as con, con.cursor() as cursor:
            cursor.execute(
                'CREATE TABLE visits (a float8, b float8, paid numeric(9, 3), plan text, since date, "user id" bigint)'
            )
            kept = pa.Table.from_pandas(DATA.drop(columns="paid"))
            cursor.adbc_ingest("staged", kept.append_column("paid", pa.array([str(x) for x in DATA["paid"]])))
            cursor.execute('INSERT INTO visits SELECT a, b, paid::numeric, plan, since, "user id" FROM staged')
            con.commit()
        yield server


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    pytest.importorskip("adbc_driver_sqlite.dbapi", reason="no ADBC driver of SQLite: knoll[sql]")
    path = tmp_path_factory.mktemp("sqlite") / "my data.db"
    with contextlib.closing(sqlite3.connect(path)) as con:
        con.execute('CREATE TABLE visits (a REAL, b REAL, paid NUMERIC, plan TEXT, since TEXT, "user id" INTEGER)')
        rows = [(a, b, float(p), plan, str(s), u) for a, b, p, plan, s, u in DATA.itertuples(index=False)]
        con.executemany("INSERT INTO visits VALUES (?, ?, ?, ?, ?, ?)", rows)
        con.commit()
    return path


@pytest.fixture(params=["postgresql", "sqlite"])
def uri(request):
    if request.param == "sqlite":
        return f"sqlite:///{request.getfixturevalue('file')}"
    return request.getfixturevalue("server").uri


def _engine(uri, names, **more):
    return StreamEngine(knoll.Table(uri, "visits", **more).stream(None, ()), names)


def test_every_query_gives_the_same_integers(uri):
    rows = DATA[["a", "b"]].to_numpy()
    for spool in (False, True):
        engine = _engine(uri, ["a", "b"], spool=spool)
        for name, (query, d) in QUERIES.items():
            if d == 2:
                assert np.array_equal(engine.aggregate(query), ArrayEngine(rows).aggregate(query)), name


def test_kinds_decimals_and_users(uri):
    fit = {"bounds": COLUMNS, "unit": knoll.User("user id", 5), "random_state": 0, "epsilon": 5.0}
    for table in (knoll.Table(uri, "visits"), knoll.Table(uri, query="SELECT * FROM visits WHERE a < 99;")):
        with knoll.testing.seeded_noise(1):
            found = knoll.KMeans(3, **fit).fit(table)
        with knoll.testing.seeded_noise(1):
            expected = knoll.KMeans(3, **fit).fit(DATA)
        assert np.array_equal(found.cluster_centers_, expected.cluster_centers_)
        labels = found.predict(table).read_all()  # rows of a database have no order: they come with their labels
        assert sorted(labels.column("label").to_pylist()) == sorted(expected.predict(DATA))
        assert labels.num_columns == DATA.shape[1] + 1


def test_decimals_without_a_declared_kind(uri):
    rows = DATA[["a", "paid"]].astype(float).to_numpy()
    engine, array = _engine(uri, ["a", "paid"]), ArrayEngine(rows)
    query, _ = QUERIES["moments, one cell"]
    assert np.array_equal(engine.aggregate(query), array.aggregate(query))


def _change(uri, statement):
    if uri.startswith("sqlite"):
        with contextlib.closing(sqlite3.connect(uri.removeprefix("sqlite:///"), timeout=0.1)) as con:
            con.execute(statement)
            con.commit()
        return
    import adbc_driver_postgresql.dbapi as dbapi

    with contextlib.closing(dbapi.connect(uri)) as con, con.cursor() as cursor:
        cursor.execute(statement)
        con.commit()


def test_all_passes_read_one_snapshot(uri):
    _change(uri, "CREATE TABLE changing AS SELECT a, b FROM visits")
    for spool in (False, True):
        engine = StreamEngine(knoll.Table(uri, "changing", spool=spool).stream(None, ()))
        before = engine.aggregate(Count())
        with contextlib.suppress(sqlite3.OperationalError):  # SQLite may keep writers out
            _change(uri, "INSERT INTO changing VALUES (0, 0)")
        assert engine.aggregate(Count()) == before
    del engine
    _change(uri, "DROP TABLE changing")


def test_a_query_that_differs_each_time_is_refused(uri, tmp_path):
    ledger = knoll.Ledger(tmp_path / "privacy.db", "visits")
    chance = "random() > 0.5" if uri.startswith("postgresql") else "random() > 0"
    table = knoll.Table(uri, query=f"SELECT a, b FROM visits WHERE {chance}")
    with pytest.raises(DataError, match=r"the query gave other rows than before.*spool=True"):
        knoll.KMeans(2, bounds=(-50, 50), ledger=ledger).fit(table)
    with contextlib.suppress(knoll.privacy.LedgerError):  # it does not know the name: refused before all else
        assert ledger.spend("visits").releases == 0


def test_the_server_goes_away_between_passes(server):
    engine = _engine(server.uri, ["a", "b"])
    assert engine.aggregate(Count()) == len(DATA)
    server.stop()
    try:
        with pytest.raises(DataError, match="cannot be read"):
            engine.aggregate(Count())
    finally:
        server.start()
    assert _engine(server.uri, ["a", "b"]).aggregate(Count()) == len(DATA)


@pytest.mark.parametrize("spool", [False, True])
def test_a_server_that_is_restarted_in_the_middle_of_a_fit(server, spool, tmp_path, monkeypatch):
    """The snapshot is gone, so the fit is refused, and the query that met it is not recorded; a local copy lives on."""
    table, ledger = knoll.Table(server.uri, "visits", columns=["a", "b"], spool=spool), knoll.Ledger(tmp_path / "p.db")
    fit = {"bounds": (-50, 50), "random_state": 0, "n_steps": 4}
    plain, passes = StreamEngine.aggregate, itertools.count()

    def aggregate(engine, query):
        if next(passes) == 2:
            server.stop()
            server.start()
        return plain(engine, query)

    monkeypatch.setattr(StreamEngine, "aggregate", aggregate)
    with knoll.testing.seeded_noise(1):
        expected = knoll.Lloyd(2, **fit).fit(DATA[["a", "b"]]).cluster_centers_
        if not spool:
            with pytest.raises(DataError, match="cannot be read"):
                knoll.Lloyd(2, **fit, ledger=ledger).fit(table)
            assert ledger.spend("visits").releases == 2
    with knoll.testing.seeded_noise(1):
        found = knoll.Lloyd(2, **fit, ledger=ledger).fit(table)
    assert np.array_equal(found.cluster_centers_, expected)
    assert ledger.spend("visits").releases == (4 if spool else 6)


def test_credentials_are_nowhere(server, tmp_path):
    uri = server.uri.replace("knoll@", "knoll:hunter2@")
    table = knoll.Table(uri, "visits", columns=["a", "b"])
    ledger = knoll.Ledger(tmp_path / "privacy.db")
    model = knoll.KMeans(2, bounds=(-50, 50), ledger=ledger).fit(table)
    assert ledger.spend("visits").releases > 0
    written = [path.read_bytes() for path in tmp_path.iterdir()]
    for text in (*written, pickle.dumps(model), repr(table).encode(), repr(vars(model)).encode()):
        assert b"hunter2" not in text
    for wrong in (
        knoll.Table(uri, "nothing"),
        knoll.Table(uri.replace("/postgres", "/nobase"), "visits"),
        knoll.Table(uri.replace("host=", "host=/nowhere"), "visits"),
        knoll.Table(uri, query="SELECT 'hunter2'::float8 AS a"),
    ):
        with pytest.raises(DataError) as caught:
            knoll.KMeans(2, bounds=(-50, 50)).fit(wrong)
        assert "hunter2" not in str(caught.value)
        assert caught.value.__context__ is None


LEAKY = "postgresql://ann:hunter2@127.0.0.1:1/clinic"


@pytest.mark.parametrize(
    "attempt",
    [
        lambda uri: knoll.KMeans(2, bounds=(0, 1)).fit(knoll.Table(uri, "visits")),
        lambda uri: knoll.KMeans(2, bounds=(0, 1)).fit(knoll.Table(uri.replace("ql://", "x://"), "visits")),
        lambda uri: knoll.KMeans(2, bounds=(0, 1)).fit(uri),
        lambda uri: knoll.KMeans(2, bounds=(0, 1)).fit(Path(uri)),
        lambda uri: knoll.Source(uri),
        lambda uri: knoll.Ledger(uri),
        lambda uri: knoll.KMeans(2, bounds=uri).fit([[0.0]]),
        lambda uri: knoll.KMeans(uri, bounds=(0, 1)).fit([[0.0]]),
        lambda uri: knoll.Table(uri.replace("postgresql://", ""), "visits"),
        lambda uri: knoll.Table(uri.replace("ann:", "ann:hunter2/"), "visits"),
        lambda uri: knoll.Table(uri.replace("@", "@[@"), "visits"),
        lambda uri: knoll.load(uri),
    ],
)
def test_no_error_of_ours_holds_a_password(attempt):
    """Neither its message, nor what it came from, nor a variable of our own functions that a traceback may list."""
    pytest.importorskip("adbc_driver_postgresql.dbapi", reason="no ADBC driver of PostgreSQL: knoll[sql]")
    with pytest.raises((ValueError, RuntimeError)) as caught:
        attempt(LEAKY)
    error = caught.value
    while error is not None:
        assert "hunter2" not in str(error)
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    assert "hunter2" not in repr(pickle.loads(pickle.dumps(caught.value)))
    if isinstance(caught.value, DataError):
        frames = traceback.TracebackException.from_exception(caught.value, capture_locals=True).stack
        ours = [frame for frame in frames if "/knoll/engines/sql" in frame.filename]
        assert not [frame for frame in ours if "hunter2" in str(frame.locals)]


def test_what_a_report_shows_of_the_command_has_no_password(server, tmp_path, monkeypatch):
    uri = server.uri.replace("knoll@", "knoll:hunter2@") + "&password=hunter2"
    given = ["cluster", uri, "--table", "visits", "--bounds", "a=-50:50,b=-5:5", "--k", "2", "--out", str(tmp_path)]
    monkeypatch.setattr("sys.argv", ["/usr/bin/knoll", *given])
    result = CliRunner().invoke(app, [*given, "--ledger", str(tmp_path / "privacy.db")])
    assert result.exit_code == 0, result.output
    assert "--table visits" in (tmp_path / "report.html").read_text()
    for path in tmp_path.iterdir():
        assert b"hunter2" not in path.read_bytes(), path.name
    assert "hunter2" not in result.output
    for wrong in (["columns", LEAKY], ["sample", LEAKY], ["predict", LEAKY, LEAKY], ["cluster", LEAKY, "--table", "x"]):
        result = CliRunner().invoke(app, [*wrong, "--dask", "local"] if "--table" in wrong else wrong)
        assert result.exit_code != 0
        assert "hunter2" not in result.output


def test_the_same_table_under_a_second_name_is_noticed(server, tmp_path):
    fit = {"bounds": (-50, 50), "ledger": knoll.Ledger(tmp_path / "privacy.db")}
    knoll.KMeans(2, **fit).fit(knoll.Table(server.uri, "visits", columns=["a", "b"]))
    again = knoll.Ledger(tmp_path / "privacy.db", "another")
    with pytest.warns(knoll.privacy.LedgerWarning):
        knoll.KMeans(2, bounds=(-50, 50), ledger=again).fit(knoll.Table(server.uri, "visits", columns=["a", "b"]))


def test_values_of_sqlite_are_read_one_by_one(tmp_path):
    """The type of a column must not follow from its first rows, and a text among numbers is a missing number."""
    pytest.importorskip("adbc_driver_sqlite.dbapi", reason="no ADBC driver of SQLite: knoll[sql]")
    path = tmp_path / "x.db"
    values = [None] * 3000 + [1, 2.5, 2**53 + 1, "text", "7", b"8", 1e300]
    with contextlib.closing(sqlite3.connect(path)) as con:
        con.execute("CREATE TABLE t (a, u)")
        con.executemany("INSERT INTO t VALUES (?, ?)", [(value, i) for i, value in enumerate(values)])
        con.commit()
    engine = StreamEngine(knoll.Table(f"sqlite:///{path}", "t").stream(None, ()), ["a"], missing="drop")
    found = np.concatenate([rows[:, 0] for rows, _, _ in engine.read()])
    assert np.array_equal(found[3000:], [1, 2.5, 2**53, np.nan, np.nan, np.nan, 1e300], equal_nan=True)
    assert np.isnan(found[:3000]).all()
    with contextlib.closing(sqlite3.connect(path)) as con:
        con.execute("INSERT INTO t VALUES (1, '5')")
        con.commit()
    with pytest.raises(DataError, match="not all whole numbers, or all texts"):
        knoll.Table(f"sqlite:///{path}", "t").stream("u", ())


def test_a_table_needs_a_name_and_a_driver():
    with pytest.raises(DataError, match="one of both"):
        knoll.Table("postgresql://localhost/x")
    with pytest.raises(DataError, match="named by a URI"):
        knoll.Table("visits.db", "visits")
    with pytest.raises(DataError, match="pip install adbc-driver-nosuch"):
        knoll.KMeans(2, bounds=(0, 1)).fit(knoll.Table("nosuch://x", "visits"))
    with pytest.raises(DataError, match="needs the name of a table"):
        knoll.KMeans(2, bounds=(0, 1)).fit("postgresql://localhost/x")


def test_on_the_command_line(uri, tmp_path):
    out = tmp_path / "out"
    given = ["cluster", uri, "--table", "visits", "--bounds", "a=-50:50,b=-5:5", "--k", "2", "--out", str(out)]
    result = CliRunner().invoke(app, given)
    assert result.exit_code == 0, result.output
    assert (out / "model.json").exists()
    result = CliRunner().invoke(app, given[:2] + given[4:])
    assert result.exit_code != 0
