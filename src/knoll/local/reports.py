"""Reports as they arrive: read, checked, counted. A report that no honest client sends is left out, whatever it is."""

from typing import Any

import numpy as np

from knoll.local.clients import Client, Noisy, SquareWave, Unary, Waves

_UNLIKELY = 8.0  # standard deviations of the number of set bits of a unary report


def read_reports(client: Client, reports: Any) -> tuple[np.ndarray, int]:
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
    entries = list(reports)
    if isinstance(client, SquareWave):
        outputs = client.n_bins + 2 * client.reach
        good = [entry for entry in entries if _whole(entry) and 0 <= entry < outputs]
        return np.array(good, dtype=np.int64), len(entries) - len(good)
    if isinstance(client, Unary):
        return _unary(client, entries)
    d = len(client.lower)
    if isinstance(client, Waves):
        outputs = client.n_bins + 2 * client.columns[0].reach
        good = [entry for entry in entries if _vector(entry, d) and all(0 <= number < outputs for number in entry)]
    else:
        assert isinstance(client, Noisy)
        limit = client.limit
        good = [entry for entry in entries if _vector(entry, d) and all(abs(number) <= limit for number in entry)]
    return np.array(good, dtype=np.int64).reshape(-1, d), len(entries) - len(good)


def _unary(client: Unary, entries: list[Any]) -> tuple[np.ndarray, int]:
    """Count set bits; leave out reports with repeated or impossible bins, or with absurdly few or many bits."""
    expected = client.n_bins * client.rare + 0.5
    most = _UNLIKELY * (client.n_bins * client.rare * (1 - client.rare) + 0.25) ** 0.5
    counts = np.zeros(client.n_bins + 1, dtype=np.int64)
    for entry in entries:
        bits = _bits(entry, client.n_bins)
        if bits is not None and abs(len(bits) - expected) <= max(most, 2.0):
            counts[bits] += 1
            counts[-1] += 1
    return counts, len(entries) - int(counts[-1])


def _bits(entry: Any, n_bins: int) -> list[int] | None:
    if not isinstance(entry, list | tuple) or len(entry) > n_bins:
        return None
    if not all(_whole(bit) and 0 <= bit < n_bins for bit in entry) or len(set(entry)) < len(entry):
        return None
    return [int(bit) for bit in entry]


def _vector(entry: Any, d: int) -> bool:
    return isinstance(entry, list | tuple | np.ndarray) and len(entry) == d and all(_whole(number) for number in entry)


def _whole(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool | np.bool_)
