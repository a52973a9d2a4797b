"""Dates and times as they are written or stored, each read by itself: a day since 1970-01-01, and a fraction of it.

Fractions are whole numbers of some unit divided by the units of a day, rounded once: a column in seconds and one in
nanoseconds give the same bits.
"""

import datetime
import re
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from knoll.arrays import Floats
from knoll.columns.values import as_column, is_text, text_array, texts_and_others
from knoll.compiled.texts import dates_in
from knoll.engines.notation import Notation, letters_of, trimmed
from knoll.privacy.errors import DataError

PER_DAY = {"D": 1, "s": 86_400, "ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}
NOT_A_DATE = (
    "something that is not a date. Dates are written year first (2020-12-31), unless another order is declared: "
    'dates="day-first", "month-first" or a format like "%d.%m.%Y"; on the command line --dates'
)
_CONVERT = "convert them first, or declare numbers (lower:upper)"
_EPOCH = datetime.datetime(1970, 1, 1)
_ISO = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}([ T][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?)?$"
MONTHS = [
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
]  # fmt: skip
_MONTHS = {short: i + 1 for i, name in enumerate(MONTHS) for short in (name, name[:3])}
_CLOCK = (
    r"(?:(?:[T,]| )\s*(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,](?P<part>\d{1,9}))?)?"
    r"(?:\s*(?P<half>[aApP])\.?[mM]\.?)?)?(?:\s*(?P<zone>Z|UTC|[+-]\d{2}:?\d{2}))?"
)
_YEAR_FIRST = r"(?P<year>\d{4})(?P<mark>[-/.])(?P<month>\d{1,2})(?P=mark)(?P<day>\d{1,2})"
_ORDERS = {
    "day-first": r"(?P<day>\d{1,2})(?P<mark>[-/.])\s?(?P<month>\d{1,2})(?P=mark)\s?(?P<year>\d{4})",
    "month-first": r"(?P<month>\d{1,2})(?P<mark>[-/.])(?P<day>\d{1,2})(?P=mark)(?P<year>\d{4})",
}
_NAMED = (
    r"(?P<day>\d{1,2})(?:\.|-| )\s?(?P<month>[A-Za-z]{3,9})\.?[- ,]\s?(?P<year>\d{4})",
    r"(?P<month>[A-Za-z]{3,9})\.? (?P<day>\d{1,2}),? (?P<year>\d{4})",
)
_COMPACT = r"(?P<year>\d{4})(?P<month>\d{2})(?P<day>\d{2})"
_PATTERNS = {
    order: [re.compile(each + _CLOCK, re.ASCII) for each in (_YEAR_FIRST, *more, *_NAMED, _COMPACT)]
    for order, more in {"iso": (), **{order: (pattern,) for order, pattern in _ORDERS.items()}}.items()
}
_PERIOD = re.compile(
    r"(?P<year>\d{4})(?:-?W(?P<week>\d{2})(?:-?(?P<day>[1-7]))?|-(?P<month>\d{2})|[- ]?Q(?P<quarter>[1-4]))"
)
"""A week, a month or a quarter, year first: its first day."""
_LONGEST = 80  # characters of a date


def moments(column: Any, notation: Notation, *, local: bool = False) -> tuple[Floats, Floats]:
    """Return the day of each value and the fraction of that day; NaN if it is missing.

    Parameters
    ----------
    column : Arrow array or list
        What `as_column` returns.
    notation : Notation
        The order of dates in texts.
    local : bool
        Whether to take the clock as it is written, with a zone or without; else a zone is taken into account, and a
        time without one is Universal Time.
    """
    if isinstance(column, list):
        return _of_list(column, notation, local)
    kind = column.type
    if pa.types.is_dictionary(kind):
        at = column.indices.fill_null(len(column.dictionary)).to_numpy(zero_copy_only=False)
        days, parts = moments(column.dictionary, notation, local=local)
        return np.append(days, np.nan)[at], np.append(parts, np.nan)[at]
    if pa.types.is_null(kind):
        return np.full(len(column), np.nan), np.full(len(column), np.nan)
    return _of_text(column, notation, local) if is_text(kind) else _of_dates(column, local)


def _of_dates(column: Any, local: bool) -> tuple[Floats, Floats]:
    """Read Arrow's dates and timestamps: whole numbers of a unit since 1970."""
    kind = column.type
    if pa.types.is_date32(kind):
        counts, unit = column.cast(pa.int32()).cast(pa.int64()), "D"
    elif pa.types.is_date64(kind):
        counts, unit = column.cast(pa.int64()), "ms"
    elif pa.types.is_timestamp(kind):
        counts, unit = (pc.local_timestamp(column) if local and kind.tz else column).cast(pa.int64()), kind.unit
    else:
        raise DataError(f"{kind}, not dates; {_CONVERT}")
    empty = np.asarray(column.is_null())
    days, rest = np.divmod(np.asarray(counts.fill_null(0)), PER_DAY[unit])
    return np.where(empty, np.nan, days), np.where(empty, np.nan, rest / float(PER_DAY[unit]))


def _of_text(column: Any, notation: Notation, local: bool) -> tuple[Floats, Floats]:
    """Read texts: those in the usual notation from their bytes or by Arrow, all others one by one."""
    if "%" in notation.dates:
        return _unusual(column, notation, local)
    column, letters, ends = letters_of(column)
    found, left = np.empty((2, len(column))), np.empty(len(column), np.uint8)
    if dates_in(letters, ends, found[0], found[1], left) or column.null_count:
        absent = np.asarray(column.is_null())
        found[:, absent] = np.nan
        rest = (left == 1) & ~absent
        if rest.any():
            found[:, rest] = _unusual(column.filter(pa.array(rest)), notation, local)
    return found[0], found[1]


def _unusual(column: Any, notation: Notation, local: bool) -> tuple[Floats, Floats]:
    """Read texts that are missing values, or written in other ways; Arrow knows impossible dates."""
    text = trimmed(column)
    usual = pc.match_substring_regex(text, _ISO).fill_null(True)
    if "%" in notation.dates:
        usual = text.is_null()
    mask = np.asarray(usual)
    found = np.empty((2, len(text)))
    found[:, mask] = _of_dates(pc.cast(text.filter(usual), pa.timestamp("us")), local)
    if not mask.all():
        coded = text.filter(pc.invert(usual)).dictionary_encode()
        read = (parse_moment(each, notation.dates) for each in coded.dictionary.to_pylist())
        pairs = np.array([_of_value(each, local) for each in read])
        found[:, ~mask] = pairs[np.asarray(coded.indices)].T
    return found[0], found[1]


def _of_list(values: list[Any], notation: Notation, local: bool) -> tuple[Floats, Floats]:
    """Read Python values: texts as in a column of texts, all others one by one."""
    found = np.full((2, len(values)), np.nan)
    texts, rest = texts_and_others(values)
    if texts:
        found[:, texts] = _of_text(text_array(values[i] for i in texts), notation, local)
    for i in rest:
        found[:, i] = _of_value(values[i], local)
    return found[0], found[1]


def _of_value(value: Any, local: bool) -> tuple[float, float]:
    """Return the day and the fraction of one date or time."""
    if isinstance(value, np.datetime64):
        days, parts = _of_dates(as_column(np.array([value])), local)
        return float(days[0]), float(parts[0])
    if not isinstance(value, datetime.date):
        raise DataError(f"values of type {type(value).__name__}, not dates")
    if not isinstance(value, datetime.datetime):
        return float(value.toordinal() - _EPOCH.toordinal()), 0.0
    bare = value.replace(tzinfo=None)
    offset = value.utcoffset()
    if offset is not None and not local:
        bare = bare - offset
    since = datetime.datetime(*bare.timetuple()[:6], bare.microsecond) - _EPOCH
    nanos = (since.seconds * 10**6 + since.microseconds) * 1000 + getattr(value, "nanosecond", 0)
    return float(since.days), nanos / PER_DAY["ns"]


def parse_moment(text: str, dates: str = "iso") -> datetime.datetime:
    """Read one date or time; refuse what is none, in the declared order.

    >>> parse_moment("1.2.2020 14:30", "day-first")
    datetime.datetime(2020, 2, 1, 14, 30)
    >>> parse_moment("2020-W06")
    datetime.datetime(2020, 2, 3, 0, 0)
    """
    try:
        if "%" in dates:
            return datetime.datetime.strptime(text, dates)
        if (period := _PERIOD.fullmatch(text)) is not None:
            return _beginning(**period.groupdict())
        found = (each.fullmatch(text) for each in _PATTERNS[dates] if len(text) <= _LONGEST)
        return _built(next(each for each in found if each is not None).groupdict())
    except (StopIteration, KeyError, ValueError, OverflowError):
        raise DataError(NOT_A_DATE) from None


def _beginning(
    year: str, week: str | None, day: str | None, month: str | None, quarter: str | None
) -> datetime.datetime:
    """Return the first day of a period; a ValueError if there is no such week or month."""
    if week is not None:
        return datetime.datetime.fromisocalendar(int(year), int(week), int(day or 1))
    return datetime.datetime(int(year), int(month) if month is not None else 3 * int(quarter or 1) - 2, 1)


def _built(part: dict[str, str | None]) -> datetime.datetime:
    """Return the time that the parts of a text make; a ValueError or KeyError if there is none."""
    month = part["month"] or ""
    hour = int(part["hour"] or 0)
    if part["half"]:
        if not 1 <= hour <= 12:
            raise ValueError(hour)
        hour = hour % 12 + (12 if part["half"].lower() == "p" else 0)
    moment = datetime.datetime(
        int(part["year"] or 0),
        int(month) if month.isdigit() else _MONTHS[month.lower()],
        int(part["day"] or 0),
        hour,
        int(part["minute"] or 0),
        int(part["second"] or 0),
        int((part["part"] or "").ljust(6, "0")[:6]),
    )
    zone = part["zone"]
    if zone is None:
        return moment
    sign = -1 if zone[0] == "-" else 1
    shift = (
        datetime.timedelta(hours=int(zone[1:3]), minutes=int(zone[-2:])) if zone[0] in "+-" else datetime.timedelta()
    )
    return moment.replace(tzinfo=datetime.timezone(sign * shift))
