"""Bad input of every kind: each one a clear, typed error, and nothing spent. More than 2,000 of them in a run."""

import random

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import knoll
from knoll.engines.files import FileEngine
from knoll.privacy import DataError, FileLedger, MemoryLedger, PrivacyError
from knoll.privacy.errors import BoundsError

SECRET = "hunter2"
ROWS = np.random.default_rng(0).uniform(-1, 1, size=(60, 2))
PARAMETER_ERRORS = (PrivacyError, BoundsError, DataError, ValueError, TypeError)


def refused(errors, model, data):
    """Fit; return whether it was refused. A refusal must be typed and clear, quote nothing and cost nothing."""
    ledger = MemoryLedger("d")
    try:
        model.set_params(ledger=ledger).fit(data)
    except errors as error:
        text = str(error)
        if len(text) < 12 or SECRET in text or ledger.lines:
            raise AssertionError(f"a poor refusal ({len(ledger.lines)} releases): {type(error)} {text}") from error
        return True
    return False


# ---- parameters -------------------------------------------------------------------------------

JUNK = st.one_of(
    st.none(), st.text(max_size=5), st.binary(max_size=3), st.lists(st.integers(), max_size=3), st.just({}),
    st.just(object()), st.complex_numbers(allow_nan=False),
    st.sampled_from([np.array([1.0, 2.0]), np.nan, [[]], {1: 2}]),
)  # fmt: skip
BAD_EPSILON = st.one_of(
    JUNK, st.floats(max_value=0.0), st.floats(min_value=100.1), st.floats(max_value=9e-7, min_value=0)
)
BAD_DELTA = st.one_of(JUNK, st.floats(max_value=-1e-300), st.floats(min_value=0.11), st.just(1e-30))
BAD_COUNT = st.one_of(JUNK, st.integers(max_value=0), st.integers(min_value=10**6), st.floats(), st.booleans())
BAD_WORD = st.one_of(st.text(max_size=12), st.integers(), st.none(), st.floats(), st.just(["drop"]))
BAD_UNIT = st.one_of(st.text(max_size=5), st.integers(), st.just(knoll.User), st.just((0, 1)))
PAIR = st.tuples(st.floats(), st.floats()).filter(lambda p: not (p[0] < p[1] and max(map(abs, p)) <= 1e30))
BAD_BOUNDS = st.one_of(
    st.none(), st.text(max_size=8).filter(lambda text: text != "private"), st.integers(), st.floats(), PAIR,
    st.tuples(st.just([0, 0, 0]), st.just([1, 1, 1])), st.dictionaries(st.integers(0, 3), PAIR, max_size=3),
    st.lists(st.floats(), max_size=1), st.just(((0, 1), (2, 3))), st.just({0: (0, 1)}), st.just(np.zeros((2, 2))),
)  # fmt: skip
BAD = {
    "epsilon": BAD_EPSILON, "delta": BAD_DELTA, "n_clusters": BAD_COUNT, "n_steps": BAD_COUNT, "relation": BAD_WORD,
    "missing": BAD_WORD, "bounds": BAD_BOUNDS, "unit": BAD_UNIT,
}  # fmt: skip


@pytest.mark.parametrize("parameter", BAD)
def test_bad_parameters(parameter):
    seen = []

    @settings(max_examples=110)
    @given(BAD[parameter])
    def attempt(value):
        model = knoll.Lloyd(2, bounds=(-1, 1)).set_params(**{parameter: value})
        assert refused(PARAMETER_ERRORS, model, ROWS), value
        seen.append(value)

    attempt()
    assert len(seen) >= 90 or parameter == "unit"


# ---- data in memory ---------------------------------------------------------------------------

BAD_NUMBER = st.sampled_from(
    [np.nan, np.inf, -np.inf, None, SECRET, "4 711", 1j, b"x", [], {}, object(), pd.NA, pd.NaT]
)


