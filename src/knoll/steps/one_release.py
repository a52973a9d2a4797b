"""One release instead of a tree: where the budget is small and columns are few.

    release  a kernel sum on a torus: the kernel is a quarter as wide as clusters are apart   (FourierGrid)
    sample   mixtures that are likely, given the release: free                                (numeric/posterior)
    decide   weighted k-means of the mean of their densities: free

What one record changes. It adds, for every frequency, a cosine and a sine with fixed amplitudes whose squares sum to
the kernel's height at zero: one vote, wherever the record lies and however fine the view is. `FourierGrid` bounds the
norm of that vector, with the rounding of its tables, and of the difference of two. The bandwidth follows from k, the
public bounds and released variances. All else is post-processing.

With Laplace noise (`delta=0`) the l1 norm counts, which grows with the root of the number of frequencies: there the
tree stays.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from knoll.diagnose import CellSums
from knoll.estimator import FitContext
from knoll.numeric.bars import Bars
from knoll.numeric.posterior.bars import bars_of_draws
from knoll.numeric.posterior.cells import best_cells
from knoll.numeric.posterior.sample import sample
from knoll.numeric.posterior.view import Kernel, View, spacing_of
from knoll.privacy import Ask, Grant
from knoll.queries import Ball, Box, Count, FourierGrid, Lattice
from knoll.series.series import spectrum
from knoll.steps.means import CellMeans
from knoll.steps.shapes import Shapes

# Settled on the tuned kinds of benchmarks/small.
BANDWIDTH = 0.25  # of the kernel, over the usual distance of clusters
HEIGHTS, FINER = (0.9, 0.07), (1.0, 0.5)  # of the kernel's Gaussians, and their bandwidths over BANDWIDTH
CONSTANT = 1.0 - sum(HEIGHTS)  # the rest of the kernel: what it spends on the number of records
WIDTHS = 0.04 * 2.0 ** (np.arange(8) / 2)  # that clusters may have, over their usual distance
NODES = 3.0  # nodes of the fields to a bandwidth
REACH = 4.3  # frequencies are kept up to this over the bandwidth
PAD = 4.0  # bandwidths between the two ends of the window, round the torus
USUAL = 0.25  # variance of all records that is expected, over half the bounds' width squared: nearly even
NARROWEST = 0.02  # part of a column's bounds that records are taken to fill, at least
FEATURES = 2**16  # of a release, at most: noise for more takes long to draw
LEAST_EPSILON = 1e-3  # for each record of a user: below, drawing noise for so many features costs too much of it
MOST_CLUSTERS = 200  # more take long to sample
# Records of a cluster over the noise of one count, up to which one release is better, by columns.
MOST_CLEAR = {2: 75.0, 3: 75.0}


ONCE, TREE = "one release", "tree"


@dataclass(frozen=True)
class OnceFound:
    """Clusters of one release: their means, error bars, variances per column, and how many draws they rest on."""

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
        Whether one release is used.
    """

    value: float
    once: bool


UNKNOWN = Clarity(0.0, once=False)


def may_release_once(estimator: Any, n_columns: int, k: int) -> bool:
    """Whether parameters and columns allow one release: what is known before a fit begins."""
    cap = 1 if estimator.unit is None else int(estimator.unit.cap)
    enough = estimator.delta > 0 and estimator.epsilon >= LEAST_EPSILON * cap
    return bool(n_columns in MOST_CLEAR and enough and 2 <= k <= MOST_CLUSTERS)


def once_asks(n_columns: int, share: float) -> list[Ask]:
    """Return the most that one release asks."""
    return [Ask(FEATURES, FEATURES, share=share, bound=(0.0, FourierGrid.longest(n_columns, FEATURES)))]


def clarity(context: FitContext, seen: Shapes, k: int, *, allowed: bool) -> Clarity:
    """Decide between one release and the tree, from public facts and what is released of all records."""
    value = max(float(seen.count[0]), 1.0) / k / float(context.grant.worth(context.grant.share).stderr(Count()))
    plain = isinstance(context.domain, Box | Ball) and not context.domain.constant.any()
    if not (allowed and plain) or value > MOST_CLEAR.get(context.domain.n_columns, 0.0):
        return Clarity(value, once=False)
    top = _top(context, kernel_for(_spacing(context, seen, k)))
    return Clarity(value, once=int(np.prod(2 * top + 1)) <= FEATURES)


def reason(value: float, n_columns: int, *, once: bool) -> str:
    """Return in a sentence why one release was used, or not; `value` as in `Clarity`."""
    most = MOST_CLEAR.get(n_columns, 0.0)
    if value <= 0:
        return "The number of clusters was chosen, or the model is of an earlier version: tree and steps"
    clear = f"A cluster has about {value:.3g} times as many records as one count has noise"
    if once:
        return f"{clear}, not above {most:g}: one release shows more than several"
    if value <= most:
        return f"{clear}, but the budget is pure or tiny, or records fill a small part of the bounds: tree and steps"
    if not most:
        return f"{clear}; one release is for {' or '.join(map(str, MOST_CLEAR))} columns: tree and steps"
    return f"{clear}, above {most:g}: tree and steps place centres better"


