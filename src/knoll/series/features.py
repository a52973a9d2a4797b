"""A released kernel sum in many columns: a sum over a list of frequencies."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.special import logsumexp

from knoll.compiled.waves import waves
from knoll.series.base import BaseSeries

_CHUNK = 2**17  # phases at a time: small enough to stay in cache for their cosines and sines


@dataclass(frozen=True)
class FeatureSeries(BaseSeries):
    """A sum over a list of frequencies, drawn in equal parts from the kernel's spectrum at several bandwidths.

    Parameters
    ----------
    frequencies : array of shape (n_frequencies, n_columns)
        Released frequencies.
    cosines, sines : arrays of shape (n_frequencies,)
        Released totals.
    count, count_stderr : float
        Released number of records, and the standard error of its noise.
    stderr : float
        Standard error of the noise of one total.
    centre : array of shape (n_columns,)
        Where phases are zero.
    drawn : array of shape (n_rungs, n_columns)
        The bandwidths whose spectra the frequencies sample.
    bandwidth : array of shape (n_columns,)
        The bandwidth in use.
    """

    frequencies: np.ndarray
    cosines: np.ndarray
    sines: np.ndarray
    count: float
    count_stderr: float
    stderr: float
    centre: np.ndarray
    drawn: np.ndarray
    bandwidth: np.ndarray

    def at(self, bandwidth: np.ndarray) -> "FeatureSeries":
        """Return the same release at another bandwidth. It is most accurate near the drawn ones."""
        return replace(self, bandwidth=np.asarray(bandwidth, dtype=np.float64))

    @cached_property
    def _gain(self) -> np.ndarray:
        """Importance weights, from the mixture of spectra to this bandwidth's; they sum to K(0) = 1."""
        squares = self.frequencies**2
        here = np.log(self.bandwidth).sum() - squares @ self.bandwidth**2 / 2
        rungs = np.log(self.drawn).sum(axis=1) - squares @ (self.drawn**2).T / 2
        weights = np.exp(here - logsumexp(rungs, axis=1))
        return weights / weights.sum()

    def pairs(self, bandwidths: np.ndarray, *, debias: bool) -> np.ndarray:
        """Sum of the kernel over all pairs of records, self-pairs too; `debias` subtracts the noise's variance."""
        square = self.cosines**2 + self.sines**2 - (2 * self.stderr**2 if debias else 0.0)
        return np.array([self.at(h)._gain @ square for h in bandwidths])

    @cached_property
    def noise(self) -> float:
        """Standard error of the privacy noise of the kernel sum, at any point."""
        return self.stderr * float(np.sqrt((self._gain**2).sum()))

    @cached_property
    def approximation(self) -> float:
        """Standard error from using a sample of frequencies, estimated from the released totals.

        Far from the records all phases are equally likely, so each frequency adds half its squared total.
        """
        square = np.maximum(self.cosines**2 + self.sines**2 - 2 * self.stderr**2, 0.0)
        return float(np.sqrt(self._gain**2 @ square / 2))

    @cached_property
    def gradient_noise(self) -> np.ndarray:
        """Standard error of each partial derivative: of the noise, and of using a sample of frequencies."""
        square = np.maximum(self.cosines**2 + self.sines**2, 2 * self.stderr**2)
        return np.sqrt((self._gain**2 * square / 2) @ self.frequencies**2)

    def noise_of_difference(self, one: np.ndarray, other: np.ndarray) -> np.ndarray:
        """Standard error of the noise of S(one) - S(other), row by row."""
        alike = np.cos((one - other) @ self.frequencies.T) @ self._gain**2 * self.stderr**2
        return np.sqrt(np.maximum(2 * (self.noise**2 - alike), 0.0))

    @cached_property
    def _waves(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Frequencies in turns, column by column, and the totals of cosines and sines times the gain."""
        turns = np.ascontiguousarray(self.frequencies.T) / (2 * np.pi)
        return turns, self._gain * self.cosines, self._gain * self.sines

    def _evaluate(self, points: np.ndarray, orders: Sequence[tuple[int, ...]]) -> np.ndarray:
        sides = {odd: [at for at, pick in enumerate(orders) if len(pick) % 2 == odd] for odd in (0, 1)}
        factors = {odd: self._factors([orders[at] for at in sides[odd]]) for odd in sides}
        step = max(1, _CHUNK // max(len(self._gain), 1))
        both = np.empty((2, min(step, len(points)), len(self._gain)))
        found = np.empty((len(points), len(orders)))
        for start in range(0, len(points), step):
            here = np.ascontiguousarray(points[start : start + step] - self.centre)
            waves(here, *self._waves, *both[:, : len(here)])
            for odd, at in sides.items():
                if at:
                    found[start : start + step, at] = both[odd, : len(here)] @ factors[odd]
        return found

    def _factors(self, orders: Sequence[tuple[int, ...]]) -> np.ndarray:
        """What each frequency's wave (its slope, if the order is odd) is multiplied by, (n_frequencies, n_orders)."""
        product = np.ones((len(self.frequencies), len(orders)))
        for place in range(max(map(len, orders), default=0)):
            some = [at for at, pick in enumerate(orders) if len(pick) > place]
            product[:, some] *= self.frequencies[:, [orders[at][place] for at in some]]
        product[:, [len(pick) == 2 for pick in orders]] *= -1  # a wave's second derivative is its negative
        return product
