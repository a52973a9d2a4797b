"""knoll's own k-means: a tree of released shapes, weighted k-means on it, and noise-aware Lloyd steps.

    root    release count, mean and variance of all records
    axes    if the bounds have many dimensions: release the scatter matrix, rotate to its axes      (axes.py)
    tree    release the shapes of cells, level by level; halve cells that are large and wide        (tree.py)
    solve   weighted k-means on points sampled from the released leaves: free                       (refine.py)
    refine  Lloyd steps on clipped displacements, shrunk by their noise, with the rest of the budget. They begin with
            spare centres; half-way, pairs that share a cluster are merged. When centres rest, steps are left out.

Where the budget shows little of each cluster and columns are few, a kernel sum takes the place of tree and steps: it is
released in two looks, and likely densities are sampled from it (one_release.py). With Laplace noise votes in a grid do
the same (vote_look.py). Where columns are many and clusters few, waves along the axes take the place of the tree
(waves.py). What is released of all records decides. The number of clusters, if it is not given, comes from pieces and
votes (choose.py) or from a kernel sum too (once_choice.py).

Every release is one query. In tree and steps a record lies in one cell and adds (count, displacement, squares) to it,
clipped to that cell's own ellipsoid. Schedules depend on released values, k, the bounds and the noise, never on the
records.
"""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from knoll.cluster.centers import PrivateCenters
from knoll.cluster.found import Clusters
from knoll.estimator import FitContext, HasMetric, declared
from knoll.parameters import MOST_CLUSTERS, Whole
from knoll.privacy import Ask, Shares
from knoll.queries import FourierFeatures, FourierGrid, Frame, LatticeCounts
from knoll.steps.axes import rotated_tree_asks
from knoll.steps.centres import Centres
from knoll.steps.choose import Choice, choice_asks, choose_clusters
from knoll.steps.once_choice import CHOSEN_ONCE, chooses_once, may_choose_once, release_hills
from knoll.steps.one_release import (
    ONCE,
    TREE,
    UNKNOWN,
    VOTES,
    Clarity,
    OnceFound,
    clarity,
    clusters_of,
    may_release_once,
    once_asks,
    reason,
    release_clusters,
)
from knoll.steps.pieces import MOST
from knoll.steps.refine import MOST_STEPS, affordable_steps, refine, solve, spare_centres, step_asks, synthetic_points
from knoll.steps.search import Searched, search_tree
from knoll.steps.tree import ask_root, root_of
from knoll.steps.waves import MOST_CLEAR, WAVES, may_use_waves, search_waves, wave_asks, wave_reason
from knoll.synthetic import Sampled


@dataclass(frozen=True)
class KMeansShares(Shares):
    """Shares of the budget. If there is no rotation, the steps get the share of the axes.

    The search finds the clusters, the steps place the centres: each needs what the other gets. docs/benchmarks.md,
    "K-means utility", measures these shares together.
    """

    root: float = 0.05
    axes: float = 0.12
    tails: float = 0.03
    tree: float = 0.32
    steps: float = 0.48


@dataclass(frozen=True)
class ChoiceShares(Shares):
    """Shares if the number of clusters is chosen: most of the budget shows the pieces that clusters are made of.

    If there is no rotation, the steps get the share of the axes.
    """

    root: float = 0.05
    axes: float = 0.1
    tails: float = 0.03
    tree: float = 0.22
    rounds: float = 0.36
    votes: float = 0.14
    steps: float = 0.1


CHOSEN_BY_VOTES = "The number of clusters was chosen: a tree finds pieces, and votes say which are one cluster"
LAST_STEPS = 2  # if the number was chosen: the pieces have moved to their places already
SHARES, CHOICE_SHARES = KMeansShares(), ChoiceShares()
SHOWN = ((FourierGrid, ONCE), (LatticeCounts, VOTES), (FourierFeatures, WAVES))  # which query tells which strategy


