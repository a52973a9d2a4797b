"""Files as engines see them: which are read, by which rule, and what is refused before anything is summed."""

import os
import random
import re
import threading
import time

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest

import knoll
from knoll.engines import csv as strict
from knoll.engines.ahead import ahead
from knoll.engines.csv import CsvFile, StrictQuotes
from knoll.engines.files import FileEngine
from knoll.privacy import DataError, MemoryLedger
from knoll.queries import Count
from knoll.testing import zero_noise

# ---- quotes -----------------------------------------------------------------------------------


def obeys(text):
    """Say, byte by byte, whether a text obeys the rule: the reference."""
    inside, before = False, "\n"
    for i, mark in enumerate(text):
        after = text[i + 1] if i + 1 < len(text) else "\n"
        if mark == '"':
            if not inside and before not in '",\n\r':
                return False
            if inside and after not in '",\n\r':
                return False
            inside = not inside
        if mark == "\r" and after != "\n" and not inside:
            return False
        before = mark
    return not inside


@pytest.mark.parametrize("piece", [1, 2, 3, 7, 1000])
def test_quotes_are_judged_the_same_in_any_pieces(tmp_path, piece):
    chance = random.Random(piece)
    path = tmp_path / "x.csv"
    seen = {True: 0, False: 0}
    for _ in range(400):
        text = "".join(
            chance.choice(['"', '""', ",", "a", "\n", "\r\n", "\r", '"a"', "b,"]) for _ in range(chance.randrange(9))
        )
        good = obeys(text) or text.endswith("\r")  # a carriage return at the very end ends the file
        path.write_bytes(text.encode())
        stream = StrictQuotes(path, ",", line_breaks=True)
        try:
            while stream.read(piece):
                pass
            found = True
        except DataError:
            found = False
        if not text.endswith("\r"):
            assert found == good, text
        seen[found] += 1
    assert min(seen.values()) > 50


@pytest.mark.parametrize(
    "note",
    ['"a', 'a"', 'a"b', '"a" ', '"say \\"hi\\""', '"a"b"', '"', '"""', '""a'],
    ids=["open", "at the end", "inside", "space after", "backslash", "after", "alone", "three", "empty first"],
)
def test_a_broken_quote_is_refused_wherever_it_stands(tmp_path, note):
    for at in (0, 500, 999):
        lines = [f'{i},"note {i}",{i % 7}' for i in range(1000)]
        lines[at] = f"{at},{note},3"
        path = tmp_path / "x.csv"
        path.write_text("a,note,b\n" + "\n".join(lines) + "\n")
        ledger = MemoryLedger("d")
        for source in (path, knoll.Source(path, line_breaks=True)):
            with pytest.raises(DataError, match=r"not a clean CSV file|a line ends inside quotes|number of fields"):
                knoll.Lloyd(2, bounds={"a": (0, 1000), "b": (0, 7)}, ledger=ledger).fit(source)
        assert ledger.lines == []


def test_two_open_quotes_do_not_let_a_third_record_count_many_times(tmp_path):
    """Two careless records open and close a quote; between them, a third one's text would be a thousand records."""
    base = [f"n{i},{i % 10}" for i in range(500)]
    many = '"' + "\n".join([",5"] + ['"",5'] * 1000) + '\n",4'
    for others in (base[100:300], []):
        for lines in ([*others], [*others[:50], many, *others[50:]], [*others[:50], '"a\nb",1', *others[50:]]):
            path = tmp_path / "x.csv"
            path.write_text("note,x\n" + "\n".join(['"5 ft 11,3', *lines, '6 ft 2",3', *base]) + "\n")
            with pytest.raises(DataError, match="a line ends inside quotes|not a clean CSV file"):
                FileEngine(path, ["x"]).aggregate(Count())


