"""Modes and basins from a kernel sum: its looks as in one_release.py, then the hills of the mean of likely densities.

A hill's persistence is how far its top rises above the pass to a higher one. Draws tell how sure it is: it is divided
by its standard deviation over the draws. Of k clusters, the k surest hills are kept; the others belong to the hill that
they merge into.
"""

from dataclasses import dataclass

import numpy as np

from knoll.estimator import FitContext
from knoll.numeric.bars import Bars
from knoll.numeric.distances import nearest
from knoll.numeric.posterior.cells import figures, painted
from knoll.numeric.posterior.sample import sample
from knoll.privacy import Grant
from knoll.series.persistence import Peaks, mesh_peaks
from knoll.steps.means import CellMeans
from knoll.steps.one_release import bars_in_columns, release_view

MESH = {2: 64, 3: 20}  # mesh points along each column that tell basins, at most: labels against memory


@dataclass(frozen=True)
class Basins:
    """Modes as means of cells, error bars, points of a mesh and the mode of each; how many draws they rest on."""

    means: CellMeans
    bars: Bars
    points: np.ndarray
    groups: np.ndarray
    effective: float


def release_basins(context: FitContext, grant: Grant, total: float, k: int, rng: np.random.RandomState) -> Basins:
    """Look at the records with all of a grant. Return the k surest hills of the mean of likely densities."""
    view = release_view(context, grant, total, k, rng)
    draws = sample(view, k, total, rng)
    points, density = painted(draws, view)
    axes = [np.unique(column) for column in points.T]
    mean = np.maximum(density.mean(axis=0), 0.0).reshape([len(axis) for axis in axes])
    peaks, basin = mesh_peaks(mean, axes)
    kept = np.sort(np.argsort(-surety(peaks, points, density), kind="stable")[:k])
    keep = np.zeros(len(peaks.heights), dtype=bool)
    keep[kept] = True
    owner = peaks.survivors(keep)
    number = np.zeros(len(keep), dtype=int)
    number[kept] = np.arange(len(kept))
    groups = number[np.where(owner >= 0, owner, kept[0])][basin]
    modes = np.vstack([peaks.points[kept], peaks.points[np.zeros(k - len(kept), dtype=int)]])  # too few: the highest
    cells = figures(points, density, modes, draws.chains, groups.ravel())
    bars = bars_in_columns(cells, context)
    scales, domain = context.scales, context.domain
    at = domain.clip(domain.centre + (view.low + modes) * scales)
    means = CellMeans(at, bars.centres, cells.count, bars.sizes, bars.seen)
    chosen = [np.unique(np.linspace(0, len(a) - 1, min(len(a), MESH[len(axes)])).round().astype(int)) for a in axes]
    mesh = np.stack(np.meshgrid(*(a[i] for a, i in zip(axes, chosen, strict=True)), indexing="ij"), axis=-1)
    mesh = domain.centre + (view.low + mesh.reshape(-1, len(axes))) * scales
    return Basins(means, bars, mesh, groups[np.ix_(*chosen)].ravel(), cells.effective)


def surety(peaks: Peaks, points: np.ndarray, density: np.ndarray, least: float = 0.0) -> np.ndarray:
    """Return how far each peak rises above its pass, over the standard deviation of that in the draws.

    `least` is a part of the pass's height by which a peak rises at least. The highest peak has no pass, and is the
    surest.
    """
    top, low = (density[:, nearest(at, points)] for at in (peaks.points, peaks.pass_points))
    rise = top - (1 + least) * low
    value = rise.mean(axis=0) / np.maximum(rise.std(axis=0), 1e-9)
    return np.where(np.isfinite(peaks.pass_heights), value, np.inf)
