"""Every client: no report tells two records apart by more than declared, and the server survives any report."""

import collections
import itertools
import json
import math
import pickle
from decimal import Decimal
from fractions import Fraction
from http import HTTPStatus

import numpy as np
import pytest
from scipy.stats import binom, chisquare, kstest

import knoll
from knoll.local import LocalGaussianMixture, Noisy, SquareWave, Unary, Waves, client_from_dict
from knoll.local.law import best_reach
from knoll.local.reports import read_reports
from knoll.privacy import DataError, PrivacyError
from knoll.queries.query import UNIT
from tests.statistical.rates import FALSE_ALARM

EPSILONS = [1e-6, 0.1, 1.0, 3.0, 10.0, 100.0]
CLIENTS = {
    "square wave": SquareWave(1.0, 0.0, (0.0,), (10.0,), 16, 4),
    "randomised response": SquareWave(2.0, 0.0, (0.0,), (10.0,), 8, 0),
    "unary": Unary(1.0, 0.0, (0.0,), (10.0,), 12),
    "waves": Waves(2.0, 0.0, (0.0, -1.0), (10.0, 1.0), 8),
    "gaussian": Noisy(1.0, 1e-6, (0.0, -1.0), (10.0, 1.0)),
    "laplace": Noisy(1.0, 0.0, (0.0, -1.0), (10.0, 1.0)),
}
HOSTILE = [
    None, True, 1.5, float("nan"), "7", b"7", -1, 10**30, [], [[]], {}, [None, None], [1.5, 2.5], [10**40, 0],
    [True, False], list(range(500)), [0, 0, 0], ["a", "b"], {"bit": 1}, object(), np.nan, [float("inf"), 1],
    -(2**63), np.int64(-(2**63)), [np.int64(-(2**63))] * 2, np.array([-(2**63), 0]), np.full(1, -(2**63)), 10**400,
    [10**400] * 2, [-(10**400), 0], np.array(7), np.array([[1, 1]]), np.array([1.0, 1.0]), np.array(["1", "1"]),
    np.array([1, 1], dtype=object), np.array([True, False]), np.ma.masked_array([1, 1], [True, False]),
    np.ma.masked_array([1, 1]), [np.True_] * 2, [np.timedelta64(1, "s")] * 2, np.array([1, 1], dtype="m8[s]"),
    np.timedelta64(1, "s"), np.datetime64(1, "s"), {0, 1}, frozenset({0}), range(2), iter([0, 1]), "01", bytearray(2),
    memoryview(b"01"), {0: 1, 1: 1}.keys(), collections.deque([0, 0]), collections.UserList([0, 0]), [0] * 10**6,
    [[0, 0]], [[0], [0]], [None, 1], [0, 0.0], Fraction(1), Decimal(1), 1 + 0j, slice(0, 1), print,
    np.uint64(2**64 - 1),
    [np.uint64(2**64 - 1)] * 2, np.array([2**64 - 1] * 2, dtype=np.uint64), np.float64(1),
    np.array([], dtype=int)[None],
    type("Sly", (list,), {"__len__": lambda self: 2})([0, 0]), type("Slyer", (int,), {})(0), HTTPStatus.OK, [0, [0]],
]  # fmt: skip


def record(client, seed=0):
    rng = np.random.default_rng(seed)
    return rng.uniform(client.lower, client.upper)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("bins", [2, 7, 64])
def test_no_output_of_a_square_wave_is_likelier_than_declared(epsilon, bins):
    for reach in {0, 1, best_reach(epsilon, bins)}:
        client = SquareWave(epsilon, 0.0, (0.0,), (1.0,), bins, reach)
        p = client._threshold / 2**64
        near, far = p / client.near, (1 - p) / client.others
        assert client.channel.sum(axis=0) == pytest.approx(1.0)
        assert near / far >= 1 - 1e-9
        assert math.log(near / far) <= epsilon
        assert client.cost.epsilon <= epsilon
        if epsilon <= 10:
            assert client.cost.epsilon == pytest.approx(epsilon, rel=1e-3, abs=1e-9)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_no_unary_report_is_likelier_than_declared(epsilon):
    client = Unary(epsilon, 0.0, (0.0,), (1.0,), 3)
    q = client.rare

    def chance(true, bits):
        each = [0.5 if i == true else q for i in range(3)]
        return math.prod(p if bit else 1 - p for p, bit in zip(each, bits, strict=True))

    worst = max(
        math.log(chance(a, bits) / chance(b, bits))
        for bits in itertools.product([0, 1], repeat=3)
        for a in range(3)
        for b in range(3)
    )
    assert worst <= epsilon * (1 + 1e-12)
    assert client.cost.epsilon <= epsilon
    if epsilon <= 10:
        assert worst == pytest.approx(epsilon, rel=1e-3)


