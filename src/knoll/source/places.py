"""From what a user hands to `fit` to an engine: arrays, frames, Arrow tables, paths, a `Source`, streams of batches."""

import re
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from knoll.columns import Columns, as_columns, encode_table
from knoll.columns.table import table_names
from knoll.engines.array import ArrayEngine
from knoll.engines.engine import Engine, Missing
from knoll.engines.listing import base_name, data_files
from knoll.engines.notation import Notation
from knoll.engines.sql import Table
from knoll.engines.stream import Stream, StreamEngine
from knoll.engines.streams import library_of, stream_of
from knoll.privacy.errors import DataError
from knoll.privacy.ledger import UNNAMED
from knoll.privacy.relation import Unit, User
from knoll.source.clusters import Clustered, open_cluster
from knoll.source.users import ids_in, split_users

NO_TABLE = "a database needs the name of a table: knoll.Table(uri, 'visits'); --table visits"
_DATABASE = re.compile(r"^[A-Za-z][\w+.-]+:(//|/[^/]*@)")  # a path may have lost one of two slashes


@dataclass(frozen=True)
class Source:
    """A file or folder to stream, and which of its columns to use.

    Parameters
    ----------
    path : path-like
        A parquet, CSV or Arrow file, a workbook (xlsx, xls, ods: its first sheet, with ``knoll[excel]``), a folder of
        them, or a pattern such as ``visits-*.csv``.
    columns : sequence of str, optional
        Feature columns, in order. By default those that `bounds` names, else all.
    line_breaks : bool, default=False
        Whether quoted fields of a CSV file may hold line ends. Only for files that a program wrote, which closes every
        quote that it opens: a record with an open quote could swallow others.
    delimiter, encoding : str, optional
        Of CSV files: what divides fields, by default told by the header line; and how characters are written, by
        default UTF-8, or UTF-16 if the first bytes say so. Others are declared: "latin-1", "cp1252".
    decimal, thousands : str, optional
        Marks of numbers in CSV files: "," and "." for 1.234,56. If neither is declared, columns with a declared kind
        are read value by value (`knoll.engines.notation` has the rules), others have decimal points.
    dates : str, optional
        Order of dates in texts: "iso" (the default: year first), "day-first", "month-first", or a format such as
        "%d.%m.%y".

    Examples
    --------
    >>> Source("visits.parquet", columns=["age", "bmi"]).name
    'visits'
    """

    path: str | PathLike[str]
    columns: tuple[str, ...] | list[str] | None = None
    line_breaks: bool = False
    delimiter: str | None = None
    encoding: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    dates: str | None = None

    def __post_init__(self) -> None:
        if _DATABASE.search(str(self.path)):
            raise DataError(NO_TABLE)
        _ = self.notation

    @property
    def notation(self) -> Notation:
        """How numbers and dates are written."""
        return Notation(self.decimal, self.thousands, self.dates or "iso")

    @property
    def name(self) -> str:
        """Name of the dataset in a ledger, if none is given: the file's, without the ending that tells its kind."""
        return base_name(Path(self.path)) or UNNAMED

    @property
    def files(self) -> list[Path]:
        """The files that are read: the file, or those of the folder, each once."""
        return data_files(Path(self.path))


@dataclass(frozen=True)
class Streamed:
    """What is asked for batches of rows again and again, and which of its columns to use."""

    stream: Stream
    columns: tuple[str, ...] | list[str] | None = None
    name: str = UNNAMED
    given: Any = None


Elsewhere = Source | Streamed | Table | Clustered
"""What is read block by block, and not held in memory."""


def as_source(X: Any) -> Elsewhere | None:
    """Return X as what is read block by block: a file, or something that gives batches; None for a table in memory."""
    if isinstance(X, Elsewhere):
        return X
    if isinstance(X, str | PathLike):
        return Source(X)
    if library_of(X) in ("dask", "pyspark"):
        return Clustered(X)
    stream = stream_of(X)
    return None if stream is None else Streamed(stream, given=X)


def open_source(source: Elsewhere, bounds: Any, *, missing: Missing, unit: Unit | None, nulls: bool = False) -> Engine:
    """Return an engine that streams a source; columns of declared kinds are encoded."""
    declared = as_columns(bounds)
    columns = source.columns
    if columns is None and (declared is not None or isinstance(bounds, dict)):
        columns = declared.names if declared is not None else [str(name) for name in bounds]
    if declared is not None and columns is not None and tuple(columns) != declared.names:
        raise DataError("the columns to read are not those that are declared, in the same order; leave columns= out")
    chosen = None if columns is None else list(columns)
    rules = None if declared is None else declared.missing(missing)
    encoders = None if declared is None else {name: kind.encode for name, kind in declared}
    handling: dict[str, Any] = {"missing": missing, "unit": unit, "nulls": nulls, "rules": rules, "encoders": encoders}
    if isinstance(source, Clustered):
        engine = open_cluster(source.collection, chosen, declared, handling)
        engine.files = source.files
        return engine
    if not isinstance(source, Source):
        user = unit.column if isinstance(unit, User) else None
        stream = source.stream(user, encoders or ()) if isinstance(source, Table) else source.stream
        return StreamEngine(stream, chosen, **handling)
    return _open_file(source, chosen, handling)


def _open_file(source: Source, columns: list[str] | None, handling: dict[str, Any]) -> Engine:
    from knoll.engines.csv import Dialect
    from knoll.engines.files import FileEngine

    dialect = Dialect(source.delimiter, source.encoding, source.line_breaks)
    return FileEngine(source.path, columns, dialect=dialect, notation=source.notation, **handling)


def open_table(
    columns: Columns, X: Any, *, missing: Missing, unit: Unit | None, nulls: bool = False
) -> tuple[Engine, str]:
    """Return the declared columns of a table or a file as an engine of encoded rows, and the name of the dataset.

    Parameters
    ----------
    columns : Columns
        The declared columns; others are ignored.
    X : path, Source, lazy frame, relation, frame, Arrow table, dict of columns, list of rows or dicts, or array
        The table.
    missing, unit, nulls
        As for every engine; a column's own rule for missing values comes first.
    """
    source = as_source(X)
    if source is not None:
        return open_source(source, columns, missing=missing, unit=unit, nulls=nulls), source.name or UNNAMED
    table, users = X, None
    if isinstance(unit, User) and (names := table_names(X)) is not None:
        users = ids_in(X, names, unit.column)
        if str(unit.column) in columns.names:
            raise DataError(f"column {unit.column!r} holds the user ids; it cannot be a feature too")
    else:
        table, users = split_users(X, unit)
    rules = columns.missing(missing)
    rows = encode_table(columns, table)
    engine = ArrayEngine(rows, columns.names, users=users, missing=missing, unit=unit, nulls=nulls, rules=rules)
    return engine, UNNAMED


def open_array(
    array: np.ndarray, names: Any, users: Any, *, missing: Missing, unit: Unit | None, nulls: bool = False
) -> Engine:
    """Return an engine over an array in memory."""
    known = None if names is None else tuple(map(str, names))
    return ArrayEngine(array, known, users=users, missing=missing, unit=unit, nulls=nulls)
