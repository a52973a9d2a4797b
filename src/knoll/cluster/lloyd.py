"""DPLloyd: Lloyd's algorithm with noisy counts and sums (Blum et al. 2005; Su et al. 2016, Section 3).

    start from packed points of the domain
    repeat T times:
        release, for each cell of the nearest centre, (number of records, sum of records) + noise
        each centre <- noisy sum / noisy number

Where we differ: count and sum are one joint query, with noise divided among them and among columns so that the
error of a mean is least; a cell whose count cannot be told from zero restarts beside a large one; the number of
steps is a public parameter.
"""

from dataclasses import dataclass
from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.metrics import pairwise_distances
from sklearn.utils import check_random_state

from knoll import progress
from knoll.cluster.centers import CentersMixin
from knoll.cluster.starts import packed_starts
from knoll.estimator import open_curator
from knoll.privacy import PrivacyError, Released
from knoll.queries import Ball, Box, CellMoments, Nearest

MOST_CLUSTERS = 100_000


class Lloyd(CentersMixin, BaseEstimator):
    """K-means by noisy Lloyd steps, under differential privacy.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    epsilon, delta : float, default=1.0 and 1e-6
        Privacy budget of one fit. ``delta=0`` gives pure differential privacy (Laplace noise).
    bounds : Box, Ball, (lower, upper), dict or "private"
        Where records can lie, known without looking at them; records outside are clipped. ``"private"`` buys bounds
        with a tenth of the budget.
    n_steps : int, default=5
        Lloyd steps. Each gets an equal share of the budget.
    scale_by_bounds : bool, default=False
        Measure distances in units of each column's bounds, for columns of different kinds. (Scaling by the data's own
        spread, as StandardScaler does, would not be private.)
    relation : {"add_remove", "replace_special", "replace_one"}, default="add_remove"
        What neighbouring datasets are.
    unit : Record or User, optional
        Who is protected: one record (default), or ``User(column, cap)``.
    missing : {"refuse", "drop"}, default="refuse"
        Rows with NaN or infinity: an error, or left out.
    ledger : path or ledger, optional
        Where releases are recorded, against a cap per dataset. In memory by default.
    random_state : int, RandomState or None
        Public randomness (starting points). Never the noise.
    verbose : bool, default=False
        Show progress of long fits.

    Attributes
    ----------
    cluster_centers_ : array of shape (n_clusters, n_features)
        Released centres.
    centers_stderr_ : array of shape (n_clusters, n_features)
        Standard error of the last step's privacy noise; infinite for a cluster whose count drowned in it.
    cluster_sizes_ : array of shape (n_clusters,)
        Released sizes, not below zero.
    cluster_sizes_stderr_ : array of shape (n_clusters,)
        Standard error of their privacy noise.
    bounds_ : Box or Ball
        The bounds used, given or bought.
    privacy_ : Privacy
        What was released, at what cost; print it.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    **Privacy.** `n_steps` releases of (count, sum) per cell, each one joint query (`CellMoments`); two column
    histograms before them if bounds are bought. All fitted attributes are post-processing of these, so a fitted
    model may be published. Assumed public: the parameters, the bounds if given, column names, and under the two
    replace relations the number of records. There is no ``labels_``: labels would describe records.

    References
    ----------
    Blum, Dwork, McSherry, Nissim (2005). Practical privacy: the SuLQ framework.
    Su, Cao, Li, Bertino, Jin (2016). Differentially private k-means clustering.

    Examples
    --------
    >>> import knoll
    >>> from sklearn.datasets import make_blobs
    >>> X, _ = make_blobs(20_000, 2, centers=[[-5, 0], [5, 0]], random_state=0)
    >>> model = knoll.Lloyd(2, epsilon=1.0, bounds=(-10, 10), random_state=0).fit(X)
    >>> sorted(model.cluster_centers_[:, 0].round(0).tolist())
    [-5.0, 5.0]
    >>> model.privacy_.is_private, model.privacy_.spent_epsilon <= 1.0
    (True, True)
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        bounds: Any = None,
        n_steps: int = 5,
        scale_by_bounds: bool = False,
        relation: str = "add_remove",
        unit: Any = None,
        missing: str = "refuse",
        ledger: Any = None,
        random_state: Any = None,
        verbose: bool = False,
    ):
        self.n_clusters = n_clusters
        self.epsilon = epsilon
        self.delta = delta
        self.bounds = bounds
        self.n_steps = n_steps
        self.scale_by_bounds = scale_by_bounds
        self.relation = relation
        self.unit = unit
        self.missing = missing
        self.ledger = ledger
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find centres.

        Parameters
        ----------
        X : array, DataFrame, Arrow table, path or Source
            The records: in memory, or a parquet, CSV or Arrow file or folder, which is streamed.
        y : ignored

        Returns
        -------
        self
        """
        k = check_count("n_clusters", self.n_clusters, MOST_CLUSTERS)
        steps = check_count("n_steps", self.n_steps, 1000)
        rng = check_random_state(self.random_state)
        room = open_curator(self, X, public=("n_clusters", "n_steps"))
        curator, domain = room.curator, room.domain
        scales = domain.half.copy() if self.scale_by_bounds else np.ones(domain.n_columns)

        means = CellMeans.unseen(packed_starts(domain, k, scales, rng))
        share = curator.share_left / steps
        with progress.shown(type(self).__name__, steps, enabled=self.verbose):
            for _ in range(steps):
                centres = restart_unseen(means, domain, scales, rng)
                moments = curator.release(CellMoments(Nearest(centres, domain, scales)), share)
                means = cell_means(moments, domain, otherwise=centres)

        self.cluster_centers_ = means.centres
        self.centers_stderr_ = means.stderr
        self.cluster_sizes_ = np.maximum(moments.value[:, 0], 0.0)
        self.cluster_sizes_stderr_ = moments.stderr[:, 0].copy()
        self.bounds_, self.scales_ = domain, scales
        self.privacy_ = room.statement()
        return self


