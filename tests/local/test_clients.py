"""Clients from strangers: what they take, what they refuse, and the proof that they ask of themselves."""

import copy
import dataclasses
import json
import math
import pickle
from decimal import Decimal
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from knoll.local import Noisy, SquareWave, Unary, Waves, client_from_dict, clients
from knoll.local.law import best_reach, check_ratio, exp_below
from knoll.privacy import Cost, DataError, PrivacyError, entropy
from knoll.privacy.laws import Gaussian
from tests.contract.channels import respects_its_epsilon

WAVE = SquareWave(1.0, 0.0, (0.0,), (10.0,), 8, 2)
GOOD = [WAVE, Unary(1.0, 0.0, (0.0,), (1.0,), 6), Waves(2.0, 0.0, (0.0, 1.0), (1.0, 3.0), 6),
        Noisy(1.0, 1e-6, (0.0, -1.0), (10.0, 1.0)), Noisy(1.0, 0.0, (0.0,), (10.0,))]  # fmt: skip


# ---- the exact check --------------------------------------------------------------------------


@pytest.mark.parametrize("x", [0, 1e-6, 0.3, 0.5, 1 - 2**-53, 1, 1 + 2**-52, math.log(3), 7.25, 50, 99.9, 100])
def test_the_bound_of_e_is_below_it_and_close(x):
    with mpmath.workdps(100):
        found, exact = exp_below(Fraction(x)), mpmath.exp(mpmath.mpf(x))
        ratio = mpmath.mpf(found.numerator) / found.denominator / exact
        assert 1 - mpmath.mpf(2) ** -150 < ratio <= 1


def largest_allowed(client, allowed):
    """The largest threshold of a square wave whose ratio is at most a number."""
    return int(mpmath.floor(2**64 * allowed * client.near / (allowed * client.near + client.others)))


@pytest.mark.parametrize("epsilon", [1e-6, 0.1, 1.0, 8.0])
@pytest.mark.parametrize(("bins", "reach"), [(2, 0), (2, 2), (16, 4), (4096, 4096)])
def test_one_word_too_many_is_refused(epsilon, bins, reach):
    """The check is exact: of the thresholds around e^epsilon, it takes the last that is allowed and not the next."""
    client = SquareWave(epsilon, 0.0, (0.0,), (1.0,), bins, reach)
    with mpmath.workdps(80):
        most = largest_allowed(client, mpmath.exp(mpmath.mpf(epsilon)))
    for threshold, good in ((most, True), (most + 1, False)):

        class Given(SquareWave):
            _threshold = threshold

        if good:
            assert 0 <= Given(epsilon, 0.0, (0.0,), (1.0,), bins, reach).report(0.3) < bins + 2 * reach
        else:
            with pytest.raises(PrivacyError, match="apart"):
                Given(epsilon, 0.0, (0.0,), (1.0,), bins, reach)


def test_ratios_far_below_one_are_refused_too():
    check_ratio(Fraction(1, 2), Fraction(1))
    for ratio in (Fraction(1, 3), Fraction(3), Fraction(0)):
        with pytest.raises(PrivacyError):
            check_ratio(ratio, Fraction(1))


@pytest.mark.parametrize("kind", [SquareWave, Unary, Waves])
def test_probabilities_rounded_the_wrong_way_are_refused(kind, monkeypatch):
    monkeypatch.setattr(clients, "_MARGIN", -(2.0**-40))
    d = 3 if kind is Waves else 1
    with pytest.raises(PrivacyError, match="apart"):
        kind(1.0, 0.0, (0.0,) * d, (1.0,) * d, 8)


def test_the_law_is_asked_for_again_before_a_report(monkeypatch):
    """Also of a client that was not made by its class, and once only."""
    raw = object.__new__(SquareWave)
    raw.__dict__.update(dataclasses.asdict(WAVE), _threshold=2**64 - 1)
    drawn = []
    monkeypatch.setattr(clients, "secure_words", lambda size: drawn.append(size) or entropy.secure_words(size))
    with pytest.raises(PrivacyError, match="apart"):
        raw.report(3.0)
    assert drawn == []
    calls = []
    monkeypatch.setattr(clients, "check_ratio", lambda *given: calls.append(given))
    fresh = SquareWave(1.0, 0.0, (0.0,), (1.0,), 8, 2)
    for _ in range(5):
        fresh.report(0.5)
    assert len(calls) == 1


