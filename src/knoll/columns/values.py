"""A column as it comes, from any library: an Arrow array of its own type, or a list of Python values.

Every value is then read by itself (`numbers`), never through a type that it would share with other values.
"""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pyarrow as pa

from knoll.arrays import Floats
from knoll.engines.decode import doubles, is_number, maker_of, plain_to_doubles
from knoll.engines.notation import Notation, numbers_of_text
from knoll.privacy.errors import DataError

PLAIN = Notation()


def as_column(values: Any) -> Any:
    """Return values as an Arrow array, or as a list if they are Python objects of any kind."""
    maker = maker_of(values)
    if maker == "pandas":
        return _from_pandas(values)
    if maker == "polars":
        return values.to_list() if str(values.dtype) == "Object" else _whole(values.to_arrow())
    if maker == "pyarrow":
        return _whole(values)
    if isinstance(values, np.ma.MaskedArray):  # what lies under a mask is missing
        return [
            None if hidden else value for value, hidden in zip(values.data, np.ma.getmaskarray(values), strict=True)
        ]
    if isinstance(values, np.ndarray) and values.ndim == 1 and values.dtype.kind in "biufMUS":
        return pa.array(_second_units(values) if values.dtype.kind == "M" else values)
    return list(values)


def is_text(kind: Any) -> bool:
    """Whether an Arrow type holds text, or bytes that are read as text."""
    tests = (
        pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view,
        pa.types.is_binary, pa.types.is_large_binary, pa.types.is_binary_view,
    )  # fmt: skip
    return any(test(kind) for test in tests)


def is_absent(value: Any) -> bool:
    """Whether a Python value stands for nothing: None, NaN, NaT, or pandas' NA."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, np.datetime64 | np.timedelta64):
        return bool(np.isnat(value))
    try:
        return bool(value != value)
    except (TypeError, ValueError, ArithmeticError):  # a signalling NaN among decimals is one too
        return type(value).__name__ == "Decimal"


def read_column(column: Any, arrow: Callable[[Any], Floats], others: Callable[[list[Any]], Any]) -> Floats:
    """Read a column: Arrow arrays, and the texts of a list, by `arrow`; the other values of a list by `others`.

    A column of codes (pandas' and polars' categories) is read through its dictionary. Missing values become NaN.
    """
    if not isinstance(column, list):
        if pa.types.is_dictionary(column.type):
            found, at = np.append(arrow(column.dictionary), np.nan), column.indices
            at = at.fill_null(len(found) - 1) if at.null_count else at
            return found.take(at.to_numpy(zero_copy_only=False))
        return np.full(len(column), np.nan) if pa.types.is_null(column.type) else arrow(column)
    found = np.full(len(column), np.nan)
    texts, rest = texts_and_others(column)
    if texts:
        found[texts] = arrow(text_array(column[i] for i in texts))
    if rest:
        found[rest] = others([column[i] for i in rest])
    return found


def texts_and_others(values: list[Any]) -> tuple[list[int], list[int]]:
    """Return the places of texts (and bytes, which are read as texts), and of other values that are not missing."""
    texts = [i for i, value in enumerate(values) if isinstance(value, str | bytes)]
    return texts, [i for i, value in enumerate(values) if not (isinstance(value, str | bytes) or is_absent(value))]


def text_array(values: Iterable[str | bytes]) -> Any:
    """Return texts as an Arrow array."""
    return pa.array([each.decode("utf-8") if isinstance(each, bytes) else str(each) for each in values], pa.string())


def numbers(column: Any, notation: Notation) -> Floats:
    """Return a column as doubles, each the nearest to its own value; NaN if it is missing or infinite."""
    found = any_numbers(column, notation)
    with np.errstate(all="ignore"):
        if np.isfinite(found.sum()):  # a finite sum has finite terms
            return found if found.flags.owndata else np.array(found)
    return np.where(np.isfinite(found), found, np.nan)


def any_numbers(column: Any, notation: Notation) -> Floats:
    """Return the same with what is infinite; it may be the column's own memory."""

    def arrow(part: Any) -> Floats:
        if is_text(part.type):
            return numbers_of_text(part, notation)
        if not is_number(part.type):
            raise DataError(f"{part.type}, not numbers; store it as numbers of a unit, or leave the column out")
        return doubles(part)

    return read_column(column, arrow, plain_to_doubles)


def _from_pandas(values: Any) -> Any:
    kind = str(values.dtype)
    if kind == "object":
        return list(values.tolist())
    if kind.startswith("Sparse"):
        values = values.sparse.to_dense()
    elif kind.startswith("period"):
        values = values.dt.to_timestamp()
    return _whole(pa.array(values, from_pandas=True))


def _whole(column: Any) -> Any:
    """Return an Arrow column in one piece."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks() if column.num_chunks else pa.array([], column.type)
    return _without_views(column) if pa.types.is_string_view(column.type) else column


def _without_views(column: Any) -> Any:
    """Return texts in the form that every version of Arrow computes with."""
    try:
        return column.cast(pa.large_string())
    except pa.ArrowNotImplementedError:  # of pyarrow 16: it knows the type, and does nothing with it
        return pa.array(column.to_pylist(), pa.large_string())


def _second_units(values: np.ndarray) -> np.ndarray:
    """Return numpy's dates in a unit that Arrow knows: seconds for hours, minutes, weeks, months and years."""
    unit = np.datetime_data(values.dtype)[0]
    return values if unit in ("D", "s", "ms", "us", "ns") else values.astype("datetime64[s]")
