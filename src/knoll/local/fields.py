"""Check what a client takes: parameters that an enemy may have written, records that a device may have garbled.

Parameters are public, but no message quotes one: it may be long or deeply nested. A record is never quoted.
"""

from numbers import Number
from typing import Any

import numpy as np

from knoll.privacy import DataError, PrivacyError
from knoll.queries import Box

MOST_BINS = 4096  # bounds memory: a channel is a matrix of outputs x bins
MOST_COLUMNS = 4096  # bounds what a hostile document can make a device compute


def number(name: str, value: Any) -> float:
    """Return a finite number as a float. A text or a truth value is refused."""
    good = isinstance(value, int | float) or (isinstance(value, np.generic) and value.dtype.kind in "iuf")
    if isinstance(value, bool) or not good or not abs(value) <= 1e300:
        raise PrivacyError(f"{name} of a client must be a finite number")
    return float(value)


def whole(name: str, value: Any, least: int, most: int) -> int:
    """Return an integer in a range as Python's int. A fraction or a truth value is refused, even an equal one."""
    if isinstance(value, np.generic) and value.dtype.kind in "iu":
        value = int(value)
    if type(value) is not int or not least <= value <= most:
        raise PrivacyError(f"{name} of a client must be an integer from {least} to {most}")
    return value


def box_of(lower: Any, upper: Any) -> Box:
    """Return the bounds, one pair of numbers for each of at most `MOST_COLUMNS` columns."""
    box = Box(_side("lower", lower), _side("upper", upper))
    if box.constant.any():
        raise PrivacyError("a column whose lower and upper bounds are equal needs no report: leave it out")
    return box


def _side(name: str, values: Any) -> tuple[float, ...]:
    if isinstance(values, np.ndarray):
        values = values.tolist()
    if not isinstance(values, list | tuple) or not 1 <= len(values) <= MOST_COLUMNS:
        raise PrivacyError(f"{name} bounds of a client must be a list of 1 to {MOST_COLUMNS} numbers")
    return tuple(number(f"{name} bounds", value) for value in values)


def finite_numbers(given: Any, n_columns: int) -> np.ndarray:
    """Return records as an array of finite numbers with up to two axes, or refuse them without quoting a value.

    Texts are not read as numbers, nor dates as counts of days. Masked values are refused.
    """
    refusal = DataError(f"records must be finite numbers, {n_columns} each")
    try:
        if isinstance(given, np.ma.MaskedArray) and np.ma.is_masked(given):
            raise refusal
        table = np.asarray(given)
        if table.ndim > 2 or table.dtype.kind not in "biufO":
            raise refusal
        if table.dtype.kind == "O" and not all(isinstance(value, Number) for value in table.flat):
            raise refusal
        with np.errstate(over="ignore"):
            numbers = table.astype(np.float64)
    except (TypeError, ValueError, ArithmeticError, RecursionError):
        raise refusal from None
    if not np.isfinite(numbers).all():
        raise refusal
    return numbers
