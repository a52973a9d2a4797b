"""Numbers as people write them, each text by itself."""

import itertools
import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knoll.engines.notation import MISSING, Notation, numbers_of_text
from knoll.privacy import DataError

REFUSED = "refused"
READ = [  # a text, and what it is: undeclared; undeclared among semicolons; decimal=","; decimal="."
    ("1234.5", 1234.5, 1234.5, REFUSED, 1234.5),
    ("1,234.5", 1234.5, 1234.5, REFUSED, 1234.5),
    ("1.234,56", 1234.56, 1234.56, 1234.56, REFUSED),
    ("$1,234", 1234.0, 1.234, 1.234, 1234.0),
    ("1,234", 1234.0, 1.234, 1.234, 1234.0),
    ("1.234", 1.234, REFUSED, 1234.0, 1.234),
    ("0,123", 0.123, 0.123, 0.123, REFUSED),
    ("0.123", 0.123, 0.123, REFUSED, 0.123),
    ("€ 3,50", 3.5, 3.5, 3.5, REFUSED),
    ("12 %", 12.0, 12.0, 12.0, 12.0),
    ("(1,234.50)", -1234.5, -1234.5, REFUSED, -1234.5),
    ("-$5", -5.0, -5.0, -5.0, -5.0),
    ("$-5", -5.0, -5.0, -5.0, -5.0),
    ("\u22125 EUR", -5.0, -5.0, -5.0, -5.0),
    ("+5", 5.0, 5.0, 5.0, 5.0),
    ("1 234 567", 1234567.0, 1234567.0, 1234567.0, 1234567.0),
    ("1\u202f234,5", 1234.5, 1234.5, 1234.5, REFUSED),
    ("CHF 1'234.50", 1234.5, 1234.5, REFUSED, 1234.5),
    ("1.234.567", 1234567.0, 1234567.0, 1234567.0, REFUSED),
    ("1e5", 1e5, 1e5, 1e5, 1e5),
    ("1,5e3", 1500.0, 1500.0, 1500.0, REFUSED),
    ("CHF 1'250.-", 1250.0, 1250.0, 1250.0, 1250.0),
    ("250.\u2013", 250.0, 250.0, 250.0, 250.0),
    ("5-", -5.0, -5.0, -5.0, -5.0),
    ("250 DR", -250.0, -250.0, -250.0, -250.0),
    ("1\u2009234.50 Cr", 1234.5, 1234.5, REFUSED, 1234.5),
    ("1.234,50-", -1234.5, -1234.5, -1234.5, REFUSED),
    *(
        (text, *[REFUSED] * 4)
        for text in ("x", "1,23,456", "1.2.3", "-5-", "(5-)", "5.-5", "1 2", "--5", "(5", "5)", "$", "12 kg", "1_000")
    ),
    *((text, *[REFUSED] * 4) for text in ("\u0661", "0x10", "1,234,56", "info", "1" + " " * 200 + "%")),
    *((text, *[REFUSED] * 4) for text in ("-5 DR", "5 DR CR", "DR")),
]
MARKS = itertools.product((None, ".", ","), (None, ".", ",", " ", "'"), (False, True))
ALL = [
    Notation(decimal, mark, semicolons=among) for decimal, mark, among in MARKS if decimal is None or decimal != mark
]
NOTATIONS = [Notation(), Notation(semicolons=True), Notation(decimal=","), Notation(decimal=".")]


def read(text, notation, *beside):
    try:
        return numbers_of_text(pa.array([*beside, text, *beside]), notation)[len(beside)]
    except DataError:
        return REFUSED


@pytest.mark.parametrize(("text", "expected"), [(text, expected) for text, *expected in READ])
def test_a_text_means_one_number_or_is_refused(text, expected):
    for notation, number in zip(NOTATIONS, expected, strict=True):
        for beside in ([], ["7"], ["$7"], ["NA", None]):
            assert read(text, notation, *beside) == number
        assert read(f" {text}\u00a0", notation) == number


def test_what_is_infinite_is_missing():
    for text in ("inf", "-Inf", "+INFINITY", "-nan", "1e999"):
        assert all(math.isnan(read(text, notation)) for notation in NOTATIONS)


def test_declared_thousands():
    assert read("1.234", Notation(thousands=".")) == 1234
    assert read("1.234,5", Notation(thousands=".")) == 1234.5
    assert read("1,234", Notation(thousands=",", semicolons=True)) == 1234
    assert read("1 234,5", Notation(thousands=" ")) == 1234.5
    assert read("1'234.5", Notation(thousands="'")) == 1234.5
    assert read("1'234.5", Notation(thousands=" ")) == REFUSED
    assert read("1.234", Notation(decimal=".", semicolons=True)) == 1.234


def test_missing_and_infinite_are_missing():
    assert np.isnan(numbers_of_text(pa.array(["NA", "", None, " - ", "#N/A", "1e999", "9" * 400]), Notation())).all()


@settings(max_examples=300)
@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(0, 3))
def test_doubles_read_back_in_every_notation(number, which):
    plain = repr(number)
    if which < 2 and "e" not in plain:
        head, _, tail = plain.lstrip("-").partition(".")
        marks = [(",", "."), (".", ",")][which]
        sign = "-" if math.copysign(1, number) < 0 else ""
        text = f"{sign}{int(head):,}".replace(",", marks[0]) + marks[1] + tail
        notation = Notation(decimal=marks[1])
    else:
        text, notation = plain, Notation()
    for beside in ([], ["7"], ["$ 7"]):
        assert read(text, notation, *beside) == number


@pytest.mark.parametrize(
    "wrong", [{"decimal": ";"}, {"thousands": "x"}, {"decimal": ".", "thousands": "."}, {"dates": "x"}]
)
def test_impossible_notations_are_refused(wrong):
    with pytest.raises(DataError):
        Notation(**wrong)


@settings(max_examples=1500)
@given(st.text("0123456789.,$€% -'()", min_size=1, max_size=14).map(str.strip), st.sampled_from(ALL))
def test_many_at_once_are_read_as_one_by_one(text, notation):
    try:
        expected = notation.number(text)
    except ValueError:
        expected = REFUSED
    if text not in MISSING:
        assert read(text, notation) == read(text, notation, "$5") == expected
