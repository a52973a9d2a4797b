"""Where remarks go: warnings, notebooks, files. And that they come from released values alone."""

import pickle
import warnings
from dataclasses import FrozenInstanceError

import numpy as np
import pandas as pd
import pytest

import knoll
from knoll.diagnose.bounds import too_wide
from knoll.diagnose.facts import Facts
from knoll.diagnose.groups import not_seen
from knoll.testing import recorded_noise, replayed_noise
from tests.contract.registry import ESTIMATORS, make_estimator
from tests.diagnose.registry import PEOPLE, good, people, three


def rows(d=2, n=400):
    return np.random.default_rng(0).uniform(-1, 1, size=(n, d))


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_estimator_is_diagnosed_from_released_values_alone(name):
    X = rows()
    with recorded_noise() as transcript:
        first = make_estimator(name, 2).fit(X)
    with replayed_noise(transcript):
        second = make_estimator(name, 2).fit(np.vstack([X, [[1e9, -1e9]]]))
    assert isinstance(first.diagnostics_, tuple)
    assert first.diagnostics_ == second.diagnostics_
    assert "seeded-noise" in [each.code for each in first.diagnostics_]
    assert getattr(first, "quality_", None) == getattr(second, "quality_", None)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_remarks_and_quality_survive_pickling_and_files(name, tmp_path):
    model = make_estimator(name, 2).fit(rows())
    knoll.save(model, tmp_path / "model.json")
    for copy in (pickle.loads(pickle.dumps(model)), knoll.load(tmp_path / "model.json")):
        assert copy.diagnostics_ == model.diagnostics_
        assert getattr(copy, "quality_", None) == getattr(model, "quality_", None)


def test_local_mixtures_are_diagnosed():
    model = knoll.LocalGaussianMixture(2, epsilon=3.0, bounds=(-10, 10), random_state=0).fit(three(0)[:, :1])
    assert isinstance(model.diagnostics_, tuple)


def test_one_warning_lists_all():
    frame = people(0, 3000, user_id=1)
    with pytest.warns(knoll.DiagnosticWarning) as caught:
        model = knoll.KMeans(2, bounds={**PEOPLE, "user_id": (0, 3000), "age": (0, 1)}, scale_by_bounds=False).fit(
            frame
        )
    assert len(caught) == 1
    assert caught[0].filename == __file__
    said = str(caught[0].message)
    assert said.startswith("KMeans")
    for each in model.diagnostics_:
        assert (each.message in said) == (each.severity != "info")
    assert {"id-as-feature", "raw-units"} <= {each.code for each in model.diagnostics_}


def test_nothing_is_warned_of_if_there_is_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert good(0).diagnostics_ == ()


def test_a_fit_whose_warning_is_an_error_is_complete():
    model = knoll.KMeans(2, bounds={**PEOPLE, "user_id": (0, 6000)})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(knoll.DiagnosticWarning):
            model.fit(people(0, user_id=1))
    assert model.diagnostics_
    assert model.privacy_.spent_epsilon > 0


def test_notebooks_show_remarks_and_statement_escaped():
    frame = people(0, 3000).rename(columns={"age": "<script>_id"})
    model = knoll.KMeans(2, bounds={"<script>_id": (0, 110), "income": (0, 2e5)})
    assert "knoll-diagnostics" not in model._repr_html_()
    shown = model.fit(frame)._repr_html_()
    assert "id-as-feature" in shown
    assert "&lt;script&gt;_id" in shown.split("<div class='knoll'>")[1]
    assert "<script>_id" not in shown.split("<div class='knoll'>")[1]
    assert "Spent: epsilon" in shown
    assert model._repr_mimebundle_()["text/html"].count("knoll-diagnostics") == 1


@pytest.mark.parametrize("name", ["KMeans", "GaussianMixture", "KernelDensity"])
def test_every_family_shows_itself(name):
    model = make_estimator(name, 2).fit(rows())
    assert "Spent: epsilon" in model._repr_html_()


def test_remarks_are_frozen():
    remark = knoll.Diagnostic("raw-units", "warning", "a", "b")
    with pytest.raises(FrozenInstanceError):
        remark.code = "x"
    assert str(remark) == "warning: a b [raw-units]"


def test_columns_of_zeros_and_ones_are_not_cut():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"sex": rng.integers(2, size=6000), "age": np.clip(rng.normal(50, 10, 6000), 0, 110)})
    for k in (2, 4):
        model = knoll.KMeans(k, bounds={"sex": (0, 1), "age": (0, 110)}, scale_by_bounds=True).fit(table)
        assert "centres-on-bounds" not in [each.code for each in model.diagnostics_]


