"""From centres to a mixture: the moments of the records in each centre's cell, and the Gaussians they make.

widths    release count, displacement and squares per cell, clipped to what the bounds and centres suggest
moments   release count, displacement and products per cell, clipped to each cell's released widths
mixture   draw covariances to their mean, and that to its diagonal, as far as they are noise: free
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from knoll.cluster.means import CellMeans
from knoll.cluster.shape import Asking, Shapes, ellipsoid
from knoll.estimator import Room
from knoll.mixture.mixture import Mixture
from knoll.queries import ComponentMoments, Frame, Gaussians, Nearest
from knoll.queries.components import COARSE, FINE

WIDTHS = Asking("widths of cells", count=0.5, squares=0.5, bias=0.0)
WIDTHS_PART = 0.2  # of what moments may spend
UNKNOWN_WIDTH = 0.3  # standard deviation of a cell, in half widths of the bounds, before anything is known
CLIP = 3.0  # squared clip radius of whitened displacements: d + CLIP sqrt(2 d)
POOLED = 1 / 3  # least part of the mean covariance in every cell's
SEEN = 2.0  # a cell is seen if its count is this many standard errors
MOST_FULL = 64  # columns up to which products of columns are released
_MOST_NOISE = 2.0**48  # noise scale, in grid units, above which the coarse grid is used


@dataclass(frozen=True)
class CellMixture:
    """A mixture of the cells that can be seen, the standard errors of its noise, and its number of records.

    Attributes
    ----------
    counts, counts_stderr : arrays of shape (k,)
        Released counts and the standard error of their noise.
    means_stderr : array of shape (k, d)
        Standard error of the means' noise.
    noise : array of shape (k,)
        Standard error of an entry of a covariance, in units where the cell has covariance one.
    mixture : Mixture
        The mixture.
    """

    mixture: Mixture
    counts: np.ndarray
    counts_stderr: np.ndarray
    means_stderr: np.ndarray
    noise: np.ndarray

    def redrawn(self, floor: np.ndarray, rng: np.random.RandomState) -> Mixture:
        """Return the mixture with noise of the released size added once more."""
        m, (k, d) = self.mixture, self.mixture.means.shape
        counts = np.maximum(self.counts + self.counts_stderr * rng.standard_normal(k), 0.1 * self.counts)
        means = m.means + self.means_stderr * rng.standard_normal((k, d))
        noise = rng.standard_normal((k, d, d)) * self.noise[:, None, None]
        noise = np.tril(noise) + np.tril(noise, -1).transpose(0, 2, 1)
        roots = np.linalg.cholesky(m.covariances)
        # a covariance keeps a tenth of itself in every direction, as drawn ones do
        values, vectors = np.linalg.eigh(np.eye(d) + noise)
        inner = (vectors * np.maximum(values, 0.1)[:, None, :]) @ vectors.transpose(0, 2, 1)
        return Mixture.nearest(counts / counts.sum(), means, roots @ inner @ roots.transpose(0, 2, 1), floor)


def release_cell_mixture(room: Room, means: CellMeans, share: float, floor: np.ndarray) -> CellMixture:
    """Release the moments of the cells of centres with a share of the budget and return the mixture they make."""
    cells = Nearest(means.centres, room.domain, room.scales)
    widths = _widths(room, means, cells, WIDTHS_PART * share)
    seen = _moments(room, cells, widths, (1 - WIDTHS_PART) * share)
    return _mixture(room, cells.centres, seen, floor)


def _widths(room: Room, means: CellMeans, cells: Nearest, share: float) -> np.ndarray:
    """Release variances per cell and column; uncertain ones are drawn to the mean over cells."""
    frame = Frame(room.domain, room.scales)
    at = (cells.centres - room.domain.centre) / room.scales
    guess = np.broadcast_to((UNKNOWN_WIDTH * frame.half) ** 2, at.shape)
    axes, radii = ellipsoid(guess)
    seen = WIDTHS.ask(room.curator, share, cells, frame, at, axes, radii)
    return _drawn_widths(seen, guess, frame.half) * room.scales**2


def _drawn_widths(seen: Shapes, guess: np.ndarray, half: np.ndarray) -> np.ndarray:
    n = np.maximum(seen.count, SEEN * seen.count_sd)[:, None]
    total = float(n.sum())
    least = (1e-3 * half) ** 2
    spread = seen.squares - seen.sums**2 / n
    pooled_error = np.sqrt(np.square(seen.squares_sd).sum(axis=0)) / total
    pooled = np.clip(spread.sum(axis=0) / total, np.maximum(pooled_error, least), guess[0] / UNKNOWN_WIDTH**2)
    gain = np.square(pooled) / (np.square(pooled) + np.square(seen.squares_sd / n))
    return np.clip(pooled + gain * (spread / n - pooled), np.maximum(0.1 * pooled, least), 10 * pooled)


@dataclass(frozen=True)
class _Moments:
    """Released counts, mean displacements and covariances in units of each cell's widths, and their noise."""

    widths: np.ndarray
    counts: np.ndarray
    counts_sd: np.ndarray
    moves: np.ndarray
    moves_sd: np.ndarray
    spreads: np.ndarray
    spreads_sd: np.ndarray


