"""Component moments on the estimators' side: how to ask for them, and how to update a mixture with them.

Everything here is post-processing of released values. A step of noisy expectation-maximisation is treated as a
measurement of the mixture. What is known and what was just released are averaged, weighted by their precision. Late
steps measure nearly the same mixture: their average is one precise release, and no step is wasted.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from knoll.numeric.clipping import NARROW_CLIP, clip_factors, clip_radius, noise_weights, unclip
from knoll.numeric.distances import nearest
from knoll.numeric.mixture import Mixture, onto_simplex
from knoll.numeric.shrink import Measured, likely_correlations, likely_variances, not_narrower
from knoll.privacy import Ask, Grant
from knoll.queries import Ball, Box, ComponentMoments, Gaussians, Nearest
from knoll.queries.components import COARSE, FINE, Products
from knoll.steps.component_bars import MeasuredStep

PRODUCTS = {"full": "full", "tied": "full", "diag": "diag", "spherical": "trace"}

# docs/benchmarks.md, "Mixtures" ("Several columns"), measures these together; it varies none of them singly.
QUIET = 0.02  # above this noise of a whitened covariance the clip is narrow: less noise, for a bias that is put back
MOST_NOISE = 2.0**48  # above this noise scale, in grid units, the coarse grid is used: it keeps integers small
START = 0.3**2  # assumed variance of a start's whitened means and covariances: more trusts the first release more
# Standard error that a step without noise would leave, as a part of that before it: steps converge slowly. It is
# ROUGH_LEFT where noise is far above ROUGH: what a step measures about a mixture of a wrong shape is far off then.
LEFT, ROUGH_LEFT, ROUGH = 0.3, 0.5, 0.1
# Tails of data are seldom Gaussian, and a narrow clip takes more of them off: if noise is far above ROUGH, variances
# are taken to be larger by TAILS than what a Gaussian has. It costs a Gaussian less than other tails gain.
TAILS = 0.1
LEAST = 0.1  # no step narrows a component by more than this factor: noise must not make it vanish
SEEN = 2.0  # a component is seen if its count exceeds this many standard errors: noise alone rarely does


@dataclass(frozen=True)
class Form:
    """What covariances may look like: their type, least and largest variances, scales of the metric. All public."""

    covariance_type: str
    floor: np.ndarray
    ceiling: np.ndarray
    scales: np.ndarray

    @classmethod
    def of(cls, covariance_type: str, floor: float, domain: Box | Ball, scales: np.ndarray) -> "Form":
        """Return the form inside a domain. Standard deviations lie between `floor` half widths and one half width."""
        return cls(covariance_type, np.square(floor * domain.half), np.square(domain.half), scales)


@dataclass(frozen=True)
class Belief:
    """A mixture and how well it is known.

    Attributes
    ----------
    counts : array of shape (k,)
        Records in each component.
    means, covariances : arrays
        As estimated: covariances may be indefinite.
    mixture : Mixture
        The proper mixture nearest to them.
    unknown : array of shape (3, k)
        How far count, whitened mean and whitened covariance may be from the truth, as variances.
    noise : array of shape (3, k)
        The part of these variances that is privacy noise.
    measured : boolean array of shape (k,)
        Which components stood out from the noise of at least one release.
    shrinkage : array of shape (k,)
        How far the mixture's correlations were shrunk.
    steps : tuple of MeasuredStep
        What each release showed, for the error bars.
    """

    counts: np.ndarray
    means: np.ndarray
    covariances: np.ndarray
    mixture: Mixture
    unknown: np.ndarray
    noise: np.ndarray
    measured: np.ndarray
    shrinkage: np.ndarray
    steps: tuple[MeasuredStep, ...] = ()

    @classmethod
    def start(cls, mixture: Mixture, total: float) -> "Belief":
        """Return what is known of a first guess: a public mixture (infinite `total`), or one from a coarse release."""
        k = mixture.n_components
        known = np.isfinite(total)
        start = START if known else 1.0
        counts = mixture.weights * total if known else np.zeros(k)
        unknown = np.stack(
            [np.maximum(START * counts**2, 1.0) if known else np.full(k, 1e18)] + 2 * [np.full(k, start)]
        )
        zero = np.zeros((3, k))
        never = np.zeros(k, dtype=bool)
        return cls(counts, mixture.means, mixture.covariances, mixture, unknown, zero, never, np.zeros(k))


@dataclass(frozen=True)
class ReleasedMoments:
    """Released counts, whitened means and covariances of components, and the standard errors of their noise."""

    counts: np.ndarray
    moves: np.ndarray
    spreads: np.ndarray
    roots: np.ndarray
    errors: np.ndarray
    step: MeasuredStep | None = None


def moments_ask(n_columns: int, k: int, covariance_type: str, *, soft: bool, times: int = 1, share: float = 1.0) -> Ask:
    """Return what a release of the moments of k components asks. The coarse grid, which is used here, asks most."""
    products, radius = cast(Products, PRODUCTS[covariance_type]), clip_radius(n_columns, NARROW_CLIP)
    cube = Box((-1.0,) * n_columns, (1.0,) * n_columns)
    one = Gaussians(cube, np.ones(1), np.zeros((1, n_columns)), np.eye(n_columns)[None], np.full(1, radius), COARSE[0])
    bound = []
    for norm in (1, 2):
        w, b = noise_weights(n_columns, radius, products, norm)
        probe = ComponentMoments(one, soft=soft, products=products, count_weight=w, square_weight=b, bits=COARSE[1])
        bound.append(probe.max_norm(norm))
    size = k * probe.shape[1]
    return Ask(size if soft else probe.touched, size, times, share=share / times, bound=(bound[0], bound[1]))


def ask(
    grant: Grant, domain: Box | Ball, belief: Belief, form: Form, *, soft: bool, cells: Any = None
) -> ReleasedMoments:
    """Release the moments of a mixture's components about themselves.

    If the noise is wide enough to matter, the clip is narrower. What it cuts off is then put back, as for a Gaussian.
    """
    mixture = belief.mixture
    k, d = mixture.means.shape
    products = cast(Products, PRODUCTS[form.covariance_type])
    roots = np.linalg.cholesky(mixture.covariances)
    typical = max(float(belief.counts.sum()), 1.0) / k

    def question(radius: float, bits: tuple[int, int]) -> ComponentMoments:
        gaussians = Gaussians(domain, mixture.weights, mixture.means, roots, np.full(k, radius), bits[0])
        count_weight, square_weight = noise_weights(d, radius, products, grant.norm)
        weights = {"count_weight": count_weight, "square_weight": square_weight}
        return ComponentMoments(gaussians, cells=cells, soft=soft, products=products, bits=bits[1], **weights)

    radius = clip_radius(d)
    query = question(radius, FINE)
    errors = grant.stderr(query)
    if errors[0, -1] / typical > QUIET:
        radius = clip_radius(d, NARROW_CLIP)
        query = question(radius, FINE)
        if np.max(grant.stderr(query) * query.weights / query.step) > MOST_NOISE:
            query = question(radius, COARSE)
    released = grant.release(query)
    shares = by_cells(cells) if cells is not None else mixture.predict_proba if soft else hard_shares(mixture)
    shorter = clip_factors(d, radius)[0]
    step = MeasuredStep(
        mixture, shares, radius, released.value[:, 0], released.stderr[:, 0], released.value[:, 1 : 1 + d] / shorter,
        released.stderr[:, 1] / shorter,
    )  # fmt: skip
    return replace(read_moments(released.value, released.stderr, query, roots, radius), step=step)


def hard_shares(mixture: Mixture) -> Callable[[np.ndarray], np.ndarray]:
    """Return responsibilities of one: every record belongs to its most probable component."""
    return lambda rows: np.eye(mixture.n_components)[mixture.predict(rows)]


def by_cells(cells: Nearest) -> Callable[[np.ndarray], np.ndarray]:
    """Return responsibilities of one: every record belongs to its nearest centre."""
    return lambda rows: np.eye(len(cells.centres))[nearest(rows / cells.scales, cells.centres / cells.scales)]


def read_moments(
    value: np.ndarray, stderr: np.ndarray, query: ComponentMoments, roots: np.ndarray, radius: float
) -> ReleasedMoments:
    """Split a release into its parts: moments per record of each component, with the effect of clipping undone."""
    shorter, narrower = clip_factors(query.domain.n_columns, radius)
    k, d = query.shape[0], query.domain.n_columns
    counts, errors = value[:, 0], stderr[:, 0]
    n = np.maximum(counts, SEEN * errors)
    moves = value[:, 1 : 1 + d] / n[:, None] / shorter
    tail = value[:, 1 + d :] / n[:, None]
    spreads = np.zeros((k, d, d))
    if query.products == "trace":
        spreads[:, np.arange(d), np.arange(d)] = tail / d
    else:
        spreads[:, query.pairs[0], query.pairs[1]] = spreads[:, query.pairs[1], query.pairs[0]] = tail
    away = moves[:, :, None] * moves[:, None, :]
    if query.products == "trace":
        away = np.eye(d) * np.square(moves).mean(axis=1)[:, None, None]
    elif query.products == "diag":
        away = away * np.eye(d)
    per = 1 / d if query.products == "trace" else 1.0
    noise = [errors, stderr[:, 1] / n / shorter, stderr[:, 1 + d] * per / n / narrower]
    spreads = unclip(spreads, radius)
    if radius < clip_radius(d):
        spreads = spreads * (1 + TAILS * rough(noise[2]))[:, None, None]
    return ReleasedMoments(counts, moves, spreads - away, roots, np.stack(noise))


def rough(noise: np.ndarray) -> np.ndarray:
    """Return how far the noise of whitened covariances is above ROUGH: from 0, far below, to 1."""
    return 1 / (1 + np.square(ROUGH / np.maximum(noise, 1e-9)))


def learn(belief: Belief, seen: ReleasedMoments, form: Form) -> Belief:
    """Average what is known and what was released, weighted by their precision."""
    visible = seen.counts > SEEN * seen.errors[0]
    gain = belief.unknown / (belief.unknown + np.square(seen.errors))
    gain[1:] *= visible
    counts = belief.counts + gain[0] * (seen.counts - belief.counts)
    old = belief.mixture.means
    means = old + gain[1][:, None] * np.einsum("kij,kj->ki", seen.roots, seen.moves)
    found = seen.roots @ seen.spreads @ seen.roots.transpose(0, 2, 1)
    covariances = belief.covariances + gain[2][:, None, None] * (found - belief.covariances)
    noise = (1 - gain) ** 2 * belief.noise + gain**2 * np.square(seen.errors)
    left = LEFT**2 + (ROUGH_LEFT**2 - LEFT**2) * rough(seen.errors[2])
    unknown = (1 - gain + left * gain) * belief.unknown
    if form.covariance_type == "tied":
        share = np.maximum(counts, 0.0) / max(float(np.maximum(counts, 0.0).sum()), 1e-9)
        covariances = np.broadcast_to(np.tensordot(share, covariances, axes=1), covariances.shape)
        noise[2] = np.full(len(counts), float(share**2 @ noise[2]))
    steps = belief.steps if seen.step is None else (*belief.steps, seen.step)
    known = {
        "steps": steps,
        "counts": counts,
        "means": means,
        "covariances": covariances,
        "noise": noise,
        "unknown": unknown,
    }
    return shaped(replace(belief, **known, measured=belief.measured | visible), form)


def shaped(belief: Belief, form: Form) -> Belief:
    """Return a belief with a proper mixture that is likely: variances and correlations are drawn together (shrink.py).

    Components that were never measured lose their correlations.
    """
    k, d = belief.means.shape
    before, tied = belief.mixture.covariances, form.covariance_type == "tied"
    known = np.full(k, belief.measured.any()) if tied else belief.measured
    measured = Measured(belief.covariances, before, belief.noise[2], belief.counts, known)
    if form.covariance_type == "spherical":
        variances = np.maximum(np.einsum("kii->ki", belief.covariances), LEAST * np.einsum("kii->ki", before))
    else:
        variances = likely_variances(measured, LEAST)
    variances = np.clip(variances, form.floor, form.ceiling)
    shapes, shrinkage = np.tile(np.eye(d), (k, 1, 1)), np.zeros(k)
    if form.covariance_type in ("full", "tied") and d > 1:
        shapes, shrinkage = likely_correlations(measured, variances, shared=not tied)
    covariances = shapes * np.sqrt(variances[:, :, None] * variances[:, None, :])
    covariances = np.where(known[:, None, None], not_narrower(covariances, before, LEAST), covariances)
    weights = onto_simplex(np.maximum(belief.counts, 0.0) / max(float(np.maximum(belief.counts, 0.0).sum()), 1e-9))
    mixture = Mixture.nearest(weights, belief.means, covariances, form.floor)
    return replace(belief, mixture=mixture, shrinkage=shrinkage)


def standard_errors(belief: Belief) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the standard errors of weights, means and covariances that come from privacy noise."""
    total = max(float(np.maximum(belief.counts, 0.0).sum()), 1.0)
    covariances = belief.mixture.covariances
    variances = np.einsum("kii->ki", covariances)
    noise = np.where(belief.measured, belief.noise, np.inf)
    weights = np.sqrt(belief.noise[0]) / total
    means = np.sqrt(noise[1][:, None] * variances)
    size = variances[:, :, None] * variances[:, None, :]
    spreads = np.sqrt(noise[2][:, None, None] * (size + np.square(covariances)) / 2)
    return weights, means, spreads


def walk(grant: Grant, steps: int, domain: Box | Ball, belief: Belief, form: Form, *, soft: bool) -> Belief:
    """Take steps of expectation-maximisation on released moments; each gets an equal part of the grant."""
    for step in grant.even(steps):
        seen = ask(step, domain, belief, form, soft=soft)
        belief = learn(belief, seen, form)
    return belief


def restricted(mixture: Mixture, form: Form) -> Mixture:
    """Return a mixture with covariances of the form's type: one for all, diagonal, or a multiple of the metric's."""
    covariances = mixture.covariances
    d = mixture.n_columns
    if form.covariance_type == "tied":
        covariances = np.broadcast_to(np.tensordot(mixture.weights, covariances, axes=1), covariances.shape)
    elif form.covariance_type == "diag":
        covariances = covariances * np.eye(d)
    elif form.covariance_type == "spherical":
        size = (np.einsum("kii->ki", covariances) / form.scales**2).mean(axis=1)
        covariances = size[:, None, None] * np.diag(form.scales**2)
    return Mixture.nearest(mixture.weights, mixture.means, covariances, form.floor)
