"""Columns declared by dicts, text, TOML and JSON, and tables in memory encoded by them."""

import contextlib
import copy
import datetime
import decimal
import json
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from knoll.columns import (
    Boolean,
    Category,
    Columns,
    Cyclic,
    Date,
    Log,
    Number,
    Ordered,
    Whole,
    as_columns,
    encode_table,
)  # fmt: skip
from knoll.columns.draft import draft_toml
from knoll.columns.toml import load_toml, read_toml, write_toml
from knoll.privacy import DataError, User
from knoll.privacy.errors import BoundsError
from knoll.source import Source, open_table

LINE = (
    "age=0:110,income=log:1000:1000000,plan={basic,gold},smoker=bool,joined=2020-01-01:2024-12-31,visits=int:0:50,"
    "hour=cyclic:24"
)
ALL = Columns(
    {
        "age": (0, 110),
        "income": Log(1e3, 1e6, weight=2.5),
        "plan": Category("basic", "gold", missing="level"),
        "shop, or web": Ordered("a,b", 'say "hi"', "{c}", missing="drop"),
        "smoker": bool,
        "joined": ("2020-01-01", "2024-12-31"),
        "seen": Date("2020-01-01T10:00", "2024-12-31", "day-first"),
        "visits": Whole(-1, 50),
        "hour": Cyclic.hour(),
        "angle": Cyclic(360, -180, missing="refuse"),
        "x=y": Number(-1e-7, 1.5e20),
        "\u00fc\n\t": {"\u00e9", "z:1;"},
    }
)


def test_short_forms():
    when = datetime.date(2020, 1, 1), datetime.date(2024, 12, 31)
    given = {"a": [0, 1], "b": bool, "c": {"y", "x"}, "d": ["y", "x"], "e": when, "f": "log:1:2", "g": {1, 2}}
    assert Columns(given).kinds == (
        Number(0, 1), Boolean(), Category("x", "y"), Category("y", "x"), Date("2020-01-01", "2024-12-31"), Log(1, 2),
        Category(1, 2),
    )  # fmt: skip
    assert Columns({"a": ("low", "high")}).kinds == (Category("low", "high"),)
    assert Columns({"a": np.array([0.0, 1.0])}).kinds == (Number(0, 1),)


@pytest.mark.parametrize(
    "value",
    [None, int, 5, (1,), (1, 2, 3), (1, 0), object(), [], set(), "", "x", {"kind": "x"}, ("2021-01-01", "2020-01-01")],
)
def test_other_forms_are_refused_by_column(value):
    with pytest.raises(BoundsError, match="column 'a'"):
        Columns({"a": value})


def test_what_columns_know():
    columns = Columns.from_text(LINE)
    assert columns.names == ("age", "income", "plan", "smoker", "joined", "visits", "hour")
    assert columns.parts[2:5] == [("corners", 3), ("line", 0.0, 1.0), ("line", 18262.0, 20088.0)]
    assert columns.parts[-1] == ("circle",)
    assert columns.weights == (1.0,) * 7
    assert columns.coordinates[-4:] == ["joined", "visits", "hour, cosine", "hour, sine"]
    assert columns["plan"] == Category("basic", "gold")
    assert ALL.missing("refuse")[2:4] == ("refuse", "drop")
    with pytest.raises(KeyError):
        columns["nobody"]
    with pytest.raises(BoundsError, match="same name"):
        Columns({"a": Category("x"), "a=x": (0, 1)})


def test_dicts_of_numbers_stay_boxes():
    for bounds in (None, "private", (0, 1), {"a": (0, 1), "b": [1, 2]}, {0: (0, 1)}, {"a": np.array([0, 1])}):
        assert as_columns(bounds) is None
    assert as_columns({"a": (0, 1), "b": bool}) == Columns({"a": (0, 1), "b": bool})
    assert as_columns(ALL) is ALL


def test_every_written_form_reads_back(tmp_path):
    assert Columns.from_text(str(ALL)) == ALL
    assert Columns.from_text(LINE) == Columns.from_text(str(Columns.from_text(LINE)))
    assert read_toml(write_toml(ALL)) == ALL
    (tmp_path / "columns.toml").write_text(write_toml(ALL), encoding="utf-8")
    assert load_toml(tmp_path / "columns.toml") == ALL
    assert Columns.from_dict(json.loads(json.dumps(ALL.to_dict()))) == ALL
    mixed = Columns({"a": Category(1, 2.5, True, "x", weight=2, missing="level")})
    assert read_toml(write_toml(mixed)) == Columns.from_dict(mixed.to_dict()) == mixed
    for other in (copy.deepcopy(ALL), pickle.loads(pickle.dumps(ALL))):
        assert other == ALL
        assert hash(other) == hash(ALL)


