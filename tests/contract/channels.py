"""The law that a client really draws, found by driving its draw with chosen words: a referee for its own proof."""

import math
from fractions import Fraction

import mpmath
import numpy as np
from scipy.special import log_ndtr

from knoll.local import Noisy, SquareWave, Waves, clients
from knoll.queries.query import UNIT

WORDS = 2**64


def respects_its_epsilon(client, monkeypatch):
    """Whether no report is likelier under one record than under another by more than declared."""
    if isinstance(client, Noisy):
        return noise_is_enough(client)
    with monkeypatch.context() as patch:
        if isinstance(client, Waves):
            ratio = math.prod(worst(drawn_wave(each, patch)) for each in client.columns)
        elif isinstance(client, SquareWave):
            ratio = worst(drawn_wave(client, patch))
        else:
            ratio = worst_bits(drawn_bits(client, patch))
    with mpmath.workdps(80):
        return mpmath.mpf(ratio.numerator) / ratio.denominator <= mpmath.exp(mpmath.mpf(client.epsilon))


def rows_in(client, bins):
    """A record in the middle of each bin."""
    width = (client.upper[0] - client.lower[0]) / client.n_bins
    return np.array(client.lower[0] + (np.asarray(bins) + 0.5) * width)[:, None]


def drawn_wave(client, patch):
    """Probability of each output given each bin, [bin][output], as fractions.

    The coin's threshold is where the draw changes sides; outputs of a side are those of all values of its uniform.
    """
    sizes = []

    def side(coin, near, far, bins):
        """Draw for each bin with a coin and the values of both uniforms."""
        values = iter([near, far])
        patch.setattr(clients, "secure_words", lambda n: np.full(n, coin, dtype=np.uint64))
        patch.setattr(clients, "uniform_below", lambda most, n: sizes.append(most) or np.asarray(next(values)))
        return client.reports(rows_in(client, bins))

    zeros = np.zeros(1, dtype=np.int64)
    there, gone = side(0, zeros, zeros, [0]), side(WORDS - 1, zeros, zeros, [0])
    low, high = 0, WORDS - 1  # the coin says "near" below the threshold
    assert there != gone
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if side(middle, zeros, zeros, [0]) == there else (low, middle)
    near_size, far_size = sizes[:2]
    channel = []
    for each in range(client.n_bins):
        chances = {}
        for coin, size, part in ((0, near_size, high), (WORDS - 1, far_size, WORDS - high)):
            values, none = np.arange(size), np.zeros(size, dtype=np.int64)
            pair = (values, none) if coin == 0 else (none, values)
            for output in side(coin, *pair, [each] * size):
                chances[output] = chances.get(output, 0) + Fraction(part, WORDS * size)
        assert sum(chances.values()) == 1
        channel.append(chances)
    return channel


def worst(channel):
    """Largest ratio of two bins' probabilities of one output; infinite if one of them cannot send it."""
    outputs = set().union(*channel)
    ratios = []
    for output in outputs:
        chances = [each.get(output, Fraction(0)) for each in channel]
        if not min(chances):
            return Fraction(10**100)
        ratios.append(max(chances) / min(chances))
    return max(ratios)


def drawn_bits(client, patch):
    """Probability that each bit is set given each bin, [bin][bit], as fractions."""
    n = client.n_bins
    thresholds = np.full((n, n), -1, dtype=object)
    for bit, candidate in ((False, client._threshold), (True, WORDS // 2)):
        for true in range(n):
            sets = []
            for word in (candidate - 1, candidate):
                patch.setattr(clients, "secure_words", lambda size, word=word: np.full(size, word, dtype=np.uint64))
                sets.append(set(client.reports(rows_in(client, [true]))[0]))
            for each in range(n):
                if (each == true) == bit and each in sets[0] and each not in sets[1]:
                    thresholds[true, each] = candidate
    assert (thresholds >= 0).all()
    return [[Fraction(int(each), WORDS) for each in row] for row in thresholds]


def worst_bits(chances):
    """Bits are independent, so the worst report takes the worst of each."""
    return max(
        math.prod(max(p / q, (1 - p) / (1 - q)) for p, q in zip(one, other, strict=True))
        for one in chances
        for other in chances
    )


def noise_is_enough(client):
    """Two corners of the box, a unit of rounding apart: Laplace and Gaussian mechanism, from their definitions."""
    d = len(client.lower)
    if client.delta == 0:
        return 2 * UNIT * d / client.scale < client.epsilon
    mu, e = 2 * UNIT * d**0.5 / client.scale, client.epsilon
    spent = math.exp(log_ndtr(mu / 2 - e / mu)) - math.exp(e + log_ndtr(-mu / 2 - e / mu))
    return spent < client.delta
