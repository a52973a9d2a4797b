"""Where the tops of a released kernel sum are: each with a bandwidth of its own, and without its neighbours.

A top's place has variance H^-1 C H^-1: H is the Hessian, C the covariance of the gradient (noise and sampling). Wider
bandwidths have less variance and more bias, of two kinds:

    the tail of a neighbouring bump      is known if the bump is a Gaussian, and is subtracted
    a bump that is not symmetric         narrower bandwidths show it: the top moves

So each top is followed up and down the ladder. Its bandwidth minimises the variance plus a lower bound of the squared
bias, as narrower bandwidths show it (Goldenshluger and Lepski 2011). Down the ladder, noise can sharpen a top, so its
variance looks too small. There the variance is at least that of the top's Gaussian, and only a clear move counts.
After such a move some bias is left. It grows as the square of the bandwidth, so the last move tells its size
(Richardson). It is subtracted, and its size is added to the error. So is what the kernel hides (hidden_bias.py). All of
it is post-processing.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.stats import chi2

from knoll import progress
from knoll.series.ascent import polish
from knoll.series.base import Rungs, Surface
from knoll.series.hidden_bias import STEP, Path
from knoll.series.surroundings import Surroundings

MOST_CURVED = 32  # columns up to which curvatures are computed: a Hessian costs their square
FOLLOWED = 6  # quarter octaves that a top is followed up the ladder; downwards it is followed to the end
# Chance that noise alone explains a move between two bandwidths, above and below the rung: a smaller one takes fewer
# moves for bias.
CHANCE_UP, CHANCE_DOWN = 0.13, 0.005
# Limits of what is believed: the least curvature, relative to that of a single point, and the largest spread of
# records, in squared bandwidths.
FLATTEST, WIDEST = 0.02, 50.0

Sight = tuple[np.ndarray, np.ndarray, np.ndarray]
Derivatives = tuple[np.ndarray, np.ndarray, np.ndarray]


def settle(
    series: Rungs, points: np.ndarray, around: Surroundings, finest: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the places of tops and the covariance of each: against the modes of what the records are drawn from.

    With `finest`, the narrowest bandwidth of a ladder, each top gets its own bandwidth. Without, all use the series'.
    """
    clip = around.domain.clip
    d = points.shape[1]
    if not len(points) or d > MOST_CURVED:  # too many columns for Hessians
        return points, np.full((len(points), d, d), np.inf)
    points = polish(series, points, clip)
    bumps = Bumps.seen(series, points)
    if finest is None:
        first, narrower = _seen(series, points), []
    else:
        down = int(4 * np.log2(float((series.bandwidth / finest).min())) + 0.01)
        narrower = _followed(
            (series.at(series.bandwidth * 2 ** (-step / 4)) for step in range(1, down + 1)), points, clip, bumps
        )
        alone = Alone(series, bumps)
        first = _seen(alone, polish(alone, points, clip))
    wider = _followed(
        (Alone(series.at(series.bandwidth * 2 ** (step / 4)), bumps) for step in range(1, FOLLOWED + STEP + 1)),
        first[0], clip,
    )  # fmt: skip
    below = len(narrower)
    places, covariances, curves = (np.array(each) for each in zip(*narrower[::-1], first, *wider, strict=True))
    path = Path(places, covariances, curves, 2.0 ** ((np.arange(len(places)) - below) / 4)[:, None] * series.bandwidth)
    if finest is None:
        best, points, covariance = np.zeros(len(points), dtype=int), *first[:2]
    else:
        tried = slice(0, below + 1 + FOLLOWED)
        best, points, covariance = _least_risk(places[tried], covariances[tried], series.bandwidth, below)
    points = clip(points)
    every = np.arange(d)
    covariance[:, every, every] += path.hidden(best, points)
    return points, covariance


