"""Kinds of columns: what they accept, refuse, and give back."""

import datetime
import math

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import knoll
from knoll.columns import Boolean, Category, Cyclic, Date, Log, Number, Ordered, Whole
from knoll.engines.notation import Notation
from knoll.privacy import DataError
from knoll.privacy.errors import BoundsError


@pytest.mark.parametrize(
    "make",
    [
        lambda: Number(1, 1),
        lambda: Number(0, math.inf),
        lambda: Number(0, "x"),
        lambda: Number(False, True),
        lambda: Number(0, 1, weight=0),
        lambda: Number(0, 1, weight=-1),
        lambda: Number(0, 1, weight=math.nan),
        lambda: Number(0, 1, missing="level"),
        lambda: Number(0, 1, missing="maybe"),
        lambda: Log(0, 10),
        lambda: Log(1, 1 + 1e-16),
        lambda: Category(),
        lambda: Category("a", " a"),
        lambda: Category(1, "1"),
        lambda: Category(""),
        lambda: Category(None),
        lambda: Category(1.5, math.nan),
        lambda: Ordered("a"),
        lambda: Ordered("a", "b", missing="level"),
        lambda: Date("2020-01-01", "2020-01-01"),
        lambda: Date("2020-02-30", "2021-01-01"),
        lambda: Date("soon", "later"),
        lambda: Date(2020, 2021),
        lambda: Date("2020-01-01", "2021-01-01", format="backwards"),
        lambda: Cyclic(0),
        lambda: Cyclic(24, unit="second"),
        lambda: Cyclic(12, unit="hour"),
    ],
)
def test_declarations_without_sense_are_refused(make):
    with pytest.raises(BoundsError):
        make()


def test_levels_are_compared_by_their_text():
    kind = Category("a", 3, True, 2.5)
    assert kind.encode([" a ", "A", 3, 3.0, "3", "3.0", True, "True", 2.5, "2.5"]).tolist() == [
        0,
        4,
        1,
        1,
        1,
        1,
        2,
        2,
        3,
        3,
    ]
    assert kind.encode(pa.array([3.0, 2.5, None])).tolist()[:2] == [1, 3]
    assert Category("3", "3.0", "03").encode(["3.0", "3", "03", "03.0"]).tolist() == [1, 0, 2, 2]
    assert kind.encode(pa.array([True, False])).tolist() == [2, 4]
    assert kind.coordinates("x") == ["x=a", "x=3", "x=True", "x=2.5", "x=other"]
    assert kind.part == ("corners", 5)


def test_other_and_missing_levels():
    kind = Category("a", missing="level")
    assert kind.encode(["a", "z", None, "NA"]).tolist() == [0, 1, 2, 2]
    assert kind.decode([0, 1, 2, np.nan]).tolist() == ["a", "other", "missing", None]
    named = Category("other", "a", "missing", missing="level")
    assert named.encode(["a", "z", None]).tolist() == [1, 0, 2]
    assert named.part == ("corners", 3)
    assert Category("None", "a").encode(["None", "NA"]).tolist()[0] == 0  # a declared level is no missing value
    assert np.isnan(Category("None", "a").encode(["None", "NA"])[1])


def test_a_thousand_levels():
    kind = Category(*range(1000))
    assert kind.encode(pa.array([999, 1000])).tolist() == [999, 1000]
    assert kind.part == ("corners", 1001)


def test_an_unknown_ordered_level_is_missing():
    kind = Ordered("low", "high")
    assert np.isnan(kind.encode(["middle"])[0])
    assert kind.decode([-1, 0.4, 0.6, 9, np.nan]).tolist() == ["low", "low", "high", "high", None]


def test_booleans_in_many_words():
    yes = [
        "true",
        "YES",
        "y",
        "T",
        "1",
        1,
        True,
        1.0,
        "J",
        "ja",
        "Oui",
        np.True_,
        "on",
        "\u0414\u0410",
        "S\u00cc",
        "\u662f",
    ]
    no = [
        "false",
        "No",
        "n",
        "F",
        "0",
        0,
        False,
        0.0,
        "Nein",
        "non",
        np.False_,
        "off",
        "\u041d\u0435\u0442",
        "nej",
        "\u5426",
    ]
    assert Boolean().encode(yes).tolist() == [1.0] * len(yes)
    assert Boolean().encode(no).tolist() == [0.0] * len(no)
    assert Boolean(missing="level").encode([None, "yes"]).tolist() == [2, 1]
    assert Boolean(missing="level").part == ("corners", 3)
    assert Boolean().decode([0, 1, np.nan]).tolist() == [False, True, None]
    for odd in ("maybe", 2, 0.5, -1, "10"):
        with pytest.raises(DataError, match="a yes or a no"):
            Boolean().encode(["yes", odd])


