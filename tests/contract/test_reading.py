"""A record is read alone: its text, type, id or place changes what it adds, never what another one adds."""

import collections
import datetime
import decimal
import itertools
import random
import uuid
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
import pytest

import knoll
from knoll.privacy import DataError, Relation, User
from knoll.queries import Box, CellMoments, Count, Nearest
from knoll.rows import open_rows
from knoll.source import open_table

TRIES = 5_000
"""Neighbours that are tried in all, over all kinds of tables."""

RECORDS = 3_000
REFUSALS = (DataError, TypeError)


def engine_of(X, *, response=None, unit=None, missing="refuse", relation="add_remove"):
    """Return the engine that a fit would have."""
    model = knoll.Lloyd(2, bounds=(0, 100), unit=unit, missing=missing)
    return open_rows(model, X, response, nulls=relation != "add_remove")[0]


def total(X, query=None, **options):
    return engine_of(X, **options).aggregate(Count() if query is None else query)


# ---- ids --------------------------------------------------------------------------------------

BIG = [2**53 + i for i in range(6)] + [2**63 + i for i in range(6)] + [-(2**62) - 1, -(2**62)]
TEXTS = [
    "a",
    "a ",
    " a",
    "A",
    "\u00e9",
    "e\u0301",
    "1",
    "1.0",
    "01",
    "nan",
    "None",
    "\u00a0",
    "NA ",
    "9007199254740993",
]
IDS = {
    "whole numbers beyond doubles": BIG[:6],
    "unsigned": BIG[:12],
    "text": TEXTS,
    "bytes": [b"a", b"b", b"a\x00", b"\xff"],
    "decimals": [decimal.Decimal("1.10"), decimal.Decimal("1.1"), decimal.Decimal("1.1000000000000000001")],
    "mixed": [1, "1", b"1", 2.5, "2.5", decimal.Decimal("2.25"), 2**60, 2**60 + 1, uuid.UUID(int=5), True, 1.0],
    "dates": [datetime.date(2020, 1, 1), datetime.date(2020, 1, 2)],
    "doubles": [0.0, -0.0, 1.5, 3.0, 2.0**52],
}
NO_IDS = [None, float("nan"), "", pd.NA, pd.NaT, np.float64("nan"), b""]


def rows_of(ids, repeat=3):
    """Return ids in random order, each several times, and a feature."""
    chance = random.Random(repr(ids))
    listed = [each for each in ids for _ in range(repeat)]
    chance.shuffle(listed)
    return listed, [50.0 * chance.random() for _ in listed]


def tables(ids, values):
    """Name -> the same records in every kind of table that can hold such ids."""
    made = {
        "lists": lambda: [[i, v] for i, v in zip(ids, values, strict=True)],
        "tuples": lambda: [(i, v) for i, v in zip(ids, values, strict=True)],
        "object array": lambda: np.array([[i, v] for i, v in zip(ids, values, strict=True)], dtype=object),
        "pandas": lambda: pd.DataFrame({0: pd.Series(ids, dtype=object), 1: values}),
        "pandas, inferred": lambda: pd.DataFrame({0: ids, 1: values}),
        "pandas, categories": lambda: pd.DataFrame({0: pd.Categorical(ids), 1: values}),
        "polars": lambda: pl.DataFrame({"0": ids, "1": values}),
        "arrow": lambda: pa.table({"0": pa.array(ids), "1": values}),
        "arrow, dictionary": lambda: pa.table({"0": pa.array(ids).dictionary_encode(), "1": values}),
    }
    for name, make in made.items():
        try:
            yield name, make()
        except (TypeError, ValueError, OverflowError, pa.ArrowException, pl.exceptions.PolarsError):
            continue  # this kind of table cannot hold them


