"""Model files of other formats: earlier ones are read, with a warning; later ones are refused, and say what to do."""

import json
from pathlib import Path

import numpy as np
import pytest

import knoll
from knoll.earlier import FORMAT
from knoll.privacy import DataError
from tests.contract.registry import ESTIMATORS, make_estimator

GENUINE = sorted((Path(__file__).parent / "formats").glob("*-1.json"))  # written by a knoll of format 1
SINCE = {  # what files of format 1 lack
    "clusters_seen_", "components_seen_", "n_clusters_candidates_", "n_components_candidates_", "cluster_variances_",
}  # fmt: skip


def as_first(document):
    """Return a document as a knoll of format 1 wrote it."""
    inner = {
        name: as_first(value) if isinstance(value, dict) else value
        for name, value in document["parameters"].items()
        if name != "drop_unseen"
    }
    old = {name: value for name, value in document.items() if name not in ("version", "bounds_in_doubt", "quality")}
    if "fitted" in old:
        old |= {"knoll": 1, "fitted": {name: each for name, each in old["fitted"].items() if name not in SINCE}}
    return {**old, "parameters": inner}


@pytest.fixture(scope="module")
def rows():
    centre = np.array([[-0.5, -0.5], [0.5, 0.5]])
    return np.random.default_rng(0).normal(np.repeat(centre, 300, axis=0), 0.1)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_files_of_the_first_format_are_read(name, rows, tmp_path):
    path = tmp_path / "model.json"
    model = make_estimator(name, 2).fit(rows)
    knoll.save(model, path)
    today = json.loads(path.read_text())
    assert today["knoll"] == FORMAT
    path.write_text(json.dumps(as_first(today)))
    with pytest.warns(UserWarning, match="earlier knoll"):
        again = knoll.load(path)
    for each in set(model._published) - SINCE:
        assert np.array_equal(getattr(again, each), getattr(model, each))
    if hasattr(model, "predict"):
        assert np.array_equal(again.predict(rows), model.predict(rows))
    assert isinstance(again.diagnostics_, tuple)
    knoll.save(again, path)  # as one of today's
    assert json.loads(path.read_text())["knoll"] == FORMAT
    assert np.array_equal(getattr(knoll.load(path), "clusters_seen_", 0), getattr(again, "clusters_seen_", 0))


@pytest.mark.parametrize("path", GENUINE, ids=lambda path: path.stem)
def test_genuine_files_are_read(path, rows):
    with pytest.warns(UserWarning, match="format 1"):
        model = knoll.load(path)
    labels = model.predict(rows)
    assert labels[0] != labels[-1]
    assert model._repr_html_()
    assert len(GENUINE) == 2


def test_only_clusters_above_their_noise_are_marked_as_seen(tmp_path):
    document = json.loads(GENUINE[0].read_text())
    document["fitted"]["cluster_sizes_"] = [300.0, 10.0, 10.0]
    document["fitted"]["cluster_sizes_stderr_"] = [10.0, 10.0, None]
    path = tmp_path / "model.json"
    path.write_text(json.dumps(document))
    with pytest.warns(UserWarning, match="format 1"):
        model = knoll.load(path)
    assert model.clusters_seen_.tolist() == [True, False, False]


@pytest.mark.parametrize(("by", "told"), [("7.1.0", "knoll 7.1.0"), (None, "another knoll"), ([1], "another knoll")])
def test_a_later_format_is_refused_and_says_what_to_do(by, told, tmp_path):
    path = tmp_path / "model.json"
    path.write_text(json.dumps({"knoll": FORMAT + 1, "version": by}))
    with pytest.raises(DataError, match=rf"written by {told}, in format {FORMAT + 1}.*Install a later knoll"):
        knoll.load(path)


@pytest.mark.parametrize("given", [0, -1, True, "2", None, 2.0, 10**400])
def test_what_is_no_format_is_damaged(given, tmp_path):
    path = tmp_path / "model.json"
    path.write_text(json.dumps({"knoll": given}))
    with pytest.raises(DataError, match="does not tell its format"):
        knoll.load(path)
