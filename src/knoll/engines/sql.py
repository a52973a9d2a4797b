"""Tables of a database, read through ADBC: PostgreSQL, SQLite, and others whose driver is installed.

All passes of a fit read one snapshot: one transaction that is read only and repeatable. Numbers become doubles inside
the database where Arrow has no exact type for them (NUMERIC), each value by itself. What a server says in an error is
not repeated: it may quote values. Credentials stay in the connection: no message, ledger, model or repr has them.
"""

import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, unquote, urlsplit
from weakref import finalize

import pyarrow as pa

from knoll.engines.stream import Stream, safely
from knoll.engines.streams import quoted, spooled
from knoll.privacy.errors import DataError

_SNAPSHOT = {"postgresql": "BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY", "sqlite": "BEGIN"}
_SAME = {"postgres": "postgresql", "sqlite3": "sqlite"}
_ADVICE = "a copy of the table, or knoll.Table(..., spool=True)"


class Hidden(str):
    """A text that is shown nowhere: not in a traceback that lists variables either."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "'...'"


@dataclass(frozen=True)
class Table:
    """A table, or a query, of a database.

    Parameters
    ----------
    uri : str
        Where the database is: "postgresql://user@host/database", "sqlite:///path/to/file.db"; for others the scheme
        names the ADBC driver ("snowflake", "flightsql"). Passwords are better kept in ~/.pgpass or the environment.
    table : str, optional
        Name of a table or view, with its schema if need be: "clinic.visits".
    query : str, optional
        A SELECT to read instead.
    columns : sequence of str, optional
        Feature columns, in order. By default those that `bounds` names, else all.
    spool : bool, default=False
        Whether to copy the columns that are used to a local file without a name first, and read that: for slow
        servers, and those that end long transactions. The copy is not encrypted.

    Examples
    --------
    >>> Table("postgresql://ann:secret@example.org/clinic", "visits", columns=["age", "bmi"])
    Table('postgresql', table='visits')
    """

    uri: str = field(repr=False)
    table: str | None = None
    query: str | None = field(default=None, repr=False)
    columns: tuple[str, ...] | list[str] | None = None
    spool: bool = False

    def __post_init__(self) -> None:
        if (self.table is None) == (self.query is None):
            raise DataError("give the name of a table or a query, one of both: knoll.Table(uri, 'visits')")
        object.__setattr__(self, "uri", Hidden(self.uri))
        if not self.kind.isidentifier():
            raise DataError("a database is named by a URI, such as postgresql://host/database or sqlite:///file.db")
        if not _is_whole(self.uri):
            raise DataError(
                "the URI of the database has parts that cannot be told apart; write the characters / ? # @ : of a "
                "password as %2F %3F %23 %40 %3A, or keep it in ~/.pgpass"
            )

    def __repr__(self) -> str:
        return f"Table({self.kind!r}, {'a query' if self.table is None else f'table={self.table!r}'})"

    @property
    def kind(self) -> str:
        """The kind of database, by the URI's scheme."""
        scheme = self.uri.partition(":")[0].lower() if "://" in self.uri else ""
        return _SAME.get(scheme, scheme)

    @property
    def name(self) -> str:
        """Name of the dataset in a ledger, if none is given: the table's; a query has none."""
        return self.table or ""

    @property
    def what(self) -> str:
        """What it is, for messages."""
        return "the query" if self.table is None else f"the table {self.table!r}"

    @property
    def place(self) -> str:
        """Where it is, without credentials: for a ledger's witness."""
        parts = urlsplit(self.uri)
        host = parts.hostname or "".join(parse_qs(parts.query).get("host", []))
        path = str(_file_of(self.uri).resolve()) if self.kind == "sqlite" else parts.path
        return f"{self.kind} {host} {parts.port or ''} {path} {self.table}"

    def stream(self, user: Any, encoded: Collection[str]) -> Stream:
        """Return the rows as a stream; `user` is the column of ids, columns in `encoded` have a declared kind."""
        database = Database(self.uri, self.kind, self.what)
        asked = _ASKED.get(self.kind, Asked)(database, self._from, user, encoded)
        marks = () if self.table is None else (f"table {self.place}".encode(),)
        if self.spool:
            return spooled(asked.schema, asked.batches, self.what, marks=marks)
        return Stream(asked.schema, asked.batches, asked.count, self.what, _ADVICE, marks)

    @property
    def _from(self) -> str:
        if self.table is not None:
            return ".".join(map(quoted, self.table.split(".")))
        assert self.query is not None
        return f"({self.query.strip().rstrip(';')}) AS knoll_rows"