@pytest.mark.parametrize("kind", IDS)
def test_users_merge_only_if_their_ids_are_equal(kind, tmp_path):
    ids, values = rows_of(IDS[kind])
    different = len(set(IDS[kind]))  # Python's own equality of values
    seen = []
    for name, table in tables(ids, values):
        column = 0 if name in ("lists", "tuples", "object array") or name.startswith("pandas") else "0"
        unit = User(column, 1)
        if kind == "doubles" or len(set(map(type, ids))) == 1:
            assert total(table, unit=unit) == different, name
        else:  # a frame may have made one type of them before we see it
            assert total(table, unit=unit) <= len(ids), name
        seen.append(name)
        if name == "arrow" and kind not in ("mixed", "dates"):
            pa.parquet.write_table(table, tmp_path / "x.parquet")
            pa.feather.write_feather(table, tmp_path / "x.arrow")
            for ending in ("parquet", "arrow"):
                assert total(knoll.Source(tmp_path / f"x.{ending}", ["1"]), unit=User("0", 1)) == different, ending
    assert {"lists", "object array", "pandas"} <= set(seen)


def test_mixed_ids_are_compared_as_they_are():
    ids, values = rows_of(IDS["mixed"])
    for name, table in tables(ids, values):
        if name in ("lists", "tuples", "object array", "pandas"):
            assert total(table, unit=User(0, 1)) == len(set(IDS["mixed"])), name


@pytest.mark.parametrize("quoted", [False, True])
def test_ids_in_csv_are_the_text_that_stands_there(tmp_path, quoted):
    ids, values = rows_of([*TEXTS, "007", "7", "7.0", *map(str, BIG)])
    mark = '"' if quoted else ""
    lines = [f"{mark}{i}{mark},{v}" for i, v in zip(ids, values, strict=True)]
    (tmp_path / "x.csv").write_text("who,a\n" + "\n".join(lines) + "\n", encoding="utf-8")
    gone = {"nan", "None"}  # how this file writes a missing value
    source = knoll.Source(tmp_path / "x.csv", ["a"])
    assert total(source, unit=User("who", 1), missing="drop") == len(set(ids) - gone)
    with pytest.raises(DataError, match="no user id"):
        total(source, unit=User("who", 1))


def test_a_neighbour_cannot_change_the_type_of_everybody_s_id():
    """2,000 users beyond 2^53; one feature is 0.5 instead of 0: as one array, all ids would become doubles."""
    for first in (0, 0.5, "0.5", np.float16(0.5)):
        rows = [[2**53 + i, 0] for i in range(2000)]
        rows[0][1] = first
        assert total(rows, unit=User(0, 1)) == 2000
        model = knoll.ModalRegression(0.3, bounds=(-1, 1), unit=User(0, 1))
        x = np.array([[2**53 + i, i % 2] for i in range(2000)])
        assert open_rows(model, x, np.zeros(2000), nulls=False)[0].aggregate(Count()) == 2000


@pytest.mark.parametrize("absent", NO_IDS, ids=[f"{type(each).__name__}-{i}" for i, each in enumerate(NO_IDS)])
def test_rows_without_an_id_share_no_cap(absent):
    ids, values = [*map(str, range(40)), *[absent] * 7], [1.0] * 47
    for name, table in tables(ids, values):
        unit = User("0" if name in ("polars", "arrow", "arrow, dictionary") else 0, 1)
        with pytest.raises(DataError, match="no user id"):
            total(table, unit=unit)
        assert total(table, unit=unit, missing="drop") == 40, name


@pytest.mark.parametrize("mark", ["", "NA", "null", '""', '"NA"'])
def test_rows_without_an_id_in_files(tmp_path, mark):
    (tmp_path / "x.csv").write_text("who,a\n" + "".join(f"u{i},1\n" for i in range(9)) + f"{mark},1\n" * 3)
    source = knoll.Source(tmp_path / "x.csv", ["a"])
    with pytest.raises(DataError, match="no user id"):
        total(source, unit=User("who", 5))
    assert total(source, unit=User("who", 5), missing="drop") == 9
    pa.parquet.write_table(pa.table({"who": [1.0, 2.0, np.nan, np.nan], "a": [1.0] * 4}), tmp_path / "x.parquet")
    with pytest.raises(DataError, match="no user id"):
        total(knoll.Source(tmp_path / "x.parquet", ["a"]), unit=User("who", 5))


