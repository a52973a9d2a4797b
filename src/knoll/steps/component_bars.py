"""Error bars of components and of clusters made of them: as numeric/bars.py, from steps of expectation-maximisation.

Every step measured the moments of an *earlier* mixture's components. Made-up records, drawn from the last mixture, tell
how these moments change until what is published. So every step gives an estimate of what is asked about: the moments of
the records, weighted by their published responsibilities. The estimates are averaged by their precision:

    error  =  published - average of (measured + change) + noise of the average

Everything here is post-processing of released values.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from knoll.numeric.bars import GUESS, Bars, clear_level, counted
from knoll.numeric.clipping import clip_factors
from knoll.numeric.mixture import Mixture
from knoll.queries import Ball, Box

WORLDS = 3  # sets of made-up records
MOST_MADE, FEWEST_MADE = 4000, 200  # records of a set: more take longer
UNSURE = 0.5  # standard error of a simulated change, over the change: the mixture need not fit the records


@dataclass(frozen=True)
class MeasuredStep:
    """One release of component moments: about which mixture, by which responsibilities, clipped where, and what it gave.

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
            away = (rows - mean) @ turn.T
            length = np.sqrt(np.square(away).sum(axis=1))
            weight = shares[:, i] * np.minimum(1.0, self.radius / np.maximum(length, 1e-300))
            out[i] = mean + root @ (weight @ away) / max(float(shares[:, i].sum()), 1e-9)
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


def component_bars(
    steps: Sequence[MeasuredStep], last: Mixture, domain: Box | Ball, published: PublishedParts
) -> Bars:
    """Return error bars of centres and sizes, and which of them are told from noise."""
    k, d = published.centres.shape
    member = np.eye(k)[:, published.groups] * (published.groups >= 0)
    precision = sum(1 / np.square(step.counts_noise) for step in steps)
    count = sum(step.counts / np.square(step.counts_noise) for step in steps) / precision
    error = np.sqrt(1 / precision)
    excess, doubt = counted(count, error, pure=published.pure)
    likely = np.maximum(count - excess, error)
    total = np.maximum(member @ likely, 1e-9)
    worlds = drawn(last, domain, float(np.maximum(count, 0.0).sum()))
    offs, size_offs, noises, size_noises = [], [], [], []
    for rows in worlds:
        share = published.shares(rows)
        mass = share.sum(axis=0)
        target = share.T @ rows / np.maximum(mass, 1e-9)[:, None]
        scale = max(float(np.maximum(count, 0.0).sum()), 1.0) / len(rows)
        off, noise = averaged_error(steps, rows, target, likely, member, total, published)
        offs.append(off)
        noises.append(noise)
        changes = [mass - member @ step.shares(rows).sum(axis=0) for step in steps]
        weights = np.array([1 / (np.square(step.counts_noise).mean() + np.square(UNSURE * scale * change))
                            for step, change in zip(steps, changes, strict=True)])  # fmt: skip
        weights /= weights.sum(axis=0)
        found = sum(w * (member @ step.counts + scale * change)
                    for w, step, change in zip(weights, steps, changes, strict=True))  # fmt: skip
        size_offs.append(published.sizes - found)
        size_noises.append(sum(w**2 * (member @ np.square(step.counts_noise)) for w, step in zip(weights, steps, strict=True)))
    stderr = np.sqrt(np.square(offs).mean(axis=0) + np.mean(noises, axis=0))
    shift = member @ excess
    size_error = np.sqrt(np.square(np.array(size_offs) + shift).mean(axis=0) + np.mean(size_noises, axis=0))
    seen = member @ count > clear_level(k, pure=published.pure) * np.sqrt(member @ np.square(error))
    known = seen[:, None] & (stderr < GUESS * domain.half)
    return Bars(np.where(known, stderr, np.inf), size_error, known.any(axis=1))


def averaged_error(
    steps: Sequence[MeasuredStep], rows: np.ndarray, target: np.ndarray, likely: np.ndarray, member: np.ndarray,
    total: np.ndarray, published: PublishedParts,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Return published minus measured centres and the variance of the noise, by one set of made-up records."""
    found, noises, weights = [], [], []
    part = member * likely / total[:, None]
    for step in steps:
        places, noise = step.places(likely)
        measured = part @ places
        share = step.shares(rows)
        before = member @ share.sum(axis=0)
        mean = member @ (share.sum(axis=0)[:, None] * step.expected(rows, share)) / np.maximum(before, 1e-9)[:, None]
        change = target - mean
        away = np.square(places[None] - measured[:, None]) * np.square(step.counts_noise / total[:, None])[:, :, None]
        square = np.square(part) @ np.square(noise) + (away * member[:, :, None]).sum(axis=1) * (member.sum(axis=1) > 1)[:, None]
        found.append(measured + change)
        noises.append(square)
        weights.append(1 / (square + np.square(UNSURE * change) + 1e-300))
    weight = np.array(weights) / np.sum(weights, axis=0)
    return published.centres - (weight * np.array(found)).sum(axis=0), (weight**2 * np.array(noises)).sum(axis=0)


def drawn(mixture: Mixture, domain: Box | Ball, total: float) -> list[np.ndarray]:
    """Draw sets of made-up records from a mixture."""
    number = int(np.clip(total, FEWEST_MADE, MOST_MADE))
    return [domain.clip(mixture.sample(number, world)) for world in range(WORLDS)]
