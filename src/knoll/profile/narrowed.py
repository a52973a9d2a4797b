"""Declared columns, changed by a profile: bounds around what was found, and rules for missing values. Pure."""

import copy
from dataclasses import replace
from typing import Any

import numpy as np

from knoll.arrays import Floats
from knoll.columns import Columns, Date, Kind, Number, Ordered, Whole
from knoll.columns.logarithm import exp2

_BEYOND = 0.25  # of the width between the outer quantiles, on both sides: 1 % of the records lie beyond each of them


def counting(columns: Columns) -> Columns:
    """Return columns that count their missing values, whatever they declare to do with them."""
    kinds: dict[Any, Kind] = {}
    for key, kind in zip(columns.keys, columns.kinds, strict=True):
        kinds[key] = copy.copy(kind)
        object.__setattr__(kinds[key], "missing", None)
    return Columns(kinds)


def narrowed(kind: Kind, low: Floats, middle: Floats, high: Floats) -> Kind:
    """Return a column with bounds around its outer quantiles, wider by their errors and a part of the width.

    Parameters
    ----------
    kind : Kind
        As declared; other kinds than numbers, logs, whole numbers and dates stay as they are.
    low, middle, high : arrays of shape (n_quantiles,)
        Quantiles, encoded, with two standard errors on either side.
    """
    if not isinstance(kind, Number | Date) or isinstance(kind, Ordered):
        return kind
    _, first, last = kind.part
    room = _BEYOND * float(middle[-1] - middle[0])
    lower, upper = max(first, float(low[0]) - room), min(last, float(high[-1]) + room)
    if isinstance(kind, Date):
        days = np.array([np.floor(lower), np.ceil(upper)])
        ends = [str(each) for each in days.astype(np.int64).astype("datetime64[D]")]
        ends = [kind.first if days[0] <= first else ends[0], kind.last if days[1] >= last else ends[1]]
        return replace(kind, first=ends[0], last=ends[1]) if ends[0] < ends[1] else kind
    if isinstance(kind, Whole):
        lower, upper = np.floor(lower), np.ceil(upper)
    if kind.word == "log":
        lower, upper = exp2(np.array([lower, upper])).tolist()
    lower, upper = max(float(lower), kind.lower), min(float(upper), kind.upper)
    return replace(kind, lower=lower, upper=upper) if upper - lower > 1e-9 * (kind.upper - kind.lower) else kind