class Database:
    """A connection that keeps one snapshot until this object goes. One pass reads it at a time."""

    def __init__(self, uri: str, kind: str, what: str):
        self._what, self._lock = what, threading.Lock()
        driver = _driver(kind)
        target = f"file:{quote(str(_file_of(uri)))}?mode=ro" if kind == "sqlite" else uri
        self._connection: Any = safely(what, lambda: driver.connect(target, autocommit=True))
        finalize(self, _close, self._connection)  # which ends the snapshot
        if kind in _SNAPSHOT:
            safely(what, self._do, _SNAPSHOT[kind])

    def _do(self, statement: str) -> None:
        with self._connection.cursor() as cursor:
            cursor.execute(statement)

    def schema(self, statement: str) -> Any:
        """Return the names and Arrow types of what a statement gives, without a row of it."""
        with self._lock, self._connection.cursor() as cursor:
            safely(self._what, cursor.execute, f"{statement} LIMIT 0")
            return safely(self._what, cursor.fetch_record_batch).schema

    def batches(self, statement: str, options: dict[str, str] | None = None) -> Iterator[Any]:
        """Yield record batches; the cursor lives as long as they are read."""
        with self._lock, self._connection.cursor() as cursor:
            if options:
                cursor.adbc_statement.set_options(**options)
            cursor.execute(statement)
            yield from cursor.fetch_record_batch()

    def number(self, statement: str) -> int:
        """Return the one number that a statement gives."""
        return int(next(iter(self.batches(statement))).column(0)[0].as_py())


class Asked:
    """What is asked of a database whose driver gives every column a type of its own."""

    def __init__(self, database: Database, rows: str, user: Any, encoded: Collection[str]):
        self._database, self._rows = database, rows
        self.user, self.encoded = user, encoded
        self.schema: Any = self._schema()

    def _schema(self) -> Any:
        return self._database.schema(f"SELECT * FROM {self._rows}")

    def batches(self, names: list[str]) -> Iterator[Any]:
        """Yield batches of these columns."""
        return self._database.batches(f"SELECT {', '.join(map(quoted, names))} FROM {self._rows}")

    def count(self, names: list[str]) -> int:
        """Return the number of rows."""
        return self._database.number(f"SELECT count(*) FROM {self._rows}")


class AskedPostgres(Asked):
    """PostgreSQL: NUMERIC comes as text and is cast; ids that are NUMERIC as texts of their value, UUIDs as texts."""

    def _schema(self) -> Any:
        plain = super()._schema()
        self._terms = {each.name: self._term(each) for each in plain}
        return self._database.schema(f"SELECT {', '.join(self._terms.values())} FROM {self._rows}")

    def _term(self, column: Any) -> str:
        name, kind = quoted(column.name), (column.metadata or {}).get(b"POSTGRESQL:type", b"").decode()
        if kind == "numeric":
            how = f"trim_scale({name})::text" if column.name == self.user else f"{name}::double precision"
        elif isinstance(column.type, pa.BaseExtensionType):
            how = f"{name}::text"
        else:
            return name
        return f"{how} AS {name}"

    def batches(self, names: list[str]) -> Iterator[Any]:
        """Yield batches of these columns, cast where needed."""
        return self._database.batches(f"SELECT {', '.join(self._terms[name] for name in names)} FROM {self._rows}")


