"""What the cells of a line hold, from noisy counts of overlapping runs of them. Pure functions of one column.

Counts y of runs of cells, with known noise, and a prior: the density changes little from a cell to the next (a random
walk), or its slope does, in parts of what is there about. Which of the two, and how little, is told by the counts
themselves, through their marginal likelihood: spikes stay, noise on a smooth density goes. All is linear and Gaussian,
so the covariance comes with it.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import isotonic_regression

from knoll.arrays import Floats, Integers

_PENALTIES = 4.0 ** np.arange(-5, 10)  # inverse variances that are tried, of a relative change between cells
_LOOSE = 1e-3  # inverse variance of what a cell holds, in units of what is expected, whatever its neighbours do


@dataclass(frozen=True)
class Counted:
    """Noisy counts of runs of cells: from `begin` to before `end`, and the variance of the noise."""

    begin: Integers
    end: Integers
    values: Floats
    variances: Floats

    def joined(self, other: "Counted") -> "Counted":
        """Return these counts and others."""
        pairs = ((getattr(self, name), getattr(other, name)) for name in ("begin", "end", "values", "variances"))
        return Counted(*(np.concatenate(pair) for pair in pairs))


@dataclass(frozen=True)
class Shape:
    """Cells of a line: their widths, about what they may hold, and whether the last is beside the first.

    What is expected sets the scale of changes only: noise in it moves no estimate up or down.
    """

    widths: Floats
    expected: Floats
    round: bool = False

    def steps(self) -> list[Floats]:
        """Return matrices of relative changes of density: from a cell to the next, and of the slope.

        For r, what cells hold in units of what is expected.
        """
        n = len(self.widths)
        if n < 4:
            return []
        density = self.expected / self.widths
        at = np.cumsum(self.widths) - self.widths / 2
        first = np.diff(np.diag(density), axis=0)
        gaps = np.diff(at)
        level = np.sqrt(density[:-1] * density[1:])
        slope = first / gaps[:, None]
        bent = np.diff(slope, axis=0) * ((gaps[:-1] + gaps[1:]) / 2 / density[1:-1])[:, None]
        return [first / level[:, None], bent]


@dataclass(frozen=True)
class Masses:
    """What each cell holds, and the covariance of the errors of that."""

    values: Floats
    covariance: Floats

    @property
    def total(self) -> tuple[float, float]:
        """The sum of all cells, and its variance."""
        return float(self.values.sum()), float(self.covariance.sum())

    def sums(self) -> tuple[Floats, Floats]:
        """Return what lies below each edge, the outer ones too, and the standard errors; not yet increasing."""
        below = np.concatenate([[0.0], np.cumsum(self.values)])
        spread = np.diag(np.cumsum(np.cumsum(self.covariance, axis=0), axis=1))
        return below, np.sqrt(np.maximum(np.concatenate([[0.0], spread]), 0.0))

    def with_total(self, total: float, variance: float) -> "Masses":
        """Return the masses after another measurement of their sum."""
        along = self.covariance.sum(axis=1)
        gain = along / (along.sum() + variance)
        values = self.values + gain * (total - self.values.sum())
        return Masses(values, self.covariance - np.outer(gain, along))

    def part(self, cells: slice) -> "Masses":
        """Return some of the cells."""
        return Masses(self.values[cells], self.covariance[cells, cells])


def fit_masses(counted: Counted, shape: Shape, extra: int = 0) -> Masses:
    """Return what cells hold.

    Parameters
    ----------
    counted : Counted
        Noisy counts.
    shape : Shape
        The cells, and about how much each may hold.
    extra : int
        Cells after those of the shape that have no neighbours.
    """
    expected = np.append(shape.expected, np.full(extra, shape.expected.mean()))
    cells = np.arange(len(expected))
    runs = ((cells >= counted.begin[:, None]) & (cells < counted.end[:, None])).astype(np.float64)
    scaled = runs * expected / np.sqrt(counted.variances)[:, None]  # in units of what is expected
    about = scaled.sum(axis=1)
    size = max(float(about @ (counted.values / np.sqrt(counted.variances))) / float(about @ about), 1e-9)
    expected, scaled = size * expected, size * scaled
    precision = scaled.T @ scaled
    told = scaled.T @ (counted.values / np.sqrt(counted.variances))
    values, covariance = _smoothed(precision, told, [np.pad(each, ((0, 0), (0, extra))) for each in shape.steps()])
    return Masses(values * expected, covariance * np.outer(expected, expected))


def _smoothed(precision: Floats, told: Floats, changes: list[Floats]) -> tuple[Floats, Floats]:
    """Return the posterior mean and covariance with the prior of the largest marginal likelihood."""
    loose = _LOOSE * np.eye(len(told))
    priors = [penalty * (each.T @ each) + loose for each in changes for penalty in _PENALTIES] or [loose]
    best, kept = -np.inf, None
    for prior in priors:
        factor = cho_factor(precision + prior, lower=True)
        mean = cho_solve(factor, told)
        sizes = np.log(np.diag(np.linalg.cholesky(prior))) - np.log(np.diag(factor[0]))
        evidence = float(sizes.sum() + told @ mean / 2)
        if kept is None or evidence > best:
            best, kept = evidence, (mean, factor)
    assert kept is not None
    return kept[0], cho_solve(kept[1], np.eye(len(told)))


def increasing(below: Floats, spread: Floats, total: float) -> Floats:
    """Return what lies below each edge as the nearest increasing numbers from 0 to the total."""
    weights = 1.0 / np.maximum(spread, 1e-3 * max(float(spread.max()), 1e-300)) ** 2
    found = isotonic_regression(below, weights=weights).x
    found = np.clip(found, 0.0, max(total, 0.0))
    found[0], found[-1] = 0.0, max(total, 0.0)
    return found
