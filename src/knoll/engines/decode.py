"""From columns, as they come, to doubles: one decoder for Arrow, pandas, polars and plain Python values.

Every value becomes a double by itself. Never through a type that the column would have to share with other values, or
the table with other columns: then one record could change how the others are read. Dates, categories and text that is
no number are refused; a missing value becomes NaN.
"""

import decimal
import fractions
from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from knoll.arrays import Floats
from knoll.privacy.errors import DataError

NOT_NUMBERS = (
    'choose other columns, or declare what it holds: bounds={"plan": {"basic", "gold"}, "smoker": bool, "joined": '
    '("2020-01-01", "2024-12-31"), "age": (0, 110)}'
)
_PLAIN = (bool, int, float, np.number, np.bool_, str, decimal.Decimal, fractions.Fraction, type(None))


def is_number(kind: Any) -> bool:
    """Whether an Arrow type holds numbers, booleans or nothing at all."""
    tests = (pa.types.is_floating, pa.types.is_integer, pa.types.is_boolean, pa.types.is_decimal, pa.types.is_null)
    return any(test(kind) for test in tests)


def family(kind: Any) -> str:
    """Name what an Arrow type holds, in a word: files of one dataset agree on it."""
    if pa.types.is_dictionary(kind):
        return family(kind.value_type)
    tests = {
        "nothing": pa.types.is_null,
        "booleans": pa.types.is_boolean,
        "numbers": is_number,
        "dates": lambda each: pa.types.is_date(each) or pa.types.is_timestamp(each),
        "times of the day": pa.types.is_time,
        "durations": pa.types.is_duration,
        "vectors": pa.types.is_fixed_size_list,
        "lists": pa.types.is_nested,
        "text": lambda each: any(word in str(each) for word in ("string", "binary")),
    }
    return next((name for name, test in tests.items() if test(kind)), str(kind))


def doubles(column: Any) -> Floats:
    """Return an Arrow array of numbers as doubles, nulls as NaN. Each is the double nearest to its own value."""
    kind = column.type
    if pa.types.is_decimal(kind):  # Arrow's own cast divides by a power of ten and errs in the last digit
        column = pc.cast(column, pa.string())
    elif pa.types.is_float16(kind) or (pa.types.is_integer(kind) and not column.null_count):  # Arrow casts slowly
        return column.to_numpy(zero_copy_only=False).astype(np.float64)
    if not pa.types.is_float64(kind):
        column = pc.cast(column, pa.float64(), safe=False)
    return column.to_numpy(zero_copy_only=False)


def is_frame(table: Any) -> bool:
    """Whether a table keeps its columns apart: pandas, polars or Arrow."""
    return maker_of(table) != "" and hasattr(table, "columns")


def names_of(table: Any) -> list[Any] | None:
    """Return the names of a frame's columns, None for anything else."""
    if not is_frame(table):
        return None
    return list(table.column_names if maker_of(table) == "pyarrow" else table.columns)


def frame_to_doubles(table: Any) -> Floats:
    """Return a frame's columns as rows of doubles, each column from its own type; an error names the column."""
    names = list(map(str, names_of(table) or ()))
    rows = np.empty((len(table), len(names)))
    for j, name in enumerate(names):
        try:
            rows[:, j] = _column_of(table, j)
        except (TypeError, ValueError, OverflowError, pa.ArrowException) as error:
            what = str(error) if isinstance(error, DataError) else "something that is not a number"
            raise DataError(f"column {name!r} holds {what}; {NOT_NUMBERS}") from None
    return rows


def plain_to_doubles(values: Iterable[Any]) -> Floats:
    """Return Python values as doubles, each by itself."""
    listed = list(values)
    for kind in set(map(type, listed)):
        if not issubclass(kind, _PLAIN) and kind.__name__ != "NAType":
            raise DataError(f"values of type {kind.__name__}")
    return np.array([np.nan if _absent(value) else float(value) for value in listed], dtype=np.float64)


def refuse_dates(table: Any) -> None:
    """Refuse dates and durations in an array or in lists, which numpy would read as integers of some unit."""
    if isinstance(table, np.ndarray):
        dates = table.dtype.kind in "Mm" or (
            table.dtype.kind == "O" and any(map(_is_date, set(map(type, table.ravel().tolist()))))
        )
    elif isinstance(table, list | tuple):
        rows = [row for row in table if isinstance(row, Iterable) and not isinstance(row, str | bytes)]
        kinds = {*map(type, table), *(kind for row in rows for kind in set(map(type, row)))}
        dates = any(map(_is_date, kinds))
    else:
        dates = getattr(getattr(table, "dtype", None), "kind", "") in ("M", "m")
    if dates:
        raise DataError("X holds dates or durations; convert them to numbers of a unit of your choice first")


def _column_of(table: Any, j: int) -> Floats:
    """Return one column of a frame as doubles."""
    maker = maker_of(table)
    if maker == "pandas":
        return _from_pandas(table.iloc[:, j])
    if maker == "pyarrow":
        return _from_arrow(table.column(j))
    column = table.to_series(j)
    return plain_to_doubles(column.to_list()) if str(column.dtype) == "Object" else _from_arrow(column.to_arrow())


def _from_pandas(column: Any) -> Floats:
    kind = column.dtype
    if hasattr(kind, "pyarrow_dtype"):
        return _from_arrow(pa.array(column))
    if getattr(kind, "name", "") == "category":
        raise DataError("categories")
    if kind.kind in "fiub":
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    if kind.kind == "O":  # Python values, or pandas' text
        return plain_to_doubles(column.tolist())
    raise DataError("dates or durations" if kind.kind in "Mm" else "something that is not a number")


def _from_arrow(column: Any) -> Floats:
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type) or pa.types.is_string_view(column.type):
        return plain_to_doubles(column.to_pylist())
    if not is_number(column.type):
        raise DataError(f"{column.type}, not numbers")
    return doubles(column)


def _absent(value: Any) -> bool:
    return value is None or type(value).__name__ == "NAType"


def _is_date(kind: type) -> bool:
    return issubclass(kind, np.datetime64 | np.timedelta64) or kind.__name__ in ("Timestamp", "Timedelta", "NaTType")


def maker_of(table: Any) -> str:
    """Return the library that a table comes from, through subclasses too: pandas, polars, pyarrow, or nothing."""
    makers = (kind.__module__.partition(".")[0] for kind in type(table).__mro__)
    return next((maker for maker in makers if maker in ("pandas", "polars", "pyarrow")), "")
