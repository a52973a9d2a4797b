"""The simplified silhouette of released cells: points are drawn from their shapes, and measured as records would be.

Cells are known by count, mean and variance; what lies in between is a model. Two models are tried, Gaussian and even.
Both are widened until the points that are nearest to a centre lie as far from it as the records of its cell do: points
that fall into another cell would else make cells look narrow. Clusters that lie apart look Gaussian; cells that are cut
from one cloud look even. Which part of the points falls into other cells tells one from the other.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.spatial import KDTree
from sklearn.metrics import pairwise_distances

POINTS = 2000  # drawn in all: the chance in the result is then about .005, and more take longer
MOST_NUMBERS, FEWEST = 2**21, 200  # numbers drawn: in a thousand columns or more, fewer points, but so many at least
MATCHES = 8  # rounds of widening; the widths have settled by then (settled on made-up clusters, as all below)
WIDEST = 20.0  # most that a variance is widened
EVEN = 10.0  # one in EVEN points in another cell, or more: cells are cut from one cloud, and their model is even
MODELS = 0.5  # part of the difference of both models, taken as standard error ...
CROWDED = 0.4  # ... and part of the silhouette, times the part of points in other cells: neither model is then right
BENT = 0.02  # standard error of a mixture's silhouette that comes from records that are not Gaussian
CHANCE = 0.2  # standard deviation of 1 - a / b over points: the chance in a mean of POINTS of them
REDRAWS = 16  # of the noise: the standard error is mostly that of the model
MANY, FLAT = 200, 10  # centres from which, and columns up to which, a tree finds the nearest ones sooner


@dataclass(frozen=True)
class Cells:
    """Means, variances and sizes of cells, (k, p), (k, p) and (k,)."""

    at: np.ndarray
    variance: np.ndarray
    count: np.ndarray


def silhouette(
    centres: np.ndarray, cells: Cells, redrawn: Callable[[], Cells], rng: np.random.RandomState
) -> tuple[float, float]:
    """Return the mean of 1 - a / b over points of the cells, and its standard error from noise and model.

    Parameters
    ----------
    centres : array of shape (k, p)
        Centres that the distances a (to the nearest) and b (to the second nearest) are measured to.
    cells : Cells
        As released.
    redrawn : callable
        Returns the cells with further noise of the same size.
    rng : RandomState
        Public randomness.
    """
    k, p = centres.shape
    if k < 2 or not cells.count.sum() > 0:
        return 0.0, np.inf
    number = int(np.clip(MOST_NUMBERS // p, FEWEST, POINTS))
    cell = _allotted(cells.count, rng, number)
    gauss = _matched(centres, cells, cell, rng.standard_normal((number, p)))
    even = _matched(centres, cells, cell, rng.uniform(-(3**0.5), 3**0.5, (number, p)))
    value = even.value + float(np.clip(1 - EVEN * gauss.crossing, 0.0, 1.0)) * (gauss.value - even.value)
    again = [gauss.measured(redrawn()) for _ in range(REDRAWS)]
    parts = (
        float(np.std(again, ddof=1)),
        MODELS * (gauss.value - even.value),
        CROWDED * gauss.crossing * value,
        CHANCE / number**0.5,
    )
    return value, float(np.linalg.norm(parts))


def mixture_silhouette(
    means: np.ndarray,
    covariances: np.ndarray,
    weights: np.ndarray,
    redrawn: Callable[[], tuple[np.ndarray, float, np.ndarray]],
    rng: np.random.RandomState,
) -> tuple[float, float]:
    """Return the same of a mixture. Its components overlap as they are: points are drawn from them, and not widened.

    `redrawn` returns means, a factor of all covariances, and weights, with further noise.
    """
    k, d = means.shape
    if k < 2:
        return 0.0, np.inf
    cell, roots = _allotted(weights, rng), np.linalg.cholesky(covariances)

    def measured(shape: np.ndarray, at: np.ndarray, factor: float, weight: np.ndarray) -> float:
        points = np.empty((POINTS, d))
        for i in range(k):
            points[cell == i] = at[i] + factor**0.5 * shape[cell == i] @ roots[i].T
        near, _ = _two_nearest(points, means)
        each = (weight / np.maximum(weights, 1e-12))[cell]
        return float(each @ _one_minus_ratio(near) / max(float(each.sum()), 1e-300))

    normal = rng.standard_normal((POINTS, d))
    value = measured(normal, means, 1.0, weights)
    even = measured(rng.uniform(-(3**0.5), 3**0.5, (POINTS, d)), means, 1.0, weights)
    again = [measured(normal, *redrawn()) for _ in range(REDRAWS)]
    parts = (float(np.std(again, ddof=1)), MODELS * (value - even), CHANCE / POINTS**0.5, BENT)
    return value, float(np.linalg.norm(parts))


def _allotted(count: np.ndarray, rng: np.random.RandomState, number: int = POINTS) -> np.ndarray:
    """Return the cell of each point, in proportion to their counts."""
    places = (np.arange(number) + rng.uniform()) / number
    return np.searchsorted(np.cumsum(count) / count.sum(), places).clip(max=len(count) - 1)


@dataclass(frozen=True)
class _Model:
    """Points about the means of cells, in standard deviations of the cells; what they gave."""

    centres: np.ndarray
    cell: np.ndarray
    points: np.ndarray
    count: np.ndarray
    value: float
    crossing: float

    def measured(self, cells: Cells) -> float:
        """Return the silhouette of the same points in other cells."""
        points = cells.at[self.cell] + np.sqrt(cells.variance[self.cell]) * self.points
        near, _ = _two_nearest(points, self.centres)
        weight = (np.maximum(cells.count, 0.0) / np.maximum(self.count, 1e-9))[self.cell]
        return float(weight @ _one_minus_ratio(near) / max(float(weight.sum()), 1e-300))


def _matched(centres: np.ndarray, cells: Cells, cell: np.ndarray, points: np.ndarray) -> _Model:
    """Return points, widened to match the cells, and the part of them in other cells before that."""
    k = len(centres)
    wanted = (cells.variance + np.square(cells.at - centres)).sum(axis=1)
    deviation, at = np.sqrt(cells.variance)[cell], cells.at[cell]
    wider, crossing, value = np.ones(k), 0.0, 0.0
    for turn in range(MATCHES):
        used = np.sqrt(wider)[cell, None] * points
        near, nearest = _two_nearest(at + deviation * used, centres)
        if turn == 0:
            crossing = float((nearest != cell).mean())
        value = float(_one_minus_ratio(near).mean())
        found = np.bincount(nearest, near[:, 0] ** 2, k) / np.maximum(np.bincount(nearest, minlength=k), 1)
        step = np.clip(wanted / np.maximum(found, 1e-300), 0.5, 2.0) ** 0.7
        wider = np.clip(wider * step, 1.0, WIDEST)
    return _Model(centres, cell, used, cells.count, value, crossing)


def _two_nearest(points: np.ndarray, centres: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distances of points to their two nearest centres, and which is nearest."""
    if len(centres) >= MANY and centres.shape[1] <= FLAT:
        near, which = KDTree(centres).query(points, 2)
        return near, which[:, 0]
    distances = pairwise_distances(points, centres)
    return np.partition(distances, 1, axis=1)[:, :2], distances.argmin(axis=1)


def _one_minus_ratio(near: np.ndarray) -> np.ndarray:
    return 1 - near[:, 0] / np.maximum(near[:, 1], 1e-300)
