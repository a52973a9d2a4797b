"""What the server does with reports: a mixture by maximum likelihood through the clients' known channel.

One column: expectation-maximisation on the bins (numeric/binned.py). A weak public prior spreads components evenly over
the bounds. It weighs as many records as the channel hides, so it counts more if the channel lets less through.
More columns: expectation-maximisation that deconvolves the known noise (deconvolve.py).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from knoll import progress
from knoll.local.client import Client
from knoll.local.clients import Noisy, SquareWave, Unary, Waves
from knoll.local.deconvolve import Bounds, climb, deconvolve
from knoll.local.product import Product
from knoll.numeric.binned import Channel, Fits, NoisyCounts, Prior, em_steps, fit_binned
from knoll.numeric.mixture import Mixture

WIDE, PLACED = 3.0, 1.0  # records of prior, per hidden record, on variances and on means
LEAST_PRIOR = 1.0  # records of prior at least: keeps an empty component finite
REDRAWS, REDRAWN_STEPS, REDRAWN_REPORTS = 24, 150, 20_000  # for standard errors: redraws, their steps, their reports
MOST_CHOSEN = 8  # largest number of components that is tried: bounds time


@dataclass(frozen=True)
class FittedReports:
    """A mixture, its standard errors (weights, means, covariances), its likelihood, and the histogram under it."""

    mixture: Mixture
    errors: tuple[np.ndarray, np.ndarray, np.ndarray]
    log_likelihood: float
    histogram: np.ndarray


def fit_from_reports(
    client: Client, valid: np.ndarray, k: int | None, floor: np.ndarray, rng: np.random.RandomState
) -> FittedReports:
    """Return a mixture of k components, or of the number that the Bayesian information criterion chooses."""
    fit: Callable[..., FittedReports] = (
        _fit_noisy if isinstance(client, Noisy) else _fit_waves if isinstance(client, Waves) else _fit_bins
    )
    if k is not None:
        return fit(client, valid, k, floor, rng, True)
    n, d = max(2, len(valid) if not isinstance(client, Unary) else int(valid[-1])), len(client.lower)
    scores: dict[int, float] = {}
    for each in range(1, MOST_CHOSEN + 1):
        value = fit(client, valid, each, floor, rng, False).log_likelihood
        scores[each] = -2 * value + (each * (1 + d + d * (d + 1) / 2) - 1) * np.log(n)
        if each >= min(scores, key=lambda j: scores[j]) + 2:
            break
    return fit(client, valid, min(scores, key=lambda j: scores[j]), floor, rng, True)


# ---- one column -----------------------------------------------------------------------------------


def _fit_bins(
    client: SquareWave | Unary, valid: np.ndarray, k: int, floor: np.ndarray, rng: np.random.RandomState, errors: bool
) -> FittedReports:
    edges = client.edges
    observed, hidden, redrawn = _sight(client, valid, rng)
    lower, width = float(edges[0]), float(edges[-1] - edges[0])
    places = lower + width * (np.arange(k) + 0.5) / k
    prior = Prior(LEAST_PRIOR + WIDE * hidden, (width / (6 * k)) ** 2, PLACED * hidden, places)
    least = max(float(floor[0]), (width / client.n_bins / 4) ** 2)
    fits, value = fit_binned(observed, edges, k, rng, floor=least, prior=prior)
    mixture = Mixture.nearest(fits.weights, fits.means[:, None], fits.variances[:, None, None], floor)
    spread = np.zeros((3, k))
    if errors:
        start = Fits(*(np.tile(each, (REDRAWS, 1)) for each in (fits.weights, fits.means, fits.variances)))
        again = em_steps(start, redrawn, edges, REDRAWN_STEPS, least, prior)
        spread = np.stack([each.std(axis=0) for each in (again.weights, again.means, again.variances)])
    density = np.full(client.n_bins, observed.total / client.n_bins)
    for _ in range(50):  # smoothed; otherwise it would fit the noise of single bins
        padded = np.pad(observed.expected(density), 1, mode="edge")
        density = (padded[:-2] + 2 * padded[1:-1] + padded[2:]) / 4
    return FittedReports(mixture, (spread[0], spread[1][:, None], spread[2][:, None, None]), value, density)


def _sight(
    client: SquareWave | Unary, valid: np.ndarray, rng: np.random.RandomState
) -> tuple[Channel | NoisyCounts, float, Channel | NoisyCounts]:
    """Return what was seen, hidden records per record seen, and what redrawn reports would have shown."""
    if isinstance(client, SquareWave):
        matrix = client.channel
        counts = np.bincount(valid, minlength=len(matrix))
        seen = Channel(counts, matrix)
        again = Channel(rng.multinomial(len(valid), counts / max(len(valid), 1), size=REDRAWS), matrix)
        again.total = seen.total
        return seen, hidden_records(matrix), again
    n, q = max(int(valid[-1]), 1), client.rare
    unbiased = (valid[:-1] - n * q) / (0.5 - q)
    stderr = float(np.sqrt(n * q * (1 - q))) / (0.5 - q)
    redrawn = unbiased + stderr * rng.standard_normal((REDRAWS, client.n_bins))
    once, twice = NoisyCounts(unbiased, stderr), NoisyCounts(redrawn, stderr * 2**0.5)
    once.total = twice.total = float(n)
    return once, stderr**2 / n, twice


# ---- more columns ---------------------------------------------------------------------------------


def _fit_noisy(
    client: Noisy, valid: np.ndarray, k: int, floor: np.ndarray, rng: np.random.RandomState, errors: bool
) -> FittedReports:
    box = client.box
    reports = box.centre + valid * box.steps
    noise = np.square(client.stderr)
    bounds = Bounds(box.corners[0], box.corners[1], floor)
    hidden = float(np.mean(noise / (np.square(box.half) / 3)))
    prior = min(LEAST_PRIOR + WIDE * hidden, 0.2 * len(reports) / k + 1)
    mixture, value = deconvolve(reports, noise, k, bounds, prior, rng)
    d = box.n_columns
    spread = (np.zeros(k), np.zeros((k, d)), np.zeros((k, d, d)))
    if errors:
        size = min(len(reports), REDRAWN_REPORTS)
        picks = [rng.randint(len(reports), size=size) for _ in range(REDRAWS // 2)]
        again = []
        for number, pick in enumerate(picks):
            progress.report("redrawing reports", number / len(picks))
            again.append(climb(reports[pick], noise, mixture, bounds, prior, 30)[0])
        shrink = (size / len(reports)) ** 0.5
        parts = ("weights", "means", "covariances")
        spread = tuple(shrink * np.std([getattr(each, part) for each in again], axis=0) for part in parts)
        spread = _at_least(spread, mixture, noise, len(reports))
    return FittedReports(mixture, spread, value, np.empty(0))


def _at_least(
    spread: tuple[np.ndarray, ...], mixture: Mixture, noise: np.ndarray, n: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return standard errors, at least those of plain moments: with much noise, EM stops before it settles."""
    held = np.maximum(n * mixture.weights, 1.0)
    seen = mixture.covariances + np.diag(noise)
    variances = np.einsum("kii->ki", seen)
    means = np.sqrt(variances / held[:, None])
    size = variances[:, :, None] * variances[:, None, :] + np.square(seen)
    weights, old_means, old_covariances = spread
    return (weights, np.maximum(old_means, means), np.maximum(old_covariances, np.sqrt(size / held[:, None, None])))