def test_modes():
    empty = knoll.ModeSeeking(bounds=(-10, 10), epsilon=0.05).fit(three(0, 30))
    assert [each.severity for each in empty.diagnostics_ if each.code == "clusters-not-seen"] == ["error"]
    clear = knoll.ModeSeeking(bounds=(-10, 10)).fit(three(0))
    assert clear.diagnostics_ == ()
    cut = knoll.ModeSeeking(bounds=(-10, -4.9)).fit(np.full((4000, 1), 3.0))
    assert "centres-on-bounds" in [each.code for each in cut.diagnostics_]


def test_severities_by_meaning():
    nothing = knoll.Lloyd(8, bounds=(-1, 1), epsilon=0.01).fit(rows(n=50))
    assert "error" in {each.severity for each in nothing.diagnostics_ if each.code == "clusters-not-seen"}
    half = knoll.KMeans(60, bounds=(-10, 10), random_state=0).fit(three(0, 3000))
    assert "warning" in {each.severity for each in half.diagnostics_ if each.code == "clusters-not-seen"}


def test_many_zeros_are_not_cut():
    rng = np.random.default_rng(0)
    gains = np.where(rng.random(6000) < 0.08, rng.uniform(3000, 20_000, 6000), 0.0)
    table = pd.DataFrame({"gain": gains, "age": np.clip(rng.normal(45, 15, 6000), 0, 110)})
    for k in (1, 2, 5):
        model = knoll.KMeans(k, bounds={"gain": (0, 100_000), "age": (0, 110)}, scale_by_bounds=True).fit(table)
        assert "centres-on-bounds" not in [each.code for each in model.diagnostics_]


@pytest.mark.parametrize("bounds", [{"age": (0, 1), "bmi": (10, 60)}, {"age": (0, 45), "bmi": (10, 60)}])
def test_clusters_from_a_grid_are_on_bounds_if_they_are_in_its_outermost_cells(bounds):
    rng = np.random.default_rng(0)
    old = rng.random(6000) < 0.5
    table = pd.DataFrame({"age": rng.normal(np.where(old, 70, 30), 5), "bmi": rng.normal(np.where(old, 30, 22), 2)})
    codes = [each.code for each in knoll.MorseClustering(2, bounds=bounds).fit(table).diagnostics_]
    assert "centres-on-bounds" in codes
    assert "bounds-too-wide" not in codes


def test_bounds_that_cut_all_records_are_not_called_wide():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"age": rng.uniform(20, 80, 5000), "bmi": rng.normal(25, 4, 5000)})
    codes = [each.code for each in knoll.KMeans(3, bounds={"age": (0, 1), "bmi": (10, 60)}).fit(table).diagnostics_]
    assert "centres-on-bounds" in codes
    assert "bounds-too-wide" not in codes


def centres(at, **more):
    """Facts of a method that releases centres alone, in bounds from 0 to 100."""
    at = np.array(at)
    k, d = at.shape
    known = {
        "names": ("a", "b", "c")[:d], "lower": np.zeros(d), "upper": np.full(d, 100.0), "ball": False,
        "raw_units": False, "warning": "", "in_doubt": np.zeros(d, dtype=bool), "at": at,
        "errors": np.full((k, d), 0.1), "sizes": np.full(k, 100.0), "seen": np.ones(k, dtype=bool),
    }  # fmt: skip
    return Facts(**known | more)


@pytest.mark.parametrize(
    ("at", "said"),
    [
        ([[40.0, 20.0], [40.5, 70.0]], False),  # two centres agree in one column by chance
        ([[40.0, 20.0], [40.5, 20.5]], True),
        ([[40.0, 20.0], [40.5, 70.0], [41.0, 50.0]], True),
        ([[40.0, 20.0]], False),
    ],
)
def test_centres_alone_show_wide_bounds_if_they_agree_and_not_by_chance(at, said):
    assert (too_wide(centres(at)) is not None) == said
    assert too_wide(centres(at, errors=np.full(np.shape(at), 5.0))) is None  # nor by noise


def test_one_centre_with_all_records_may_be_the_fault_of_the_bounds():
    one = centres([[40.0, 20.0], [10.0, 70.0], [90.0, 50.0]], seen=np.array([True, False, False]))
    assert "narrower" in not_seen(one).advice
    assert "narrower" not in not_seen(centres(one.at, seen=np.array([True, True, False]))).advice


def test_a_notebook_shows_the_picture_of_a_fitted_model():
    model = knoll.KMeans(2, bounds=(-9, 9), random_state=0)
    assert "data:image/png" not in model._repr_mimebundle_()["text/html"]
    X = np.random.default_rng(0).normal([[-4, 0], [4, 0]], 1, size=(500, 2, 2)).reshape(-1, 2)
    assert model.fit(X)._repr_mimebundle_()["text/html"].count("data:image/png;base64,") == 1
