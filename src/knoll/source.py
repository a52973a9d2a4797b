"""From what a user hands to `fit` to an engine: arrays, frames, Arrow tables, paths, or a `Source`."""

from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from knoll.columns import Columns, as_columns, encode_table
from knoll.columns.table import column_at, in_memory, table_names
from knoll.engines.array import ArrayEngine
from knoll.engines.decode import maker_of, names_of
from knoll.engines.engine import Engine, Missing
from knoll.engines.ids import ids_of
from knoll.engines.listing import base_name, data_files
from knoll.engines.notation import Notation
from knoll.privacy.errors import DataError, brief
from knoll.privacy.ledger import UNNAMED
from knoll.privacy.relation import Record, Unit, User


@dataclass(frozen=True)
class Source:
    """A file or folder to stream, and which of its columns to use.

    Parameters
    ----------
    path : path-like
        A parquet, CSV or Arrow file, a workbook (xlsx, xls, ods: its first sheet, with ``knoll[excel]``), a folder of
        them, or a pattern such as "visits-*.csv".
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


def as_source(X: Any) -> Source | None:
    """Return X as a `Source` if it is a path or one already, else None."""
    if isinstance(X, Source):
        return X
    return Source(X) if isinstance(X, str | PathLike) else None


def open_file(source: Source, bounds: Any, *, missing: Missing, unit: Unit | None, nulls: bool = False) -> Engine:
    """Return an engine that streams a source; columns of declared kinds are encoded."""
    from knoll.engines.csv import Dialect
    from knoll.engines.files import FileEngine

    declared = as_columns(bounds)
    columns = source.columns
    if columns is None and (declared is not None or isinstance(bounds, dict)):
        columns = declared.names if declared is not None else [str(name) for name in bounds]
    if declared is not None and columns is not None and tuple(columns) != declared.names:
        raise DataError("the columns to read are not those that are declared, in the same order; leave columns= out")
    return FileEngine(
        source.path,
        None if columns is None else list(columns),
        missing=missing,
        unit=unit,
        nulls=nulls,
        rules=None if declared is None else declared.missing(missing),
        dialect=Dialect(source.delimiter, source.encoding, source.line_breaks),
        notation=source.notation,
        encoders=None if declared is None else {name: kind.encode for name, kind in declared},
    )


def open_table(
    columns: Columns, X: Any, *, missing: Missing, unit: Unit | None, nulls: bool = False
) -> tuple[Engine, str]:
    """Return the declared columns of a table or a file as an engine of encoded rows, and the name of the dataset.

    Parameters
    ----------
    columns : Columns
        The declared columns; others are ignored.
    X : path, Source, frame, Arrow table, dict of columns, list of rows or dicts, or array
        The table.
    missing, unit, nulls
        As for every engine; a column's own rule for missing values comes first.
    """
    source = as_source(X)
    if source is not None:
        return open_file(source, columns, missing=missing, unit=unit, nulls=nulls), source.name
    X = in_memory(X, [*columns.names, unit.column] if isinstance(unit, User) else columns.names)
    table, users = X, None
    if isinstance(unit, User) and (names := table_names(X)) is not None:
        users = _ids_in(X, names, unit.column)
        if str(unit.column) in columns.names:
            raise DataError(f"column {unit.column!r} holds the user ids; it cannot be a feature too")
    else:
        table, users = split_users(X, unit)
    rules = columns.missing(missing)
    rows = encode_table(columns, table)
    engine = ArrayEngine(rows, columns.names, users=users, missing=missing, unit=unit, nulls=nulls, rules=rules)
    return engine, UNNAMED


def _ids_in(X: Any, names: list[Any], column: Any) -> Any:
    """Return the user ids of a table with names."""
    if column not in names:
        raise DataError(f"no column {column!r} with user ids; the columns are {', '.join(map(str, names[:40]))}")
    if names.count(column) > 1:
        raise DataError(f"column {column!r} with user ids stands twice in the table")
    return ids_of(column_at(X, names, names.index(column)))


def open_array(
    array: np.ndarray, names: Any, users: Any, *, missing: Missing, unit: Unit | None, nulls: bool = False
) -> Engine:
    """Return an engine over an array in memory."""
    known = None if names is None else tuple(map(str, names))
    return ArrayEngine(array, known, users=users, missing=missing, unit=unit, nulls=nulls)


def split_users(X: Any, unit: Unit | None) -> tuple[Any, Any]:
    """Take the column of user ids, if the unit is a user, off a table in memory; the ids as `ids_of` returns them."""
    if unit is None or isinstance(unit, Record):
        return X, None
    if not isinstance(unit, User):
        raise DataError(f"unit={brief(unit)} is neither knoll.Record() nor knoll.User(column, cap)")
    column = unit.column
    names = names_of(X)
    if names is not None:
        if column not in names:
            known = ", ".join(map(str, names[:40]))
            raise DataError(f"no column {brief(column)} with user ids; the columns are {known}")
        if names.count(column) > 1:
            raise DataError(f"column {column!r} with user ids stands twice in the table")
        features = [name for name in names if name != column]
        rest = X[features] if maker_of(X) == "pandas" else X.select(features)
        return rest, ids_of(X[column])
    return _split_rows(X, column)


def _split_rows(X: Any, column: Any) -> tuple[Any, Any]:
    """Take the ids off an array or off lists. Lists are taken apart first: as one array, ids and features would mix."""
    position = isinstance(column, int | np.integer) and not isinstance(column, bool)
    if isinstance(X, list | tuple):
        try:
            rows = [list(row) for row in X]
        except TypeError:
            rows = [[]]
        width = len(rows[0]) if rows else 0
        if position and 0 <= column < width and all(len(row) == width for row in rows):
            return [[*row[:column], *row[column + 1 :]] for row in rows], ids_of([row[column] for row in rows])
    else:
        array = X if isinstance(X, np.ma.MaskedArray) else np.asarray(X)
        if position and array.ndim == 2 and 0 <= column < array.shape[1]:
            others = [j for j in range(array.shape[1]) if j != column]
            return array[:, others], ids_of(array[:, column])
    raise DataError(f"the column of user ids in an array needs a position, not {brief(column)}")