def _fit_waves(
    client: Waves, valid: np.ndarray, k: int, floor: np.ndarray, rng: np.random.RandomState, errors: bool
) -> FittedReports:
    """Components without correlations, whose columns go through channels of their own."""
    through = hidden_records(client.columns[0].channel)
    placed = LEAST_PRIOR + through
    least = np.maximum(floor, np.square(client.box.half / client.n_bins / 2))
    product = Product.of(client, valid, least, placed)
    fits, value = product.fit(k, rng)
    mixture = product.mixture(fits)
    d = len(client.lower)
    spread = (np.zeros(k), np.zeros((k, d)), np.zeros((k, d, d)))
    if errors:
        again = product.redraw(fits, REDRAWS // 2, REDRAWN_REPORTS, rng)
        shrink = (min(len(valid), REDRAWN_REPORTS) / len(valid)) ** 0.5
        parts = ("weights", "means", "covariances")
        spread = tuple(shrink * np.std([getattr(each, part) for each in again], axis=0) for part in parts)
        average = np.einsum("k,kii->i", mixture.weights, mixture.covariances)
        spread = _at_least(spread, mixture, through * average, len(valid))
    return FittedReports(mixture, spread, value, np.empty(0))


def hidden_records(channel: np.ndarray) -> float:
    """Records hidden for each that the channel lets through, for the contrast that it passes best."""
    passing = channel / np.sqrt(channel.mean(axis=1, keepdims=True) * channel.shape[1])
    through = float(np.linalg.svd(passing, compute_uv=False)[1] ** 2)
    return (1 - through) / max(through, 1e-12)


def too_few(client: Client, valid: np.ndarray) -> bool:
    """Whether there are no valid reports at all."""
    return (int(valid[-1]) if isinstance(client, Unary) else len(valid)) == 0


def public_guess(client: Client, k: int, floor: np.ndarray) -> FittedReports:
    """Return components spread over the bounds: without a report, nothing more is known."""
    box = client.box
    d = box.n_columns
    along = (np.arange(k) + 0.5) / k
    means = box.corners[0] + along[:, None] * 2 * box.half
    wide = np.tile(np.diag(np.square(box.half / 3)), (k, 1, 1))
    endless = (np.full(k, np.inf), np.full((k, d), np.inf), np.full((k, d, d), np.inf))
    return FittedReports(Mixture.nearest(np.full(k, 1 / k), means, wide, floor), endless, -np.inf, np.empty(0))
