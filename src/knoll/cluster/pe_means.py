"""PE-means and, above 16 dimensions, HDPE-means: private evolution of centres by votes (its paper's Algorithms 1-3).

    population <- points spread over the domain
    repeat T times:
        every record votes for the nearest point of the population; release the votes + noise
        keep the largest votes that together make up n, and run weighted k-means on them: k centres
        if most of the votes are noise, halve L; population <- centres and L Levy-flight variations of each
    above 16 dimensions: all this in a random projection, then one release of (count, sum) per cell lifts the centres

``preset="paper"`` is this, with three differences: n is released with a small share instead of being public; count and
sum of the lift are one joint query; after a projection, records are clipped to a public radius again.

The default spends the budget in another way:

    first   release count, mean and variance of all records; the first population has that shape
    votes   few steps, as many as the released n allows, and few variations, as wide as their cluster. Votes are shrunk
            to what was expected, as far as they are noise (James and Stein). A record votes only among the variations
            of its nearest centre.
    last    Lloyd steps on displacements, clipped to the shape of the clusters that the votes have shown

Where the budget shows little of each cluster and columns are few, a kernel sum takes the place of votes and steps, as
in `KMeans` (one_release.py). What is released of all records decides.

The projection is onto orthogonal directions, so the lift is free: in all other directions a centre gets the mean of all
records. Every record then keeps its nearest centre, and the steps do the rest.
"""

from dataclasses import KW_ONLY, dataclass, replace
from typing import ClassVar

import numpy as np

from knoll.cluster.centers import PrivateCenters
from knoll.cluster.found import Clusters
from knoll.estimator import FitContext, HasMetric, declared
from knoll.numeric.weighted import drawn_to, keep_top_mass, levy_flights, uniform_points, weighted_kmeans
from knoll.parameters import PRESET, Whole
from knoll.privacy import Ask, Grant
from knoll.queries import (
    Ball,
    Box,
    CellMoments,
    Count,
    Frame,
    Nearest,
    NearestVotes,
    Projected,
    TwoLevel,
    candidates,
    random_projection,
)
from knoll.steps.centres import Centres, with_variances
from knoll.steps.means import CellMeans, cell_means, means_ask, vote_means
from knoll.steps.one_release import clarity, once_asks, release_clusters
from knoll.steps.refine import affordable_steps, hedge_points, refine, solve, spare_centres, step_asks
from knoll.steps.strategy import ChoosesReleases, strategy_facts
from knoll.steps.tree import ROOT, Leaves, ask_root, root_of

STEP = 0.01  # the paper's variation, as a fraction of the domain's half width
MOST_CANDIDATES = 50_000  # limits the time of a vote: docs/benchmarks.md, "Speed and memory"
MOST_EPSILON = 4.0  # the paper's number of steps grows with epsilon up to here: it tried no larger one
COUNT_SHARE, LIFT_SHARE = 0.02, 0.2  # `preset="paper"`: the count, the lift; votes get the rest
FIRST_SHARE, VOTES_SHARE = 0.1, 0.3  # the default: root, votes; the last steps get the rest, since they set the error
# Variations of a centre (settled by docs/benchmarks.md, "K-means utility"), and steps of voting, at most: more
# variations are finer, but each gets fewer votes.
MOST_VARIATIONS, MOST_VOTES = 40, 8
ELECTIONS = 3  # repetitions of k-means on the votes: if a centre is only noise, its votes are left out and it repeats
MOST_ELECTED = 10_000  # candidates of the default: weighted k-means on more takes longer than it is worth
VOTE_NOISE = 30.0  # voting has one step for each time that an average cluster holds this many standard errors of a vote