@pytest.mark.parametrize("epsilon", [1e-6, 0.01, 1.0, 100.0])
def test_the_law_that_is_drawn_is_within_epsilon(epsilon, monkeypatch):
    for bins in (2, 3, 12):
        for reach in {0, 1, bins, best_reach(epsilon, bins)}:
            assert respects_its_epsilon(SquareWave(epsilon, 0.0, (0.0,), (1.0,), bins, reach), monkeypatch)
        assert respects_its_epsilon(Unary(epsilon, 0.0, (0.0,), (1.0,), bins), monkeypatch)
    if epsilon > 1e-4:
        assert respects_its_epsilon(Waves(epsilon, 0.0, (0.0,) * 5, (1.0,) * 5, 4), monkeypatch)
    for delta in (0.0, 1e-24, 0.1):
        assert respects_its_epsilon(Noisy(epsilon, delta, (0.0,) * 9, (1.0,) * 9), monkeypatch)


def test_the_referee_sees_a_wrong_law(monkeypatch):
    class Wrong(SquareWave):
        _threshold = int(2**63 * 1.5)

        def _check_law(self):
            pass

    assert not respects_its_epsilon(Wrong(0.5, 0.0, (0.0,), (1.0,), 4, 0), monkeypatch)


@pytest.mark.parametrize("d", [3, 7, 100, 4096])
def test_parts_of_waves_add_up_to_no_more_than_epsilon(d):
    """As whole numbers: the product of all columns' ratios against e^epsilon."""
    for epsilon in (0.3, 1.0, 100.0):
        client = Waves(epsilon, 0.0, (0.0,) * d, (1.0,) * d, 16)
        product = math.prod(each.ratio.numerator for each in client.columns)
        below = math.prod(each.ratio.denominator for each in client.columns)
        with mpmath.workdps(80):
            assert mpmath.mpf(product) / mpmath.mpf(below) <= mpmath.exp(mpmath.mpf(epsilon))


def test_a_noisy_record_from_a_document_pays_for_its_sampler(monkeypatch):
    """If the noise's own precision exceeds the budget, nobody may build that."""
    document = {"client": "noisy record", "epsilon": 1e-6, "delta": 1e-6, "lower": [0.0], "upper": [1.0]}
    assert client_from_dict(document).cost.epsilon_at(1e-6) <= 1e-6
    monkeypatch.setattr(Gaussian, "charge", lambda law, touched, ratio: Cost(epsilon=1e-6 * touched))
    with pytest.raises(DataError, match="too small for the precision"):
        client_from_dict(document)
    with pytest.raises(PrivacyError, match="too small for the precision"):
        Noisy(1e-6, 1e-6, (0.0,), (1.0,))


# ---- fields -----------------------------------------------------------------------------------

BAD_FIELDS = {
    "epsilon": [0, -1, True, "1", None, [1], math.nan, math.inf, 10**400, 101, 1e-7, 1j, b"1", np.timedelta64(1, "s"),
                np.array([1.0]), Decimal(1)],
    "delta": [True, "0", None, [], math.nan, -1, 1, 10**400, 1e-30],
    "n_bins": [1, 0, -4, 4097, 2.0, 2.5, 10**400, True, "8", None, [8], math.nan, np.float64(8),
               np.timedelta64(8, "s")],
    "reach": [-1, 1.0, 0.5, -0.5, 9, 10**400, True, "1", None, [1], math.nan, np.float64(1), np.bool_(1)],
    "lower": [(), "0", ("0",), (None,), (True,), (math.nan,), (-math.inf,), (10**400,), (0.0,) * 5000, 0.0, None,
              {0: 1}, ((0.0,),), [[0.0]], (10.0,), (11.0,), iter([0.0])],
    "upper": [(), "9", ("9",), (None,), (0.0,), (1e101,), (1e-300,), (10.0,) * 3, 10.0],
}  # fmt: skip


