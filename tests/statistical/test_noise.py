"""The noise has the law it claims; a slightly wrong one would be noticed."""

import math

import mpmath
import numpy as np
import pytest
from scipy import stats

from knoll.privacy import noise
from knoll.privacy.entropy import keyed_words, secure_words
from knoll.privacy.laws import GAUSSIAN, LAPLACE, law_named
from knoll.privacy.sources import WordNoise
from tests.statistical.rates import FALSE_ALARM, POWER

DRAWS = 400_000
SCALES = [0.3, 1.0, 7.77, 1000.0, 2.0**20 * 1.9, 2.0**49]
LAWS = {"gaussian": (noise.gaussian, stats.norm), "laplace": (noise.laplace, stats.laplace)}


def p_value(drawn, scale, law, bins=400):
    """Chi-square test of integers against a rounded law, in bins of about equal probability plus far tails."""
    cuts = law.ppf(np.linspace(0, 1, bins + 1)[1:-1])
    cuts = np.concatenate([law.ppf([1e-4, 1e-3]), cuts, law.isf([1e-3, 1e-4])])
    edges = np.unique(np.floor(cuts * scale)) + 0.5  # between integers, so the rounded law is exact there
    observed = np.bincount(np.searchsorted(edges, drawn), minlength=len(edges) + 1)
    cdf = np.concatenate([[0.0], law.cdf(edges / scale), [1.0]])
    expected = np.diff(cdf) * len(drawn)
    keep = expected > 5
    observed, expected = observed[keep], expected[keep]
    return stats.chisquare(observed, expected * observed.sum() / expected.sum()).pvalue


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("name", LAWS)
def test_law(name, scale):
    draw, law = LAWS[name]
    assert p_value(draw(scale, DRAWS), scale, law) > FALSE_ALARM


@pytest.mark.parametrize("scale", [7.77, 1000.0, 2.0**49])
@pytest.mark.parametrize("name", LAWS)
def test_a_scale_wrong_by_four_percent_is_noticed(name, scale):
    draw, law = LAWS[name]
    assert p_value(draw(1.04 * scale, DRAWS), scale, law) < POWER
    assert p_value(draw(0.96 * scale, DRAWS), scale, law) < POWER


def test_the_wrong_law_is_noticed():
    assert p_value(noise.laplace(1000.0, DRAWS), 1000.0 * math.sqrt(2), stats.norm) < POWER


@pytest.mark.parametrize("end", [1.25, 2.5])
def test_law_when_the_tail_is_no_rarity(end, monkeypatch):
    """The tail beyond 4 scales is rarely drawn: move it in, so that its mass and its shape weigh in the test."""
    monkeypatch.setattr(noise, "_GAUSSIAN_END", end)
    noise._gaussian_layers.cache_clear()
    try:
        for scale in (7.77, 1e6, 1.99 * 2.0**40):
            assert p_value(noise.gaussian(scale, DRAWS), scale, stats.norm) > FALSE_ALARM
    finally:
        monkeypatch.undo()
        noise._gaussian_layers.cache_clear()


def test_a_tail_that_never_rejects_is_noticed(monkeypatch):
    """Power: the tail's envelope taken for its mass, as a sampler that retries within the tail would do."""
    plain = noise._gaussian_tail

    def retrying(fine, end, size, words):
        step, accept = plain(fine, end, 40 * size, words)
        return step[accept][:size], np.ones(size, dtype=bool)

    monkeypatch.setattr(noise, "_gaussian_tail", retrying)
    monkeypatch.setattr(noise, "_GAUSSIAN_END", 1.5)
    noise._gaussian_layers.cache_clear()
    try:
        assert p_value(noise.gaussian(1e6, DRAWS), 1e6, stats.norm) < POWER
    finally:
        monkeypatch.undo()
        noise._gaussian_layers.cache_clear()


@pytest.mark.parametrize("fine", [2.0**51, 1.37 * 2.0**51, 1.99 * 2.0**51])
def test_mass_of_the_tail_to_twelve_digits(fine):
    """Table weight of the tail times its chance of acceptance, against the exact mass beyond the layers."""
    count = noise._gaussian_layers(fine).count
    with mpmath.workdps(50):
        s, width = mpmath.mpf(fine), mpmath.mpf(2) ** 49
        end = width * count
        weight = mpmath.exp(-((end / s) ** 2) / 2) * s * s / end
        thinned = mpmath.quad(lambda e: mpmath.exp(-e * end / s**2 - (e / s) ** 2 / 2), [0, s, 4 * s, mpmath.inf])
        bulk = mpmath.quad(lambda x: mpmath.exp(-((x / s) ** 2) / 2), [width * v for v in range(count + 1)])
        tail = weight * thinned * end / s**2
        assert abs(tail / (tail + bulk) / mpmath.erfc(end / s / mpmath.sqrt(2)) - 1) < mpmath.mpf(10) ** -12


def test_coordinates_are_independent():
    """Noise of one release: no two coordinates share a draw."""
    noisy = WordNoise().perturb(np.zeros((1000, 200), dtype=np.int64), GAUSSIAN, 1e6)
    assert len(np.unique(noisy)) > 0.9 * noisy.size
    correlation = np.corrcoef(noisy.T)[np.triu_indices(200, 1)]
    assert np.abs(correlation).max() < 0.19  # six standard errors, over 19,900 pairs


