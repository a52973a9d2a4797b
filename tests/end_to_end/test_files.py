"""Files as they come: good ones, messy ones, broken ones. A broken file costs nothing."""

import gzip
import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import knoll
from knoll.datasets import write_clinic_csv
from knoll.datasets.clinic import BOUNDS
from knoll.privacy import DataError, MemoryLedger
from knoll.testing import zero_noise


@pytest.fixture
def visits(tmp_path):
    path = tmp_path / "visits.csv"
    write_clinic_csv(path, 3000)
    return path


def test_messy_csv(visits):
    model = knoll.Lloyd(4, bounds=BOUNDS, missing="drop", epsilon=2.0).fit(visits)
    assert model.feature_names_in_.tolist() == ["age", "bmi", "systolic"]
    assert model.privacy_.dataset == "visits"
    with pytest.raises(DataError, match="missing"):
        knoll.Lloyd(4, bounds=BOUNDS).fit(visits)


def test_file_folder_and_array_give_the_same_centres(tmp_path, rng):
    rows = rng.uniform(size=(4000, 2))
    table = pa.table({"a": rows[:, 0], "b": rows[:, 1]})
    (tmp_path / "parts").mkdir()
    for i in range(4):
        pa.parquet.write_table(table.slice(1000 * i, 1000), tmp_path / "parts" / f"{i}.parquet")
    pa.parquet.write_table(table, tmp_path / "all.parquet")
    with zero_noise():
        fits = [
            knoll.Lloyd(3, bounds=(0, 1), random_state=0).fit(data)
            for data in (rows, tmp_path / "all.parquet", str(tmp_path / "parts"), knoll.Source(tmp_path / "parts"))
        ]
    for other in fits[1:]:
        assert other.cluster_centers_.tobytes() == fits[0].cluster_centers_.tobytes()


def test_semicolons_compression_and_integers(tmp_path):
    text = "a;b\n" + "\n".join(f"{i % 10};{i % 7}" for i in range(500))
    (tmp_path / "x.csv").write_text(text)
    with gzip.open(tmp_path / "y.csv.gz", "wt") as file:
        file.write(text)
    with zero_noise():
        for name in ("x.csv", "y.csv.gz"):
            assert knoll.Lloyd(2, bounds=(0, 10)).fit(tmp_path / name).cluster_sizes_.sum() == 500


def bad_files(folder):
    good = pa.table({"a": np.arange(5000.0), "b": np.arange(5000.0)})
    pa.parquet.write_table(good, folder / "good.parquet")
    whole = (folder / "good.parquet").read_bytes()
    (folder / "truncated.parquet").write_bytes(whole[: len(whole) // 2])
    (folder / "no_footer.parquet").write_bytes(whole[:-8])
    damaged = bytearray(whole)
    damaged[100:20000] = os.urandom(19900)
    (folder / "damaged.parquet").write_bytes(bytes(damaged))
    (folder / "empty.parquet").write_bytes(b"")
    (folder / "empty.csv").write_bytes(b"")
    (folder / "header.csv").write_text("a,b\n")
    (folder / "text.csv").write_text("a,b\n" + "1,2\n" * 50 + "3,hunter2\n")
    (folder / "late_text.csv").write_text("a,b\n" + "1,2\n" * 500_000 + "3,hunter2\n")
    (folder / "ragged.csv").write_text("a,b\n1,2\n3,4,5\n")
    (folder / "twice.csv").write_text("a,a\n1,2\n3,4\n")
    (folder / "headless.csv").write_text("63.7,26.9\n" * 50)
    (folder / "binary.csv").write_bytes(os.urandom(5000))
    (folder / "image.png").write_bytes(b"\x89PNG")
    pa.parquet.write_table(pa.table({"a": ["x", "y"], "b": [1.0, 2.0]}), folder / "strings.parquet")
    pa.parquet.write_table(pa.table({"a": [1.0, None], "b": [1.0, 2.0]}), folder / "nulls.parquet")
    pa.parquet.write_table(good.slice(0, 0), folder / "norows.parquet")
    (folder / "empty_folder").mkdir()
    (folder / "mixed").mkdir()
    (folder / "mixed" / "a.csv").write_text("a,b\n1,2\n")
    pa.parquet.write_table(good, folder / "mixed" / "b.parquet")
    names = [p.name for p in sorted(folder.iterdir()) if p.name != "good.parquet"]
    return [*names, "missing.csv", "missing_folder/"]


def test_broken_files_are_refused_and_cost_nothing(tmp_path):
    folder = tmp_path / "bad"
    folder.mkdir()
    for name in bad_files(folder):
        ledger = MemoryLedger("d")
        with pytest.raises(DataError) as caught:
            knoll.Lloyd(2, bounds=(0, 10), ledger=ledger).fit(folder / name)
        assert ledger.lines == [], name
        assert "hunter2" not in str(caught.value), name
        assert "63.7" not in str(caught.value), name
        assert len(str(caught.value)) > 15, name


@pytest.mark.parametrize("rows", [50, 500_000])
def test_columns_that_are_not_numbers_are_named(tmp_path, rows):
    """Found while the file is opened, or blocks later."""
    path = tmp_path / "text.csv"
    path.write_text("id,a,b\n" + "x,1,2\n" * rows + "y,3,hunter2\n")
    with pytest.raises(DataError, match=r"column 'b' of text\.csv holds something that is not a number"):
        knoll.Lloyd(2, bounds={"a": (0, 10), "b": (0, 10)}).fit(path)


def test_signs_of_a_missing_value(tmp_path):
    path = tmp_path / "gaps.csv"
    signs = ["", "NA", "n/a", "NaN", "null", "None", "?", "-"]
    path.write_text("a,b\n" + "1,2\n" * 50 + "".join(f"3,{sign}\n" for sign in signs))
    with zero_noise():
        model = knoll.Lloyd(2, bounds=(0, 10), missing="drop").fit(path)
    assert model.cluster_sizes_.sum() == 50


def test_unknown_columns_are_named(tmp_path, visits):
    with pytest.raises(DataError, match="no column 'weight'.*it has patient, age"):
        knoll.Lloyd(2, bounds=(0, 1)).fit(knoll.Source(visits, ["age", "weight"]))
    with pytest.raises(DataError, match="no column 'nobody'"):
        knoll.Lloyd(2, bounds=BOUNDS, unit=knoll.User("nobody", 1)).fit(visits)


def test_users_in_a_file(visits):
    with zero_noise():
        model = knoll.Lloyd(2, bounds=BOUNDS, missing="drop", unit=knoll.User("patient", 1)).fit(visits)
    assert 1800 < model.cluster_sizes_.sum() <= 2000