@pytest.mark.parametrize("client", GOOD, ids=lambda client: f"{client.kind} {client.delta:g}")
def test_every_field_is_checked_however_a_client_is_made(client):
    names = [each.name for each in dataclasses.fields(client)]
    good = {name: getattr(client, name) for name in names}
    for name in set(names) & set(BAD_FIELDS):
        for bad in BAD_FIELDS[name]:
            known = {**good, name: bad}
            with pytest.raises((PrivacyError, ValueError)) as caught:
                type(client)(**known)
            assert isinstance(caught.value, PrivacyError | clients.DataError) or "ounds" in str(caught.value)
            with pytest.raises(ValueError, match=r"\w{3}"):
                dataclasses.replace(client, **{name: bad})
            with pytest.raises(DataError, match="not a client"):
                client_from_dict({"client": client.kind, **known})
            raw = object.__new__(type(client))
            raw.__dict__.update(known)
            if not hasattr(bad, "__next__"):
                with pytest.raises(ValueError, match=r"\w{3}"):
                    pickle.loads(pickle.dumps(raw))


@pytest.mark.parametrize("client", GOOD, ids=lambda client: f"{client.kind} {client.delta:g}")
def test_documents_have_all_fields_and_no_others(client):
    good = json.loads(json.dumps(client.to_dict()))
    assert client_from_dict(good) == client
    for document in (
        {**good, "_threshold": 1},
        {**good, "scale": 1.0},
        *({**good, name: 0} for name in ("", "columns")),
    ):
        with pytest.raises(DataError, match="fields"):
            client_from_dict(document)
    for name in good:
        with pytest.raises(DataError, match="not a client"):
            client_from_dict({key: value for key, value in good.items() if key != name})
    for thing in (None, [], "x", 7, [("client", client.kind)], {1: 2}, {"client": ["unary encoding"]}):
        with pytest.raises(DataError, match="not a client"):
            client_from_dict(thing)


@pytest.mark.parametrize("kind", [SquareWave, Unary, Waves])
def test_pure_clients_have_no_delta(kind):
    with pytest.raises(PrivacyError, match="delta"):
        kind(1.0, 1e-6, (0.0,), (1.0,), 8)


def test_numbers_of_numpy_become_python_s():
    lower, upper = np.array([0.0]), np.array([10.0])
    client = SquareWave(np.float64(1.0), np.int64(0), lower, upper, np.int64(8), np.uint8(2))
    assert client == WAVE
    assert [type(value) for value in dataclasses.astuple(client)] == [float, float, tuple, tuple, int, int]


@pytest.mark.parametrize("client", GOOD, ids=lambda client: f"{client.kind} {client.delta:g}")
def test_copies_are_made_by_the_class_and_carry_no_thresholds(client):
    client.report([0.5] * len(client.lower))
    for again in (copy.copy(client), copy.deepcopy(client), pickle.loads(pickle.dumps(client))):
        assert again == client
    assert b"_threshold" not in pickle.dumps(client)
    client.__dict__["_threshold"] = 1
    assert pickle.loads(pickle.dumps(client)).__dict__.get("_threshold") != 1
    del client.__dict__["_threshold"]


# ---- records ----------------------------------------------------------------------------------

SECRET = "4711"
BAD_RECORDS = [
    math.nan, math.inf, None, SECRET, b"4711", [SECRET], [math.nan], 10**400, [10**400], [], {}, {"a": 4711},
    {4711.0}, object(), 4711j, [4711j], [None], [[]], [[4711.0], [1.0, 2.0]], np.datetime64("4711"), iter([4711.0]),
    np.array([SECRET]), np.array([SECRET], dtype=object), np.ma.masked_array([4711.0], [True]), Decimal("NaN"),
    np.timedelta64(4711, "D"), np.zeros((1, 1, 1)), [4711.0] * 50, lambda: 4711,
]  # fmt: skip


@pytest.mark.parametrize("client", GOOD, ids=lambda client: f"{client.kind} {client.delta:g}")
def test_bad_records_are_refused_before_any_randomness(client, monkeypatch):
    def none(size):
        raise AssertionError("randomness was drawn")

    monkeypatch.setattr(entropy, "keyed_words", none)
    deep = [4711.0]
    for _ in range(100_000):
        deep = [deep]
    for bad in [*BAD_RECORDS, deep, np.full((1,) * 40, 10**400)]:
        for ask in (client.report, client.reports):
            with pytest.raises(DataError, match="record") as caught:
                ask(bad)
            assert SECRET not in str(caught.value)
    with pytest.raises(DataError, match="record"):
        client.report([[4711.0] * len(client.lower)])  # a table is not a record


def test_records_of_every_honest_type_are_taken():
    for good in (3, 3.0, True, np.float32(3), [3], (3,), np.array(3), np.array([3]), [Decimal(3)], 1e300, -(10**300)):
        assert 0 <= WAVE.report(good) < 12
