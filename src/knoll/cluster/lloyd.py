"""DPLloyd: Lloyd's algorithm with noisy counts and sums (Blum et al. 2005; Su et al. 2016, Section 3).

    start from packed points of the domain
    repeat T times:
        release, for each cell of the nearest centre, (number of records, sum of records) + noise
        each centre <- noisy sum / noisy number

Where we differ. Count and sum are one joint query. Its noise is divided between count and sum so that the error of a
mean is least; except for ``preset="paper"``, it is divided among columns in the same way. The number of steps is a
public parameter. ``restart=True`` moves the centre of a cell that may be empty beside a large cell.
"""

from dataclasses import KW_ONLY
from typing import ClassVar

import numpy as np

from knoll.cluster.centers import PrivateCenters
from knoll.cluster.found import Clusters
from knoll.estimator import FitContext, HasMetric, declared
from knoll.numeric.packing import packed_starts
from knoll.parameters import MOST_STEPS, PRESET, Whole
from knoll.privacy import Ask
from knoll.queries import CellMoments, Nearest
from knoll.steps.means import CellMeans, cell_means, means_ask, restart_unseen

PAPER_STEPS = 5  # what `preset="paper"` uses


@declared
class Lloyd(HasMetric, PrivateCenters):
    """K-means by noisy Lloyd steps, under differential privacy.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    n_steps : int, default=5
        Number of Lloyd steps. Each gets an equal share of the budget.
    restart : bool, default=False
        Whether the centre of a cell that may be empty moves beside a large cell. The paper does not do this.
    preset : {"default", "paper"}, default="default"
        "paper": 5 steps, no restarts, and noise in proportion to each column's width.
    {parameters}

    Attributes
    ----------
    {attributes}

    Notes
    -----
    {releases}

    Count and sum of a cell are one joint query. A fitted model may be published. There is no ``labels_``, since
    labels would describe records.

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

    n_clusters: int = 8
    _: KW_ONLY
    n_steps: int = 5
    restart: bool = False
    preset: str = "default"

    _rules: ClassVar = {"preset": PRESET, "n_steps": Whole(MOST_STEPS)}

    def _asks_for(self, n_columns: int, k: int) -> list[Ask]:
        steps = PAPER_STEPS if self.preset == "paper" else self.n_steps
        return [means_ask(n_columns, k, steps, share=1 / steps)]

    def _search(self, context: FitContext, k: int, rng: np.random.RandomState) -> Clusters:
        domain, scales, paper = context.domain, context.scales, self.preset == "paper"
        n_steps, restart = (PAPER_STEPS, False) if paper else (self.n_steps, self.restart)
        means = CellMeans.unseen(packed_starts(domain, k, scales, rng))
        for step in context.grant.even(n_steps):
            centres = restart_unseen(means, domain, scales, rng) if restart else means.centres
            cells = Nearest(centres, domain, scales)
            moments = step.release(CellMoments(cells, domain, domain.half if paper else scales))
            means = cell_means(moments, domain.centre, domain, otherwise=centres)
        return Clusters(means.with_measured(domain, scales, at=centres))
