"""The audit itself: its bounds are valid, strong where they should be, and no estimator exceeds what it declares."""

import math

import numpy as np
import pytest
from scipy.stats import binom, binomtest
from typer.testing import CliRunner

import knoll
from knoll.audit import (
    AUDITED,
    Guarantee,
    Pair,
    audit,
    audit_one_run,
    audit_release,
    hurtful_pairs,
    make_audited,
    one_run_epsilon,
    plot_audit,
)
from knoll.audit.evidence import at_most
from knoll.audit.runs import look
from knoll.cli.main import app
from knoll.engines import ArrayEngine
from knoll.privacy import Budget, Curator, PrivacyError, Relation
from knoll.privacy.accounting import epsilon_for
from knoll.queries import Box, CellMoments, Count, GridHistogram, Nearest
from knoll.testing import seeded_noise

CONFIDENCE = 1 - 1e-7
LOCAL = [name for name in AUDITED if getattr(make_audited(name), "batch", False)]
CENTRAL = [name for name in AUDITED if name not in LOCAL]


def test_rates_are_those_of_clopper_and_pearson():
    for hits in (0, 1, 17, 99, 100):
        expected = binomtest(hits, 100).proportion_ci(0.98, "exact").high
        assert at_most(np.array([hits]), 100, 0.01)[0] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("guarantee", [Guarantee(1.0, 1e-6, "gaussian"), Guarantee(1.0, 0.0), Guarantee(2.0, 0.01)])
def test_a_point_on_the_curve_has_the_declared_strength(guarantee):
    rates = np.array([0.001, 0.01, 0.1, 0.3])
    strengths = guarantee.strength(rates, guarantee.tradeoff(rates))
    found = [guarantee.epsilon_of(float(strength)) for strength in strengths]
    assert found == pytest.approx([guarantee.epsilon] * 4, rel=1e-6)
    assert (guarantee.strength(rates, guarantee.tradeoff(rates) + 0.01) < strengths).all()
    assert guarantee.strength(np.array([0.5]), np.array([0.5]))[0] == 0.0


def test_one_run_bound_holds_for_randomised_response(rng):
    """Guesses right with probability e^eps / (1 + e^eps): the bound must stay below eps, and come near it."""
    epsilon, m = 1.5, 4000
    right = rng.binomial(m, math.exp(epsilon) / (1 + math.exp(epsilon)), size=300)
    bounds = [one_run_epsilon(m, m, int(each), 0.0, confidence=0.999) for each in right]
    assert np.mean(np.array(bounds) > epsilon) <= binom.isf(1e-7, 300, 0.001) / 300
    assert np.median(bounds) > 0.85 * epsilon
    assert one_run_epsilon(m, m, m // 2, 0.0) == 0.0
    assert one_run_epsilon(m, m, m, 1e-6) < one_run_epsilon(m, m, m, 0.0)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 4.0])
@pytest.mark.parametrize("delta", [1e-6, 0.0])
def test_a_plain_release_is_bounded_from_both_sides(epsilon, delta):
    found = audit_release(Count(), hurtful_pairs()[0], epsilon=epsilon, delta=delta, confidence=0.999)
    assert 0.8 * epsilon <= found.epsilon <= epsilon
    assert found.passed
    assert found.most_used == pytest.approx(epsilon, rel=1e-3)


@pytest.mark.parametrize("relation", list(Relation))
def test_a_joint_release_is_bounded_under_every_relation(relation):
    query = CellMoments(Nearest([[-0.5, -0.5], [0.5, 0.5]], Box((-1, -1), (1, 1))))
    for pair in hurtful_pairs(relation=str(relation)):
        without, present = (rows[~np.isnan(rows).any(axis=1)] for rows in (pair.without, pair.present))
        clean = Pair(pair.name, without, present, pair.canary)
        found = audit_release(query, clean, epsilon=1.0, relation=str(relation), runs=100_000, confidence=CONFIDENCE)
        assert found.passed, str(found)


