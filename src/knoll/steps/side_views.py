"""The places of modes in many columns: a histogram of each column for the records around each mode, in one release.

What one record changes. It lies in the cell of the nearest mode (or of the nearest piece of a first look that is
around none), and casts at most one vote in each column: `CellHistograms` bounds the norm by sqrt(d), or d with Laplace
noise. Modes, pieces and widths are released before. Places are post-processing (series/side_views.py).
"""

import numpy as np

from knoll.privacy import Ask, Grant
from knoll.queries import Box, CellHistograms, Nearest
from knoll.series.side_views import BINS, PER_WIDTH, SideViews
from knoll.series.surroundings import Surroundings
from knoll.series.survey import MOST_PEAKS
from knoll.steps.first_look import Look
from knoll.steps.pieces import MOST

# In all other columns a record must be within so many widths of the mode to be counted: where columns depend on each
# other, that is nearer to what the mode is; a smaller figure leaves fewer records.
NEAR = 2.0


def side_asks(n_columns: int, share: float) -> list[Ask]:
    """Return the most that `release_places` asks."""
    domain, at = Box((-1.0,) * n_columns, (1.0,) * n_columns), np.zeros((1, n_columns))
    probe = CellHistograms(Nearest(at, domain), domain, at, at + 1.0, BINS, NEAR * PER_WIDTH)
    return [Ask.like(probe, MOST_PEAKS + MOST, share=share)]


def release_places(grant: Grant, around: Surroundings, look: Look, modes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Release how records spread around modes; return where the modes are, and the standard errors of that."""
    m, (widths, others) = len(modes), look.around(modes)
    usual = np.median(widths, axis=0)
    width = np.vstack([widths, np.tile(usual, (len(others), 1))]) / PER_WIDTH
    cells = Nearest(np.vstack([modes, others]), around.domain, usual)
    low = cells.centres - width * BINS / 2
    released = grant.release(CellHistograms(cells, around.domain, low, width, BINS, NEAR * PER_WIDTH))
    sigma = float(np.max(released.stderr))
    found = [SideViews.of(each, sigma).placed() for each in released.value[:m]]
    at, variance = (np.array(each) for each in zip(*found, strict=True))
    return around.domain.clip(low[:m] + width[:m] * at), np.sqrt(variance) * width[:m]