@settings(max_examples=400)
@given(st.integers(0, 59), st.integers(0, 1), BAD_NUMBER, st.sampled_from(["array", "list", "frame", "users"]))
def test_one_bad_value_in_a_table(row, column, value, kind):
    table = ROWS.astype(object)
    table[row, column] = value
    unit = None
    if kind == "list":
        table = table.tolist()
    elif kind == "frame":
        table = pd.DataFrame(table, columns=["a", "b"])
    elif kind == "users":
        table = pd.DataFrame({"who": range(60), "a": table[:, 0], "b": table[:, 1]})
        unit = knoll.User("who", 1)
    assert refused(PARAMETER_ERRORS, knoll.Lloyd(2, bounds=(-1, 1), unit=unit), table)


@settings(max_examples=200)
@given(
    st.one_of(
        st.none(), st.integers(), st.floats(), st.text(), st.binary(), st.lists(st.integers()), st.just({}),
        st.just(()),
        st.sampled_from([(0, 2), (3,), (2, 2, 2), (5, 0), (0,), (1, 1, 1, 1)]).map(np.zeros),
        st.lists(st.lists(st.floats(), min_size=1, max_size=3), min_size=2, max_size=4).filter(
            lambda rows: len({len(row) for row in rows}) > 1
        ),
        st.just(pd.DataFrame()), st.just(pa.table({})), st.just(object()), st.just(iter([1])),
    )
)  # fmt: skip
def test_things_that_are_no_table(thing):
    assert refused(PARAMETER_ERRORS, knoll.Lloyd(2, bounds=(-1, 1)), thing)


# ---- files ------------------------------------------------------------------------------------


def damaged(good, chance):
    """One of many ways to break a file."""
    bad = bytearray(good)
    kind = chance.randrange(7)
    at = chance.randrange(max(1, len(bad)))
    if kind == 0:
        del bad[at:]
    elif kind == 1:
        bad[at : at + chance.randrange(1, 200)] = chance.randbytes(chance.randrange(1, 200))
    elif kind == 2:
        bad[at:at] = chance.choice([b"\x00", b'"', b"\xff\xfe", b",,,,", b"\n", SECRET.encode(), b"1e999", b"\r"])
    elif kind == 3:
        for _ in range(chance.randrange(1, 30)):
            bad[chance.randrange(len(bad))] = chance.randrange(256)
    elif kind == 4:
        bad = bytearray(chance.randbytes(chance.randrange(300)))
    elif kind == 5:
        bad = bytearray(bytes(bad).decode("latin-1").encode(chance.choice(["utf-16", "utf-32", "utf-7"])))
    else:
        bad[: chance.randrange(1, 40)] = chance.randbytes(chance.randrange(1, 40))
    return bytes(bad)


def good_bytes(folder, kind):
    table = pa.table({"a": ROWS[:, 0], "b": ROWS[:, 1]})
    path = folder / f"good.{kind}"
    if kind == "parquet":
        pa.parquet.write_table(table, path)
    elif kind == "arrow":
        pa.feather.write_feather(table, path, compression="uncompressed")
    else:
        path.write_text("a,b\n" + "\n".join(f"{a!r},{b!r}" for a, b in ROWS.tolist()) + "\n")
    return path.read_bytes()


@pytest.mark.parametrize(("kind", "least"), [("csv", 150), ("parquet", 250), ("arrow", 180)])
def test_damaged_files(tmp_path, kind, least):
    """Damage that leaves a readable table of numbers is none; all else is refused."""
    good = good_bytes(tmp_path, kind)
    chance = random.Random(kind)
    path = tmp_path / f"{SECRET[:3]}.{kind}"
    count = 0
    for _ in range(400):
        path.write_bytes(damaged(good, chance))
        count += refused((DataError, PrivacyError), knoll.Lloyd(2, bounds=(-1, 1)), path)
    assert count >= least