@pytest.mark.parametrize("piece", [1, 3, 1000])
def test_a_line_is_judged_by_itself_in_any_pieces(tmp_path, piece):
    chance = random.Random(piece)
    path = tmp_path / "x.csv"
    seen = {True: 0, False: 0}
    for _ in range(300):
        text = "".join(chance.choice(['"', ",", "a", "\n", '"a"', "b,", '""']) for _ in range(chance.randrange(9)))
        path.write_bytes(text.encode())
        stream, found = StrictQuotes(path, ","), True
        try:
            while stream.read(piece):
                pass
        except DataError:
            found = False
        assert found == all(obeys(line) for line in text.split("\n")), text
        seen[found] += 1
    assert min(seen.values()) > 50


def test_a_carriage_return_makes_no_second_record(tmp_path):
    path = tmp_path / "x.csv"
    path.write_bytes(b"a\n" + b"1\n" * 50 + b"2\r3\n")
    with pytest.raises(DataError, match="carriage return"):
        FileEngine(path).aggregate(Count())
    path.write_bytes(b"a\r\n" + b"1\r\n" * 50)
    assert FileEngine(path).aggregate(Count()) == 50


def test_honest_csv_files_are_read(tmp_path):
    path = tmp_path / "x.csv"
    path.write_bytes(b'\xef\xbb\xbf"a","b; c"\r\n' + b'"1","x ""y"" \r\n z"\r\n' * 3 + b'2,\r\n3,"last"')
    assert CsvFile(path).names == ["a", "b; c"]
    blocks = [block for block, _ in FileEngine(path, ["a"], line_breaks=True).blocks()]
    assert np.vstack(blocks).ravel().tolist() == [1, 1, 1, 2, 3]


def test_an_empty_line_in_a_single_column_is_a_missing_value(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("a\n1\n\n2\n")
    with pytest.raises(DataError, match="missing"):
        FileEngine(path).aggregate(Count())
    assert FileEngine(path, missing="drop").aggregate(Count()) == 2


# ---- headers ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "first",
    [
        "NAN,missing,x",
        "<5,a,b",
        "1.5kg,a,b",
        "12:30,a,b",
        "na,a,b",
        ".,a,b",
        "63.7,NA,26.9",
        "NA,NA,NA",
        "M,34,x",
        "a,2020-01-31,b",
        "Ann,true,x",
        "Ann,1.234,5",
        "-,b,c",
        "12 %,b,c",
    ],
)
def test_a_record_is_not_taken_for_names(tmp_path, first):
    path = tmp_path / "x.csv"
    path.write_text(first + "\n" + "1,2,3\n" * 20)
    for columns in (None, ["age", "bmi"]):
        with pytest.raises(DataError, match="holds values, not column names") as caught:
            FileEngine(path, columns)
        assert not any(value in str(caught.value) for value in first.split(",") if len(value) > 3)


