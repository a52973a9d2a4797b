"""Axes of directions: where unit vectors vary more than noise would, seen from their mean.

    mean      release the number of records and the sum of their directions
    scatter   release the scatter matrix about the mean; its eigenvectors that stand out of the noise are the axes
    frame     a record is its direction seen from the mean, along these axes, scaled to length one again

All but the two releases is post-processing.
"""

from dataclasses import dataclass

import numpy as np

from knoll.estimator import FitContext
from knoll.privacy import Ask, Grant
from knoll.queries import CellMoments, Directions, Frame, Nearest, Projected, ScatterMatrix
from knoll.steps.axes import without_noise
from knoll.steps.means import means_ask
from knoll.steps.shapes import unit_frame

MOST_AXES = 60  # each further axis costs noise in every step, and shows little
ROOM = 1.1  # clip of the scatter matrix, over the root mean square distance from the mean


@dataclass(frozen=True)
class View:
    """Where directions are seen from, and along which axes.

    Attributes
    ----------
    count : float
        Released number of records.
    mean : array of shape (d,)
        Released mean of the directions.
    axes : array of shape (d, d)
        Released axes, the widest first.
    variance : array of shape (d,)
        Variances along them.
    clear : int
        How many of them stand out of the noise.
    """

    count: float
    mean: np.ndarray
    axes: np.ndarray
    variance: np.ndarray
    clear: int

    def frame(self, context: FitContext) -> Frame:
        """Return directions along the axes that stand out, seen from the mean."""
        return Frame(Directions(context.domain, self.axes[: self.clear], self.mean))

    def whole(self, context: FitContext) -> Frame:
        """Return all axes, seen from the origin: a turned sphere."""
        return Frame(Projected(context.domain, self.axes, 1.0))


def view_asks(n_columns: int, mean: float, scatter: float) -> list[Ask]:
    """Return the most that `release_view` releases."""
    probe = ScatterMatrix(unit_frame(n_columns), np.zeros(n_columns), np.ones(n_columns), 1.0)
    return [means_ask(n_columns, 1, share=mean), Ask.like(probe, share=scatter)]


def release_view(mean: Grant, scatter: Grant, context: FitContext) -> View:
    """Release the mean and the scatter matrix of directions; count the axes that stand out of the noise."""
    domain = context.domain
    count, at = release_mean(mean, context)
    radius = ROOM * max(1.0 - float(at @ at), 0.01) ** 0.5
    query = ScatterMatrix(Frame(domain), at, np.ones(domain.n_columns), radius)
    released = scatter.release(query)
    values, vectors = np.linalg.eigh(query.matrix(released.value) / count)
    edge = float(released.stderr[0]) / count * (2 * domain.n_columns) ** 0.5
    clear = int(np.clip((values > edge).sum(), min(2, domain.n_columns), MOST_AXES))
    variance = np.maximum(without_noise(values, edge), 1e-6)
    return View(count, at, vectors[:, ::-1].T.copy(), variance[::-1].copy(), clear)


def release_mean(grant: Grant, context: FitContext) -> tuple[float, np.ndarray]:
    """Release the number of records and the mean of their directions, shrunk as far as it is noise."""
    domain = context.domain
    one = Nearest(np.zeros((1, domain.n_columns)), domain)
    moments = grant.release(CellMoments(one, domain))
    count = max(float(moments.value[0, 0]), 1.0)
    at, noise = moments.value[0, 1:] / count, float(moments.stderr[0, 1]) / count
    length = float(at @ at)
    at *= max(0.0, 1.0 - domain.n_columns * noise**2 / max(length, 1e-300))
    return count, domain.clip(at[None])[0]