class AskedSqlite(Asked):
    """SQLite: any value may have any type, and the driver would guess a column's from its first rows.

    So each column is asked for as one type: numbers as doubles, others as text, each value by itself; a first row of
    our own fixes the types. A text where a number belongs is missing.
    """

    def _schema(self) -> Any:
        names = self._database.schema(f"SELECT * FROM {self._rows}").names
        texts = {self.user, *self.encoded}
        if self.user in names:
            self._check_ids(quoted(str(self.user)))
        return pa.schema([(name, pa.string() if name in texts else pa.float64()) for name in names])

    def _check_ids(self, user: str) -> None:
        kinds = f"SELECT DISTINCT typeof({user}) AS kind FROM {self._rows} WHERE {user} IS NOT NULL"
        batches = self._database.batches(f"SELECT '' AS kind UNION ALL {kinds}")
        found = {kind for batch in batches for kind in batch.column(0).to_pylist()}
        if found not in ({""}, {"", "integer"}, {"", "text"}):
            raise DataError(
                f"the ids in column {self.user!r} are not all whole numbers, or all texts, so that two might be taken "
                "for one; give them one type"
            )

    def _term(self, name: str) -> str:
        it = quoted(name)
        if pa.types.is_floating(self.schema.field(name).type):
            return f"CASE WHEN typeof({it}) IN ('integer', 'real') THEN CAST({it} AS REAL) END"
        exact = f"WHEN 'real' THEN printf('%!.17g', {it})"
        return f"CASE typeof({it}) {exact} WHEN 'blob' THEN NULL ELSE CAST({it} AS TEXT) END"

    def batches(self, names: list[str]) -> Iterator[Any]:
        """Yield batches of these columns."""
        schema = pa.schema([self.schema.field(name) for name in names])
        own = ", ".join(("0.0" if each.type == pa.float64() else "''") + f" AS {quoted(each.name)}" for each in schema)
        asked = f"SELECT {own} UNION ALL SELECT {', '.join(map(self._term, names))} FROM {self._rows}"
        fixed = {name: 0.0 if schema.field(name).type == pa.float64() else "" for name in names}
        first = True
        for batch in self._database.batches(asked, {"adbc.sqlite.query.batch_rows": "65536"}):
            if first and batch.slice(0, 1).to_pylist() != [fixed]:
                raise DataError("the database did not answer in the order that it was asked")
            columns = [each.cast(kind) for each, kind in zip(batch.columns, schema.types, strict=True)]
            yield pa.RecordBatch.from_arrays(columns, schema=schema).slice(int(first))
            first = False


_ASKED: dict[str, Callable[[Database, str, Any, Collection[str]], Asked]] = {
    "postgresql": AskedPostgres,
    "sqlite": AskedSqlite,
}


def _close(connection: Any) -> None:
    with suppress(Exception):  # the server may have gone
        connection.close()


def _is_whole(uri: str) -> bool:
    """Whether the parts of a URI can be told apart: a slash in a password would make a port of its beginning."""
    try:
        parts = urlsplit(uri)
        _ = parts.port
    except ValueError:  # its message would quote the part
        return False
    return parts.scheme.startswith("sqlite") or "@" not in parts.path


def _file_of(uri: str) -> Path:
    """Return the file of sqlite:///relative.db or sqlite:////absolute/path.db."""
    return Path(unquote(urlsplit(uri).path.removeprefix("/")))


def _driver(kind: str) -> Any:
    try:
        return import_module(f"adbc_driver_{kind}.dbapi")
    except ImportError:
        how = "'knoll[sql]'" if kind in _SNAPSHOT else f"adbc-driver-{kind}"
        raise DataError(f"reading from {kind} needs its ADBC driver: pip install {how}") from None