def test_names_that_look_like_values_can_be_given(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("2019,2020\n" + "1,2\n" * 20)
    assert FileEngine(path, ["2020"]).names == ("2020",)
    assert strict.is_value("2020")
    assert not strict.is_value("")


# ---- folders ----------------------------------------------------------------------------------


def test_a_record_is_read_once(tmp_path):
    data = tmp_path / "data"
    (data / ".ipynb_checkpoints").mkdir(parents=True)
    (data / "_temporary").mkdir()
    (data / "sub").mkdir()
    text = "a,b\n" + "1,2\n" * 10
    for name in ("x.csv", ".x.csv", ".ipynb_checkpoints/x.csv", "_temporary/x.csv", "_x.csv", "sub/y.csv"):
        (data / name).write_text(text)
    (data / "link.csv").symlink_to(data / "x.csv")
    os.link(data / "x.csv", data / "zz.csv")
    (data / "loop").symlink_to(data)
    (data / "folder.csv").mkdir()
    assert FileEngine(data).aggregate(Count()) == 20
    assert {file.name for file in knoll.Source(data).files} == {"link.csv", "y.csv"}
    assert FileEngine(data / ".x.csv").aggregate(Count()) == 10  # asked for by name


def test_each_file_is_cast_by_itself(tmp_path):
    for i, column in enumerate(
        (np.array([0.1], dtype=np.float16), np.array([0.1], dtype=np.float32), [7, 9], [1e300, 0.1], [None, None])
    ):
        pa.parquet.write_table(pa.table({"a": pa.array(column)}), tmp_path / f"{i}.parquet")
    found = np.vstack([rows for rows, _, _ in FileEngine(tmp_path).read()]).ravel()
    expected = [float(np.float16(0.1)), float(np.float32(0.1)), 7, 9, 1e300, 0.1, np.nan, np.nan]
    assert np.array_equal(found, expected, equal_nan=True)


def test_files_that_disagree_are_named(tmp_path):
    pa.parquet.write_table(pa.table({"a": [True, False]}), tmp_path / "0.parquet")
    pa.parquet.write_table(pa.table({"a": [0.5, 7.0]}), tmp_path / "1.parquet")
    with pytest.raises(DataError, match=r"do not agree on what column 'a' holds: 1\.parquet holds double"):
        FileEngine(tmp_path)
    pa.parquet.write_table(pa.table({"b": [0.5, 7.0]}), tmp_path / "1.parquet")
    with pytest.raises(DataError, match=r"no column 'a' in 1\.parquet"):
        FileEngine(tmp_path)


def test_csv_files_of_a_folder_have_their_own_order_and_separator(tmp_path):
    (tmp_path / "0.csv").write_text("a,b\n1,2\n")
    (tmp_path / "1.csv").write_text("b;x;a\n20;y;10\n")
    assert np.vstack([rows for rows, _, _ in FileEngine(tmp_path).read()]).tolist() == [[1, 2], [10, 20]]


def test_decimals_are_rounded_as_python_does(tmp_path):
    import decimal

    values = [decimal.Decimal(text) for text in ("0.1", "123456789.123456789", "-0.7", "99999.99999")]
    pa.parquet.write_table(pa.table({"a": pa.array(values, type=pa.decimal128(30, 12))}), tmp_path / "x.parquet")
    found = next(rows for rows, _, _ in FileEngine(tmp_path / "x.parquet").read())
    assert found.ravel().tolist() == [float(value) for value in values]


def test_a_file_that_changes_between_passes_is_refused(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("a\n" + "1\n" * 50)
    engine = FileEngine(path)
    assert engine.aggregate(Count()) == 50
    path.write_text("a\n" + "1\n" * 51)
    with pytest.raises(DataError, match="was changed"):
        engine.aggregate(Count())


def test_one_name_for_a_dataset_however_its_ending_is_spelt():
    names = {
        knoll.Source(path).name for path in ("visits.csv", "visits.CSV", "visits.csv.gz", "visits.Parquet", "visits/")
    }
    assert names == {"visits"}


# ---- dates ------------------------------------------------------------------------------------

DATES = pd.to_datetime(["2020-01-01", None, "2020-01-03"])


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame({"a": DATES, "b": 1.0}), pl.DataFrame({"a": [DATES[0].to_pydatetime(), None], "b": [1.0] * 2}),
        pa.table({"a": pa.array(DATES), "b": [1.0] * 3}),
        np.array([["2020-01-01"], ["2020-01-02"]], dtype="datetime64[us]"),
        [[np.datetime64("2020-01-01", "ns")], [np.datetime64("2020-01-02", "ns")]],
        np.array([[pd.Timestamp("2020-01-01")], [pd.NaT]], dtype=object),
        pd.DataFrame({"a": DATES - DATES[0], "b": 1.0}),
        pd.DataFrame({"a": pd.Categorical(["x", "y", "x"]), "b": 1.0}), pd.DataFrame({"a": [1j, 2j, 3j], "b": 1.0}),
    ],
    ids=["pandas", "polars", "arrow", "array", "list", "objects", "durations", "categories", "complex"],
)  # fmt: skip
def test_dates_and_categories_are_no_numbers(table):
    with pytest.raises(DataError):
        knoll.Lloyd(2, bounds=(0, 1), missing="drop").fit(table)