def seen_at(series: Surface, tops: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Heights of tops, at least as large as the noise, and their curvature in units of bandwidths, (m, d, d)."""
    value, _, hessian = series.derivatives(tops)
    return np.maximum(value, series.noise + 1e-300), -hessian * np.outer(series.bandwidth, series.bandwidth)


def _seen(view: Surface, points: np.ndarray) -> Sight:
    """Return places with their covariance, and curvature over height."""
    value, curve = seen_at(view, points)
    return points, place_variance(view, value, curve), curve / value[:, None, None]


def place_variance(series: Surface, value: np.ndarray, curve: np.ndarray) -> np.ndarray:
    """Covariance of the place of tops: noise and sampling error of the gradient through the Hessian, (m, d, d).

    The spread r h^2 of the records around a top is read off its curvature, S'' = S / (h^2 + r h^2), and with it the
    sampling variance of the gradient.
    """
    h, d = series.bandwidth, curve.shape[1]
    rate = np.trace(curve, axis1=1, axis2=2) / d / value
    r = np.clip(1 / np.maximum(rate, FLATTEST) - 1, 0.0, WIDEST)
    sampling = value * (1 + r) ** (d / 2) * (1 + 2 * r) ** (-d / 2) * r / (1 + 2 * r)
    spread = sampling[:, None] + (series.gradient_noise * h) ** 2
    with np.errstate(all="ignore"):
        turned = np.linalg.pinv(curve)
    return turned @ (spread[:, :, None] * np.eye(d)) @ turned * np.outer(h, h)


@dataclass(frozen=True)
class Bumps:
    """Gaussians that stand for the records around tops.

    Attributes
    ----------
    centres : array of shape (n_tops, n_columns)
    records : array of shape (n_tops,)
        How many records each stands for.
    covariances : array of shape (n_tops, n_columns, n_columns)
    """

    centres: np.ndarray
    records: np.ndarray
    covariances: np.ndarray

    @classmethod
    def seen(cls, series: Surface, tops: np.ndarray) -> "Bumps":
        """Read them off height and curvature at one bandwidth."""
        value, curve = seen_at(series, tops)
        rate, axes = np.linalg.eigh(curve / value[:, None, None])
        r = np.clip(1 / np.maximum(rate, FLATTEST) - 1, 0.0, WIDEST)
        spread = (axes * r[:, None]) @ np.swapaxes(axes, 1, 2) * np.outer(series.bandwidth, series.bandwidth)
        return cls(tops, value * np.sqrt((1 + r).prod(axis=1)), spread)

    def kernels(self, h: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Precisions of the kernel sums of the bumps at a bandwidth, and their heights."""
        precision = np.linalg.inv(self.covariances + np.diag(h**2))
        return precision, self.records * np.prod(h) * np.sqrt(np.linalg.det(precision))

    def others(self, points: np.ndarray, precision: np.ndarray, tops: np.ndarray) -> Derivatives:
        """Value, gradient and Hessian at point i of the kernel sum of all bumps but the i-th; see `kernels`."""
        away = points[:, None] - self.centres
        turned = np.einsum("jab,ijb->ija", precision, away)
        value = tops * np.exp(-np.einsum("ija,ija->ij", turned, away) / 2)
        np.fill_diagonal(value, 0.0)
        curve = np.einsum("ij,ija,ijb->iab", value, turned, turned) - np.einsum("ij,jab->iab", value, precision)
        return value.sum(axis=1), -np.einsum("ij,ija->ia", value, turned), curve

    def place_variance(self, view: Surface) -> np.ndarray:
        """`place_variance` at a bandwidth if each bump is a Gaussian without neighbours, (n_tops, d, d)."""
        h = view.bandwidth
        one, r = np.eye(len(h)), self.covariances / np.outer(h, h)
        value = self.records / np.sqrt(np.linalg.det(one + r))
        share = self.records / np.sqrt(np.linalg.det(one + 2 * r))
        spread = share[:, None, None] * (r @ np.linalg.inv(one + 2 * r)) + np.diag((view.gradient_noise * h) ** 2)
        turned = (one + r) / value[:, None, None]
        return turned @ spread @ turned * np.outer(h, h)


@dataclass(frozen=True)
class Alone:
    """A kernel sum as each top sees it without the others. Point i belongs to top i."""

    series: Surface
    bumps: Bumps

    @property
    def bandwidth(self) -> np.ndarray:
        """Of the kernel."""
        return self.series.bandwidth

    @property
    def noise(self) -> float:
        """Standard error of the privacy noise."""
        return self.series.noise

    @property
    def gradient_noise(self) -> np.ndarray:
        """Standard error of the noise of each partial derivative."""
        return self.series.gradient_noise

    @cached_property
    def _kernels(self) -> tuple[np.ndarray, np.ndarray]:
        return self.bumps.kernels(self.bandwidth)

    def derivatives(self, points: np.ndarray) -> Derivatives:
        """Value, gradient and Hessian."""
        whole, others = self.series.derivatives(points), self.bumps.others(points, *self._kernels)
        return whole[0] - others[0], whole[1] - others[1], whole[2] - others[2]


def _followed(
    views: Iterable[Surface], points: np.ndarray, clip: Callable[[np.ndarray], np.ndarray], bumps: Bumps | None = None
) -> list[Sight]:
    """Places of tops, their covariance (infinite once a top has vanished or merged) and curvature, by bandwidth."""
    found: list[Sight] = []
    last, alive = points, np.ones(len(points), dtype=bool)
    for view in views:
        progress.report("placing peaks", 0.0)
        moved = polish(view, last, clip, matters=alive)
        gap = np.linalg.norm((moved - last) / view.bandwidth, axis=1)
        others = np.linalg.norm((moved[:, None] - moved) / view.bandwidth, axis=-1) + 9 * np.eye(len(moved))
        value, curve = seen_at(view, moved)
        peaked = np.linalg.eigvalsh(curve)[:, 0] > 0
        alive = alive & peaked & (gap < 0.5) & (others.min(axis=1) > 0.5)
        if not alive.any():
            break
        covariance = place_variance(view, value, curve)
        if bumps is not None:
            least = bumps.place_variance(view)
            more = np.trace(least, axis1=1, axis2=2) > np.trace(covariance, axis1=1, axis2=2)
            covariance = np.where(more[:, None, None], least, covariance)
        last = np.where(alive[:, None], moved, last)
        found.append((last, np.where(alive[:, None, None], covariance, np.inf), curve / value[:, None, None]))
    return found


def _least_risk(places: np.ndarray, covariances: np.ndarray, unit: np.ndarray, below: int) -> Sight:
    """Per top, the index of its bandwidth, the place there, and its covariance.

    It is the bandwidth with the least variance plus squared bias, as narrower ones reveal it.

    Bandwidths come narrowest first, a quarter octave apart; the first `below` of them are narrower than the rung. A top
    whose best bandwidth is one of those is biased to one side; what is left of that bias is subtracted.
    """
    d = places.shape[2]
    variance = np.trace(covariances / np.outer(unit, unit), axis1=2, axis2=3)
    risk = variance.copy()
    times = chi2.isf(np.where(np.arange(len(places)) < below, CHANCE_DOWN, CHANCE_UP), d)[:, None] / d
    for wide in range(1, len(places)):
        moved = np.square((places[wide] - places[:wide]) / unit).sum(axis=2)
        known = np.where(np.isfinite(variance[wide]), variance[wide], 0.0)
        chance = times[:wide] * np.maximum(variance[:wide] - known, 0.0)
        risk[wide] += np.maximum(moved - chance, 0.0).max(axis=0)
    best, top = risk.argmin(axis=0), np.arange(places.shape[1])
    wider = np.minimum(best + 2, np.maximum(best, below))
    ratio = 2.0 ** ((wider - best) / 2)  # ratio of squared bandwidths
    lean = (places[wider, top] - places[best, top]) / np.where(ratio > 1, ratio - 1, 1.0)[:, None]
    return best, places[best, top] - lean, covariances[best, top] + lean[:, :, None] * lean[:, None]