@pytest.mark.parametrize("delta", [1e-6, 0.0])
def test_a_cell_that_is_empty_without_the_canary_gives_nothing_away(delta):
    """Empty cells get the same noise as others: without it, their zeros would tell."""
    pair = next(pair for pair in hurtful_pairs() if pair.name == "an empty cluster")
    query = CellMoments(Nearest([[-0.6, 0.6], [0.8, -0.8]], Box((-1, -1), (1, 1))))
    assert not query.summarise(pair.without)[1].any()
    found = audit_release(query, pair, delta=delta, confidence=CONFIDENCE)
    assert found.passed, str(found)
    assert found.most_used > 0.9


@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize("name", CENTRAL)
def test_no_pair_costs_more_than_declared_and_nothing_leaks(name, relation):
    """Exact: the likelihood ratio's own parameter, release by release, on both neighbours."""
    highest, tries = 0.0, 0
    while highest <= 0.3 and tries < 5:  # bounds bought with bad noise may clip a pair to the same place
        highest, tries = max(highest, highest_cost(name, relation)), tries + 1
    assert highest > 0.3  # the pairs do hurt


def highest_cost(name, relation):
    """Return the highest share of the declared epsilon that a pair costs, none costing more than all."""
    highest = 0.0
    for epsilon, delta, step in ((1.0, 1e-6, 1), (4.0, 0.0, 2)):
        mechanism = make_audited(name, epsilon=epsilon, delta=delta, relation=str(relation))
        for i, pair in enumerate(hurtful_pairs(relation=str(relation))[::step]):
            run = look(mechanism, pair, present=relation is not Relation.REPLACE_SPECIAL, closely=i == 0)
            assert run.leaks == (), pair.name
            cost = run.epsilon + epsilon_for(math.sqrt(run.mu_squared), delta)
            assert cost <= epsilon, pair.name
            highest = max(highest, cost / epsilon)
    return highest


@pytest.mark.parametrize("name", ["KMeans", "Lloyd", "HardEMGaussianMixture"])
def test_a_whole_user_costs_no_more_than_declared(name):
    """A user with five far rows, of which three count, comes or goes."""
    rows = np.column_stack([hurtful_pairs()[0].without, np.arange(24) % 9])
    user = np.column_stack([np.tile([[1.0, -1.0]], (5, 1)), np.full(5, 99.0)])
    pair = Pair("a user", rows, np.vstack([rows[:10], user, rows[10:]]), np.array([1.0, -1.0]))
    for delta in (1e-6, 0.0):
        run = look(make_audited(name, unit=knoll.User(2, 3), delta=delta), pair, present=True)
        assert run.leaks == ()
        assert 0.5 < run.epsilon + epsilon_for(math.sqrt(run.mu_squared), delta) <= 1.0


@pytest.mark.parametrize("name", LOCAL)
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 4.0])
def test_reports_of_a_respondent_are_as_private_as_declared(name, epsilon):
    found = audit(make_audited(name, epsilon=epsilon), runs=120_000, confidence=CONFIDENCE)
    assert found.passed, str(found)
    assert found.epsilon > 0.3 * epsilon or epsilon < 1  # the attack has power, where there is enough to see


def test_an_estimator_is_audited_in_both_boxes():
    model = knoll.Lloyd(2, n_steps=1, bounds=(-1, 1), epsilon=16.0, random_state=0)
    found = audit(model, runs=500, pairs=hurtful_pairs()[:2], confidence=0.99)
    assert found.passed
    assert 4.0 < found.bound("white") <= 16.0
    assert {attack.box for attack in found.attacks} == {"white", "black"}
    assert len(plot_audit(found).axes) == 2


def test_an_overspending_estimator_is_caught_in_the_white_box():
    """A subclass that declares a quarter of what it spends."""

    class Modest(knoll.Lloyd):
        def fit(self, X, y=None):
            declared, self.epsilon = self.epsilon, 4 * self.epsilon
            try:
                return super().fit(X)
            finally:
                self.epsilon = declared

    found = audit(Modest(2, n_steps=2, bounds=(-1, 1), epsilon=4.0), runs=300, pairs=hurtful_pairs()[:1])
    assert found.most_used > 4.0
    assert found.epsilon > 4.0
    assert not found.passed


