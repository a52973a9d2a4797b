"""knoll's own k-means: a tree of released shapes, weighted k-means on it, and noise-aware Lloyd steps.

    root    release count, mean and variance of everything
    axes    if the bounds are many-dimensional: release the scatter matrix, rotate to its axes, search the clear ones
    tree    release the shapes of cells, level by level, halving large wide ones                    (moment_tree.py)
    solve   weighted k-means on points sampled from the released leaves: free                       (refine.py)
    refine  Lloyd steps on clipped displacements from the centres, shrunk by their noise, with the rest of the budget;
            they begin with some centres too many, and half-way the pairs that share a cluster are merged; when the
            centres rest, steps are left out

Every release is one query: a record lies in one cell and adds (count, displacement, squares) to it, clipped to that
cell's own ellipsoid. Schedules depend on released values, k, the bounds and the noise, never on the data.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from knoll.cluster import choose
from knoll.cluster.centers import PrivateCenters
from knoll.cluster.choose import GUESS, Choice, choose_k
from knoll.cluster.means import CellMeans
from knoll.cluster.moment_tree import Leaf, grow, release_root, tree_asks
from knoll.cluster.refine import (
    Centres,
    affordable_steps,
    refine,
    solve,
    spare_centres,
    star,
    step_asks,
    synthetic_points,
)
from knoll.cluster.shape import effective, ellipsoid, unit_frame
from knoll.estimator import Room, declared
from knoll.privacy import Ask, Curator, Shares
from knoll.queries import Frame, Projected, ScatterMatrix, longest_record

ROTATE_FROM, MOST_AXES = 12, 12  # rotate if the bounds have so many effective dimensions; axes kept for the search
MOST_ROTATED = 400  # columns up to which a scatter matrix is released: it has d (d + 1) / 2 entries


@dataclass(frozen=True)
class KMeansShares(Shares):
    """Shares of the budget; the axes' share goes to the steps if there is no rotation."""

    root: float = 0.05
    axes: float = 0.12
    tails: float = 0.03
    tree: float = 0.32
    steps: float = 0.48


SHARES = KMeansShares()


@declared
class KMeans(PrivateCenters):
    """K-means under differential privacy, with nothing to tune.

    Parameters
    ----------
    n_clusters : int or None, default=8
        Number of clusters. None chooses it from what is released anyway, at no cost.
    {parameters}

    Attributes
    ----------
    {attributes}
    n_clusters_confidence_ : float
        If the number of clusters was chosen: how often it is chosen again when the released noise is redrawn.

    Notes
    -----
    {releases}

    Examples
    --------
    >>> import knoll
    >>> from sklearn.datasets import make_blobs
    >>> X, _ = make_blobs(20_000, 2, centers=[[-5, 0], [5, 0]], random_state=0)
    >>> model = knoll.KMeans(2, epsilon=1.0, bounds=(-10, 10), random_state=0).fit(X)
    >>> sorted(model.cluster_centers_[:, 0].round(0).tolist())
    [-5.0, 5.0]
    """

    n_clusters: int | None = 8

    _may_choose = True
    _published: ClassVar = {**PrivateCenters._published, "n_clusters_confidence_": ""}

    def _asks_for(self, n_columns: int, k: int | None, shares: KMeansShares = SHARES) -> list[Ask]:
        tree = rotated_tree_asks(n_columns, k or GUESS, (shares.root, shares.axes, shares.tails, shares.tree))
        return [*tree, *step_asks(n_columns, k or choose.MOST, shares.steps)]

    def _search(
        self, room: Room, k: int | None, rng: np.random.RandomState, shares: KMeansShares = SHARES
    ) -> CellMeans:
        curator, frame = room.curator, Frame(room.domain, room.scales)
        whole = curator.share_left
        root = release_root(curator, shares.root * whole, frame, longest_record(room.domain, room.scales))
        unseen, rotation = star(root, k or GUESS, rng), None
        if effective(frame.half) >= ROTATE_FROM and frame.n_columns <= MOST_ROTATED:
            rotation = principal_axes(curator, shares.axes * whole, frame, root)
            frame, root, unseen = rotation.frame(room), rotation.turn(root), rotation.along(unseen)

        search, seed = (frame, root) if rotation is None else (rotation.search(room), rotation.clear(root))
        leaves = grow(curator, search, seed, k or GUESS, (shares.tails * whole, shares.tree * whole))
        choice = choose_k(leaves, unseen, rng) if k is None else Choice(k, 1.0)
        k = choice.k
        self.n_clusters_confidence_ = choice.confidence
        steps = affordable_steps(curator, frame, root, k, whole)
        spare = spare_centres(k, steps, len(leaves.count) / search.n_columns)
        centres = solve(*synthetic_points(leaves, unseen, rng), k, rng, spare, len(unseen))
        if rotation is not None:
            centres = rotation.lift(centres, root)
        found = refine(curator, curator.share_left, steps, frame, centres, k, (root.lower[0], root.upper[0]))
        if rotation is None:
            at = frame.outside(found.centres)
            stderr = found.stderr * room.scales
        else:
            at = room.domain.centre + found.centres @ rotation.axes * room.scales
            with np.errstate(invalid="ignore"):
                stderr = np.sqrt(np.square(found.stderr) @ np.square(rotation.axes)) * room.scales
            stderr[~found.seen] = np.inf
        return CellMeans(room.domain.clip(at), stderr, found.counts, found.counts_stderr, found.seen)


