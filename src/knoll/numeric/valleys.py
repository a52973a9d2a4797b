"""Is there a valley between neighbouring cells? Released votes, against what one cloud and what two would give.

Each record voted for its two nearest centres, near the border between them or not. For a pair of cells, `joined` is the
number of votes near the border if both are one Gaussian, `apart` if each is a Gaussian of its own. What was released is
looked at as a part of `joined`. Halves of one Gaussian give 1, parts of an even cloud or sheet about 3/4, and heavy
tails more. Two clusters give `apart`: 1/2 at 3.5 standard deviations, 1/4 at 5, and nothing farther away. `joined`
depends on the distance of the two centres above all, which is well known. `apart` depends on noisy variances, so it
only says how much more one must see than two clusters could show.

The distance of the two means in standard deviations along the line between them tells too: 2.7 for the halves of a
Gaussian, 3.5 for an even cloud, 5 for clear clusters.

Groups of cells are joined, the likeliest first: by all pairs across together, or by the one that speaks most for it, as
two ends of a bent sheet face each other across a gap, and are one by their middle. It works on released values.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse.csgraph import connected_components

from knoll.numeric.distances import squared_distances
from knoll.numeric.hills import neighbours

# Measured on made-up clouds and clusters (benchmarks/choose); results hardly change with any of them.
BORDER = 0.2  # near a border is within this part of the distance of two centres: wider blurs valleys, narrower is noise
ONE, SPREAD = 0.75, 0.2  # part of `joined` that parts of one cloud give at least, and how far it scatters beside noise
TWO, SPREAD_APART = 0.55, 0.1  # part of `joined` that two clusters give at most, and how far it scatters
ROUGH = 0.15  # part by which the votes expected of two clouds may be wrong: cells are no Gaussians
EVEN, SLOPE, MOST_BY_WIDTH = 4.4, 1.0, 4.0  # distance that speaks for neither; log odds for each unit; and at most
# Log odds before the votes: pieces that the noise hides were taken for hills and stay so; others must show a valley.
IN_DOUBT, IF_CLEAR, NOISY = -0.9, 0.1, 0.1  # NOISY: standard error of the part, between the two
ALONE = 1.0  # log odds less, if one pair speaks for all: it was picked
MOST_BY_VOTES = 12.0  # log odds: the two models are not so true that more could be said
ONE_CLOUD = 2.0  # standard deviations between two Gaussians that leave no valley between them
DRAWS = 150  # points drawn for each pair and 2 for each cell: the error of an expected count is below a tenth


@dataclass(frozen=True)
class Evidence:
    """What is known of neighbouring pairs of cells.

    Attributes
    ----------
    ends : integer array of shape (p, 2)
        The pairs.
    apart, joined : arrays of shape (p,)
        Votes near the border that are expected of two clouds and of one.
    votes, votes_sd : array of shape (p,) and float
        Released votes near the border, and their standard error.
    width : array of shape (p,)
        Distance of the means, in standard deviations along the line between them.
    """

    ends: np.ndarray
    apart: np.ndarray
    joined: np.ndarray
    votes: np.ndarray
    votes_sd: float
    width: np.ndarray

    @classmethod
    def of(
        cls, at: np.ndarray, variance: np.ndarray, count: np.ndarray, votes: np.ndarray, votes_sd: float,
        rng: np.random.RandomState,
    ) -> "Evidence":  # fmt: skip
        """Return the evidence of released means, variances, counts and votes of cells; votes as (m, m)."""
        ends, apart, one = expected_votes(at, variance, count, BORDER, rng)
        return cls(ends, apart, one, votes[ends[:, 0], ends[:, 1]], votes_sd, widths(at, variance, count, ends))


def expected_votes(
    at: np.ndarray, variance: np.ndarray, count: np.ndarray, border: float, rng: np.random.RandomState
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return neighbouring pairs, and the votes near their borders that are expected of two clouds and of one."""
    m, d = at.shape
    gaps = squared_distances(at, at)
    ends = neighbours(gaps)
    drawn = at[:, None] + np.sqrt(variance)[:, None] * rng.standard_normal((m, 2 * DRAWS, d))
    first, second, near = _near_border(drawn.reshape(-1, d), at, gaps, border)
    each = np.zeros((m, m))
    np.add.at(each, (first[near], second[near]), np.repeat(count / (2 * DRAWS), 2 * DRAWS)[near])
    i, j = ends.T
    part = (count[j] / (count[i] + count[j]))[:, None]
    way, within = at[j] - at[i], (1 - part) * variance[i] + part * variance[j]
    middle, along = at[i] + part * way, np.sqrt(part * (1 - part)) * way
    drawn = middle[:, None] + np.sqrt(within)[:, None] * rng.standard_normal((len(i), DRAWS, d))
    drawn += rng.standard_normal((len(i), DRAWS, 1)) * along[:, None]
    first, second, near = (part.reshape(len(i), -1) for part in _near_border(drawn.reshape(-1, d), at, gaps, border))
    forth = (first == i[:, None]) & (second == j[:, None])
    back = (first == j[:, None]) & (second == i[:, None])
    return ends, (each + each.T)[i, j], (near & (forth | back)).mean(axis=1) * (count[i] + count[j])