def test_one_run_of_a_histogram_comes_near_its_epsilon():
    cells = np.array([(i, j) for i in range(32) for j in range(32)]) / 16 + 1 / 32 - 1
    histogram = GridHistogram(Box((-1, -1), (1, 1)), (32, 32))
    crowd = np.random.default_rng(0).uniform(-1, 1, size=(5000, 2))

    def mechanism(rows):
        return Curator(ArrayEngine(rows), Budget(8.0, 1e-6)).release(histogram, 1.0).value

    def naked(rows):
        with seeded_noise(0):
            return mechanism(rows)

    found = audit_one_run(mechanism, crowd, cells, epsilon=8.0, delta=1e-6)
    assert 1.0 < found.epsilon <= 8.0
    assert "One run, 1,024 canaries" in str(found)
    known = naked(crowd)  # who knows the seed subtracts everything
    caught = audit_one_run(naked, crowd, cells, epsilon=1.0, delta=1e-6, score=lambda h, c: h - known.ravel())
    assert not caught.passed


def test_one_run_of_an_estimator():
    rng = np.random.default_rng(1)
    model = knoll.Lloyd(4, n_steps=2, bounds=(-1, 1), epsilon=2.0, random_state=0)
    found = audit_one_run(model, rng.normal(scale=0.2, size=(3000, 2)), rng.uniform(-1, 1, size=(100, 2)))
    assert found.passed


@pytest.mark.parametrize(
    "bad",
    [
        lambda: audit(lambda rows: rows.sum()),
        lambda: audit(7, epsilon=1.0),
        lambda: audit(lambda rows: 0.0, epsilon=1.0, confidence=2.0),
        lambda: audit(lambda rows: 0.0, epsilon=1.0, runs=0),
        lambda: audit(lambda rows: 0.0, epsilon=-1.0),
        lambda: make_audited("Means"),
        lambda: one_run_epsilon(10, 11, 3, 0.0),
        lambda: Guarantee(1.0, 0.0, "gaussian"),
        lambda: audit_one_run(knoll.Lloyd(2, bounds=(0, 1), relation="replace_one"), np.zeros((3, 1)), np.ones((9, 1))),
        lambda: audit_one_run(lambda rows: 0.0, np.zeros((3, 1)), np.ones((9, 1)), epsilon=1.0),
    ],
)
def test_audits_that_make_no_sense_are_refused(bad):
    with pytest.raises(PrivacyError):
        bad()


def test_the_time_limit_is_kept():
    found = audit(make_audited("Lloyd"), runs=10**9, seconds=1.0, pairs=hurtful_pairs()[:1])
    assert found.seconds < 20
    assert found.runs < 10**4


def test_the_command_line(tmp_path):
    run = CliRunner()
    done = run.invoke(app, ["audit", "Lloyd", "--epsilon", "4", "--runs", "50", "--out", str(tmp_path / "a.png")])
    assert done.exit_code == 0, done.output
    for words in ("declared epsilon = 4", "Lower bound: epsilon >=", "a far outlier", "Passed"):
        assert words in done.output
    assert (tmp_path / "a.png").read_bytes()[:4] == b"\x89PNG"
    wrong = run.invoke(app, ["audit", "Means"])
    assert wrong.exit_code == 1
    assert "there are KMeans" in " ".join(wrong.output.split())


@pytest.mark.parametrize("out", ["a.json", "nowhere/a.png"])
def test_what_cannot_be_written_is_refused_before_any_attack(out, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("knoll.audit.audit", lambda *_, **__: pytest.fail("attacked before the file was looked at"))
    done = CliRunner().invoke(app, ["audit", "Lloyd", "--out", out])
    assert done.exit_code == 1
    assert "ends in .png" in done.output or "no folder" in done.output
