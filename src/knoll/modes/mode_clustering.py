"""DP-GRAMS-C: clustering by modes (the supplement's Algorithm 3).

    up to three columns:  release the kernel sum once; its modes are the clusters, its basins the labels. Where the
                          budget shows little of each cluster: the modes of likely densities (steps/once_basins.py)
    more columns:         release local means, several to a cluster; merge them hierarchically; labels by local mean
    number not given:     the same, but by local means from three columns on, joined as `KMeans` does (steps/choose.py)

Why not the kernel sum in many columns too? A record's share of a kernel sum falls as 2^(-d/2), so the bandwidth must
grow with d. With honest noise, a density in 50 columns has one mode only. A local mean is the average of the records
nearest to a point. It is also one step of mean shift, with a kernel of that cell's shape. The search of `KMeans`
releases local means: it projects onto released principal axes, then releases in all columns. A cluster gets as many of
them as the noise allows. They are merged by Ward's criterion, as the paper merges its modes. A cluster of several local
means need not be round.
"""

from collections.abc import Mapping
from dataclasses import KW_ONLY, replace
from typing import Any, ClassVar

import numpy as np
from sklearn.metrics import pairwise_distances_argmin

from knoll.cluster.centers import CENTERS, PrivateCenters
from knoll.cluster.found import Clusters
from knoll.cluster.kmeans import SHARES, KMeansByTree, KMeansShares
from knoll.estimator import FitContext, declared
from knoll.modes.mode_seeking import kept_peaks
from knoll.numeric.made_up import Measured
from knoll.numeric.ward import ward
from knoll.parameters import CHANCE, MOST_CLUSTERS, OneOf, Passes, Whole
from knoll.privacy import Ask, either
from knoll.queries import Count
from knoll.series.place import settle
from knoll.series.series import Series
from knoll.series.survey import ModeSurvey, choose_rung
from knoll.steps.choose import Choice, coarser_level
from knoll.steps.kernel_sum import (
    LADDER,
    MOST_ON_GRID,
    check_bandwidth,
    release_series,
    rungs,
    series_asks,
    surroundings,
)
from knoll.steps.means import CellMeans
from knoll.steps.once_basins import release_basins
from knoll.steps.one_release import UNKNOWN, Clarity, clarity_of, once_asks
from knoll.steps.shapes import effective
from knoll.steps.strategy import ChoosesReleases, strategy_facts

COUNT_SHARE = 0.02  # for the number of records, which sets the number of local means
PER_LOCAL = 35.0  # records that one local mean needs, in units of noise x sqrt(dimensions): less gives more means
MOST_LOCAL = 8  # most local means per cluster; the plan of the budget counts on it
FAINT = 4.0  # clusters with fewer records (same units) spend more on good axes and less on steps
FAINT_SHARES = KMeansShares(axes=0.3, steps=0.3)  # the plan of such clusters
LEAST_SHARES = KMeansShares(steps=0.3)  # the smaller share of both plans: what every fit can count on
MESH = {1: 256, 2: 40, 3: 14}  # mesh points along each column, by number of columns: labels against memory
MOST_COUNTED = 2  # columns up to which modes are counted: in three, the kernel sum blurs 40 clear clusters into 25
FALSE = 0.02  # part of the modes that may be noise, where there are many: a fraction of the 5 % that count as right
BASIN, NEAREST = "basin", "nearest"
LOCAL_MEANS = "local means", "local means"

REDRAWS = 200  # for the confidence in the number of modes: free, and quick
SURE = 0.95  # redraws that all agree are still this sure: they cannot see modes that no bandwidth showed
SETTLED, UNSETTLED = 0.8, 0.45  # part of the modes that the next wider bandwidth must show; confidence if it does not


