"""What draws say of clusters: the best centres, and how uncertain the figures of their cells are.

The loss of k-means is linear in the density. So the centres with the least expected loss are those of the mean of all
draws. The draws' own figures for the cells of these centres then show what is not known: noise, and which of several
places a cluster is at.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from knoll.numeric.distances import nearest
from knoll.numeric.posterior.paint import paint
from knoll.numeric.posterior.sample import Draws, effective_draws
from knoll.numeric.posterior.view import View
from knoll.numeric.weighted import weighted_kmeans

FINE = {2: 10.0, 3: 6.0}  # cells of the grid to the usual distance of clusters, by columns: finer takes longer
FEWEST, MOST = {2: 48, 3: 16}, {2: 160, 3: 40}  # cells along a column
KEPT = 0.998  # part of the records in the cells that centres are placed by: the rest is spread thin


@dataclass(frozen=True)
class CellFigures:
    """Figures of the cells of k centres: means over draws, and standard deviations.

    Attributes
    ----------
    centres : array of shape (k, d)
        The centres, in the metric of the fit, from the window's lower corner.
    count, count_sd : arrays of shape (k,)
        Records in each cell.
    mean, mean_sd : arrays of shape (k, d)
        Means of the cells' records; root mean square distance of draws' means from the centre.
    squares, squares_sd : arrays of shape (k, d)
        Sums of squared displacements from the centre.
    effective : float
        How many independent draws the draws are worth.
    """

    centres: np.ndarray
    count: np.ndarray
    count_sd: np.ndarray
    mean: np.ndarray
    mean_sd: np.ndarray
    squares: np.ndarray
    squares_sd: np.ndarray
    effective: float


def best_cells(draws: Draws, view: View, k: int, rng: np.random.RandomState) -> CellFigures:
    """Return the k centres with the least expected loss over the draws, and what is known of their cells."""
    points, density = painted(draws, view)
    return figures(points, density, best_centres(points, density, k, rng)[1], draws.chains)


def best_centres(
    points: np.ndarray, density: np.ndarray, k: int, rng: np.random.RandomState
) -> tuple[np.ndarray, np.ndarray]:
    """Return the expected records of each cell of a grid, and the k centres with the least expected loss."""
    mean = np.maximum(density.mean(axis=0), 0.0)
    order = np.argsort(-mean, kind="stable")
    kept = order[: int(np.searchsorted(np.cumsum(mean[order]), KEPT * mean.sum())) + 1]
    return mean, weighted_kmeans(points[kept], mean[kept], k, rng, restarts=None)[0]


def filled(draws: Draws, view: View) -> tuple[np.ndarray, np.ndarray, float]:
    """Return between which values of each column nearly all records lie, in the mean of the draws, and their space.

    The ends of the middle 90 % are moved outwards, so that records spread evenly fill the window. The space is that of
    records spread evenly whose density has the same mean (the inverse participation).
    """
    points, density = painted(draws, view)
    mean = np.maximum(density.mean(axis=0), 0.0)
    ends = np.empty((2, view.n_columns))
    for j, column in enumerate(points.T):
        places, where = np.unique(column, return_inverse=True)
        gap = view.window[j] / len(places)
        below = np.concatenate([[0.0], np.cumsum(np.bincount(where, mean))]) / max(float(mean.sum()), 1e-300)
        ends[:, j] = np.interp([0.05, 0.95], below, np.concatenate([[0.0], places + gap / 2]))
    more = (ends[1] - ends[0]) / 18
    space = float(np.prod(view.window)) / len(mean) * float(mean.sum()) ** 2 / max(float(np.square(mean).sum()), 1e-300)
    return np.maximum(ends[0] - more, 0.0), np.minimum(ends[1] + more, view.window), space


def painted(draws: Draws, view: View) -> tuple[np.ndarray, np.ndarray]:
    """Return the middles of the cells of a grid, and the records of each draw in them: (cells, d), (draws, cells)."""
    d = view.n_columns
    cells = np.clip(np.ceil(FINE[d] * view.window / view.spacing), FEWEST[d], MOST[d]).astype(np.int64)
    gap = view.window / cells
    density = np.zeros((len(draws.weights), int(np.prod(cells))))
    paint(draws.places, draws.levels, draws.weights, draws.widths, gap, cells, density)
    axes = [(np.arange(n) + 0.5) * step for n, step in zip(cells, gap, strict=True)]
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, d), density


def figures(
    points: np.ndarray, density: np.ndarray, centres: np.ndarray, chains: int, label: np.ndarray | None = None
) -> CellFigures:
    """Return what draws on a grid say of the cells of centres: of the points nearest to each, or labelled with it."""
    k, label = len(centres), nearest(points, centres) if label is None else label
    member = csr_array((np.ones(len(points)), (np.arange(len(points)), label)), shape=(len(points), k))
    count = density @ member  # draws x k
    usual = np.maximum(count.mean(axis=0), 1e-9)
    away = points - centres[label]
    sums = np.stack([(density * column) @ member for column in away.T], axis=-1)  # draws x k x d
    squares = np.stack([(density * column**2) @ member for column in away.T], axis=-1)
    off = sums / np.maximum(usual, count.std(axis=0))[:, None]
    return CellFigures(
        centres, count.mean(axis=0), count.std(axis=0), centres + off.mean(axis=0),
        np.sqrt(np.square(off).mean(axis=0)), squares.mean(axis=0), squares.std(axis=0),
        effective_draws(count, chains),
    )  # fmt: skip
