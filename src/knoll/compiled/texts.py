"""Plain numbers and dates in columns of text: a text by itself, straight from its bytes.

Only what has one meaning under every rule is read here; the caller is told which texts are left. Numbers are a whole
number below 2^53, times or over a power of ten up to 10^22: both are doubles, so that the one operation rounds
correctly, to the same bits as any other correct reader's.
"""

import numpy as np

from knoll.arrays import Floats, Integers
from knoll.compiled.compiler import compiled

_MOST_DIGITS = 15  # of a number, with its mark: below 10^15 < 2^53
_LONGEST = 32  # of a text that is looked at
_TENS = np.array([10.0**k for k in range(23)])


@compiled("b1", "o1", "i", "F1", "B1")
def numbers_in(letters: Integers, ends: Integers, mark: int, values: Floats, left: Integers) -> int:
    """Write the numbers of texts like -12.50 or 1.5e-07, NaN for an empty one; flag all others.

    How many are left is returned.

    Parameters
    ----------
    letters : array of bytes
        All texts, one after the other.
    ends : array of shape (n + 1,)
        Where the texts begin, and where the last one ends.
    mark : int
        The decimal mark; -1 if there is none.
    values, left : arrays of shape (n,)
        The numbers, and 1 for a text that was not read; 2 if it is a plain number with a point and nothing around it,
        which only has too many digits.
    """
    count = 0
    for i in range(len(values)):
        start, stop = ends[i], ends[i + 1]
        bare = mark == 46 and start < stop and letters[start] > 32 and letters[stop - 1] > 32
        while start < stop and (letters[start] == 32 or 9 <= letters[start] <= 13):
            start += 1
        while start < stop and (letters[stop - 1] == 32 or 9 <= letters[stop - 1] <= 13):
            stop -= 1
        values[i], left[i] = np.nan, 0
        if start == stop:
            continue
        negative = letters[start] == 45
        if negative:
            start += 1
        size = stop - start
        whole, point, power, good = 0, -1, 0, 0 < size <= _LONGEST
        at = 0
        while good and at < size:
            digit = int(letters[start + at]) - 48
            if 0 <= digit <= 9:
                whole = whole * 10 + digit
            elif digit + 48 == mark and point < 0 and at > 0:
                point = at
            elif (digit == 21 or digit == 53) and mark == 46 and at > 0 and 2 <= size - at <= 4:  # e, E
                sign = letters[start + at + 1]
                first = at + 2 if sign == 43 or sign == 45 else at + 1
                good = first < size
                for behind in range(first, size):
                    figure = int(letters[start + behind]) - 48
                    good = good and 0 <= figure <= 9
                    power = power * 10 + figure
                power = -power if sign == 45 else power
                size = at
                break
            else:
                good = False
            at += 1
        bare = bare and good and point + 1 < size
        power -= size - 1 - point if point >= 0 else 0
        if good and size <= _MOST_DIGITS and -22 <= power <= 22:
            number = np.float64(whole) * _TENS[power] if power > 0 else np.float64(whole) / _TENS[-power]
            values[i] = -number if negative else number
        else:
            left[i] = 2 if bare else 1
            count += 1
    return count


@compiled("b1", "o1", "F1", "F1", "B1")
def dates_in(letters: Integers, ends: Integers, days: Floats, parts: Floats, left: Integers) -> int:
    """Write days since 1970 and the part of the day of texts like 2020-12-31 and 2020-12-31T18:00:05; flag all others.

    Parameters
    ----------
    letters, ends
        As for `numbers_in`.
    days, parts, left : arrays of shape (n,)
        Days and parts, NaN for an empty text, and 1 for a text that was not read. How many these are is returned.
    """
    count = 0
    lengths = np.array([31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31])
    digits = np.zeros(19, np.int64)
    for i in range(len(days)):
        start, stop = ends[i], ends[i + 1]
        while start < stop and (letters[start] == 32 or 9 <= letters[start] <= 13):
            start += 1
        while start < stop and (letters[stop - 1] == 32 or 9 <= letters[stop - 1] <= 13):
            stop -= 1
        days[i], parts[i], left[i] = np.nan, np.nan, 0
        size = stop - start
        if size == 0:
            continue
        good = size == 10 or size == 16 or size == 19
        hour, minute, second, year, month, day = 0, 0, 0, 0, 0, 0
        if good:
            for at in range(10):
                digits[at] = np.int64(letters[start + at]) - 48
            good = digits[4] == -3 and digits[7] == -3  # both are a hyphen
            digits[4] = digits[7] = 0
            for at in range(10):
                good = good and 0 <= digits[at] <= 9
            year = digits[0] * 1000 + digits[1] * 100 + digits[2] * 10 + digits[3]
            month, day = digits[5] * 10 + digits[6], digits[8] * 10 + digits[9]
        if good and size > 10:
            for at in range(10, size):
                digits[at] = np.int64(letters[start + at]) - 48
            good = (digits[10] == 36 or digits[10] == -16) and digits[13] == 10  # T or a blank, and a colon
            good = good and (size == 16 or digits[16] == 10)
            digits[10] = digits[13] = digits[16] = 0
            for at in range(10, size):
                good = good and 0 <= digits[at] <= 9
            hour, minute = digits[11] * 10 + digits[12], digits[14] * 10 + digits[15]
            second = digits[17] * 10 + digits[18] if size == 19 else 0
        good = good and year > 0 and 1 <= month <= 12 and day >= 1
        if good:
            leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
            last = lengths[month - 1] + (1 if leap and month == 2 else 0)
            good = day <= last and hour < 24 and minute < 60 and second < 60
        if not good:
            left[i] = 1
            count += 1
            continue
        before = year - 1 if month <= 2 else year  # years that begin in March have their odd day last
        of_year = (153 * (month + (9 if month <= 2 else -3)) + 2) // 5 + day - 1
        days[i] = 365 * before + before // 4 - before // 100 + before // 400 + of_year - 719468
        parts[i] = np.float64(hour * 3600 + minute * 60 + second) / 86400.0
    return count
