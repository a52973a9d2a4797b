"""Clusters of any shape: a private method finds sub-clusters, which are joined where the density between is high.

    base      any clusterer or mixture of knoll finds sub-clusters through the door
    density   after a clusterer: expectation-maximisation turns its cells into a mixture               (cells.py)
    once      where the budget shows little: the mixture of a kernel sum                              (once_mixture.py)
    morse     find peaks, saddles and merge tree of the mixture; cut it into clusters: free         (knoll.morse)

Byun, Choi, Lee: Improving the utility of differentially private clustering through dynamical processing, Algorithm 1.
"""

from dataclasses import KW_ONLY, replace
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from knoll.cluster.centers import PrivateCenters
from knoll.cluster.described import default_subclusters, described
from knoll.cluster.found import Clusters
from knoll.cluster.kmeans import KMeansByTree
from knoll.diagnose import Facts
from knoll.estimator import FitContext, PrivateFit, declared
from knoll.mixture.base import PrivateMixture
from knoll.morse import agreement, choose_cut, clusters_of, confidence, landscape, numbers_again
from knoll.morse.field import Field
from knoll.morse.flow import basins
from knoll.numeric.mixture import Mixture
from knoll.parameters import MOST_CLUSTERS, OneOf, Whole
from knoll.privacy import Ask, PrivacyError
from knoll.privacy.errors import brief
from knoll.queries import Count
from knoll.rows import points_of
from knoll.steps.cells import density_asks, density_from_cells, density_from_shapes, steps_ask
from knoll.steps.choose import Choice, choice_asks, choose_clusters, coarser_level
from knoll.steps.grid import COUNT_PART, MOST_COLUMNS, grid_asks, release_grid_mixture
from knoll.steps.moments import Form
from knoll.steps.once_mixture import subclusters_once
from knoll.steps.one_release import UNKNOWN, clarity_of, once_asks
from knoll.steps.pieces import MOST
from knoll.steps.start import ChoiceShares
from knoll.steps.strategy import ChoosesReleases, strategy_facts
from knoll.steps.subclusters import Subclusters

DENSITY_SHARE = 0.5  # for the mixture, the rest for the clusterer: good shapes against good places
CHOICE_SHARE = 0.65  # if the number of clusters is chosen: for the pieces, which come with their shapes
REDRAWS, FEWER_DRAWS = 20, 2_000  # repetitions for the confidence, and points drawn in each: more are surer and slower
MOST_CURVED = 1000  # columns: each step to a pass takes a matrix of them apart, hours beyond this
MOST_FULL = 64  # columns up to which products of columns are released: all d (d + 1) / 2 share the budget
CUTS = ("overlap", "prominence", "persistence", "height")
# Records of a cluster over the noise of one count, up to which a kernel sum shows more, by columns; how many
# sub-clusters it has: one to a cluster where it shows less than FAINT, else PARTS, but landscapes of more than
# MOST_PARTS take long. Settled on made-up clusters, moons, rings and arcs (benchmarks/small).
ONCE_CLEAR = {2: 150.0, 3: 75.0}
FAINT, PARTS, MOST_PARTS = 18.0, 6, 48
FLOOR = 1e-3  # least standard deviation, in half widths of the bounds: keeps covariances invertible


