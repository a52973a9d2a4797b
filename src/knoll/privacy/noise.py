"""Integer noise: a Gaussian or Laplace variable of any scale, rounded to the integers.

Totals are integers, so ``round(total + noise) = total + round(noise)``: the release is a rounding of the
continuous Gaussian (Laplace) mechanism and inherits its guarantee exactly. What remains is how far
the law that is really drawn lies from that rounded ideal. This module draws by rejection from integer random
bits, so that the distance is a small *ratio* at every integer, not merely a small difference.

The draw
--------
1. The scale s is multiplied by a power of two into S in [2^51, 2^52): an integer m >= 0 on this fine lattice
   stands for the interval [m, m + 1), weighed by the density at its midpoint.
2. The half-line is cut into layers of width W = 2^49. A layer is chosen by an alias table whose weights are integers
   that sum to 2^62; the offset in the layer is 49 uniform bits; the point is accepted with probability
   density / (density at the layer's left end).
3. Beyond the last layer (4 s, or 5 s for Laplace) an exponential proposal takes over. Laplace is memoryless, so its
   tail is the same draw again, further out; the Gaussian tail is accepted with exp(-e^2 / 2S^2) as a chain of Bernoulli
   trials of probability at least 1/e each. The support is therefore all integers, whatever the data.
4. A uniform sign, and a shift right with rounding, give the integer. (The arithmetic is modulo 2^62 on the fine
   lattice, 1024 scales out, where a Laplace variable lies with probability e^-1024: far below the chance of guessing
   the generator's key.)

The distance (the ratio bound)
------------------------------
Let p be the ideal probability of an integer z and p' the drawn one. Sources of |log p'/p|:
midpoint rule on an interval 2^-51 of a scale wide: < 2^-100; table weights, of which the smallest is above 2^-16 of
the total of 2^62: < 2^-46 each way, once per table; acceptance probability, at least e^-1.3, compared with a 53-bit
uniform and computed by `exp` (4 ulp) of an exponent with at most 8 roundings: < 2^-48; each trial of the Gaussian
tail: the same; the tail's exponent e^2/2S^2 with 8 roundings of 2^-53: < 2^-50 times the exponent.

Gaussian, at a distance of at most (12 + r) s from zero: |log p'/p| < (12 + r)^2 2^-50; further than 12 s lies a
mass below 2^-104. Take r = sensitivity / scale, the most that a neighbour moves a coordinate in units of s. Then for
every set of outputs outside a mass of 2^-104, the ratio of the two neighbours' probabilities differs from the ideal
ratio by less than exp((12 + r)^2 2^-49) for each coordinate that the neighbour moves; coordinates that it does not move
have the same law on both sides and cancel.
Laplace: one pass through the table errs by less than 2^-45 and two points a sensitivity apart lie at most r/5 + 1
passes apart, so the ratio differs by less than exp((8 + r) 2^-44), at every integer: pure differential privacy
stays pure.

`Law.charge` (laws.py) returns these figures; the budget keeps a reserve for them and the curator spends from it.
"""

import math
from collections.abc import Callable, Iterator
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from knoll.privacy.entropy import Words, WordSource, secure_words

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Accepted = npt.NDArray[np.bool_]

MAX_SCALE = 2.0**50
"""Largest noise scale in grid units: above it the fine lattice would be as coarse as the grid."""

_LAYER_BITS = 49  # W = 2^49 against S in [2^51, 2^52): 4 to 8 layers per scale
_GAUSSIAN_END, _LAPLACE_END = 4.0, 5.0  # scales covered by layers; the tail lies beyond
_SIGN_BIT = 62
_MAGNITUDE = (1 << _SIGN_BIT) - 1
_CHUNK = 2**15  # trials at a time, so that the intermediate arrays stay in cache
_COLUMNS = 64  # of the alias table
_COLUMN_BITS = 56  # so that the table's weights sum to 64 * 2^56 = 2^62