@declared
class ModeClustering(ChoosesReleases, PrivateCenters):
    """Clustering by modes under differential privacy.

    Parameters
    ----------
    n_clusters : int or None, default=None
        Number of clusters: modes are merged until this many are left. None keeps the significant modes (with more than
        two columns, or three if a bandwidth is given: the number that `KMeans` would choose).
    bandwidth : "ladder", "private", float or array of shape (n_features,), default="ladder"
        As in `ModeSeeking`; used up to three columns (two, for ``"ladder"`` with ``n_clusters=None``).
    labels : {"basin", "nearest"}, default="basin"
        Label a row by the basin it lies in, or by the nearest mode.
    chance : float, default=0.1
        Chance that a fit shows a cluster that is only noise. If many clusters are shown, 2 % of them may be noise.
        Used where the kernel sum is, and with ``n_clusters=None``.
    {parameters}

    Attributes
    ----------
    {attributes}
    local_modes_ : array of shape (n_local, n_features)
        Released local means, or points of the released density.
    local_groups_ : array of shape (n_local,)
        The cluster that each belongs to.
    strategy_ : str
        Which releases were made: "kernel sum" (for likely densities), "ladder" (a kernel sum with its own modes) or
        "local means".
    strategy_reason_ : str
        Why, in a sentence.
    records_over_noise_ : float
        Released records per cluster, over the standard error of one count with the whole budget: how clear clusters
        are. Zero where there is no choice.
    effective_draws_ : float
        How many independent draws of likely densities the modes rest on; zero if there are none.

    Notes
    -----
    {releases}

    Merging and labels cost nothing.

    References
    ----------
    DP-GRAMS supplement, Algorithm 3 (DP-GRAMS-C).

    Examples
    --------
    >>> import knoll
    >>> from sklearn.datasets import make_blobs
    >>> X, _ = make_blobs(20_000, 2, centers=[[-5, 0], [5, 0], [0, 6]], random_state=0)
    >>> model = knoll.ModeClustering(epsilon=1.0, bounds=(-10, 10), random_state=0).fit(X)
    >>> model.n_clusters_
    3
    """

    n_clusters: int | None = None
    _: KW_ONLY
    bandwidth: Any = LADDER
    labels: str = BASIN
    chance: float = 0.1

    _rules: ClassVar = {
        "n_clusters": Whole(MOST_CLUSTERS, none=True), "bandwidth": Passes(check_bandwidth), "chance": CHANCE,
        "labels": OneOf((BASIN, NEAREST)),
    }  # fmt: skip
    _ATTRIBUTES = CENTERS
    _lines_only: ClassVar = True
    _published: ClassVar = {
        **PrivateCenters._published, "local_modes_": "md", "local_groups_": "m",
        "n_clusters_confidence_": "", "n_clusters_candidates_": "qo", **ChoosesReleases._choice_published,
    }  # fmt: skip

    def _asks_for(self, n_columns: int, k: int | None) -> list[Ask]:
        if self._by_density(n_columns, k):
            series = series_asks(self, n_columns, 0)
            if not self._allows_once(n_columns, k):
                return series
            rest = 1 - COUNT_SHARE
            count = Ask.like(Count(), share=COUNT_SHARE)
            return [count, *either([ask.within(rest) for ask in series], once_asks(n_columns, rest))]
        local = KMeansByTree()._asks_for(n_columns, k and k * MOST_LOCAL, LEAST_SHARES)
        return [Ask.like(Count(), share=COUNT_SHARE), *(ask.within(1 - COUNT_SHARE) for ask in local)]

    def _allows_once(self, n_columns: int, k: int | None) -> bool:
        return self._free_bandwidth and super()._allows_once(n_columns, k)

    def _otherwise(self) -> tuple[str, str]:
        return ("ladder", "a ladder") if self._by_density(self.bounds_.n_columns, self.n_clusters) else LOCAL_MEANS

    @property
    def _free_bandwidth(self) -> bool:
        return isinstance(self.bandwidth, str) and self.bandwidth == LADDER

    def _search(self, context: FitContext, k: int | None, rng: np.random.RandomState) -> Clusters:
        if self._by_density(context.domain.n_columns, k):
            if k is None or not self._allows_once(context.domain.n_columns, k):
                return self._search_density(context, k, rng)
            counted = context.grant.part(COUNT_SHARE).release(Count())
            total = float(counted.value.item())
            clear = clarity_of(context, total, float(counted.stderr.item()), k, allowed=True, most=self._most_clear)
            if clear.once:
                return self._search_basins(context, k, rng, total, clear)
            return self._search_density(context, k, rng, clear)
        return self._search_local_means(context, k, rng)

    def _by_density(self, n_columns: int, k: int | None) -> bool:
        """Return whether modes of the kernel sum are the clusters."""
        return n_columns <= (MOST_COUNTED if k is None and self._free_bandwidth else MOST_ON_GRID)

    def _search_basins(
        self, context: FitContext, k: int, rng: np.random.RandomState, total: float, clear: Clarity
    ) -> Clusters:
        """Return the surest hills of likely densities, with what is left of the budget."""
        found = release_basins(context, context.grant.rest, total, k, rng)
        facts = strategy_facts(clear, found.effective)
        return replace(_clusters(found.means, found.points, found.groups, context.scales, facts=facts), bars=found.bars)

    def _search_density(
        self, context: FitContext, k: int | None, rng: np.random.RandomState, clear: Clarity = UNKNOWN
    ) -> Clusters:
        around = surroundings(context, self)
        hs = rungs(context.grant, around, self.bandwidth)
        series = release_series(context.grant, around, hs, rng, 0)
        view, views = choose_rung(series, hs, around, self.chance, 0, k, FALSE)
        kept = kept_peaks(view, k)
        if not len(kept):
            kept = np.array([0])
        finest = hs[-1] if isinstance(self.bandwidth, str) else None
        modes, covariance = settle(view.series, view.peaks.points[kept], around, finest)
        if k is not None and len(modes) < k:  # fewer peaks than clusters: repeat the highest peak for the rest
            more = view.peaks.points[np.zeros(k - len(modes), dtype=int)]
            modes, covariance = (
                np.vstack([modes, more]),
                np.concatenate([covariance, covariance[:1].repeat(len(more), 0)]),
            )
        points, groups, mass, cells = basin_points(view, kept)
        count = np.bincount(groups, mass, len(modes)) / max(mass.sum(), 1e-300) * max(view.series.count, 0.0)
        error = np.sqrt(np.diagonal(covariance, axis1=1, axis2=2))
        kernel = np.prod(view.series.bandwidth) * (4 * np.pi) ** (modes.shape[1] / 2)
        spread = view.series.noise * np.sqrt(np.bincount(groups, minlength=len(modes)) * cells / kernel + 1)
        error = np.where(np.isfinite(error), error, np.inf)
        mesh = mesh_cells(points, groups, mass, cells, view.series)
        means = CellMeans(modes, error, count, spread, np.ones(len(modes), bool), mesh)
        chosen = None
        if k is None:
            choice = choice_of_modes(view, views, len(modes), rng)
            chosen = choice.with_coarser(coarser_level(modes / context.scales)).attributes()
        return _clusters(means, points, groups, context.scales, chosen, strategy_facts(clear))

    def _search_local_means(self, context: FitContext, k: int | None, rng: np.random.RandomState) -> Clusters:
        search = KMeansByTree(k or 8)
        if k is None:
            found = search._search(context, None, rng)
            means = found.means
            more = {name: value for name, value in found.more.items() if name.startswith("n_clusters_")}
            return _clusters(means, means.centres, np.arange(len(means.centres)), context.scales, more)
        counted = context.grant.part(COUNT_SHARE).release(Count())
        noise = float(counted.stderr.item()) * counted.law.ratio(1.0, COUNT_SHARE)
        clear = float(counted.value.item()) / noise / k / float(effective(context.domain.half / context.scales)) ** 0.5
        local = k * int(np.clip(round(clear / PER_LOCAL), 1, MOST_LOCAL))
        means = search._search(context, local, rng, FAINT_SHARES if clear < FAINT else SHARES).means
        groups = ward(means.centres / context.scales, np.maximum(means.counts, means.counts_stderr), k)
        return _clusters(joined(means, groups, k), means.centres, groups, context.scales)

    def _restore(self) -> None:
        super()._restore()
        if not np.isin(self.local_groups_, np.arange(self.n_clusters_)).all():
            raise ValueError("a local mode belongs to no cluster")

    def _labels(self, rows: np.ndarray) -> np.ndarray:
        """Return the cluster of each row's basin, or of the nearest mode."""
        if self.labels == NEAREST:
            return super()._labels(rows)
        near = pairwise_distances_argmin(rows / self.scales_, self.local_modes_ / self.scales_)
        return self.local_groups_[near].astype(int)


