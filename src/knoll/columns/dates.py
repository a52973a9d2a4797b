"""Columns of dates and times, and columns that come round again: hours, weekdays, months, angles."""

import datetime
import re
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from knoll.arrays import Floats
from knoll.columns.kind import Kind, Missing, Part, finite
from knoll.columns.moments import MONTHS, PER_DAY, moments
from knoll.columns.numbers import number_text
from knoll.columns.values import PLAIN, as_column, is_text, numbers, read_column
from knoll.engines.decode import is_number
from knoll.engines.notation import Notation, numbers_of_text, trimmed
from knoll.privacy.errors import BoundsError, DataError

WEEKDAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
_WORDS = {"weekday": (WEEKDAYS, 0), "month": (MONTHS, 1)}
_PERIODS = {"hour": (24.0, 0.0), "weekday": (7.0, 0.0), "month": (12.0, 1.0)}
_CLOCK = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2}))?", re.ASCII)
_LONGEST = 40  # characters of an order of dates


@dataclass(frozen=True)
class Date(Kind):
    """Dates and times between two public ones; what lies outside is clipped.

    Encoded as days since 1970-01-01. A time with a zone is taken to Universal Time, one without is as it is written.

    Parameters
    ----------
    first, last : str, date or datetime
        Text begins with the year: "2020-12-31", "2020-12-31T18:00". A date without a time is the beginning of its day.
    format : str, optional
        Order of dates in texts of this column: "iso", "day-first", "month-first", or a format as `strptime` takes it.
        By default as declared for the whole file, else "iso".
    weight, missing
        As for every kind.

    Examples
    --------
    >>> Date("2020-01-01", "2024-12-31").encode(["2020-01-01", "2021-06-30 12:00", None]).tolist()
    [18262.0, 18808.5, nan]
    """

    first: str
    last: str
    format: str | None = None
    word: ClassVar[str] = "date"
    noun: ClassVar[str] = "a date"
    hint: ClassVar[str] = "; an impossible one, such as the 30th of February?"

    def __post_init__(self) -> None:
        super().__post_init__()
        for side in ("first", "last"):
            object.__setattr__(self, side, _moment_text(side, getattr(self, side)))
        if self.format is not None:
            if not isinstance(self.format, str) or len(self.format) > _LONGEST:
                raise BoundsError('format is not "iso", "day-first", "month-first" or a short format with %')
            try:
                Notation(dates=self.format)
            except DataError as error:
                raise BoundsError(str(error)) from None
        if not self.part[1] < self.part[2]:
            raise BoundsError(f"date: the first, {self.first}, is not before the last, {self.last}")

    @property
    def part(self) -> Part:
        """A line of days."""
        days, parts = moments(as_column([self.first, self.last]), Notation())
        return "line", float(days[0] + parts[0]), float(days[1] + parts[1])

    def _encode(self, column: Any, notation: Notation) -> Floats:
        known = notation if self.format is None else replace(notation, dates=self.format)

        def added(part: Any) -> Floats:
            days, parts = moments(part, known)
            return days + parts

        if isinstance(column, list) or not pa.types.is_dictionary(column.type):
            return added(column)
        return read_column(column, added, added)  # each different date once

    def decode(self, doubles: Any) -> np.ndarray:
        """Return dates, or times to the second if a bound has one; NaT for NaN."""
        days = np.array(doubles, dtype=np.float64)
        unit = "s" if "T" in self.first + self.last else "D"
        counts = np.rint(days * PER_DAY[unit])
        empty = np.isnan(counts)
        found = np.where(empty, 0, counts).astype(np.int64).astype(f"datetime64[{unit}]")
        found[empty] = np.array("NaT", dtype=found.dtype)
        return found

    def describe(self) -> str:
        """Return a few words for people."""
        return f"a date from {self.first} to {self.last}"

    def text(self) -> str:
        """Return ``first:last``."""
        return f"{self.first}:{self.last}"