@declared
class PEMeans(ChoosesReleases, HasMetric, PrivateCenters):
    """K-means by private evolution: records vote for candidate centres, under differential privacy.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    preset : {"default", "paper"}, default="default"
        "paper": the published algorithm, with T = 4 sqrt(d) steps (times epsilon, taken between 1 and 4) and
        L = n / 5 variations per centre. "default": few votes on few variations, then steps on clipped displacements.
    projection : int, optional
        Dimensions to search in. By default all up to 16 columns, else a random projection to 16.
    {parameters}

    Attributes
    ----------
    {attributes}
    strategy_ : str
        Which releases were made: "kernel sum" or "votes".
    strategy_reason_ : str
        Why, in a sentence.
    records_over_noise_ : float
        Released records per cluster, over the standard error of one count with the whole budget: how clear clusters
        are. Zero where there is no choice.
    effective_draws_ : float
        With a kernel sum: how many independent draws of likely densities the centres rest on; else zero.

    Notes
    -----
    {releases}

    Examples
    --------
    >>> import knoll
    >>> from sklearn.datasets import make_blobs
    >>> X, _ = make_blobs(20_000, 2, centers=[[-5, 0], [5, 0]], random_state=0)
    >>> model = knoll.PEMeans(2, epsilon=1.0, bounds=(-10, 10), random_state=0).fit(X)
    >>> sorted(model.cluster_centers_[:, 0].round(0).tolist())
    [-5.0, 5.0]
    """

    n_clusters: int = 8
    _: KW_ONLY
    preset: str = "default"
    projection: int | None = None

    _rules: ClassVar = {"preset": PRESET, "projection": Whole(10_000, none=True)}
    _published: ClassVar = {**PrivateCenters._published, **ChoosesReleases._choice_published}

    def _dimensions(self, n_columns: int) -> int:
        """Return the dimensions to search in."""
        return self.projection or min(16, n_columns)

    def _asks_for(self, n_columns: int, k: int) -> list[Ask]:
        def votes(steps: int, share: float) -> Ask:
            return Ask.like(Count(), k * (2 + MOST_CANDIDATES), steps, share=share / steps)

        if self.preset == "paper":
            steps = votes(self._paper_steps(min(self._dimensions(n_columns), n_columns)), 1 - COUNT_SHARE - LIFT_SHARE)
            return [votes(1, COUNT_SHARE), steps, means_ask(n_columns, k, share=LIFT_SHARE)]
        rest = step_asks(n_columns, k, 1 - FIRST_SHARE - VOTES_SHARE)
        once = once_asks(n_columns, 1 - FIRST_SHARE) if self._allows_once(n_columns, k) else []
        return [ROOT.plan(n_columns, 1, share=FIRST_SHARE), votes(MOST_VOTES, VOTES_SHARE), *rest, *once]

    def _allows_once(self, n_columns: int, k: int | None) -> bool:
        whole = self.preset == "default" and self._dimensions(n_columns) >= n_columns
        return whole and super()._allows_once(n_columns, k)

    def _otherwise(self) -> tuple[str, str]:
        return "votes", "votes and steps"

    def _paper_steps(self, dimensions: int) -> int:
        return max(1, round(4 * dimensions**0.5 * min(max(1.0, self.epsilon), MOST_EPSILON)))

    def _search(self, context: FitContext, k: int, rng: np.random.RandomState) -> Clusters:
        domain = context.domain
        p = self._dimensions(domain.n_columns)
        low = random_projection(domain, p, rng, context.scales) if p < domain.n_columns else domain
        if self.preset == "paper":
            return Clusters(self._paper(context, low, k, rng), strategy_facts())
        frame, reach = Frame(domain, context.scales), domain.longest(context.scales)
        seen = ask_root(context.grant.part(FIRST_SHARE), frame, reach)
        allowed = self._allows_once(domain.n_columns, k)
        clear = clarity(context, seen, k, allowed=allowed, most=self._most_clear)
        if clear.once:
            found = release_clusters(context, context.grant.rest, float(seen.count[0]), k, rng)
            return Clusters(found.means, strategy_facts(clear, found.effective), bars=found.bars)
        means = self._refined(context, low, k, rng, root_of(seen, frame, reach))
        return Clusters(means, strategy_facts(clear))

    def _paper(self, context: FitContext, low: Box | Ball | Projected, k: int, rng: np.random.RandomState) -> CellMeans:
        grant, domain = context.grant, context.domain
        lifting = grant.part(LIFT_SHARE)
        n = max(1.0, float(grant.part(COUNT_SHARE).release(Count()).value))
        projected, d = isinstance(low, Projected), low.n_columns
        scales = None if projected else context.scales
        voting = grant.worth(grant.left - (lifting.share if projected else 0.0))
        steps = self._paper_steps(d)
        variations = int(min(max(n / 5, 4.0), MOST_CANDIDATES / k))
        population = uniform_points(low, k * (variations + 1), rng)
        for step in voting.even(steps):
            votes = step.release(NearestVotes(candidates(population, low, scales)))
            noise = float(votes.stderr.max())
            found = elect(population, keep_top_mass(votes.value, n), k, scales, noise, rng, restarts=3)
            if np.square(found.votes).sum() < n * noise**2:
                variations = max(4, variations // 2)
            flights = STEP * low.half * levy_flights((k, variations, d), rng)
            population = np.vstack([found.at, low.clip((found.at[:, None] + flights).reshape(-1, d))])
        if not isinstance(low, Projected):
            return found.measured(domain, context.scales)
        moments = CellMoments(Nearest(found.at, low), domain, context.scales)
        middle = np.tile(domain.centre, (k, 1))
        lifted = cell_means(grant.release(moments), domain.centre, domain, otherwise=middle)
        return lifted.with_measured(domain, context.scales)

    def _refined(
        self, context: FitContext, low: Box | Ball | Projected, k: int, rng: np.random.RandomState, root: Leaves
    ) -> CellMeans:
        grant, domain = context.grant, context.domain
        frame, voting = Frame(domain, context.scales), grant.part(VOTES_SHARE)
        steps = affordable_steps(grant, frame, root, k)
        spare = spare_centres(k, steps)
        if isinstance(low, Projected):
            shape, scales = (low.matrix @ root.mean[0], np.square(low.matrix) @ root.variance[0]), None
            found = vote(voting, low, scales, k, float(root.count[0]), shape, rng)
            centres = lift(solve(*found.points(k), k, rng, spare), low, root)
        else:
            shape, scales = (frame.outside(root.mean[0]), root.variance[0] * context.scales**2), context.scales
            found = vote(voting, low, scales, k, float(root.count[0]), shape, rng)
            points, votes = found.points(k)
            hedge = hedge_points(root, k, rng)
            points = np.vstack([(points - domain.centre) / context.scales, hedge])
            votes = np.concatenate([votes, np.full(len(hedge), found.noise / len(hedge))])
            centres = solve(points, votes, k, rng, spare, len(hedge))
        refined = refine(grant.rest, steps, frame, centres, k, (-frame.half, frame.half))
        at = domain.clip(frame.outside(refined.centres))
        means = replace(refined, centres=at, stderr=refined.stderr * context.scales)
        return means.turned(domain, np.diag(context.scales))


def vote(
    grant: Grant,
    domain: Box | Ball | Projected,
    scales: np.ndarray | None,
    k: int,
    n: float,
    shape: tuple[np.ndarray, np.ndarray],
    rng: np.random.RandomState,
) -> "VotedCentres":
    """Let records vote for random points with mean and variance `shape`, then for variations of the winners."""
    d, variations = domain.n_columns, int(min(max(n**0.5, 4.0), MOST_VARIATIONS, max(MOST_ELECTED / k, 1)))
    steps = int(np.clip(round(n / k / float(grant.stderr(Count())) / VOTE_NOISE), 1, MOST_VOTES))

    parts = iter(grant.even(steps))

    def ask(cells: Nearest | TwoLevel, expected: np.ndarray) -> VotedCentres:
        votes = next(parts).release(NearestVotes(cells))
        noise = float(votes.stderr.max())
        kept = keep_top_mass(drawn_to(expected, votes.value, noise), n)
        for _ in range(ELECTIONS):
            found = elect(cells.centres, kept, k, scales, noise, rng)
            seen = found.means().seen
            if seen.all() or not seen.any():
                break
            kept = np.where(seen[found.labels], kept, 0.0)
        return found

    mean, variance = shape
    population = domain.clip(mean + np.sqrt(variance) * rng.standard_normal((k * (variations + 1), d)))
    found = ask(candidates(population, domain, scales), np.full(len(population), n / len(population)))
    groups = np.concatenate([np.arange(k), np.repeat(np.arange(k), variations)])
    for _ in range(steps - 1):
        flights = np.sqrt(found.spread())[:, None] * levy_flights((k, variations, d), rng)
        population = np.vstack([found.at, domain.clip((found.at[:, None] + flights).reshape(-1, d))])
        found = ask(candidates(population, domain, scales, groups), found.sizes()[groups] / (variations + 1))
    return found


def elect(
    population: np.ndarray,
    votes: np.ndarray,
    k: int,
    scales: np.ndarray | None,
    noise: float,
    rng: np.random.RandomState,
    restarts: int | None = None,
) -> "VotedCentres":
    """Run weighted k-means on a population, weighted by votes, in the metric of the scales."""
    unit = np.ones(population.shape[1]) if scales is None else scales
    centres, labels = weighted_kmeans(population / unit, votes, k, rng, restarts=restarts)
    return VotedCentres(population, votes, labels, centres * unit, noise)


@dataclass(frozen=True)
class VotedCentres:
    """A population, the votes that were kept, the centre of each point, the centres, and the noise of a vote."""

    population: np.ndarray
    votes: np.ndarray
    labels: np.ndarray
    at: np.ndarray
    noise: float

    def means(self) -> CellMeans:
        """Return the centres as they are, with their standard errors."""
        return vote_means(self.population, self.labels, self.votes, self.noise, self.at)

    def measured(self, domain: Box | Ball, scales: np.ndarray) -> CellMeans:
        """Return the centres with what the votes showed, for their error bars."""
        used = np.flatnonzero(self.votes > 0)
        each = CellMeans(
            self.population[used], np.zeros((len(used), domain.n_columns)), self.votes[used],
            np.full(len(used), self.noise), np.ones(len(used), dtype=bool),
        )  # fmt: skip
        cells = each.with_measured(domain, scales).measured
        assert cells is not None
        return replace(self.means(), measured=cells.of_groups(np.arange(len(used)), self.labels[used]))

    def points(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the points with votes, and the votes; all points if those with votes are few."""
        kept = self.votes > 0 if (self.votes > 0).sum() > 2 * k else np.ones(len(self.votes), dtype=bool)
        return self.population[kept], np.maximum(self.votes[kept], 1e-3)

    def sizes(self) -> np.ndarray:
        """Return the votes of each centre's points."""
        return np.bincount(self.labels, self.votes, len(self.at))

    def spread(self) -> np.ndarray:
        """Return the variance of each centre's points, per column."""
        return with_variances(self.at, self.population, self.votes, self.labels).variance


def lift(inside: Centres, low: Projected, root: Leaves) -> Centres:
    """Add the other directions to projected centres: there, a centre gets the mean of all records.

    The projection is onto orthogonal directions, so a record's nearest centre stays the same. The variance of a cluster
    is the same part of the variance of all records as in the projection.
    """
    mean, variance = root.mean[0], root.variance[0]
    at = mean + (inside.at - low.matrix @ mean) @ low.matrix
    part = inside.variance.sum(axis=1, keepdims=True) / (np.square(low.matrix) @ variance).sum()
    return Centres(at, np.minimum(part, 1.0) * variance, inside.weight, inside.error)