def test_columns_of_a_frame_are_read_by_themselves():
    columns = {"i": [2**60 + 1, 5], "f": np.array([0.1, 0.2], dtype=np.float32), "o": ["0.5", None], "b": [True, False]}
    for frame in (pd.DataFrame(columns), pl.DataFrame(columns), pa.table(columns)):
        model = knoll.KernelDensity(1.0, bounds=(0, 1), missing="drop")
        from knoll.rows import check_rows

        rows = check_rows(model, frame, reset=True, allow_missing=True)
        assert rows[0].tolist() == [float(2**60 + 1), float(np.float32(0.1)), 0.5, 1.0]
        assert np.isnan(rows[1, 2])


def test_subclasses_of_frames_are_frames():
    class Sub(pd.DataFrame):
        pass

    with pytest.raises(DataError, match="dates"):
        knoll.Lloyd(2, bounds=(0, 1e19), missing="drop").fit(Sub({"a": DATES, "b": 1.0}))
    frame = pd.DataFrame({"column_names": ["u", "v"], "schema": [1.0, 2.0], "a": [3.0, 4.0]})
    with zero_noise():
        model = knoll.Lloyd(1, bounds=(0, 5), unit=knoll.User("column_names", 1)).fit(frame)
    assert model.feature_names_in_.tolist() == ["schema", "a"]


def test_what_lies_under_a_mask_is_missing():
    rows = np.ma.masked_array([[0.9, 1.0], [0.1, 2.0], [0.3, 3.0]], mask=[[1, 0], [0, 0], [0, 0]])
    with pytest.raises(DataError, match="missing"):
        knoll.Lloyd(1, bounds=(0, 5)).fit(rows)
    with zero_noise():
        assert knoll.Lloyd(1, bounds=(0, 5), missing="drop").fit(rows).cluster_sizes_.sum() == 2
    ids = np.ma.masked_array([[1, 1], [2, 2], [3, 3]], mask=[[1, 0], [0, 0], [0, 0]])
    with pytest.raises(DataError, match="no user id"):
        knoll.Lloyd(1, bounds=(0, 5), unit=knoll.User(0, 1)).fit(ids)


# ---- null records -----------------------------------------------------------------------------