@dataclass(frozen=True)
class CellMeans:
    """Released means of cells, the standard error of their privacy noise, and which cells can be told from empty."""

    centres: np.ndarray
    stderr: np.ndarray
    counts: np.ndarray
    seen: np.ndarray

    @classmethod
    def unseen(cls, centres: np.ndarray) -> Self:
        """Return starting points: centres of cells of which nothing is known."""
        k = len(centres)
        return cls(centres, np.full(centres.shape, np.inf), np.zeros(k), np.zeros(k, dtype=bool))


def cell_means(moments: Released, domain: Box | Ball, otherwise: np.ndarray) -> CellMeans:
    """Return released sum / released count per cell; cells too small to see keep `otherwise`.

    A mean S/N with noise of standard error s on S and t on N has standard error sqrt(s^2 + (S/N)^2 t^2) / N, to
    first order; below two standard errors of N that says nothing and the cell counts as unseen.
    """
    count, sums = moments.value[:, :1], moments.value[:, 1:]
    count_error, sum_error = moments.stderr[:, :1], moments.stderr[:, 1:]
    seen = count > 2.0 * count_error
    offset = np.divide(sums, count, out=np.zeros_like(sums), where=seen)
    error = np.hypot(sum_error, offset * count_error)
    stderr = np.divide(error, count, out=np.full_like(sums, np.inf), where=seen)
    centres = np.where(seen, domain.clip(domain.centre + offset), otherwise)
    return CellMeans(centres, stderr, count[:, 0], seen[:, 0])


def restart_unseen(means: CellMeans, domain: Box | Ball, scales: np.ndarray, rng: np.random.RandomState) -> np.ndarray:
    """Return the centres, those of unseen cells moved beside the largest cells, so that the next step can split them.

    Each goes half-way to the nearest seen neighbour's distance, in a random direction. Post-processing.
    """
    seen, unseen = np.flatnonzero(means.seen), np.flatnonzero(~means.seen)
    centres = means.centres / scales
    if len(seen) < 2 or not len(unseen):
        return means.centres
    hosts = seen[np.argsort(-means.counts[seen], kind="stable")][np.arange(len(unseen)) % len(seen)]
    gaps = pairwise_distances(centres[hosts], centres[seen])
    nearest = np.partition(gaps, 1, axis=1)[:, 1:2]
    direction = rng.standard_normal((len(unseen), domain.n_columns))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    centres[unseen] = centres[hosts] + 0.5 * nearest * direction
    return domain.clip(centres * scales)


def check_count(name: str, value: Any, most: int) -> int:
    """Return a positive integer parameter, or explain what is wrong with it."""
    if isinstance(value, bool) or not isinstance(value, Integral) or not 1 <= value <= most:
        raise PrivacyError(f"{name}={value!r} must be an integer from 1 to {most:,}")
    return int(value)
