"""A pipeline or a search is attacked as a whole: what it leaks is shown, not told."""

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from typer.testing import CliRunner

import knoll
from knoll.audit import audit, audit_one_run, hurtful_pairs
from knoll.audit.core import default_pairs
from knoll.cli.main import app
from knoll.privacy import Budget, CapExceededError, MemoryLedger, PrivacyError

LIMITS = {"runs": 16, "pairs": hurtful_pairs()[:1]}


def lloyd(**given):
    return knoll.Lloyd(2, **{"n_steps": 1, "bounds": (-1, 1), **given})


def search(**given):
    """Two settings, three parts of the data, and a last fit: seven."""
    return GridSearchCV(lloyd(**given), {"n_clusters": [2, 3]}, cv=3)


def test_a_scaler_before_an_estimator_fails():
    found = audit(make_pipeline(StandardScaler(), lloyd()), **LIMITS)
    assert not found.passed
    assert found.guarantee.epsilon == 1.0
    assert found.name == "Pipeline (StandardScaler, Lloyd)"
    for leak in (
        "StandardScaler.mean_ differs",
        "StandardScaler.scale_ differs",
        "StandardScaler.n_samples_seen_ differs",
    ):
        assert leak in str(found)


def test_the_private_way_to_scale_passes():
    found = audit(make_pipeline(lloyd(scale_by_bounds=True, epsilon=2.0)), runs=60, pairs=hurtful_pairs()[:2])
    assert found.passed, str(found)
    assert found.guarantee.epsilon == 2.0
    assert found.most_used > 1.0  # it was attacked


@pytest.mark.parametrize("delta", [1e-6, 0.0])
def test_a_search_fails_by_what_its_fits_cost_together(delta):
    found = audit(search(delta=delta), **LIMITS)
    assert not found.passed
    assert found.releases == 7
    assert found.most_used > 2.0 * found.guarantee.epsilon
    assert f"OVERSPENT: the 7 releases of all fits together cost epsilon = {found.most_used:.4g}, declared 1" in str(
        found
    )
    assert any(leak.startswith("GridSearchCV.cv_results_['mean_test_score']") for leak in found.leaks)
    assert not any("time" in leak for leak in found.leaks)


def test_a_search_that_publishes_no_score_still_fails_by_its_cost():
    def blind(model, rows, y=None):
        return 0.0

    found = audit(search().set_params(scoring=blind), runs=16, pairs=hurtful_pairs()[:1])
    assert found.leaks == ()
    assert found.most_used > 1.5
    assert not found.passed


def test_a_ledger_adds_up_what_a_search_spends():
    """Its `privacy_` speaks of one fit; the ledger of all seven."""
    rows = hurtful_pairs()[0].without
    file, memory = knoll.Ledger("privacy.db", "visits"), MemoryLedger()
    for ledger in (file, memory):
        found = search(ledger=ledger).fit(rows)
        assert found.best_estimator_.privacy_.spent_epsilon <= 1.0
    spent = file.spend("visits")
    assert (spent.releases, len(memory.lines)) == (7, 7)
    assert spent.epsilon > 2.5  # the square root of seven in mu
    file.set_cap("visits", Budget(spent.epsilon + 1.1, 1e-6))
    with pytest.raises(CapExceededError):
        search(ledger=file).set_params(error_score="raise").fit(rows)


def test_what_is_nested_deeply_is_found_and_made_repeatable():
    inner = GridSearchCV(lloyd(epsilon=3.0, delta=0.0), {"restart": [False]}, cv=KFold(2, shuffle=True), n_jobs=2)
    whole = make_pipeline(StandardScaler(), inner)
    found = audit(whole, **LIMITS)
    assert (found.guarantee.epsilon, found.guarantee.delta) == (3.0, 0.0)
    assert found.releases == 3
    assert not found.passed
    assert inner.n_jobs == 2
    assert inner.cv.random_state is None  # the user's own object is left as it was


def test_pairs_that_a_search_cannot_be_fitted_to_are_left_out():
    names = {pair.name for pair in default_pairs(search(), 2)}
    assert "one of two" not in names
    assert len(names) == len(hurtful_pairs()) - 1
    assert len(default_pairs(lloyd(), 2)) == len(hurtful_pairs())
    with pytest.raises(PrivacyError, match="none of the made-up neighbours"):
        audit(search().set_params(cv=1000))


def test_neighbours_lie_within_the_bounds_that_were_given():
    named = knoll.Lloyd(2, n_steps=1, bounds={"age": (0, 110), "bmi": (10, 60), "sex": (0, 1)}, random_state=0)
    found = audit(named, runs=16, pairs=default_pairs(named, 2)[:1])
    assert found.passed
    assert found.most_used > 0.9  # in a corner of these bounds the pairs would not hurt
    with pytest.raises(PrivacyError, match="say which epsilon"):
        audit(make_pipeline(StandardScaler(), KMeans(2)))


def test_one_run_of_a_pipeline():
    rng = np.random.default_rng(1)
    whole = make_pipeline(lloyd(epsilon=2.0))
    found = audit_one_run(whole, rng.normal(scale=0.2, size=(500, 2)), rng.uniform(-1, 1, size=(50, 2)))
    assert found.guarantee.epsilon == 2.0
    assert found.passed


MODULE = """
import knoll
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

pipeline = make_pipeline(StandardScaler(), knoll.Lloyd(2, n_steps=1, bounds=(-1, 1)))

def sound():
    return make_pipeline(knoll.Lloyd(2, n_steps=1, bounds=(-1, 1), epsilon=2.0))
"""


def run(*arguments):
    done = CliRunner().invoke(app, ["audit", *arguments, "--runs", "10"])
    return done, " ".join(done.output.split())


def test_the_command_line_attacks_an_object(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(__import__("sys").modules, "of_mine", raising=False)
    (tmp_path / "of_mine.py").write_text(MODULE)
    done, said = run("of_mine:pipeline", "--epsilon", "0.5")
    assert done.exit_code == 1
    for words in ("Pipeline (StandardScaler, Lloyd): declared epsilon = 0.5", "LEAK: StandardScaler.mean_", "FAILED"):
        assert words in said
    done, said = run("of_mine:sound")
    assert done.exit_code == 0, said
    assert "declared epsilon = 2, delta = 1e-06" in said


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("not_there:pipeline", "cannot import 'not_there'"),
        (":pipeline", "cannot import ''"),
        ("knoll:nothing", "nothing"),
        ("knoll:", "knoll:"),
        ("knoll:__version__", "neither an estimator nor a function"),
        ("sklearn.cluster:KMeans", "say which epsilon"),
        ("knoll.audit:audit", "cannot be made"),
        ("knoll:Lloyd", "no bounds given"),
    ],
)
def test_references_that_make_no_sense_are_plain_errors(reference, message):
    done, said = run(reference)
    assert done.exit_code == 1
    assert message in said
    assert "Traceback" not in said


def test_an_object_has_its_own_relation():
    done, said = run("knoll:Lloyd", "--relation", "replace_one")
    assert done.exit_code == 1
    assert "a relation of its own" in said
