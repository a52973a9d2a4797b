"""What clipping takes from a Gaussian, and how to put it back; and how to divide noise among a component's moments."""

import numpy as np
from scipy.stats import chi, chi2

from knoll.queries.components import DIAGONAL, OFF

CLIP, NARROW_CLIP = 3.0, 1.5  # clip radius^2 = d + CLIP sqrt(2 d): whitened, nearly all of a Gaussian
WIDEST = 10.0  # no step widens a component by more than this


def clip_radius(d: int, clip: float = CLIP) -> float:
    """Whitened radius beyond which displacements are shortened."""
    return float(np.sqrt(d + clip * np.sqrt(2 * d)))


def clipped_variance(d: int, radius: float, variance: np.ndarray | float) -> np.ndarray:
    """Variance per column that is left of a round Gaussian when displacements are shortened to a radius."""
    squares = radius**2 / np.asarray(variance, dtype=np.float64)
    inside = chi2.cdf(squares, d)
    return variance * (d * chi2.cdf(squares, d + 2) + squares * (1 - inside)) / d


def clip_factors(d: int, radius: float) -> tuple[float, float]:
    """By what clipping shortens a small displacement, and variances, of a standard Gaussian."""
    lengths = np.linspace(radius, radius + 12.0, 2001)
    beyond = np.trapezoid(radius / lengths * chi.pdf(lengths, d), lengths)
    shorter = chi2.cdf(radius**2, d) + (1 - 1 / d) * beyond
    return float(shorter), float(clipped_variance(d, radius, 1.0))


def unclip(spreads: np.ndarray, radius: float) -> np.ndarray:
    """Scale covariances of clipped displacements to those of the round Gaussians that would have been clipped so.

    At the end, where components are whitened by themselves, this is exact for Gaussians; before, it lets a component
    that is far too narrow grow at once.
    """
    d = spreads.shape[1]
    variances = np.geomspace(1e-3, WIDEST, 400)
    left = clipped_variance(d, radius, variances)
    seen = np.clip(np.einsum("kii->k", spreads) / d, left[0], left[-1])
    return spreads * (np.interp(seen, left, variances) / seen)[:, None, None]


def noise_weights(d: int, radius: float, products: str, norm: int) -> tuple[float, float]:
    """Weights of count and squares, next to the displacement's 1, that waste least of the likelihood.

    Noise of unit 1 on (count, displacement, squares) weighted by p costs sum(c / p^2) / 2 of a component's
    log-likelihood, c = (1, d R^2, ...), at a noise scale proportional to the norm of (g p), g the largest norms of the
    three parts.
    """
    entries = {"full": d + 2 * (d * (d - 1) / 2) * (DIAGONAL / OFF) ** 2, "diag": d, "trace": 1 / d}[products]
    costs = np.array([1.0, d * radius**2, radius**4 * entries / 2])
    wide = 1 + OFF / DIAGONAL * (d - 1) / 2 if products == "full" else 1.0
    p = costs**0.25 if norm == 2 else (costs / np.array([1.0, d**0.5, wide])) ** (1 / 3)
    return float(p[0] / p[1]), float(p[2] / p[1])
