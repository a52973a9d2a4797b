"""One-dimensional mixtures from counts in bins: expectation-maximisation that takes the noise of counts into account.

`ObservedCounts` hold what was seen of the true counts of bins: noisy counts (released by a curator, or debiased local
reports), or reports through a known channel. Given the intensities of the bins, it returns the expected true counts,
which the M-step treats as data. Bins enter with their exact probabilities under a normal law, so wide bins cause no
bias. Everything here is post-processing.
"""

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.special import ndtr

# All of it is free of budget, so time alone limits these. No benchmark of docs/benchmarks.md varies them.
STARTS, SHORT, LONG = 16, 40, 400  # starting points; steps from each of them; steps from the best of them
SETTLED = 1e-4  # stop when no mean moves by this many standard deviations, and no variance by this fraction
KEEP = 3  # starts that go on after the short run
_TINY = 1e-290  # keeps divisions and logarithms finite


@dataclass(frozen=True)
class Fits:
    """Weights, means and variances of a one-dimensional mixture; leading axes are different fits."""

    weights: np.ndarray
    means: np.ndarray
    variances: np.ndarray

    def take(self, which: np.ndarray | int) -> "Fits":
        """Return some of the fits."""
        return Fits(self.weights[which], self.means[which], self.variances[which])

    def ordered(self) -> "Fits":
        """Return one fit with its components in order of their means."""
        order = np.argsort(self.means)
        return Fits(self.weights[order], self.means[order], self.variances[order])


class ObservedCounts(Protocol):
    """What was seen of the counts of bins."""

    total: float

    def expected(self, intensity: np.ndarray) -> np.ndarray:
        """Return the expected true counts (fits, bins), given the intensities of the bins."""
        ...

    def log_likelihood(self, intensity: np.ndarray) -> np.ndarray:
        """Return the log-likelihood of each fit."""
        ...


class NoisyCounts:
    """Counts with noise of a known standard error added.

    Let the true count be Poisson with intensity l. From a noisy count c with standard error s, the best linear guess is
    l + l / (l + s^2) (c - l). So a bin whose count is mostly noise says next to nothing.
    """

    def __init__(self, counts: np.ndarray, stderr: np.ndarray | float):
        self.counts, self.noise = np.asarray(counts, dtype=float), np.square(np.broadcast_to(stderr, np.shape(counts)))
        self.total = max(float(self.counts.sum()), 1.0)

    def expected(self, intensity: np.ndarray) -> np.ndarray:
        """Shrink the counts towards the intensities, as far as they are noise."""
        return np.maximum(intensity + intensity / (intensity + self.noise) * (self.counts - intensity), 0.0)

    def log_likelihood(self, intensity: np.ndarray) -> np.ndarray:
        """Return the normal approximation of the log-likelihood."""
        variance = np.maximum(intensity + self.noise, 1e-9)
        return -0.5 * (np.square(self.counts - intensity) / variance + np.log(variance)).sum(axis=-1)


class Channel:
    """Reports through a known random channel: `counts` of outputs, and their probabilities `matrix` (outputs, bins)."""

    def __init__(self, counts: np.ndarray, matrix: np.ndarray):
        self.counts, self.matrix = np.asarray(counts, dtype=float), matrix
        self.total = max(float(self.counts.sum()), 1.0)

    def expected(self, intensity: np.ndarray) -> np.ndarray:
        """Divide every output among the bins that it may come from, by probability."""
        return intensity * ((self.counts / np.maximum(intensity @ self.matrix.T, _TINY)) @ self.matrix)

    def log_likelihood(self, intensity: np.ndarray) -> np.ndarray:
        """Return the multinomial log-likelihood."""
        outputs = np.maximum(intensity @ self.matrix.T, _TINY)
        return (self.counts * np.log(outputs / outputs.sum(axis=-1, keepdims=True))).sum(axis=-1)


@dataclass(frozen=True)
class Prior:
    """A faint public prior, in records per component: on variances and weights, and on the ordered means.

    Attributes
    ----------
    records, variance : float
        Records added to each component, and their variance.
    mean_records, means : float, array of shape (k,)
        Records added to each component at these places. They count for the means only.
    """

    records: float
    variance: float
    mean_records: float = 0.0
    means: np.ndarray | float = 0.0


