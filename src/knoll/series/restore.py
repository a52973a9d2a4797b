"""Correct a released kernel sum by what is known: its records are a non-negative measure within the bounds.

    1. find the non-negative measure in the bounds whose totals are nearest to the released ones, in units of noise
    2. a few times: read the power of each cosine of the measure; fit the measure again, with these powers as a prior
    3. of each total of the measure, keep the share that is not noise

Step 1. The true totals belong to such a measure, so the fit brings the vector of totals nearer to them.
Step 2 is empirical Bayes (relevance determination, by EM). Each cosine of the bounds' box has a Gaussian prior. Its
variance is the square of the cosine's estimate plus the estimate's variance, and at least what n records at random
places give. This damps cosines of the noise's size and leaves clear ones alone.
Step 3 does the same for the totals, whose waves go round the torus. With power P, the linear estimate of least squared
error keeps P / (P + noise^2) (Wiener).

All of it is post-processing. The result is nearer to the records' own sum. But its noise has no known size, so
significance is judged on the released sum. And high frequencies are damped, which smooths, so curves are placed on the
released sum too.
"""

from dataclasses import dataclass, replace
from functools import cached_property, reduce

import numpy as np
from scipy.fft import dct, dctn, idctn

from knoll.series.series import GridSeries

PER_BANDWIDTH = 2.0  # cells of the measure to the narrowest bandwidth that the release serves
MOST_CELLS = 2**17  # most cells: bounds memory and time
PASSES = 3  # the first without a prior, each other with the powers that the pass before found
ROUNDS = 150  # accelerated projected gradient steps per pass: more come nearer to the optimum and take longer
LEFT = 0.5  # part of the noise's variance that is still in the totals of the fitted measure
RANDOM = 2.0  # least power of a cosine or a total, as a multiple of that of n records at random places


def restored(series: GridSeries, low: np.ndarray, high: np.ndarray, finest: np.ndarray) -> GridSeries:
    """Return the sum with its totals fitted and shrunk.

    Parameters
    ----------
    series : GridSeries
        As released.
    low, high : arrays of shape (n_columns,)
        The bounds.
    finest : array of shape (n_columns,)
        The narrowest bandwidth that the release serves.
    """
    most = MOST_CELLS ** (1 / len(low))
    cells = np.clip(np.ceil((high - low) / finest * PER_BANDWIDTH), 2, most).astype(int)
    middles = [a + (np.arange(m) + 0.5) * (b - a) / m for a, b, m in zip(low, high, cells, strict=True)]
    seen = ReleaseOnMesh(series, [series.lattice.basis(j, middle) for j, middle in enumerate(middles)])
    return replace(series, totals=shrunk(seen.totals(likely(seen, max(series.count, 1.0))), series))


@dataclass(frozen=True)
class ReleaseOnMesh:
    """A release and a mesh: totals, their precision, and the map from a measure on the mesh to its totals."""

    series: GridSeries
    bases: list[np.ndarray]

    @cached_property
    def weight(self) -> np.ndarray:
        """One over the noise's variance of each total; none where nothing was released."""
        known = self.series.stderr > 0
        return np.where(known, 1 / np.where(known, self.series.stderr, 1.0) ** 2, 0.0)

    def totals(self, measure: np.ndarray) -> np.ndarray:
        """Totals of a measure, as far as they were released."""
        for basis in self.bases:
            measure = np.tensordot(measure, basis, axes=(0, 0))
        return np.where(self.weight > 0, measure, 0.0)

    def slope(self, measure: np.ndarray) -> np.ndarray:
        """Slope of half the squared misfit of a measure, in units of noise."""
        gap = self.weight * (self.totals(measure) - self.series.totals)
        for basis in self.bases:
            gap = np.tensordot(gap, basis, axes=(0, 1))
        return gap

    @cached_property
    def steepest(self) -> float:
        """Largest curvature of that misfit, by power iteration."""
        vector, none = np.ones([len(basis) for basis in self.bases]), self.slope(np.zeros(self.shape))
        for _ in range(20):
            vector = self.slope(vector) - none
            size = float(np.linalg.norm(vector))
            vector /= size
        return size

    @property
    def shape(self) -> tuple[int, ...]:
        """Cells along each column."""
        return tuple(len(basis) for basis in self.bases)

    @cached_property
    def precision(self) -> np.ndarray:
        """Curvature of that misfit along each cosine of the mesh."""
        curve = self.weight
        for basis in self.bases:
            curve = np.tensordot(curve, dct(basis, axis=0, norm="ortho") ** 2, axes=(0, 1))
        return curve


def likely(seen: ReleaseOnMesh, count: float) -> np.ndarray:
    """The most likely non-negative measure, under a prior with the powers of its own cosines."""
    size = float(np.prod(seen.shape))
    measure = np.full(seen.shape, count / size)
    power = np.full(seen.shape, 2.0 ** len(seen.shape) * count**2 / size)  # no cosine of `count` records has more power
    for step in range(PASSES):
        measure = fitted(seen, measure, np.zeros(()) if step == 0 else 1 / power)
        power = dctn(measure, norm="ortho") ** 2 + power / (1 + power * seen.precision)
        power = np.maximum(power, RANDOM * max(float(measure.sum()), 1.0) / size)
    return measure


def fitted(seen: ReleaseOnMesh, measure: np.ndarray, held: np.ndarray) -> np.ndarray:
    """The non-negative measure of least misfit plus half the sum of `held` times its squared cosines."""
    ahead, pace = measure, 1.0
    length = 1 / (1.05 * seen.steepest + float(held.max()))
    for _ in range(ROUNDS):
        slope = seen.slope(ahead) + idctn(held * dctn(ahead, norm="ortho"), norm="ortho")
        stepped = np.maximum(ahead - length * slope, 0.0)
        faster = (1 + np.sqrt(1 + 4 * pace**2)) / 2
        ahead = stepped + (pace - 1) / faster * (stepped - measure)
        measure, pace = stepped, faster
    return measure


def shrunk(totals: np.ndarray, series: GridSeries) -> np.ndarray:
    """Keep of each total what is not noise."""
    shares = [np.where(np.arange(2 * top + 1) > 0, 0.5, 1.0) for top in series.lattice.top]
    power = totals**2 + RANDOM * max(series.count, 1.0) * reduce(np.multiply.outer, shares)
    return totals * power / (power + LEFT * series.stderr**2)
