"""Whether a range leaves more records outside than it may, as far as noise lets one say. Pure functions.

After the last look every column has a range, and one more release counts what lies outside (`OutsideVotes`). From it
comes an upper limit on how many records are outside, which is too low with a stated chance only. A range is extended,
ring by ring, until the limit is low enough; it is in doubt if there is no such ring. So what noise may hide counts as
if it were there: rather extend than cut.
"""

from dataclasses import dataclass

import numpy as np

from knoll.arrays import Floats
from knoll.bounds.grids import widened
from knoll.queries import OutsideVotes

MOST_OUTSIDE = 0.02
"""Share of the records of a column that bounds may cut."""

RINGS = 8  # on each side; the last is open
_NEAR = 6  # of them twice as far as the one before: they begin within 31 half widths of the range
_APART = 4.0  # times that each of the others is as far as the one before, at least
_CHANCE = 1 / 3  # over the root of the columns: that a limit is too low. Few ranges are wrong, so few cut too much
_NOT_CLEAR = 1.5  # standard errors by which classes of `OutsideVotes` are taken to be smaller than they seem


@dataclass(frozen=True)
class Extension:
    """By how many rings a range is extended below and above, and whether what is left outside is known to be little."""

    below: int
    above: int
    enough: bool


def chance(n_columns: int) -> float:
    """Return the chance with which the limit of one column may be too low: less for each of many."""
    return float(_CHANCE / n_columns**0.5)


def surroundings(lower: Floats, upper: Floats, widest: tuple[Floats, Floats]) -> Floats:
    """Return the edges of the rings about each range: near ones, and far ones up to the widest range ever seen."""
    lower, upper = widened(lower, upper)
    half = (upper - lower)[:, None] / 2
    near = np.tile(np.exp2(np.arange(_NEAR)) - 1, (len(half), 1))
    last, far = near[:, -1:], RINGS - _NEAR
    sides = []
    for reach in (lower - widest[0], widest[1] - upper):
        step = np.maximum(reach[:, None] / (half * last), _APART**far) ** (1 / far)
        sides.append(half * np.hstack([near, last * step ** np.arange(1, far + 1)]))
    return np.hstack([lower[:, None] - sides[0][:, ::-1], upper[:, None] + sides[1]])


def hidden_by_parts(query: OutsideVotes, classes: Floats, stderr: float) -> float:
    """Return how many times too few parts of votes are, on average, from how many columns records are outside in."""
    k = np.arange(len(classes))
    number = np.array([np.ceil(np.mean(np.flatnonzero(query.classes == each) + 1)) for each in k]).astype(np.int64)
    part = query.parts[number - 1] / query.parts[0]
    records = np.maximum(classes - _NOT_CLEAR * stderr * (k > 0), 0.0) * number
    return float(records.sum() / (records @ part)) if records.any() else 1.0


def extension(total: float, rings: Floats, errors: tuple[float, float], most: float, sure: float) -> Extension:
    """Return how far a range must be extended for an upper limit of what is left outside to be low enough.

    Parameters
    ----------
    total : float
        Released number of records outside.
    rings : array of shape (2 RINGS,)
        Those in each ring, from below to above.
    errors : tuple of float
        Standard errors of the total and of each ring.
    most : float
        The largest number that may be outside.
    sure : float
        Standard errors between what seems to be left and the limit.
    """
    # the total says the same as all rings together, and better: each ring is corrected by its part of the difference
    common = errors[1] ** 2 / (len(rings) * errors[1] ** 2 + errors[0] ** 2)
    likely = rings + common * (total - rings.sum())
    by = np.arange(RINGS)
    below, above = np.cumsum(likely[:RINGS])[::-1], np.cumsum(likely[::-1][:RINGS])[::-1]
    left = below[:, None] + above  # of an extension by so many rings below and above
    number = 2 * RINGS - by[:, None] - by
    limit = np.maximum(left, 0.0) + sure * errors[1] * np.sqrt(number - number**2 * common)
    width = np.exp2(by)[:, None] + np.exp2(by)
    for enough, low in ((True, limit <= most), (False, left <= most)):
        if low.any():
            at = int(np.where(low, width, np.inf).argmin())
            return Extension(at // RINGS, at % RINGS, enough)
    return Extension(RINGS - 1, RINGS - 1, False)