@pytest.mark.parametrize("relation", ["replace_one", "replace_special"])
@pytest.mark.parametrize("missing", ["refuse", "drop"])
def test_a_null_record_adds_nothing_where_the_number_of_records_is_public(relation, missing, tmp_path):
    rows = np.random.default_rng(0).uniform(size=(200, 2))
    null = rows.copy()
    null[7] = np.nan
    frame = pd.DataFrame(null, columns=["a", "b"])
    frame.to_csv(tmp_path / "x.csv", index=False)
    with zero_noise():
        for X in (null, null.tolist(), frame, tmp_path / "x.csv"):
            model = knoll.Lloyd(1, bounds=(0, 1), relation=relation, missing=missing).fit(X)
            assert model.cluster_sizes_.sum() == 199
    users = np.column_stack([null, np.arange(200) // 2])
    with zero_noise():
        model = knoll.Lloyd(1, bounds=(0, 1), relation=relation, missing=missing, unit=knoll.User(2, 2)).fit(users)
    assert model.cluster_sizes_.sum() == 199


def test_other_gaps_are_refused_under_every_relation():
    rows = np.random.default_rng(0).uniform(size=(200, 2))
    for gap in ([np.nan, 0.5], [np.inf, np.inf]):
        rows[7] = gap
        for relation in ("add_remove", "replace_one", "replace_special"):
            with pytest.raises(DataError, match=re.escape('missing="drop"')):
                knoll.Lloyd(1, bounds=(0, 1), relation=relation).fit(rows)
    rows[7] = np.nan
    with pytest.raises(DataError, match=re.escape('missing="drop"')):
        knoll.Lloyd(1, bounds=(0, 1)).fit(rows)


# ---- all or nothing ---------------------------------------------------------------------------


def test_a_fit_that_fails_leaves_the_model_as_it_was(monkeypatch):
    rows = np.random.default_rng(0).uniform(size=(300, 2))
    model = knoll.Lloyd(2, bounds=(0, 1)).fit(rows)
    model.to_mixture(rows)
    before = dict(vars(model))
    monkeypatch.setattr("knoll.privacy.curator.recheck", lambda *given: (_ for _ in ()).throw(RuntimeError("too much")))
    with pytest.raises(RuntimeError):
        model.fit(np.column_stack([rows, rows[:, :1]]))
    assert vars(model) == before


def test_nothing_of_an_earlier_fit_survives():
    rows = np.random.default_rng(0).uniform(size=(300, 2))
    model = knoll.Lloyd(2, bounds=(0, 1)).fit(pd.DataFrame(rows, columns=["a", "b"]))
    model.to_mixture(pd.DataFrame(rows, columns=["a", "b"]))
    assert hasattr(model, "mixture_privacy_")
    model.fit(rows)
    assert not hasattr(model, "mixture_privacy_")
    assert not hasattr(model, "feature_names_in_")


# ---- data under a second name -----------------------------------------------------------------


@pytest.fixture
def visits(tmp_path):
    frame = pd.DataFrame(np.random.default_rng(0).uniform(size=(300, 2)), columns=["a", "b"])
    (tmp_path / "visits").mkdir()
    frame.to_csv(tmp_path / "visits" / "part.csv", index=False)
    return tmp_path / "visits", frame


def test_a_file_does_not_get_a_second_budget_by_another_path(visits, tmp_path):
    folder, _ = visits
    ledger = tmp_path / "privacy.db"
    model = knoll.Lloyd(2, bounds=(0, 1), ledger=ledger).fit(folder)
    model.fit(folder)
    (tmp_path / "link.csv").symlink_to(folder / "part.csv")
    for path in (folder / "part.csv", tmp_path / "link.csv"):
        with pytest.raises(knoll.privacy.LedgerError, match="was accounted for as 'visits' before"):
            model.fit(path)
    model.set_params(ledger=knoll.Ledger(ledger, dataset="visits")).fit(folder / "part.csv")
    assert knoll.Ledger(ledger).datasets() == ["visits"]


def test_a_frame_of_known_columns_is_recognised(visits, tmp_path):
    folder, frame = visits
    ledger = tmp_path / "privacy.db"
    knoll.Lloyd(2, bounds=(0, 1), ledger=ledger).fit(folder)
    shuffled = frame.sample(frac=1.0, random_state=0).rename(columns={"b": "other"})
    for X in (frame, shuffled[["other"]], frame.to_numpy(), pl.DataFrame(frame), frame.to_numpy()[::-1]):
        with pytest.warns(knoll.privacy.LedgerWarning, match="also accounted for as 'visits'"):
            knoll.Lloyd(2, bounds=(0, 1), ledger=ledger).fit(X)
    knoll.Lloyd(2, bounds=(0, 1), ledger=knoll.Ledger(ledger, "elsewhere")).fit(frame * 0.5)  # other data: no warning
    knoll.Lloyd(2, bounds=(0, 1), ledger=ledger).fit(np.zeros((300, 2)))  # one value says nothing
    knoll.Lloyd(2, bounds=(0, 1), ledger=knoll.Ledger(ledger, "zeros")).fit(np.zeros((300, 2)))


def test_marks_do_not_reach_the_ledger_or_the_model(visits, tmp_path):
    folder, _ = visits
    ledger = tmp_path / "privacy.db"
    model = knoll.Lloyd(2, bounds=(0, 1), ledger=ledger).fit(folder)
    engine = FileEngine(folder)
    for mark in (*engine.column_marks(), *engine.file_marks):
        for file in tmp_path.glob("privacy.db*"):
            assert mark not in file.read_bytes()
        assert str(mark) not in repr(vars(model))
    assert len({*engine.column_marks(), *engine.file_marks}) == 4


def test_a_hard_link_is_the_same_file_and_names_are_names(visits, tmp_path):
    folder, _ = visits
    ledger = tmp_path / "privacy.db"
    knoll.Lloyd(2, bounds=(0, 1), ledger=ledger).fit(folder)
    os.link(folder / "part.csv", tmp_path / "other.csv")
    with pytest.raises(knoll.privacy.LedgerError, match="was accounted for as 'visits' before"):
        knoll.Lloyd(2, bounds=(0, 1), ledger=ledger).fit(tmp_path / "other.csv")
    with pytest.raises(knoll.privacy.LedgerError, match="empty"):
        knoll.Ledger(ledger, dataset="")


def test_a_new_file_is_not_taken_for_one_that_is_gone(tmp_path):
    """The file system gives the number of a removed file to the next one."""
    ledger, marks = tmp_path / "privacy.db", []
    for name in ("first", "second"):
        path = tmp_path / f"{name}.csv"
        np.savetxt(path, np.random.default_rng(len(name)).uniform(size=(50, 2)), "%.4f", ",", header="a,b", comments="")
        knoll.Lloyd(2, bounds=(0, 1), ledger=ledger).fit(path)
        marks.append(FileEngine(path).file_marks)
        path.unlink()
    assert not set(marks[0]) & set(marks[1])
    assert knoll.Ledger(ledger).datasets() == ["first", "second"]


def test_a_name_next_to_one_with_a_cap_is_remarked_on(tmp_path):
    ledger = knoll.Ledger(tmp_path / "privacy.db", "servey")
    ledger.set_cap("survey", knoll.Budget(1.0, 1e-6))
    with pytest.warns(knoll.privacy.LedgerWarning, match="'survey' has one"):
        knoll.Lloyd(2, bounds=(0, 1), ledger=ledger).fit(np.random.default_rng(0).uniform(size=(50, 2)))


def test_the_mixture_of_a_clusterer_takes_the_columns_of_its_fit(tmp_path):
    rows = np.random.default_rng(0).uniform(size=(300, 3))
    pd.DataFrame(rows, columns=["a", "b", "c"]).to_csv(tmp_path / "x.csv", index=False)
    model = knoll.Lloyd(2, bounds={"b": (0, 1), "c": (0, 1)}).fit(tmp_path / "x.csv")
    assert model.to_mixture(tmp_path / "x.csv").means.shape == (2, 2)


def test_a_local_fit_is_all_or_nothing():
    model = knoll.LocalGaussianMixture(2, epsilon=3.0, bounds=(0, 1), random_state=0)
    model.fit(pd.DataFrame(np.random.default_rng(0).uniform(size=(200, 2)), columns=["a", "b"]))
    before = dict(vars(model))

    def broken():
        yield 1
        raise KeyboardInterrupt

    client = knoll.LocalGaussianMixture(epsilon=3.0, bounds=(0, 1)).client()
    with pytest.raises(KeyboardInterrupt):
        model.fit_reports(broken(), client)
    assert vars(model) == before
    model.fit_reports([1, 2, 3] * 20, client)
    assert not hasattr(model, "feature_names_in_")
    assert repr(model.bounds_)


def test_a_reader_that_is_given_up_in_its_own_thread_ends():
    """The garbage collector may run anywhere, in the thread that reads ahead too."""
    handed, outcome = threading.Event(), []

    def blocks():
        yield 1
        handed.wait(10)
        try:
            reading.close()
        except RuntimeError as error:
            outcome.append(error)
        outcome.append(threading.current_thread().name)
        yield 2

    reading = ahead(blocks())
    assert next(reading) == 1
    handed.set()
    for _ in range(100):
        if outcome:
            break
        time.sleep(0.05)
    assert outcome == ["knoll-read_0"]