def _near_border(
    points: np.ndarray, at: np.ndarray, gaps: np.ndarray, border: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the two nearest centres of points, and whether they are near the border, as `PairVotes` asks."""
    far, row = squared_distances(points, at), np.arange(len(points))
    first = far.argmin(axis=1)
    least = far[row, first].copy()
    far[row, first] = np.inf
    second = far.argmin(axis=1)
    return first, second, far[row, second] - least <= 2 * border * gaps[first, second]


def widths(at: np.ndarray, variance: np.ndarray, count: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Return the distances of pairs of means, in standard deviations along the line between them."""
    i, j = ends.T
    part = (count[j] / (count[i] + count[j]))[:, None]
    way = at[j] - at[i]
    within = (((1 - part) * variance[i] + part * variance[j]) * np.square(way)).sum(axis=1)
    return np.square(way).sum(axis=1) / np.sqrt(np.maximum(within, 1e-300))


def one_in_all_but(
    parts: list[slice], at: np.ndarray, error: np.ndarray, variance: np.ndarray, count: np.ndarray
) -> np.ndarray:
    """Return the group of each cell, if those are one that differ in one part of the columns alone.

    Elsewhere no valley is possible: their means, with squared errors, are within ONE_CLOUD standard deviations.
    """
    m = len(at)
    i, j = np.triu_indices(m, 1)
    share = (count[j] / (count[i] + count[j]))[:, None]
    within = (1 - share) * variance[i] + share * variance[j]
    way = np.maximum(np.square(at[j] - at[i]) - error[i] - error[j], 0.0)
    one = np.zeros((m, m), dtype=bool)
    for part in parts:
        rest, spread = np.delete(way, part, axis=1), np.delete(within, part, axis=1)
        one[i, j] |= np.square(rest.sum(axis=1)) <= ONE_CLOUD**2 * (rest * spread).sum(axis=1)
    return np.asarray(connected_components(one, directed=False)[1])


def join(evidence: Evidence, m: int, doubt: float = 0.0) -> np.ndarray:
    """Return the group of each of m cells.

    Pairs of groups are joined while the log odds that they are one exceed `doubt`.
    """
    sums, group = _sums(evidence, m), np.arange(m)
    best = _log_odds(sums) - ALONE
    score = best + ALONE
    while m > 1:
        a, b = (int(end) for end in np.unravel_index(score.argmax(), score.shape))
        if not score[a, b] > doubt:
            break
        sums[:, a] += sums[:, b]
        sums[:, :, a] += sums[:, :, b]
        sums[:, b] = sums[:, :, b] = sums[:, a, a] = 0.0
        best[a] = best[:, a] = np.maximum(best[a], best[b])
        best[a, a] = best[b] = best[:, b] = -np.inf
        group[group == b] = a
        score[a] = score[:, a] = np.maximum(_log_odds(sums[:, a]), best[a])
        score[b] = score[:, b] = -np.inf
    return np.unique(group, return_inverse=True)[1]


def _sums(evidence: Evidence, m: int) -> np.ndarray:
    """Return sums over pairs, (5, m, m): votes, 1, their noise, log odds by width, and votes of two, as weighted parts.

    Parts are of the votes expected of one cloud. A pair weighs as the square of these: its votes are as noisy as any.
    """
    one = np.maximum(evidence.joined, 0.0)
    noise = 2 * evidence.votes_sd**2 + np.maximum(evidence.votes, 0.0)
    by_width = np.clip(SLOPE * (EVEN - evidence.width), -MOST_BY_WIDTH, MOST_BY_WIDTH)
    two = np.minimum(evidence.apart, TWO * one)
    sums, (i, j) = np.zeros((5, m, m)), evidence.ends.T
    for k, part in enumerate((one * evidence.votes, one**2, one**2 * noise, one**2 * by_width, one * two)):
        sums[k, i, j] = sums[k, j, i] = part
    return sums


def _log_odds(sums: np.ndarray) -> np.ndarray:
    """Return the log odds that groups are one, against two, from the sums over the pairs across.

    More votes than one cloud must give, or fewer than two may give, speak no louder than these.
    """
    votes, weight, noise, by_width, apart = sums
    known = weight > 1
    weight = np.where(known, weight, 1.0)
    part, error, least = votes / weight, noise / weight**2, apart / weight
    one, two = error + SPREAD**2, error + SPREAD_APART**2 + np.square(ROUGH * least)
    above, below = np.maximum(part - least, 0.0), np.minimum(part - ONE, 0.0)
    odds = (above**2 / two - below**2 / one - np.log(one / two)) / 2
    prior = IN_DOUBT + (IF_CLEAR - IN_DOUBT) / (1 + error / NOISY**2)
    return np.where(known, np.clip(odds, -MOST_BY_VOTES, MOST_BY_VOTES) + by_width / weight + prior, -np.inf)
