"""The page about where data lives: every piece of it is run, where what it needs is there."""

import re
import shutil
from pathlib import Path

import pytest

from tests.engines import postgres, spark_cluster

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "guides" / "elsewhere.md").read_text()
FIRST, *REST = re.split(r"^## ", PAGE, flags=re.MULTILINE)
PIECES = {each.partition("\n")[0]: each for each in REST if "```py\n" in each}
NEEDS = {
    "A relation of DuckDB": "duckdb",
    "SQLite": "adbc_driver_sqlite",
    "PostgreSQL": "adbc_driver_postgresql",
    "Dask": "distributed",
    "Spark": "pyspark",
}


def _run(text, names):
    for block in re.findall(r"^```py\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        assert len([line for line in block.splitlines() if line]) <= 10
        exec(compile(block, "elsewhere.md", "exec"), names)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("title", [pytest.param(each, marks=pytest.mark.xdist_group(each.lower())) for each in PIECES])
def test_pieces_run(title, tmp_path, monkeypatch):
    need = next((module for start, module in NEEDS.items() if title.startswith(start)), None)
    if need:
        pytest.importorskip(need, reason=f"no {need}")
    if title == "Spark" and shutil.which("java") is None:
        pytest.skip("no Java on this machine")
    if title == "PostgreSQL" and postgres.programs() is None:
        pytest.skip("no PostgreSQL server on this machine")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))  # of Spark's workers, which other tests use after this one
    monkeypatch.chdir(tmp_path)
    if title == "Spark":
        spark_cluster.stop()  # the page starts a session of its own, and getOrCreate would take another's
    names: dict = {}
    _run(FIRST, names)
    if title == "PostgreSQL":
        with postgres.running() as server:
            monkeypatch.setenv("PGHOST", server.folder)
            monkeypatch.setenv("PGUSER", "knoll")
            _fill(server, names["visits"])
            _run(PIECES[title], names)
            del names["table"], names["query"], names["model"]
    else:
        _run(PIECES[title], names)
        assert names["model"].cluster_centers_.shape == (2, 2)
    if title == "Spark":
        spark_cluster.stop()


def _fill(server, table):
    import adbc_driver_postgresql.dbapi as dbapi
    import pyarrow as pa

    with dbapi.connect(server.uri) as con, con.cursor() as cursor:
        cursor.adbc_ingest("visits", pa.Table.from_pandas(table, preserve_index=False))
        con.commit()


def test_there_are_pieces():
    assert len(PIECES) == 6
