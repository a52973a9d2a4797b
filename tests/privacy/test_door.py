"""What the door refuses before anything is summed, recorded or drawn, and that threads cannot ask it twice."""

import os
import threading
import time
import warnings

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

import knoll
from knoll.engines import ArrayEngine
from knoll.privacy import Ask, Budget, BudgetExceededError, Curator, MemoryLedger, PrivacyError, Relation, User, entropy
from knoll.privacy.errors import BoundsError
from knoll.privacy.laws import law_named
from knoll.queries import Ball, Box, CellMoments, Count, Nearest
from knoll.testing import zero_noise
from tests.contract.registry import ESTIMATORS, QUERIES, make_estimator

ROWS = np.random.default_rng(0).uniform(0, 1, size=(500, 2))


class Counting(ArrayEngine):
    """An engine that says how often it was asked, and may take its time."""

    asked, pause = 0, 0.0

    def aggregate(self, query):
        self.asked += 1
        time.sleep(self.pause)
        return super().aggregate(query)


class Bent(Count):
    """A count with some attribute changed."""

    def __init__(self, **changed):
        super().__init__()
        self.__dict__.update(changed)


class Loose(Count):
    """A count whose total of any records is not what it says."""

    def __init__(self, total):
        super().__init__()
        self.total = total

    def summarise(self, block):
        return self.total if len(block) else super().summarise(block)


# ---- bad queries ------------------------------------------------------------------------------

NAN = float("nan")
BENT = {
    "weights": [np.array(0), np.array(-1), np.array(1.0), np.array([1, 2]), np.array(NAN)],
    "step": [np.array(NAN), np.array(np.inf), np.array(0.0), np.array(-1.0), np.array([1.0, 1.0]), np.array(1)],
    "touched": [0, -1, 2, 1.0, NAN, True],
    "largest": [0, -5, 2**63, 1.0, NAN],
    "shape": [(0,), (-1,), (1.0,), [1]],
    "sensitivity": [lambda r, n: NAN, lambda r, n: 0.0, lambda r, n: -1.0, lambda r, n: float("inf")],
    "anything": [np.array([1.0, NAN]), NAN, [np.array(NAN)], (NAN,)],
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in BENT.items() for value in values])
def test_a_bad_query_is_refused_before_anything_happens(name, value):
    engine, ledger = Counting(ROWS), MemoryLedger()
    door = Curator(engine, Budget(1.0), ledger=ledger)
    parts = door.disjoint_parts(2, 0.5, 0)
    for ask in (lambda query: door.release(query, 0.5), parts.release):
        with pytest.raises(PrivacyError):
            ask(Bent(**{name: value}))
    assert engine.asked == 0
    assert ledger.lines == []
    assert door.share_left == 1.0


def test_a_query_whose_cells_hold_a_nan_is_refused():
    cells = Nearest(ROWS[:3], Box((0, 0), (1, 1)))
    query = CellMoments(cells)
    cells.centres = np.full((3, 2), np.nan)
    engine = Counting(ROWS)
    with pytest.raises(PrivacyError, match="NaN"):
        Curator(engine, Budget(1.0)).release(query, 0.5)
    assert engine.asked == 0


@pytest.mark.parametrize(
    "total",
    [np.array(501), np.array(-501), np.array(-(2**63)), np.array(2**63 - 1), np.array(2**51), np.array(3.0),
     np.array([3, 3]), 500.0],
    ids=str,
)  # fmt: skip
def test_a_total_beyond_what_its_records_can_add_is_refused_and_costs_nothing(total):
    ledger = MemoryLedger()
    door = Curator(ArrayEngine(ROWS), Budget(1.0), ledger=ledger)
    with zero_noise():
        assert door.release(Loose(np.array(500)), 0.1).value == 500
        with pytest.raises(PrivacyError, match="internal error"):
            door.release(Loose(total), 0.5)
    assert len(ledger.lines) == 1
    assert door.share_left == 0.9


@pytest.mark.parametrize("name", QUERIES)
def test_every_query_keeps_within_its_largest_entry(name):
    """The check at each block is no hindrance: absurd records are summed as any other."""
    query, d = QUERIES[name]
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(50, d)) * 10.0 ** rng.integers(-5, 9, size=(50, 1))
    rows[:2] = [[1e300], [-1e300]]
    ArrayEngine(rows).aggregate(query)


EXTREMES = [(0.0, 1e80), (-1e100, 1e100), (0.0, 1e-99), (-1e-40, 1e-40), (0.0, 1e31)]


