"""Texts and logarithms from compiled loops equal the slow readers, bit for bit."""

import numpy as np
import pyarrow as pa
import pytest

from knoll.columns.logarithm import log2
from knoll.columns.lookup import lookup_of
from knoll.columns.moments import _of_text, _unusual
from knoll.compiled.logs import log2_between
from knoll.engines.notation import Notation, _longer, numbers_of_text
from knoll.privacy import DataError


def bits(values):
    return np.asarray(values, dtype=np.float64).tobytes()


def test_numbers_equal_those_of_the_slow_reader(rng):
    random = [*rng.random(300).round(6), *rng.uniform(-1e6, 1e6, 300).round(2), *10 ** rng.uniform(-30, 30, 300)]
    powers = [f"{m}e{p}" for m, p in zip(rng.integers(0, 10**16, 300), rng.integers(-30, 30, 300), strict=True)]
    odd = ["-0", "1.", "0e0", "1E-5", "1e+22", "123456789012345e22", "1e23", "00012.5", "-0.0e-5", "9007199254740993"]
    odd += [
        "1" * 32,
        "-" + "9" * 33,
        "0." + "3" * 29,
        "1234567890123456.",
        "1234567890123456.e3",
        "12345678901234567e308",
    ]
    odd += [" 12345678901234567", "12345678901234567 ", "12345678901234567E+99", "-1234567890.1234567e-99", "1" * 400]
    texts = [repr(float(each)) for each in random] + powers + odd + ["", " 7 ", None, "NA", "$1,234"]
    column = pa.array(texts, pa.string())
    assert bits(numbers_of_text(column, Notation())) == bits(_longer(column, Notation()))
    assert bits(numbers_of_text(column[5:-3], Notation())) == bits(_longer(column[5:-3], Notation()))
    commas = pa.array(["1,5", "-3", "7,", "1.234,5"], pa.string())
    comma = Notation(decimal=",")
    assert numbers_of_text(commas, comma).tolist() == [1.5, -3.0, 7.0, 1234.5]


@pytest.mark.parametrize("text", ["1e", "1e+", "12e3.4", "1e5e", "--1", "1.2.", "+-1", "x"])
def test_what_is_no_number_is_refused(text):
    with pytest.raises(DataError):
        numbers_of_text(pa.array(["1", text]), Notation())


def test_dates_equal_those_of_the_slow_reader(rng):
    days = (np.datetime64("0001-01-01") + rng.integers(0, 3652058, 500)).astype(str).tolist()
    times = (np.datetime64("1900-01-01T00:00:00") + rng.integers(0, 6 * 10**9, 500)).astype(str).tolist()
    more = [each[:16] for each in times[:50]] + [each.replace("T", " ") for each in times[:50]]
    column = pa.array([*days, *times, *more, "2020-02-29", "", None, " 2020-01-01 ", "0000-01-01"], pa.string())
    fast, slow = _of_text(column, Notation(), False), _unusual(column, Notation(), False)
    assert [bits(each) for each in fast] == [bits(each) for each in slow]


@pytest.mark.parametrize(
    "text", ["2021-02-29", "1900-02-29", "2020-13-01", "2020-01-00", "2020-01-01T24:00", "2020x01-01"]
)
def test_impossible_dates_are_refused(text):
    with pytest.raises((DataError, pa.ArrowException)):
        _of_text(pa.array([text]), Notation(), False)


@pytest.mark.parametrize(("lower", "upper"), [(5e-324, 1e300), (1.0, 1e6), (1e-310, 1e-300)])
def test_logarithms_equal_those_of_whole_arrays(lower, upper, rng):
    odd = [0, np.nan, np.inf, -np.inf, 5e-324, 2.0**-1022, 1, 2, 0.5, np.nextafter(np.sqrt(0.5), 0), np.sqrt(0.5), -3]
    values = np.concatenate([10 ** rng.uniform(-320, 300, 1000), odd])
    found = np.empty(len(values))
    log2_between(values, lower, upper, found)
    with np.errstate(all="ignore"):
        expected = log2(np.clip(np.where(np.isfinite(values), values, np.nan), lower, upper))
    assert np.array_equal(found, expected, equal_nan=True)


def test_levels_are_found_among_many():
    levels = (*[f"level {i}" for i in range(3000)], "Köln")
    table = lookup_of(levels, tuple(map(float, range(3001))))
    column = pa.array([" level 2999", "Köln", "level", None, "", "kö", "level 0\t"])
    found = table.read(column, -1.0, lambda rest: np.full(len(rest), -2.0))
    assert found.tolist()[:3] == [2999.0, 3000.0, -1.0]
    assert np.isnan(found[3])
    assert found.tolist()[4:] == [-1.0, -2.0, 0.0]
    folded = lookup_of(("yes", "no"), (1.0, 0.0), fold=True)
    assert folded.read(pa.array(["YES", "No", "nö"]), -1.0, lambda rest: np.full(len(rest), 9.0)).tolist() == [1, 0, 9]
