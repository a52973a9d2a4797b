"""Tables in memory as encoded rows: pandas, polars, Arrow, dicts, lists, numpy arrays.

Columns are chosen by name, others are ignored. A table without names has places: 0, 1, ... An error names the column.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from knoll.arrays import Floats
from knoll.columns.columns import Columns
from knoll.columns.values import PLAIN
from knoll.engines.decode import maker_of, names_of
from knoll.engines.notation import Notation
from knoll.privacy.errors import DataError


def encode_table(columns: Columns, X: Any, notation: Notation = PLAIN) -> Floats:
    """Return one double for each row and declared column; NaN for a missing value.

    Parameters
    ----------
    columns : Columns
        The columns.
    X : frame, Arrow table, dict of columns, list of rows or dicts, or array
        The table.
    notation : Notation, optional
        How numbers and dates are written in texts.

    Examples
    --------
    >>> columns = Columns({"age": (0, 110), "plan": {"a", "b"}})
    >>> encode_table(columns, {"plan": ["b", "z"], "age": ["7", 8], "id": [1, 2]})
    array([[7., 1.],
           [8., 2.]])
    """
    pick = picker(columns, X)
    encoded: list[Floats] = []
    for place, (name, kind) in enumerate(columns):
        try:
            encoded.append(kind.encode(pick(place), notation))
        except DataError as error:
            raise DataError(f"column {name!r} holds {error}") from None
    if len({len(each) for each in encoded}) > 1:
        raise DataError("the columns are not equally long")
    return np.column_stack(encoded)


def picker(columns: Columns, X: Any) -> Callable[[int], Any]:
    """Return what takes the column of a place among the declared ones out of a table."""
    X = in_memory(X, columns.names)
    names = table_names(X)
    if names is not None:
        places = _places(columns, names)
        if maker_of(X) == "pandas":  # looking up one column takes long in a frame of thousands
            listed = [column for _, column in X.items()]
            return lambda place: listed[places[place]]
        return lambda place: column_at(X, names, places[place])
    if isinstance(X, list | tuple):
        return _from_rows(columns, X)
    array = X if isinstance(X, np.ma.MaskedArray) else np.asarray(X)
    if array.ndim != 2:
        raise DataError("a table has rows and columns; this has another shape")
    at = _positions(columns, array.shape[1])
    return lambda place: array[:, at[place]]


def in_memory(X: Any, wanted: Iterable[Any]) -> Any:
    """Return a lazy frame of polars with the wanted columns in memory; anything else as it is."""
    if type(X).__name__ != "LazyFrame" or maker_of(X) != "polars":
        return X
    there = set(X.collect_schema().names())
    return X.select([name for name in dict.fromkeys(wanted) if name in there]).collect()


def table_names(X: Any) -> list[Any] | None:
    """Return the names of a table's columns, None if it has none."""
    if isinstance(X, Mapping):
        return list(X)
    if isinstance(X, np.ndarray) and X.dtype.names:
        return list(X.dtype.names)
    if isinstance(X, list | tuple) and X and all(isinstance(row, Mapping) for row in X):
        return list({name: None for row in X for name in row})
    return names_of(X)


def column_at(X: Any, names: list[Any], place: int) -> Any:
    """Return one column of a table with names."""
    maker = maker_of(X)
    if maker == "pandas":
        return X.iloc[:, place]
    if maker == "polars":
        return X.to_series(place)
    if maker == "pyarrow":
        return X.column(place)
    return [row.get(names[place]) for row in X] if isinstance(X, list | tuple) else X[names[place]]


def _places(columns: Columns, names: list[Any]) -> list[int]:
    texts = [str(name) for name in names]
    places = {name: i for i, name in enumerate(texts)}
    absent = [name for name in columns.names if name not in places]
    if absent:
        raise DataError(f"no column {', '.join(map(repr, absent[:20]))}; the table has {', '.join(texts[:40])}")
    if doubled := {name for name, count in Counter(texts).items() if count > 1} & set(columns.names):
        raise DataError(f"column {min(doubled)!r} stands twice in the table; rename one of them")
    return [places[name] for name in columns.names]


def _positions(columns: Columns, width: int) -> list[int]:
    """Return the places of the columns in a table without names: their numbers, or one after the other."""
    if all(isinstance(key, int | np.integer) and not isinstance(key, bool) for key in columns.keys):
        if not all(0 <= key < width for key in columns.keys):
            raise DataError(f"a declared column is not among the {width} of the table")
        return [int(key) for key in columns.keys]
    if len(columns) != width:
        raise DataError(f"the table has {width} columns without names; {len(columns)} are declared")
    return list(range(width))


def _from_rows(columns: Columns, rows: Any) -> Callable[[int], Any]:
    """Take columns out of lists, without making one array of them: their types would mix."""
    try:
        listed = [list(row) for row in rows if not isinstance(row, str | bytes)]
    except TypeError:
        raise DataError("a row of the table is not a list of values") from None
    width = len(listed[0]) if listed else len(columns)
    if len(listed) < len(rows) or not all(len(row) == width for row in listed):
        raise DataError("the rows of the table are not equally long")
    at = _positions(columns, width)
    return lambda place: [row[at[place]] for row in listed]