@declared
class KMeans(Sampled, HasMetric, PrivateCenters):
    """K-means under differential privacy, with nothing to tune.

    Parameters
    ----------
    n_clusters : int or None, default=8
        Number of clusters. With None it is chosen: pieces are joined where no valley shows between them, which takes
        most of the budget. Up to about 200 clusters are seen, if each has enough records to stand out of the noise.
    {parameters}

    Attributes
    ----------
    {attributes}
    n_clusters_confidence_ : float
        If the number of clusters was chosen: the probability that it is right within 5 %. Below 0.5 means that nobody
        can tell.
    n_clusters_candidates_ : array of shape (n_candidates, 2)
        Numbers of clusters and their probabilities, the chosen one first.
    cluster_variances_ : array of shape (n_clusters, n_features)
        Variance of each cluster's records about its mean, per column. Drawn to what is expected where noise is large.
    strategy_ : str
        Which releases were made: "kernel sum", "votes", "waves" or "tree".
    strategy_reason_ : str
        Why, in a sentence.
    records_over_noise_ : float
        Released records per cluster, over the standard error of one count with the whole budget: how clear clusters
        are. Zero if the number of clusters was chosen.
    effective_draws_ : float
        With a kernel sum or votes: how many independent draws of likely densities the centres rest on. Else zero.

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

    records_over_noise_: ClassVar[float]
    _may_once: ClassVar[bool] = True
    """Whether a kernel sum, or waves, may replace the tree; not where others need cells for shapes of any kind."""
    _rules: ClassVar = {"n_clusters": Whole(MOST_CLUSTERS, none=True)}
    _published: ClassVar = {
        **PrivateCenters._published, "n_clusters_confidence_": "", "n_clusters_candidates_": "qo",
        "cluster_variances_": "kd", "records_over_noise_": "", "effective_draws_": "",
    }  # fmt: skip

    def _asks_for(self, n_columns: int, k: int | None, shares: KMeansShares = SHARES) -> list[Ask]:
        if k is None:
            looks = once_asks(n_columns, 1 - CHOICE_SHARES.root) if self._may_choose_once(n_columns) else []
            return [*choice_asks(n_columns, CHOICE_SHARES), *step_asks(n_columns, MOST, CHOICE_SHARES.steps), *looks]
        tree = rotated_tree_asks(n_columns, k, (shares.root, shares.axes, shares.tails, shares.tree))
        once = once_asks(n_columns, 1 - shares.root, pure=self.delta == 0) if self._allows_once(n_columns, k) else []
        waves = wave_asks(n_columns, k, shares.tails + shares.tree) if self._may_once else []
        return [*tree, *step_asks(n_columns, k, shares.steps), *once, *waves]

    def _search(
        self, context: FitContext, k: int | None, rng: np.random.RandomState, shares: KMeansShares = SHARES
    ) -> Clusters:
        frame, reach = Frame(context.domain, context.scales), context.domain.longest(context.scales)
        if k is None:
            return self._search_chosen(context, frame, reach, rng)
        grants = context.grant.split(shares)
        seen = ask_root(grants.root, frame, reach)
        clear = clarity(context, seen, k, allowed=self._allows_once(context.domain.n_columns, k))
        if clear.once:
            total = max(float(seen.count[0]), seen.count_sd)
            once = release_clusters(context, context.grant.rest, total, k, rng)
            return self._released_once(once, clear, Choice.given(k))
        root = root_of(seen, frame, reach)
        if self._may_once and may_use_waves(context.grant.norm, frame, k) and clear.value <= MOST_CLEAR:
            spare = spare_centres(k, affordable_steps(context.grant, frame, root, k))
            found, centres = search_waves(context, grants, root, k + spare, rng)
        else:
            found = search_tree(context, grants, k, rng, root=root)
            steps = affordable_steps(context.grant, found.frame, found.root, k)
            spare = spare_centres(k, steps, len(found.leaves.count) / found.seed.mean.shape[1])
            centres = solve(*synthetic_points(found.leaves, found.hedge, rng), k, rng, spare, len(found.hedge))
        if found.rotation is not None:
            centres = found.rotation.lift(centres, found.root)
        return self._refined(context, found, centres, Choice.given(k), clear)

    def _search_chosen(self, context: FitContext, frame: Frame, reach: float, rng: np.random.RandomState) -> Clusters:
        """Choose the number of clusters: by hills of likely densities, or by pieces and votes."""
        grants = context.grant.split(CHOICE_SHARES)
        seen = ask_root(grants.root, frame, reach)
        total, allowed = float(seen.count[0]), self._may_choose_once(context.domain.n_columns)
        if chooses_once(context, total, float(seen.count_sd), allowed=allowed):
            hills = release_hills(context, context.grant.rest, total, rng)
            found = clusters_of(context, hills.view, hills.cells)
            return self._released_once(found, UNKNOWN, hills.choice(rng))
        root = root_of(seen, frame, reach)
        chosen = choose_clusters(context, context.grant, CHOICE_SHARES, rng, (grants, root))
        return self._refined(context, chosen.found, chosen.centres, chosen.choice, most=LAST_STEPS)

    def _may_choose_once(self, n_columns: int) -> bool:
        return self._may_once and may_choose_once(self, n_columns)

    def _allows_once(self, n_columns: int, k: int) -> bool:
        return self._may_once and may_release_once(self, n_columns, k)

    def _released_once(self, found: OnceFound, clear: Clarity, choice: Choice) -> Clusters:
        """Return the clusters of a kernel sum."""
        more = {
            **choice.attributes(), "cluster_variances_": found.variances,
            "records_over_noise_": clear.value, "effective_draws_": found.effective,
        }  # fmt: skip
        return Clusters(found.means, more, bars=found.bars, each=("cluster_variances_",))

    def _refined(
        self, context: FitContext, found: Searched, centres: Centres, choice: Choice, clear: Clarity = UNKNOWN,
        most: int = MOST_STEPS,
    ) -> Clusters:  # fmt: skip
        """Spend the rest of the budget on Lloyd steps. Return the clusters in the columns."""
        frame, root, rotation, k = found.frame, found.root, found.rotation, choice.k
        steps = min(most, affordable_steps(context.grant, frame, root, k))
        refined = refine(context.grant.rest, steps, frame, centres, k, (root.lower[0], root.upper[0]))
        turn = context.scales if rotation is None else rotation.axes * context.scales
        if rotation is None:
            at = frame.outside(refined.centres)
            stderr = refined.stderr * context.scales
        else:
            at = context.domain.centre + refined.centres @ rotation.axes * context.scales
            with np.errstate(invalid="ignore"):
                stderr = np.sqrt(np.square(refined.stderr) @ np.square(rotation.axes)) * context.scales
            stderr[~refined.seen] = np.inf
        means = replace(refined, centres=context.domain.clip(at), stderr=stderr).turned(context.domain, turn)
        assert refined.sums is not None
        turned = refined.sums.variance if rotation is None else refined.sums.variance @ np.square(rotation.axes)
        more = {
            **choice.attributes(), "cluster_variances_": turned * np.square(context.scales),
            "records_over_noise_": clear.value, "effective_draws_": 0.0,
        }  # fmt: skip
        return Clusters(means, more, each=("cluster_variances_",))

    def _drawn_from(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self.cluster_sizes_, self.cluster_centers_, self.cluster_variances_

    @property
    def strategy_(self) -> str:
        """Which releases were made."""
        check_is_fitted(self)
        asked = {entry.query for entry in self.privacy_.releases}
        return next((name for query, name in SHOWN if query.name in asked), TREE)

    @property
    def strategy_reason_(self) -> str:
        """Why these releases were made, in a sentence."""
        if self.strategy_ == WAVES:
            return wave_reason(self.records_over_noise_)
        if self.n_clusters is None:
            return CHOSEN_ONCE if self.strategy_ == ONCE else CHOSEN_BY_VOTES
        once = self.strategy_ in (ONCE, VOTES)
        return reason(self.records_over_noise_, self.bounds_.n_columns, once=once, pure=self.delta == 0)


class KMeansByTree(KMeans):
    """The search of `KMeans` by its tree alone, as a part of other methods."""

    _may_once: ClassVar[bool] = False
