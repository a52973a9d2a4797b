"""What a value becomes is a function of that value alone, bit for bit: shuffle, split, pad, another container."""

import datetime
import math
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knoll.columns import Boolean, Category, Cyclic, Date, Log, Number, Ordered, Whole
from knoll.columns.logarithm import exp2, log2
from knoll.engines.notation import MISSING, Notation
from knoll.privacy import DataError

KINDS = {
    "number": Number(0, 110),
    "log": Log(1e-3, 1e6),
    "whole": Whole(-5, 50),
    "boolean": Boolean(),
    "boolean, missing": Boolean(missing="level"),
    "category": Category("a", "b", 3, True, "2020-01-01"),
    "category, missing": Category("a", "NA", missing="level"),
    "ordered": Ordered("a", "b", "3"),
    "date": Date("2020-01-01", "2024-12-31T12:00"),
    "hour": Cyclic.hour(),
    "weekday": Cyclic.weekday(),
    "month": Cyclic.month(),
    "angle": Cyclic(360, -180),
}
NOTATIONS = {
    "default": Notation(),
    "semicolons": Notation(semicolons=True),
    "comma": Notation(decimal=",", dates="day-first"),
    "point": Notation(decimal=".", dates="month-first"),
    "blank": Notation(thousands=" "),
    "format": Notation(dates="%d.%m.%y"),
}
TEXTS = [
    *MISSING, "1", "0", "12.5", "1,234", "1.234", "1.234,5", "1,234.5", "$1,234", "€ 3,50", "12 %", "(5)", "-7", "1e5",
    "1e999", "inf", "nan(1)", "0x10", "+5", "5.", ".5", "1_000", "\u0661", "true", "JA", "No", "a", " a\u00a0", "b",
    "A", "3", "3.0", "True", "2020-01-01", "2020-02-30", "2020-01-01T12:30", "2020-01-01 12:30:15.123456789",
    "1.2.2020", "12/31/2020", "31.12.20", "20200102", "2020-01-01T00:00:00+02:00", "0000-01-01", "9999-12-31", "12:30",
    "25:00", "Mon", "december", "3 Mar 2020", "Mar 3, 2020 1:05 pm", "x" * 300, "9" * 400, "\x00", '"', "\u2028",
    "\U0001f600",
]  # fmt: skip
VALUES = [
    None, float("nan"), pd.NA, pd.NaT, 0, 1, 7, -3, 2**60, 1.5, -0.0, 1e300, 5e-324, True, False, np.float32(0.1),
    Decimal("1.10"), Decimal("sNaN"), datetime.date(2020, 5, 17), datetime.datetime(2021, 3, 4, 5, 6, 7, 89),
    np.datetime64("2020-01-01T06", "h"), pd.Timestamp("2020-01-01 12:34:56.123456789"), 10**400,
    pd.Timestamp("2020-06-01", tz="Europe/Berlin"), datetime.time(13, 30), b"a", 1j, object, [1],
    np.datetime64("NaT", "D"),
]  # fmt: skip
texts = st.one_of(st.sampled_from(TEXTS), st.text(max_size=12), st.text("0123456789.,-/: $€%e'", max_size=12))
values = st.one_of(texts, st.sampled_from(VALUES), st.floats(), st.integers(), st.datetimes())


def alone(kind, value, notation):
    """Return what a value becomes by itself, as bits, or that it is refused."""
    try:
        return kind.encode([value], notation).tobytes()
    except DataError:
        return None


@pytest.mark.parametrize("notation", NOTATIONS)
@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=30)  # for each of many pairs
@given(listed=st.lists(values, min_size=1, max_size=8), data=st.data())
def test_a_value_is_encoded_by_itself(kind, notation, listed, data):
    kind, notation = KINDS[kind], NOTATIONS[notation]
    expected = [alone(kind, value, notation) for value in listed]
    readable = [value for value, bits in zip(listed, expected, strict=True) if bits is not None]
    if len(readable) < len(listed):
        with pytest.raises(DataError):
            kind.encode(listed, notation)
    bits = b"".join(each for each in expected if each is not None)
    assert kind.encode(readable, notation).tobytes() == bits
    order = data.draw(st.permutations(range(len(readable))))
    shuffled = kind.encode([readable[i] for i in order], notation)
    assert shuffled.tobytes() == kind.encode(readable, notation)[order].tobytes()
    cut = data.draw(st.integers(0, len(readable)))
    parts = [kind.encode(part, notation) for part in (readable[:cut], readable[cut:] * 3)]
    assert np.concatenate(parts)[: len(readable)].tobytes() == bits