def bin_moments(fits: Fits, edges: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return probability, mean and variance of each component inside each bin: (fits, components, bins) each.

    The outer bins reach to infinity, since they also count the records beyond the outer edges.
    """
    s = np.sqrt(fits.variances)[..., None]
    z = (edges[..., 1:-1] - fits.means[..., None]) / s
    *some, inner = z.shape
    cdf, upper, pdf, zpdf = np.zeros((4, *some, inner + 2))
    cdf[..., 1:-1], upper[..., 1:-1] = ndtr(z), ndtr(-z)
    cdf[..., -1] = upper[..., 0] = 1.0
    pdf[..., 1:-1] = np.exp(-0.5 * z * z) / math.sqrt(2 * math.pi)
    zpdf[..., 1:-1] = z * pdf[..., 1:-1]
    p = np.where(cdf[..., 1:] < 0.5, cdf[..., 1:] - cdf[..., :-1], upper[..., :-1] - upper[..., 1:])
    p = np.maximum(p, _TINY)
    ends = np.empty((*some, inner + 2))
    ends[..., 0], ends[..., 1:-1], ends[..., -1] = -np.inf, z, np.inf
    a, b = ends[..., :-1], ends[..., 1:]
    mean = np.minimum(np.maximum((pdf[..., :-1] - pdf[..., 1:]) / p, a), b)
    second = 1.0 - (zpdf[..., 1:] - zpdf[..., :-1]) / p
    width = np.minimum(b - a, 2.0)
    variance = np.minimum(np.maximum(second - mean * mean, 0.0), np.minimum(width * width / 4, 1.0))
    return p, fits.means[..., None] + s * mean, s * s * variance


def em_steps(fits: Fits, observed: ObservedCounts, edges: np.ndarray, steps: int, floor: float, prior: Prior) -> Fits:
    """Run expectation-maximisation for a number of steps."""
    extra, pulled = prior.records, prior.mean_records
    for _ in range(steps):
        p, mean, variance = bin_moments(fits, edges)
        joint = fits.weights[..., None] * p
        mixed = joint.sum(axis=-2)
        truth = observed.expected(observed.total * mixed)
        share = joint * (truth / np.maximum(mixed, _TINY))[..., None, :]
        mass = np.maximum(share.sum(axis=-1), 1e-9)
        means = (share * mean).sum(axis=-1)
        if pulled:
            rank = np.argsort(np.argsort(fits.means, axis=-1), axis=-1)
            means = means + pulled * np.take(prior.means, rank)
        means = means / (mass + pulled)
        squares = (share * (variance + np.square(mean - means[..., None]))).sum(axis=-1)
        variances = np.maximum((squares + extra * prior.variance) / (mass + extra), floor)
        weights = (mass + extra) / (mass + extra).sum(axis=-1, keepdims=True)
        moved = np.abs(means - fits.means) / np.sqrt(variances) + np.abs(np.log(variances / fits.variances))
        fits = Fits(weights, means, variances)
        if moved.max() < SETTLED:
            break
    return fits


def log_likelihood(fits: Fits, observed: ObservedCounts, edges: np.ndarray) -> np.ndarray:
    """Return the log-likelihood of what was seen, for each fit."""
    p = bin_moments(fits, edges)[0]
    return observed.log_likelihood(observed.total * (fits.weights[..., None] * p).sum(axis=-2))


def log_prior(fits: Fits, prior: Prior) -> np.ndarray:
    """Return the log density of the prior at each fit, up to a constant. Narrow components are unlikely."""
    spread = np.log(fits.variances) + prior.variance / fits.variances
    away = np.square(np.sort(fits.means, axis=-1) - prior.means) / prior.variance * prior.mean_records
    return (prior.records * (np.log(fits.weights) - 0.5 * spread) - 0.5 * away).sum(axis=-1)


def starts(density: np.ndarray, edges: np.ndarray, k: int, rng: np.random.RandomState) -> Fits:
    """Return starting points: even quantiles of a histogram, and random ones."""
    middle = (edges[1:] + edges[:-1]) / 2
    mass = np.maximum(density, 0.0) + 1e-3 * max(float(np.abs(density).mean()), 1e-9)
    along = np.cumsum(mass) / mass.sum()
    spots = np.vstack([(np.arange(k) + 0.5) / k, rng.uniform(size=(STARTS - 1, k))])
    means = np.sort(np.interp(spots, along, middle), axis=1)
    mean = np.average(middle, weights=mass)
    variance = np.average(np.square(middle - mean), weights=mass)
    wide = variance / (k * k) * np.exp(rng.uniform(-1.5, 1.0, size=(STARTS, 1)))
    return Fits(np.full((STARTS, k), 1 / k), means, np.broadcast_to(wide, (STARTS, k)).copy())


def fit_binned(
    observed: ObservedCounts,
    edges: np.ndarray,
    k: int,
    rng: np.random.RandomState,
    *,
    floor: float,
    prior: Prior,
    steps: int = LONG,
    first: Fits | None = None,
) -> tuple[Fits, float]:
    """Return the best of several fits, its components ordered by mean, and its log-likelihood.

    Parameters
    ----------
    observed : ObservedCounts
        What was seen of the bins' counts.
    edges : array of shape (bins + 1,)
        Edges of the bins, all finite; the outer bins also hold what lies beyond.
    k : int
        Number of components.
    rng : RandomState
        Public randomness of the starting points.
    floor : float
        Smallest variance.
    prior : Prior
        Pulls variances to a common one, weights to each other, and means to given places.
    steps : int
        Most steps from the best starts.
    first : Fits, optional
        One more starting point.
    """
    flat = np.full(len(edges) - 1, observed.total / (len(edges) - 1))
    density = observed.expected(flat)
    for _ in range(20):
        density = observed.expected(density)
    begin = starts(density, edges, k, rng)
    if first is not None:
        both = zip(vars(begin).values(), vars(first).values(), strict=True)
        begin = Fits(*(np.vstack(pair) for pair in both))
    fits = em_steps(begin, observed, edges, SHORT, floor, prior)
    likely = log_likelihood(fits, observed, edges) + log_prior(fits, prior)
    fits = em_steps(fits.take(np.argsort(-likely)[:KEEP]), observed, edges, steps, floor, prior)
    value = log_likelihood(fits, observed, edges)
    best = int((value + log_prior(fits, prior)).argmax())
    return fits.take(best).ordered(), float(value[best])
