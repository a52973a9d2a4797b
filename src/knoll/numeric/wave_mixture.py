"""Clusters from released waves: the k round Gaussians of one width that explain cosines and sines best.

    width    the power of waves falls with their frequency as the clusters' width says: one number, told by all waves
    add      one Gaussian after the other, where what is not explained yet is largest: climbed to from many points, wide
             waves first
    move     all of them at once, down the slope of the squared misfit
    again    take one out, look for a better place for it, and keep what fits better

Centres are drawn to the middle of all records and sizes to their average, as far as the waves do not tell. Pure
functions of released values.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from knoll.compiled.waves import waves
from knoll.progress import report

STARTS = 40  # points from which a place for a Gaussian is searched: more take longer
CLIMB, HALVED = 8, 0.5  # steps of a climb at each width, and the squared width of the next one, over that of this one
WIDEST = 0.4  # squared width at which a climb begins, over how far clusters are apart
SWEEPS = 8  # times that every Gaussian is taken out and put back, at most
SIZES = 0.6  # standard deviation of the logarithm of sizes, over their average, that is expected
WIDTH = 0.05  # the same of the squared width, after the power told it
LEAST, MOST = 0.4, 2.5  # size of a Gaussian that is added, over the average
WIDTHS = np.exp(np.linspace(np.log(0.005), np.log(0.8), 40))  # squared, over the variance of all records
POWER = 1.2  # sum of the squared parts of all records that clusters hold, over 1 / k: sizes differ somewhat
MOVES, FEW_MOVES = 40, 12


@dataclass(frozen=True)
class Waves:
    """Released waves of a record on average, about the mean of all: frequencies, cosines, sines and their noise.

    `spread` is the variance of all records along each axis.
    """

    frequencies: np.ndarray
    cosines: np.ndarray
    sines: np.ndarray
    noise: float
    spread: np.ndarray

    @property
    def square(self) -> np.ndarray:
        """Squared lengths of the frequencies."""
        return np.asarray(np.square(self.frequencies).sum(axis=1))

    def less(self, found: "Found") -> "Waves":
        """Return what Gaussians do not explain."""
        cos, sin = self.of(found.at, found.width)
        return Waves(
            self.frequencies, self.cosines - found.part @ cos, self.sines - found.part @ sin, self.noise, self.spread
        )

    def of(self, at: np.ndarray, width: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the cosines and sines of Gaussians of this squared width, (points, frequencies)."""
        fall = np.exp(-width * self.square / 2)
        cos, sin = np.empty((2, len(at), len(fall)))
        waves(np.ascontiguousarray(at), self._turns, fall, np.zeros(len(fall)), cos, sin)
        return cos, -sin

    def along(self, at: np.ndarray, fall: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return how far the waves, damped by `fall`, agree with points, and the slopes of that."""
        even, odd = np.empty((2, len(at), len(fall)))
        waves(np.ascontiguousarray(at), self._turns, fall * self.cosines, fall * self.sines, even, odd)
        return even.sum(axis=1), odd @ self.frequencies

    @property
    def _turns(self) -> np.ndarray:
        return np.ascontiguousarray(self.frequencies.T) / (2 * np.pi)


@dataclass(frozen=True)
class Found:
    """Gaussians: where they are, the part of all records that each holds, their squared width, and the misfit."""

    at: np.ndarray
    part: np.ndarray
    width: float
    misfit: float = np.inf


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
    """Return the k Gaussians that explain waves best, within walls about the mean of all records."""
    width = squared_width(seen, k)
    apart = max(float(np.median(seen.spread)) - width, 0.2 * float(np.median(seen.spread)))
    search = _Search(seen, k, walls, width, apart, rng)
    found = Found(np.zeros((0, len(walls[0]))), np.zeros(0), width)
    for i in range(k):
        report("finding clusters", i / (2 * k))
        at, part = search.place(seen.less(found), np.zeros((0, len(walls[0]))))
        found = Found(np.vstack([found.at, at]), np.append(found.part, part), width)
    found = search.moved(found, MOVES)
    for sweep in range(SWEEPS):
        report("finding clusters", 0.5 + sweep / (2 * SWEEPS))
        better = search.again(found)
        if better.misfit >= found.misfit:
            break
        found = search.moved(better, MOVES)
    return found


@dataclass(frozen=True)
class _Search:
    """What a search knows throughout: waves, number of clusters, walls, and what is expected before they are seen."""

    seen: Waves
    k: int
    walls: tuple[np.ndarray, np.ndarray]
    width: float
    apart: float
    rng: np.random.RandomState

    def place(self, left: Waves, known: np.ndarray) -> tuple[np.ndarray, float]:
        """Return the best place for one more Gaussian in what is left to explain, and its size."""
        d = len(self.walls[0])
        reach = self.rng.uniform(0.2, 1.0, (STARTS, 1)) * np.sqrt(self.apart)
        at = np.vstack([known, reach * self.rng.standard_normal((STARTS, d))])
        for width in self.width / HALVED ** np.arange(self._levels)[::-1]:
            at = self._climbed(left, at, width)
        fall = np.exp(-self.width * left.square / 2)
        agree, weight = left.along(at, fall)[0], float(fall @ fall)
        part = np.clip(agree / weight, LEAST / self.k, MOST / self.k)
        gain = (part * agree - part**2 * weight / 2) / left.noise**2 - np.square(at).sum(axis=1) / (2 * self.apart)
        best = int(gain.argmax())
        return at[best], float(part[best])

    @property
    def _levels(self) -> int:
        """Number of widths of a climb."""
        return 1 + max(0, round(float(np.log(WIDEST * self.apart / self.width) / -np.log(HALVED))))

    def _climbed(self, left: Waves, at: np.ndarray, width: float) -> np.ndarray:
        """Return points moved up the slope of their agreement with the waves."""
        fall = np.exp(-width * left.square / 2)
        step = at.shape[1] * float((fall @ fall) / (fall**2 @ left.square))
        for _ in range(CLIMB):
            agree, slope = left.along(at, fall)
            move = step * slope / np.maximum(agree, 0.2 * np.abs(agree).max() + 1e-300)[:, None]
            length = np.linalg.norm(move, axis=1, keepdims=True) / np.sqrt(step * at.shape[1])
            at = np.clip(at + move / np.maximum(length, 1.0), *self.walls)
        return at

    def again(self, found: Found) -> Found:
        """Take out one Gaussian after the other, the smallest first; keep better places for them."""
        best = found
        for i in np.argsort(found.part):
            others = np.delete(np.arange(self.k), i)
            rest = Found(best.at[others], best.part[others], best.width)
            at, part = self.place(self.seen.less(rest), best.at[[i]])
            if np.square(at - best.at[i]).sum() > self.width * len(at):
                tried = np.insert(rest.at, i, at, axis=0), np.insert(rest.part, i, part)
                moved = self.moved(Found(*tried, best.width), FEW_MOVES)
                best = moved if moved.misfit < best.misfit else best
        return best

    def moved(self, found: Found, steps: int) -> Found:
        """Return all Gaussians moved down the slope of the misfit."""
        k, d = found.at.shape
        unit = 1 / float(np.sqrt(self.seen.square.mean()))
        start = np.concatenate([found.at.ravel() / unit, np.log(found.part), [np.log(found.width)]])
        solved = minimize(self._misfit, start, (k, unit), "L-BFGS-B", jac=True, options={"maxiter": steps})
        at = np.clip(solved.x[: k * d].reshape(k, d) * unit, *self.walls)
        return Found(at, np.exp(solved.x[k * d : -1]), float(np.exp(solved.x[-1])), float(solved.fun))

    def _misfit(self, x: np.ndarray, k: int, unit: float) -> tuple[float, np.ndarray]:
        """Return half the squared misfit in standard errors, with what is expected of Gaussians, and its slopes."""
        at, sizes, seen = x[: -k - 1].reshape(k, -1) * unit, x[-k - 1 : -1], self.seen
        part, width, trust = np.exp(sizes), float(np.exp(x[-1])), 1 / self.seen.noise**2
        cos, sin = seen.of(at, width)
        off_cos, off_sin = part @ cos - seen.cosines, part @ sin - seen.sines
        usual, wider = sizes + np.log(k), float(x[-1] - np.log(self.width))
        expected = np.square(at).sum() / self.apart + np.square(usual).sum() / SIZES**2 + (wider / WIDTH) ** 2
        value = trust * float(off_cos @ off_cos + off_sin @ off_sin) + float(expected)
        by_part = trust * part * (cos @ off_cos + sin @ off_sin) + usual / SIZES**2
        by_at = trust * part[:, None] * ((cos * off_sin - sin * off_cos) @ seen.frequencies) + at / self.apart
        fall = -seen.square / 2 * width
        by_width = trust * float((part @ cos * off_cos + part @ sin * off_sin) @ fall) + wider / WIDTH**2
        return value / 2, np.concatenate([by_at.ravel() * unit, by_part, [by_width]])
