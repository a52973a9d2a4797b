"""A mode seen from the side: along each column, how the records around it spread. Pure functions of released values.

In many columns, a kernel that is narrow enough to tell on which side of a mode the long tail is holds hardly a record.
A histogram of one column holds them all. Where columns are independent around a mode, the mode of the density is that
of each column. Where they are skewed and depend on each other, the two differ by about as much as the columns are
skewed: nobody can tell, so the error allows for it.

The top of a bump of width s with third cumulant c, smoothed with bandwidth h, is at mean - c / 2 (s^2 + h^2)
(Edgeworth). So the move from a wide bandwidth to the narrow one of the settled top tells how far it still is from the
mode: LEAN times that move.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from knoll.queries import Box, Lattice
from knoll.series.ascent import polish
from knoll.series.base import BaseSeries
from knoll.series.place import place_variance, seen_at, settle
from knoll.series.series import GridSeries
from knoll.series.surroundings import Surroundings

# Settled on made-up columns, normal, t, gamma and log-normal; benchmarks/small/modes.py measures them on others.
BINS, PAD = 27, 12  # of a window, and between its ends round the torus
PER_WIDTH = 3.0  # bins to the width of a group: finer ones are noisier
RUNG, FINEST = 1.0, 0.5  # bandwidths, over the width of a group: at which a top is looked for, and the least
REACH = 2.0  # widths from the middle of the window within which a top is looked for
APART = 8  # periods from one view to the next: they must not see each other
USUAL = 0.6  # distance of a mode from the top of the kernel sum that is usual, in widths
WIDE, LEAN = 2.0, 0.4  # the wide bandwidth, in widths; what the move from it leaves to go, as a part of it
DEPENDENT = 0.8  # error that dependent columns can make, over how far columns are skewed


@dataclass(frozen=True)
class SideViews(BaseSeries):
    """Histograms of all columns around one mode, as kernel sums along one line; view j lies j * APART periods along it.

    Parameters
    ----------
    template : GridSeries
        Lattice, noise and bandwidth of every view, in bins.
    totals : array of shape (n_columns, n_features)
        Fourier totals of the views.
    """

    template: GridSeries
    totals: np.ndarray

    @classmethod
    def of(cls, counts: np.ndarray, sigma: float) -> "SideViews":
        """Return the views of released counts, (n_columns, BINS), with noise of standard error `sigma`."""
        cells = BINS + PAD
        top = (cells - 1) // 2
        box = Box((0.0,), (float(BINS),))
        lattice = Lattice(box, np.zeros(1), np.full(1, float(BINS)), np.full(1, float(PAD)), (top,), (cells,))
        basis = lattice.basis(0, np.arange(BINS, dtype=np.float64) + 0.5)
        share = np.where(np.arange(2 * top + 1) > 0, 0.5, 1.0) * cells
        template = GridSeries(lattice, np.zeros(2 * top + 1), sigma * np.sqrt(share), np.full(1, RUNG * PER_WIDTH))
        return cls(template, counts @ basis)

    @property
    def bandwidth(self) -> np.ndarray:  # type: ignore[override]
        """Of the kernel, in bins."""
        return self.template.bandwidth

    @property
    def noise(self) -> float:
        """Standard error of the privacy noise."""
        return self.template.noise

    @property
    def gradient_noise(self) -> np.ndarray:
        """Standard error of the noise of a slope."""
        return self.template.gradient_noise

    @property
    def offsets(self) -> np.ndarray:
        """Where the windows begin on the line, (n_columns, 1)."""
        return np.asarray(APART * self.template.lattice.period * np.arange(len(self.totals))[:, None])

    def at(self, bandwidth: np.ndarray) -> "SideViews":
        """Return the same views at another bandwidth."""
        return replace(self, template=self.template.at(bandwidth))

    def clip(self, points: np.ndarray) -> np.ndarray:
        """Keep point j in the window of view j."""
        return np.clip(points, self.offsets, self.offsets + BINS)

    @cached_property
    def _coefficients(self) -> np.ndarray:
        return np.asarray(self.totals * self.template._gain)

    def _evaluate(self, points: np.ndarray, orders: Sequence[tuple[int, ...]]) -> np.ndarray:
        """Point j is one of view j."""
        lattice = self.template.lattice
        bases = lattice.bases(0, points[:, 0], lattice.top[0], 2)
        return np.stack([np.einsum("pf,pf->p", bases[len(order)], self._coefficients) for order in orders], axis=1)

    def highest(self) -> np.ndarray:
        """Return the highest point of each view near the middle, (n_columns, 1)."""
        mesh = BINS / 2 + REACH * PER_WIDTH * np.linspace(-1.0, 1.0, 65)
        basis = self.template.lattice.basis(0, mesh)
        return np.asarray(self.offsets + mesh[(self._coefficients @ basis.T).argmax(axis=1)][:, None])

    def settled(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the mode of each view, in bins from the window's beginning, and its variance."""
        around = Surroundings(self, np.ones(1), False, 0)
        at, covariance = settle(self, self.highest(), around, np.full(1, FINEST * PER_WIDTH))
        return (at - self.offsets)[:, 0], covariance[:, 0, 0]

    def tops(self, bandwidth: float, near: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the tops at a bandwidth, near points, and their variances."""
        view = self.at(np.full(1, bandwidth))
        at = polish(view, near[:, None] + self.offsets, self.clip)
        return (at - self.offsets)[:, 0], place_variance(view, *seen_at(view, at))[:, 0, 0]

    def placed(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the place of the mode along each column and its variance, in bins.

        A place is drawn to the middle of its window, where the kernel sum has the mode, as far as it is noise.
        """
        at, variance = self.settled()
        usual = (USUAL * PER_WIDTH) ** 2
        known = np.where(np.isfinite(variance), usual / (usual + variance), 0.0)
        variance = np.where(known > 0, known * np.where(known > 0, variance, 0.0), usual)
        at = BINS / 2 + known * (at - BINS / 2)
        wide, noise = self.tops(WIDE * PER_WIDTH, at)
        skew = at - wide
        lean = LEAN * usual / (usual + variance + noise)
        dependent = DEPENDENT**2 * max(float((np.square(skew) - noise).mean()), 0.0)
        return at + lean * skew, variance + lean**2 * noise + dependent