def _clusters(
    means: CellMeans,
    points: np.ndarray,
    groups: np.ndarray,
    scales: np.ndarray,
    choice: Mapping[str, Any] | None = None,
    facts: Mapping[str, float] | None = None,
) -> Clusters:
    def assign(rows: np.ndarray) -> np.ndarray:
        return groups[pairwise_distances_argmin(rows / scales, points / scales)]

    chosen = Choice.given(len(means.centres)).attributes() if choice is None else choice
    known = strategy_facts() if facts is None else facts
    more = {**chosen, **known, "local_modes_": points, "local_groups_": groups.astype(np.float64)}
    return Clusters(means, more, assign, refers=("local_groups_",))


def choice_of_modes(view: ModeSurvey, views: list[ModeSurvey], k: int, rng: np.random.RandomState) -> Choice:
    """Return how sure the number of modes is: how many stand out if the noise of their significance is drawn again.

    A significance is in standard errors. A false mode is shown with a chance of its own, which the threshold sets. If
    the finest bandwidth shows far more modes than the one before, a still finer one might show more: nobody can tell.
    """
    again = view.significance + rng.standard_normal((REDRAWS, len(view.significance)))
    drawn = np.maximum((again > view.threshold).sum(axis=1), 1)
    rising = len(views) > 1 and view is views[-1] and int(views[-2].stands_out.sum()) < SETTLED * k
    return Choice.of(k, np.array([k, *drawn]), UNSETTLED if rising else SURE)


