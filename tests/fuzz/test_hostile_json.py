"""Models, clients and reports that strangers wrote: refused by a typed error, or harmless. 5,000 documents in a run."""

import json
import os
import pickle
import random
import subprocess
import sys
import textwrap
import time
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import knoll
from knoll.cli.local import read_lines
from knoll.cli.main import app
from knoll.document import parse
from knoll.local import LocalGaussianMixture, Noisy, SquareWave, Unary, Waves, client_from_dict
from knoll.local.reports import read_reports
from knoll.privacy import BoundsError, DataError, PrivacyError
from tests.contract.channels import respects_its_epsilon
from tests.fuzz.hostile import ABSURD, TEXTS, VALUES, WHOLE, spoiled

MODELS_EACH, CLIENTS_EACH, REPORTS_EACH = 400, 320, 160  # 7 x 400 + 5 x 320 + 5 x 160 = 5,200 documents
LONGEST = 3.0  # seconds for one document, on a busy machine
TYPED = (DataError, PrivacyError, BoundsError)
ROWS = np.random.default_rng(0).uniform(-1, 1, size=(60, 2))

MODELS = {
    "Lloyd": knoll.Lloyd(3, bounds={"a": (-1, 1), "b": (-1, 1)}),
    "KMeans": knoll.KMeans(3, bounds=knoll.Ball(1.5, (0.0, 0.0))),
    "GaussianMixture": knoll.GaussianMixture(2, bounds=(-1, 1)),
    "KernelDensity": knoll.KernelDensity(0.5, bounds=(-1, 1)),
    "MorseClustering": knoll.MorseClustering(2, base=knoll.Lloyd(6), bounds=(-1, 1)),
    "ModeSeeking": knoll.ModeSeeking(bandwidth=[0.5, 0.6], bounds=(-1, 1)),
    "LocalGaussianMixture": LocalGaussianMixture(2, bounds=(-1, 1), epsilon=3.0),
}
CLIENTS = {
    "square wave": SquareWave(1.0, 0.0, (0.0,), (10.0,), 8, 2),
    "unary": Unary(1.0, 0.0, (0.0,), (10.0,), 5),
    "waves": Waves(2.0, 0.0, (0.0, -1.0), (10.0, 1.0), 4),
    "gaussian": Noisy(1.0, 1e-6, (0.0, -1.0), (10.0, 1.0)),
    "laplace": Noisy(1.0, 0.0, (0.0, -1.0), (10.0, 1.0)),
}


@pytest.fixture(scope="module")
def documents(tmp_path_factory):
    """A document of every kind: models, clients and reports."""
    path = tmp_path_factory.mktemp("good") / "model.json"
    found = {}
    for name, model in MODELS.items():
        table = ROWS if name != "Lloyd" else pd.DataFrame(ROWS, columns=["a", "b"])
        knoll.save(model.set_params(random_state=0).fit(table), path)
        found[name] = json.loads(path.read_text())
    for name, client in CLIENTS.items():
        found[name] = {**client.to_dict(), "columns": None}
        found[f"{name} reports"] = client.reports(np.random.default_rng(1).uniform(-1, 5, (20, len(client.lower))))
    return found


def attempt(action):
    """Run; return the result, or None for a typed refusal with a short and clear message."""
    started = time.monotonic()
    try:
        return action()
    except TYPED as error:
        assert 15 < len(str(error)) < 600, str(error)[:300]  # noqa: PT017
        assert "\n" not in str(error)  # noqa: PT017
        return None
    finally:
        assert time.monotonic() - started < LONGEST


# ---- models -----------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:X does not have valid feature names", "ignore:X has feature names")
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # absurd numbers
@pytest.mark.filterwarnings("ignore:.*written by an earlier knoll")  # a spoiled format may be an earlier one
@pytest.mark.parametrize("name", MODELS)
def test_hostile_models_are_refused_or_harmless(tmp_path, documents, name):
    path = tmp_path / "model.json"
    chance, others = random.Random(name), list(documents.values())
    refused = 0
    for _ in range(MODELS_EACH):
        path.write_bytes(spoiled(documents[name], others, chance))
        model = attempt(lambda: knoll.load(path))
        if model is None:
            refused += 1
            continue
        uses = [lambda model=model: used(model, tmp_path), lambda model=model: repr(model) + str(model.privacy_)]
        for use in uses:
            attempt(use)
    assert 0.5 * MODELS_EACH < refused < MODELS_EACH
    assert not (tmp_path / "pwned").exists()