def test_dates_in_the_declared_order():
    kind, first = Date("2020-01-01", "2024-12-31"), datetime.date(2020, 2, 1)
    day = float((first - datetime.date(1970, 1, 1)).days)
    for text in ("2020-02-01", "2020/2/1", "1 Feb 2020", "February 1, 2020", "20200201", first, pd.Timestamp(first)):
        assert kind.encode([text]).tolist() == [day]
    assert kind.encode(["1.2.2020"], Notation(dates="day-first")).tolist() == [day]
    assert kind.encode(["2/1/2020"], Notation(dates="month-first")).tolist() == [day]
    assert Date("2020-01-01", "2024-12-31", "%d-%m-%y").encode(["01-02-20"]).tolist() == [day]
    assert kind.encode(["1.2.2020 6:00 PM"], Notation(dates="day-first")).tolist() == [day + 0.75]
    for text in ("1.2.2020", "2020-02-30", "2020-13-01", "01-02-20", "tomorrow", 20200201, 5.0, True):
        with pytest.raises(DataError, match="date") as error:
            kind.encode([text])
        assert str(text) not in str(error.value)


def test_periods_are_their_first_day():
    kind = Date("2020-01-01", "2024-12-31")
    written = {
        "2020-W06": "2020-02-03", "2020W06": "2020-02-03", "2020-W06-3": "2020-02-05", "2021-W53": None,
        "2020-W53": "2020-12-28", "2020-02": "2020-02-01", "2020-13": None, "2020-Q3": "2020-07-01",
        "2020 Q1": "2020-01-01", "2020-Q5": None, "2020-W00": None, "202006": None, "0000-W01": None,
    }  # fmt: skip
    for text, first in written.items():
        for dates in ("iso", "day-first"):
            if first is not None:
                assert kind.encode([text], Notation(dates=dates)).tolist() == kind.encode([first]).tolist()
                continue
            with pytest.raises(DataError, match="date"):
                kind.encode([text], Notation(dates=dates))


def test_dates_come_back():
    days = ["1965-03-04", "2020-02-29", "2024-12-31"]
    kind = Date("1900-01-01", "2100-01-01")
    assert kind.decode(kind.encode([*days, None])).astype(str).tolist() == [*days, "NaT"]
    timed = Date("2020-01-01T06:00", "2020-12-31")
    assert timed.decode(timed.encode(["2020-05-05 12:34:56"])).astype(str).tolist() == ["2020-05-05T12:34:56"]
    assert timed.text() == "2020-01-01T06:00:00:2020-12-31"


def test_what_comes_round_again():
    assert Cyclic(360, -180).encode([-180, 180, 0, 540, -1e-30]).tolist() == [0, 0, 0.5, 0, 0.5]
    assert Cyclic.month().encode(["2020-01-31", 1, 12, "dec", "July"]).tolist() == [0, 0, 11 / 12, 11 / 12, 0.5]
    assert Cyclic.hour().encode(pa.array([datetime.time(18)])).tolist() == [0.75]
    assert Cyclic.hour().encode([datetime.time(18), "6:00", 24]).tolist() == [0.75, 0.25, 0]
    assert Cyclic.month().decode([0, 11 / 12]).tolist() == [1, 12]
    with pytest.raises(DataError, match="Cyclic.hour"):
        Cyclic(24).encode([datetime.datetime(2020, 1, 1)])


@given(st.floats(-1e9, 1e9), st.floats(1e-6, 1e6), st.floats(-1e6, 1e6))
def test_positions_stay_on_the_circle(value, period, start):
    kind = Cyclic(period, start)
    position = kind.encode([value])
    assert 0 <= position[0] < 1


@given(st.integers(-(10**6), 10**6))
def test_whole_numbers_come_back(number):
    kind = Whole(-5, 5)
    assert kind.decode(kind.encode([number])).tolist() == [number]
    assert kind.decode(kind.encode([number + 0.25])).tolist() == [number]


def test_logarithms_clip():
    kind = Log(1, 1024)
    assert kind.encode([-5, 0, 0.5, 1, 2, 1e9]).tolist() == [0, 0, 0, 0, 1, 10]
    assert np.isnan(kind.encode([math.inf, None])).all()
    assert kind.decode([3.0]).tolist() == [8.0]
    assert kind.part == ("line", 0.0, 10.0)


def test_columns_of_a_wrong_type_are_refused_by_type():
    dates, text = pa.array([datetime.date(2020, 1, 1)]), pa.array(["secret"])
    spans = pa.array([datetime.timedelta(1)])
    for kind, column in ((Number(0, 1), dates), (Number(0, 1), text), (Whole(0, 1), spans), (Category("a"), spans)):
        with pytest.raises(DataError) as error:
            kind.encode(column)
        assert "secret" not in str(error.value)
        assert "2020" not in str(error.value)


def test_kinds_are_names_of_the_package():
    for name in ("Number", "Log", "Whole", "Boolean", "Category", "Ordered", "Date", "Cyclic", "Columns"):
        assert getattr(knoll, name).__module__.startswith("knoll.columns")


def test_kinds_describe_themselves():
    kinds = [Number(0, 1), Log(1, 2), Whole(0, 9), Boolean(), Category(*"abcdefghijk"), Ordered("a", "b")]
    kinds += [Date("2020-01-01", "2021-01-01"), Cyclic(360), Cyclic.hour()]
    assert len({kind.describe() for kind in kinds}) == len(kinds)
    assert kinds[4].describe() == "one of a, b, c, d, e, f, g, h and 4 more"