def test_ids_whose_digits_are_lost_are_refused():
    for X in (np.array([[2.0**53, 1.0], [2.0**53 + 2, 1.0]]), pd.DataFrame({0: [2.0**60, None], 1: [1.0, 2.0]})):
        with pytest.raises(DataError, match="last digits are lost"):
            total(X, unit=User(0, 1), missing="drop")


def test_numbers_of_single_precision_are_no_ids(tmp_path):
    for kind in (np.float32, np.float16):
        ids = np.array([2000, 2001], dtype=kind)
        array = np.column_stack([ids, ids]).astype(kind)
        for table in (array, pd.DataFrame({0: ids, 1: ids}), [[ids[0], 1.0], [ids[1], 2.0]]):
            with pytest.raises(DataError, match="single or half precision"):
                total(table, unit=User(0, 1))
        pa.parquet.write_table(pa.table({"who": pa.array(ids), "a": [1.0, 2.0]}), tmp_path / "x.parquet")
        with pytest.raises(DataError, match="column 'who'"):
            total(knoll.Source(tmp_path / "x.parquet", ["a"]), unit=User("who", 1))
    dates = np.array([["2020-01-01", "2020-01-02"]], dtype="datetime64[ns]")
    with pytest.raises(DataError):
        total(dates, unit=User(0, 1))


def test_rows_of_any_container_are_taken_apart():
    rows = [[k, 0.0] for k in range(20)] + [[str(k), 0.0] for k in range(20)]
    for odd in (collections.deque([-1, 1.0]), pd.Series([-1, 1.0], dtype=object), np.array([-1.0, 1.0])):
        assert total([*rows, odd], unit=User(0, 1)) == 41
    with pytest.raises(DataError):
        total([*rows, 5], unit=User(0, 1))


def test_a_decimal_that_is_no_number_is_no_id():
    with pytest.raises(DataError, match="no user id"):
        total([[decimal.Decimal("NaN"), 1.0], [decimal.Decimal(1), 1.0]], unit=User(0, 1))
    with pytest.raises(DataError, match="no user id"):
        total([[decimal.Decimal("sNaN"), 1.0], [decimal.Decimal(1), 1.0]], unit=User(0, 1))


def test_ids_of_other_types_are_refused():
    for odd in (object(), [1], (1, 2), {1}, 1j, float("inf")):
        with pytest.raises(DataError, match="user id"):
            total([[odd, 1.0], ["a", 2.0]], unit=User(0, 1))


def test_files_that_disagree_on_ids_are_refused(tmp_path):
    for i, ids in enumerate(([1, 2], ["1", "2"])):
        pa.parquet.write_table(pa.table({"who": ids, "a": [1.0, 2.0]}), tmp_path / f"{i}.parquet")
    with pytest.raises(DataError, match=r"do not agree on what column 'who' holds: 1\.parquet"):
        total(knoll.Source(tmp_path, ["a"]), unit=User("who", 1))


# ---- one record among many --------------------------------------------------------------------

