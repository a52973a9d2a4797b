"""What a client's law may be: an exact check of probability ratios, exact uniform draws, the best square wave.

The check is arithmetic on whole numbers, so it is a proof: no floating point stands between the law that is drawn and
the declared epsilon.
"""

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np

from knoll.privacy import PrivacyError
from knoll.privacy.entropy import secure_words

_BITS = 192  # bits of the fixed point in which e^x is bounded: more than the 150 that are promised below


@lru_cache(maxsize=256)
def exp_below(exponent: Fraction) -> Fraction:
    """Return a fraction that is at most e^exponent, and above e^exponent (1 - 2^-150), for exponents from 0 to 100.

    Proof. Choose h so that r = exponent / 2^h < 1. All terms r^n / n! are positive, so each partial sum is at most e^r.
    Then h squarings lead back to e^exponent. r, every term and every squaring are rounded down, and a product of lower
    bounds of positive numbers is a lower bound. The loss: fewer than 64 roundings of 2^-192, doubled by each of at most
    8 squarings.

    >>> 2.718 < exp_below(Fraction(1)) < 2.7183
    True
    """
    if exponent < 0:
        raise PrivacyError("epsilon must not be negative")
    halvings = max(0, exponent.numerator.bit_length() - exponent.denominator.bit_length() + 1)
    part = (exponent.numerator << _BITS) // (exponent.denominator << halvings)
    term = total = 1 << _BITS
    n = 0
    while term:
        n += 1
        term = term * part // (n << _BITS)
        total += term
    for _ in range(halvings):
        total = total * total >> _BITS
    return Fraction(total, 1 << _BITS)


def check_ratio(ratio: Fraction, epsilon: Fraction) -> None:
    """Refuse a law with a probability above e^epsilon times another. `ratio` is their ratio, or its inverse."""
    if not ratio > 0 or max(ratio, 1 / ratio) > exp_below(epsilon):
        raise PrivacyError("this client's reports would tell two records apart by more than its epsilon; it sends none")


def best_reach(epsilon: float, n_bins: int) -> int:
    """Half width of the square wave that carries most information, in bins (Li et al. 2020, Section 5.3)."""
    grow = math.exp(min(epsilon, 50.0))
    half = (epsilon * grow - grow + 1) / (2 * grow * (grow - 1 - epsilon)) if epsilon > 1e-3 else 0.5
    return min(round(half * n_bins), n_bins)


def uniform_below(most: int, size: int) -> np.ndarray:
    """Return exactly uniform integers below `most`: words that would favour some of them are drawn again."""
    limit = 2**64 - 2**64 % most
    words = secure_words(size)
    if limit < 2**64:
        bad = np.flatnonzero(words >= np.uint64(limit))
        while bad.size:
            words[bad] = secure_words(bad.size)
            bad = bad[words[bad] >= np.uint64(limit)]
    return (words % np.uint64(most)).astype(np.int64)