def gaussian(scale: float, size: int, words: WordSource = secure_words) -> Integers:
    """Draw `size` independent copies of round(N(0, scale^2))."""
    shift, fine = _fine_scale(scale)
    layers = _gaussian_layers(fine)
    rate = 0.5 / fine**2

    def exponent(left: Floats, offset: Floats) -> Floats:
        return rate * offset * (2.0 * left + offset)

    def tail(count: int) -> tuple[Integers, Accepted]:
        return _gaussian_tail(fine, layers.end, count, words)

    return _rounded(_points(layers, exponent, tail, size, words), shift, size)


def laplace(scale: float, size: int, words: WordSource = secure_words) -> Integers:
    """Draw `size` independent copies of a rounded Laplace variable with density exp(-|x| / scale)."""
    shift, fine = _fine_scale(scale)
    return _rounded(_exponential(fine, size, words), shift, size)


# ---- the draw ---------------------------------------------------------------------------------


class _Layers:
    """The staircase envelope: an exact alias table over layers, the last entry being the tail."""

    def __init__(self, masses: list[float]):
        self.count = len(masses) - 1
        self.end = self.count << _LAYER_BITS
        self.cut, other = _alias_table(masses)
        self.outcome = np.stack([other, np.arange(_COLUMNS)], axis=1).ravel()  # by (column, inside)

    def pick(self, words: Words) -> Integers:
        """Choose a layer with bits 0-5 and 8-63 of each word (bits 6 and 7 are left to the caller)."""
        column = (words & np.uint64(_COLUMNS - 1)).view(np.int64)
        inside = (words >> np.uint64(8)).view(np.int64) < self.cut.take(column)
        return self.outcome.take(2 * column + inside)


def _fine_scale(scale: float) -> tuple[int, float]:
    """Return the shift F >= 1 and the scale times 2^F, in [2^51, 2^52)."""
    if not 0.0 < scale <= MAX_SCALE:
        raise ValueError(f"noise scale {scale!r} is outside (0, 2^50] grid units")
    shift = 52 - math.frexp(scale)[1]
    if shift > 62:
        raise ValueError(f"noise scale {scale!r} is far below the grid: the query's grid is too coarse")
    return shift, math.ldexp(scale, shift)


def _rounded(points: Iterator[Integers], shift: int, size: int) -> Integers:
    """Collect `size` points, shift each back to the grid with rounding, and give it its sign."""
    noise = np.empty(size, dtype=np.int64)
    done = 0
    for chunk in points:
        magnitude = ((chunk & _MAGNITUDE) + (1 << (shift - 1))) >> shift
        sign = (chunk >> _SIGN_BIT) * -2 + 1
        np.multiply(magnitude, sign, out=noise[done : done + chunk.size])
        done += chunk.size
    return noise


def _points(
    layers: _Layers,
    exponent: Callable[[Floats, Floats], Floats],
    tail: Callable[[int], tuple[Integers, Accepted]],
    size: int,
    words: WordSource,
) -> Iterator[Integers]:
    """Yield `size` points of the fine lattice by rejection: a magnitude, and a sign in bit 62.

    A rejected trial, in a layer or in the tail, is dropped and the layer chosen anew: the masses of the table are
    those of the envelope, so that is what makes the accepted points follow the density.
    """
    while size > 0:
        trials = min(int(1.15 * size) + 8, _CHUNK)
        choice, place, coin = words(3 * trials).reshape(3, trials)
        layer = layers.pick(choice)
        offset = (place >> np.uint64(64 - _LAYER_BITS)).view(np.int64)
        left = layer << _LAYER_BITS
        fall = exponent(left.astype(np.float64), offset.astype(np.float64) + 0.5)
        in_tail = np.flatnonzero(layer == layers.count)
        accept = _accept(_uniform(coin), fall)
        point = left + offset
        if in_tail.size:
            beyond, accept[in_tail] = tail(in_tail.size)
            point[in_tail] = layers.end + beyond
        point |= (choice & np.uint64(64)).view(np.int64) << (_SIGN_BIT - 6)
        accepted = point.take(np.flatnonzero(accept)[:size])
        size -= accepted.size
        yield accepted