BOX = Box((0.0, 0.0), (100.0, 100.0))
QUERY = CellMoments(Nearest(np.array([[20.0, 30.0], [70.0, 60.0], [50.0, 95.0]]), BOX))
PIECES = [
    b'"', b'""', b"\\", b'\\"', b",", b";", b" ", b"NA", b"-", b"nan", b"1", b"7.5", b"1e999", b"\r", b"\xff",
    b"\xef\xbb\xbf", b"\x00", "\u00e9".encode(), "\u2028".encode(), b"x" * 500, b"y" * 70_000, b"'", b"\t",
    b"|", b"true", b"2020-01-01",
]  # fmt: skip
ODD_VALUES = [
    None, float("nan"), float("inf"), 1e300, -1e300, 10**30, 2**63, True, "5", "x", "", "1e5", np.float16(0.1),
    np.float32(0.1), decimal.Decimal("0.1"), Fraction(1, 3), datetime.datetime(2020, 1, 1),
    np.datetime64("2020-01-01", "ns"),
    np.datetime64("2020-01-01", "us"), np.timedelta64(5, "s"), pd.Timestamp("2020-01-01"), pd.NaT, pd.NA,
    1j, b"5", [1.0], {},
]  # fmt: skip
COLUMNS = ("who", "note", "a", "b")


def people(seed=0):
    """Return records: an id, a note, two features."""
    rng = np.random.default_rng(seed)
    where = rng.uniform(0, 100, size=(RECORDS, 2)).round(2)
    return [
        [f"u{i % 1000}", f"note {i}", a, b] for i, (a, b) in enumerate(where.tolist())
    ]  # 1,000 users, three records each


def as_lines(records):
    quoted = [
        f'{who},"{note}",{a},{b}' if i % 3 else f"{who},{note},{a},{b}" for i, (who, note, a, b) in enumerate(records)
    ]
    return [line.encode() for line in quoted]


def odd_line(line, chance):
    """Return another text for one record: fields, quotes and bytes at random, line ends only inside its own quotes."""
    kind = chance.randrange(5)
    if kind == 0:
        text = bytearray(line)
        for _ in range(chance.randrange(1, 4)):
            at = chance.randrange(len(text) + 1)
            text[at:at] = chance.choice(PIECES)
    elif kind == 1:
        text = bytearray(b"".join(chance.choice(PIECES) for _ in range(chance.randrange(1, 8))))
    elif kind == 2:
        fields = [chance.choice(PIECES) for _ in COLUMNS]
        text = bytearray(b",".join(fields))
    elif kind == 3:
        text = bytearray(b'u1,"an honest\nline, and ""more""\r\n",5,' + chance.choice([b"6", b"", b"NA", b'"7"']))
    else:
        text = bytearray(line)
        del text[chance.randrange(len(text)) :]
    return bytes(text)


def in_csv(folder, lines):
    path = folder / "people.csv"
    path.write_bytes(b"who,note,a,b\n" + b"\n".join(lines) + b"\n")
    return knoll.Source(path, ["a", "b"])


def in_parts(folder, table, chance):
    """Write a table as several files, the first with one record: its types may become another's."""
    for old in folder.glob("*.parquet"):
        old.unlink()
    cuts = [0, 1, chance.randrange(2, RECORDS), RECORDS]
    for i, (start, stop) in enumerate(itertools.pairwise(cuts)):
        part = {name: table[name][start:stop] for name in COLUMNS}
        pa.parquet.write_table(pa.table(part), folder / f"{i}.parquet")
    return knoll.Source(folder, ["a", "b"])


def changed_value(records, chance):
    """Return the records with one value replaced, or one record moved, as columns."""
    at, column = chance.choice([0, 0, chance.randrange(RECORDS)]), chance.choice([0, 2, 3, 3])
    columns = {name: [row[j] for row in records] for j, name in enumerate(COLUMNS)}
    if chance.random() < 0.1:  # another place
        to = chance.randrange(RECORDS)
        for values in columns.values():
            values.insert(to, values.pop(at))
    else:
        columns[COLUMNS[column]][at] = chance.choice(ODD_VALUES)
    return columns


MAKERS = {
    "lists": lambda folder, columns, chance: [
        list(row) for row in zip(*(columns[n] for n in ("who", "a", "b")), strict=True)
    ],
    "pandas": lambda folder, columns, chance: pd.DataFrame({n: columns[n] for n in ("who", "a", "b")}),
    "polars": lambda folder, columns, chance: pl.DataFrame({n: columns[n] for n in ("who", "a", "b")}, strict=True),
    "arrow": lambda folder, columns, chance: pa.table({n: columns[n] for n in ("who", "a", "b")}),
    "parts": in_parts,
}
KINDS = ("csv", *MAKERS)


