"""The audit compares the whole of what a run keeps and says with its replay on the neighbour, byte for byte."""

import struct
import threading
from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from knoll.audit import audit, hurtful_pairs
from knoll.audit.published import numbers_of
from knoll.audit.runs import look
from knoll.audit.state import differences, tree
from knoll.privacy import MemoryLedger, PrivacyError
from knoll.testing import recorded_noise, replayed_noise
from tests.audit.broken import LEAKS, NAMED, Broken, make

PAIRS = hurtful_pairs()


def attack(leak, mended):
    return audit(make(leak, mended=mended), runs=16, pairs=PAIRS[:1])


@pytest.mark.parametrize("leak", LEAKS)
def test_a_broken_estimator_is_caught_and_the_same_one_mended_passes(leak):
    found = attack(leak, mended=False)
    assert not found.passed
    assert "FAILED" in str(found)
    mended = attack(leak, mended=True)
    assert mended.passed, str(mended)


def test_a_leak_is_named_and_never_quoted():
    found = look(make("rows in a private attribute"), PAIRS[0], present=True)
    assert found.leaks == ("Broken._rows differs on the neighbour, though all answers were the same",)
    found = look(make("number in text"), PAIRS[0], present=True)
    assert "Broken.summary_" in str(found.leaks)
    assert "24" not in str(found.leaks)
    assert "25" not in str(found.leaks)
    both = look(make("raw bounds"), PAIRS[0], present=True)
    assert [leak.split(" ")[0] for leak in both.leaks] == ["Broken.bounds_.lower", "Broken.bounds_.upper"]


def test_the_whole_state_is_compared_in_every_run_and_words_in_the_first_ones():
    for leak in NAMED:
        assert look(make(leak), PAIRS[0], present=True, closely=False).leaks
    assert not look(make("said by repr"), PAIRS[0], present=True, closely=False).leaks
    assert look(make("said by repr"), PAIRS[0], present=True).leaks


def test_a_replay_bears_the_label_of_what_it_replays():
    with recorded_noise() as transcript:
        first = make("").fit(PAIRS[0].present)
    with replayed_noise(transcript):
        again = make("").fit(PAIRS[0].without)
    assert str(first.privacy_) == str(again.privacy_)
    assert not again.privacy_.is_private


def test_the_black_box_sees_numbers_however_they_are_wrapped():
    model = Broken(3, bounds=(-1, 1), random_state=0).fit(PAIRS[0].present)
    plain = set(numbers_of(model, PAIRS[0].canary))
    itself = [model]
    itself.append(itself)
    for wrapped in (
        np.int16(977),
        np.array([977]),
        {"a": [(977,)]},
        "977 rows",
        [977.0],
        np.array([977], dtype=object),
    ):
        model.extra_ = [itself, wrapped]
        assert set(numbers_of(model, PAIRS[0].canary)) - plain == {977.0}


@dataclass
class Point:
    x: float
    y: object = None


class Slotted:
    __slots__ = ("a", "b")

    def __init__(self, a):
        self.a = a


def cyclic(x):
    point = Point(x)
    point.y = [point, {"back": point}]
    return point


def closing(x):
    return lambda y: x + y


@pytest.mark.parametrize(
    "make",
    [
        float, np.float32, np.array, str, Point, Slotted, cyclic, closing,
        lambda x: [x, x], lambda x: {x: 1}, lambda x: {"a": {"b": x}}, lambda x: {x, 7}, lambda x: (x,),
        lambda x: partial(max, x), lambda x: Point(x).__repr__, lambda x: np.random.RandomState(x),
        lambda x: np.random.default_rng(x), lambda x: np.ma.array([x], mask=[True]),
        lambda x: np.array([x, "a"], dtype=object),
        lambda x: np.array([(x, 1)], dtype=[("a", "i4"), ("b", "f8")]), lambda x: memoryview(bytes([x])),
        lambda x: (y for y in [x]), lambda x: type("Local", (), {"x": x}), lambda x: bytearray([x]), lambda x: range(x),
    ],
)  # fmt: skip
def test_what_is_equal_is_the_same_and_what_differs_is_not(make):
    assert tree(make(3)).digest == tree(make(3)).digest
    assert tree(make(3)).digest != tree(make(4)).digest
    assert differences(tree([make(3), Point]), tree([make(4), Point]), "x")[0] != ""


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (np.ones((2, 3)), np.asfortranarray(np.ones((2, 3)))),
        (np.arange(6)[::2], np.arange(0, 6, 2)),
        ({3, 1, 2}, {2, 3, 1}),
        (threading.Lock(), threading.Lock()),
        ([Point(1.0)] * 2, [Point(1.0), Point(1.0)]),
    ],
)
def test_where_things_lie_in_memory_is_no_difference(one, other):
    assert tree(one).digest == tree(other).digest


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        (0.0, -0.0),
        (1, True),
        (1, 1.0),
        (np.float32(1), np.float64(1)),
        (np.ones((2, 3)), np.ones((3, 2))),
        ([1, 2], (1, 2)),
        ("1", 1),
        ([[], [1]], [[1], []]),
    ],
)
def test_order_type_and_shape_are_differences(one, other):
    assert tree(one).digest != tree(other).digest


def test_the_clock_of_a_ledger_is_no_difference():
    ledgers = []
    for seconds in (1.0, 2.0):
        ledgers.append(MemoryLedger())
        make("").set_params(ledger=ledgers[-1]).fit(PAIRS[0].present)
        object.__setattr__(ledgers[-1].lines[0], "time", seconds)
    assert tree(ledgers[0]).digest == tree(ledgers[1]).digest


def test_an_audit_charges_no_ledger():
    ledger = MemoryLedger()
    audit(make("").set_params(ledger=ledger), runs=16, pairs=PAIRS[:1])
    assert ledger.lines == []


def test_a_state_too_deep_to_compare_is_refused():
    deep = []
    for _ in range(10**5):
        deep = [deep]
    with pytest.raises(PrivacyError, match="deep"):
        tree(deep)


class OutOfDoors(BaseEstimator):
    """Asks nothing through the door, and keeps the rows, or noise of its own."""

    def __init__(self, epsilon=1.0, delta=1e-6, bounds=(-1, 1), keep=True):
        self.epsilon, self.delta, self.bounds, self.keep = epsilon, delta, bounds, keep

    def fit(self, X, y=None):
        self.rows_ = X.tobytes() if self.keep else b""
        self.noise_ = float(np.random.default_rng().normal())
        return self


def test_what_repeats_without_a_release_is_compared_too():
    found = audit(OutOfDoors(), runs=60)
    assert not found.passed
    assert any("rows_" in leak for leak in found.leaks)
    assert audit(OutOfDoors(keep=False), runs=60).passed


def test_subclasses_of_plain_values_and_odd_floats_hold_what_they_hold():
    class Text(bytes):
        pass

    assert tree(Text(b"rows")) != tree(Text(b"else"))
    odd = struct.unpack("d", struct.pack("Q", 0x7FF8000000000001))[0]
    assert tree(float("nan")) != tree(odd)
    assert tree([float("nan")]) != tree([odd])
    assert tree({1: 2}.values()) != tree({1: 3}.values())
