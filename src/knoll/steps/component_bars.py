"""Error bars of components and of clusters made of them: as numeric/bars.py, from steps of expectation-maximisation.

Every step measured the moments of an *earlier* mixture's components. Made-up records, drawn from the last mixture, tell
how these moments change until what is published. So every step gives an estimate of what is asked about: the moments of
the records, weighted by their published responsibilities. The estimates are averaged by their precision:

    error  =  published - average of (measured + change) + noise of the average

Everything here is post-processing of released values.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from knoll.numeric.bars import GUESS, Bars, clear_level, counted
from knoll.numeric.clipping import clip_factors
from knoll.numeric.made_up import KEPT
from knoll.numeric.mixture import Mixture
from knoll.queries import Ball, Box

WORLDS = 3  # sets of made-up records
MOST_MADE, FEWEST_MADE = 4000, 200  # records of a set: more take longer
# Bars of centres and sizes are so many times wider: the mixture is not the records (benchmarks/coverage).
MARGIN, SIZE_MARGIN = 1.2, 1.2
FAINT = 1e-12  # a smaller share of a record moves nothing: of many components, most have none of it
UNSURE = 0.5  # standard error of a simulated change, over the change: the mixture need not fit the records


class Step(Protocol):
    """What error bars need to know of one release."""

    @property
    def shares(self) -> Callable[[np.ndarray], np.ndarray]:
        """The responsibilities of records."""
        ...

    @property
    def counts(self) -> np.ndarray:
        """Released sizes."""
        ...

    @property
    def counts_noise(self) -> np.ndarray:
        """Standard errors of their noise."""
        ...

    def expected(self, rows: np.ndarray, shares: np.ndarray) -> np.ndarray:
        """Return the means that the step would have measured of records without noise."""
        ...

    def places(self, n: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the measured means of n records each, and the standard errors of their noise."""
        ...


