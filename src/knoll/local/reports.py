"""Reports as they arrive: read, checked, counted. A report that no honest client sends is left out, whatever it is."""

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from knoll.local.client import Client
from knoll.local.clients import Noisy, SquareWave, Unary, Waves

_UNLIKELY = 8.0  # standard deviations: no honest unary report has a number of set bits further from the mean


def read_reports(client: Client, reports: Iterable[Any]) -> tuple[np.ndarray, int]:
    """Return what the server needs of valid reports, and how many were left out.

    Parameters
    ----------
    client : Client
        The client that made them.
    reports : iterable
        One entry per respondent, as `Client.report` gives it; anything else may be among them.

    Returns
    -------
    valid : integer array
        Outputs of shape (n,) for a square wave; set bits per bin, (n_bins + 1,), the number of reports last, for a
        unary encoding; outputs or grid points of shape (n, n_columns) for many columns.
    rejected : int
    """
    if isinstance(client, Unary):
        return _unary(client, reports)
    one = isinstance(client, SquareWave)
    d = 1 if one else len(client.lower)
    least, most = _range(client)
    good: list[list[int]] = []
    rejected = 0
    for entry in reports:
        numbers = _integers([entry] if one else entry, d)
        if numbers is not None and len(numbers) == d and all(least <= number <= most for number in numbers):
            good.append(numbers)
        else:
            rejected += 1
    return np.array(good, dtype=np.int64).reshape((-1,) if one else (-1, d)), rejected


def _range(client: Client) -> tuple[int, int]:
    """Return the least and the largest number in an honest report; both are far inside 64 bits."""
    if isinstance(client, Noisy):
        return -math.floor(client.limit), math.floor(client.limit)
    assert isinstance(client, SquareWave | Waves)
    wave = client if isinstance(client, SquareWave) else client.columns[0]
    return 0, wave.n_bins + 2 * wave.reach - 1


def _unary(client: Unary, reports: Iterable[Any]) -> tuple[np.ndarray, int]:
    """Count set bits; leave out reports with repeated or impossible bins, or with absurdly few or many bits."""
    expected = client.n_bins * client.rare + 0.5
    most = _UNLIKELY * (client.n_bins * client.rare * (1 - client.rare) + 0.25) ** 0.5
    counts = np.zeros(client.n_bins + 1, dtype=np.int64)
    rejected = 0
    for entry in reports:
        bits = _integers(entry, client.n_bins)
        if (
            bits is not None
            and all(0 <= bit < client.n_bins for bit in bits)
            and len(set(bits)) == len(bits)
            and abs(len(bits) - expected) <= max(most, 2.0)
        ):
            counts[bits] += 1
            counts[-1] += 1
        else:
            rejected += 1
    return counts, rejected


def _integers(entry: Any, most: int) -> list[int] | None:
    """Return a list, tuple or vector of at most `most` integers as Python's int, which cannot overflow.

    None for anything else. Types are checked before any value is used, because of traps: abs() of numpy's least integer
    is negative, a truth value or a time span passes for an integer, and an array without axes has no length.
    """
    if type(entry) is np.ndarray:
        if entry.ndim != 1 or entry.dtype.kind not in "iu" or entry.size > most:
            return None
        return [int(number) for number in entry]
    if type(entry) not in (list, tuple) or len(entry) > most:
        return None
    numbers = [int(each) for each in entry if type(each) is int or _numpy_integer(each)]
    return numbers if len(numbers) == len(entry) else None


def _numpy_integer(value: Any) -> bool:
    return isinstance(value, np.generic) and value.dtype.kind in "iu"
