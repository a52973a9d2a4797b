"""Error bars of clusters from draws: noise and what the search may have missed, in one."""

import numpy as np

from knoll.numeric.bars import GUESS, Bars, clear_level, told_apart
from knoll.numeric.posterior.cells import CellFigures

# Bars are so many times wider: densities are no mixtures of round Gaussians (benchmarks/coverage, tuned kinds).
MARGIN, SIZE_MARGIN = 1.1, 1.1
CHANCE = 0.5  # of the error that as many records, drawn from the density, would make: what no Gaussian follows


def bars_of_draws(cells: CellFigures, half: np.ndarray, *, pure: bool = False) -> Bars:
    """Return the error bars of centres and sizes, in the metric of the fit; `half`: half the window."""
    count = np.maximum(cells.count, 1e-9)
    variance = cells.squares / count[:, None]
    own = CHANCE * np.sqrt(np.maximum(variance, 0.0) / count[:, None])
    small = 1 + np.minimum(cells.count_sd / count, 1.0)  # a mean is divided by an uncertain count
    error = np.minimum(MARGIN * small[:, None] * np.hypot(cells.mean_sd, own), 2 * half)
    sizes = SIZE_MARGIN * np.hypot(cells.count_sd, CHANCE * np.sqrt(count))
    seen = cells.count > clear_level(len(count), pure=pure) * cells.count_sd
    seen[seen] = told_apart(cells.centres[seen], cells.mean_sd[seen])
    known = seen[:, None] & (error < GUESS * half)
    return Bars(np.where(known, error, np.inf), sizes, known.any(axis=1))
