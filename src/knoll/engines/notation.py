"""Numbers as people write them: 1234.5, 1,234.5, 1.234,5, $1,234, € 3,50, 12 %, (5).

What a text means is a function of that text and of public facts: what was declared, and the delimiter of the header
line. Never of other values. So a text that could mean two numbers is read by a rule, or refused:

- Marks that are declared (`decimal`, `thousands`) are what they are declared to be; another use of them is refused.
- Undeclared, a text often tells by itself: of two different marks the last is the decimal mark (1.234,5), a mark that
  is repeated groups thousands (1.234.567), and a mark without exactly three digits after it is the decimal mark (3,5).
- 1,234 alone is 1234, as in files whose fields are divided by commas, and 1.234 where semicolons divide them, since
  commas are decimal marks there. 1.234 is that number; where semicolons divide fields it is refused until declared.

Signs of currencies and percent are left out: 12 % is 12. Numbers in brackets, or with a minus after them, are
negative, and so are debits (250 DR; 250 CR is 250); a dash in place of decimals is none (250.-). What is infinite (Inf)
is missing.
"""

import math
import re
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from knoll.arrays import Floats
from knoll.compiled.texts import numbers_in
from knoll.privacy.errors import DataError

BLANKS = " \t\n\r\f\v\u00a0\u2007\u2009\u202f\u3000"
"""What is stripped off a text before it is read."""

MISSING = [
    "", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "#N/A", "n/a", "?", "-",
    "na", "Null", "none", "NONE", "NAN", "NaT", "N.A.", "n.a.", "<NA>", "#NA", "#NULL!", "#DIV/0!", "#VALUE!", "#REF!",
    "#NAME?", "#NUM!", "(null)", "\\N", ".", "--", "\u2013", "\u2014",
    "k.A.", "k. A.", "k.a.", "keine Angabe", "n.d.", "N/D", "n/d",
]  # fmt: skip
"""Texts that stand for a missing value, unless they are declared as levels of a category."""

_SPACES = " \u00a0\u2009\u202f'\u2019"
_MONEY = r"(?:[$€£¥₹₽₩₺]|[A-Z]{1,2}\$|[A-Z]{3}|kr\.?|zł|Fr\.?)"
_NUMBER = re.compile(
    rf"(?P<open>\()?\s*(?P<sign>[+\-\u2212])?\s*{_MONEY}?\s*(?P<inner>[+\-\u2212])?"
    rf"(?P<digits>(?:[0-9][0-9.,{_SPACES}]*)?[0-9][.,]?|[.,][0-9]+)(?P<power>[eE][+-]?[0-9]+)?"
    rf"(?P<after>-)?\s*(?:{_MONEY}|%)?\s*(?:CR|Cr|(?P<debit>DR|Dr))?(?P<close>\))?"
)
_NO_DECIMALS = re.compile(r"(?<=[0-9])[.,](?:-{1,2}|[\u2013\u2014])(?=\s*(?:[A-Z]{3}|Fr\.?|€)?$)")
_INFINITE = re.compile(r"[+-]?inf(inity)?|-nan", re.IGNORECASE)
_LONGEST = 100  # characters of a number with marks; searching longer ones for marks takes time
_MARKS = "$€£% "
_SIGNED = r"^([$€£] ?[0-9][0-9.,]*|[0-9][0-9.,]* ?[$€£%])$"
_GROUPED = r"^-?[1-9][0-9]{0,2}"
_AMBIGUOUS = re.compile(r"[1-9][0-9]{0,2}[.,][0-9]{3}")
_WHOLE, _POINT, _COMMA = r"^-?[0-9]+$", r"^-?[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?$", r"^-?[0-9]+(,[0-9]*)?$"
NOT_A_NUMBER = (
    "something that is not a number, nor a word for a missing value that is known (NA, n/a, null, -, k.A. and their "
    "like); replace other such words, each value by itself, remove a line of units under the header, or declare what "
    "the column holds: {a,b} (knoll.Category), bool, or first:last (knoll.Date)"
)
UNDECIDED = (
    "numbers like 1.234 in a file whose fields are divided by semicolons: is it 1234, or a little more than 1? Say so: "
    'knoll.Source(path, decimal=",") or decimal="."; on the command line --decimal'
)


