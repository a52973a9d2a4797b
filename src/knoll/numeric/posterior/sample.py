"""Several chains over mixtures, and how many independent draws they are worth."""

from dataclasses import dataclass

import numpy as np

from knoll.numeric.posterior.chains import MOVES, NUMBERS, grow, run
from knoll.numeric.posterior.view import View
from knoll.progress import report

# Settled on kinds like the tuned ones of benchmarks/small.
CHAINS, SWEEPS, EVERY, DRAWS = 8, 80, 3, 17  # draws of a chain: the last ones, so many sweeps apart
MORE = 5  # Gaussians more than clusters: for shapes that are not round, and records between clusters
SPREAD = 0.8  # standard deviation of the prior of weights, over its mean
ALONE = 0.3  # how likely a width is that no other Gaussian has, against one that one other has
STEP, JUMP = 0.5, 0.5  # longest steps and jumps, in usual distances of clusters
JITTER = 1.0  # log-likelihood by which starts of chains differ
EVEN = 0.2  # part of guided jumps that go anywhere
ROUNDING = 1e-5  # of its diagonal is added to the matrix: the table of the kernel is not more exact


@dataclass(frozen=True)
class Draws:
    """Mixtures that are likely, given a released kernel sum.

    Attributes
    ----------
    places, levels, weights : arrays of shape (n_draws, K, d), (n_draws, K), (n_draws, K)
        Of the Gaussians: centres, numbers of their widths, expected records. The draws of a chain follow each other.
    widths : array of shape (n_widths,)
        Standard deviations.
    chains : int
        Number of chains.
    """

    places: np.ndarray
    levels: np.ndarray
    weights: np.ndarray
    widths: np.ndarray
    chains: int


def sample(
    view: View, k: int, total: float, rng: np.random.RandomState, chains: int = CHAINS, start: np.ndarray | None = None
) -> Draws:
    """Return draws of mixtures of k + MORE Gaussians, after a most likely start and SWEEPS sweeps of each chain.

    Parameters
    ----------
    view : View
        What was released.
    k : int
        Number of clusters.
    total : float
        Number of records, roughly: the prior of the weights.
    rng : RandomState
        Public randomness.
    chains : int
        Number of chains; the first begins at the most likely start, the others near it.
    start : array of shape (k, d), optional
        Where the first k Gaussians begin instead, in every chain.
    """
    size, d = k + MORE, view.n_columns
    mean = max(total, 1.0) / size
    precise = 1 / (view.noise**2 + view.chance * mean)
    prior = (SPREAD * mean) ** -2.0
    table, reach = view.kernel.smeared(view.widths, d)
    table, even = table * precise, view.kernel.constant * precise
    own = (table[np.arange(len(view.widths)), np.arange(len(view.widths)), 0] + even) * (1 + ROUNDING) + prior
    thin, shape, gap = view.thinned(2)
    guide, below = _guide(view)
    places, levels = np.empty((chains * DRAWS, size, d)), np.empty((chains * DRAWS, size), dtype=np.int64)
    weights = np.empty((chains * DRAWS, size))
    fields = view.fields * precise + mean * prior
    for chain in range(chains):
        report("looking for likely densities", chain / chains)
        at, level = np.empty((size, d)), np.empty(size, dtype=np.int64)
        jitter = (JITTER if chain else 0.0) * rng.gumbel(size=thin.shape[1])
        grow(thin * precise + mean * prior, shape, gap, table, reach, own, even, jitter, at, level)
        if start is not None:
            at[:k] = start
        at = np.clip(at, 0.0, np.nextafter(view.window, 0.0))
        uniform = rng.random_sample((SWEEPS, MOVES * size, NUMBERS + d))
        normal, drawn = rng.standard_normal((SWEEPS, MOVES * size, d)), rng.standard_normal((DRAWS, size))
        mine = slice(chain * DRAWS, (chain + 1) * DRAWS)
        run(
            at, level, fields, np.array(view.shape), view.gap, table, reach, own, even, view.window, guide, below,
            STEP * view.spacing, JUMP * view.spacing, ALONE, uniform, normal, drawn, EVERY,
            places[mine], levels[mine], weights[mine],
        )  # fmt: skip
    return Draws(places, levels, weights, view.widths, chains)


def _guide(view: View) -> tuple[np.ndarray, np.ndarray]:
    """Return the density of guided jumps between nodes, high where the field is, and its cumulative sum."""
    middle = view.fields[len(view.widths) // 2].reshape(view.shape)
    high = np.square(np.maximum(middle[(slice(None, -1),) * view.n_columns], 0.0)).ravel() + 1e-300
    part = (1 - EVEN) * high / high.sum() + EVEN / high.size
    return part / float(np.prod(view.gap)), np.cumsum(part) / part.sum()


def effective_draws(figures: np.ndarray, chains: int) -> float:
    """Return how many independent draws are worth as much, for the median of some figures of each draw.

    The means of chains differ by what separates the chains and by chance; independent draws differ by chance alone.

    Parameters
    ----------
    figures : array of shape (n_draws, n_figures)
        The draws of a chain follow each other.
    chains : int
        Number of chains.
    """
    means = figures.reshape(chains, -1, figures.shape[1]).mean(axis=1)
    ratio = figures.var(axis=0) / np.maximum(means.var(axis=0, ddof=1), 1e-300)
    return float(np.clip(chains * np.median(ratio), 1.0, len(figures)))
