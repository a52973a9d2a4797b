"""A released kernel sum, corrected by what is known of it: its records are a non-negative measure within the bounds.

    measure: the non-negative one in the bounds nearest to the released totals, each held to by its noise
    a few times: the power of each cosine of the measure, as it was found; the measure again, with cosines of that power
    keep of each total of the measure the share that is not noise

The totals of the records are those of such a measure, so the first step brings the whole vector of totals nearer to
them, in units of its noise. The second is empirical Bayes (relevance determination, by EM): a cosine of the bounds'
box has a Gaussian prior whose variance is its own square and what is uncertain of it, and no less than what n records
at random places give it; what is of the noise's size is thus damped and what is clear is left alone. The third does the
same for the totals themselves, whose waves go round the torus: with power P, the linear estimate of least squared
error keeps P / (P + noise^2) (Wiener). All of it is post-processing. What is gained is a sum nearer to the records'
own. What is lost is a noise of known size, so significance is judged on the released sum; and high frequencies are
damped, which is smoothing, so curves are not placed on it either.
"""

from dataclasses import dataclass, replace
from functools import cached_property, reduce

import numpy as np
from scipy.fft import dct, dctn, idctn

from knoll.series.series import GridSeries

PER_BANDWIDTH = 2.0  # cells of the measure to the narrowest bandwidth that the release serves
MOST_CELLS = 2**17
PASSES = 3  # the first with no prior, the others with the powers that the last one found
ROUNDS = 150  # of projected gradient steps, accelerated
LEFT = 0.5  # of the noise's variance, in the totals of the fitted measure
RANDOM = 2.0  # times the power of as many records at random places: what a cosine or a total is granted at least


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
    seen = Seen(series, [series.lattice.basis(j, middle) for j, middle in enumerate(middles)])
    return replace(series, totals=shrunk(seen.totals(likely(seen, max(series.count, 1.0))), series))


@dataclass(frozen=True)
class Seen:
    """What a release shows of a measure on a mesh: totals and their precision, and what leads from one to the other."""

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


def likely(seen: Seen, count: float) -> np.ndarray:
    """The non-negative measure that is likeliest, its cosines having the powers that it shows itself."""
    size = float(np.prod(seen.shape))
    measure = np.full(seen.shape, count / size)
    power = np.full(seen.shape, 2.0 ** len(seen.shape) * count**2 / size)  # no cosine of so many records has more
    for step in range(PASSES):
        measure = fitted(seen, measure, np.zeros(()) if step == 0 else 1 / power)
        power = dctn(measure, norm="ortho") ** 2 + power / (1 + power * seen.precision)
        power = np.maximum(power, RANDOM * max(float(measure.sum()), 1.0) / size)
    return measure


def fitted(seen: Seen, measure: np.ndarray, held: np.ndarray) -> np.ndarray:
    """The non-negative measure of least misfit plus half the squares of its cosines, each times what it is held by."""
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