names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8).filter(lambda t: t == t.strip())


@given(names, st.lists(names, min_size=1, max_size=4, unique_by=lambda t: t.strip()), st.floats(1e-3, 1e3))
def test_any_name_and_level_reads_back(name, levels, weight):
    try:
        columns = Columns({name: Category(*levels, weight=weight)})
    except BoundsError:
        return  # a level of blanks only
    assert Columns.from_text(str(columns)) == columns
    assert read_toml(write_toml(columns)) == columns
    assert Columns.from_dict(json.loads(json.dumps(columns.to_dict()))) == columns


@given(st.text(max_size=40))
def test_any_text_is_columns_or_refused(text):
    for read in (Columns.from_text, read_toml, lambda line: Columns({"a": line})):
        with contextlib.suppress(BoundsError):
            read(text)


WORDS = ["columns", "name", "kind", "lower", "upper", "levels", "first", "last", "weight", "missing", "unit", "period"]
plain = st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5)
anything = st.recursive(
    plain | st.sampled_from(["category", "number", "date"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=6),
    max_leaves=20,
)


@given(anything)
def test_any_document_is_columns_or_refused(document):
    for each in (document, {"columns": document}, {"columns": [document]}):
        with pytest.raises((DataError, BoundsError)):
            assert Columns.from_dict(each) is None


@pytest.mark.parametrize(
    "entry",
    [
        {"name": "a", "kind": "number", "lower": "0", "upper": 1},
        {"name": "a", "kind": "number", "lower": True, "upper": 2},
        {"name": "a", "kind": "number", "lower": 0},
        {"name": "a", "kind": "number", "lower": 0, "upper": 10**400},
        {"name": "a", "kind": "number", "lower": 0, "upper": 1, "extra": 1},
        {"name": "a", "kind": "boolean", "weight": "2"},
        {"name": "a", "kind": "boolean", "missing": "mean"},
        {"name": "a", "kind": "category", "levels": "ab"},
        {"name": "a", "kind": "category", "levels": [["a"]]},
        {"name": "a", "kind": "category", "levels": ["x" * 2000]},
        {"name": "a", "kind": "date", "first": "2020-01-01", "last": "2021-01-01", "format": "x"},
        {"name": ["a"], "kind": "boolean"},
        {"name": "a", "kind": ["boolean"]},
        {"name": "a", "kind": "Kind"},
        {"kind": "boolean"},
    ],
)
def test_hostile_documents_are_refused(entry):
    with pytest.raises(DataError):
        Columns.from_dict({"columns": [entry]})
    with pytest.raises(DataError, match="already"):
        Columns.from_dict({"columns": [{"name": "b", "kind": "boolean"}] * 2})


# ---- tables in memory -------------------------------------------------------------------------

TABLE = {
    "id": ["u1", "u2", "u1", None],
    "plan": ["gold", "basic", "silver", None],
    "age": [31, 42, None, 200],
    "joined": [datetime.date(2020, 1, 2), None, datetime.date(2021, 5, 6), datetime.date(2030, 1, 1)],
    "note": ["x", object(), 1, None],
}
KINDS = Columns({"age": (0, 110), "plan": {"basic", "gold"}, "joined": ("2020-01-01", "2024-12-31")})
ROWS = np.array([[31, 1, 18263], [42, 0, np.nan], [np.nan, 2, 18753], [200, np.nan, 21915]])


def tables():
    plain = {name: column for name, column in TABLE.items() if name != "note"}
    records = [dict(zip(TABLE, row, strict=True)) for row in zip(*TABLE.values(), strict=True)]
    frame = pd.DataFrame(TABLE)
    return {
        "dict": TABLE,
        "records": records,
        "pandas": frame,
        "pandas, nullable": frame.assign(age=pd.Series(TABLE["age"], dtype="Int64")),
        "pandas, categories": frame.assign(plan=frame["plan"].astype("category")),
        "pandas, Arrow": pd.DataFrame(plain).convert_dtypes(dtype_backend="pyarrow"),
        "pandas, decimals": frame.assign(age=[None if x is None else decimal.Decimal(x) for x in TABLE["age"]]),
        "pandas, dates": frame.assign(joined=pd.to_datetime(frame["joined"])),
        "polars": pl.DataFrame(plain),
        "polars, lazy": pl.DataFrame(plain).lazy(),
        "polars, categories": pl.DataFrame(plain).with_columns(pl.col("plan").cast(pl.Categorical)),
        "arrow": pa.table(plain),
        "record batch": pa.RecordBatch.from_pydict(plain),
    }


@pytest.mark.parametrize("table", tables())
def test_columns_select_by_name_from_every_table(table):
    table = tables()[table]
    assert np.array_equal(encode_table(KINDS, table), ROWS, equal_nan=True)
    with pytest.raises(DataError, match="no column 'weight'"):
        encode_table(Columns({"weight": (0, 1)}), table)


@pytest.mark.parametrize("table", tables())
def test_users_of_every_table(table):
    engine, name = open_table(KINDS, tables()[table], missing="drop", unit=User("id", 1))
    assert np.vstack([block for block, _ in engine.blocks()]).tolist() == [ROWS[0].tolist()]
    assert engine.names == KINDS.names
    assert name
    with pytest.raises(DataError, match="no user id"):
        list(open_table(KINDS, tables()[table], missing="refuse", unit=User("id", 9))[0].blocks())
    with pytest.raises(DataError, match="cannot be a feature"):
        open_table(Columns({"id": {"u1"}}), tables()[table], missing="drop", unit=User("id", 1))


def test_pandas_types_that_arrow_does_not_know():
    sparse = pd.Series(pd.arrays.SparseArray([0.0, 5.0]))
    months = pd.Series(pd.period_range("2020-01", periods=2, freq="M"))
    assert encode_table(Columns({"a": (0, 9)}), pd.DataFrame({"a": sparse})).tolist() == [[0], [5]]
    when = Columns({"a": ("2020-01-01", "2024-12-31")})
    assert encode_table(when, pd.DataFrame({"a": months})).tolist() == [[18262], [18293]]
    for odd in (
        pd.Series(pd.interval_range(0, 2)),
        pd.Series([1j, 2]),
        pd.Series(pd.to_timedelta([1, 2], "s")),
        months,
    ):
        with pytest.raises(DataError, match="column 'a'"):
            encode_table(Columns({"a": "int:0:1"}), pd.DataFrame({"a": odd}))


def test_tables_without_names_have_places():
    rows = [["u1", 31, "gold"], ["u2", "42", "z"]]
    by_place = Columns({2: {"basic", "gold"}, 1: (0, 110)})
    for table in (rows, [tuple(row) for row in rows], np.array(rows, dtype=object)):
        assert encode_table(by_place, table).tolist() == [[1, 31], [2, 42]]
    ordered = Columns({"who": {"u1"}, "age": (0, 110), "plan": {"gold"}})
    assert encode_table(ordered, rows).tolist() == [[0, 31, 0], [1, 42, 1]]
    engine, _ = open_table(Columns({"age": (0, 110), "plan": {"gold"}}), rows, missing="refuse", unit=User(0, 1))
    assert [block.tolist() for block, _ in engine.blocks()] == [[[31, 0], [42, 1]]]
    for odd in ([[1, 2], [3]], [1, 2], ["ab", "cd"], np.zeros(3), np.zeros((2, 5))):
        with pytest.raises(DataError):
            encode_table(Columns({"a": (0, 1), "b": (0, 1)}), odd)


def test_doubled_and_uneven_columns_are_refused():
    twice = pd.DataFrame([[1, 2, 3]], columns=["a", "a", "b"])
    with pytest.raises(DataError, match="'a' stands twice"):
        encode_table(Columns({"a": (0, 1)}), twice)
    assert encode_table(Columns({"b": (0, 1)}), twice).tolist() == [[3]]
    with pytest.raises(DataError, match="equally long"):
        encode_table(Columns({"a": (0, 1), "b": (0, 1)}), {"a": [1], "b": [1, 2]})


def test_errors_name_columns_and_no_values():
    for kind, value in (
        ((0, 1), "secret"),
        (bool, "secret"),
        (("2020-01-01", "2021-01-01"), "secret"),
        ((0, 1), 10**400),
    ):
        with pytest.raises(DataError, match="column 'x' holds") as error:
            encode_table(Columns({"x": kind, "y": bool}), {"x": [value], "y": [True]})
        assert "secret" not in str(error.value)


def test_ten_thousand_columns():
    columns = Columns({f"c{i}": (0, 1) for i in range(10_000)})
    assert encode_table(columns, np.zeros((2, 10_000))).shape == (2, 10_000)
    assert encode_table(columns, {name: [0.5] for name in columns.names}).sum() == 5000


def test_missing_values_by_column():
    columns = Columns({"a": Number(0, 9, missing="drop"), "b": (0, 9), "c": Category("x", missing="level")})
    table = {"a": [1, None, 3], "b": [1, 2, 3], "c": ["x", "x", None]}
    engine, _ = open_table(columns, table, missing="refuse", unit=None)
    assert np.vstack([block for block, _ in engine.blocks()]).tolist() == [[1, 1, 0], [3, 3, 2]]
    table["b"][2] = None
    with pytest.raises(DataError, match="missing"):
        list(open_table(columns, table, missing="refuse", unit=None)[0].blocks())
    engine, _ = open_table(columns, table, missing="drop", unit=None)
    assert np.vstack([block for block, _ in engine.blocks()]).tolist() == [[1, 1, 0]]


# ---- drafts -----------------------------------------------------------------------------------


def test_a_draft_does_not_look_at_values(tmp_path):
    kinds = {
        "flag": pa.bool_(), "day": pa.date32(), "n": pa.int64(), "x y": pa.float64(),
        "plan": pa.dictionary(pa.int32(), pa.string()), "customerID": pa.string(), "income": pa.float64(),
    }  # fmt: skip
    drafts = []
    for rows in ([], [[True, datetime.date(2020, 1, 1), 7, 1.5, "secret", "u1", 3.0]]):
        columns = {name: pa.array([row[j] for row in rows], kind) for j, (name, kind) in enumerate(kinds.items())}
        pa.parquet.write_table(pa.table(columns), tmp_path / "x.parquet")
        (tmp_path / "x.csv").write_text(",".join(kinds) + "\n" + "secret,1,2,3,4,5,6\n" * len(rows))
        drafts.append([draft_toml(tmp_path / name) for name in ("x.parquet", "x.csv")])
    assert drafts[0] == drafts[1]
    typed, untyped = drafts[0]
    assert read_toml(typed) == Columns({"flag": bool})
    assert '# customerID = "leave out"' in typed  # an id, of whatever type
    for line in (
        '# n = "int:lower:upper"',
        '# "x y" = "lower:upper"',
        '# plan = "{level,level}"',
        '# income = "log:lower:upper"',
    ):
        assert line in typed
    with pytest.raises(BoundsError, match="remove the #"):
        read_toml(untyped)
    (tmp_path / "y.csv").write_text("1,2,3\n4,5,6\n")
    with pytest.raises(DataError, match="header line"):
        draft_toml(tmp_path / "y.csv")


def test_a_draft_of_types_that_hold_no_levels_or_numbers(tmp_path):
    kinds = {
        "clock": pa.time32("s"), "took": pa.duration("s"), "tags": pa.list_(pa.string()),
        "v": pa.list_(pa.float64(), 2), "at": pa.struct([("lat", pa.float64())]),
    }  # fmt: skip
    pa.parquet.write_table(pa.table({name: pa.array([], kind) for name, kind in kinds.items()}), tmp_path / "x.parquet")
    typed = draft_toml(tmp_path / "x.parquet")
    assert read_toml(typed) == Columns({"clock": "cyclic:hour"})
    for name in ("took", "tags", "v", "at"):
        assert f'# {name} = "leave out"' in typed


def test_a_title_above_the_names_is_not_taken_for_them(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("Export of ward 7;;\nage;ward;day\n")
    with pytest.raises(DataError, match=r"2 of 3 columns of x\.csv have no name.*title"):
        draft_toml(path)
    for header in (",age,ward", "age;ward;day;;"):  # the index that pandas writes; columns that nobody filled
        path.write_text(header + "\n")
        assert "age" in draft_toml(path)


def test_a_draft_guesses_by_names(tmp_path):
    names = {"Kunden-Nr.": "leave out", "PlanName": "{level,level}", "\u00c2ge": "int:lower:upper", "a": "?"}
    (tmp_path / "x.csv").write_text(",".join([*names, "a"]) + "\n", encoding="utf-8")
    lines = draft_toml(tmp_path / "x.csv").splitlines()[-5:]
    for line, spec in zip(lines, [*names.values(), "?"], strict=True):
        assert f'= "{spec}"' in line
        assert ("stands twice" in line) == line.startswith("# a ")


def test_a_source_checks_what_is_declared():
    for wrong in ({"decimal": "x"}, {"thousands": "x"}, {"decimal": ",", "thousands": ","}, {"dates": "backwards"}):
        with pytest.raises(DataError):
            Source("x.csv", **wrong)
