"""How a value is written is not published: models and pages are the same bytes."""

import decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest

import knoll
from knoll.testing import seeded_noise

N, AT = 300, 7
BOUNDS = {
    "age": knoll.Whole(18, 100, missing="drop"),
    "income": knoll.Log(100, 1e6, missing="impute"),
    "plan": knoll.Category("a", "b", missing="level"),
    "smoker": knoll.Boolean(missing="drop"),
    "day": knoll.Date("2010-01-01", "2024-12-31", missing="drop"),
}
PAIRS = {  # two records that are the same to a model, or both left out
    "a number": ({"age": 50}, {"age": " $50.00"}),
    "a decimal": ({"age": 50}, {"age": decimal.Decimal("50.0")}),
    "far outside": ({"age": 100, "day": "2024-12-31"}, {"age": 10**17, "day": "9999-12-31"}),
    "an unknown level": ({"plan": "x"}, {"plan": "a level that one person has"}),
    "a missing level": ({"plan": None}, {"plan": "n/a"}),
    "a word": ({"smoker": True}, {"smoker": "ja"}),
    "a date": ({"day": "2015-05-01"}, {"day": "May 1, 2015"}),
    "left out": ({"age": None}, {"day": None, "plan": "secret", "income": 3.0}),
    "a gap": ({"income": None}, {"income": float("nan")}),
}


def made(change):
    rng = np.random.default_rng(0)
    table = {
        "age": rng.integers(20, 90, N).tolist(),
        "income": rng.lognormal(10, 1, N).round(2).tolist(),
        "plan": rng.choice(["a", "b"], N).tolist(),
        "smoker": rng.choice([True, False], N).tolist(),
        "day": [f"20{year}-05-01" for year in rng.integers(10, 24, N)],
    }
    for name, value in change.items():
        table[name][AT] = value
    return table


def tables(change, folder):
    """The same table in every form that can hold it."""
    table = made(change)
    frame = pd.DataFrame(table)
    yield "dict", table
    yield "pandas", frame
    yield "nullable", frame.convert_dtypes()
    yield "records", [{**row, f"only of {i}": 1} for i, row in enumerate(frame.to_dict("records"))]
    yield "polars", pl.DataFrame(table, strict=False)
    frame.to_csv(folder / "x.csv", index=False)
    yield "csv", folder / "x.csv"


def published(model, X, folder):
    """All that a fit gives away; of synthetic rows, which are drawn by chance, their types."""
    with seeded_noise(3):
        model.fit(X)
        knoll.save(model, folder / "model.json")
        model.report(folder / "report.html", command="knoll")
        texts = [(folder / name).read_bytes() for name in ("model.json", "report.html")]
        sample = model.sample(20) if hasattr(model, "sample") else None
    return [*texts, str(model.summary(None)), str(getattr(sample, "dtypes", None))]


@pytest.mark.parametrize("case", PAIRS)
def test_how_a_value_is_written_is_not_published(case, tmp_path):
    one, other = PAIRS[case]
    for (form, first), (_, second) in zip(tables(one, tmp_path), tables(other, tmp_path), strict=True):
        if form == "csv":  # both would lie in the same file
            pd.DataFrame(made(one)).to_csv(tmp_path / "x.csv", index=False)
        before = published(knoll.KMeans(2, bounds=BOUNDS, random_state=0), first, tmp_path)
        if form == "csv":
            pd.DataFrame(made(other)).to_csv(tmp_path / "x.csv", index=False)
        assert published(knoll.KMeans(2, bounds=BOUNDS, random_state=0), second, tmp_path) == before, form


def test_a_record_that_counts_is_published_through_the_door(tmp_path):
    before = published(knoll.KMeans(2, bounds=BOUNDS, random_state=0), made({"age": 20}), tmp_path)
    assert published(knoll.KMeans(2, bounds=BOUNDS, random_state=0), made({"age": 90}), tmp_path) != before


def test_a_profile_does_not_tell_how_values_are_written(tmp_path):
    for case in ("a number", "far outside", "an unknown level", "a missing level", "a word", "a date", "a gap"):
        first, second = (published(knoll.Profile(BOUNDS), made(each), tmp_path) for each in PAIRS[case])
        assert first == second, case
