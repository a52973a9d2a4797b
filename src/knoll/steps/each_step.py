"""DP-GRAMS as written: T noisy steps of mean shift for k starts at once (Algorithm 1), made rigorous.

    T <- ceil(log n), n released
    repeat T times:
        release the kernel sums S and gradients at all k points, with noise of their joint covariance (kernel_steps.py)
        each point <- point + h^2 grad S / S
    merge the ends

Where we differ. Starts are public: low-discrepancy points of the domain. The paper divides every record's contribution
by a density that all records change; here the kernel sum is released beside its gradient, and the division comes
afterwards. Noise has the joint covariance of values and gradients, in which a record's contribution has norm at most 1;
the paper's noise covers values only.

Mini-batches are disjoint random parts of the records, one for each step. A record is then seen once, and every step has
the whole budget (`Curator.parts`). A step sees a T-th of the records. Its noise is 1 / sqrt T of what a T-th of the
budget would give. So the signal over noise is sqrt T times smaller. By default every step therefore sees all records.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.special import ndtri
from scipy.stats import qmc

from knoll.privacy import Ask, Grant
from knoll.queries import Box, Count, KernelSteps
from knoll.series.features import FeatureSeries
from knoll.series.surroundings import Surroundings
from knoll.steps.kernel_sum import LADDER, PRIVATE, SCALE_SHARE, affordable_features, cap_of, rungs, series_asks

# docs/benchmarks.md varies none of these; each says what it trades off.
STARTS = 64  # most points at once: more find more modes, but each step releases more values
COUNT_SHARE = 0.05  # for the number of records, which sets the number of steps: its logarithm needs no precise count
MOST_STEPS = 40  # log n never gets there; a limit for what is announced to the door
MOST_VALUES = 512  # kernel values and derivatives released at a step: their covariance must be inverted, in cubic time
APART = 1.0  # ends within this many bandwidths are one mode: the kernel blurs anything closer


@dataclass(frozen=True)
class Ends:
    """Where the points ended, the released sum there and the noise of both."""

    points: np.ndarray
    sums: np.ndarray
    noise: float
    count: float
    count_stderr: float
    bandwidth: np.ndarray
    around: Surroundings
    parts: int  # number of mini-batches; the sums are those of one batch, times this number

    @property
    def rungs(self) -> np.ndarray:
        """The one bandwidth."""
        return self.bandwidth[None]

    @property
    def series(self) -> FeatureSeries:
        """An empty series: no density was released."""
        d = len(self.bandwidth)
        nothing = np.zeros(1)
        return FeatureSeries(
            np.zeros((1, d)), nothing, nothing, self.count, self.count_stderr, 0.0,
            np.asarray(self.around.domain.centre, dtype=np.float64), self.rungs, self.bandwidth,
        )  # fmt: skip

    def threshold(self, chance: float) -> float:
        """Significance that pure noise exceeds at any of the ends with at most this chance."""
        return float(-ndtri(chance / len(self.points)))

    def merged(self, n_modes: int | None, chance: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return modes, densities and significances: the ends above the noise, merged by distance or to `n_modes`."""
        kernel = float(np.prod(self.bandwidth)) * (2 * np.pi) ** (len(self.bandwidth) / 2)
        even = max(self.count, 0.0) * kernel / float(np.prod(self.around.high - self.around.low))
        sampling = self.parts * 2.0 ** (-len(self.bandwidth) / 2) * np.maximum(self.sums, 0.0)
        spread = np.sqrt(self.noise**2 + sampling + 1e-300)
        sure = (self.sums - even) / spread
        kept = np.flatnonzero(sure > self.threshold(chance))
        if n_modes is not None and len(kept) < n_modes:
            kept = np.argsort(-sure, kind="stable")[: max(n_modes, len(kept))]
        scaled = self.points[kept] / self.bandwidth
        if len(kept) < 2:
            groups = np.arange(len(kept))
        elif n_modes is None:
            groups = fcluster(linkage(scaled, "average"), APART, "distance") - 1
        else:
            groups = fcluster(linkage(scaled, "ward"), n_modes, "maxclust") - 1
        number = int(groups.max()) + 1 if len(groups) else 0
        weight = np.maximum(self.sums[kept], self.noise + 1e-300)
        mass = np.bincount(groups, weight, number)
        means = [np.bincount(groups, weight * column, number) / mass for column in self.points[kept].T]
        best = np.full(number, -np.inf)
        np.maximum.at(best, groups, sure[kept])
        heights = np.zeros(number)
        np.maximum.at(heights, groups, self.sums[kept] / (max(self.count, 1.0) * kernel))
        return np.array(means).T.reshape(number, self.points.shape[1]), heights, best

    def stderr(self, points: np.ndarray) -> np.ndarray:
        """Errors of places are unknown: they depend on the curvature, which is never released. So they are infinite."""
        return np.full(points.shape, np.inf)


