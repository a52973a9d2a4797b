"""Figures of one column from what its cells hold: shares, quantiles, a mean; each with the error of the noise.

Pure functions of released values. Shares, quantiles and means are of the records that have a value.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.interpolate import PchipInterpolator

from knoll.arrays import Floats
from knoll.numeric.cell_masses import Masses, increasing

QUANTILES = (0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99)
_POINTS = 16  # of the curve within each cell
_ATOM = 4.0  # times the density of its neighbours: a cell may hold one value many times
_FEWEST = 1.0  # records that shares are of, at least: nobody divides by less


@dataclass(frozen=True)
class Figures:
    """Figures of one column, in its encoded values.

    Attributes
    ----------
    shares, errors : arrays of shape (n_cells,)
        Of the cells.
    quantiles, low, high : arrays of shape (n_quantiles,)
        At `QUANTILES`, and how far each may be off by two standard errors; none for levels without order.
    mean, mean_error : float
        In the user's terms.
    """

    shares: Floats
    errors: Floats
    quantiles: Floats
    low: Floats
    high: Floats
    mean: float = 0.0
    mean_error: float = 0.0


@dataclass(frozen=True)
class OnLine:
    """What the cells of a line hold, and the missing values last."""

    masses: Masses

    @property
    def total(self) -> tuple[float, float]:
        """All records, and the variance of that."""
        return self.masses.total

    def with_total(self, total: float, variance: float) -> "OnLine":
        """Return the same after all records were counted once more."""
        return OnLine(self.masses.with_total(total, variance))

    def missing(self, records: float) -> tuple[float, float]:
        """Return the share of missing values and its standard error."""
        return _share(self.masses.values[-1], self.masses.covariance, records)

    def figures(self, edges: Floats, decode: Callable[[Floats], Floats]) -> Figures:
        """Return the figures of cells between edges."""
        masses = self.masses.part(slice(0, -1))
        below, spread = masses.sums()
        total = max(float(below[-1]), _FEWEST)
        found = increasing(below, spread, total) / total
        middle, low, high = _quantiles(found, edges, _errors_below(masses, found, total), total)
        shares = np.diff(found)
        mean = _mean(masses, decode((edges[:-1] + edges[1:]) / 2), total)
        return Figures(shares, _share_errors(masses, shares, total), middle, low, high, *mean)


@dataclass(frozen=True)
class OnLevels:
    """Counts of levels, and of missing values last: covariance v I - c, so that many levels need no matrix."""

    counts: Floats
    variance: float
    common: float = 0.0

    @property
    def total(self) -> tuple[float, float]:
        """All records, and the variance of that."""
        n = len(self.counts)
        return float(self.counts.sum()), n * self.variance - n**2 * self.common

    def with_total(self, total: float, variance: float) -> "OnLevels":
        """Return the same after all records were counted once more (before any other such count)."""
        n = len(self.counts)
        gain = self.variance / (n * self.variance + variance)
        return OnLevels(self.counts + gain * (total - self.counts.sum()), self.variance, gain * self.variance)

    def missing(self, records: float) -> tuple[float, float]:
        """Return the share of missing values and its standard error."""
        n = len(self.counts)
        along = self.variance - n * self.common
        share = float(np.clip(self.counts[-1] / max(records, _FEWEST), 0.0, 1.0))
        variance = self.variance - self.common - 2 * share * along + share**2 * n * along
        return share, float(np.sqrt(max(variance, 0.0)) / max(records, _FEWEST))

    def figures(self, edges: Floats, decode: Callable[[Floats], Floats]) -> Figures:
        """Return shares of the levels: the nearest of which none is below zero."""
        counts, n = self.counts[:-1], len(self.counts) - 1
        total = max(float(counts.sum()), _FEWEST)
        shares, along = _on_simplex(counts / total), self.variance - n * self.common
        variance = self.variance - self.common - 2 * shares * along + shares**2 * n * along
        none = np.zeros(0)
        return Figures(shares, np.sqrt(np.maximum(variance, 0.0)) / total, none, none, none)


def _share(part: float, covariance: Floats, records: float) -> tuple[float, float]:
    """Return the share of the last cell among all, and its standard error."""
    share = float(np.clip(part / max(records, _FEWEST), 0.0, 1.0))
    variance = covariance[-1, -1] - 2 * share * covariance[-1].sum() + share**2 * covariance.sum()
    return share, float(np.sqrt(max(variance, 0.0)) / max(records, _FEWEST))


def _quantiles(below: Floats, edges: Floats, errors: Floats, total: float) -> tuple[Floats, Floats, Floats]:
    """Return where shares of the records lie below, and how far off that may be by two standard errors.

    Three things are not known: the noise of what lies below the edges; the density within a cell, about the difference
    of two ways to draw a line between the edges; and the records themselves, which do not follow any density exactly.

    Parameters
    ----------
    below, errors : arrays of shape (n_edges,)
        The share below each edge, which does not decrease, and its standard error.
    edges : array of shape (n_edges,)
        The edges.
    total : float
        Number of records.
    """
    at, held = np.array(QUANTILES), np.diff(below)
    part = (np.arange(len(held) * _POINTS + 1) % _POINTS) / _POINTS
    fine = np.interp(np.arange(len(part)) / _POINTS, np.arange(len(edges)), edges)
    curve = np.maximum.accumulate(np.clip(PchipInterpolator(edges, below)(fine), 0.0, 1.0))
    chord, atoms = np.interp(fine, edges, below), _atoms(held, edges)
    curve = np.where(np.append(np.repeat(atoms, _POINTS), False), chord, curve)
    within = np.append(np.repeat(held, _POINTS), 0.0) * part * (1 - part) / total
    spread = np.sqrt(np.interp(fine, edges, errors) ** 2 + within + (curve - chord) ** 2)
    middle = _crossing(curve, fine, at)
    noise = 2 * np.interp(middle, fine, spread)
    low, high = (_crossing(curve, fine, np.clip(at + side, 0.0, 1.0)) for side in (-noise, noise))
    cell = np.clip(np.searchsorted(edges, middle, side="right") - 1, 0, len(held) - 1)
    first, last = np.where(atoms[cell], [edges[cell], edges[cell + 1]], middle)
    return middle, np.minimum(low, first), np.maximum(high, last)


def _crossing(curve: Floats, places: Floats, at: Floats) -> Floats:
    """Return where a curve that does not decrease reaches some heights; flat parts at its ends are left out."""
    kept = np.ones(len(curve), dtype=bool)
    kept[1:-1] = (np.diff(curve)[:-1] > 0) | (np.diff(curve)[1:] > 0)
    return np.interp(at, curve[kept], places[kept])


def _atoms(held: Floats, edges: Floats) -> Any:
    """Return which cells hold far more than their neighbours: one value, maybe, and nobody knows where in the cell."""
    density = np.concatenate([[0.0], held / np.diff(edges), [0.0]])
    return density[1:-1] > _ATOM * np.maximum(density[:-2], density[2:])


def _errors_below(masses: Masses, below: Floats, total: float) -> Floats:
    """Return the standard error of the share below each edge: that of F - p N, over N."""
    sums = np.pad(np.cumsum(np.cumsum(masses.covariance, axis=0), axis=1), ((1, 0), (1, 0)))
    variance = np.diag(sums) - 2 * below * sums[:, -1] + below**2 * sums[-1, -1]
    return np.sqrt(np.maximum(variance, 0.0)) / total


def _share_errors(masses: Masses, shares: Floats, total: float) -> Floats:
    along = masses.covariance.sum(axis=1)
    variance = np.diag(masses.covariance) - 2 * shares * along + shares**2 * along.sum()
    return np.sqrt(np.maximum(variance, 0.0)) / total


def _on_simplex(values: Floats) -> Floats:
    """Return the nearest numbers that sum to one, none of them below zero."""
    falling = np.sort(values)[::-1]
    excess = (np.cumsum(falling) - 1.0) / np.arange(1, len(values) + 1)
    shift = excess[np.flatnonzero(falling > excess)[-1]]
    return np.maximum(values - shift, 0.0)


def _mean(masses: Masses, middles: Floats, total: float) -> tuple[float, float]:
    """Return the mean of the records, as if those of a cell were at its middle, and its standard error."""
    mean = float(np.clip(masses.values @ middles / total, middles.min(), middles.max()))
    offset = middles - mean
    return mean, float(np.sqrt(max(float(offset @ masses.covariance @ offset), 0.0)) / total)