@dataclass(frozen=True)
class Cyclic(Kind):
    """Numbers that come round again after a period: 23 h is as near to 1 h as 1 h to 3 h.

    Encoded as a position on a circle, from 0 up to 1.

    Parameters
    ----------
    period : float
        After how much it comes round.
    start : float, default=0
        The number at position 0.
    unit : {"hour", "weekday", "month"}, optional
        What is taken of dates and times in the column; see `Cyclic.hour`, `Cyclic.weekday`, `Cyclic.month`.
    weight, missing
        As for every kind.

    Examples
    --------
    >>> Cyclic.hour().encode(["2020-01-01 06:00", 18, "12:30"]).tolist()
    [0.25, 0.75, 0.5208333333333334]
    >>> Cyclic.weekday().encode(["2024-01-01", 6, "Wed"]).round(3).tolist()
    [0.0, 0.857, 0.286]
    """

    period: float
    start: float = 0.0
    unit: str | None = None
    word: ClassVar[str] = "cyclic"
    noun: ClassVar[str] = "a number or a time"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "period", finite("period", self.period))
        object.__setattr__(self, "start", finite("start", self.start))
        if not self.period >= 1e-30:
            raise BoundsError(f"cyclic: period {self.period:g} is not above zero")
        if self.unit is not None and _PERIODS.get(str(self.unit)) != (self.period, self.start):
            raise BoundsError(f"cyclic: unit={str(self.unit)[:20]!r} is not hour, weekday or month, with its period")

    @classmethod
    def hour(cls, *, weight: float = 1.0, missing: Missing | None = None) -> "Cyclic":
        """The hour of the day: of times, by the clock that is written there, or numbers from 0 to 24."""
        return cls(24.0, 0.0, "hour", weight=weight, missing=missing)

    @classmethod
    def weekday(cls, *, weight: float = 1.0, missing: Missing | None = None) -> "Cyclic":
        """The day of the week: of dates, English names, or numbers from 0, Monday, to 6."""
        return cls(7.0, 0.0, "weekday", weight=weight, missing=missing)

    @classmethod
    def month(cls, *, weight: float = 1.0, missing: Missing | None = None) -> "Cyclic":
        """The month of the year: of dates, English names, or numbers from 1 to 12."""
        return cls(12.0, 1.0, "month", weight=weight, missing=missing)

    @property
    def part(self) -> Part:
        """A circle."""
        return ("circle",)

    def coordinates(self, name: str) -> list[str]:
        """Return the names of the two coordinates of a circle."""
        return [f"{name}, cosine", f"{name}, sine"]

    def _encode(self, column: Any, notation: Notation) -> Floats:
        return read_column(column, lambda part: self._of_arrow(part, notation), self._of_values)

    def _of_arrow(self, column: Any, notation: Notation) -> Floats:
        """Encode an Arrow array: texts, numbers, times of the day, or dates."""
        if is_text(column.type):
            return self._of_text(column, notation)
        if is_number(column.type):
            return self._position(numbers(column, notation))
        if pa.types.is_time(column.type) and self.unit == "hour":
            counts = column.cast(pa.int32()) if pa.types.is_time32(column.type) else column
            return numbers(counts.cast(pa.int64()), notation) / float(PER_DAY[column.type.unit])
        return self._of_moments(column, notation)

    def _of_values(self, values: list[Any]) -> Floats:
        """Encode Python values that are no texts: times one by one, all others as numbers."""
        found = np.empty(len(values))
        times = np.array([isinstance(each, datetime.time | datetime.date | np.datetime64) for each in values])
        for i in np.flatnonzero(times).tolist():
            found[i] = self._of_time(values[i])
        found[~times] = self._position(numbers([values[i] for i in np.flatnonzero(~times)], PLAIN))
        return found

    def _of_time(self, value: Any) -> float:
        """Encode one date or time."""
        if isinstance(value, datetime.time):
            return float(self._of_arrow(pa.array([value.replace(tzinfo=None)], pa.time64("us")), PLAIN)[0])
        return float(self._of_moments([value], PLAIN)[0])

    def _of_text(self, column: Any, notation: Notation) -> Floats:
        """Encode texts: numbers, clock times, names of days or months, else dates."""
        text = trimmed(column)
        try:
            return self._position(numbers_of_text(text, notation))
        except DataError:  # some are no numbers
            pass
        coded = text.dictionary_encode()
        known = coded.dictionary.to_pylist()
        values = [self._of_number(each, notation) for each in known]
        found = np.append(self._position(np.array(values, dtype=np.float64)), np.nan)
        times = [i for i, value in enumerate(values) if value is None]
        if times:
            found[times] = self._of_moments(coded.dictionary.take(pa.array(times)), notation)
        return found[np.asarray(pc.fill_null(coded.indices, len(known)))]

    def _of_number(self, text: str, notation: Notation) -> float | None:
        """Return the number that a text, a clock time or a name stands for; None for another text."""
        known = self._of_word(text)
        if known is not None:
            return known
        try:
            return notation.number(text)
        except ValueError:
            return None

    def _of_word(self, text: str) -> float | None:
        """Return the number of a clock time or a name; None for another text."""
        clock = _CLOCK.fullmatch(text)
        if self.unit == "hour" and clock is not None:
            hour, minute, second = (int(each or 0) for each in clock.groups())
            if hour <= 24 and minute < 60 and second < 60:
                return (hour * 3600 + minute * 60 + second) / 3600
        if self.unit in _WORDS:
            names, first = _WORDS[self.unit]
            places = [i for i, name in enumerate(names) if text.lower() in (name, name[:3])]
            return float(places[0] + first) if places else None
        return None

    def _of_moments(self, column: Any, notation: Notation) -> Floats:
        """Encode dates and times, by the clock that is written there."""
        if self.unit is None:
            raise DataError("dates or times, not numbers; declare Cyclic.hour(), Cyclic.weekday() or Cyclic.month()")
        days, parts = moments(column, notation, local=True)
        if self.unit == "hour":
            return parts
        empty = np.isnan(days)
        whole = np.where(empty, 0.0, days).astype(np.int64)
        if self.unit == "weekday":  # 1970 began on a Thursday
            return np.where(empty, np.nan, np.mod(whole + 3, 7) / 7.0)
        months = whole.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64)
        return np.where(empty, np.nan, np.mod(months, 12) / 12.0)

    def _position(self, values: Floats) -> Floats:
        """Return where numbers lie on the circle."""
        turns = (np.where(np.isinf(values), np.nan, values) - self.start) / self.period
        rest = turns - np.floor(turns)
        return np.where(rest >= 1.0, 0.0, rest)  # a little below a whole turn may round to one

    def decode(self, doubles: Any) -> np.ndarray:
        """Return numbers from `start` on, less than a period above it."""
        return self.start + np.array(doubles, dtype=np.float64) * self.period

    def describe(self) -> str:
        """Return a few words for people."""
        named = {"hour": "the hour of the day", "weekday": "the day of the week", "month": "the month of the year"}
        return named.get(self.unit or "", f"a number that comes round after {self.period:g}")

    def text(self) -> str:
        """Return ``cyclic:period`` or ``cyclic:hour``."""
        if self.unit is not None:
            return f"cyclic:{self.unit}"
        start = f":{number_text(self.start)}" if self.start else ""
        return f"cyclic:{number_text(self.period)}{start}"


def _moment_text(side: str, value: Any) -> str:
    """Return a declared date or time as text, year first."""
    try:
        days, parts = moments(as_column([value]), Notation())
        seconds = np.datetime64(int(days[0]), "D") + np.timedelta64(round(float(parts[0]) * 86_400), "s")
    except (DataError, TypeError, ValueError, OverflowError, pa.ArrowException):
        shown = str(value)[:40]
        raise BoundsError(f"{side}={shown!r} is not a date like 2020-12-31 or a time like 2020-12-31T18:00") from None
    text = str(seconds)
    return text.removesuffix("T00:00:00")