def kernel_for(spacing: float) -> Kernel:
    """Return the kernel for clusters with this usual distance."""
    return Kernel(CONSTANT, np.array(HEIGHTS), BANDWIDTH * spacing * np.array(FINER))


def release_view(context: FitContext, grant: Grant, seen: Shapes, k: int) -> View:
    """Release the kernel sum with all of a grant; return it as Gaussians of several widths see it."""
    domain, scales = context.domain, context.scales
    spacing = _spacing(context, seen, k)
    kernel = kernel_for(spacing)
    low, high = domain.centre - domain.half, domain.centre + domain.half
    pad = PAD * kernel.bandwidths[0] * scales
    lattice = Lattice(domain, low, high, pad, tuple(_top(context, kernel).tolist()))
    square = sum(a * spectrum(lattice, h * scales) for a, h in zip(kernel.heights, kernel.bandwidths, strict=True))
    square.flat[0] += kernel.constant
    query = FourierGrid(lattice, np.sqrt(square))
    released = grant.release(query)
    features = np.ix_(*(lattice.frequency_of_feature(j) for j in range(len(scales))))
    totals = query.tensor(released.value) * square[features]
    error = query.tensor(np.broadcast_to(released.stderr, query.shape))[tuple(slice(top + 1) for top in lattice.top)]
    shape = tuple((np.ceil(NODES * 2 * domain.half / scales / kernel.bandwidths[0]).astype(int) + 1).tolist())
    widths = spacing * WIDTHS
    fields = np.stack([smeared(lattice, totals, shape, width * scales).ravel() for width in widths])
    noise = float(np.sqrt(np.square(square * error).sum()))
    return View(2 * domain.half / scales, shape, widths, fields, noise, kernel, spacing)


def smeared(lattice: Lattice, totals: np.ndarray, shape: tuple[int, ...], width: np.ndarray) -> np.ndarray:
    """Return a released sum at the nodes of a grid over the window, averaged over a Gaussian of a width per column."""
    for j, nodes in enumerate(shape):
        at = np.linspace(lattice.low[j], lattice.high[j], nodes)
        turn = 2 * np.pi / lattice.period[j] * lattice.frequency_of_feature(j)
        basis = lattice.basis(j, at) * np.exp(-0.5 * np.square(turn * width[j]))
        totals = np.tensordot(totals, basis, axes=(0, 1))  # the next column comes first, the nodes last
    return totals


def release_clusters(context: FitContext, grant: Grant, seen: Shapes, k: int, rng: np.random.RandomState) -> OnceFound:
    """Release once; return the best centres and what is known of their cells, in the columns."""
    view = release_view(context, grant, seen, k)
    cells = best_cells(sample(view, k, float(seen.count[0]), rng), view, k, rng)
    scales, domain = context.scales, context.domain
    bars = bars_of_draws(cells, view.window / 2)
    bars = Bars(bars.centres * scales, bars.sizes, bars.seen)
    count = np.maximum(cells.count, 1e-9)[:, None]
    variance = np.maximum(cells.squares / count, np.square(view.widths[0]))
    inside = cells.centres - view.window / 2  # from the middle of the bounds, as frames are
    off = cells.mean - cells.centres
    sums = CellSums(
        inside, inside, cells.count, float(np.median(cells.count_sd)), off * count, cells.mean_sd * count,
        cells.squares, cells.squares_sd, variance, np.broadcast_to(view.window, inside.shape),
    )  # fmt: skip
    at = domain.clip(domain.centre + inside * scales)
    means = CellMeans(at, bars.centres, cells.count, bars.sizes, bars.seen, sums=sums)
    return OnceFound(means, bars, variance * np.square(scales), cells.effective)


def _spacing(context: FitContext, seen: Shapes, k: int) -> float:
    """Return the usual distance of clusters, from released sums of all records, or from bounds if noise hides them."""
    half = context.domain.half / context.scales
    n = max(float(seen.count[0]), 1.0)
    usual = USUAL * half**2
    measured, noise = seen.squares[0] / n - np.square(seen.sums[0] / n), seen.squares_sd[0] / n
    variance = usual + usual**2 / (usual**2 + noise**2) * (measured - usual)
    return spacing_of(2 * half, np.sqrt(np.maximum(variance, 0.0)), k, NARROWEST)


def _top(context: FitContext, kernel: Kernel) -> np.ndarray:
    """Return the highest frequency that the kernel needs, per column."""
    h = kernel.bandwidths[0]
    period = 2 * context.domain.half / context.scales + PAD * h
    return np.ceil(REACH * period / (2 * np.pi * h)).astype(int)
