"""Looks at the records through the cells of a grid, where noise is Laplace: every record votes for its cell.

What one record changes. It adds one vote to one cell, or to none outside the look's window: the l1 norm of that is 1
however fine the grid is (`LatticeCounts`), and two records that replace each other change two cells by one. The l1 norm
of a kernel sum's features grows with the root of their number, which is why pure budgets (`delta=0`) have votes. The
window and the cells of the first look follow from the public bounds and k; those of the second from what the first
released. The grid's number of cells is bounded by public constants.

Two looks together show less than one with the sum of their budgets: with shares a and b, precisions are as a^2 and b^2.
So the first look is coarse and gets little: it tells which part of the bounds the records fill.
"""

import numpy as np

from knoll.numeric.posterior.cells import filled
from knoll.numeric.posterior.sample import sample
from knoll.numeric.posterior.view import View
from knoll.numeric.posterior.votes import VoteGrid, view_of_votes
from knoll.privacy import Ask, Grant
from knoll.queries import Ball, Box, Lattice, LatticeCounts
from knoll.queries.query import COUNT_WEIGHT
from knoll.steps.kernel_look import MARGIN, PARTLY, usual_distance

# Settled on the tuned kinds of benchmarks/small.
FIRST, FIRST_CHAINS = 0.1, 2  # part of the budget of the first look, and chains that tell what records fill
FIRST_SIDE, SIDE = 0.4, {2: 0.12, 3: 0.25}  # of a cell, over the usual distance of clusters; by columns
NEARER = 0.75  # the second look has a window of its own if clusters are nearer to each other by this factor
FEWEST, MOST = 4, {2: 320, 3: 48}  # cells along a column; at most by columns: more take long to read


def vote_asks(n_columns: int, share: float) -> list[Ask]:
    """Return the most that both looks ask."""
    vote = float(COUNT_WEIGHT)
    return [Ask(1, MOST[n_columns] ** n_columns, 2, share=FIRST * share, bound=(vote, vote))]


def release_vote_view(
    grant: Grant, domain: Box | Ball, scales: np.ndarray, total: float, k: int, rng: np.random.RandomState
) -> View:
    """Look at all of the bounds, then finer, and nearer if records fill a part of them only."""
    half = domain.half / scales
    whole = usual_distance(2 * half, k)
    first = look(grant.part(FIRST), domain, scales, (-half, 2 * half), FIRST_SIDE * whole)
    view = view_of_votes([first], -half, 2 * half, whole)
    low, high, _ = filled(sample(view, k, total, rng, chains=FIRST_CHAINS), view)
    spacing = min(usual_distance(high - low, k, PARTLY), whole)
    if spacing > NEARER * whole:
        second = look(grant, domain, scales, (-half, 2 * half), SIDE[len(half)] * whole)
        return view_of_votes([first, second], -half, 2 * half, whole)
    more = MARGIN * (high - low) + FIRST_SIDE * whole / 2
    low, high = np.maximum(low - more, 0.0), np.minimum(high + more, 2 * half)
    near = low - half, high - low
    return view_of_votes([look(grant, domain, scales, near, SIDE[len(half)] * spacing)], *near, spacing)


def look(
    grant: Grant, domain: Box | Ball, scales: np.ndarray, window: tuple[np.ndarray, np.ndarray], side: float
) -> VoteGrid:
    """Release the votes in a window, lower corner and lengths, with all of a grant."""
    low, length = window
    cells = np.clip(np.rint(length / side), FEWEST, MOST[len(low)]).astype(int)
    start, d = domain.centre + low * scales, len(low)
    lattice = Lattice(domain, start, start + length * scales, np.zeros(d), (1,) * d, tuple(cells.tolist()))
    released = grant.release(LatticeCounts(lattice))
    return VoteGrid(low, length / cells, released.value, float(np.max(released.stderr)))