def basin_points(view: ModeSurvey, kept: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """Return mesh points, the kept peak in whose basin each lies, the density there, and a cell's volume."""
    assert view.axes is not None
    assert view.basin is not None
    chosen = [np.unique(np.linspace(0, len(axis) - 1, MESH[len(view.axes)]).round().astype(int)) for axis in view.axes]
    points = np.column_stack(
        [part.ravel() for part in np.meshgrid(*(a[i] for a, i in zip(view.axes, chosen, strict=True)), indexing="ij")]
    )
    keep = np.zeros(len(view.peaks.heights), dtype=bool)
    keep[kept] = True
    owner = view.peaks.survivors(keep)
    owner = np.where(owner >= 0, owner, kept[0])
    number = np.zeros(len(keep), dtype=int)
    number[kept] = np.arange(len(kept))
    groups = number[owner[view.basin[np.ix_(*chosen)].ravel()]]
    mass = np.maximum(view.series.value(points) - view.series.noise, 0.0)
    cells = float(np.prod([(a[-1] - a[0]) / max(len(i) - 1, 1) for a, i in zip(view.axes, chosen, strict=True)]))
    return points, groups, mass, cells


def mesh_cells(points: np.ndarray, groups: np.ndarray, mass: np.ndarray, cells: float, series: Series) -> Measured:
    """Return a mesh of the released kernel sum as cells, for the error bars: it saw records smeared by its kernel."""
    d = points.shape[1]
    kernel = np.prod(series.bandwidth) * (4 * np.pi) ** (d / 2)
    count = mass / max(mass.sum(), 1e-300) * max(series.count, 0.0)
    return Measured(
        points, np.zeros(points.shape), np.full(points.shape, cells ** (2 / d) / 12), count,
        np.full(len(points), series.noise * (cells / kernel) ** 0.5), groups, np.zeros(d), np.eye(d),
        smear=series.bandwidth,
    )  # fmt: skip


def joined(means: CellMeans, groups: np.ndarray, k: int) -> CellMeans:
    """Return the weighted means of groups of local means, with their errors."""
    weight = np.maximum(means.counts, 1e-9)
    total = np.bincount(groups, weight, k)
    share = weight / total[groups]
    centres, square = np.zeros((k, means.centres.shape[1])), np.zeros((k, means.centres.shape[1]))
    np.add.at(centres, groups, share[:, None] * means.centres)
    known = np.isfinite(means.stderr).all(axis=1)
    np.add.at(square, groups[known], np.square(share[known, None] * means.stderr[known]))
    seen = np.bincount(groups, known & means.seen, k) > 0
    stderr = np.where(seen[:, None], np.sqrt(square), np.inf)
    counts_stderr = np.sqrt(np.bincount(groups, means.counts_stderr**2, k))
    measured = None if means.measured is None else means.measured.of_groups(np.arange(len(groups)), groups)
    return CellMeans(centres, stderr, np.bincount(groups, means.counts, k), counts_stderr, seen, measured)
