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
from knoll.numeric.posterior.cells import CellFigures, best_cells, filled
from knoll.numeric.posterior.sample import sample
from knoll.numeric.posterior.view import View
from knoll.privacy import Ask, Grant
from knoll.queries import Ball, Box, Count, FourierGrid
from knoll.steps.kernel_look import BANDWIDTH, FEATURES, MARGIN, PARTLY, Window, look, usual_distance, view_of
from knoll.steps.means import CellMeans
from knoll.steps.shapes import Shapes
from knoll.steps.vote_look import release_vote_view, vote_asks

FIRST, FIRST_CHAINS = 0.3, 2  # part of the budget of the first look, and chains that tell what records fill
ALIKE = 0.75  # the second look has the kernel of the first, unless clusters are nearer to each other by this factor
FAR = 0.15  # the first look is forgotten if clusters are nearer by this factor: it shows none of them
# Where records fill the bounds from end to end, they may lie along a line, or in a few places: the space that they take
# says how near the second look is, and the clearer clusters are, the nearer. Settled on the tuned kinds of
# benchmarks/small and on birch2, epsilon .1 to 1. In three columns it lost (epsilon .25: 1.13 to 1.21) and took longer.
SPARSE = {2: 9.0}
LEAST_EPSILON = 1e-3  # for each record of a user: below, drawing noise for so many features costs too much of it
MOST_CLUSTERS = 200  # more take long to sample
# Records of a cluster over the noise of one count, up to which a kernel sum is better, by columns (benchmarks/small).
MOST_CLEAR = {2: 50.0, 3: 75.0}
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


def clarity(
    context: FitContext, seen: Shapes, k: int, *, allowed: bool, most: dict[int, float] | None = None
) -> Clarity:
    """Decide between a kernel sum and something else, from public facts and what is released of all records."""
    most = most or limits_of(pure=context.grant.norm == 1)
    return clarity_of(context, float(seen.count[0]), float(seen.count_sd), k, allowed=allowed, most=most)


def clarity_of(
    context: FitContext, count: float, count_sd: float, k: int, *, allowed: bool, most: dict[int, float]
) -> Clarity:
    """Decide between a kernel sum and something else, from public facts and the released number of records.

    `most` is the clarity up to which a kernel sum is better, by columns.
    """
    value = max(count, 1.0) / k / float(context.grant.worth(context.grant.share).stderr(Count()))
    plain = isinstance(context.domain, Box | Ball) and not context.domain.constant.any()
    known = context.grant.norm == 1 or count > CLEAR_COUNT * count_sd
    return Clarity(value, once=allowed and plain and known and value <= most.get(context.domain.n_columns, 0.0))


def limits_of(*, pure: bool) -> dict[int, float]:
    """Return up to which clarity a kernel sum, or votes, are better than a tree, by columns."""
    return MOST_CLEAR_VOTES if pure else MOST_CLEAR


def reason(
    value: float,
    n_columns: int,
    *,
    once: bool,
    pure: bool = False,
    otherwise: str = "tree and steps",
    limits: dict[int, float] | None = None,
) -> str:
    """Return in a sentence why a kernel sum was used, or something else; `value` as in `Clarity`."""
    most = (limits or limits_of(pure=pure)).get(n_columns, 0.0)
    what, show, are = (f"{VOTES} in a grid", "show", "are") if pure else (f"a {ONCE}", "shows", "is")
    if value <= 0:
        return "A file of an earlier version does not tell why"
    clear = f"A cluster has about {value:.3g} times as many records as one count has noise"
    if once:
        return f"{clear}, not above {most:g}: {what} {show} more than a tree of cells"
    if value <= most:
        return f"{clear}, but the budget is pure or tiny, or a column is constant or no number: {otherwise}"
    if not most:
        return f"{clear}; {what} {are} for {' or '.join(map(str, MOST_CLEAR))} columns: {otherwise}"
    return f"{clear}, above {most:g}: {otherwise} place centres better"


def release_clusters(context: FitContext, grant: Grant, total: float, k: int, rng: np.random.RandomState) -> OnceFound:
    """Look twice. Return the best centres and what is known of their cells, in the columns."""
    view = release_view(context, grant, total, k, rng)
    return clusters_of(context, view, best_cells(sample(view, k, total, rng), view, k, rng))


def clusters_of(context: FitContext, view: View, cells: CellFigures) -> OnceFound:
    """Return cells of a view as clusters in the columns."""
    scales, domain = context.scales, context.domain
    bars = bars_in_columns(cells, context)
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


def bars_in_columns(cells: CellFigures, context: FitContext) -> Bars:
    """Return the error bars of cells in the columns, not in the metric of the fit."""
    bars = bars_of_draws(cells, context.domain.half / context.scales, pure=context.grant.norm == 1)
    return Bars(bars.centres * context.scales, bars.sizes, bars.seen)


def release_view(context: FitContext, grant: Grant, total: float, k: int, rng: np.random.RandomState) -> View:
    """Look at all of the bounds, then again, finer and nearer if records fill a part of them only."""
    scales, domain = context.scales, context.domain
    if grant.norm == 1:
        return release_vote_view(grant, domain, scales, total, k, rng)
    half = domain.half / scales
    whole = Window(-half, 2 * half, usual_distance(2 * half, k)).affordable()
    first = look(grant.part(FIRST), domain, scales, whole)
    view = view_of([first], scales)
    low, high, space = filled(sample(view, k, total, rng, chains=FIRST_CHAINS), view)
    clear = max(total, 1.0) / k / (FIRST**0.5 * first.noise)
    spacing = min(usual_distance(high - low, k, PARTLY), whole.spacing)
    if spacing > ALIKE * whole.spacing:
        spacing = min(spacing, SPARSE.get(len(low), np.inf) / clear**0.5 * (space / k) ** (1 / len(low)))
    if spacing > ALIKE * whole.spacing:
        return view_of([first, look(grant, domain, scales, whole)], scales)
    near = nearer(whole, low, high, spacing)
    second = look(grant, domain, scales, near)
    return view_of([first, second] if near.spacing > FAR * whole.spacing else [second], scales)


def nearer(whole: Window, low: np.ndarray, high: np.ndarray, spacing: float) -> Window:
    """Return the part of a window between two corners, with a margin, for clusters with this usual distance."""
    more = MARGIN * (high - low) + BANDWIDTH * whole.spacing
    low, high = np.maximum(low - more, 0.0), np.minimum(high + more, whole.length)
    return Window(whole.low + low, high - low, spacing).affordable()
