"""How high noise alone rises: the significance that a featureless release exceeds with a given chance.

The noise of a kernel sum is a smooth Gaussian field. The chance that it exceeds a high level u somewhere in a box is
the expected Euler characteristic of the set above u, the sum over k of e_k r_k(u): e_k the elementary symmetric
polynomials of the box's sides in bandwidths, r_0 = 1 - Phi(u), r_k = (2 pi)^(-(k+1)/2) H_(k-1)(u) exp(-u^2 / 2) with
Hermite polynomials H (Adler and Taylor 2007).

A peak is also compared with the pass to a higher one. In two columns or more, paths can go around low places, so the
field at the pass is ordinary. Along a line there is one path. Its pass is the least value on it, as rare as the peak
itself, so pairs of a peak and a pass must be counted. There are PAIRS of them per squared bandwidth, as simulated
fields show for lengths of 20 to 2000 bandwidths.
"""

import math

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri

MOST_SIDES = 3  # with more columns, a union bound over cells of one bandwidth is used instead
PAIRS = 1 / 8  # pairs of a peak and a pass per squared bandwidth of a line, from simulated fields
LOWEST = 3**0.5  # above this all terms decrease in u, so the root is unique
PER_RUNG = 0.5  # bandwidths sqrt 2 apart see nearly the same noise: each counts as half a look


def expected_exceedances(u: float, sides: np.ndarray, line: float = 0.0) -> float:
    """Expected number of false peaks above u in a box of these sides; `line` is the side along which passes lie."""
    return _exceedances(u, np.poly(-np.asarray(sides, dtype=np.float64)).tolist(), line)


def _exceedances(u: float, sums: list[float], line: float) -> float:
    """The same, given the elementary symmetric polynomials of the sides, e_0 = 1 first."""
    hermite = [1.0, u, u * u - 1.0]
    tail, beyond = math.exp(-u * u / 2), float(ndtr(-u))
    total = beyond * sums[0]
    for k in range(1, len(sums)):
        total += sums[k] * (2 * math.pi) ** (-(k + 1) / 2) * hermite[k - 1] * tail
    return total + PAIRS * line * sums[-1] * beyond


def significance_threshold(chance: float, sides: np.ndarray, *, rungs: int = 1, line: float = 0.0) -> float:
    """Significance that a featureless release exceeds with at most this chance, over all places and bandwidths."""
    chance /= max(1.0, PER_RUNG * rungs)
    if len(sides) > MOST_SIDES:
        return float(-ndtri(min(0.5, chance / max(1.0, float(np.prod(sides))))))
    sums = np.poly(-np.asarray(sides, dtype=np.float64)).tolist()
    if _exceedances(LOWEST, sums, line) <= chance:
        return LOWEST
    return float(brentq(lambda u: _exceedances(u, sums, line) - chance, LOWEST, 40.0))
