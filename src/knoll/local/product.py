"""Mixtures of columns that went through channels of their own: components without correlations.

E  a report's probability in a component is the product over columns of (channel x bin probabilities)
M  per component and column: the weighted outputs are divided among the bins, as for one column
"""

from dataclasses import dataclass, replace

import numpy as np

from knoll import progress
from knoll.compiled.reports import share_out
from knoll.local.clients import Waves
from knoll.numeric.binned import Fits, bin_moments
from knoll.numeric.mixture import Mixture

STARTS, SHORT, LONG = 8, 30, 200  # tries; steps of each try; steps of the best one
SHORT_REPORTS = 5000  # reports on which starts are compared: a sample is enough to choose one
SETTLED = 1e-7  # least gain of log-likelihood per report to go on


@dataclass(frozen=True)
class Product:
    """Different reports of several columns, how often each came, their channel, edges per column, public limits."""

    reports: np.ndarray
    times: np.ndarray
    channel: np.ndarray
    edges: np.ndarray
    floor: np.ndarray
    prior: float

    @classmethod
    def of(cls, client: Waves, reports: np.ndarray, floor: np.ndarray, prior: float) -> "Product":
        """Return the product for a client's reports."""
        edges = np.array([each.edges for each in client.columns])
        different, times = np.unique(reports, axis=0, return_counts=True)
        return cls(different, times.astype(np.float64), client.columns[0].channel, edges, floor, prior)

    def fit(self, k: int, rng: np.random.RandomState) -> tuple[Fits, float]:
        """Return weights (k,), means and variances (k, d), and the log-likelihood."""
        some = self.sample(SHORT_REPORTS, rng)
        tries, starts = [], STARTS if k > 1 else 1
        for number in range(starts):
            progress.report(f"a mixture of {k}", number / starts)
            tries.append(some.climb(some._start(k, rng), SHORT))
        return self.climb(max(tries, key=lambda fit: fit[1])[0], LONG)

    def sample(self, most: int, rng: np.random.RandomState) -> "Product":
        """Return reports drawn from these with replacement: as many as there are, at most `most`."""
        n = int(self.times.sum())
        times = rng.multinomial(min(n, most), self.times / n)
        return replace(self, reports=self.reports[times > 0], times=times[times > 0].astype(np.float64))

    def _start(self, k: int, rng: np.random.RandomState) -> Fits:
        """Start at random reports, clipped to the bins."""
        d, bins = len(self.edges), self.edges.shape[1] - 1
        reach = (len(self.channel) - bins) // 2
        picked = np.clip(
            self.reports[rng.choice(len(self.times), size=k, p=self.times / self.times.sum())] - reach, 0, bins - 1
        )
        middle = (self.edges[:, 1:] + self.edges[:, :-1]) / 2
        means = middle[np.arange(d), picked]
        wide = np.square((self.edges[:, -1] - self.edges[:, 0]) / 6) / k ** (2 / d)
        return Fits(np.full(k, 1 / k), means, np.tile(wide, (k, 1)))

    def climb(self, fits: Fits, steps: int) -> tuple[Fits, float]:
        """Run expectation-maximisation until the likelihood settles."""
        k, d = fits.means.shape
        wide = np.square((self.edges[:, -1] - self.edges[:, 0]) / 6) / k ** (2 / d)
        counts, shared = np.empty((d, len(self.channel), k)), np.empty(k)
        last = value = -np.inf
        for _ in range(steps):
            columns = Fits(fits.weights, fits.means.T, fits.variances.T)
            p, mean, variance = bin_moments(columns, self.edges[:, None, :])  # (columns, components, bins)
            through = np.ascontiguousarray(np.maximum(p @ self.channel.T, 1e-300).transpose(0, 2, 1))
            counts[:] = 0.0
            value = share_out(
                self.reports, self.times, np.log(through), np.log(np.maximum(fits.weights, 1e-300)), counts, shared
            )
            truth = p * ((counts / through).transpose(0, 2, 1) @ self.channel)
            mass = np.maximum(truth.sum(axis=2), 1e-9)
            means = (truth * mean).sum(axis=2) / mass
            squares = (truth * (variance + np.square(mean - means[:, :, None]))).sum(axis=2)
            variances = (squares + self.prior * wide[:, None]) / (mass + self.prior)
            n = counts[0].sum(axis=0) + self.prior
            fits = Fits(n / n.sum(), means.T, np.maximum(variances.T, self.floor))
            if value - last < SETTLED * self.times.sum():
                break
            last = value
        return fits, value

    def mixture(self, fits: Fits) -> Mixture:
        """Return fitted components as a mixture."""
        means = np.clip(fits.means, self.edges[:, 0], self.edges[:, -1])
        covariances = np.einsum("ki,ij->kij", fits.variances, np.eye(len(self.edges)))
        return Mixture.nearest(fits.weights, means, covariances, self.floor)

    def redraw(self, fits: Fits, times: int, most: int, rng: np.random.RandomState) -> list[Mixture]:
        """Return mixtures fitted to redrawn reports."""
        found = []
        for number in range(times):
            progress.report("redrawing reports", number / times)
            found.append(self.mixture(self.sample(most, rng).climb(fits, SHORT)[0]))
        return found