LINES = {
    "latin-1 header": "größe,b\n1,2\n".encode("latin-1"),
    "latin-1 value": "a,b\n1,2\n3,ä\n".encode("latin-1"),
    "utf-16": "a,b\n1,2\n".encode("utf-16"),
    "open quote": b'a,b\n1,"2\n3,4\n',
    "no newline": b"a,b",
    "one column too many": b"a,b\n1,2,3\n",
    "one too few": b"a,b\n1,2\n3\n",
    "dates": b"a,b\n2024-01-01,2\n",
    "empty names": b",\n1,2\n",
    "blank": b"\n\n\n",
    "spaces": b"   ",
    "json": b'{"a": [1, 2]}',
    "html": b"<html><body>404 not found</body></html>",
    "null byte": b"a,b\n1,\x002\n",
    "infinity": b"a,b\ninf,2\n3,4\n",
    "missing": b"a,b\n,2\n3,4\n",
    "words": f"a,b\n1,2\n3,{SECRET}\n".encode(),
}


@pytest.mark.parametrize("case", LINES)
def test_csv_files_as_people_make_them(tmp_path, case):
    path = tmp_path / "people.csv"
    path.write_bytes(LINES[case])
    assert refused((DataError,), knoll.Lloyd(2, bounds=(-1, 1)), path)


NUMBERS = {
    "commas for decimals": (b"a;b\n1,5;2,5\n", [1.5, 2.5]),
    "thousands": (b'a,b\n"1,000",2\n', [1000, 2]),
    "percent": (b"a,b\n10%,2\n", [10, 2]),
    "currency": (b"a,b\n$10,2\n", [10, 2]),
}


@pytest.mark.parametrize("case", NUMBERS)
def test_numbers_as_people_write_them(tmp_path, case):
    path = tmp_path / "people.csv"
    text, expected = NUMBERS[case]
    path.write_bytes(text)
    assert [block.tolist() for block, _ in FileEngine(path).blocks()] == [[expected]]


def test_a_header_that_is_not_utf8_is_called_so(tmp_path):
    path = tmp_path / "people.csv"
    path.write_bytes("größe,b\n1,2\n".encode("latin-1"))
    with pytest.raises(DataError, match="UTF-8"):
        knoll.Lloyd(2, bounds=(-1, 1)).fit(path)


@pytest.mark.parametrize("kind", ["text", "missing", "nested", "dates"])
def test_parts_of_a_folder_that_disagree(tmp_path, kind):
    parts = tmp_path / "parts"
    parts.mkdir()
    other = {
        "text": pa.table({"a": [SECRET, "y"], "b": [1.0, 2.0]}),
        "missing": pa.table({"a": [1.0, 2.0]}),
        "nested": pa.table({"a": [[1.0], [2.0]], "b": [1.0, 2.0]}),
        "dates": pa.table({"a": pd.to_datetime(["2024-01-01", "2024-01-02"]), "b": [1.0, 2.0]}),
    }[kind]
    pa.parquet.write_table(pa.table({"a": [1.0, 2.0], "b": [1.0, 2.0]}), parts / "0.parquet")
    pa.parquet.write_table(other, parts / "1.parquet")
    assert refused((DataError,), knoll.Lloyd(2, bounds=(-1, 1)), parts)


# ---- models -----------------------------------------------------------------------------------


def test_damaged_models_are_refused(tmp_path):
    path = tmp_path / "model.json"
    knoll.save(knoll.Lloyd(3, bounds=(-1, 1)).fit(ROWS), path)
    good = path.read_bytes()
    chance = random.Random(3)
    count = 0
    for _ in range(300):
        path.write_bytes(damaged(good, chance))
        try:
            knoll.load(path).predict(ROWS)
        except DataError:
            count += 1
    assert count >= 200


# ---- ledgers ----------------------------------------------------------------------------------


@settings(max_examples=100)
@given(st.one_of(st.binary(max_size=200), st.text().map(str.encode), st.just(b"SQLite format 3\x00" + bytes(200))))
def test_files_that_are_no_ledger(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("ledger") / "privacy.db"
    path.write_bytes(content)
    with pytest.raises(knoll.privacy.LedgerError):
        FileLedger(path)
    assert path.read_bytes() == content