@dataclass(frozen=True)
class Notation:
    """How numbers and dates are written, as far as it is declared.

    Parameters
    ----------
    decimal, thousands : str, optional
        The decimal mark, "." or ","; the mark between thousands, one of those, a blank or an apostrophe.
    dates : str
        Order of dates: "iso" (year first), "day-first", "month-first", or a format with % as `strptime` takes it.
        Dates that begin with a year are read under each of the first three.
    semicolons : bool
        Whether semicolons divide the fields of the file.

    Examples
    --------
    >>> Notation(decimal=",").number("1.234,5 €")
    1234.5
    """

    decimal: str | None = None
    thousands: str | None = None
    dates: str = "iso"
    semicolons: bool = False

    def __post_init__(self) -> None:
        if self.decimal not in (None, ".", ","):
            raise DataError(f'decimal={self.decimal!r} is not one of ".", ","')
        if self.thousands is not None and (
            self.thousands not in (".", ",", " ", "'") or self.thousands == self.decimal
        ):
            raise DataError(
                f"thousands={self.thousands!r} is not a point, comma, blank or apostrophe, or is the decimal"
            )
        if self.dates not in ("iso", "day-first", "month-first") and "%" not in self.dates:
            raise DataError(
                f'dates={self.dates!r} is not "iso", "day-first", "month-first" or a format like "%d.%m.%Y"'
            )

    @property
    def declared(self) -> bool:
        """Whether a mark is declared."""
        return self.decimal is not None or self.thousands is not None

    def number(self, text: str) -> float:
        """Return what one stripped text means; a ValueError if it is not a number."""
        if re.fullmatch(self.plain, text):
            return float(text.replace(",", "."))
        if _INFINITE.fullmatch(text):
            return math.nan
        found = _NUMBER.fullmatch(_NO_DECIMALS.sub("", text)) if len(text) <= _LONGEST else None
        if found is None or (found["open"] is None) != (found["close"] is None):
            raise ValueError(NOT_A_NUMBER)
        signs = [
            sign for sign in (found["open"], found["sign"], found["inner"], found["after"], found["debit"]) if sign
        ]
        if len(signs) > 1:
            raise ValueError(NOT_A_NUMBER)
        size = float(self._plain(found["digits"]) + (found["power"] or ""))
        return -size if signs and signs[0] != "+" else size

    @property
    def plain(self) -> str:
        """The pattern of numbers that have one meaning only, and at most a decimal mark."""
        if self.decimal == "." or self.thousands == ",":
            return _POINT
        if self.decimal == "," or self.thousands == ".":
            return _COMMA
        if not self.semicolons:
            return _POINT
        return _COMMA if self.thousands is None else _WHOLE

    @property
    def grouped(self) -> list[tuple[str, str]]:
        """Patterns of numbers in groups of three that have one meaning only, and the mark between the groups."""
        rules = []
        if self.decimal != "," and self.thousands in (None, ","):
            single = self.decimal == "." or self.thousands == "," or not self.semicolons
            rules.append((_GROUPED + (r"(,[0-9]{3})+(\.[0-9]*)?$" if single else r"(,[0-9]{3})+\.[0-9]*$"), ","))
        if self.decimal != "." and self.thousands in (None, "."):
            single = self.decimal == "," or self.thousands == "."
            rules.append((_GROUPED + (r"(\.[0-9]{3})+(,[0-9]*)?$" if single else r"(\.[0-9]{3})+,[0-9]*$"), "."))
        return rules

    def _plain(self, digits: str) -> str:
        """Return digits with a decimal point and no other mark."""
        found = _digits_pattern(self._decimal_of(digits), self.thousands).fullmatch(digits)
        if found is None:
            raise ValueError(NOT_A_NUMBER)
        return re.sub("[^0-9]", "", found["whole"]) + "." + (found["rest"] or "")

    def _decimal_of(self, digits: str) -> str:
        """Return the decimal mark of one text, by what is declared, else by the text itself."""
        if self.decimal is not None:
            return self.decimal
        if self.thousands in (".", ","):
            return "." if self.thousands == "," else ","
        points, commas = digits.count("."), digits.count(",")
        if points and commas:
            return "." if digits.rfind(".") > digits.rfind(",") else ","
        if points > 1 or commas > 1:
            return "," if points else "."
        if _AMBIGUOUS.fullmatch(digits) is None:
            return "," if commas else "."
        if points and self.semicolons:
            raise DataError(UNDECIDED)
        return "," if commas and self.semicolons else "."


@cache
def _digits_pattern(decimal: str, thousands: str | None) -> re.Pattern[str]:
    """Return the pattern of digits in groups or not, with these marks; one mark alone divides all groups."""
    group = "." if decimal == "," else ","
    groups = re.escape({None: group + _SPACES, " ": _SPACES[:-2], "'": _SPACES[-2:]}.get(thousands, group))
    whole = rf"[1-9][0-9]{{0,2}}(?P<group>[{groups}])[0-9]{{3}}(?:(?P=group)[0-9]{{3}})*|[0-9]*"
    return re.compile(rf"(?P<whole>{whole})(?:{re.escape(decimal)}(?P<rest>[0-9]*))?")