@dataclass(frozen=True)
class MeasuredStep:
    """One release of component moments: about which mixture, by which responsibilities, clipped where; what it gave.

    `counts` and `counts_noise` are (k,); `sums` of displacements, whitened by `roots`, are (k, d), their noise (k,).
    """

    mixture: Mixture
    shares: Callable[[np.ndarray], np.ndarray]
    radius: float
    counts: np.ndarray
    counts_noise: np.ndarray
    sums: np.ndarray
    sums_noise: np.ndarray

    def expected(self, rows: np.ndarray, shares: np.ndarray) -> np.ndarray:
        """Return the means, (k, d), that the step would have measured of records without noise."""
        mixture = self.mixture
        d = mixture.n_columns
        roots = np.linalg.cholesky(mixture.covariances)
        inverse = np.linalg.inv(roots)
        out = np.empty(mixture.means.shape)
        for i, (mean, root, turn) in enumerate(zip(mixture.means, roots, inverse, strict=True)):
            share = shares[:, i]
            some = np.flatnonzero(share > FAINT)
            away = (rows[some] - mean) @ turn.T
            length = np.sqrt(np.square(away).sum(axis=1))
            weight = share[some] * np.minimum(1.0, self.radius / np.maximum(length, 1e-300))
            out[i] = mean + root @ (weight @ away) / max(float(share.sum()), 1e-9)
        shorter = clip_factors(d, self.radius)[0]
        return mixture.means + (out - mixture.means) / shorter

    def places(self, n: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the measured means if components hold n records, and the standard errors of their noise."""
        roots = np.linalg.cholesky(self.mixture.covariances)
        means = self.mixture.means + np.einsum("kij,kj->ki", roots, self.sums / n[:, None])
        width = np.sqrt(np.einsum("kii->ki", self.mixture.covariances))
        return means, (self.sums_noise / n)[:, None] * width


@dataclass(frozen=True)
class PublishedParts:
    """What is published: centres and sizes, and the responsibilities by which records belong to them.

    `groups` is the cluster of each measured component, -1 for none.
    """

    centres: np.ndarray
    sizes: np.ndarray
    shares: Callable[[np.ndarray], np.ndarray]
    groups: np.ndarray
    pure: bool = False


def component_bars(steps: Sequence[Step], last: Mixture, domain: Box | Ball, published: PublishedParts) -> Bars:
    """Return error bars of centres and sizes, and which of them are told from noise."""
    k = len(published.centres)
    member = np.eye(k)[:, published.groups] * (published.groups >= 0)
    precision = sum(1 / np.square(step.counts_noise) for step in steps)
    count = sum(step.counts / np.square(step.counts_noise) for step in steps) / precision
    error = np.sqrt(1 / precision)
    excess, _ = counted(count, error, pure=published.pure)
    likely = np.maximum(count - excess, error)
    total = float(np.maximum(count, 0.0).sum())
    places, sizes, found = [], [], np.zeros(k)
    for rows in drawn(last, domain, total):
        share, worth = published.shares(rows), total / len(rows)
        before = [step.shares(rows) for step in steps]
        places.append(places_off(steps, rows, share, before, likely, member, published))
        sizes.append(sizes_off(steps, share, before, worth, member, published))
        found += worth * share.sum(axis=0) > KEPT * (member @ likely)
    (off, noise), (size_off, size_noise) = (np.array(each).swapaxes(0, 1) for each in (places, sizes))
    stderr = MARGIN * np.sqrt((np.square(off) + noise).mean(axis=0))
    size_error = SIZE_MARGIN * np.sqrt((np.square(size_off + member @ excess) + size_noise).mean(axis=0))
    size_error[size_error > GUESS / 2 * float(published.sizes.sum())] = np.inf
    seen = member @ (count - excess) > clear_level(k, pure=published.pure) * np.sqrt(member @ np.square(error))
    known = (seen & (found > WORLDS / 2))[:, None] & (stderr < GUESS * domain.half)
    return Bars(np.where(known, stderr, np.inf), size_error, known.any(axis=1))


def places_off(
    steps: Sequence[Step], rows: np.ndarray, share: np.ndarray, before: Sequence[np.ndarray],
    likely: np.ndarray, member: np.ndarray, published: PublishedParts,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Return published minus measured centres and the variance of the noise, by one set of made-up records."""
    target = share.T @ rows / np.maximum(share.sum(axis=0), 1e-9)[:, None]
    total = np.maximum(member @ likely, 1e-9)[:, None]
    part, several = member * likely / total, (member.sum(axis=1) > 1)[:, None]
    found, noises, changes = [], [], []
    for step, old in zip(steps, before, strict=True):
        places, noise = step.places(likely)
        measured, mass = part @ places, old.sum(axis=0)
        expected = (member * mass) @ step.expected(rows, old) / np.maximum(member @ mass, 1e-9)[:, None]
        # if a cluster has several components, the noise of their counts moves its centre too
        away = np.square(places - measured[:, None]) * np.square(member * step.counts_noise / total)[:, :, None]
        noises.append(np.square(part) @ np.square(noise) + several * away.sum(axis=1))
        changes.append(target - expected)
        found.append(measured + target - expected)
    return off_average(published.centres, found, noises, changes)


def sizes_off(
    steps: Sequence[Step], share: np.ndarray, before: Sequence[np.ndarray], worth: float, member: np.ndarray,
    published: PublishedParts,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Return published minus measured sizes and the variance of the noise; a made-up record stands for `worth`."""
    changes = [worth * (share.sum(axis=0) - member @ old.sum(axis=0)) for old in before]
    found = [member @ step.counts + change for step, change in zip(steps, changes, strict=True)]
    noises = [member @ np.square(step.counts_noise) for step in steps]
    return off_average(published.sizes, found, noises, changes)


def off_average(
    published: np.ndarray, found: list[np.ndarray], noises: list[np.ndarray], changes: list[np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Return published values minus the average of those found, by precision, and the variance of its noise."""
    weight = 1 / (np.array(noises) + np.square(UNSURE * np.array(changes)) + 1e-300)
    weight /= weight.sum(axis=0)
    return published - (weight * np.array(found)).sum(axis=0), (weight**2 * np.array(noises)).sum(axis=0)


def drawn(mixture: Mixture, domain: Box | Ball, total: float) -> list[np.ndarray]:
    """Draw sets of made-up records from a mixture."""
    number = int(np.clip(total, FEWEST_MADE, MOST_MADE))
    return [domain.clip(mixture.sample(number, world)) for world in range(WORLDS)]