def _accept(uniform: Floats, fall: Floats) -> Accepted:
    """True where uniform < exp(-fall); most are settled by exp(-fall) >= 1 - fall without an exponential."""
    accept = uniform < 1.0 - fall
    unsettled = np.flatnonzero(~accept)
    accept[unsettled] = uniform[unsettled] < np.exp(-fall[unsettled])
    return accept


def _exponential(fine: float, size: int, words: WordSource) -> Iterator[Integers]:
    """Yield points with weight exp(-magnitude / fine); memoryless, so the tail is the same draw again."""
    rate = 1.0 / fine

    def exponent(left: Floats, offset: Floats) -> Floats:
        return rate * offset

    def tail(count: int) -> tuple[Integers, Accepted]:
        return _exponential_magnitudes(fine, count, words), np.ones(count, dtype=np.bool_)

    return _points(_exponential_layers(fine), exponent, tail, size, words)


def _exponential_magnitudes(fine: float, size: int, words: WordSource) -> Integers:
    return np.concatenate(list(_exponential(fine, size, words))) & _MAGNITUDE


def _gaussian_tail(fine: float, end: int, size: int, words: WordSource) -> tuple[Integers, Accepted]:
    """Propose distances beyond `end`, exponential, and accept each with probability exp(-e^2/2S^2)."""
    # The proposal has scale S^2/end, S/4 or a little less; it is drawn on a lattice finer by 2^3 and shifted back.
    finer, lattice = _fine_scale(fine * (fine / end) / 8.0)
    step = _exponential_magnitudes(lattice, size, words) >> (finer - 3)
    return step, _bernoulli_exp(((step.astype(np.float64) + 0.5) / fine) ** 2 / 2.0, words)


def _bernoulli_exp(exponent: Floats, words: WordSource) -> Accepted:
    """True with probability exp(-exponent), as trials of probability at least 1/e."""
    alive = np.ones(exponent.size, dtype=np.bool_)
    left = exponent.copy()
    while (pending := alive & (left > 0.0)).any():
        step = np.minimum(left[pending], 1.0)
        alive[pending] = _uniform(words(step.size)) < np.exp(-step)
        left[pending] -= step
    return alive


def _uniform(words: Words) -> Floats:
    """53-bit uniforms in [0, 1)."""
    return (words >> np.uint64(11)).view(np.int64).astype(np.float64) * 2.0**-53


@lru_cache(maxsize=64)
def _gaussian_layers(fine: float) -> _Layers:
    steps = fine * 2.0**-_LAYER_BITS  # scale in layers, in [4, 8)
    count = math.ceil(_GAUSSIAN_END * steps)
    heights = [math.exp(-0.5 * (v / steps) ** 2) for v in range(count + 1)]
    tail = heights[-1] * steps * (steps / count)  # layers' worth of exponential of scale S^2 / end
    return _Layers([*heights[:-1], tail])


@lru_cache(maxsize=64)
def _exponential_layers(fine: float) -> _Layers:
    steps = fine * 2.0**-_LAYER_BITS
    count = math.ceil(_LAPLACE_END * steps)
    heights = [math.exp(-v / steps) for v in range(count + 1)]
    return _Layers([*heights[:-1], heights[-1] * steps])


def _alias_table(masses: list[float]) -> tuple[Integers, Integers]:
    """Integer alias table (Walker/Vose): column i yields i below cut[i], else other[i]."""
    whole = _COLUMNS << _COLUMN_BITS
    total = math.fsum(masses)
    weights = [round(math.ldexp(mass / total, 62)) for mass in masses]
    weights[0] += whole - sum(weights)  # the heaviest absorbs a rounding below 2^-54 of itself
    weights += [0] * (_COLUMNS - len(weights))
    column = 1 << _COLUMN_BITS
    cut, other = [column] * _COLUMNS, list(range(_COLUMNS))
    small = [i for i, weight in enumerate(weights) if weight < column]
    large = [i for i, weight in enumerate(weights) if weight >= column]
    while small and large:
        low, high = small.pop(), large[-1]
        cut[low], other[low] = weights[low], high
        weights[high] -= column - weights[low]
        if weights[high] < column:
            small.append(large.pop())
    return np.array(cut, dtype=np.int64), np.array(other, dtype=np.int64)
