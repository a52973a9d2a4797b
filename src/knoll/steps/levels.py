"""Steps of expectation-maximisation over numbers and levels, on released moments.

Numbers are learnt as in moments.py; the shares of levels beside them, by the same rule: what is known and what was
released are averaged, weighted by their precision. Everything here is post-processing of released values.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeGuard, cast

import numpy as np

from knoll.numeric.clipping import NARROW_CLIP, clip_factors, clip_radius, noise_weights
from knoll.numeric.levels import LEAST_SHARE, MixedMixture
from knoll.numeric.mixture import Mixture, log_shares, onto_simplex
from knoll.privacy import Ask, Grant
from knoll.queries import Gaussians, Line, MixedMoments, Product
from knoll.queries.components import COARSE, FINE, Products
from knoll.steps.component_bars import MeasuredStep
from knoll.steps.moments import (
    LEFT,
    MOST_NOISE,
    PRODUCTS,
    QUIET,
    SEEN,
    Belief,
    Form,
    hard_shares,
    learn,
    read_moments,
    restricted,
    standard_errors,
)

START_SHARES = 0.1**2  # assumed variance of a start's shares: more trusts the first release more
LIFT = 0.05  # part of a start's shares that all levels have alike: no record is impossible at the first step
CLEAR = 3.0  # a level is told from noise if its share of all records exceeds this many standard errors
LEAST_NOISE = 0.5  # no share is below this many standard errors: noise must not make a record impossible
COUNT_WEIGHT = 0.5  # of a component's size, without numbers; a level has 1
LEVEL_COST = 8.0  # what a unit of noise in a level's count costs of the likelihood, about: two to four usual levels


@dataclass(frozen=True)
class LevelStep:
    """One release of moments and levels, for the error bars: as `MeasuredStep`, which holds the numbers' part."""

    mixture: MixedMixture
    shares: Callable[[np.ndarray], np.ndarray]
    counts: np.ndarray
    counts_noise: np.ndarray
    votes: list[np.ndarray]
    votes_noise: np.ndarray
    numbers: MeasuredStep | None

    def expected(self, rows: np.ndarray, shares: np.ndarray) -> np.ndarray:
        """Return the means, (k, d), that the step would have measured of records without noise."""
        out = shares.T @ rows / np.maximum(shares.sum(axis=0), 1e-9)[:, None]
        if self.numbers is not None:
            at = self.mixture.domain.number_places
            out[:, at] = self.numbers.expected(rows[:, at], shares)
        return out

    def places(self, n: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the measured means if components hold n records, and the standard errors of their noise."""
        domain = self.mixture.domain
        means = with_shares(self.mixture.means, domain, [votes / n[:, None] for votes in self.votes])
        noise = np.tile((self.votes_noise / n)[:, None], means.shape[1]) * widths(domain)
        if self.numbers is not None:
            at = domain.number_places
            means[:, at], noise[:, at] = self.numbers.places(n)
        return means, noise


@dataclass(frozen=True)
class LevelBelief:
    """A mixture over numbers and levels, and how well it is known.

    Attributes
    ----------
    domain : Product
        Where records lie.
    counts : array of shape (k,)
        Records in each component.
    numbers : Belief or None
        What is known of the numbers.
    shares : list of arrays of shape (k, n_levels)
        Shares of levels as estimated: they may be negative.
    mixture : MixedMixture
        The proper mixture nearest to them.
    unknown, noise : arrays of shape (2, k)
        How far counts and shares may be from the truth, as variances; the part that is privacy noise.
    measured : boolean array of shape (k,)
        Which components stood out from the noise of at least one release.
    steps : tuple of LevelStep
        What each release showed, for the error bars.
    """

    domain: Product
    counts: np.ndarray
    numbers: Belief | None
    shares: list[np.ndarray]
    mixture: MixedMixture
    unknown: np.ndarray
    noise: np.ndarray
    measured: np.ndarray
    steps: tuple[LevelStep, ...] = ()

    @classmethod
    def start(cls, mixture: MixedMixture, total: float) -> "LevelBelief":
        """Return what is known of a first guess: a public mixture (infinite `total`), or one from a coarse release."""
        numbers = None if mixture.numbers is None else Belief.start(mixture.numbers, total)
        k, known = mixture.n_components, np.isfinite(total)
        counts = mixture.weights * total if known else np.zeros(k)
        size = np.maximum(START_SHARES * counts**2, 1.0) if known else np.full(k, 1e18)
        unknown = np.stack([size, np.full(k, START_SHARES if known else 1.0)])
        never = np.zeros(k, dtype=bool)
        shares = shares_of(mixture)
        return cls(mixture.domain, counts, numbers, shares, mixture, unknown, np.zeros((2, k)), never)

    @property
    def shrinkage(self) -> np.ndarray:
        """How far covariances of the numbers were shrunk to their diagonals."""
        return np.zeros(len(self.counts)) if self.numbers is None else self.numbers.shrinkage

    def errors(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the standard errors of weights, means and covariances that come from privacy noise."""
        k, q = len(self.counts), len(self.domain.number_places)
        noise = np.where(self.measured, self.noise, np.inf)
        means = np.sqrt(noise[1])[:, None] * widths(self.domain)
        weights = np.sqrt(self.noise[0]) / max(float(np.maximum(self.counts, 0.0).sum()), 1.0)
        if self.numbers is None:
            return weights, means, np.zeros((k, q, q))
        found = standard_errors(self.numbers)
        means[:, self.domain.number_places] = found[1]
        return weights, means, found[2]


def widths(domain: Product) -> np.ndarray:
    """Return what a share of one is worth in each coordinate: 1, or the width of a line from no to yes."""
    wide = np.ones(domain.n_columns)
    for j, where, _ in domain.levels:
        if isinstance(part := domain.parts[j], Line):
            wide[where] = part.upper - part.lower
    return wide


def with_shares(means: np.ndarray, domain: Product, shares: list[np.ndarray]) -> np.ndarray:
    """Return points with other shares of the levels."""
    out = np.array(means)
    for (j, where, _), each in zip(domain.levels, shares, strict=True):
        part = domain.parts[j]
        out[:, where] = part.lower + (part.upper - part.lower) * each[:, 1:] if isinstance(part, Line) else each
    return out


def shares_of(mixture: MixedMixture) -> list[np.ndarray]:
    """Return the shares of the levels that a mixture's means hold."""
    out = []
    for j, where, _ in mixture.domain.levels:
        at, part = mixture.means[:, where], mixture.domain.parts[j]
        if isinstance(part, Line):
            yes = np.clip((at - part.lower) / (part.upper - part.lower), 0.0, 1.0)
            out.append(np.hstack([1 - yes, yes]))
        else:
            out.append(np.exp(log_shares(at, 0.0)))
    return out


def of_numbers(form: Form, domain: Product) -> Form:
    """Return the form of the numbers' covariances."""
    at = domain.number_places
    return replace(form, floor=form.floor[at], ceiling=form.ceiling[at], scales=form.scales[at])


def mixed_start(
    domain: Product, weights: Any, means: np.ndarray, covariances: np.ndarray, form: Form, lift: float = LIFT
) -> MixedMixture:
    """Return a first mixture from means in all coordinates and covariances of the numbers, proper or not."""
    means, at = domain.clip(means), domain.number_places
    if len(at):
        numbers = Mixture.nearest(weights, means[:, at], covariances, form.floor[at])
        covariances = restricted(numbers, of_numbers(form, domain)).covariances
    lifted = []
    for j, where, m in domain.levels:
        part, share = domain.parts[j], means[:, where]
        if isinstance(part, Line):
            yes = (share - part.lower) / (part.upper - part.lower)
            share = np.hstack([1 - yes, yes])
        lifted.append((1 - lift) * np.exp(log_shares(share, LEAST_SHARE)) + lift / m)
    return MixedMixture(weights, with_shares(means, domain, lifted), covariances, domain)


def level_weight(q: int, radius: float) -> float:
    """Return the weight of a level beside a displacement of one that loses least of the likelihood.

    Let the parts of q numbers have weights p and costs c, as in `noise_weights`, and n levels weight l. The loss is
    (sum p^2 + n l^2) (sum c / p^2 + n C / l^2), smallest where l^4 = C sum p^2 / sum (c / p^2). With the weights that
    `noise_weights` gives, the last ratio is one over the cost of the displacement.
    """
    return float((LEVEL_COST / (q * radius**2)) ** 0.25)


def question(
    domain: Product, belief: LevelBelief, form: Form, norm: int, *, soft: bool, radius: float, bits: tuple[int, int]
) -> MixedMoments:
    """Return the query of a belief's moments and levels."""
    products, mixture = cast(Products, PRODUCTS[form.covariance_type]), belief.mixture
    shares = [np.maximum(each, LEAST_SHARE) for each in shares_of(mixture)]
    options: dict[str, Any] = {"soft": soft, "products": products, "bits": bits[1], "count_weight": COUNT_WEIGHT}
    if mixture.numbers is None:
        return MixedMoments(domain, None, mixture.weights, shares, level_weight=1.0, **options)
    numbers, q = mixture.numbers, mixture.numbers.n_columns
    roots, radii = np.linalg.cholesky(numbers.covariances), np.full(len(mixture.weights), radius)
    gaussians = Gaussians(domain.take(domain.numbers), numbers.weights, numbers.means, roots, radii, bits[0])
    w, b = noise_weights(q, radius, products, norm)
    options |= {"count_weight": w, "square_weight": b}
    return MixedMoments(domain, gaussians, mixture.weights, shares, level_weight=level_weight(q, radius), **options)


def step_levels(grant: Grant, belief: LevelBelief, form: Form, *, soft: bool) -> LevelBelief:
    """Release moments and levels of a mixture's components about themselves, and learn from them."""
    domain, mixture = belief.domain, belief.mixture
    q = len(domain.number_places)
    p = {"full": q * (q + 1) // 2, "diag": q, "trace": 1}[PRODUCTS[form.covariance_type]] if q else 0
    typical = max(float(belief.counts.sum()), 1.0) / len(belief.counts)

    def asked(clip: tuple[float, ...], bits: tuple[int, int]) -> MixedMoments:
        radius = clip_radius(q, *clip) if q else 1.0
        return question(domain, belief, form, grant.norm, soft=soft, radius=radius, bits=bits)

    clip: tuple[float, ...] = ()
    query = asked(clip, FINE)
    if grant.stderr(query)[0, q + p] / typical > QUIET:
        clip = (NARROW_CLIP,)
        query = asked(clip, FINE)
        if np.max(grant.stderr(query) * query.weights / query.step) > MOST_NOISE:
            query = asked(clip, COARSE)
    released = grant.release(query)
    value, stderr = released.value, released.stderr
    ends = np.cumsum([m for _, _, m in domain.levels])[:-1]
    votes = np.split(value[:, 1 + q + p :], ends, axis=1)
    responsible = mixture.predict_proba if soft else hard_shares(mixture)
    numbers, measured = None, None
    if mixture.numbers is not None and belief.numbers is not None and query.numbers is not None:
        radius, roots = clip_radius(q, *clip), np.linalg.cholesky(mixture.numbers.covariances)
        seen = read_moments(value[:, : 1 + q + p], stderr[:, : 1 + q + p], query.numbers, roots, radius)
        numbers = learn(belief.numbers, seen, of_numbers(form, domain))
        shorter = clip_factors(q, radius)[0]
        measured = MeasuredStep(
            mixture.numbers, responsible, radius, value[:, 0], stderr[:, 0], value[:, 1 : 1 + q] / shorter,
            stderr[:, 1] / shorter,
        )  # fmt: skip
    step = LevelStep(mixture, responsible, value[:, 0], stderr[:, 0], votes, stderr[:, -1], measured)
    return learn_levels(belief, step, numbers)


def learn_levels(belief: LevelBelief, step: LevelStep, numbers: Belief | None) -> LevelBelief:
    """Average known and released counts and shares, weighted by their precision."""
    visible = step.counts > SEEN * step.counts_noise
    n = np.maximum(step.counts, SEEN * step.counts_noise)
    errors = np.stack([step.counts_noise, step.votes_noise / n])
    gain = belief.unknown / (belief.unknown + np.square(errors))
    gain[1] *= visible
    counts = belief.counts + gain[0] * (step.counts - belief.counts) if numbers is None else numbers.counts
    shares = [
        old + gain[1][:, None] * (votes / n[:, None] - old)
        for old, votes in zip(belief.shares, step.votes, strict=True)
    ]
    noise = (1 - gain) ** 2 * belief.noise + gain**2 * np.square(errors)
    unknown = (1 - gain) * belief.unknown + LEFT**2 * gain * belief.unknown
    size = np.maximum(counts, 0.0)
    weights = onto_simplex(size / max(float(size.sum()), 1e-9))
    proper = [steadied(each, np.sqrt(noise[1]), weights) for each in shares]
    means, q = belief.mixture.means.copy(), len(belief.domain.number_places)
    covariances = np.zeros((len(counts), q, q))
    if numbers is not None:
        means[:, belief.domain.number_places] = numbers.mixture.means
        covariances = numbers.mixture.covariances
    mixture = MixedMixture(weights, with_shares(means, belief.domain, proper), covariances, belief.domain)
    return replace(
        belief, counts=counts, numbers=numbers, shares=shares, mixture=mixture, unknown=unknown, noise=noise,
        measured=belief.measured | visible, steps=(*belief.steps, step),
    )  # fmt: skip


def steadied(shares: np.ndarray, noise: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return proper shares of one column's levels, (k, m), from noisy ones.

    Levels that all records together do not tell from noise share what the others leave. What components differ in is
    shrunk by the part of its square that is noise.
    """
    whole, error = weights @ shares, float(np.sqrt(np.square(weights) @ np.square(noise)))
    clear = whole > CLEAR * error
    clear[whole.argmax()] = True
    kept = np.hstack([shares[:, clear], 1 - shares[:, clear].sum(axis=1, keepdims=True)])
    middle = weights @ kept
    away, m = kept - middle, kept.shape[1]
    spurious = m * np.square(noise)
    shrunk = np.maximum(0.0, 1 - spurious / np.maximum(np.square(away).sum(axis=1), 1e-300))
    kept = middle + np.where(noise > 0, shrunk, 1.0)[:, None] * away
    others = int((~clear).sum())
    least = np.maximum(LEAST_SHARE, np.minimum(LEAST_NOISE * noise, 0.1 / m))[:, None]
    kept = np.maximum(kept, least)
    out = np.empty(shares.shape)
    out[:, clear] = kept[:, :-1]
    out[:, ~clear] = kept[:, -1:] / max(others, 1)
    return out / out.sum(axis=1, keepdims=True)


def levels_ask(domain: Product, k: int, covariance_type: str, *, soft: bool, times: int = 1, share: float = 1.0) -> Ask:
    """Return what releases of moments and levels of k components ask. The coarse grid asks most."""
    q = len(domain.number_places)
    form = Form.of(covariance_type, 0.001, domain, domain.scales)
    wide = np.diag(form.ceiling[domain.number_places])[None]
    first = LevelBelief.start(mixed_start(domain, np.ones(1), domain.centre[None], wide, form), np.inf)
    radius = clip_radius(q, NARROW_CLIP) if q else 1.0
    probes = [question(domain, first, form, norm, soft=soft, radius=radius, bits=COARSE) for norm in (1, 2)]
    size, touched = k * probes[0].shape[1], probes[0].touched * (k if soft else 1)
    bound = probes[0].max_norm(1), probes[1].max_norm(2)
    return Ask(touched, size, times, share=share / times, bound=bound)


def walk_levels(grant: Grant, steps: int, belief: LevelBelief, form: Form, *, soft: bool) -> LevelBelief:
    """Take steps of expectation-maximisation on released moments; each gets an equal part of the grant."""
    for step in grant.even(steps):
        belief = step_levels(step, belief, form, soft=soft)
    return belief


def has_levels(domain: Any) -> TypeGuard[Product]:
    """Return whether a domain has columns of levels."""
    return isinstance(domain, Product) and bool(domain.levels)