def trimmed(column: Any) -> Any:
    """Return an Arrow column of text or bytes as text without blanks around it, missing values as nulls."""
    text = stripped(column)
    return pc.if_else(pc.is_in(text, value_set=pa.array(MISSING, pa.string())), pa.scalar(None, pa.string()), text)


def stripped(column: Any) -> Any:
    """Return an Arrow column of text or bytes as text without blanks around it."""
    if not pa.types.is_string(column.type):
        column = pc.cast(column, pa.string())
    return pc.utf8_trim(column, BLANKS)


def letters_of(column: Any) -> tuple[Any, np.ndarray, np.ndarray]:
    """Return an Arrow column of text or bytes as text, its bytes, and where each text begins and the last one ends."""
    if not pa.types.is_string(column.type):
        column = pc.cast(column, pa.string())
    if not len(column):
        return column, np.zeros(0, np.uint8), np.zeros(1, np.int32)
    _, ends, letters = column.buffers()
    places = np.frombuffer(ends, np.int32, len(column) + 1, 4 * column.offset)
    return column, np.zeros(0, np.uint8) if letters is None else np.frombuffer(letters, np.uint8), places


def numbers_of_text(column: Any, notation: Notation) -> Floats:
    """Return an Arrow column of text as doubles, each text read by itself; NaN if it is missing or infinite.

    Short plain numbers are read from their bytes, longer ones by Arrow, all others by `Notation.number`. All of them
    round correctly, so that which one reads a text, and what stands beside it, makes no difference to a single bit.
    """
    column, letters, ends = letters_of(column)
    found, left = np.empty(len(column)), np.empty(len(column), np.uint8)
    mark = {_POINT: ord("."), _COMMA: ord(",")}.get(notation.plain, -1)
    if numbers_in(letters, ends, mark, found, left) or column.null_count:
        absent = column.is_null().to_numpy(zero_copy_only=False)
        found[absent] = np.nan
        long, rest = (left == 2) & ~absent, (left == 1) & ~absent
        if long.any():
            found[long] = _cast(column if long.all() else column.filter(pa.array(long)))
            found[np.isinf(found)] = np.nan
        if rest.any():
            found[rest] = _longer(column.filter(pa.array(rest)), notation)
    return found


def _longer(column: Any, notation: Notation) -> Floats:
    """Read texts that are missing values, long, or written with marks."""
    text = trimmed(column)
    plain = pc.match_substring_regex(text, notation.plain).fill_null(True)
    simple = text.filter(plain)
    mask = plain.to_numpy(zero_copy_only=False)
    found = np.empty(len(text))
    found[mask] = _cast(pc.replace_substring(simple, ",", "."))
    if not mask.all():
        found[~mask] = _with_marks(text.filter(pc.invert(plain)), notation)
    found[np.isinf(found)] = np.nan
    return found


def _with_marks(text: Any, notation: Notation) -> Floats:
    """Read texts that are not plain: many at once where they are usual, the others one by one; the same numbers."""
    signed = pc.match_substring_regex(text, _SIGNED)
    bare = pc.if_else(signed, pc.utf8_trim(text, _MARKS), text)
    found, left = np.empty(len(text)), np.ones(len(text), dtype=bool)
    for pattern, mark in [(notation.plain, ""), *notation.grouped]:
        fits = pc.match_substring_regex(bare, pattern)
        digits = bare.filter(fits)
        digits = pc.replace_substring(digits, mark, "") if mark else digits
        which = np.asarray(fits)
        found[which] = _cast(pc.replace_substring(digits, ",", "."))
        left &= ~which
    if left.any():
        found[left] = by_value(text.filter(pa.array(left)), notation.number)
    return found


def by_value(text: Any, read: Any) -> Floats:
    """Return what `read` makes of each text of an Arrow column without nulls; equal texts are read once."""
    coded = text.dictionary_encode()
    try:
        values = np.array([read(each) for each in coded.dictionary.to_pylist()], dtype=np.float64)
    except OverflowError:
        raise DataError(NOT_A_NUMBER) from None
    except ValueError as error:
        raise DataError(str(error)) from None
    return values[coded.indices.to_numpy(zero_copy_only=False)]


def _cast(text: Any) -> Floats:
    return np.array(pc.cast(text, pa.float64()).to_numpy(zero_copy_only=False))
