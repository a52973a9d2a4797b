"""Principal axes: where the bounds have many dimensions, the search uses only the few axes that stand out.

The scatter matrix of the records is released once. Its eigenvectors become the new coordinates. Noise alone would give
eigenvalues up to a known edge; an axis stands out if its eigenvalue is above it. All else here is post-processing.
"""

from dataclasses import dataclass

import numpy as np

from knoll.estimator import FitContext
from knoll.privacy import Ask, Grant
from knoll.queries import Frame, Projected, ScatterMatrix
from knoll.steps.centres import Centres
from knoll.steps.shapes import effective, ellipsoid, unit_frame
from knoll.steps.tree import Leaves, tree_asks

# With fewer effective dimensions than ROTATE_FROM, the tree can search all columns and needs no share for the axes.
# MOST_AXES keeps the search small: each further axis is one more direction for the tree to halve.
ROTATE_FROM, MOST_AXES = 12, 12
MOST_ROTATED = 400  # columns; time and memory limit it: a scatter matrix has d (d + 1) / 2 entries


def rotates(frame: Frame) -> bool:
    """Return whether the bounds have enough dimensions for the axes to be worth their share."""
    return bool(effective(frame.half) >= ROTATE_FROM) and frame.n_columns <= MOST_ROTATED


def rotated_tree_asks(n_columns: int, k: int, shares: tuple[float, float, float, float]) -> list[Ask]:
    """Return the most that the axes and a tree for k clusters release."""
    root, axes, tails, tree = shares
    asks = tree_asks(n_columns, k, (root, tails, tree))
    if ROTATE_FROM <= n_columns <= MOST_ROTATED:
        probe = ScatterMatrix(unit_frame(n_columns), np.zeros(n_columns), np.ones(n_columns), 1.0)
        asks.append(Ask.like(probe, share=axes))
    return asks


@dataclass(frozen=True)
class Rotation:
    """Released principal axes (rows), the variances along them, and how many stand out from the noise."""

    axes: np.ndarray
    variance: np.ndarray
    clear_axes: int

    def frame(self, context: FitContext) -> Frame:
        """Return the coordinates along all axes, for the steps."""
        return Frame(Projected(context.domain, self.axes, context.domain.longest(context.scales), context.scales))

    def search(self, context: FitContext) -> Frame:
        """Return the coordinates along the axes that stand out, for the tree."""
        return Frame(
            Projected(
                context.domain, self.axes[: self.clear_axes], context.domain.longest(context.scales), context.scales
            )
        )

    def along(self, points: np.ndarray) -> np.ndarray:
        """Return the coordinates of points along the axes that stand out."""
        return points @ self.axes[: self.clear_axes].T

    def turn(self, root: Leaves) -> Leaves:
        """Return the root in the new axes."""
        half = np.abs(self.axes) @ root.upper[0]
        variance = np.maximum(self.variance, max(0.05 * root.variance.mean(), 1e-300))
        mean = np.clip(self.axes @ root.mean[0], -half, half)
        return Leaves(root.nodes, root.count, root.count_variance, mean[None], variance[None], -half[None], half[None])

    def clear(self, root: Leaves) -> Leaves:
        """Return a turned root in the axes that stand out."""
        q = self.clear_axes
        columns = (root.mean[:, :q], root.variance[:, :q], root.lower[:, :q], root.upper[:, :q])
        return Leaves(root.nodes, root.count, root.count_variance, *columns)

    def lift(self, centres: Centres, root: Leaves) -> Centres:
        """Add the axes that were not searched: there, a centre gets the mean and the variance of all records."""
        k, q = centres.at.shape
        rest = root.variance[0, q:]
        rest = np.maximum(rest, 0.3 * rest.mean()) if len(rest) else rest
        at = np.hstack([centres.at, np.tile(root.mean[0, q:], (k, 1))])
        return Centres(at, np.hstack([centres.variance, np.tile(rest, (k, 1))]), centres.weight, centres.error)


def principal_axes(grant: Grant, frame: Frame, root: Leaves, most: int = MOST_AXES) -> Rotation:
    """Release the scatter matrix about the released mean. Count the eigenvalues above the edge of pure noise."""
    axes, radius = ellipsoid(root.variance[0])
    query = ScatterMatrix(frame, root.mean[0], axes, float(radius))
    released = grant.release(query)
    n = root.count[0]
    values, vectors = np.linalg.eigh(query.matrix(released.value) / n)
    size = radius / axes
    unit = float(released.stderr[0]) / size[0] ** 2
    edge = 2**0.5 * unit / n * float(np.sqrt((size**2).sum() * (size**2).max()))
    clear = int(np.clip((values > edge).sum(), 1, most))
    return Rotation(vectors[:, ::-1].T.copy(), without_noise(values, edge)[::-1].copy(), clear)


def without_noise(values: np.ndarray, edge: float) -> np.ndarray:
    """Return the eigenvalues of a noisy matrix with the effect of the noise removed.

    Noise alone has eigenvalues up to `edge`. It lifts an eigenvalue v to v + edge^2 / 4 v if that is above the edge
    (Benaych-Georges and Nadakuditi 2011): this is undone. It scatters the other eigenvalues. Their sum is known,
    because noise hardly moves the sum of all: the others share it evenly.
    """
    clear = values > edge
    found = np.where(clear, (values + np.sqrt(np.maximum(values**2 - edge**2, 0.0))) / 2, 0.0)
    return np.where(clear, found, (values.sum() - found.sum()) / max(1, (~clear).sum()))
