"""The door: order of events, refusals, and what a release returns."""

import numpy as np
import pytest

from knoll.engines import ArrayEngine
from knoll.engines.ids import ids_of
from knoll.privacy import (
    Budget,
    BudgetExceededError,
    Curator,
    DataError,
    LedgerError,
    MemoryLedger,
    PrivacyError,
    Relation,
    User,
)
from knoll.privacy.released import recheck
from knoll.privacy.sources import noise_source
from knoll.queries import Box, CellMoments, Count, Nearest
from knoll.testing import recorded_noise, zero_noise

ROWS = np.random.default_rng(0).uniform(0, 1, size=(500, 2))
BOX = Box((0, 0), (1, 1))


def curator(rows=ROWS, budget=None, **kw):
    return Curator(ArrayEngine(rows), budget or Budget(1.0, 1e-6), **kw)


def test_value_is_in_natural_units():
    with zero_noise():
        release = curator().release(CellMoments(Nearest([[0.5, 0.5]], BOX)), 1.0)
    assert release.value[0, 0] == 500
    assert release.value[0, 1:] == pytest.approx((ROWS - 0.5).sum(axis=0), abs=500 * 2.0**-19)


@pytest.mark.parametrize("delta", [1e-6, 0.0])
def test_stderr_is_that_of_the_noise(delta):
    draws = [curator(budget=Budget(1.0, delta)).release(Count(), 1.0) for _ in range(2000)]
    values = np.array([float(draw.value) for draw in draws])
    assert np.std(values) == pytest.approx(float(draws[0].stderr), rel=0.15)
    assert abs(np.mean(values) - 500) < 6 * float(draws[0].stderr) / np.sqrt(2000)


def test_noise_is_calibrated_to_share_and_sensitivity():
    whole, quarter = (curator().release(Count(), share) for share in (1.0, 0.25))
    assert float(quarter.stderr) == pytest.approx(2 * float(whole.stderr), rel=1e-3)
    assert float(whole.stderr) == pytest.approx(1 / Budget(1.0, 1e-6).ratio(1.0), rel=1e-3)


def test_shares_beyond_the_budget_are_refused():
    door = curator()
    door.release(Count(), 0.7)
    with pytest.raises(BudgetExceededError, match="0.3 is left"):
        door.release(Count(), 0.31)
    door.release(Count(), 0.3)
    assert door.share_left == pytest.approx(0.0)
    for bad in (0.0, -0.1, 1.5, float("nan")):
        with pytest.raises(PrivacyError):
            curator().release(Count(), bad)


def test_the_record_is_written_before_noise_is_drawn_and_after_the_sum():
    events = []

    class Engine(ArrayEngine):
        def aggregate(self, query):
            events.append("sum")
            return super().aggregate(query)

    class Ledger(MemoryLedger):
        def record(self, fit, line):
            events.append("record")
            super().record(fit, line)

    class Source:
        private, label = False, "test"

        def perturb(self, total, law, scale):
            events.append("noise")
            return total

    token = noise_source.set(Source())
    try:
        Curator(Engine(ROWS), Budget(1.0), ledger=Ledger()).release(Count(), 0.5)
    finally:
        noise_source.reset(token)
    assert events == ["sum", "record", "noise"]


def test_if_the_ledger_fails_nothing_is_drawn():
    class Full(MemoryLedger):
        def record(self, fit, line):
            raise LedgerError("disk full")

    with recorded_noise() as transcript:
        door = curator(ledger=Full())
        with pytest.raises(LedgerError):
            door.release(Count(), 0.5)
    assert transcript.noisy == []


def test_if_the_sum_fails_nothing_is_spent():
    ledger = MemoryLedger()
    door = curator(np.array([[np.nan, 0.0]]), ledger=ledger)
    with pytest.raises(DataError):
        door.release(Count(), 0.5)
    assert ledger.lines == []
    assert door.share_left == 1.0


def test_users_scale_the_noise():
    base = float(curator().release(Count(), 1.0).stderr)
    users = ids_of(np.arange(500))
    engine = ArrayEngine(ROWS, users=users, unit=User(0, 5))
    capped = Curator(engine, Budget(1.0, 1e-6), unit=User(0, 5)).release(Count(), 1.0)
    assert float(capped.stderr) == pytest.approx(5 * base, rel=1e-3)


def test_too_many_rows_are_refused_before_any_spend():
    class Endless(ArrayEngine):
        @property
        def row_limit(self):
            return 2**60

    ledger = MemoryLedger()
    with pytest.raises(PrivacyError, match="overflow"):
        Curator(Endless(ROWS), Budget(1.0), ledger=ledger).release(Count(), 0.5)
    assert ledger.lines == []


def test_replace_one_costs_more():
    query = CellMoments(Nearest([[0.2, 0.2], [0.8, 0.8]], BOX))
    errors = [curator(relation=r).release(query, 1.0).stderr[0, 0] for r in Relation]
    assert errors[0] == errors[1] < errors[2]


def test_statement_rechecks_the_composition():
    door = curator()
    door.release(Count(), 1.0)
    entry = door.statement().releases[0]
    with pytest.raises(RuntimeError, match="do not publish"):
        recheck(Budget(1.0, 1e-6), (entry, entry))


def test_released_values_cannot_be_changed():
    release = curator().release(Count(), 1.0)
    with pytest.raises(ValueError, match="read-only"):
        release.value[...] = 0


def test_noise_bound_holds_for_all_values_together():
    query = CellMoments(Nearest(np.random.default_rng(0).uniform(size=(50, 2)), BOX))
    for delta in (1e-6, 0.0):
        exceeded = 0
        with recorded_noise() as transcript:
            for _ in range(300):
                release = curator(budget=Budget(1.0, delta)).release(query, 1.0)
                exact = transcript.exact[-1] * query.step / query.weights
                exceeded += bool((np.abs(release.value - exact) > release.noise_bound(0.05)).any())
        assert exceeded <= 45  # 15 expected; 45 has chance below 1e-9
