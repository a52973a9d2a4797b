"""Bounds as users give them."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import knoll
from knoll.privacy.errors import BoundsError, DataError
from knoll.queries import Ball, Box, domain_from


def test_bounds_as_scalars_arrays_and_dicts():
    expected = Box((0, 0), (1, 1))
    assert domain_from((0, 1), 2) == expected
    assert domain_from([0, [1, 1]], 2) == expected
    assert domain_from((np.zeros(2), np.ones(2)), 2) == expected
    assert domain_from({0: (0, 1), 1: (0, 1)}, 2) == expected
    assert domain_from({"b": (0, 2), "a": (0, 1)}, 2, ["a", "b"]) == Box((0, 0), (1, 2), ("a", "b"))
    ball = Ball(1.0, (0.0, 0.0))
    assert domain_from(ball, 2) is ball


def test_missing_bounds_explain_both_ways():
    with pytest.raises(BoundsError, match='bounds="private"') as caught:
        domain_from(None, 2)
    assert "bounds=(0, 100)" in str(caught.value)


def test_one_pair_per_column_is_read_as_such():
    """What people type first; ages from 0 to 0 and incomes from 110 to 50 were what it meant before."""
    expected = Box((0, 0), (110, 50))
    assert domain_from([(0, 110), (0, 50)], 2) == expected
    assert domain_from([[0, 110], [0, 50]], 2) == expected  # lower bounds (0, 110) would lie above upper ones (0, 50)
    assert domain_from(((0, 110), (0, 50)), 2) == expected
    assert domain_from(np.array([[0, 110], [0, 50]]), 2) == expected
    assert domain_from([(0, 110)], 1) == Box((0,), (110,))
    assert domain_from([(0, 1), (0, 2), (-1, 3)], 3) == Box((0, 0, -1), (1, 2, 3))
    assert domain_from(((0, 1), [0, 2], np.array([-1, 3])), 3, "abc") == Box((0, 0, -1), (1, 2, 3), ("a", "b", "c"))
    assert domain_from(np.array([[0, 1], [0, 2], [-1, 3]]), 3) == Box((0, 0, -1), (1, 2, 3))


def test_lower_and_upper_bounds_are_still_read_as_such():
    expected = Box((0, 10), (110, 60))
    assert domain_from(([0, 10], [110, 60]), 2) == expected
    assert domain_from((np.array([0, 10]), np.array([110, 60])), 2) == expected
    assert domain_from([[0, 10], [110, 60]], 2) == expected  # no pair (110, 60)
    assert domain_from(np.array([[0, 10], [110, 60]]), 2) == expected
    assert domain_from(([0, 50], [0, 110]), 2) == Box((0, 50), (0, 110))  # a constant column, not two pairs
    assert domain_from([(0, 1, 2), (3, 4, 5)], 3) == Box((0, 1, 2), (3, 4, 5))
    assert domain_from([(0, 1), (1, 5)], 2) == domain_from(([0, 1], [1, 5]), 2)  # both readings are the same


@pytest.mark.parametrize("bounds", [[[0, 1], [2, 3]], ((0, 1), (2, 3)), np.array([[0, 1], [2, 3]])])
def test_two_pairs_that_can_be_read_in_two_ways_are_refused(bounds):
    with pytest.raises(BoundsError, match="two ways") as caught:
        domain_from(bounds, 2)
    assert "bounds=[(0, 1), (2, 3)]" in str(caught.value)
    assert "bounds=([0, 1], [2, 3])" in str(caught.value)


def test_pairs_that_make_no_sense_are_refused():
    for bad in ([(110, 0), (0, 50)], [(0, 1), (0, "x"), (0, 1)], [(0, 1), (0, 1)], [(0, 1, 2)] * 3, [(0, 0), (1, 1)]):
        with pytest.raises(BoundsError):
            domain_from(bad, 3 if len(bad) == 3 or bad == [(0, 1), (0, 1)] else 2)


def test_messages_are_short_however_long_the_value():
    for bad in (np.zeros((384, 3)), list(range(384)), "x" * 5000, [(0, 1)] * 383, dict.fromkeys(range(384), 0)):
        with pytest.raises(BoundsError) as caught:
            domain_from(bad, 384)
        assert len(str(caught.value)) < 1000
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "model",
    [
        knoll.KMeans(np.arange(384)), knoll.KMeans(2, epsilon=np.ones(384)), knoll.KMeans(2, relation="x" * 9999),
        knoll.KernelDensity(-np.ones(384)), knoll.KMeans(2, unit=list(range(384))), knoll.KMeans(2, missing="x" * 999),
    ],
    ids=range(6),
)  # fmt: skip
def test_errors_about_parameters_are_short_too(model, rng):
    with pytest.raises(ValueError, match="=") as caught:
        model.set_params(bounds=(0, 1)).fit(rng.uniform(size=(50, 2)))
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("kind", ["array", "list", "frame", "nullable", "polars", "masked", "response", "file"])
def test_a_missing_value_is_refused_with_what_to_do_before_anything_is_spent(kind, tmp_path):
    rows = np.random.default_rng(0).uniform(size=(50, 2))
    rows[3, 1] = np.nan
    frame = pd.DataFrame(rows, columns=["a", "b"])
    frame.to_csv(tmp_path / "x.csv", index=False)
    X = {
        "array": rows, "list": rows.tolist(), "frame": frame, "nullable": frame.astype("Float64"),
        "polars": pl.from_pandas(frame), "masked": np.ma.masked_invalid(rows), "file": tmp_path / "x.csv",
        "response": rows[:, :1],
    }[kind]  # fmt: skip
    ledger = knoll.Ledger(tmp_path / "privacy.db", dataset="x")
    model = knoll.ModalRegression() if kind == "response" else knoll.KMeans(2)
    model.set_params(bounds=(0, 1), ledger=ledger)
    with pytest.raises(DataError, match='missing="drop"'):
        model.fit(X, rows[:, 1] if kind == "response" else None)
    assert not [line for line in ledger.lines() if line.entry.cost.mu_squared]


def test_rows_to_measure_with_gaps_are_told_to_be_left_out(rng):
    rows = rng.uniform(size=(50, 2))
    model = knoll.KMeans(2, bounds=(0, 1), missing="drop").fit(rows)
    with pytest.raises(DataError, match="leave such rows out first"):
        model.transform([[0.5, np.nan]])
    assert model.predict([[0.5, np.nan]]).tolist() == [-1]