def worst(kind, folder, tries):
    """Try neighbours in one kind of table; return the largest change over what is allowed, and the number refused."""
    chance = random.Random(kind)
    records = people()
    lines = as_lines(records)
    base = {name: [row[j] for row in records] for j, name in enumerate(COLUMNS)}
    allowed = {cap: cap * QUERY.sensitivity(Relation.REPLACE_ONE, 2) for cap in (1, 2)}
    settings = [
        {"missing": missing, "unit": unit}
        for missing in ("drop", "refuse")
        for unit in (None, User(0 if kind == "lists" else "who", 2))
    ]
    first = in_csv(folder, lines) if kind == "csv" else MAKERS[kind](folder, base, chance)
    expected = [_total_of(first, each, kind) for each in settings]
    largest, refused = 0.0, 0
    for _ in range(tries):
        which = chance.randrange(len(settings))
        try:
            if kind == "csv":
                others, at = lines.copy(), chance.randrange(RECORDS)
                others.insert(chance.choice([at, at, at, chance.randrange(RECORDS)]), odd_line(others.pop(at), chance))
                X = in_csv(folder, others)
            else:
                X = MAKERS[kind](folder, changed_value(records, chance), chance)
            found = _total_of(X, settings[which], kind)
        except (*REFUSALS, ValueError, OverflowError, pa.ArrowException, pl.exceptions.PolarsError):
            refused += 1
            continue
        moved = np.linalg.norm(((found - expected[which]) * QUERY.weights).ravel())
        largest = max(largest, float(moved) / allowed[2 if settings[which]["unit"] else 1])
    return largest, refused


def _total_of(X, options, kind):
    """Return the total as a fit would sum it; without a unit the ids are no feature."""
    if options["unit"] is None and kind != "csv" and kind != "parts":
        X = (
            [row[1:] for row in X]
            if kind == "lists"
            else X.select(["a", "b"])
            if kind in ("polars", "arrow")
            else X[["a", "b"]]
        )
    return total(X, QUERY, **options)


@pytest.mark.parametrize("kind", KINDS)
def test_one_record_changes_what_it_adds_and_nothing_else(kind, tmp_path):
    tries = TRIES // len(KINDS)
    largest, refused = worst(kind, tmp_path, tries)
    assert largest <= 1.0
    assert largest > 0.0  # some were read
    assert 0 < refused < tries


# ---- columns of declared kinds ----------------------------------------------------------------

DECLARED = knoll.Columns(
    {
        "age": (0, 110),
        "income": knoll.Log(1e3, 1e6),
        "visits": knoll.Whole(0, 50),
        "plan": knoll.Category("basic", "gold", 3, True, missing="level"),
        "size": knoll.Ordered("S", "M", "L"),
        "smoker": bool,
        "joined": ("2020-01-01", "2024-12-31"),
        "hour": knoll.Cyclic.hour(),
    }
)
PLACES = ("who", "note", *DECLARED.names)
OLD_AND_NEW = (
    *ODD_VALUES, "1,234", "1.234", "1.234,5", "$ 12", "12 %", "NA", " gold ", "basic", 3, 3.0, "true", "J", 0, "L",
    "XL", "2020-02-30", "2020-02-28", "1.2.2020", "2020-01-01T10:00+05:00", datetime.date(2021, 1, 1),
    datetime.time(5), pd.Timestamp("2020-01-01 00:00:00.000000001"),
    pd.Timestamp("2021-01-01", tz="Asia/Tokyo"), "12:30", "Mon",
)  # fmt: skip
CONTAINERS = {
    "dict": lambda columns: columns,
    "records": lambda columns: [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)],
    "lists": lambda columns: list(map(list, zip(*(columns[name] for name in DECLARED.names), strict=True))),
    "pandas": pd.DataFrame,
    "pandas, categories": lambda columns: pd.DataFrame(columns).astype({"plan": "category", "size": "category"}),
    "polars": lambda columns: pl.DataFrame({name: columns[name] for name in DECLARED.names}, strict=True),
    "arrow": lambda columns: pa.table({name: columns[name] for name in DECLARED.names}),
}


