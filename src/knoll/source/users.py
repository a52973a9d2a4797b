"""User ids taken off a table in memory."""

from typing import Any

import numpy as np

from knoll.columns.table import column_at
from knoll.engines.decode import maker_of, names_of
from knoll.engines.ids import ids_of
from knoll.privacy.errors import DataError, brief
from knoll.privacy.relation import Record, Unit, User


def ids_in(X: Any, names: list[Any], column: Any) -> Any:
    """Return the user ids of a table with names."""
    if column not in names:
        raise DataError(f"no column {column!r} with user ids; the columns are {', '.join(map(str, names[:40]))}")
    if names.count(column) > 1:
        raise DataError(f"column {column!r} with user ids stands twice in the table")
    return ids_of(column_at(X, names, names.index(column)))


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