def rotated_tree_asks(n_columns: int, k: int, shares: tuple[float, float, float, float]) -> list[Ask]:
    """Return what a tree for k clusters, and the axes before it, release at most."""
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

    def frame(self, room: Room) -> Frame:
        """All axes, for the steps."""
        return Frame(Projected(room.domain, self.axes, longest_record(room.domain, room.scales), room.scales))

    def search(self, room: Room) -> Frame:
        """The axes that stand out, for the tree."""
        return Frame(
            Projected(room.domain, self.axes[: self.clear_axes], longest_record(room.domain, room.scales), room.scales)
        )

    def along(self, points: np.ndarray) -> np.ndarray:
        """Return points in the axes that stand out."""
        return points @ self.axes[: self.clear_axes].T

    def turn(self, root: Leaf) -> Leaf:
        """Return the root in the new axes."""
        half = np.abs(self.axes) @ root.upper[0]
        variance = np.maximum(self.variance, max(0.05 * root.variance.mean(), 1e-300))
        mean = np.clip(self.axes @ root.mean[0], -half, half)
        return Leaf(root.nodes, root.count, root.count_variance, mean[None], variance[None], -half[None], half[None])

    def clear(self, root: Leaf) -> Leaf:
        """Return a turned root in the axes that stand out."""
        q = self.clear_axes
        columns = (root.mean[:, :q], root.variance[:, :q], root.lower[:, :q], root.upper[:, :q])
        return Leaf(root.nodes, root.count, root.count_variance, *columns)

    def lift(self, centres: Centres, root: Leaf) -> Centres:
        """Give centres of the search the other axes: the mean, and the variance of everything."""
        k, q = centres.at.shape
        rest = root.variance[0, q:]
        rest = np.maximum(rest, 0.3 * rest.mean()) if len(rest) else rest
        at = np.hstack([centres.at, np.tile(root.mean[0, q:], (k, 1))])
        return Centres(at, np.hstack([centres.variance, np.tile(rest, (k, 1))]), centres.weight, centres.error)


def principal_axes(curator: Curator, share: float, frame: Frame, root: Leaf) -> Rotation:
    """Release the scatter matrix about the released mean; count the eigenvalues above the noise's spectral edge."""
    axes, radius = ellipsoid(root.variance[0])
    query = ScatterMatrix(frame, root.mean[0], axes, float(radius))
    released = curator.release(query, share)
    n = root.count[0]
    values, vectors = np.linalg.eigh(query.matrix(released.value) / n)
    size = radius / axes
    unit = float(released.stderr[0]) / size[0] ** 2
    edge = 2**0.5 * unit / n * float(np.sqrt((size**2).sum() * (size**2).max()))
    clear = int(np.clip((values > edge).sum(), 1, MOST_AXES))
    return Rotation(vectors[:, ::-1].T.copy(), without_noise(values, edge)[::-1].copy(), clear)


def without_noise(values: np.ndarray, edge: float) -> np.ndarray:
    """Return the eigenvalues of a noisy matrix as they are without the noise, whose own spectrum ends at `edge`.

    Noise lifts an eigenvalue v to v + edge^2 / 4 v if that is above the edge (Benaych-Georges and Nadakuditi 2011), and
    scatters the others; the sum of all it hardly moves, so the others share what is left.
    """
    clear = values > edge
    found = np.where(clear, (values + np.sqrt(np.maximum(values**2 - edge**2, 0.0))) / 2, 0.0)
    return np.where(clear, found, (values.sum() - found.sum()) / max(1, (~clear).sum()))
