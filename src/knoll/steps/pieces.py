"""Pieces: more cells than there are clusters, joined step by step while no valley shows between them.

    pieces   from the released count: how many cells the noise lets us see
    tree     the search of `search_tree`, for that many
    rounds   a Lloyd step with the pieces; those that stand on one hill become one piece   (numeric/hills.py),
             and pieces that seem to hold several clusters are halved
    votes    each record votes for its two nearest pieces, near the border between them or not   (numeric/valleys.py)
    again    pieces that are surely one are joined, and measured once more; then the votes again. If hardly any are, the
             second votes are asked between the same pieces, and both are averaged

Rounds join only what hardly rises above its pass, since what is joined stays joined. Later pieces are larger, and
better known. When few are left to be joined, the votes get the rest of the rounds' budget: which of the last pieces
belong together is for the votes to say (choose.py).
"""

from dataclasses import dataclass, replace

import numpy as np

from knoll.numeric.hills import hills
from knoll.numeric.valleys import BORDER, Evidence, join
from knoll.privacy import Ask, Grant
from knoll.queries import Box, Frame, Nearest, PairVotes
from knoll.steps.centres import Centres
from knoll.steps.refine import Refined, lloyd_step, solve, synthetic_points
from knoll.steps.search import Searched
from knoll.steps.shapes import ShapeRequest, effective
from knoll.steps.tree import HALF_MEAN, HALF_VARIANCE, Leaves

# Settled on made-up clusters and clouds (benchmarks/choose).
PIECE = ShapeRequest("count, mean and variance of pieces", count=0.8, squares=0.4, bias=1e-3)
MOST, FEWEST = 320, 12  # pieces: more take longer, and 200 clusters are still seen
PER_PIECE = 14.0  # records to a piece, in units of noise x sqrt(dimensions): fewer cannot be placed
RISES = (0.15, 0.2, 0.3, 0.0)  # of a hill over its pass, round by round: see above. The last joins nothing
FEW = 0.1  # if a smaller part of the pieces would be joined, they stay as they are, for the votes to tell
ROUND_GROWTH = 0.75  # each round gets this part of the budget of the one before: the first pieces are the smallest
FIRST_VOTES = 0.45  # part of the votes' budget that the first ones get
SURE = 2.0  # log odds above which the first votes join pieces for good
# A joined piece is halved if it has HALVE times the records of an average first piece, and its variance in some column
# is WIDER times that of the others: it may hold several clusters, as groups of groups do at first.
HALVE, WIDER = 2.5, 2.5
SEEN = 2.0  # pieces below this many standard errors are left out


@dataclass(frozen=True)
class Pieces:
    """What was released of pieces, in a frame.

    Attributes
    ----------
    at, at_sd, variance : arrays of shape (m, d)
        Means, their standard errors, and variances per column.
    count, count_sd : arrays of shape (m,)
        Counts and their standard errors.
    votes : array of shape (m, m)
        Votes near the border of each pair, counted from both sides.
    votes_sd : float
        Standard error of the votes counted from one side.
    """

    at: np.ndarray
    at_sd: np.ndarray
    variance: np.ndarray
    count: np.ndarray
    count_sd: np.ndarray
    votes: np.ndarray
    votes_sd: float

    def evidence(self, rng: np.random.RandomState) -> Evidence:
        """Return what is known of neighbouring pairs."""
        return Evidence.of(self.at, self.variance, self.count, self.votes, self.votes_sd, rng)


