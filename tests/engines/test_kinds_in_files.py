"""Columns of declared kinds in files as people have them: encodings, delimiters, marks, sheets, patterns."""

import codecs
import datetime
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

import knoll
from knoll.columns import Columns, encode_table
from knoll.columns.draft import draft_toml
from knoll.engines.csv import Dialect
from knoll.engines.encodings import Utf8Stream
from knoll.engines.files import FileEngine
from knoll.privacy import DataError
from knoll.source import open_table

COLUMNS = Columns(
    {
        "betrag": (0, 1e6),
        "stadt": {"K\u00f6ln", "Bonn"},
        "seit": ("2020-01-01", "2024-12-31"),
        "aktiv": bool,
        "n": "int:0:9",
    }
)
HEADER = "id;betrag;stadt;seit;aktiv;n\n"
LINES = ["u1;1.234,56 \u20ac;K\u00f6ln;01.02.2020;J;3", "u2;7,5;Bonn;2021-12-31;nein;NA", 'NA;"12";"Ulm";;;4']
ROWS = [[1234.56, 1, 18293, 1, 3], [7.5, 0, 18992, 0, np.nan], [12, 2, np.nan, np.nan, 4]]


def read(path, columns=COLUMNS, **options):
    engine, _ = open_table(columns, knoll.Source(path, **options), missing="drop", unit=None)
    return np.vstack([rows for rows, _, _ in engine.read()])