@pytest.mark.parametrize("bounds", EXTREMES, ids=str)
def test_bounds_whose_powers_overflow_are_refused(bounds):
    with pytest.raises(BoundsError):
        Box((bounds[0],), (bounds[1],))
    with pytest.raises(BoundsError):
        Ball((bounds[1] - bounds[0]) / 2, (0.0,))
    ledger = MemoryLedger()
    for model in (knoll.KMeans(2), knoll.GaussianMixture(2), knoll.ModeSeeking()):
        with pytest.raises(BoundsError):
            model.set_params(bounds=bounds, ledger=ledger).fit(ROWS * bounds[1])
    assert ledger.lines == []


@pytest.mark.parametrize("size", [2.0**98, 2.0**-97])
@pytest.mark.parametrize("name", ["KMeans", "Lloyd", "PEMeans", "GaussianMixture", "ModeSeeking", "ModeClustering"])
def test_the_widest_and_narrowest_bounds_give_the_same_fit(name, size):
    """Powers of two are exact: the fit of scaled records is the fit, scaled."""
    rng = np.random.default_rng(3)
    rows = np.vstack([rng.normal(c, 0.05, size=(400, 2)) for c in (-0.5, 0.5)])
    found = []
    for unit in (1.0, size):
        model = make_estimator(name, 2, bounds=(-unit, unit), epsilon=5.0)
        if name == "ModeSeeking":
            model.set_params(bandwidth="ladder")
        with zero_noise(), warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", knoll.DiagnosticWarning)
            model.fit(rows * unit)
        at = next(getattr(model, each) for each in ("cluster_centers_", "means_", "modes_") if hasattr(model, each))
        found.append(np.sort(at, axis=0) / unit)
    assert found[0] == pytest.approx(found[1], abs=1e-6)


# ---- threads ----------------------------------------------------------------------------------


