"""Tables with something wrong in them: a clear error that names the column and no value, and nothing is spent."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

import knoll
from knoll.privacy import DataError, MemoryLedger
from knoll.privacy.errors import BoundsError

BOUNDS = {"age": (0, 110), "plan": {"a", "b"}, "when": ("2020-01-01", "2020-12-31")}
HEAD = "age,plan,when\n"
ROWS = "".join(f"{i % 90},{'ab'[i % 2]},2020-01-{1 + i % 28:02d}\n" for i in range(300))
SECRET = "zebra"


def refused(data, bounds, match, error=DataError):
    """Fit; the error matches, quotes no value, and the ledger has spent nothing."""
    ledger = MemoryLedger()
    with pytest.raises(error, match=match) as told:
        knoll.KMeans(2, bounds=bounds, ledger=ledger).fit(data)
    assert SECRET not in str(told.value)
    assert ledger.lines == []


CASES = {
    "a level that an ordered column lacks": (f"3,{SECRET},2020-01-01", {"plan": "ordered:{a,b}"}, "'plan'.*ordered"),
    "no yes or no": (f"3,{SECRET},2020-01-01", {"plan": bool}, "column 'plan'.*yes or a no"),
    "an impossible date": ("3,a,2020-02-30", BOUNDS, "column 'when'.*not a date"),
    "a date in another order": ("3,a,31.12.2020", BOUNDS, "column 'when'.*day-first"),
    "a word among numbers": (f"{SECRET},a,2020-01-01", BOUNDS, "column 'age'.*not a number"),
    "a word among plain numbers": (f"{SECRET},a,2020-01-01", {"age": (0, 110)}, "column 'age'.*not a number"),
    "a gap": ("3,,2020-01-01", BOUNDS, "column 'plan'.*missing=level"),
    "a short line": ("3,a", BOUNDS, "another number of fields"),
    "no such column": ("3,a,2020-01-01", {"weight": (0, 9)}, "no column 'weight'"),
}


@pytest.mark.parametrize("case", CASES)
def test_a_bad_line_is_refused(tmp_path, case):
    line, bounds, match = CASES[case]
    (tmp_path / "x.csv").write_text(HEAD + ROWS + line + "\n")
    refused(tmp_path / "x.csv", bounds, match)


def test_levels_that_nobody_declared_are_other(tmp_path):
    (tmp_path / "x.csv").write_text(HEAD + ROWS + f"3,{SECRET},2020-01-01\n" * 300)
    model = knoll.KMeans(2, epsilon=8.0, bounds=BOUNDS, random_state=0).fit(tmp_path / "x.csv")
    assert "plan=other" in model.bounds_.names
    assert "other" in " ".join(model.summary()["plan"])


def test_encodings_that_mix(tmp_path):
    bad = (HEAD + ROWS + "3,\u00e4,2020-01-01\n").encode() + "4,\u00e4,2020-01-01\n".encode("latin-1")
    (tmp_path / "x.csv").write_bytes(bad)
    refused(tmp_path / "x.csv", BOUNDS, "not UTF-8; .*encoding")


def test_parts_that_differ(tmp_path):
    for name, second, match in (
        ("types", f"{HEAD}{SECRET},a,2020-01-01\n", "column 'age' of 2.csv"),
        ("columns", "age,when\n3,2020-01-01\n", "no column 'plan' in 2.csv"),
        ("names", "age,plan,plan,when\n3,a,b,2020-01-01\n", "'plan' stands twice in 2.csv"),
    ):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "1.csv").write_text(HEAD + ROWS)
        (folder / "2.csv").write_text(second)
        refused(folder, BOUNDS, match)
    typed = tmp_path / "typed"
    typed.mkdir()
    pa.parquet.write_table(pa.table({"age": [1.0] * 9}), typed / "1.parquet")
    pa.parquet.write_table(pa.table({"age": ["1"] * 9}), typed / "2.parquet")
    refused(typed, {"age": "int:0:110"}, "do not agree on what column 'age' holds")


def test_names_that_stand_twice(tmp_path):
    (tmp_path / "x.csv").write_text("age," + HEAD + "".join(f"1,{line}\n" for line in ROWS.split()))
    refused(tmp_path / "x.csv", BOUNDS, "'age' stands twice")
    refused(pd.DataFrame([[1, 2, "a"]] * 9, columns=["age", "age", "plan"]), {"age": "int:0:9"}, "'age' stands twice")
    model = knoll.KMeans(1, bounds={"plan": {"a", "b"}}, random_state=0).fit(tmp_path / "x.csv")
    assert model.cluster_sizes_.sum() > 0  # names that nobody asked for may stand twice


def test_declarations_that_hold_nothing():
    table = pd.DataFrame({"when": ["2020-01-01"] * 9})
    refused(table, {"when": ("2021-01-01", "2020-01-01")}, "2021-01-01, is not before", BoundsError)
    refused(table, {"when": "log:0:5"}, "above zero", BoundsError)


def test_ten_thousand_columns(tmp_path):
    """Those that are declared are read; all of them are too many for a profile, which says so before it looks."""
    names = [f"c{j}" for j in range(10_000)]
    rows = np.random.default_rng(0).integers(0, 2, (40, len(names)))
    lines = [",".join(names), *(",".join(map(str, row)) for row in rows)]
    (tmp_path / "wide.csv").write_text("\n".join(lines) + "\n")
    model = knoll.KMeans(1, bounds={"c7": bool, "c9999": {"0", "1"}}, random_state=0).fit(tmp_path / "wide.csv")
    assert model.bounds_.names == ("c7", "c9999=0", "c9999=1", "c9999=other")
    with pytest.raises((DataError, BoundsError, ValueError), match="2,?000"):
        knoll.Profile(dict.fromkeys(names, bool)).fit(tmp_path / "wide.csv")
    table = np.zeros((5, 10_001))
    with pytest.raises(DataError, match="10001 columns without names; 10000 are declared"):
        knoll.KMeans(1, bounds=dict.fromkeys(names, bool)).fit(table)