@pytest.mark.parametrize("delta", [1e-6, 0.0])
@pytest.mark.parametrize("d", [1, 2, 9])
def test_noisy_records_are_calibrated_to_the_whole_box(delta, d):
    client = Noisy(1.0, delta, (0.0,) * d, (1.0,) * d)
    assert client.cost.epsilon_at(delta) <= 1.0
    assert client.cost.epsilon_at(delta) == pytest.approx(1.0, rel=1e-3)
    corner = 2 * UNIT * (d**0.5 if delta else d)
    ratio = corner / client.scale
    assert (ratio**2 <= client.cost.mu_squared) if delta else (ratio <= client.cost.epsilon)


def test_square_waves_are_drawn_with_the_stated_probabilities():
    for name in ("square wave", "randomised response"):
        client = CLIENTS[name]
        for where in (0.1, 5.0, 10.0):
            seen = np.bincount(client.reports(np.full((40_000, 1), where)), minlength=len(client.channel))
            expected = 40_000 * client.channel[:, client._bins(np.array([[where]]))[0]]
            assert chisquare(seen, expected).pvalue > FALSE_ALARM
            assert chisquare(seen, expected[::-1].copy()).pvalue < 1e-12 or where == 5.0


def test_unary_bits_are_drawn_with_the_stated_probabilities():
    client = CLIENTS["unary"]
    seen = np.zeros(12)
    for bits in client.reports(np.full((20_000, 1), 3.0)):
        seen[bits] += 1
    expected = np.full(12, client.rare)
    expected[3] = 0.5
    for count, p in zip(seen, expected, strict=True):
        assert 2 * min(binom.cdf(count, 20_000, p), binom.sf(count - 1, 20_000, p)) > FALSE_ALARM


def test_noise_of_records_has_the_stated_law():
    client = CLIENTS["gaussian"]
    reports = np.array(client.reports(np.tile([[5.0, 0.0]], (20_000, 1)))) / client.scale
    assert kstest(reports.ravel(), "norm").pvalue > FALSE_ALARM
    assert kstest(reports.ravel() * 1.1, "norm").pvalue < 1e-12


@pytest.mark.parametrize("name", CLIENTS)
def test_clients_travel(name):
    client = CLIENTS[name]
    there = client_from_dict(json.loads(json.dumps(client.to_dict())))
    assert there == client == pickle.loads(pickle.dumps(client))
    report = there.report(record(client))
    assert json.loads(json.dumps(report)) == report
    assert len(pickle.dumps(client)) < 2000


@pytest.mark.parametrize("name", CLIENTS)
def test_two_reports_of_one_record_differ(name):
    client = CLIENTS[name]
    assert len({json.dumps(client.report(record(client))) for _ in range(50)}) > 1


@pytest.mark.parametrize("name", CLIENTS)
def test_bad_records_are_refused_and_not_quoted(name):
    client = CLIENTS[name]
    d = len(client.lower)
    for bad in ([47.11] * (d + 1), [float("nan")] * d, [float("inf")] * d):
        with pytest.raises(DataError) as caught:
            client.report(bad)
        assert "47.11" not in str(caught.value)
    assert client.report([1e9] * d) is not None


@pytest.mark.parametrize(
    "bad", [{}, {"client": "x"}, {"client": "square wave"}, {"client": "unary encoding", "n_bins": 1}]
)
def test_what_is_not_a_client_is_refused(bad):
    with pytest.raises(DataError, match="not a client"):
        client_from_dict(bad)


