"""Plans by simulation: found, loss, error bars and risk against epsilon."""

import re

import numpy as np
import pandas as pd
import pytest

import knoll
from knoll.planning import made
from knoll.planning.made import made_up, mean_loss, share_found
from knoll.privacy import PrivacyError


@pytest.fixture(scope="module")
def plan():
    return knoll.simulate_plan(5000, 3, [2, 5], epsilons=[0.001, 0.1, 1.0], runs=3)


def test_more_budget_gives_a_better_result(plan):
    for k in (2, 5):
        weak, _, strong = [each for each in plan.expected if each.k == k]
        assert weak.found < 0.9 < strong.found
        assert strong.excess_loss < 0.01 < 0.1 < weak.excess_loss
        assert strong.center_stderr < 0.01
        assert strong.size_stderr < weak.size_stderr
        assert 0.5 < weak.right < strong.right < 0.56


def test_the_recommended_epsilon_is_the_smallest_that_will_do(plan):
    assert plan.recommended in (0.1, 1.0)
    assert all(each.will_do for each in plan.at(plan.recommended))
    assert not all(each.will_do for each in plan.at(0.001))
    assert f"epsilon = {plan.recommended:g} is the smallest" in str(plan)


def test_a_plan_can_be_repeated_printed_drawn_and_framed(plan):
    again = knoll.simulate_plan(5000, 3, [2, 5], epsilons=[0.001, 0.1, 1.0], runs=3)
    assert again == plan
    frame = pd.DataFrame(plan.table)
    assert len(frame) == 6
    assert {"k", "epsilon", "found", "excess_loss", "center_stderr", "size_stderr", "right"} <= set(frame)
    assert len(plan.plot().axes) == 4
    text = str(plan)
    assert text.startswith(
        "Simulated: 5,000 records in 3 columns, 2 or 5 clusters at least 5 standard deviations apart."
    )
    assert "50 % sure that you are in the data" in text


def test_nothing_will_do():
    plan = knoll.simulate_plan(100, 8, 20, epsilons=[0.01], runs=1)
    assert plan.recommended is None
    assert "No epsilon up to 0.01 will do" in str(plan)
    assert len(plan.plot().axes) == 4


def test_a_public_stand_in_is_read_with_its_bounds_and_spends_nothing(tmp_path, rng, monkeypatch):
    file = tmp_path / "public.csv"
    frame = pd.DataFrame({"age": rng.choice([20.0, 40.0, 70.0], 3000) + rng.normal(size=3000), "note": "x"})
    frame["bmi"] = 20 + rng.normal(size=3000)
    frame.loc[0, "bmi"] = np.nan
    frame.to_csv(file, index=False)
    plan = knoll.simulate_plan(k=3, like=file, bounds={"age": (0, 110), "bmi": (10, 60)}, epsilons=[1.0], runs=2)
    assert plan.expected[0].found == 1.0
    assert "2,999 records in 2 columns, 3 clusters of a public stand-in" in plan.description
    assert list(tmp_path.iterdir()) == [file]
    assert not plan.notes
    fewer = knoll.simulate_plan(500, k=3, like=frame[["age", "bmi"]], epsilons=[1.0], runs=1)
    assert fewer.records == 500
    assert "own range" in fewer.notes[0]
    monkeypatch.setattr("knoll.planning.made.MOST_ROWS", 1000)
    cut = knoll.simulate_plan(k=2, like=frame[["age", "bmi"]], epsilons=[1.0], runs=1)
    assert "Fitted 1,000 records, to save time; 2,999" in cut.notes[1]


def test_users_with_several_records_cost_more():
    one, four = (knoll.simulate_plan(2000, 2, 3, epsilons=[0.5], runs=1, cap=cap).expected[0] for cap in (1, 4))
    assert four.size_stderr > one.size_stderr
    assert four.center_stderr > 2 * one.center_stderr


def test_other_methods_and_pure_privacy():
    for method in (knoll.Lloyd(), knoll.MorseClustering(n_subclusters=6)):
        plan = knoll.simulate_plan(3000, 2, 3, epsilons=[4.0], delta=0.0, runs=1, estimator=method)
        assert plan.expected[0].right == pytest.approx(np.exp(4) / (1 + np.exp(4)))
        assert type(method).__name__ in plan.description
        assert method.epsilon == 1.0  # the user's own estimator is not touched


def test_large_data_is_cut_and_time_is_limited(monkeypatch):
    monkeypatch.setattr("knoll.planning.simulate.MOST_ROWS", 1000)
    plan = knoll.simulate_plan(10**9, 2, 2, epsilons=[1.0], runs=50, seconds=0.0)
    assert plan.records == 1000
    assert plan.expected[0].runs == 1
    assert "Fitted 1,000 records" in plan.notes[0]
    assert "1 of 50 runs" in plan.notes[1]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"rows": 20, "dims": 2, "k": 50}, "50 clusters are more than 20 records"),
        ({"rows": 10**6, "dims": 2, "k": 5000}, "of a simulation"),
        ({"rows": 0, "dims": 2}, "rows=0"), ({"rows": 100, "dims": 2, "k": 2.5}, "k=2.5"), ({"k": 5}, "stand-in"),
        ({"rows": 100, "dims": 2, "k": []}, "at least one"),
        ({"rows": 100, "dims": 2, "separation": 0.0}, "separation"),
        ({"rows": 100, "dims": 2, "epsilons": [-1.0]}, "positive"), ({"rows": 100, "dims": 2, "runs": 0}, "runs=0"),
    ],
    ids=str,
)  # fmt: skip
def test_mistakes_are_named(given, says):
    with pytest.raises(PrivacyError, match=re.escape(says)):
        knoll.simulate_plan(**given)


@pytest.mark.parametrize(("dims", "k", "separation"), [(1, 4, 5.0), (2, 15, 3.0), (16, 5, 5.0), (3, 1, 5.0)])
def test_made_up_clusters_are_as_described(dims, k, separation):
    trial = made_up(20_000, dims, k, separation, np.random.RandomState(0))
    assert ((trial.rows > 0) & (trial.rows < 1)).all()
    assert trial.centres.shape == (k, dims)
    deviation = (trial.loss / dims) ** 0.5  # k-means may cut overlapping clusters a little short
    if k > 1:
        gap = made._nearest_gaps(trial.centres).min()
        assert gap / deviation == pytest.approx(separation, rel=0.15)


def test_no_found_centre_serves_two_clusters():
    centres = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 3.0]])
    assert share_found(centres, centres) == 1.0
    assert share_found(centres, np.array([[0.49, 0.0], [0.4, 0.0], [0.0, 3.9]])) == pytest.approx(2 / 3)
    assert share_found(centres, np.array([[0.5, 0.0]])) == 0.0
    assert mean_loss(centres, centres[:1]) == pytest.approx(10 / 3)
