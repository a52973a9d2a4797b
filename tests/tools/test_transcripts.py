"""Transcripts: they repeat, they notice, and no estimator is left out."""

import copy
import sys
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

import knoll

TOOLS = Path(__file__).resolve().parents[2] / "tools"
NOTHING = {"queries": {}, "attributes": {}, "methods": {}}
QUICK = "Lloyd | blobs_2 | "


@pytest.fixture(scope="module")
def tool():
    sys.path.insert(0, str(TOOLS))
    try:
        import transcript_run
        import transcripts
    finally:
        sys.path.remove(str(TOOLS))
    return transcripts, transcript_run


@pytest.fixture
def quick(tool):
    """A case, and its transcript."""
    name = next(name for name in tool[1].CASES if name.startswith(QUICK))
    return name, tool[1].run(name)


def found(tool, before, after, **names):
    return [(kind, path) for kind, path, *_ in tool[0].differences(before, after, NOTHING | names)]


def test_no_estimator_relation_or_law_is_left_out(tool):
    names = list(tool[1].CASES)
    estimators = {name for name in knoll.__all__ if hasattr(getattr(knoll, name), "fit")}
    assert estimators <= {name.split(" | ")[0] for name in names} | {"LocalGaussianMixture"}
    assert any(name.startswith("LocalGaussianMixture") for name in names)
    behind_the_door = {tuple(name.split(" | ")) for name in names if not name.endswith("| reports")}
    for variant, relation, law in product(
        {case[0] for case in behind_the_door}, ("add_remove", "replace_special", "replace_one"), ("gaussian", "laplace")
    ):
        assert any((case[0], *case[2:]) == (variant, relation, law) for case in behind_the_door), variant


def test_a_transcript_repeats(tool, quick):
    name, record = quick
    assert "error" not in record
    assert len(record["totals"]) == len(record["releases"]) == 5
    assert found(tool, record, tool[1].run(name)) == []


def test_any_change_is_noticed(tool, quick):
    record = quick[1]
    for change in ("releases", "totals"):
        for i in range(len(record[change][2])):
            after = copy.deepcopy(record)
            after[change][2][i] = "other"
            assert found(tool, record, after) == [("changed", f"{change}.2.{tool[0].FIELDS[change][i]}")]
    for room in ("fitted", "methods", "privacy"):
        for key in record[room]:
            after = copy.deepcopy(record)
            after[room][key] = "other"
            assert found(tool, record, after) == [("changed", f"{room}.{key}")]
            del after[room][key]
            assert found(tool, record, after) == [("gone", f"{room}.{key}")]
            assert found(tool, after, record) == [("new", f"{room}.{key}")]


def test_the_exact_totals_are_those_of_the_records(tool, monkeypatch):
    """A record that moves shows in the totals, under the same noise."""
    name = next(name for name in tool[1].CASES if name.startswith(QUICK))
    before = tool[1].run(name)
    model, data = tool[1].CASES[name].make()
    moved = data.X.copy()
    moved[0] += 0.5
    monkeypatch.setattr(type(tool[1].CASES[name]), "make", lambda case: (model, replace(data, X=moved)))
    paths = [path for _, path in found(tool, before, tool[1].run(name))]
    assert "totals.0.exact" in paths
    assert "totals.0.noisy" in paths
    assert not any(path.startswith("releases") for path in paths)


def test_new_names_are_understood(tool, quick):
    record = quick[1]
    after = copy.deepcopy(record)
    after["fitted"]["sizes_"] = after["fitted"].pop("cluster_sizes_")
    for release in after["releases"]:
        release[0] = "moments"
    names = {"queries": {record["releases"][0][0]: "moments"}, "attributes": {"cluster_sizes_": "sizes_"}}
    assert len(found(tool, record, after)) == 7
    assert found(tool, record, after, **names) == []
    assert (
        tool[0].renamed_query("kernel values, each of 4 parts", {"kernel values": "steps"}) == "steps, each of 4 parts"
    )
    assert tool[0].renamed_path("series_.totals", {"series_.totals": "sum_"}) == "sum_"


def test_what_is_meant_is_told_apart(tool, quick, capsys):
    name, record = quick
    after = copy.deepcopy(record)
    after["fitted"]["n_clusters_confidence_"] = "1.0"
    meant = {"gone": {}, "changed": {}, "new": {"Lloyd*: fitted.n_clusters_confidence_": "nothing is lost"}}
    none = {"gone": {}, "changed": {}, "new": {}}
    assert tool[0].report({name: record}, {name: after}, NOTHING, none) == 1
    assert "n_clusters_confidence_" in capsys.readouterr().out
    assert tool[0].report({name: record}, {name: after}, NOTHING, meant) == 0
    assert "nothing is lost" in capsys.readouterr().out


def test_files_go_there_and_back(tool, quick, tmp_path):
    name, record = quick
    tool[0].write(tmp_path / "a.json", {name: record})
    back = tool[0].read(tmp_path / "a.json", "")
    assert found(tool, record, back[name]) == []
    assert tool[0].read(tmp_path / "a.json", "no such case") == {}
