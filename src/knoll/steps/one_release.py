"""A kernel sum instead of a tree: where the budget is small and columns are few.

    look     release a kernel sum: the kernel is a quarter as wide as clusters are apart    (kernel_look.py)
    look     release it again, finer and nearer if records fill only a part of the bounds
    sample   mixtures that are likely, given what was released: free                        (numeric/posterior)
    decide   weighted k-means of the mean of their densities: free

Bandwidths follow from k, the public bounds and the first look. All else is post-processing.

With Laplace noise (`delta=0`) the l1 norm counts, which grows with the root of the number of frequencies: there both
looks are votes in the cells of a grid (vote_look.py), from which the same densities are sampled.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from knoll.diagnose import CellSums
from knoll.estimator import FitContext
from knoll.numeric.bars import Bars
from knoll.numeric.posterior.bars import bars_of_draws
from knoll.numeric.posterior.cells import best_cells, filled
from knoll.numeric.posterior.sample import sample
from knoll.numeric.posterior.view import View
from knoll.privacy import Ask, Grant
from knoll.queries import Ball, Box, Count, FourierGrid
from knoll.steps.kernel_look import BANDWIDTH, FEATURES, Window, look, view_of
from knoll.steps.means import CellMeans
from knoll.steps.shapes import Shapes
from knoll.steps.vote_look import release_vote_view, usual_distance, vote_asks

FIRST, FIRST_CHAINS = 0.3, 2  # part of the budget of the first look, and chains that tell what records fill
ALIKE = 0.75  # the second look has the kernel of the first, unless clusters are nearer to each other by this factor
FAR = 0.15  # the first look is forgotten if clusters are nearer by this factor: it shows none of them
PARTLY = 0.5  # between clusters that touch (0), and clusters so tight that records end where the last centres are (1)
MARGIN = 0.25  # of what records fill is added at each end: no cluster at the edge is cut
LEAST_EPSILON = 1e-3  # for each record of a user: below, drawing noise for so many features costs too much of it
MOST_CLUSTERS = 200  # more take long to sample
# Records of a cluster over the noise of one count, up to which a kernel sum is better, by columns (benchmarks/small).
MOST_CLEAR = {2: 75.0, 3: 75.0}
MOST_CLEAR_VOTES = {2: 500.0, 3: 500.0}  # the same for votes and Laplace noise, where a tree sees less
# Standard errors that the number of records is above zero: weights are drawn about it. With Laplace noise anything is
# better than a tree.
CLEAR_COUNT = 4.0


ONCE, VOTES, TREE = "kernel sum", "votes", "tree"


@dataclass(frozen=True)
class OnceFound:
    """Clusters of a kernel sum: their means, error bars, variances per column, and how many draws they rest on."""

    means: CellMeans
    bars: Bars
    variances: np.ndarray
    effective: float


@dataclass(frozen=True)
class Clarity:
    """How well a budget shows clusters, and what follows from it.

    Attributes
    ----------
    value : float
        Released records per cluster, over the standard error of one count with the whole budget.
    once : bool
        Whether a kernel sum is used.
    """

    value: float
    once: bool


UNKNOWN = Clarity(0.0, once=False)


def may_release_once(estimator: Any, n_columns: int, k: int) -> bool:
    """Whether parameters and columns allow a kernel sum: what is known before a fit begins."""
    cap = 1 if estimator.unit is None else int(estimator.unit.cap)
    enough = estimator.delta == 0 or estimator.epsilon >= LEAST_EPSILON * cap
    return bool(n_columns in MOST_CLEAR and enough and 2 <= k <= MOST_CLUSTERS)


def once_asks(n_columns: int, share: float, *, pure: bool = False) -> list[Ask]:
    """Return the most that the looks at a kernel sum, or at votes, ask."""
    if pure:
        return vote_asks(n_columns, share)
    return [Ask(FEATURES, FEATURES, 2, share=FIRST * share, bound=(0.0, FourierGrid.longest(n_columns, FEATURES)))]


def clarity(context: FitContext, seen: Shapes, k: int, *, allowed: bool) -> Clarity:
    """Decide between a kernel sum and the tree, from public facts and what is released of all records."""
    value = max(float(seen.count[0]), 1.0) / k / float(context.grant.worth(context.grant.share).stderr(Count()))
    plain = isinstance(context.domain, Box | Ball) and not context.domain.constant.any()
    pure = context.grant.norm == 1
    known = pure or float(seen.count[0]) > CLEAR_COUNT * seen.count_sd
    most = most_clear(context.domain.n_columns, pure=pure)
    return Clarity(value, once=allowed and plain and known and value <= most)


def most_clear(n_columns: int, *, pure: bool) -> float:
    """Return up to which clarity a kernel sum, or votes, are better than a tree; zero where they are not used."""
    return (MOST_CLEAR_VOTES if pure else MOST_CLEAR).get(n_columns, 0.0)


def reason(value: float, n_columns: int, strategy: str, *, pure: bool) -> str:
    """Return in a sentence why a kernel sum was used, or not; `value` as in `Clarity`."""
    most, what = most_clear(n_columns, pure=pure), f"{VOTES} in a grid" if pure else f"a {ONCE}"
    show, are = ("show", "are") if pure else ("shows", "is")
    if value <= 0:
        return "A file of an earlier version does not tell why"
    clear = f"A cluster has about {value:.3g} times as many records as one count has noise"
    if strategy in (ONCE, VOTES):
        return f"{clear}, not above {most:g}: {what} {show} more than a tree of cells"
    if value <= most:
        return f"{clear}, but the budget is tiny, or a column is constant or no number: tree and steps"
    if not most:
        return f"{clear}; {what} {are} for {' or '.join(map(str, MOST_CLEAR))} columns: tree and steps"
    return f"{clear}, above {most:g}: tree and steps place centres better"


def release_clusters(context: FitContext, grant: Grant, total: float, k: int, rng: np.random.RandomState) -> OnceFound:
    """Look twice. Return the best centres and what is known of their cells, in the columns."""
    view = release_view(context, grant, total, k, rng)
    cells = best_cells(sample(view, k, total, rng), view, k, rng)
    scales, domain = context.scales, context.domain
    bars = bars_of_draws(cells, domain.half / scales, pure=grant.norm == 1)
    bars = Bars(bars.centres * scales, bars.sizes, bars.seen)
    count = np.maximum(cells.count, 1e-9)[:, None]
    variance = np.maximum(cells.squares / count, np.square(view.widths[0]))
    inside = view.low + cells.centres  # from the middle of the bounds, as frames are
    off = cells.mean - cells.centres
    sums = CellSums(
        inside, inside, cells.count, float(np.median(cells.count_sd)), off * count, cells.mean_sd * count,
        cells.squares, cells.squares_sd, variance, np.broadcast_to(view.window, inside.shape),
    )  # fmt: skip
    at = domain.clip(domain.centre + inside * scales)
    means = CellMeans(at, bars.centres, cells.count, bars.sizes, bars.seen, sums=sums)
    return OnceFound(means, bars, variance * np.square(scales), cells.effective)


def release_view(context: FitContext, grant: Grant, total: float, k: int, rng: np.random.RandomState) -> View:
    """Look at all of the bounds, then again, finer and nearer if records fill a part of them only."""
    scales, domain = context.scales, context.domain
    if grant.norm == 1:
        return release_vote_view(grant, domain, scales, total, k, rng)
    half = domain.half / scales
    whole = Window(-half, 2 * half, usual_distance(2 * half, k)).affordable()
    first = look(grant.part(FIRST), domain, scales, whole)
    view = view_of([first], scales)
    low, high = filled(sample(view, k, total, rng, chains=FIRST_CHAINS), view)
    spacing = min(usual_distance(high - low, k, PARTLY), whole.spacing)
    if spacing > ALIKE * whole.spacing:
        return view_of([first, look(grant, domain, scales, whole)], scales)
    more = MARGIN * (high - low) + BANDWIDTH * whole.spacing
    low, high = np.maximum(low - more, 0.0), np.minimum(high + more, 2 * half)
    near = Window(low - half, high - low, spacing).affordable()
    second = look(grant, domain, scales, near)
    return view_of([first, second] if near.spacing > FAR * whole.spacing else [second], scales)