@pytest.mark.parametrize("name", CLIENTS)
def test_hostile_reports_are_left_out_and_change_nothing(name):
    """Every one of them, at any place among honest ones: what is published is the same, bit for bit."""
    client = CLIENTS[name]
    rng = np.random.default_rng(0)
    reports = client.reports(rng.normal([3.0, 0.2][: len(client.lower)], 0.3, size=(300, len(client.lower))))
    model = LocalGaussianMixture(2, epsilon=client.epsilon, delta=client.delta, random_state=0)
    honest = model.fit_reports(reports, client)
    expected = {part: getattr(honest, part) for part in (*honest._published, "privacy_", "n_features_in_")}
    assert expected.pop("n_rejected_") == 0
    bad = [entry for entry in HOSTILE if not could_be_honest(client, entry)]
    assert len(bad) > 60
    mixed = [*reports]
    for entry in bad * 2:
        mixed.insert(rng.integers(len(mixed) + 1), entry)
    for way in (list, tuple, iter):
        attacked = model.fit_reports(way(mixed), client)
        assert attacked.n_rejected_ == 2 * len(bad)
        for part, value in expected.items():
            np.testing.assert_array_equal(getattr(attacked, part), value)


def could_be_honest(client, entry):
    """Whether a client could have sent an entry of the list: lists of two integers, and no bits."""
    lists = {Unary: ["[]", "[0]"], Waves: ["[0, 0]"], Noisy: []}
    return repr(entry) in lists.get(type(client), []) and isinstance(entry, list)


@pytest.mark.parametrize("name", CLIENTS)
def test_reports_of_numpy_are_as_good_as_lists(name):
    client = CLIENTS[name]
    reports = client.reports(np.tile(record(client), (50, 1)))
    plain = read_reports(client, reports)
    other = read_reports(client, [np.int64(each) if isinstance(each, int) else np.array(each, int) for each in reports])
    np.testing.assert_array_equal(plain[0], other[0])
    assert plain[1] == other[1] == 0


def test_the_farthest_honest_numbers_are_taken_and_the_next_are_not():
    noisy = CLIENTS["gaussian"]
    most = math.floor(noisy.limit)
    good = [[most, -most], [0, most]]
    values, rejected = read_reports(noisy, [*good, [most + 1, 0], [0, -most - 1]])
    assert (values.tolist(), rejected) == (good, 2)
    wave = CLIENTS["square wave"]
    values, rejected = read_reports(wave, [0, 23, 24, -1])
    assert (values.tolist(), rejected) == ([0, 23], 2)


@pytest.mark.parametrize("name", CLIENTS)
@pytest.mark.parametrize("k", [1, 4])
def test_no_reports_or_one_or_all_the_same_survive(name, k):
    client = CLIENTS[name]
    model = LocalGaussianMixture(k, epsilon=client.epsilon, delta=client.delta, random_state=0)
    one = client.reports(np.array([record(client)]))
    for reports in ([], one, one * 50, HOSTILE):
        mixture = model.fit_reports(reports, client).to_mixture()
        assert mixture.weights.sum() == pytest.approx(1.0)
        inside = (mixture.means >= np.array(client.lower) - 1e-9) & (mixture.means <= np.array(client.upper) + 1e-9)
        assert inside.all()


@pytest.mark.parametrize(
    "bad",
    [
        {"epsilon": 0}, {"epsilon": "x"}, {"delta": -1}, {"bounds": None}, {"bounds": "private"}, {"bounds": (1, 0)},
        {"mechanism": "trust"}, {"n_bins": 1}, {"n_components": 0}, {"n_components": 2.5}, {"covariance_floor": 0},
        {"bounds": knoll.Ball(1.0, (0.0,))},
    ],
    ids=str,
)  # fmt: skip
def test_bad_parameters_are_refused(bad):
    with pytest.raises(ValueError, match=r"\w"):
        LocalGaussianMixture(**{"n_components": 2, "bounds": (0, 1), **bad}).fit(np.full((5, 1), 0.5))


def test_one_column_mechanisms_refuse_more():
    with pytest.raises(PrivacyError, match="one column"):
        LocalGaussianMixture(2, bounds=([0, 0], [1, 1]), mechanism="unary").client()


@pytest.mark.parametrize(
    "reports", ["abc", {"a": 1}, 7, b"x", bytearray(3), memoryview(b"x"), np.array(7), None, object()]
)
def test_what_is_not_a_list_of_reports_is_refused(reports):
    with pytest.raises(DataError, match="list"):
        LocalGaussianMixture(1, bounds=(0, 1)).fit_reports(reports)


@pytest.mark.parametrize("client", ["square wave", {}, SquareWave, 7])
def test_what_is_not_a_client_fits_nothing(client):
    with pytest.raises(DataError, match="client"):
        LocalGaussianMixture(1, bounds=(0, 1)).fit_reports([1], client)