def used(model, folder):
    """All that is done with a loaded model."""
    table = np.resize(ROWS, (20, model.n_features_in_))
    for look in ("predict", "score_samples", "density", "predict_proba"):
        if hasattr(model, look):
            assert len(getattr(model, look)(table)) == 20
    assert model.privacy_._repr_html_()
    assert pickle.dumps(model)
    knoll.save(model, folder / "again.json")
    knoll.load(folder / "again.json")


def test_loading_hostile_documents_executes_nothing(tmp_path, documents):
    """Under an audit hook of the interpreter: no process, no code, no import, no file written, no socket."""
    chance, others = random.Random(9), list(documents.values())
    for i in range(300):
        name = chance.choice(list(documents))
        (tmp_path / f"{i:03}.json").write_bytes(spoiled(documents[name], others, chance))
    (tmp_path / "good.json").write_text(json.dumps(documents["Lloyd"]))
    for name in ("os.system", "subprocess.Popen", "builtins.eval", "Lloyd.__init__", "knoll.model", "load", "Ledger"):
        (tmp_path / f"{name}.json").write_text(json.dumps({**documents["Lloyd"], "estimator": name}))
    code = """
        import glob, sys, pathlib, warnings, numpy, knoll
        from knoll.document import parse
        from knoll.local import client_from_dict
        from knoll.local.reports import read_reports
        from knoll.privacy import DataError
        warnings.simplefilter("ignore")
        knoll.load("good.json")
        wave = client_from_dict({"client": "square wave", "epsilon": 1.0, "delta": 0, "lower": [0], "upper": [1],
                                 "n_bins": 8, "reach": 1})
        wave.report(0.5)
        forbidden = ("exec", "compile", "import", "os.", "subprocess.", "socket.", "pickle.", "marshal.", "ctypes.",
                     "shutil.", "sqlite3.", "code.__new__", "function.__new__")
        watching = False
        def hook(event, arguments):
            if not watching:
                return
            if event.startswith(forbidden) and event not in ("os.listdir", "os.scandir"):
                raise SystemExit(f"{event} {arguments}")
            if event == "open" and arguments[1] not in ("r", "rb"):
                raise SystemExit(f"{event} {arguments}")
        sys.addaudithook(hook)
        seen = 0
        names = [(name, pathlib.Path(name).read_bytes()) for name in sorted(glob.glob("*.json"))]
        watching = True
        for name, content in names:
            try:
                knoll.load(name)
            except DataError:
                seen += 1
            try:
                client_from_dict(parse(content)).report(0.5)
            except (ValueError, RecursionError):
                seen += 1
            try:
                read_reports(wave, [parse(content)])
            except (ValueError, RecursionError):
                seen += 1
        watching = False
        print(seen)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 300
    assert not (tmp_path / "pwned").exists()


@pytest.mark.parametrize("spoil", range(len(ABSURD)))
def test_models_that_no_fit_gives_are_refused(tmp_path, documents, spoil):
    good = json.loads(json.dumps(documents["Lloyd"]))
    ABSURD[spoil](good)
    (tmp_path / "model.json").write_text(json.dumps(good))
    assert attempt(lambda: knoll.load(tmp_path / "model.json")) is None


@pytest.mark.parametrize("depth", [3, 30, 300, 900, 100_000])
@pytest.mark.parametrize(
    "shell", ['{"estimator": "MorseClustering", "parameters": {"base": %s}}', "[%s]"], ids=["estimators", "lists"]
)
def test_estimators_in_estimators_end(tmp_path, documents, depth, shell):
    """At any depth, whether it is the parser or the builder that would recur."""
    known = json.dumps(documents["MorseClustering"]["parameters"])[1:-1]
    before, after = shell.replace('{"base"', "{" + known.replace('"base"', '"was"') + ', "base"').split("%s")
    if depth > 900:  # or the file would have gigabytes
        before, after = shell.split("%s")
    deep = before * depth + "null" + after * depth
    text = json.dumps({**documents["MorseClustering"], "parameters": {"here": 0}}).replace('"here": 0', known.replace(
        '"base"', '"was"') + f', "base": {deep}')  # fmt: skip
    (tmp_path / "model.json").write_text(text)
    assert attempt(lambda: knoll.load(tmp_path / "model.json")) is None


# ---- clients ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CLIENTS)
def test_hostile_clients_are_refused_or_keep_their_epsilon(documents, name, monkeypatch):
    """What is built reports within its declared epsilon, by enumerating the law that it draws."""
    chance, others = random.Random(name), list(documents.values())
    refused = checked = 0
    for _ in range(CLIENTS_EACH):
        content = spoiled(documents[name], others, chance)
        try:
            data = parse(content)
        except (ValueError, RecursionError):
            refused += 1
            continue
        if isinstance(data, dict):
            data.pop("columns", None)
        client = attempt(lambda data=data: client_from_dict(data))
        if client is None:
            refused += 1
            continue
        assert client == client_from_dict(json.loads(json.dumps(client.to_dict())))
        assert json.dumps(client.report([0.5] * len(client.lower)))
        if getattr(client, "n_bins", 2) <= 16 and len(client.lower) <= 8:
            assert respects_its_epsilon(client, monkeypatch), data
            checked += 1
    assert 0.5 * CLIENTS_EACH < refused < CLIENTS_EACH
    assert checked >= 10


@pytest.mark.parametrize("what", ["client", "columns"])
def test_the_command_refuses_hostile_clients_in_one_line(tmp_path, documents, what):
    (tmp_path / "mine.csv").write_text("age\n5\n")
    path, run = tmp_path / "client.json", CliRunner()
    good = documents["square wave"]
    bad = [json.dumps({**good, "columns": each}).encode() for each in VALUES if each not in (None, ["x"])]
    if what == "client":
        bad = [*WHOLE, *(json.dumps({**good, "reach": "@"}).replace('"@"', text).encode() for text in TEXTS)]
        bad += [json.dumps(good).encode()[:-1] + b', "reach": 2}', json.dumps(good).encode("utf-16")]
        bad += [b" " * (2**20 + 1), b"[" * 2**19 + b"]" * 2**19]
    for content in bad:
        path.write_bytes(content)
        done = run.invoke(app, ["local", "report", str(path), str(tmp_path / "mine.csv"), "--out", "r.jsonl"])
        assert done.exit_code == 1, (content[:60], done.output)
        assert done.output.startswith("knoll: ")
        assert done.output.count("\n") == 1
        assert done.exception is None or isinstance(done.exception, SystemExit)
    assert not os.path.exists("r.jsonl")


# ---- reports ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CLIENTS)
def test_hostile_lines_of_reports_change_nothing(tmp_path, documents, name):
    """Lines that hold no honest report, among those that do: the same valid reports, and every other counted."""
    client, chance = CLIENTS[name], random.Random(name)
    honest = documents[f"{name} reports"]
    one, others = [honest[0], {"report": honest[1]}], list(documents.values())
    lines = [json.dumps(report).encode() for report in honest]
    while len(lines) < len(honest) + REPORTS_EACH:
        content = spoiled(one, others, chance).replace(b"\n", b" ")
        if not looks_honest(client, content):
            lines.insert(chance.randrange(len(lines) + 1), content)
    for text in TEXTS:
        lines.append(text.encode())
    lines.append(b"7" * (2**20 + 5))
    path = tmp_path / "reports.jsonl"
    path.write_bytes(b"\n".join(lines))
    valid, rejected = read_reports(client, read_lines(path))
    expected, none = read_reports(client, honest)
    assert none == 0
    kept = int(valid[-1]) if isinstance(client, Unary) else len(valid)
    assert (kept, kept + rejected) == (len(honest), len(lines))
    np.testing.assert_array_equal(valid, expected)


def looks_honest(client, content):
    """Whether a line is a number or a short list of small whole numbers: a liar's report that counts like any other."""
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        return False
    numbers = value if isinstance(value, list) else [value]
    small = all(type(number) is int and abs(number) < 2**50 for number in numbers)
    fits = isinstance(client, Unary) or len(numbers) == len(client.lower)
    return small and fits and isinstance(value, int) == isinstance(client, SquareWave)


def test_a_line_without_end_does_not_fill_memory(tmp_path):
    path = tmp_path / "reports.jsonl"
    with open(path, "wb") as file:
        file.write(b"1\n")
        file.truncate(2**27)
        file.seek(0, 2)
        file.write(b"\n2\n")
    tracemalloc.start()
    found = list(read_lines(path))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found == [1, None, 2]
    assert peak < 2**23