@pytest.mark.parametrize("name", LAWS)
def test_zero_totals_get_noise_like_all_others(name):
    total = np.zeros(DRAWS, dtype=np.int64)
    total[::2] = 10**12
    noisy = WordNoise().perturb(total, law_named(name), 1000.0)
    for part in (noisy[1::2], noisy[::2] - 10**12):
        assert p_value(part, 1000.0, LAWS[name][1]) > FALSE_ALARM


def test_laplace_tail_beyond_the_layers():
    drawn = np.abs(noise.laplace(2.0**40, 3_000_000)) / 2.0**40
    beyond = drawn[drawn > 6.5] - 6.5  # memoryless: beyond any point the law is the same
    assert len(beyond) > 2000
    assert stats.kstest(beyond, "expon").pvalue > FALSE_ALARM


def test_signs_are_fair_and_independent_of_size():
    drawn = noise.gaussian(1e6, DRAWS)
    for part in (drawn, drawn[np.abs(drawn) > 2e6], drawn[np.abs(drawn) < 1e5]):
        assert stats.binomtest(int((part > 0).sum()), len(part)).pvalue > FALSE_ALARM


def test_low_bits_are_uniform():
    """Low bits of the noise must not betray the input."""
    drawn = noise.gaussian(2.0**30, DRAWS)
    counts = np.bincount(drawn & 255, minlength=256)
    assert stats.chisquare(counts).pvalue > FALSE_ALARM


@pytest.mark.parametrize("name", LAWS)
def test_neighbouring_totals_have_the_same_support(name):
    """Every integer within reach can be drawn from either neighbour: small scales visit them all."""
    draw, _ = LAWS[name]
    drawn = draw(1.5, DRAWS)
    assert set(range(-5, 6)) <= set(drawn.tolist())
    shifted = 1 + drawn
    both = set(range(-4, 6))
    assert both <= set(drawn.tolist())
    assert both <= set(shifted.tolist())


@pytest.mark.parametrize("name", ["gaussian", "exponential"])
@pytest.mark.parametrize("fine", [2.0**51, 1.37 * 2.0**51, 1.999 * 2.0**51])
def test_table_weights_match_high_precision(name, fine):
    """The ratio bound's largest term, checked: integer weights against 60-digit arithmetic."""
    layers = getattr(noise, f"_{name}_layers")(fine)
    weights = np.zeros(64, dtype=object)
    for column in range(64):
        weights[column] += int(layers.cut[column])
        weights[layers.outcome[2 * column]] += (1 << 56) - int(layers.cut[column])
    assert sum(weights) == 2**62
    with mpmath.workdps(60):
        s, width = mpmath.mpf(fine), mpmath.mpf(2) ** 49
        left = [width * v for v in range(layers.count + 1)]
        if name == "gaussian":
            heights = [mpmath.exp(-((x / s) ** 2) / 2) for x in left]
            tail = heights[-1] * s * s / left[-1]
        else:
            heights = [mpmath.exp(-x / s) for x in left]
            tail = heights[-1] * s
        masses = [h * width for h in heights[:-1]] + [tail]
        total = mpmath.fsum(masses)
        for weight, mass in zip(weights, masses, strict=False):
            assert abs(mpmath.log(mpmath.mpf(int(weight)) / (mass / total * 2**62))) < mpmath.mpf(2) ** -46
    assert not any(weights[layers.count + 1 :])


def test_every_layer_accepts_with_probability_above_the_stated_floor():
    for fine in np.linspace(2.0**51, 2.0**52 * 0.999, 50):
        count = noise._gaussian_layers(fine).count
        width = 2.0**49
        worst = width * (2 * (count - 1) * width + width) / (2 * fine**2)
        assert worst < 1.3


def test_charge_covers_what_the_proof_adds_up():
    charge = GAUSSIAN.charge(1, 1.0)
    assert charge.epsilon >= 2 * (13.0**2 / 2 * 2.0**-50 + 2.0**-46 + 2.0**-48)
    beyond = 2.0**-104
    assert float(mpmath.erfc(12 / mpmath.sqrt(2))) < beyond < charge.delta
    assert LAPLACE.charge(1, 1.0).delta == 0.0
    assert GAUSSIAN.charge(10, 1.0).epsilon == pytest.approx(10 * charge.epsilon)


def test_scales_out_of_range_are_refused():
    for scale in (0.0, -1.0, math.nan, math.inf, 2.0**51, 2.0**-12):
        with pytest.raises(ValueError, match="scale"):
            noise.gaussian(scale, 1)


def test_words_are_aes_in_counter_mode():
    """FIPS-197 known answers: the key 00 01 .. 0f, and the zero key, on the zero block."""
    key = int.from_bytes(bytes(range(16)), "little")
    assert keyed_words(key)(2).astype("<u8").tobytes().hex() == "c6a13b37878f5b826f4f8162a1c8d879"
    assert keyed_words(0)(2).astype("<u8").tobytes().hex() == "66e94bd4ef8a2c3b884cfa59ca342b2e"


@pytest.mark.fresh_noise
def test_every_call_has_a_fresh_key():
    assert not set(secure_words(64).tolist()) & set(secure_words(64).tolist())
    assert noise.gaussian(1e9, 20).tolist() != noise.gaussian(1e9, 20).tolist()