@pytest.mark.parametrize(
    ("encoding", "declared"),
    [
        ("utf-8", None),
        ("utf-8-sig", None),
        ("utf-16", "utf-16"),
        ("utf-16-le", "utf-16-le"),
        ("cp1252", "windows-1252"),
        ("iso8859-15", "iso-8859-15"),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_german_file(tmp_path, encoding, declared, end):
    text = (HEADER + "\n".join(LINES) + "\n").replace("\n", end)
    (tmp_path / "x.csv").write_bytes(text.encode(encoding))
    found = read(tmp_path / "x.csv", encoding=declared, dates="day-first")
    assert np.array_equal(found, ROWS, equal_nan=True)


def test_an_encoding_that_is_not_declared_is_refused(tmp_path):
    (tmp_path / "x.csv").write_bytes((HEADER + LINES[0] + "\n").encode("cp1252"))
    with pytest.raises(DataError, match="encoding="):
        read(tmp_path / "x.csv", dates="day-first")
    for wrong in ("shift_jis", "utf-7", "iso2022_jp", "gb18030", "rot13", "nobody", "hex"):
        with pytest.raises(DataError, match="encoding="):
            read(tmp_path / "x.csv", encoding=wrong)
    (tmp_path / "y.csv").write_bytes((HEADER + LINES[0] + "\n").encode("utf-16") + b"x")
    with pytest.raises(DataError, match="looks like UTF-16"):
        read(tmp_path / "y.csv", dates="day-first")
    with pytest.raises(DataError, match="not utf-16"):
        read(tmp_path / "y.csv", dates="day-first", encoding="utf-16")


def test_recoded_bytes_come_in_pieces_of_any_size(tmp_path):
    text = "\u00e9\U0001f600x\u20ac" * 1000
    for encoding in ("utf-8-sig", "utf-16"):
        (tmp_path / "x").write_bytes(text.encode(encoding))
        for size in (1, 2, 3, 7, 1000, 10**6):
            stream, found = Utf8Stream(tmp_path / "x", encoding), b""
            while piece := stream.read(size):
                assert len(piece) <= size
                found += piece
            assert found == text.encode()


def test_large_files_in_other_encodings_keep_their_lines(tmp_path):
    lines = [f"{i};\u00e4{i % 3}" for i in range(200_000)]
    (tmp_path / "x.csv").write_bytes(("a;b\n" + "\n".join(lines) + "\n").encode("utf-16"))
    found = read(
        tmp_path / "x.csv", Columns({"a": (0, 1e6), "b": {"\u00e40", "\u00e41", "\u00e42"}}), encoding="utf-16"
    )
    assert np.array_equal(found, [[i, i % 3] for i in range(200_000)])


def test_declared_marks_reach_plain_columns(tmp_path):
    (tmp_path / "x.csv").write_text("a;b\n1.234,5;3\n2;4,25\n")
    engine = knoll.source.open_source(
        knoll.Source(tmp_path / "x.csv", decimal=","), {"a": (0, 9), "b": (0, 9)}, missing="refuse", unit=None
    )
    assert np.vstack([rows for rows, _, _ in engine.read()]).tolist() == [[1234.5, 3], [2, 4.25]]
    assert np.vstack([rows for rows, _, _ in FileEngine(tmp_path / "x.csv").read()]).tolist() == [
        [1234.5, 3],
        [2, 4.25],
    ]


def test_marks_in_plain_columns_are_read_up_to_a_width(tmp_path):
    for width in (3, 100):
        names = [f"c{j}" for j in range(width)]
        lines = [",".join(names), ",".join(["Inf", *["2"] * (width - 1)]), ",".join(['"$1,234"', *["2"] * (width - 1)])]
        (tmp_path / "x.csv").write_text("\n".join(lines))
        engine = FileEngine(tmp_path / "x.csv", missing="drop")
        if width == 3:
            assert np.vstack([block for block, _ in engine.blocks()]).tolist() == [[1234, 2, 2]]
        else:
            with pytest.raises(DataError, match="'c0' of x.csv holds something that is not a number.*knoll.Number"):
                list(engine.blocks())


def test_names_lose_the_blanks_around_them_and_a_line_may_tell_the_delimiter(tmp_path):
    texts = (
        "a, b \n1, yes\n2,no\n",
        "sep=;\na;b\n1;yes\n2;no\n",
        '"sep=,"\r\na,b\r\n1,yes\r\n2,no\r\n',
        "sep=;\n a ;b\n1;yes\n2;no\n",
    )
    for text in texts:
        (tmp_path / "x.csv").write_bytes(text.encode())
        found = read(tmp_path / "x.csv", Columns({"a": (0, 9), "b": {"yes", "no"}}))
        assert found.tolist() == [[1, 1], [2, 0]]
    (tmp_path / "x.csv").write_text("a, a\n1,2\n")
    with pytest.raises(DataError, match="'a' stands twice in x.csv; rename"):
        read(tmp_path / "x.csv", Columns({"a": (0, 9)}))
    (tmp_path / "x.csv").write_text("Report 2021,\na,b\n1,2\n")
    with pytest.raises(DataError, match="is there a title above them"):
        read(tmp_path / "x.csv", Columns({"a": (0, 9)}))


def test_numbers_that_could_be_two_are_refused_until_declared(tmp_path):
    (tmp_path / "x.csv").write_text("a;b\n1.234;yes\n")
    kinds = Columns({"a": (0, 9), "b": bool})
    with pytest.raises(DataError, match="column 'a' of x.csv holds numbers like .*decimal"):
        read(tmp_path / "x.csv", kinds)
    assert read(tmp_path / "x.csv", kinds, decimal=",").tolist() == [[1234, 1]]
    assert read(tmp_path / "x.csv", kinds, decimal=".").tolist() == [[1.234, 1]]


def test_a_declared_delimiter(tmp_path):
    (tmp_path / "x.csv").write_text("a,b^c\n1^yes\n")
    assert read(tmp_path / "x.csv", Columns({"a,b": (0, 9), "c": bool}), delimiter="^").tolist() == [[1, 1]]
    for wrong in ("", "ab", '"', "\n", "1", "\u00e4"):
        with pytest.raises(DataError, match="delimiter"):
            Dialect(wrong)


def test_ids_beside_texts_are_missing_as_before(tmp_path):
    (tmp_path / "x.csv").write_text(HEADER + "\n".join(LINES) + "\n", encoding="utf-8")
    unit, kinds = knoll.User("id", 1), Columns({"stadt": {"Bonn"}})
    source = knoll.Source(tmp_path / "x.csv")
    engine, _ = open_table(kinds, source, missing="drop", unit=unit)
    assert np.vstack([block for block, _ in engine.blocks()]).tolist() == [[1], [0]]
    with pytest.raises(DataError, match="no user id"):
        list(open_table(kinds, source, missing="refuse", unit=unit)[0].blocks())


def test_errors_name_the_column_and_the_file(tmp_path):
    (tmp_path / "x.csv").write_text("a,b\nsecret,2020-02-30\n")
    for kinds in ({"a": "int:0:1"}, {"a": bool}, {"b": ("2020-01-01", "2021-01-01")}, {"a": "cyclic:hour"}):
        with pytest.raises(DataError, match="column '[ab]' of x.csv holds something") as error:
            read(tmp_path / "x.csv", Columns(kinds))
        assert "secret" not in str(error.value)
        assert "2020-02-30" not in str(error.value)


def typed():
    return pa.table(
        {
            "betrag": pa.array([1.5, None]),
            "stadt": pa.array(["Bonn", None]).dictionary_encode(),
            "seit": pa.array([datetime.datetime(2020, 1, 1, 12), None], pa.timestamp("ms", "UTC")),
            "aktiv": pa.array([True, None]),
            "n": pa.array([3, None], pa.int8()),
        }
    )


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_typed_files_are_read_from_their_types(tmp_path, ending):
    path = tmp_path / f"x.{ending}"
    if ending == "parquet":
        pa.parquet.write_table(typed(), path)
    else:
        pa.feather.write_feather(typed(), path)
    assert read(path)[0].tolist() == [1.5, 0, 18262.5, 1, 3]
    assert np.isnan(read(path)[1]).all()
    assert np.array_equal(read(path), encode_table(COLUMNS, typed()), equal_nan=True)


def test_types_are_checked_before_a_row_is_read(tmp_path):
    pa.parquet.write_table(typed(), tmp_path / "x.parquet")
    for kinds, held in (({"seit": "int:0:1"}, "timestamp"), ({"n": ("2020-01-01", "2021-01-01")}, "int8")):
        with pytest.raises(DataError, match=f"of x.parquet holds {held}"):
            open_table(Columns(kinds), tmp_path / "x.parquet", missing="drop", unit=None)
    (tmp_path / "parts").mkdir()
    pa.parquet.write_table(typed(), tmp_path / "parts" / "0.parquet")
    pa.parquet.write_table(pa.table({"n": ["1"]}), tmp_path / "parts" / "1.parquet")
    with pytest.raises(DataError, match="do not agree on what column 'n' holds"):
        open_table(Columns({"n": "int:0:9"}), tmp_path / "parts", missing="drop", unit=None)


def test_patterns_stand_for_files(tmp_path):
    for name in ("a-1.csv", "a-2.csv", "b.csv", ".a-3.csv", "_a-4.csv", "a-5.txt"):
        (tmp_path / name).write_text("x\n1\n")
    (tmp_path / "a-6.csv").symlink_to(tmp_path / "a-1.csv")
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "a-7.csv").write_text("x\n2\n")
    assert [file.name for file in knoll.Source(tmp_path / "a-*.csv").files] == ["a-1.csv", "a-2.csv"]
    assert [file.name for file in knoll.Source(str(tmp_path / "**" / "a-?.csv")).files][-1] == "a-7.csv"
    assert [file.name for file in knoll.Source("a-[12].csv").files] == ["a-1.csv", "a-2.csv"]  # of the folder we are in
    with pytest.raises(DataError, match="holds no"):
        _ = knoll.Source(tmp_path / "c*.csv").files
    (tmp_path / "d[1].csv").write_text("x\n1\n")
    assert [file.name for file in knoll.Source(tmp_path / "d[1].csv").files] == ["d[1].csv"]


def test_a_workbook_needs_its_reader(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "fastexcel", None)
    (tmp_path / "x.xlsx").write_bytes(b"PK")
    with pytest.raises(DataError, match=r"knoll\[excel\]"):
        read(tmp_path / "x.xlsx")
    (tmp_path / "x.csv").write_text("a\n1\n")
    assert [file.name for file in knoll.Source(tmp_path).files] == ["x.csv"]  # a workbook beside data is not data
    (tmp_path / "readme.txt").write_text("about x")
    assert [file.name for file in knoll.Source(tmp_path).files] == ["x.csv"]  # nor is a text
    (tmp_path / "y.txt").write_text("a\tb\n1\tyes\n")
    assert read(tmp_path / "y.txt", Columns({"a": (0, 9), "b": bool})).tolist() == [[1, 1]]


def ods(path, rows):
    """Write a workbook of OpenDocument: cells as a spreadsheet program has them, dates shown in another order."""

    def cell(value):
        shown = f"<text:p>{value}</text:p>"
        if isinstance(value, bool):
            about = f'"boolean" office:boolean-value="{str(value).lower()}"'
        elif isinstance(value, float | int):
            about = f'"float" office:value="{value}"'
        elif isinstance(value, datetime.date):
            about, shown = f'"date" office:date-value="{value}"', f"<text:p>{value:%d.%m.%y}</text:p>"
        else:
            about = '"string"'
        return f"<table:table-cell office:value-type={about}>{shown}</table:table-cell>"

    spaces = "".join(
        f' xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in ("office", "table", "text")
    )
    lines = "".join(f"<table:table-row>{''.join(map(cell, row))}</table:table-row>" for row in rows)
    sheet = f'<office:spreadsheet><table:table table:name="a">{lines}</table:table></office:spreadsheet>'
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        content = f"<office:document-content{spaces}><office:body>{sheet}</office:body></office:document-content>"
        file.writestr("content.xml", '<?xml version="1.0" encoding="UTF-8"?>' + content)
        space = "urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"
        file.writestr("META-INF/manifest.xml", f'<?xml version="1.0"?><a:manifest xmlns:a="{space}"></a:manifest>')


def test_a_workbook_of_opendocument(tmp_path):
    pytest.importorskip("fastexcel")
    rows = [(1234.5, "Bonn", datetime.date(2020, 2, 1), True, 3), (7.25, "Ulm", datetime.date(2021, 3, 4), False, 4)]
    ods(tmp_path / "x.ods", [("betrag", "stadt", "seit", "aktiv", "n"), *rows])
    assert read(tmp_path / "x.ods").tolist() == [[1234.5, 0, 18293, 1, 3], [7.25, 2, 18690, 0, 4]]


def test_a_workbook_of_old(tmp_path):
    pytest.importorskip("fastexcel")
    xlwt = pytest.importorskip("xlwt")
    book = xlwt.Workbook()
    sheet, shown = book.add_sheet("one"), xlwt.easyxf(num_format_str="DD.MM.YY")
    rows = [(1234.5, "Bonn", datetime.date(2020, 2, 1), True, 3), (None, " Ulm", None, False, 4)]
    for i, row in enumerate([("betrag", "stadt", "seit", "aktiv", "n"), *rows]):
        for j, value in enumerate(row):
            if value is not None:
                sheet.write(i, j, value, *([shown] if isinstance(value, datetime.date) else []))
    book.add_sheet("two").write(0, 0, "not read")
    book.save(str(tmp_path / "x.xls"))
    expected = [[1234.5, 0, 18293, 1, 3], [np.nan, 2, np.nan, 0, 4]]
    assert np.array_equal(read(tmp_path / "x.xls"), expected, equal_nan=True)
    (tmp_path / "y.xls").write_bytes(codecs.BOM_UTF8)
    with pytest.raises(DataError, match="cannot be read"):
        read(tmp_path / "y.xls")


def test_a_workbook(tmp_path):
    pytest.importorskip("fastexcel")
    pytest.importorskip("xlsxwriter")
    import polars as pl

    when = [datetime.date(2020, 2, 1), None]
    frame = {"betrag": [1234.5, None], "stadt": ["Bonn", " Ulm"], "seit": when, "aktiv": [True, False], "n": [3, 4]}
    pl.DataFrame(frame).write_excel(tmp_path / "x.xlsx")
    assert np.array_equal(
        read(tmp_path / "x.xlsx"), [[1234.5, 0, 18293, 1, 3], [np.nan, 2, np.nan, 0, 4]], equal_nan=True
    )
    (tmp_path / "y.xlsx").write_bytes(codecs.BOM_UTF8)
    with pytest.raises(DataError, match="cannot be read"):
        read(tmp_path / "y.xlsx")


def test_a_title_in_a_workbook_is_named_as_the_cause(tmp_path):
    pytest.importorskip("fastexcel")
    xlsxwriter = pytest.importorskip("xlsxwriter")
    with xlsxwriter.Workbook(tmp_path / "x.xlsx") as book:
        sheet = book.add_worksheet()
        sheet.merge_range("A1:C1", "Quarterly report")
        sheet.write_row(1, 0, ["betrag", "stadt", "n"])
        sheet.write_row(2, 0, [1, "Bonn", 2])
    with pytest.raises(DataError, match="is there a title"):
        read(tmp_path / "x.xlsx", Columns({"betrag": (0, 9)}))
    with pytest.raises(DataError, match="is there a title"):
        draft_toml(tmp_path / "x.xlsx")


def test_a_line_of_units_under_the_names_is_refused(tmp_path):
    (tmp_path / "x.csv").write_text("temp;n\n\u00b0C;\n36,5;2\n", encoding="utf-8")
    with pytest.raises(DataError, match="column 'temp' of x.csv holds .* a line of units"):
        read(tmp_path / "x.csv", Columns({"temp": (30, 45), "n": "int:0:9"}))
