"""Axes of directions: where unit vectors vary more than noise would, seen from their mean.

    mean      release the number of records and the sum of their directions
    scatter   release the scatter matrix about the mean; its eigenvectors that stand out of the noise are the axes.
              With more columns than MOST_ROTATED, of a public random projection to fewer
    frame     a record is its direction seen from the mean, along these axes, scaled to length one again

All but the two releases is post-processing.
"""

from dataclasses import dataclass

import numpy as np

from knoll.estimator import FitContext
from knoll.privacy import Ask, Grant
from knoll.queries import CellMoments, Directions, Frame, Nearest, Projected, ScatterMatrix, random_projection
from knoll.steps.axes import MOST_ROTATED, without_noise
from knoll.steps.means import means_ask
from knoll.steps.shapes import unit_frame

# Settled on the corpora of benchmarks/topics and on made-up mixtures.
MOST_AXES = 60  # each further axis costs noise in every round, and shows little
PROJECTED_TO = 256  # dimensions of the random projection of many columns
ROOM = 0.9  # clip of the scatter matrix, over the root mean square distance from the mean: noise is in proportion
MOST_CUT = 2.0  # times, at most, that variances are taken to be larger than what the clip left of them
LEAST_LEFT = 0.01  # least squared distance from the mean that is reckoned with, of a largest one of 1


@dataclass(frozen=True)
class View:
    """Where directions are seen from, and along which axes.

    Attributes
    ----------
    count : float
        Released number of records.
    mean : array of shape (d,)
        Released mean of the directions.
    axes : array of shape (q, d)
        Released axes that stand out of the noise, the widest first: orthogonal, of length one.
    variance : array of shape (q,)
        Variances along them.
    turn : array of shape (d, d) or None
        These axes and the others, which complete them. None if the columns are too many.
    all_variances : array of shape (d,)
        Variances along all of these, or of the columns.
    """

    count: float
    mean: np.ndarray
    axes: np.ndarray
    variance: np.ndarray
    turn: np.ndarray | None
    all_variances: np.ndarray

    def frame(self, context: FitContext) -> Frame:
        """Return directions along the axes that stand out, seen from the mean."""
        return Frame(Directions(context.domain, self.axes, self.mean))

    def whole(self, context: FitContext) -> Frame:
        """Return coordinates of all columns: along all axes, or the columns themselves."""
        return Frame(context.domain if self.turn is None else Projected(context.domain, self.turn, 1.0))

    def along(self, points: np.ndarray) -> np.ndarray:
        """Return points of the columns in the coordinates of `whole`."""
        return points if self.turn is None else points @ self.turn.T

    def back(self, points: np.ndarray) -> np.ndarray:
        """Return points of `whole` in the columns."""
        return points if self.turn is None else points @ self.turn

    def outside(self, means: np.ndarray) -> np.ndarray:
        """Return means of directions along the axes as points of the columns, as far as the axes tell."""
        return np.asarray(self.mean + means @ self.axes * float(self.variance.sum()) ** 0.5)


def view_asks(n_columns: int, mean: float, scatter: float) -> list[Ask]:
    """Return the most that `release_view` releases."""
    d = n_columns if n_columns <= MOST_ROTATED else PROJECTED_TO
    probe = ScatterMatrix(unit_frame(d), np.zeros(d), np.ones(d), 1.0)
    return [means_ask(n_columns, 1, share=mean), Ask.like(probe, share=scatter)]


def release_view(mean: Grant, scatter: Grant, context: FitContext, rng: np.random.RandomState) -> View:
    """Release the mean and the scatter matrix of directions; keep the axes that stand out of the noise."""
    domain, d = context.domain, context.domain.n_columns
    count, at = release_mean(mean, context)
    left = max(1.0 - float(at @ at), LEAST_LEFT)  # records have a length of one
    if d <= MOST_ROTATED:
        turn, variance, clear = release_axes(scatter, Frame(domain), at, count, left)
        return View(count, at, turn[:clear], variance[:clear], turn, variance)
    low = random_projection(domain, PROJECTED_TO, rng)
    axes, variance, clear = release_axes(scatter, Frame(low), low.matrix @ at, count, left * PROJECTED_TO / d)
    even = np.full(d, left / d)
    return View(count, at, axes[:clear] @ low.matrix, variance[:clear], None, even)


def release_axes(
    grant: Grant, frame: Frame, at: np.ndarray, count: float, left: float
) -> tuple[np.ndarray, np.ndarray, int]:
    """Release the scatter matrix about a point. Return its axes, variances along them, and how many stand out.

    The mean squared distance from the point is known: `left`. So most records may be clipped, which makes less noise,
    and the variances that the clip left are multiplied until they add up to it.
    """
    d = frame.n_columns
    query = ScatterMatrix(frame, at, np.ones(d), ROOM * left**0.5)
    released = grant.release(query)
    matrix = query.matrix(released.value) / count
    cut = float(np.clip(left / max(float(np.trace(matrix)), 1e-12), 1.0, MOST_CUT))
    values, vectors = np.linalg.eigh(cut * matrix)
    edge = cut * float(released.stderr[0]) / count * (2 * d) ** 0.5
    clear = int(np.clip((values > edge).sum(), min(2, d), MOST_AXES))
    variance = np.maximum(without_noise(values, edge), 1e-6)
    return vectors[:, ::-1].T.copy(), variance[::-1].copy(), clear


def release_mean(grant: Grant, context: FitContext) -> tuple[float, np.ndarray]:
    """Release the number of records and the mean of their directions, shrunk as far as it is noise."""
    domain = context.domain
    one = Nearest(np.zeros((1, domain.n_columns)), domain)
    moments = grant.release(CellMoments(one, domain))
    count = max(float(moments.value[0, 0]), 1.0)
    at, noise = moments.value[0, 1:] / count, float(moments.stderr[0, 1]) / count
    length = float(at @ at)
    at = at * max(0.0, 1.0 - domain.n_columns * noise**2 / max(length, 1e-300))
    return count, domain.clip(at[None])[0]