def customers(number=120):
    """Return columns of all kinds, as texts and as Python values."""
    chance = random.Random(0)
    day = datetime.datetime(2020, 1, 1)
    rows = [
        [
            f"u{i % 40}", f"note {i}", chance.choice([31, 42.5, None]), round(1e3 * 900 ** chance.random(), 2),
            chance.randrange(60), chance.choice(["gold", "basic", "silver", None]), chance.choice(["S", "M", "L"]),
            chance.random() < 0.5, day + datetime.timedelta(seconds=chance.randrange(10**8)), chance.randrange(24),
        ]
        for i in range(number)
    ]  # fmt: skip
    return {name: [row[j] for row in rows] for j, name in enumerate(PLACES)}


def encoded(X, **options):
    engine, _ = open_table(DECLARED, X, missing="drop", unit=None, **options)
    return np.vstack([rows for rows, _, _ in engine.read()])


@pytest.mark.parametrize("container", CONTAINERS)
def test_a_value_of_any_kind_changes_its_own_row_only(container):
    chance, make = random.Random(container), CONTAINERS[container]
    base = customers()
    expected = encoded(make(base))
    read = refused = 0
    for _ in range(300):
        at, name = chance.randrange(len(base["age"])), chance.choice(DECLARED.names)
        columns = {each: values.copy() for each, values in base.items()}
        columns[name][at] = chance.choice(OLD_AND_NEW)
        try:
            found = encoded(make(columns))
        except (*REFUSALS, ValueError, OverflowError, pa.ArrowException, pl.exceptions.PolarsError):
            refused += 1
            continue
        read += 1
        differs = (found.view(np.uint64) != expected.view(np.uint64)) & ~(np.isnan(found) & np.isnan(expected))
        assert not np.delete(differs, at, axis=0).any(), (name, columns[name][at])
    assert read > 20
    assert refused


@pytest.mark.parametrize("delimiter", [",", ";"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "latin-1"])
def test_a_line_of_any_text_changes_its_own_row_only(delimiter, encoding, tmp_path):
    chance = random.Random(delimiter + encoding)
    base = customers()
    lines = [
        delimiter.join("" if value is None else str(value) for value in row) for row in zip(*base.values(), strict=True)
    ]
    odd = [str(each) for each in OLD_AND_NEW if isinstance(each, str | int | float)] + [
        piece.decode("utf-8", "ignore") for piece in PIECES
    ]

    def in_file(records):
        text = "\n".join([delimiter.join(PLACES), *records, ""])
        (tmp_path / "x.csv").write_bytes(text.encode(encoding, "replace"))
        return knoll.Source(tmp_path / "x.csv", encoding=None if encoding == "utf-8" else encoding)

    expected = encoded(in_file(lines))
    read = refused = 0
    for _ in range(300):
        at = chance.randrange(len(lines))
        fields = lines[at].split(delimiter)
        fields[chance.randrange(len(fields))] = "".join(chance.choice(odd) for _ in range(chance.choice([1, 1, 1, 2])))
        changed = [*lines[:at], delimiter.join(fields), *lines[at + 1 :]]
        try:
            found = encoded(in_file(changed))
        except DataError:
            refused += 1
            continue
        read += 1
        assert len(found) == len(expected)
        assert np.array_equal(np.delete(found, at, axis=0), np.delete(expected, at, axis=0), equal_nan=True)
    assert read > 20
    assert refused > 20
