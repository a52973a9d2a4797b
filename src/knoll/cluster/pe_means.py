"""PE-means and, above 16 dimensions, HDPE-means: private evolution of centres by votes (Algorithms 1-3 of its paper).

    population <- points spread over the domain
    repeat T times:
        every record votes for the nearest of the population; release the votes + noise
        keep the largest votes that make up n, and run weighted k-means on them: k centres
        if the votes drown in noise, halve L; population <- centres and L Levy-flight variations of each
    above 16 dimensions: all this in a random projection, then one release of (count, sum) per cell lifts the centres

Where we differ: n is released (a small share) instead of taken as public; count and sum of the lift are one joint
query; after a projection records are clipped to a public radius again; by default L is at most sqrt(n) and a record
looks for its vote among the variations of its nearest centre only, which is as good and far cheaper.
``preset="paper"`` has the paper's L = n / 5 and full search.
"""

from typing import Any

import numpy as np

from knoll.cluster.centers import PrivateCenters
from knoll.cluster.coreset import keep_top_mass, levy_flights, uniform_points, vote_means, weighted_kmeans
from knoll.cluster.means import CellMeans, cell_means, check_count
from knoll.estimator import Room, documented
from knoll.privacy import PrivacyError
from knoll.queries import CellMoments, Count, Nearest, NearestVotes, Projected, TwoLevel, random_projection

COUNT_SHARE, LIFT_SHARE = 0.02, 0.2
STEP = 0.01  # length of a typical variation, as a fraction of the domain's half width
MOST_CANDIDATES = 50_000
MOST_EPSILON = 4.0  # steps grow with epsilon up to here, as far as the paper tried


@documented
class PEMeans(PrivateCenters):
    """K-means by private evolution: records vote for candidate centres, under differential privacy.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    preset : {"default", "paper"}, default="default"
        "paper": L = n / 5 variations per centre and a search among all of them.
    projection : int, optional
        Dimensions to search in. By default all up to 16 columns, else a random projection to 16.
    {parameters}

    Attributes
    ----------
    {attributes}

    Notes
    -----
    **Privacy.** A `Count`, then T releases of `NearestVotes`: a record casts one vote. With a projection, one
    `CellMoments` more. T is 4 sqrt(d), times epsilon between 1 and 4.

    Examples
    --------
    >>> import knoll
    >>> from sklearn.datasets import make_blobs
    >>> X, _ = make_blobs(20_000, 2, centers=[[-5, 0], [5, 0]], random_state=0)
    >>> model = knoll.PEMeans(2, epsilon=1.0, bounds=(-10, 10), random_state=0).fit(X)
    >>> sorted(model.cluster_centers_[:, 0].round(0).tolist())
    [-5.0, 5.0]
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        bounds: Any = None,
        preset: str = "default",
        projection: int | None = None,
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
        self.preset = preset
        self.projection = projection
        self.scale_by_bounds = scale_by_bounds
        self.relation = relation
        self.unit = unit
        self.missing = missing
        self.ledger = ledger
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self) -> None:
        if self.preset not in ("default", "paper"):
            raise PrivacyError(f'preset={self.preset!r} is not one of "default", "paper"')
        if self.projection is not None:
            check_count("projection", self.projection, 10_000)

    def _search(self, room: Room, k: int, rng: np.random.RandomState) -> CellMeans:
        curator, domain = room.curator, room.domain
        whole = curator.share_left
        n = max(1.0, float(curator.release(Count(), COUNT_SHARE * whole).value))
        p = self.projection or (16 if domain.n_columns > 16 else domain.n_columns)
        if p >= domain.n_columns:
            return self._evolve(room, domain, room.scales, k, n, 1.0 - COUNT_SHARE, rng)

        low = random_projection(domain, p, rng, room.scales)
        found = self._evolve(room, low, None, k, n, 1.0 - COUNT_SHARE - LIFT_SHARE, rng)
        lift = CellMoments(Nearest(found.centres, low), domain, room.scales)
        middle = np.tile(domain.centre, (k, 1))
        return cell_means(curator.release(lift, LIFT_SHARE * whole), domain.centre, domain, otherwise=middle)

    def _evolve(
        self,
        room: Room,
        domain: Any,
        scales: np.ndarray | None,
        k: int,
        n: float,
        share: float,
        rng: np.random.RandomState,
    ) -> CellMeans:
        steps = max(1, round(4 * domain.n_columns**0.5 * min(max(1.0, self.epsilon), MOST_EPSILON)))
        each = (
            share * room.curator.share_left / (share + (LIFT_SHARE if isinstance(domain, Projected) else 0.0)) / steps
        )
        wanted = n / 5 if self.preset == "paper" else min(n**0.5, 160.0)
        variations = int(min(max(wanted, 4.0), MOST_CANDIDATES / k))
        unit = np.ones(domain.n_columns) if scales is None else scales
        population = uniform_points(domain, k * (variations + 1), rng)
        groups = None
        for _ in range(steps):
            cells: Nearest | TwoLevel = Nearest(population, domain, scales)
            if groups is not None and self.preset == "default":
                cells = TwoLevel(population, groups, domain, scales)
            votes = room.curator.release(NearestVotes(cells), each)
            noise = float(votes.stderr.max())
            kept = keep_top_mass(votes.value, n)
            centres, labels = weighted_kmeans(population / unit, kept, k, rng)
            centres = centres * unit
            best = vote_means(population, labels, kept, noise, centres)
            if np.square(votes.value).sum() < 2.0 * len(population) * noise**2:
                variations = max(4, variations // 2)
            moved = centres[:, None] + STEP * domain.half * levy_flights((k, variations, domain.n_columns), rng)
            population = np.vstack([centres, domain.clip(moved.reshape(-1, domain.n_columns))])
            groups = np.concatenate([np.arange(k), np.repeat(np.arange(k), variations)])
        return best