def pieces_asks(n_columns: int, rounds: float, votes: float) -> list[Ask]:
    """Return the most that the rounds and the votes release."""
    last = rounds * float((_shares() / _shares().sum()).min())
    probe = PairVotes(Nearest(np.array([[-1.0], [1.0]]), Box((-2.0,), (2.0,))), BORDER)
    return [
        PIECE.plan(n_columns, MOST, len(_shares()), share=last),
        Ask.like(probe, MOST * MOST // 4, 2, share=votes * min(FIRST_VOTES, 1 - FIRST_VOTES)),
    ]


def how_many(grant: Grant, frame: Frame, root: Leaves) -> int:
    """Return how many pieces the noise of a whole grant lets us see, from the released count of all records."""
    unit = PIECE.noise(grant.worth(grant.share), frame) / (PIECE.count**2 + 1 + PIECE.squares**2) ** 0.5
    dims = float(effective(np.sqrt(root.variance[0])))
    return int(np.clip(root.count[0] / (PER_PIECE * unit * dims**0.5), FEWEST, MOST))


def find_pieces(found: Searched, rounds: Grant, votes: Grant, rng: np.random.RandomState) -> Pieces:
    """Release the shapes of pieces, round by round, and the votes between those that are left."""
    frame, root, m = found.frame, found.root, found.k
    points, weights = synthetic_points(found.leaves, found.hedge, rng)
    centres = solve(points, weights, min(m, len(points) // 2), rng)
    if found.rotation is not None:
        centres = found.rotation.lift(centres, root)
    walls = root.lower[0], root.upper[0]
    *grants, again = rounds.in_proportion(_shares())
    for grant, rise in zip(grants, RISES, strict=True):
        now = lloyd_step(Refined.start(centres), grant, frame, len(centres.at), walls, PIECE)
        which = _seen(now)
        group = hills(now.centres.at[which], now.centres.variance[which], now.count[which], rise)
        if _few(group):
            break
        centres = halved(joined(now.centres, now.count, which, group), m, float(root.count[0]) / m)
    pieces = _with_votes(now, which, frame, votes.part(FIRST_VOTES))
    if len(which) == 1:
        return pieces
    group = join(pieces.evidence(rng), len(which), SURE)
    if _few(group):
        return _more_votes(pieces, frame, votes.joined(rounds))
    centres = joined(now.centres, now.count, which, group)
    now = lloyd_step(Refined.start(centres), again, frame, len(centres.at), walls, PIECE)
    return _with_votes(now, _seen(now), frame, votes.joined(rounds))


def _few(group: np.ndarray) -> bool:
    """Return whether hardly any pieces are in a group with others."""
    return bool(group.max() + 1 > (1 - FEW) * len(group))


def _with_votes(now: Refined, which: np.ndarray, frame: Frame, grant: Grant) -> Pieces:
    """Release the votes between pieces. One piece needs none."""
    assert now.spread is not None
    at, variance = now.centres.at[which], now.centres.variance[which]
    near, error = _ask_votes(at, frame, grant) if len(which) > 1 else (np.zeros((1, 1)), 1.0)
    spread = np.minimum(np.sqrt(now.spread[which]), np.sqrt(variance))
    return Pieces(at, spread, variance, np.maximum(now.count[which], 1.0), np.sqrt(now.doubt[which]), near, error)


def _more_votes(pieces: Pieces, frame: Frame, grant: Grant) -> Pieces:
    """Release the votes between the same pieces again. Both answers are averaged by precision."""
    near, error = _ask_votes(pieces.at, frame, grant)
    part = pieces.votes_sd**2 / (pieces.votes_sd**2 + error**2)
    return replace(pieces, votes=pieces.votes + part * (near - pieces.votes), votes_sd=part**0.5 * error)


def _ask_votes(at: np.ndarray, frame: Frame, grant: Grant) -> tuple[np.ndarray, float]:
    """Return the votes near the border of each pair, from both sides, and the standard error of those from one."""
    released = grant.release(PairVotes(Nearest(frame.outside(at), frame.domain, frame.scales), BORDER))
    near = released.value[:, :, 1]
    return near + near.T, float(released.stderr.flat[0])


def _shares() -> np.ndarray:
    """Return the budgets of the rounds, and of the last shapes, in proportion."""
    return np.asarray(ROUND_GROWTH ** np.arange(len(RISES) + 1))


def _seen(now: Refined) -> np.ndarray:
    """Return which pieces stand out of the noise; the largest is always one."""
    seen = now.count > np.maximum(SEEN * np.sqrt(now.doubt), 1.0)
    seen[now.count.argmax()] = True
    return np.flatnonzero(seen)


def joined(centres: Centres, count: np.ndarray, which: np.ndarray, group: np.ndarray) -> Centres:
    """Return one centre for each group of some pieces, with the moments of all its records."""
    weight = np.maximum(count[which], 1e-9)
    part = np.zeros((int(group.max()) + 1, len(which)))
    part[group, np.arange(len(which))] = weight / np.bincount(group, weight)[group]
    at = part @ centres.at[which]
    variance = part @ (centres.variance[which] + np.square(centres.at[which] - at[group]))
    return Centres(at, variance, np.bincount(group, weight), np.square(part) @ centres.error[which])


def halved(centres: Centres, most: int, usual: float) -> Centres:
    """Halve the centres that are wide and heavy, across their widest column, while there are no more than `most`.

    `usual` is the number of records of an average piece, as large as the noise lets us see.
    """
    at, variance, weight, error = (each.copy() for each in vars(centres).values())
    common = np.exp(np.average(np.log(variance), axis=0, weights=weight))
    wide = (variance / common).max(axis=1) > WIDER
    order = np.argsort(-weight * variance.max(axis=1), kind="stable")
    big = order[(wide & (weight > HALVE * usual))[order]][: max(0, most - len(weight))]
    axis = variance[big].argmax(axis=1)
    away = np.zeros((len(big), at.shape[1]))
    away[np.arange(len(big)), axis] = HALF_MEAN * np.sqrt(variance[big, axis])
    variance[big, axis] *= HALF_VARIANCE
    weight[big] /= 2
    other = at[big] - away
    at[big] += away
    both = (at, other), (variance, variance[big]), (weight, weight[big]), (error, error[big])
    return Centres(*(np.concatenate(pair) for pair in both))