def at_once(number, work):
    """Run the same work in threads; return what each returned or raised."""
    found, start = [], threading.Barrier(number)

    def run():
        start.wait()
        try:
            found.append(work())
        except BaseException as error:
            found.append(error)

    threads = [threading.Thread(target=run) for _ in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    return found


def test_threads_cannot_each_release_the_whole_budget():
    engine, ledger = Counting(ROWS), MemoryLedger()
    engine.pause = 0.2
    door = Curator(engine, Budget(1.0), ledger=ledger)
    found = at_once(4, lambda: door.release(Count(), 1.0))
    assert sum(isinstance(each, BudgetExceededError) for each in found) == 3
    assert engine.asked == 1, "the others are refused before they sum"
    assert len(ledger.lines) == len(door.statement().releases) == 1


def test_threads_cannot_each_use_the_last_part():
    engine, ledger = Counting(ROWS), MemoryLedger()
    engine.pause = 0.1
    door = Curator(engine, Budget(1.0), ledger=ledger)
    parts = door.disjoint_parts(2, 1.0, 0)
    found = at_once(4, lambda: parts.release(Count()))
    assert sum(isinstance(each, BudgetExceededError) for each in found) == 2
    assert engine.asked == 2
    assert len(ledger.lines) == 1
    door.statement()


def test_what_could_not_be_summed_is_given_back():
    class Torn(Counting):
        def aggregate(self, query):
            self.asked += 1
            if self.asked == 1:
                raise OSError("the file has gone")
            return ArrayEngine.aggregate(self, query)

    for parts in (False, True):
        door = Curator(Torn(ROWS), Budget(1.0))
        ask = door.disjoint_parts(1, 1.0, 0).release if parts else lambda query, door=door: door.release(query, 1.0)
        with pytest.raises(OSError, match="gone"):
            ask(Count())
        assert door.share_left == 1.0
        ask(Count())
        with pytest.raises(BudgetExceededError):
            ask(Count())


# ---- the price of finite precision ------------------------------------------------------------


@pytest.mark.parametrize("delta", [1e-6, 0.0])
@pytest.mark.parametrize(("relation", "cap"), [("add_remove", 1), ("add_remove", 7), ("replace_one", 7)])
def test_the_charge_counts_every_value_that_a_user_moves_in_every_part(relation, cap, delta):
    box = Box((0,) * 2, (1,) * 2)
    query = CellMoments(Nearest(np.random.default_rng(0).uniform(size=(90, 2)), box))
    unit = User(0, cap)

    def spent(**how):
        door = Curator(ArrayEngine(ROWS), Budget(1.0, delta), relation=Relation(relation), unit=unit)
        with zero_noise():
            if how:
                door.disjoint_parts(how["parts"], 0.5, 0).release(query)
            else:
                door.release(query, 0.5)
        return door.statement().releases[0]

    for parts in (1, 5):
        entry = spent(parts=parts) if parts > 1 else spent()
        ratio = entry.sensitivity / entry.scale
        moved = 3 * cap * (2 if relation == "replace_one" else 1) * parts
        charge = law_named(entry.law).charge(moved, ratio)
        assert entry.cost.epsilon == pytest.approx(charge.epsilon + (ratio if delta == 0 else 0.0), rel=1e-15)
        assert entry.cost.delta == charge.delta


@pytest.mark.parametrize("delta", [1e-6, 0.0])
def test_a_release_whose_precision_cannot_be_paid_is_refused_before_the_sum(delta):
    """The statement would refuse it too, but only after the release."""
    size = 10**7
    query = Bent(shape=(size,), touched=size, weights=np.array(1), step=np.array(1.0), largest=1)
    engine, ledger = Counting(ROWS), MemoryLedger()
    with pytest.raises(PrivacyError, match="finite precision"):
        Curator(engine, Budget(1e-5, delta), ledger=ledger).release(query, 1.0)
    assert engine.asked == 0
    assert ledger.lines == []


@pytest.mark.parametrize("ask", [Ask(10**9, 10**9), Ask(1, 1, 10**9), Ask(1, 1, share=1e-3, bound=(2.0**40, 2.0**40))])
def test_a_fit_that_could_be_refused_half_way_does_not_begin(ask):
    class Begun(MemoryLedger):
        begun = 0

        def begin(self, *args, **kw):
            self.begun += 1
            return super().begin(*args, **kw)

    ledger = Begun()
    for delta in (1e-6, 0.0):
        with pytest.raises(PrivacyError), Curator(ArrayEngine(ROWS), Budget(1e-5, delta), ledger=ledger, asks=[ask]):
            pass
        with Curator(ArrayEngine(ROWS), Budget(1.0, delta), ledger=ledger, asks=[Ask(500, 500, 9)]):
            pass
    assert ledger.begun == 2


TINY = [(1e-6, 2), (1e-6, 40), (1e-5, 40), (1e-4, 40)]


@pytest.mark.parametrize("delta", [1e-6, 0.0])
@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_fit_is_refused_before_it_spends_or_not_at_all(name, delta, monkeypatch):
    for setting, value in (("MOST", 3), ("REDRAWS", 1)):
        monkeypatch.setattr(knoll.steps.choose, setting, value)
    wide = [(epsilon, 200) for epsilon in (1e-6, 1e-5)] if name in ("Lloyd", "KMeans") else []
    most = 12 if "ixture" in name or "Morse" in name else 2 if "ModeSeeking," in name else 5 if "Mod" in name else 200
    for epsilon, d in {(epsilon, min(d, most)) for epsilon, d in TINY + wide}:
        rows = np.clip(np.random.default_rng(4).normal(size=(60, d)) / 3, -1, 1)
        assert_all_or_nothing(make_estimator(name, d, epsilon=epsilon, delta=delta), rows)


@pytest.mark.parametrize("delta", [1e-6, 0.0])
def test_a_wide_mixture_is_refused_before_it_spends_or_not_at_all(delta):
    rows = np.clip(np.random.default_rng(4).normal(size=(60, 200)) / 3, -1, 1)
    for epsilon in (1e-6, 1e-5):
        model = knoll.GaussianMixture(2, covariance_type="diag", bounds=(-1, 1), epsilon=epsilon, delta=delta)
        assert_all_or_nothing(model, rows)


def assert_all_or_nothing(model, rows):
    ledger = MemoryLedger()
    model.set_params(ledger=ledger)
    assert model._asks(rows.shape[1]), "the fit has a plan"
    try:
        with threadpool_limits(1):
            model.fit(rows)
    except PrivacyError:
        assert ledger.lines == []
    else:
        assert len(ledger.lines) == len(model.privacy_.releases)


# ---- entropy ----------------------------------------------------------------------------------


@pytest.mark.fresh_noise
def test_every_draw_asks_the_system_for_128_fresh_bits(monkeypatch):
    asked, keys = [], []
    real, stream = os.urandom, entropy.AESCounter

    def urandom(size):
        asked.append(size)
        return real(size)

    def keyed(key, counter):
        keys.append(key)
        return stream(key=key, counter=counter)

    monkeypatch.setattr(entropy.os, "urandom", urandom)
    monkeypatch.setattr(entropy, "AESCounter", keyed)
    door = Curator(ArrayEngine(ROWS), Budget(1.0))
    for _ in range(10):
        door.release(Count(), 0.1)
    assert len(asked) >= 10
    assert set(asked) == {16}
    assert len(set(keys)) == len(keys) == len(asked)
    assert sum(key >= 2**120 for key in keys) > len(keys) / 2, "the key uses all of them"
