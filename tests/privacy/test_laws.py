"""Laws as objects: two of them, alike in kind, and a third that is nothing but its own class."""

import copy
import math
import pickle

import numpy as np
import pytest
from scipy import stats

import knoll
from knoll.audit import audit_release, hurtful_pairs
from knoll.audit.runs import likelihood_ratio
from knoll.engines import ArrayEngine
from knoll.local import Noisy
from knoll.privacy import Budget, Cost, Curator, FileLedger, PrivacyError, Relation
from knoll.privacy.laws import GAUSSIAN, LAPLACE, LAWS, Law, law_named
from knoll.queries import Box, CellMoments, Count, Nearest
from knoll.testing import recorded_noise, replayed_noise

ROWS = np.random.default_rng(0).uniform(size=(500, 2))
BOX = Box((0, 0), (1, 1))
REFERENCE = {GAUSSIAN: stats.norm, LAPLACE: stats.laplace}


# ---- the two ----------------------------------------------------------------------------------


@pytest.mark.parametrize("law", REFERENCE)
def test_a_law_is_found_by_name_and_survives_copies(law):
    assert law_named(law.name) is law
    assert str(law) == repr(law) == law.name
    assert pickle.loads(pickle.dumps(law)) == copy.deepcopy(law) == law
    assert GAUSSIAN != LAPLACE
    with pytest.raises(PrivacyError, match="there are gaussian, laplace"):
        law_named("cauchy")


@pytest.mark.parametrize("law", REFERENCE)
def test_variance_tail_and_density_are_those_of_the_law(law):
    reference = REFERENCE[law]
    assert law.variance(3.0) == pytest.approx(reference.var(scale=3.0))
    assert law.standard_deviation(3.0) == pytest.approx(math.sqrt(reference.var(scale=3.0) + 1 / 12))
    for chance in (0.4, 0.01, 1e-9):
        assert law.tail(chance) == pytest.approx(reference.isf(chance) / reference.std())
    points = np.array([-3.0, 0.0, 0.5, 20.0])
    assert law.log_density(points) == pytest.approx(reference.logpdf(points) - reference.logpdf(0.0))


@pytest.mark.parametrize("delta", [1e-6, 0.0])
def test_shares_cost_together_what_the_whole_does(delta):
    budget = Budget(1.0, delta)
    parts = sum((budget.cost(share) for share in (0.5, 0.3, 0.2)), Cost())
    assert parts.epsilon_at(delta) == pytest.approx(budget.cost(1.0).epsilon_at(delta), rel=1e-12)


# ---- a third ----------------------------------------------------------------------------------


class Toy(Law):
    """Adds three scales, always: no law to use, but every figure of it can be told from those of the others."""

    name, norm, gdp, far = "toy", 2, False, 77.0

    def whole(self, epsilon, delta):
        return epsilon / 5

    def ratio(self, whole, share):
        return whole * share

    def cost(self, ratio):
        return Cost(epsilon=5 * ratio)

    def charge(self, touched, ratio):
        return Cost(epsilon=touched * 2.0**-30)

    def variance(self, scale):
        return 49 * scale**2

    def tail(self, chance):
        return 11.0

    def log_density(self, at):
        return 2.0 * at

    def draw(self, scale, size, words):
        return np.full(size, round(3 * scale))


TOY = Toy()


class ToyBudget(Budget):
    """Buys the third law, whatever delta is."""

    law = TOY


@pytest.fixture
def everywhere(monkeypatch):
    """Let every budget buy the third law."""
    monkeypatch.setitem(LAWS, TOY.name, TOY)
    for room in (
        "estimator.opening",
        "mixture.central",
        "local.clients",
        "planning.formula",
        "audit.plain",
        "audit.nested",
    ):
        monkeypatch.setattr(f"knoll.{room}.Budget", ToyBudget)


@pytest.mark.parametrize("delta", [1e-6, 0.0])
def test_the_door_asks_nobody_but_the_law(delta, tmp_path, everywhere):
    query = CellMoments(Nearest([[0.5, 0.5]], BOX))
    ledger = FileLedger(tmp_path / "ledger.db", dataset="rows")
    with Curator(ArrayEngine(ROWS), ToyBudget(1.0, delta), ledger=ledger) as door, recorded_noise() as seen:
        told = door.stderr(query, 0.5)
        released = door.release(query, 0.5)
    entry = door.statement().releases[0]
    assert door.norm == 2
    assert entry.sensitivity == query.sensitivity(Relation.ADD_REMOVE, 2)
    assert entry.scale == pytest.approx(10 * entry.sensitivity / (1 - Budget(1.0).reserve))
    assert entry.cost == Cost(epsilon=5 * (entry.sensitivity / entry.scale) + 3 * 2.0**-30)
    assert ledger.lines()[0].entry == entry
    assert law_named(entry.law) is released.law is seen.laws[0] is TOY
    assert (seen.noisy[0] - seen.exact[0] == round(3 * entry.scale)).all()
    assert released.stderr[0] == pytest.approx(7 * entry.scale * query.step / query.weights, rel=1e-9)
    assert (released.stderr == told).all()
    assert (released.noise_bound(0.1) == 11 * released.stderr).all()


@pytest.mark.parametrize("delta", [1e-6, 0.0])
def test_estimators_clients_and_plans_ask_nobody_but_the_law(delta, everywhere):
    for model in (knoll.Lloyd(2), knoll.KMeans(2), knoll.GaussianMixture(2), knoll.ModeClustering(2)):
        privacy = model.set_params(bounds=(0, 1), delta=delta, random_state=0).fit(ROWS).privacy_
        assert {entry.law for entry in privacy.releases} == {"toy"}
        assert privacy.spent.mu_squared == 0.0
        assert 0.99 < privacy.spent_epsilon <= 1.0
    client = Noisy(1.0, delta, (0.0, 0.0), (1.0, 1.0))
    middle = np.array(client.reports(np.full((1, 2), 0.5)))
    assert (middle == round(3 * client.scale)).all()
    assert client.cost.epsilon == pytest.approx(1.0, rel=1e-3)
    assert client.limit == pytest.approx(77 * client.scale, rel=0.01)
    assert knoll.plan(1000, 2, 2, delta=delta).size_stderr > 0


@pytest.mark.parametrize("delta", [1e-6, 0.0])
def test_audits_ask_nobody_but_the_law(delta, everywhere):
    pair = hurtful_pairs()[0]
    found = audit_release(Count(), pair, delta=delta, runs=2000)
    assert found.guarantee.kind == "approximate"
    assert found.most_used == pytest.approx(1.0, rel=1e-3)
    transcripts = []
    for rows in (pair.without, pair.present):
        with replayed_noise(transcripts[0]) if transcripts else recorded_noise() as seen:
            Curator(ArrayEngine(rows), ToyBudget(1.0, delta)).release(Count(), 1.0)
        transcripts.append(seen)
    ratio, cost = likelihood_ratio(*transcripts)
    moved = float((transcripts[1].exact[0] - transcripts[0].exact[0]) / transcripts[0].scales[0])
    assert ratio == pytest.approx(-2.0 * moved)
    assert cost.epsilon == pytest.approx(5 * abs(moved))
