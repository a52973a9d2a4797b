"""From what a user hands to `fit` to an engine: arrays, frames, Arrow tables, paths, or a `Source`."""

from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from knoll.engines.array import ArrayEngine
from knoll.engines.decode import maker_of, names_of
from knoll.engines.engine import Engine, Missing
from knoll.engines.ids import ids_of
from knoll.engines.listing import base_name, data_files
from knoll.privacy.errors import DataError, brief
from knoll.privacy.ledger import UNNAMED
from knoll.privacy.relation import Record, Unit, User


@dataclass(frozen=True)
class Source:
    """A file or folder to stream, and which of its columns to use.

    Parameters
    ----------
    path : path-like
        A parquet, CSV or Arrow file, or a folder of them.
    columns : sequence of str, optional
        Feature columns, in order. By default those that `bounds` names, else all.
    line_breaks : bool, default=False
        Whether quoted fields of a CSV file may hold line ends. Only for files that a program wrote, which closes every
        quote that it opens: a record with an open quote could swallow others.

    Examples
    --------
    >>> Source("visits.parquet", columns=["age", "bmi"]).name
    'visits'
    """

    path: str | PathLike[str]
    columns: tuple[str, ...] | list[str] | None = None
    line_breaks: bool = False

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
    """Return an engine that streams a source."""
    from knoll.engines.files import FileEngine

    columns = source.columns
    if columns is None and isinstance(bounds, dict):
        columns = [str(name) for name in bounds]
    chosen = None if columns is None else list(columns)
    return FileEngine(source.path, chosen, missing=missing, unit=unit, nulls=nulls, line_breaks=source.line_breaks)


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
