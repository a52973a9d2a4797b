"""Is there a valley between neighbouring cells? Released votes, against what one cloud and what two would give.

Each record voted for its two nearest centres, near the border between them or not. For a pair of cells, `apart` is the
number of votes near the border if each cell is a Gaussian of its own, `joined` if both are one. What was released lies
between: its place, 0 at `apart` and 1 at `joined`, is near 0 for clear clusters, 1 for the halves of one Gaussian, and
about 1/2 for parts of an even cloud or sheet, whatever its shape. The distance of the two means in standard deviations
along the line between them tells too: 2.7 for the halves of a Gaussian, 3.5 for an even cloud, 5 for clear clusters.

Groups of cells are joined, the likeliest first: by all pairs across together, or by the one that speaks most for it, as
two ends of a bent sheet face each other across a gap, and are one by their middle. It works on released values.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse.csgraph import connected_components

from knoll.numeric.distances import squared_distances
from knoll.numeric.hills import neighbours

# Measured on made-up clouds and clusters (benchmarks/choose).
PLACE, SPREAD, SPREAD_APART = 0.5, 0.2, 0.08  # place of parts of one cloud, and how far places scatter beside noise
EVEN, SLOPE, MOST_BY_WIDTH = 4.4, 1.2, 2.5  # distance that speaks for neither; log odds for each unit; and at most
# Log odds before the votes: pieces that the noise hides were taken for hills and stay so; others must show a valley.
IN_DOUBT, IF_CLEAR, NOISY = -1.5, 1.0, 0.1  # NOISY: standard error of the place between the two
ALONE = 2.0  # log odds less, if one pair speaks for all: it was picked
ROUGH = 0.15  # part by which the votes expected of two clouds may be wrong: cells are no Gaussians
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


def join(evidence: Evidence, m: int, doubt: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Return the group of each of m cells, and the log odds at which groups were joined, the last one not.

    Pairs of groups are joined while the log odds that they are one exceed `doubt`.
    """
    sums, group, odds = _sums(evidence, m), np.arange(m), []
    best = _log_odds(sums) - ALONE
    score = best + ALONE
    while m > 1:
        a, b = (int(end) for end in np.unravel_index(score.argmax(), score.shape))
        odds.append(float(score[a, b]))
        if not odds[-1] > doubt:
            break
        sums[:, a] += sums[:, b]
        sums[:, :, a] += sums[:, :, b]
        sums[:, b] = sums[:, :, b] = sums[:, a, a] = 0.0
        best[a] = best[:, a] = np.maximum(best[a], best[b])
        best[a, a] = best[b] = best[:, b] = -np.inf
        group[group == b] = a
        score[a] = score[:, a] = np.maximum(_log_odds(sums[:, a]), best[a])
        score[b] = score[:, b] = -np.inf
    return np.unique(group, return_inverse=True)[1], np.array(odds)


def _sums(evidence: Evidence, m: int) -> np.ndarray:
    """Return what is added up over pairs: weight x place, weights, noise, log odds by width, roughness; (5, m, m)."""
    weight = np.maximum(evidence.joined - evidence.apart, 0.0)
    noise = 2 * evidence.votes_sd**2 + np.maximum(evidence.votes, 0.0)
    rough = np.square(ROUGH * evidence.apart)
    by_width = np.clip(SLOPE * (EVEN - evidence.width), -MOST_BY_WIDTH, MOST_BY_WIDTH)
    place = (evidence.votes - evidence.apart) / np.maximum(weight, 1e-300)
    sums = np.zeros((5, m, m))
    i, j = evidence.ends.T
    for k, part in enumerate((place, 1.0, noise, by_width, rough)):
        sums[k, i, j] = sums[k, j, i] = weight**2 * part
    return sums


def _log_odds(sums: np.ndarray) -> np.ndarray:
    """Return the log odds that groups are one, against two, from the sums over the pairs across."""
    top, weight, noise, by_width, rough = sums
    known = weight > 0
    weight = np.where(known, weight, 1.0)
    place, error = np.clip(top / weight, 0.0, PLACE), (noise + rough) / weight**2
    prior = IN_DOUBT + (IF_CLEAR - IN_DOUBT) / (1 + noise / weight**2 / NOISY**2)
    one, two = error + SPREAD**2, error + SPREAD_APART**2
    odds = (place**2 / two - (place - PLACE) ** 2 / one - np.log(one / two)) / 2
    return np.where(known, np.clip(odds, -MOST_BY_VOTES, MOST_BY_VOTES) + by_width / weight + prior, -np.inf)
