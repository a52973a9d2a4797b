"""Covariances of several components from noisy ones: what is likely, and positive definite.

The noise of a measured covariance is known. In coordinates in which the covariance was guessed to be the identity it is
the same in all directions: entries on the diagonal have a variance s, the others s / 2. So the part of what components
differ in that is no noise is known as well, and every number is drawn to what it shares with others by the part of its
spread that is noise (random effects, their variances by moments):

    variances     what the column has in all components, times a factor for each component
    correlations  what all components share, and that to zero
    eigenvalues   no variance is negative: the mean of what is left of the bell curve above zero

Everything here is post-processing of released values.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import log_ndtr

from knoll.queries.components import DIAGONAL, OFF

SURE = 0.1  # relative variances of noise below this weigh about alike where the spread of components is estimated
FAR, FAR_MEAN = -5.0, 0.187  # the mean above zero of a bell curve whose middle is this far below; nearly constant there
NO_NOISE = 1e-12


@dataclass(frozen=True)
class Measured:
    """Noisy covariances (k, d, d) with the variances (k,) of their noise, in coordinates whitened by `before`.

    `sizes` are records of each component; `known` says which were measured at all.
    """

    covariances: np.ndarray
    before: np.ndarray
    noise: np.ndarray
    sizes: np.ndarray
    known: np.ndarray


def likely_variances(measured: Measured, least: float) -> np.ndarray:
    """Return variances of each column, (k, d): drawn to those of the column in all components, times a factor each.

    None is below `least` times what it was before.
    """
    raw, before = (np.einsum("kii->ki", each) for each in (measured.covariances, measured.before))
    k, d = raw.shape
    if k == 1 or d == 1 or not measured.known.any():
        return np.maximum(raw, least * before)
    share = np.maximum(measured.sizes, 0.0) + 1e-9
    column = (share / share.sum()) @ np.maximum(raw, least * before)
    ratio, noise = raw / column, measured.noise[:, None] * np.square(before / column) + NO_NOISE
    size = np.maximum((ratio / noise).sum(axis=1) / (1 / noise).sum(axis=1), least)[:, None]
    shape, noise = ratio / size, noise / np.square(size)
    weight = measured.known[:, None] / np.square(noise + SURE)
    spread = max(float((weight * (np.square(shape - 1) * d / (d - 1) - noise)).sum() / weight.sum()), 0.0)
    keep = np.where(measured.known[:, None], spread / (spread + noise), 1.0)
    likely = above_zero(1 + keep * (shape - 1), np.sqrt(keep * noise))
    return np.maximum(likely * size * column, least * before)


def likely_correlations(measured: Measured, variances: np.ndarray, *, shared: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return correlation matrices, positive definite, and how far they were drawn to what is shared, (k,).

    A correlation r has noise of variance t (1 + r^2), if t is that of a zero one. `shared` says whether components may
    have correlations in common. A component that was never measured loses its own.
    """
    d = variances.shape[1]
    off, pairs = 1 - np.eye(d), d * (d - 1)
    wide = np.sqrt(variances)
    r = measured.covariances / (wide[:, :, None] * wide[:, None, :]) * off
    ratio = np.einsum("kii->ki", measured.before) / variances
    noise = measured.noise[:, None, None] * (DIAGONAL / OFF) ** 2 * ratio[:, :, None] * ratio[:, None, :]
    noise = noise * (1 + np.square(np.clip(r, -1.0, 1.0))) + NO_NOISE
    typical = (noise * off).sum(axis=(1, 2)) / pairs
    energy = np.square(r).sum(axis=(1, 2)) / pairs
    common = _in_common(r, typical, measured.known) if shared else 0.0
    own = np.where(measured.known, np.maximum(energy - typical - common, 0.0), 0.0)[:, None, None]
    precision = measured.known[:, None, None] / (own + noise)
    middle = (precision * r).sum(axis=0) / (precision.sum(axis=0) + 1 / max(common, NO_NOISE))
    drawn = (middle + own / (own + noise) * (r - middle)) * off * measured.known[:, None, None]
    kept = (drawn * r).sum(axis=(1, 2)) / np.maximum(energy * pairs, 1e-300)
    shrinkage = np.where(measured.known, np.where(energy > 0, np.clip(1 - kept, 0.0, 1.0), 0.0), 1.0)
    values, vectors = np.linalg.eigh(drawn + np.eye(d))
    flat = own[:, 0, 0]
    values = above_zero(values, np.sqrt(2 * flat * typical / (flat + typical))[:, None])
    return (vectors * values[:, None, :]) @ vectors.transpose(0, 2, 1), shrinkage


def _in_common(r: np.ndarray, noise: np.ndarray, known: np.ndarray) -> float:
    """Return the mean square of what components' correlations share: products of two of them hold no noise."""
    d = r.shape[1]
    products = np.einsum("iab,jab->ij", r, r) / (d * (d - 1))
    weight = known / (noise + SURE)
    both = weight[:, None] * weight * (1 - np.eye(len(r)))
    return max(float((both * products).sum() / both.sum()), 0.0) if both.any() else 0.0


def above_zero(middle: np.ndarray, error: np.ndarray) -> np.ndarray:
    """Return the means of bell curves of which only what is above zero is possible.

    >>> above_zero(np.array([2.0, 0.0, -1.0]), np.array([0.1, 1.0, 0.1])).round(3).tolist()
    [2.0, 0.798, 0.019]
    """
    error = np.maximum(error, NO_NOISE)
    z = middle / error
    near = np.maximum(z, FAR)
    density = np.exp(-np.square(near) / 2 - log_ndtr(near)) / np.sqrt(2 * np.pi)
    return np.where(z > FAR, middle + error * density, FAR_MEAN * error)


def not_narrower(covariances: np.ndarray, before: np.ndarray, least: float) -> np.ndarray:
    """Return covariances that are in no direction below `least` times what they were before."""
    roots = np.linalg.cholesky(before)
    inverse = np.linalg.inv(roots)
    values, vectors = np.linalg.eigh(inverse @ covariances @ inverse.transpose(0, 2, 1))
    low = values[:, 0] < least
    turned = roots @ vectors
    lifted = (turned * np.maximum(values, least)[:, None, :]) @ turned.transpose(0, 2, 1)
    return np.where(low[:, None, None], lifted, covariances)
