"""What a released kernel sum shows: its kernel, its field for Gaussians of several widths, its noise."""

from dataclasses import dataclass

import numpy as np

ENTRIES = 2048  # of a table of the kernel against the distance: between entries, it is right within 1e-4
# Records scatter about any mixture: so much of a Gaussian's expected records is added to the variance of the noise.
CHANCE = 0.5  # settled on kinds like the tuned ones of benchmarks/small
REACH = 24.0  # squared distance, in variances, beyond which a Gaussian counts as zero: it is below 1e-5 there


@dataclass(frozen=True)
class Kernel:
    """A sum of round Gaussians and a constant, with height one at zero.

    Attributes
    ----------
    constant : float
        The constant.
    heights, bandwidths : arrays of shape (n_parts,)
        Of the Gaussians, in the metric of the fit.
    """

    constant: float
    heights: np.ndarray
    bandwidths: np.ndarray

    def smeared(self, widths: np.ndarray, d: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the kernel between Gaussians of each pair of widths, in d columns, without the constant.

        Returns
        -------
        table : array of shape (n_widths, n_widths, ENTRIES + 1)
            At distances from zero to the root of `reach`, evenly.
        reach : array of shape (n_widths, n_widths)
        """
        both = np.square(widths)[:, None] + np.square(widths)
        variance = np.square(self.bandwidths)[:, None, None] + both  # (parts, widths, widths)
        reach = REACH * variance.max(axis=0)
        square = reach[..., None] * np.square(np.linspace(0.0, 1.0, ENTRIES + 1))
        lower = (np.square(self.bandwidths)[:, None, None] / variance) ** (d / 2) * self.heights[:, None, None]
        table = (lower[..., None] * np.exp(-square / (2 * variance[..., None]))).sum(axis=0)
        return table, reach


@dataclass(frozen=True)
class View:
    """A released kernel sum over a window, as Gaussians of several widths see it. All in the metric of the fit.

    Attributes
    ----------
    low : array of shape (d,)
        Lower corner of the window, from the middle of the bounds. It is the origin of all places.
    window : array of shape (d,)
        Lengths of the window.
    shape : tuple of int
        Nodes along each column, the first and the last on the window's borders.
    widths : array of shape (n_widths,)
        Standard deviations that a Gaussian may have.
    fields : array of shape (n_widths, n_nodes)
        The kernel sum at the nodes, averaged over a Gaussian of each width, in records.
    noise : float
        Standard error of the kernel sum.
    kernel : Kernel
        What one record adds; also the covariance of the noise, over its variance.
    spacing : float
        Usual distance of clusters.
    chance : float
        So much of a Gaussian's expected records is added to the variance of the noise.
    """

    low: np.ndarray
    window: np.ndarray
    shape: tuple[int, ...]
    widths: np.ndarray
    fields: np.ndarray
    noise: float
    kernel: Kernel
    spacing: float
    chance: float = CHANCE

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.window)

    @property
    def gap(self) -> np.ndarray:
        """Distance of neighbouring nodes."""
        return self.window / (np.array(self.shape) - 1)

    def thinned(self, step: int) -> "tuple[np.ndarray, np.ndarray, np.ndarray]":
        """Return every so many nodes along each column: their fields, their number and their distance."""
        grid = self.fields.reshape(len(self.widths), *self.shape)
        thin = grid[(slice(None), *(slice(None, None, step),) * self.n_columns)]
        return thin.reshape(len(self.widths), -1).copy(), np.array(thin.shape[1:]), step * self.gap