def step_asks(estimator: Any, n_columns: int) -> list[Ask]:
    """Return the most that the count, a private bandwidth and the steps release."""
    steps = estimator.n_steps or MOST_STEPS
    afford = min(affordable_features(estimator.epsilon, cap_of(estimator)) / steps, MOST_VALUES)
    values = max(2 * (1 + n_columns), int(afford))
    kernel = KernelSteps(Box((-1.0,) * n_columns, (1.0,) * n_columns), np.zeros((1, n_columns)), np.ones(n_columns))
    bound = kernel.max_norm(2) * values**0.5, kernel.max_norm(2)
    rest = (1 - COUNT_SHARE) * (1 - SCALE_SHARE) / (1 if estimator.mini_batches else steps)
    counted, bought = Ask.like(Count(), share=COUNT_SHARE), series_asks(estimator, n_columns, 0)[0]
    return [counted, bought.within(1 - COUNT_SHARE), Ask(values, values, steps, share=rest, bound=bound)]


def ascend_step_by_step(
    grant: Grant,
    around: Surroundings,
    bandwidth: Any,
    n_steps: int | None,
    rng: np.random.RandomState,
    *,
    mini_batches: bool,
) -> Ends:
    """Run the steps. A ladder would need one release for all bandwidths, so ``"ladder"`` means ``"private"`` here."""
    domain = around.domain
    counted = grant.part(COUNT_SHARE).release(Count())
    n, count_stderr = float(counted.value.item()), float(counted.stderr.item())
    h = rungs(grant, around, PRIVATE if isinstance(bandwidth, str) and bandwidth == LADDER else bandwidth)[0]
    steps = n_steps or int(np.clip(math.ceil(math.log(max(n, 3.0))), 2, MOST_STEPS))
    key = int(rng.randint(2**31 - 1))
    parts = steps if mini_batches else 1
    answers = [grant.batches(steps, key)] * steps if mini_batches else grant.even(steps)
    values = min(around.most_features / steps, MOST_VALUES)
    afford = np.clip(values / (1 + around.n_columns), 2, STARTS)
    starts = 2 ** int(np.log2(afford))
    sobol = qmc.Sobol(around.n_columns, scramble=True, seed=int(rng.randint(2**31 - 1)))
    points = domain.clip(around.low + (around.high - around.low) * sobol.random(starts))
    sums, noise = np.zeros(len(points)), 0.0
    for part in answers:
        query = KernelSteps(domain, points, h)
        released = part.release(query)
        found = parts * query.unwhiten @ released.value
        noise = parts * float(np.max(released.stderr)) * float(np.sqrt(np.square(query.unwhiten[0]).sum()))
        sums = found[: len(points)]
        slopes = found[len(points) :].reshape(around.n_columns, -1).T
        move = h * slopes / np.maximum(np.abs(sums), noise + 1e-300)[:, None]
        length = np.linalg.norm(move / h, axis=1, keepdims=True)
        points = domain.clip(query.points + move * np.minimum(1.0, 1.0 / np.maximum(length, 1e-300)))
    return Ends(points, sums, noise, n, count_stderr, h, around, parts)
