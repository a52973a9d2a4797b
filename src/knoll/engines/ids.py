"""User ids: what an id is, when two are equal, and the rows that a user may add.

An id is compared as its own exact value, never through a type that it would share with other ids: an integer beyond
2^53 next to a missing value must not become a double. Hence every value is looked at alone (`key_of`):

- None, NaN, NaT, pandas' NA and empty text are no id: such a row is refused or dropped, as `missing` says.
- Text, bytes, whole and decimal numbers, dates and UUIDs are themselves. Numbers are equal if their values are; a
  number never equals a text.
- A double of 2^53 or more is refused: what its last digits were is lost, and two users may have become one. Numbers of
  single or half precision are refused, and numpy's dates, which are integers of some unit.
"""

import datetime
import decimal
import math
import uuid
from collections.abc import Hashable
from typing import Any

import numpy as np
import pyarrow as pa

from knoll.arrays import Bools
from knoll.privacy.errors import DataError

_EXACT = 2.0**53
_KINDS = (str, bytes, int, float, decimal.Decimal, datetime.date, uuid.UUID)
_SINGLE = (
    "user ids are numbers of single or half precision, whose last digits are lost: users may have been merged. Read "
    "the column as integers or as text"
)
NO_ID = 'some rows have no user id. Pass missing="drop" to leave them out, or give every row an id'


def key_of(value: Any) -> Hashable:
    """Return an id as a key that equals another's if and only if the ids are equal; None if it is missing."""
    if isinstance(value, np.datetime64 | np.timedelta64):
        raise DataError("user ids of numpy's dates cannot be compared; give text, whole numbers or Python's dates")
    if isinstance(value, np.floating) and value.dtype.itemsize < 8:
        raise DataError(_SINGLE)
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or type(value).__name__ in ("NAType", "NaTType") or value in ("", b""):
        return None
    if not isinstance(value, _KINDS):
        raise DataError(
            f"user ids of type {type(value).__name__} cannot be compared; give text, whole numbers or dates"
        )
    if isinstance(value, float | decimal.Decimal) and not _finite(value):
        if value.is_nan() if isinstance(value, decimal.Decimal) else math.isnan(value):
            return None
        raise DataError("a user id is infinite; give text or whole numbers")
    if isinstance(value, float) and abs(value) >= _EXACT:
        raise DataError(
            "user ids are doubles of 2^53 or more, whose last digits are lost: users may have been merged. Read the "
            "column as integers or as text"
        )
    return value


def _finite(value: float | decimal.Decimal) -> bool:
    return value.is_finite() if isinstance(value, decimal.Decimal) else math.isfinite(value)


def ids_of(column: Any) -> Any:
    """Return the ids of a table in memory as numbers, one for each user, null where there is none.

    Parameters
    ----------
    column : array, list, Series or Arrow array
        The ids, of any kind.

    Returns
    -------
    codes : Arrow array of int64
        Equal if and only if the ids are.

    Examples
    --------
    >>> ids_of([2**60, 2**60 + 1, "7", 7, None, 2**60]).to_pylist()
    [0, 1, 2, 3, None, 0]
    """
    kind = getattr(column, "dtype", getattr(column, "type", None))
    if str(kind).lower().removesuffix("[pyarrow]") in ("float16", "float32", "halffloat", "float"):
        raise DataError(_SINGLE)
    if getattr(kind, "kind", "") in ("M", "m") and isinstance(column, np.ndarray):
        key_of(np.datetime64("NaT"))
    if isinstance(column, np.ndarray) and column.dtype.kind in "iu" and not isinstance(column, np.ma.MaskedArray):
        return pa.array(np.unique(column, return_inverse=True)[1].astype(np.int64))
    listing = getattr(column, "to_pylist", None) or getattr(column, "to_list", None) or getattr(column, "tolist", None)
    codes: dict[Hashable, int] = {None: -1}
    found = np.array([codes.setdefault(key_of(value), len(codes) - 1) for value in (listing or column.__iter__)()])
    return pa.array(found.astype(np.int64), mask=found < 0)


def id_kind(kind: Any) -> str | None:
    """Name the kind of an Arrow type that ids may have, None for one that they may not."""
    if pa.types.is_dictionary(kind):
        return id_kind(kind.value_type)
    tests = {
        "whole numbers": pa.types.is_integer,
        "text": lambda t: pa.types.is_string(t) or pa.types.is_large_string(t) or pa.types.is_string_view(t),
        "bytes": lambda t: (
            pa.types.is_binary(t)
            or pa.types.is_large_binary(t)
            or pa.types.is_fixed_size_binary(t)
            or pa.types.is_binary_view(t)
        ),
        "numbers": pa.types.is_float64,
        "decimals": lambda t: pa.types.is_decimal128(t) or pa.types.is_decimal256(t),
        "nothing": pa.types.is_null,
    }
    return next((name for name, test in tests.items() if test(kind)), None)


class UserCap:
    """Admits each user's first `cap` rows, in row order: a rule about that user's rows alone."""

    def __init__(self, cap: int):
        self.cap = cap
        self._seen: dict[Hashable, int] = {}

    def admit(self, users: Any) -> tuple[Bools, Bools]:
        """Return which rows of a block are among their user's first `cap`, and which have no id (never admitted)."""
        if pa.types.is_dictionary(users.type):
            users = users.cast(users.type.value_type)
        coded = users.dictionary_encode()
        place: dict[Hashable, int] = {None: 0}  # Arrow tells 0.0 from -0.0, which are one id
        places = [place.setdefault(key_of(value), len(place)) for value in coded.dictionary.to_pylist()]
        code = np.array([*places, 0])[coded.indices.fill_null(len(places)).to_numpy(zero_copy_only=False)]
        counts = np.bincount(code, minlength=len(place))
        before = np.array([self._seen.get(key, 0) for key in place])
        before[0] = self.cap
        order = np.argsort(code, kind="stable")
        rank = np.empty(len(code), dtype=np.int64)
        rank[order] = np.arange(len(code)) - np.repeat(np.cumsum(counts) - counts, counts)
        after = np.minimum(before + counts, self.cap).tolist()
        self._seen.update(zip(place, after, strict=True))
        return before[code] + rank < self.cap, code == 0
