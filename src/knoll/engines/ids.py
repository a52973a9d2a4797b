"""User ids: what an id is, and when two are equal.

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
import hashlib
import math
import uuid
from collections.abc import Hashable
from typing import Any

import numpy as np
import pyarrow as pa

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


def seed_of(key: Hashable) -> int:
    """Return a hash of an id, the same for equal ids and in every kind of table; 64 bits.

    It keys the hash of the user's rows, and never stands for the id itself: two users may share it.

    >>> seed_of(7) == seed_of(7.0) == seed_of("7") == seed_of(b"7"), seed_of(7) == seed_of(8)
    (True, False)
    """
    if isinstance(key, str):
        text = key.encode("utf-8", "surrogatepass")
    elif isinstance(key, bytes):
        text = key
    elif isinstance(key, int | float | decimal.Decimal):  # Python's hash of a number is that of its value
        text = str(int(key) if key == int(key) else hash(key)).encode()
    elif isinstance(key, datetime.datetime) and key.tzinfo is not None:
        text = key.astimezone(datetime.UTC).isoformat().encode()
    else:
        text = str(key).encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little")


class Ids:
    """The ids of a table in memory: a number for each row, equal if and only if the ids are, and each id's seed."""

    def __init__(self, codes: Any, seeds: Any):
        self.codes, self.seeds = codes, seeds

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, rows: slice) -> "Ids":
        return Ids(self.codes[rows], self.seeds)

    def take(self, rows: Any) -> "Ids":
        """Return the ids of some rows."""
        return Ids(self.codes.take(pa.array(rows)), self.seeds)

    @property
    def null_count(self) -> int:
        """How many rows have no id."""
        return int(self.codes.null_count)

    def to_pylist(self) -> list[Any]:
        """Return the numbers, None where there is no id."""
        return list(self.codes.to_pylist())


class IdBlocks:
    """Ids that come block by block, numbered as they come."""

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {None: -1}
        self._seeds, self._codes = list[int](), list[Any]()

    def add(self, users: Any) -> None:
        """Take the ids of some rows, as a batch gives them."""
        keys, code = places_of(users)
        for key in keys:
            if key not in self._numbers:
                self._numbers[key] = len(self._seeds)
                self._seeds.append(seed_in(users, key))
        self._codes.append(np.array([self._numbers[key] for key in keys], dtype=np.int64)[code])

    def ids(self) -> Ids:
        """Return the ids of all rows so far."""
        codes = np.concatenate([np.zeros(0, dtype=np.int64), *self._codes])
        return Ids(pa.array(codes, mask=codes < 0), np.array(self._seeds, dtype=np.uint64))


def places_of(users: Any) -> tuple[list[Hashable], Any]:
    """Return the different ids of a block, None first, and the place of each row's id among them."""
    if isinstance(users, Ids):
        numbers = users.codes.fill_null(-1).to_numpy(zero_copy_only=False)
        found, code = np.unique(np.append(numbers, -1), return_inverse=True)
        return [None, *found[1:].tolist()], code[:-1]
    if pa.types.is_dictionary(users.type):
        users = users.cast(users.type.value_type)
    coded = users.dictionary_encode()
    place: dict[Hashable, int] = {None: 0}  # Arrow tells 0.0 from -0.0, which are one id
    places = [place.setdefault(key_of(value), len(place)) for value in coded.dictionary.to_pylist()]
    code = np.array([*places, 0])[coded.indices.fill_null(len(places)).to_numpy(zero_copy_only=False)]
    return list(place), code


def seeds_of(users: Any) -> Any:
    """Return the seed of each row's id."""
    keys, code = places_of(users)
    return np.array([seed_in(users, key) for key in keys], dtype=np.uint64)[code]


def seed_in(users: Any, key: Any) -> int:
    """Return the seed of an id, as `places_of` gives it."""
    return int(users.seeds[key]) if isinstance(users, Ids) and key is not None else seed_of(key)


def ids_of(column: Any) -> Ids:
    """Return the ids of a table in memory as numbers, one for each user, null where there is none.

    Parameters
    ----------
    column : array, list, Series or Arrow array
        The ids, of any kind.

    Returns
    -------
    ids : Ids
        Numbers, equal if and only if the ids are.

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
        found, code = np.unique(column, return_inverse=True)
        return Ids(pa.array(code.astype(np.int64)), np.array([seed_of(key) for key in found.tolist()], dtype=np.uint64))
    listing = getattr(column, "to_pylist", None) or getattr(column, "to_list", None) or getattr(column, "tolist", None)
    codes: dict[Hashable, int] = {None: -1}
    found = np.array([codes.setdefault(key_of(value), len(codes) - 1) for value in (listing or column.__iter__)()])
    seeds = np.array([seed_of(key) for key in list(codes)[1:]], dtype=np.uint64)
    return Ids(pa.array(found.astype(np.int64), mask=found < 0), seeds)


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
