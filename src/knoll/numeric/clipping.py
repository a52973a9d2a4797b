"""How clipping changes a Gaussian, and how to undo this. Also: how to divide noise among a component's moments."""

import numpy as np
from scipy.integrate import trapezoid
from scipy.stats import chi, chi2

from knoll.queries.components import DIAGONAL, OFF

# Clip radius^2 = d + CLIP sqrt(2 d), whitened. With CLIP nearly all of a Gaussian is inside. NARROW_CLIP cuts more off,
# for less noise. docs/benchmarks.md measures no other values.
CLIP, NARROW_CLIP = 3.0, 1.5
WIDEST = 10.0  # no step makes a variance larger than this many times: noise must not blow a component up


def clip_radius(d: int, clip: float = CLIP) -> float:
    """Return the whitened radius beyond which displacements are shortened."""
    return float(np.sqrt(d + clip * np.sqrt(2 * d)))


def clipped_variance(d: int, radius: float, variance: np.ndarray | float) -> np.ndarray:
    """Return the variance per column of a round Gaussian after its displacements are shortened to a radius."""
    squares = radius**2 / np.asarray(variance, dtype=np.float64)
    inside = chi2.cdf(squares, d)
    return variance * (d * chi2.cdf(squares, d + 2) + squares * (1 - inside)) / d


def clip_factors(d: int, radius: float) -> tuple[float, float]:
    """Return by what factors the clip of a standard Gaussian shortens a small shift of its mean, and its variances."""
    lengths = np.linspace(radius, radius + 12.0, 2001)
    beyond = trapezoid(radius / lengths * chi.pdf(lengths, d), lengths)
    shorter = chi2.cdf(radius**2, d) + (1 - 1 / d) * beyond
    return float(shorter), float(clipped_variance(d, radius, 1.0))


def unclip(spreads: np.ndarray, radius: float) -> np.ndarray:
    """Scale covariances of clipped displacements to what they were before the clip, as if Gaussians were round.

    At the end each component is whitened by itself, and this is exact for Gaussians. Before, it lets a component that
    is far too narrow grow at once.
    """
    d = spreads.shape[1]
    variances = np.geomspace(1e-3, WIDEST, 400)
    left = clipped_variance(d, radius, variances)
    seen = np.clip(np.einsum("kii->k", spreads) / d, left[0], left[-1])
    return spreads * (np.interp(seen, left, variances) / seen)[:, None, None]


def noise_weights(d: int, radius: float, products: str, norm: int) -> tuple[float, float]:
    """Return the weights of count and squares (displacements have 1) that lose least of the likelihood.

    Let (count, displacement, squares) have weights p and unit noise. This costs sum(c / p^2) / 2 of a component's
    log-likelihood, with c = (1 + d / 2, d R^2, ...): squares are divided by the count, so its noise scales all d
    variances. The noise scale is proportional to the norm of (g p), where g holds the largest norms of the three parts.
    """
    entries = {"full": d + 2 * (d * (d - 1) / 2) * (DIAGONAL / OFF) ** 2, "diag": d, "trace": 1 / d}[products]
    costs = np.array([1.0 + d / 2, d * radius**2, radius**4 * entries / 2])
    wide = 1 + OFF / DIAGONAL * (d - 1) / 2 if products == "full" else 1.0
    p = costs**0.25 if norm == 2 else (costs / np.array([1.0, d**0.5, wide])) ** (1 / 3)
    return float(p[0] / p[1]), float(p[2] / p[1])
