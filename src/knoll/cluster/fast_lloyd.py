"""FastLloyd: Lloyd's algorithm on clipped displacements (Diaa, Humphries, Kerschbaum 2025).

    start from packed points of the domain; the cells' radius r is a public fraction of the domain's
    repeat T times:
        release, for each cell, (number of records, sum of displacements from the centre, clipped to r) + noise
        each centre <- centre + noisy sum / noisy number, moved by at most r

Noise is proportional to r instead of the domain's size. Where we differ. Count and displacements are one joint query.
An empty cell gets noise like any other; the reference code counts it as 1 and keeps its centre, which reveals whether a
cell is empty. ``restart=True`` moves the centre of a cell that may be empty beside a large cell.
"""

import sys
from dataclasses import KW_ONLY
from typing import ClassVar

import numpy as np

from knoll.cluster.centers import PrivateCenters
from knoll.cluster.found import Clusters
from knoll.estimator import FitContext, HasMetric, declared
from knoll.numeric.packing import packed_starts
from knoll.parameters import MOST_STEPS, PRESET, Number, Whole
from knoll.privacy import Ask
from knoll.queries import CellDisplacements, Nearest
from knoll.steps.means import CellMeans, cell_means, means_ask, restart_unseen

PAPER_STEPS, PAPER_CLIP = 6, 0.8  # what `preset="paper"` uses

CLIP = Number(sys.float_info.min, 100.0, "a positive fraction of the cells' radius; 0.8 is the default")


@declared
class FastLloyd(HasMetric, PrivateCenters):
    """K-means by noisy steps of clipped displacements, under differential privacy.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    n_steps : int, default=6
        Number of steps. Each gets an equal share of the budget.
    clip : float, default=0.8
        Radius of a cell, as a fraction of the radius that k equal cells would have: R k^(-1/d).
    restart : bool, default=False
        Whether the centre of a cell that may be empty moves beside a large cell. The paper does not do this.
    preset : {"default", "paper"}, default="default"
        "paper": 6 steps, cells of 0.8 of the radius, no restarts.
    {parameters}

    Attributes
    ----------
    {attributes}

    Notes
    -----
    {releases}

    Count and clipped displacements of a cell are one joint query.

    References
    ----------
    Diaa, Humphries, Kerschbaum (2025). FastLloyd: federated, accurate, secure, and tunable k-means clustering with
    differential privacy.

    Examples
    --------
    >>> import knoll
    >>> from sklearn.datasets import make_blobs
    >>> X, _ = make_blobs(20_000, 2, centers=[[-5, 0], [5, 0]], random_state=0)
    >>> model = knoll.FastLloyd(2, epsilon=1.0, bounds=(-10, 10), random_state=0).fit(X)
    >>> sorted(model.cluster_centers_[:, 0].round(0).tolist())
    [-5.0, 5.0]
    """

    n_clusters: int = 8
    _: KW_ONLY
    n_steps: int = 6
    clip: float = 0.8
    restart: bool = False
    preset: str = "default"

    _rules: ClassVar = {"preset": PRESET, "n_steps": Whole(MOST_STEPS), "clip": CLIP}

    def _asks_for(self, n_columns: int, k: int) -> list[Ask]:
        steps = PAPER_STEPS if self.preset == "paper" else self.n_steps
        return [means_ask(n_columns, k, steps, share=1 / steps)]

    def _search(self, context: FitContext, k: int, rng: np.random.RandomState) -> Clusters:
        domain, scales = context.domain, context.scales
        n_steps, clip, restart = (
            (PAPER_STEPS, PAPER_CLIP, False) if self.preset == "paper" else (self.n_steps, self.clip, self.restart)
        )
        radius = clip * domain.longest(scales) * k ** (-1 / domain.n_columns)
        means = CellMeans.unseen(packed_starts(domain, k, scales, rng))
        for step in context.grant.even(n_steps):
            centres = restart_unseen(means, domain, scales, rng) if restart else means.centres
            moments = step.release(CellDisplacements(Nearest(centres, domain, scales), radius))
            means = cell_means(moments, centres, domain, otherwise=centres, farthest=radius * scales)
        return Clusters(means.with_measured(domain, scales, at=centres, radius=radius))
