"""Clusters from released waves: the k round Gaussians that explain cosines and sines best.

    width    the power of waves falls with their frequency as the clusters' width says: one number, told by all waves
    move     all Gaussians at once, down the slope of the squared misfit
    anneal   long waves first: they show clusters from afar. The shorter ones come in little by little, and no Gaussian
             is caught by noise, or by a place between clusters

Centres are drawn to the middle of all records and sizes to their average, as far as the waves do not tell. Pure
functions of released values.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from knoll.compiled.waves import waves
from knoll.progress import report

# Settled on waves of the tuned kinds of benchmarks/small/wide.py: the least misfit that a second finds.
FIRST, NARROWER, LAST = 0.5, 0.85, 0.3  # squared blur: the first over how far clusters are apart, each over the one
# before, and the last over the clusters' squared width
TRIES = 2  # random starts
START = 0.7  # how far from the middle the Gaussians begin, over how far clusters are apart
MOVES, LAST_MOVES = 40, 100  # at each blur, and at the end
SIZES = 0.6  # standard deviation of the logarithm of sizes, over their average, that is expected
WIDTH = 0.05  # the same of the squared width, after the power told it
WIDTHS = np.exp(np.linspace(np.log(0.005), np.log(0.8), 40))  # squared, over the variance of all records
POWER = 1.2  # sum of the squared parts of all records that clusters hold, over 1 / k: sizes differ somewhat
LEAST_APART = 0.2  # variance of clusters' centres along an axis, over that of all records: at least


@dataclass(frozen=True)
class Waves:
    """Released waves of a record on average, about the mean of all: frequencies, cosines, sines and their noise.

    `spread` is the variance of all records along each axis.
    """

    frequencies: np.ndarray
    cosines: np.ndarray
    sines: np.ndarray
    noise: np.ndarray
    spread: np.ndarray

    @property
    def square(self) -> np.ndarray:
        """Squared lengths of the frequencies."""
        return np.asarray(np.square(self.frequencies).sum(axis=1))

    def of(self, at: np.ndarray, fall: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the cosines and sines of points, damped by `fall`, (points, frequencies)."""
        cos, sin = np.empty((2, len(at), len(fall)))
        turns = np.ascontiguousarray(self.frequencies.T) / (2 * np.pi)
        waves(np.ascontiguousarray(at), turns, fall, np.zeros(len(fall)), cos, sin)
        return cos, -sin


@dataclass(frozen=True)
class Found:
    """Gaussians: where they are, the part of all records that each holds, their squared width, and the misfit."""

    at: np.ndarray
    part: np.ndarray
    width: np.ndarray
    misfit: float = np.inf


def between(spread: np.ndarray, width: np.ndarray) -> np.ndarray:
    """Return how far clusters are apart along each axis, squared: what their width does not explain of all records."""
    return np.maximum(spread - width, LEAST_APART * spread)


def squared_width(seen: Waves, k: int) -> float:
    """Return the squared width of clusters, from how the power of the waves falls with frequency.

    Waves much longer than the clusters show the spread s^2 of all records, exp(-s^2 w^2); short ones show each cluster
    for itself, exp(-width w^2) / k, since their phases do not agree.
    """
    power, noise, square = np.square(seen.cosines) + np.square(seen.sines), 2 * seen.noise**2, seen.square
    spread, alone = float(np.median(seen.spread)), min(POWER / k, 1.0)

    def surprise(part: float) -> float:
        expected = alone * np.exp(-part * spread * square) + (1 - alone) * np.exp(-spread * square) + noise
        return float((power / expected + np.log(expected)).sum())

    return spread * float(min(WIDTHS, key=surprise))


def explain(seen: Waves, k: int, walls: tuple[np.ndarray, np.ndarray], rng: np.random.RandomState) -> Found:
    """Return the k Gaussians of one width that explain waves best, within walls about the mean of all records."""
    width = np.full(len(walls[0]), squared_width(seen, k))
    search, tried = _Search(seen, k, walls, width), []
    for i in range(TRIES):
        at = START * np.sqrt(search.apart) * rng.standard_normal((k, len(width)))
        tried.append(search.annealed(Found(np.clip(at, *walls), np.full(k, 1 / k), width), i / TRIES))
    return min(tried, key=lambda found: found.misfit)


@dataclass(frozen=True)
class _Search:
    """What a search knows throughout: waves, number of clusters, walls and squared widths."""

    seen: Waves
    k: int
    walls: tuple[np.ndarray, np.ndarray]
    width: np.ndarray

    @property
    def apart(self) -> np.ndarray:
        """How far clusters are apart along each axis, squared."""
        return between(self.seen.spread, self.width)

    def annealed(self, found: Found, done: float) -> Found:
        """Return Gaussians moved while waves come in, the long ones first; `done`: how far the search is before it."""
        first, last = FIRST * float(np.median(self.apart)), LAST * float(np.median(self.width))
        levels = max(0, int(np.ceil(np.log(first / last) / -np.log(NARROWER))))
        for level in range(levels):
            report("finding clusters", done + level / levels / TRIES)
            found = self.moved(found, np.exp(-first * NARROWER**level * self.seen.square), MOVES)
        return self.moved(found, np.ones(len(self.seen.noise)), LAST_MOVES)

    def moved(self, found: Found, heed: np.ndarray, steps: int) -> Found:
        """Return all Gaussians moved down the slope of the misfit; `heed`: how much each wave counts, up to 1."""
        k, d = found.at.shape
        unit = 1 / float(np.sqrt(self.seen.square.mean()))
        wider = float(np.log((found.width / self.width).mean()))
        start = np.concatenate([found.at.ravel() / unit, np.log(found.part), [wider]])
        trust = heed / np.square(self.seen.noise)
        solved = minimize(self._misfit, start, (unit, trust), "L-BFGS-B", jac=True, options={"maxiter": steps})
        at = np.clip(solved.x[: k * d].reshape(k, d) * unit, *self.walls)
        width = self.width * float(np.exp(solved.x[-1]))
        return Found(at, np.exp(solved.x[k * d : -1]), width, float(solved.fun))

    def _misfit(self, x: np.ndarray, unit: float, trust: np.ndarray) -> tuple[float, np.ndarray]:
        """Return half the squared misfit in standard errors, with what is expected of Gaussians, and its slopes."""
        k, seen = self.k, self.seen
        at, sizes, wider = x[: -k - 1].reshape(k, -1) * unit, x[-k - 1 : -1], float(x[-1])
        part, narrow = np.exp(sizes), np.square(seen.frequencies) @ self.width * np.exp(wider) / 2
        cos, sin = seen.of(at, np.exp(-narrow))
        all_cos, all_sin = part @ cos, part @ sin
        off_cos, off_sin = all_cos - seen.cosines, all_sin - seen.sines
        usual = sizes + np.log(k)
        expected = float((np.square(at) / self.apart).sum() + np.square(usual).sum() / SIZES**2 + (wider / WIDTH) ** 2)
        value = float(trust @ (np.square(off_cos) + np.square(off_sin))) + expected
        off_cos, off_sin = trust * off_cos, trust * off_sin
        by_part = part * (cos @ off_cos + sin @ off_sin) + usual / SIZES**2
        by_at = part[:, None] * ((cos * off_sin - sin * off_cos) @ seen.frequencies) + at / self.apart
        by_width = -float((all_cos * off_cos + all_sin * off_sin) @ narrow) + wider / WIDTH**2
        return value / 2, np.concatenate([by_at.ravel() * unit, by_part, [by_width]])