@pytest.mark.parametrize("notation", NOTATIONS)
@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=30)  # for each of many pairs
@given(listed=st.lists(texts, min_size=1, max_size=8))
def test_texts_are_the_same_in_every_container(kind, notation, listed):
    kind, notation = KINDS[kind], NOTATIONS[notation]
    readable = [text for text in listed if alone(kind, text, notation) is not None]
    expected = kind.encode(readable, notation).tobytes()
    containers = [
        pa.array(readable, pa.string()),
        pa.array(readable, pa.large_string()),
        pa.array(readable, pa.string_view()),
        pa.array(readable, pa.string()).dictionary_encode(),
        pa.chunked_array([readable[:2], readable[2:]], pa.string()),
        pl.Series(readable, dtype=pl.String),
        pd.Series(readable, dtype=object),
        pd.Series(readable, dtype="string[pyarrow]"),
        np.array([*readable, None], dtype=object)[:-1],
        [text.encode() for text in readable] if kind.word in ("category", "ordered") else readable,
    ]
    for container in containers:
        assert kind.encode(container, notation).tobytes() == expected, type(container)


def column(kind, *makes):
    """Return the bits of a kind for each way to store the same values."""
    return [kind.encode(make).tobytes() for make in makes]


def test_numbers_are_the_same_in_every_container():
    listed = [1.0, 2.0, None, 1e6, -7.0]
    whole = [1, 2, None, 1000000, -7]
    for name in ("number", "log", "whole", "angle", "weekday", "month", "category", "ordered"):
        found = column(
            KINDS[name],
            listed,
            whole,
            pa.array(listed),
            pa.array(whole),
            pa.array([None if v is None else Decimal(v) for v in whole], pa.decimal128(20, 3)),
            pd.Series(listed),
            pd.Series(whole, dtype="Int64"),
            pd.Series(whole, dtype="int64[pyarrow]"),
            pd.Series(whole, dtype=object),
            pl.Series(whole),
            pl.Series(listed),
            np.ma.masked_invalid(np.array([1.0, 2.0, np.nan, 1e6, -7.0])),
            ["1", " 2", "NA", "1000000", "-7"],
        )
        assert len(set(found)) == 1, name


def test_times_are_the_same_in_every_unit_and_container():
    moments = [datetime.datetime(2020, 2, 29, 23, 59, 59), None, datetime.datetime(1969, 12, 31, 6, 0, 1)]
    for name in ("date", "hour", "weekday", "month"):
        found = column(
            KINDS[name],
            moments,
            *(pa.array(moments, pa.timestamp(unit)) for unit in ("s", "ms", "us", "ns")),
            *(pd.Series(np.array(moments, dtype=f"datetime64[{unit}]")) for unit in ("s", "ms", "us", "ns")),
            *(pl.Series(moments, dtype=pl.Datetime(unit)) for unit in ("ms", "us", "ns")),
            np.array(moments, dtype="datetime64[s]"),
            [str(moment) for moment in moments],
            pa.array([None if moment is None else moment.isoformat() for moment in moments]),
            pd.Series(np.array(moments, dtype="datetime64[ns]")).astype(object),
            pd.Series(np.array(moments, dtype="datetime64[ns]")).astype("category"),
        )
        assert len(set(found)) == 1, name


def test_a_zone_moves_dates_and_leaves_clocks():
    stamp = pd.Series(pd.to_datetime(["2020-01-01 00:30"]).tz_localize("Europe/Berlin"))
    for values in (stamp, stamp.tolist(), pa.array(stamp), ["2020-01-01T00:30:00+01:00"]):
        assert KINDS["date"].encode(values).tolist() == [18261 + 23.5 / 24]
        assert KINDS["hour"].encode(values).tolist() == [0.5 / 24]
        assert KINDS["weekday"].encode(values).tolist() == [2 / 7]


@given(st.lists(st.floats(min_value=1e-300, max_value=1e300), min_size=1, max_size=40))
def test_logarithms_are_right_and_do_not_depend_on_lanes(numbers):
    array = np.array(numbers)
    assert np.allclose(log2(array), [math.log2(x) for x in numbers], rtol=1e-15, atol=1e-15)
    assert np.abs(log2(array) - [math.log2(x) for x in numbers]).max() < 1e-12
    assert log2(array).tobytes() == b"".join(log2(np.array([x])).tobytes() for x in numbers)
    assert log2(array[::-1][::1]).tobytes() == log2(array)[::-1].tobytes()
    assert np.allclose(exp2(log2(array)), array, rtol=1e-12)
