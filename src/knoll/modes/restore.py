"""A released kernel sum, corrected by what is known of it: its records are a non-negative measure within the bounds.

    project the released totals on those that a non-negative measure in the bounds can have, each held to by its noise
    keep of each total the share that is not noise

The totals of the records are in that set, so the projection brings the whole vector of totals nearer to them, in units
of its noise. A total then has a square of at least what n records at random places give it; the linear estimate of
least squared error keeps P / (P + noise^2) of a total of power P (Wiener). Both steps are post-processing. What is
gained is a sum nearer to the records' own. What is lost is a noise of known size, so significance is judged on the
released sum; and high frequencies are damped, which is smoothing, so curves are not placed on it either.
"""

from dataclasses import replace

import numpy as np

from knoll.modes.series import GridSeries

PER_BANDWIDTH = 2.0  # cells of the measure to the narrowest bandwidth that the release serves
MOST_CELLS = 2**17
ROUNDS = 150  # of projected gradient steps, accelerated


def restored(series: GridSeries, low: np.ndarray, high: np.ndarray, finest: np.ndarray) -> GridSeries:
    """Return the sum with its totals projected and shrunk.

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
    bases = [series.lattice.basis(j, middle) for j, middle in enumerate(middles)]
    return replace(series, totals=shrunk(projected(series, bases), series))


def projected(series: GridSeries, bases: list[np.ndarray]) -> np.ndarray:
    """Totals of the non-negative measure on a mesh that is nearest to the released ones, in units of their noise."""
    known = series.stderr > 0
    weight = np.where(known, 1 / np.where(known, series.stderr, 1.0) ** 2, 0.0)

    def forward(measure: np.ndarray) -> np.ndarray:
        for basis in bases:
            measure = np.tensordot(measure, basis, axes=(0, 0))
        return measure

    def back(totals: np.ndarray) -> np.ndarray:
        for basis in bases:
            totals = np.tensordot(totals, basis, axes=(0, 1))
        return totals

    vector = np.ones([len(basis) for basis in bases])
    for _ in range(20):  # the steepest curvature, by power iteration
        vector = back(weight * forward(vector))
        steepest = float(np.linalg.norm(vector))
        vector /= steepest
    measure = np.full(vector.shape, max(series.count, 0.0) / vector.size)
    ahead, pace = measure, 1.0
    for _ in range(ROUNDS):
        stepped = np.maximum(ahead - back(weight * (forward(ahead) - series.totals)) / (1.05 * steepest), 0.0)
        faster = (1 + np.sqrt(1 + 4 * pace**2)) / 2
        ahead = stepped + (pace - 1) / faster * (stepped - measure)
        measure, pace = stepped, faster
    return np.where(known, forward(measure), 0.0)


def shrunk(totals: np.ndarray, series: GridSeries) -> np.ndarray:
    """Keep of each total what is not noise, its power being at least that of as many records at random places."""
    mean_square = np.ones(())
    for top in series.lattice.top:
        mean_square = np.multiply.outer(mean_square, np.where(np.arange(2 * top + 1) > 0, 0.5, 1.0))
    power = np.maximum(totals**2, max(series.count, 1.0) * mean_square)
    return totals * power / (power + series.stderr**2)