@declared
class MorseClustering(ChoosesReleases, PrivateCenters):
    """Clusters of any shape, under differential privacy: many small ones, joined where the density between is high.

    Parameters
    ----------
    n_clusters : int or None, default=None
        Number of clusters. None chooses it: up to two columns by the largest gap in persistence, in more as `KMeans`
        does.
    base : clusterer or mixture, optional
        Finds the sub-clusters; `knoll.KMeans` by default. Only the parameters of its own method are used. Budget,
        bounds and all else are those given here.
    n_subclusters : int, optional
        Number of sub-clusters. By default it is three times `n_clusters` (at least 24) for up to three columns, and
        twice (at least 6) for more. If that is None too, it is as many as the released values can show.
    cut : {"overlap", "prominence", "persistence", "height"}, default="overlap"
        What keeps sub-clusters apart when they are joined to `n_clusters`.

        ``"overlap"``: if there are at least as many hills as clusters, the most prominent hills are the clusters. If
        not, two groups stay apart if they overlap little and the valley between their nearest sub-clusters is deep. So
        a diffuse group around a dense one can be a cluster too, which no cut of the merge tree can show.

        The others cut the merge tree. ``"persistence"``: by the depth of the pass between two groups, below the lower
        of their peaks. ``"prominence"``: by this depth plus a part of the depth below the higher peak, times the square
        root of the lighter group's weight. ``"height"``: by the height of the pass, as in the paper.
    assign : {"component", "flow"}, default="component"
        How `predict` finds the cluster of a row: by its most probable sub-cluster (as in the paper), or by the peak to
        which it flows.
    {parameters}

    Attributes
    ----------
    mixture_ : Mixture
        The released mixture of sub-clusters.
    component_clusters_ : array of shape (n_components,)
        The cluster of each sub-cluster.
    peaks_, peak_clusters_ : arrays of shape (n_peaks, n_features) and (n_peaks,)
        Stable points of the density's flow, and their clusters.
    saddles_, saddle_heights_, saddle_ends_ : arrays
        Transition points, the log density there, and the two peaks that each joins.
    dendrogram_ : array of shape (n_joins, 4)
        The merge tree as SciPy's linkage matrix. Distances are log densities below the highest peak. Its leaves are
        the sub-clusters, followed by the peaks to which the mean of no sub-cluster flows.
    merge_heights_, merge_persistence_ : arrays of shape (n_joins,)
        Log density at the pass of each join, and how far the lower peak rises above it.
    merge_confidence_ : array of shape (n_joins,)
        How often each join stays joined, or apart, when the released noise is redrawn.
    n_clusters_confidence_ : float
        If the number of clusters was chosen: the probability that it is right within 5 %. Below 0.5 means that nobody
        can tell.
    n_clusters_candidates_ : array of shape (n_candidates, 2)
        Numbers of clusters and their probabilities, the chosen one first.
    strategy_ : str
        Which releases were made: "kernel sum", "grid", "tree" or "base".
    strategy_reason_ : str
        Why, in a sentence.
    records_over_noise_ : float
        Released records per cluster, over the standard error of one count with the whole budget: how clear clusters
        are. Zero where there is no choice.
    effective_draws_ : float
        With a kernel sum: how many independent draws of likely densities the sub-clusters rest on; else zero.
    {attributes}

    Notes
    -----
    {releases}

    A clusterer as base gets half of the budget, a mixture all of it. Peaks, saddles, tree, cut and confidence cost
    nothing. A cluster's centre is the mean of its sub-clusters. It need not lie inside the cluster.

    References
    ----------
    Byun, Choi, Lee. Improving the utility of differentially private clustering through dynamical processing.

    Examples
    --------
    >>> import knoll
    >>> from sklearn.datasets import make_moons
    >>> X, _ = make_moons(20_000, noise=0.06, random_state=0)
    >>> model = knoll.MorseClustering(epsilon=2.0, bounds=([-1.5, -1], [2.5, 1.5]), random_state=0).fit(X)
    >>> model.n_clusters_
    2
    """

    n_clusters: int | None = None
    _: KW_ONLY
    base: Any = None
    n_subclusters: int | None = None
    cut: str = "overlap"
    assign: str = "component"

    _rules: ClassVar = {
        "n_clusters": Whole(MOST_CLUSTERS, none=True), "n_subclusters": Whole(MOST_CLUSTERS, none=True),
        "cut": OneOf(CUTS), "assign": OneOf(("component", "flow")),
    }  # fmt: skip
    _published: ClassVar = {
        **PrivateCenters._published, "weights_": "c", "means_": "cd", "covariances_": "cdd", "component_clusters_": "c",
        "peaks_": "pd", "peak_clusters_": "p", "saddles_": "sd", "saddle_heights_": "s", "saddle_ends_": "s2",
        "dendrogram_": "mf", "merge_heights_": "m", "merge_persistence_": "m", "merge_confidence_": "m",
        "n_clusters_confidence_": "", "n_clusters_candidates_": "qo", **ChoosesReleases._choice_published,
    }  # fmt: skip
    _most_clear: ClassVar = ONCE_CLEAR

    def _check_parameters(self) -> None:
        super()._check_parameters()
        sub, k = self.n_subclusters, self.n_clusters
        if sub is not None and k is not None and sub < k:
            raise PrivacyError(f"n_subclusters={sub} is below n_clusters={k}")
        if self.base is not None:
            if isinstance(self.base, MorseClustering) or not isinstance(self.base, PrivateCenters | PrivateMixture):
                raise PrivacyError(f"base={brief(self.base)} is not a clusterer or mixture of knoll")
            if not isinstance(self.base, PrivateFit):
                raise PrivacyError(f"base={brief(self.base)} fits reports of respondents; the base must fit records")
            self.base._check_parameters()

    def _asks_for(self, n_columns: int, k: int | None) -> list[Ask]:
        if n_columns > MOST_CURVED:
            raise PrivacyError(
                f"{n_columns:,} columns (levels count each) are too many for MorseClustering, which looks for passes "
                f"between clusters: take {MOST_CURVED:,} at most, or use KMeans, which takes more"
            )
        shape = "full" if n_columns <= MOST_FULL else "diag"
        if self._chooses(n_columns, k):
            asks = [ask.within(CHOICE_SHARE) for ask in choice_asks(n_columns, ChoiceShares())]
            return [*asks, steps_ask(n_columns, MOST, shape, 1 - CHOICE_SHARE)]
        sub = default_subclusters(k, n_columns) if self.n_subclusters is None else int(self.n_subclusters)
        once = once_asks(n_columns, 1 - COUNT_PART) if self._allows_once(n_columns, k) else []
        if self.base is None and n_columns <= MOST_COLUMNS:
            return [*grid_asks(n_columns), *once]
        base = self._base()
        asks = list(base._asks_for(n_columns, sub))
        if not isinstance(base, PrivateCenters):
            return asks
        asks += density_asks(n_columns, sub, shape)
        asks = [ask.within(DENSITY_SHARE) for ask in asks]  # base and density get half of the budget each
        if not once:
            return asks
        return [Ask.like(Count(), share=COUNT_PART), *(ask.within(1 - COUNT_PART) for ask in asks), *once]

    def _allows_once(self, n_columns: int, k: int | None) -> bool:
        return self.base is None and super()._allows_once(n_columns, k)

    def _otherwise(self) -> tuple[str, str]:
        if self.base is not None:
            return "base", "the given base"
        return ("grid", "a grid") if self.bounds_.n_columns <= MOST_COLUMNS else ("tree", "tree and steps")

    def _base(self) -> Any:
        base = KMeansByTree() if self.base is None else clone(self.base)
        return base.set_params(epsilon=self.epsilon, delta=self.delta, unit=self.unit)  # schedules may depend on them

    def _chooses(self, n_columns: int, k: int | None) -> bool:
        """Return whether the number of clusters is chosen from pieces and votes, as by `KMeans`."""
        return k is None and self.base is None and self.n_subclusters is None and n_columns > MOST_COLUMNS

    def _search_chosen(self, context: FitContext, rng: np.random.RandomState, floor: np.ndarray) -> Clusters:
        """Choose clusters, with their pieces as sub-clusters; make a mixture of the pieces."""
        chosen = choose_clusters(context, context.grant.part(CHOICE_SHARE), ChoiceShares(), rng)
        kept, pieces = chosen.group >= 0, chosen.pieces
        form = Form.of(
            "full" if context.domain.n_columns <= MOST_FULL else "diag", FLOOR, context.domain, context.scales
        )
        parts = pieces.count[kept] / pieces.count[kept].sum(), pieces.at[kept], pieces.variance[kept]
        first = chosen.found.mixture(*parts, context, form.floor)
        total = float(pieces.count[kept].sum())
        cells = Subclusters.of_belief(density_from_shapes(context.grant.rest, context.domain, first, total, form))
        labels = np.unique(chosen.group[kept][cells.seen()], return_inverse=True)[1]
        cells = cells.steadied(floor)
        found = landscape(cells.mixture)
        redrawn = [found.redrawn(cells.redrawn(floor, rng)) for _ in range(REDRAWS)]
        clusters = found.of_leaves(labels)
        apart = np.flatnonzero(clusters[found.tree.ends[:, 0]] != clusters[found.tree.ends[:, 1]])
        sure = confidence(found.tree, redrawn, apart, "persistence")
        more = {"merge_confidence_": sure, **chosen.choice.attributes(), **strategy_facts()}
        return described(cells, found, clusters, more, context)

    def _search(self, context: FitContext, k: int | None, rng: np.random.RandomState) -> Clusters:
        floor = (FLOOR * context.domain.half) ** 2
        if self._chooses(context.domain.n_columns, k):
            return self._search_chosen(context, rng, floor)
        cells, facts = self._subclusters(context, k, rng, floor)
        found = landscape(cells.mixture)
        with threadpool_limits(1, user_api="blas"):
            again = [cells.redrawn(floor, rng) for _ in range(REDRAWS)]
            redrawn = [found.redrawn(copy) for copy in again]
        if k is not None and self.cut == "overlap":
            errors = cells.counts_stderr / cells.counts.sum()
            clusters = found.of_leaves(clusters_of(cells.mixture, found.tree, k, errors))
            copies = [clusters_of(*each, k, errors, FEWER_DRAWS) for each in zip(again, redrawn, strict=True)]
            sure = agreement(found.tree, clusters, [found.of_leaves(copy) for copy in copies])
            more = {"merge_confidence_": sure, **Choice.given(k).attributes(), **facts}
            return described(cells, found, clusters, more, context)
        apart = choose_cut(found.tree, redrawn) if k is None else found.tree.strongest(k - 1, self.cut)
        drawn = numbers_again(redrawn, rng) if k is None else [len(apart) + 1]
        sure = confidence(found.tree, redrawn, apart, "persistence" if k is None else self.cut)
        choice, clusters = Choice.of(len(apart) + 1, np.array([len(apart) + 1, *drawn])), found.tree.without(apart)
        if k is None:
            choice = choice.with_coarser(coarser_level(cells.means_of(clusters) / context.scales))
        more = {"merge_confidence_": sure, **choice.attributes(), **facts}
        return described(cells, found, clusters, more, context)

    def _subclusters(
        self, context: FitContext, clusters: int | None, rng: np.random.RandomState, floor: np.ndarray
    ) -> tuple[Subclusters, dict[str, float]]:
        """Return sub-clusters for so many clusters, and which strategy found them."""
        d, total, clear = context.domain.n_columns, None, UNKNOWN
        k = default_subclusters(clusters, d) if self.n_subclusters is None else int(self.n_subclusters)
        if clusters is not None and self._allows_once(d, clusters):
            counted = context.grant.part(COUNT_PART).release(Count())
            total, noise = float(counted.value.item()), float(counted.stderr.item())
            clear = clarity_of(context, total, noise, clusters, allowed=True, most=ONCE_CLEAR)
            if clear.once:
                some = parts_of(clusters, clear.value) if self.n_subclusters is None else k
                cells, effective = subclusters_once(context, context.grant.rest, total, some, rng, floor)
                return cells.steadied(floor), strategy_facts(clear, effective)
        if self.base is None and d <= MOST_COLUMNS:
            free = self.n_clusters is None and self.n_subclusters is None
            return release_grid_mixture(context, None if free else k, rng, floor, total), strategy_facts(clear)
        return self._by_base(context, k, rng, floor), strategy_facts(clear)

    def _by_base(self, context: FitContext, k: int, rng: np.random.RandomState, floor: np.ndarray) -> Subclusters:
        """Run the base and make its result a mixture, through the same door."""
        base = self._base()
        if not isinstance(base, PrivateCenters):
            form = Form.of(base.covariance_type, base.covariance_floor, context.domain, context.scales)
            return Subclusters.of_found(base._search(context, k, rng, form)).steadied(floor)
        kept = context.grant.part(DENSITY_SHARE)
        means = base._search(replace(context, grant=context.grant.worth(context.grant.left - kept.share)), k, rng).means
        form = Form.of(
            "full" if context.domain.n_columns <= MOST_FULL else "diag", FLOOR, context.domain, context.scales
        )
        belief = density_from_cells(context.grant.rest, context.domain, means.centres, form)
        return Subclusters.of_belief(belief).steadied(floor)

    @property
    def mixture_(self) -> Mixture:
        """The released mixture of sub-clusters."""
        check_is_fitted(self)
        return Mixture(self.weights_, self.means_, self.covariances_)

    def to_mixture(self, X: Any = None, **unused: Any) -> Mixture:
        """Return the released mixture of sub-clusters. It is free: it holds released values only, and ignores X."""
        return self.mixture_

    def _labels(self, rows: np.ndarray) -> np.ndarray:
        """Return the cluster of each row's most probable sub-cluster, or of the peak that it flows to."""
        rows = self.bounds_.clip(rows)
        if self.assign == "component":
            return self.component_clusters_[self.mixture_.predict(rows)].astype(int)
        field = Field(self.mixture_)
        return self.peak_clusters_[basins(field, field.inside(rows), field.inside(self.peaks_))].astype(int)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each cluster for each row, (n_samples, n_clusters)."""
        check_is_fitted(self)
        rows = self.bounds_.clip(points_of(self, X))
        return self.mixture_.predict_proba(rows) @ np.eye(self.n_clusters_)[self.component_clusters_.astype(int)]

    def transform(self, X: Any) -> np.ndarray:
        """Return the probability of each cluster for each row, (n_samples, n_clusters)."""
        return self.predict_proba(X)

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean log density of X. **Not private: keep it to yourself.** It is computed without noise."""
        check_is_fitted(self)
        return float(self.mixture_.log_density(points_of(self, X)).mean())

    def _facts(self) -> Facts:
        """Add how far each cluster spreads: its sub-clusters, and their distance from its centre."""
        member = np.eye(self.n_clusters_)[:, self.component_clusters_.astype(int)] * self.weights_
        part = member / np.maximum(member.sum(axis=1, keepdims=True), 1e-300)
        about = np.square(self.means_ - self.cluster_centers_[self.component_clusters_.astype(int)])
        spread = np.sqrt(part @ (np.einsum("kii->ki", self.covariances_) + about))
        kept = getattr(self.bounds_, "on_lines", None) or slice(None)
        return replace(super()._facts(), spread=spread[:, kept])

    def _restore(self) -> None:
        super()._restore()
        for name in ("component_clusters_", "peak_clusters_", "saddle_ends_"):
            setattr(self, name, np.rint(getattr(self, name)).astype(int))
        if not 0 <= self.component_clusters_.min() <= self.component_clusters_.max() < self.n_clusters_:
            raise ValueError("a component has no cluster")
        self.to_mixture()


def parts_of(k: int, clear: float) -> int:
    """Return how many sub-clusters a kernel sum shows of k clusters, by how clear these are."""
    return k * (1 if clear < FAINT else int(np.clip(MOST_PARTS // k, 1, PARTS)))