def _moments(room: Room, cells: Nearest, widths: np.ndarray, share: float) -> _Moments:
    k, d = widths.shape
    roots = np.sqrt(widths)[:, :, None] * np.eye(d)
    radii = np.full(k, np.sqrt(d + CLIP * np.sqrt(2 * d)))
    products: Any = "full" if d <= MOST_FULL else "diag"
    for bits, _ in (FINE, COARSE):
        gaussians = Gaussians(room.domain, np.ones(k), cells.centres, roots, radii, bits)
        query = ComponentMoments(gaussians, cells=cells, soft=False, products=products)
        if np.max(room.curator.stderr(query, share) * query.weights / query.step) < _MOST_NOISE:
            break
    released = room.curator.release(query, share)
    value, error = released.value, released.stderr
    n = np.maximum(value[:, 0], SEEN * error[:, 0])
    moves = value[:, 1 : 1 + d] / n[:, None]
    spreads = np.zeros((k, d, d))
    rows, columns = query.pairs
    spreads[:, rows, columns] = spreads[:, columns, rows] = value[:, 1 + d :] / n[:, None]
    away = moves[:, :, None] * moves[:, None, :]
    spreads -= away if products == "full" else away * np.eye(d)
    return _Moments(
        widths,
        value[:, 0],
        error[:, 0],
        moves,
        error[:, 1] / n,
        spreads,
        np.sqrt(np.mean(error[:, 1 + d :] ** 2, 1)) / n,
    )


def _mixture(room: Room, centres: np.ndarray, seen: _Moments, floor: np.ndarray) -> CellMixture:
    """Draw covariances to their mean by how much of their difference is noise, at least by `POOLED`."""
    visible = seen.counts > SEEN * seen.counts_sd
    visible[seen.counts.argmax()] = True
    n = np.maximum(seen.counts, SEEN * seen.counts_sd)[visible]
    share, d = n / n.sum(), centres.shape[1]
    width = np.sqrt(seen.widths[visible])
    noise = seen.spreads_sd[visible]
    size = width[:, :, None] * width[:, None, :]
    covariances = seen.spreads[visible] * size
    pooled = np.tensordot(share, covariances, 1)
    error = np.tensordot(share**2, np.square(noise[:, None, None] * size), 1)
    pooled = _drawn_to_diagonal(pooled, error, floor)
    # what is left of a difference that is all noise: nothing
    difference = (covariances - pooled) / size
    spurious = np.square(noise) * d * d
    drawn = np.clip(spurious / np.maximum(np.square(difference).sum(axis=(1, 2)), 1e-300), POOLED, 1.0)
    covariances = covariances + drawn[:, None, None] * (pooled - covariances)
    moves_sd = width * seen.moves_sd[visible][:, None]
    means = room.domain.clip(centres[visible] + width * seen.moves[visible])
    mixture = Mixture.nearest(share, means, covariances, floor)
    left = np.maximum(1 - drawn, 0.0) * noise
    return CellMixture(mixture, n, seen.counts_sd[visible], moves_sd, left)


def _drawn_to_diagonal(covariance: np.ndarray, error: np.ndarray, floor: np.ndarray) -> np.ndarray:
    """Draw a covariance to its diagonal by the part of its off-diagonal entries that is noise (variances `error`)."""
    diagonal = np.maximum(np.diag(covariance), np.maximum(np.sqrt(np.diag(error)), floor))
    scale = np.sqrt(np.outer(diagonal, diagonal))
    off = 1 - np.eye(len(covariance))
    energy = float((np.square(covariance / scale) * off).sum())
    spurious = float((error / scale**2 * off).sum())
    keep = max(0.0, 1 - spurious / energy) if energy > 0 else 0.0
    lifted = np.clip(covariance, -0.999 * scale, 0.999 * scale) * off * keep + np.diag(diagonal)
    return lifted
