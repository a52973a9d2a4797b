"""Made-up records: how much clusters change between what a release measured and what is published.

Records are drawn from the released counts, means and variances of cells. Of these records both figures are computed:
what the release would have measured, and what is asked about. Only released values are used.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from scipy.special import gammainc
from sklearn.neighbors import NearestNeighbors

from knoll.compiled.points import add_rows
from knoll.numeric.distances import nearest
from knoll.numeric.threads import one_thread
from knoll.queries import Ball, Box, Line, Product, Sphere
from knoll.queries.sphere import lengthened

WORLDS = 6  # sets of made-up records: the change is averaged over them; more are smoother and take longer
MOST_MADE = 20_000  # made-up records of a set: more take longer; beyond, each stands for several
MOST_NUMBERS, EACH_CELL = 2**20, 100  # in many columns fewer: so many numbers, but so many records for each cell
NEAREST = 3  # neighbours whose distance tells the width of a cell, if no release does
WIDER = 4.0  # records that no cell shows are taken to have this many times the variance of those that cells show
KEPT = 0.1  # a cluster is found among made-up records if it holds this part of what the release measured, or more
LEAST_APART = 0.1  # part of the variance of cells' means that is not taken for noise: the comparison is uncertain
MOST_CLIPPED = 20.0  # largest mean square of lengths that were clipped to one: clipping hides how much larger it is


@dataclass(frozen=True)
class Measured:
    """What the last release showed of cells. Coordinates are such that distances are Euclidean.

    Attributes
    ----------
    mean, noise, variance : arrays of shape (m, d)
        Released means, standard errors of their noise, variances of records about the mean (released or guessed).
    count, count_noise : arrays of shape (m,)
        Released counts and the standard errors of their noise.
    group : integer array of shape (m,)
        The cluster that each cell belongs to; -1 for records that belong to the published clusters, though no cell of
        the release shows them.
    origin, turn : arrays of shape (d,), and (d, d) or (d,)
        A point x of these coordinates is ``origin + x @ turn`` in the columns; ``origin + x * turn`` if no axes are
        turned.
    at : array of shape (m, d), optional
        Cell i holds the records nearest to ``at[i]``. None if cells are of another kind.
    view : array of shape (p, d) or None
        Cell i holds the records whose projection ``view @ x`` is nearest to ``at[i]``, which then has p coordinates.
    rule : callable or None
        Gives the cell of each record, in the columns, where cells are not those nearest to `at`.
    radius : array of shape (m,) or None
        Displacements from `at`, times `axes`, were clipped to this length.
    axes : array of shape (m, d) or None
        Weights of the columns in that length.
    roots : array of shape (m, d, d) or None
        Roots of covariances, where more than variances is known.
    smear : array of shape (d,) or None
        The release saw records smeared by a kernel of this bandwidth, each in the cluster it is assigned to.
    """

    mean: np.ndarray
    noise: np.ndarray
    variance: np.ndarray
    count: np.ndarray
    count_noise: np.ndarray
    group: np.ndarray
    origin: np.ndarray
    turn: np.ndarray
    at: np.ndarray | None = None
    radius: np.ndarray | None = None
    axes: np.ndarray | None = None
    roots: np.ndarray | None = None
    smear: np.ndarray | None = None
    view: np.ndarray | None = None
    rule: Callable[[np.ndarray], np.ndarray] | None = None

    @property
    def borders_known(self) -> bool:
        """Whether it is known which records the release measured in which cell."""
        return self.at is not None or self.smear is not None or self.rule is not None

    def outside(self, points: np.ndarray) -> np.ndarray:
        """Return points in the columns."""
        return self.origin + self.turned(points)

    def turned(self, away: np.ndarray) -> np.ndarray:
        """Return displacements in the columns."""
        along = self.turn if self.turn.ndim == 1 else np.diagonal(self.turn)
        if np.count_nonzero(self.turn) == np.count_nonzero(along):  # no axes are turned: a product would add zeros
            return away * along
        return np.asarray(away @ self.turn)

    def inside(self, points: np.ndarray) -> np.ndarray:
        """Return points of the columns in these coordinates."""
        away = points - self.origin
        return np.asarray(away * self._back if self.turn.ndim == 1 else away @ self._back)

    @cached_property
    def _back(self) -> np.ndarray:
        """The way back from the columns, found once: that takes long where there are hundreds."""
        if self.turn.ndim == 1:
            return np.where(self.turn > 1e-15 * self.turn.max(), 1 / np.maximum(self.turn, 1e-300), 0.0)
        return np.asarray(np.linalg.pinv(self.turn))

    def spread(self, errors: np.ndarray) -> np.ndarray:
        """Return standard errors in the columns."""
        squares, turn = np.square(errors), np.square(self.turn)
        return np.sqrt(squares * turn if turn.ndim == 1 else squares @ turn)

    @property
    def scales(self) -> np.ndarray:
        """Lengths, in the columns, of one unit of all coordinates together."""
        return np.abs(self.turn) if self.turn.ndim == 1 else np.linalg.norm(self.turn, axis=0)

    def of_groups(self, kept: np.ndarray, groups: np.ndarray) -> Self:
        """Return some of the cells, each as a part of a cluster."""
        names = ("mean", "noise", "variance", "count", "count_noise", "at", "radius", "axes", "roots")
        parts = {name: getattr(self, name)[kept] for name in names if getattr(self, name) is not None}
        return replace(self, **parts, group=groups.astype(int))

    def with_missing(self, number: float) -> Self:
        """Add records that no cell shows: near the cells, in proportion to their counts, but more scattered."""
        if number <= 0:
            return self
        part = np.maximum(self.count, 0.0) / max(float(np.maximum(self.count, 0.0).sum()), 1e-9)
        more = {"mean": self.mean, "noise": np.zeros(self.mean.shape), "variance": WIDER * self.variance}
        more |= {"count": number * part, "count_noise": np.zeros(len(part)), "group": np.full(len(part), -1)}
        if self.roots is not None:
            more["roots"] = WIDER**0.5 * self.roots
        longer: dict[str, Any] = {name: np.concatenate([getattr(self, name), add]) for name, add in more.items()}
        return replace(self, **longer)


@dataclass(frozen=True)
class Published:
    """Published centres and sizes, the rule that assigns records (in the columns) to them, and the bounds."""

    centres: np.ndarray
    sizes: np.ndarray
    assign: Callable[[np.ndarray], np.ndarray]
    domain: Box | Ball
    pure: bool = False

    @property
    def half(self) -> np.ndarray:
        """Half widths of the bounds."""
        return self.domain.half

    def clip(self, points: np.ndarray) -> np.ndarray:
        """Move points into the bounds."""
        return np.asarray(self.domain.clip(points))


@dataclass(frozen=True)
class Change:
    """What happens to clusters between the release and what is published, in every world of made-up records.

    Attributes
    ----------
    means, sizes : arrays of shape (worlds, k, d) and (worlds, k)
        Changes of means and of counts.
    found : array of shape (k,)
        In how many worlds a cluster has records, and not only a few of those that were measured.
    traffic : array of shape (k,)
        Records that come to a cluster or leave it, on average over the worlds.
    """

    means: np.ndarray
    sizes: np.ndarray
    found: np.ndarray
    traffic: np.ndarray


def simulated(cells: Measured, published: Published, likely: np.ndarray, doubt: np.ndarray) -> Change:
    """Return how clusters change, by made-up records."""
    k = len(published.centres)
    rng = np.random.RandomState(0)
    changes, sizes, found, traffic = [], [], np.zeros(k), np.zeros(k)
    for world in range(WORLDS):
        made, weight, origin = made_up(cells, likely, doubt, rng, even=world % 2 == 0)
        rows = as_records(published.domain, cells.outside(made), cells.outside(cells.mean)[origin], rng)
        made = cells.inside(rows)  # the release saw records within the bounds, too
        after = published.assign(rows) if len(rows) else origin
        before, seen = as_measured(cells, published, made, rows, origin, rng)
        mean, n = means(seen, before, weight, k)
        target, m = means(rows, after, weight, k)
        both = (n > 0) & (m > 0)
        found += m > KEPT * n
        moving = np.where(before == after, 0.0, weight)[:, None]
        traffic += (grouped(moving, before, k) + grouped(moving, after, k))[:, 0] / WORLDS
        changes.append(np.where(both[:, None], target - mean, 0.0))
        sizes.append(m - n)
    return Change(np.array(changes), np.array(sizes), found, traffic)


def made_up(
    cells: Measured, likely: np.ndarray, doubt: np.ndarray, rng: np.random.RandomState, *, even: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw records of a world that may have given the release: positions, weights, and cells they come from.

    Records of a cell are normal, or `even`: cells that share a cluster are full up to their borders.
    """
    count = np.maximum(likely + doubt * rng.standard_normal(len(likely)), 0.0)
    m, d = cells.mean.shape
    each = max(1.0, float(count.sum()) / min(MOST_MADE, max(MOST_NUMBERS // d, EACH_CELL * m)))
    number = np.maximum(rng.poisson(count / each), count > 0.5).astype(int)
    origin = np.repeat(np.arange(len(count)), number)
    middle, unsure = likely_means(cells, likely)
    places = middle + unsure * rng.standard_normal(cells.mean.shape)
    shape = len(origin), d
    away = rng.uniform(-(3**0.5), 3**0.5, shape) if even else rng.standard_normal(shape)
    away = away - means(away, origin, np.ones(len(origin)), len(count))[0][origin]
    if cells.roots is None:
        away = away * np.sqrt(cells.variance)[origin]
    else:
        away = np.einsum("nij,nj->ni", cells.roots[origin], away)
    weight = (count / np.maximum(number, 1))[origin]
    return places[origin] + away, weight, origin


def likely_means(cells: Measured, likely: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return where the records of cells are likely to be, and the standard errors of that.

    Noise moves means outwards on average. Where nothing else is known of the cells than their means, these are drawn to
    the mean of all, as far as their spread is noise (Efron and Morris 1973).
    """
    noise = np.where(np.isfinite(cells.noise), cells.noise, 0.0)
    shown = cells.group >= 0
    if cells.borders_known or shown.sum() < 3:
        return cells.mean, noise
    weight = (likely * shown / max(float(likely[shown].sum()), 1e-300))[:, None]
    middle = (weight * cells.mean).sum(axis=0)
    apart = np.square(cells.mean - middle) - np.square(noise)
    true = np.maximum((weight * apart).sum(axis=0), LEAST_APART * (weight * np.square(cells.mean - middle)).sum(axis=0))
    gain = true / np.maximum(true + np.square(noise), 1e-300)
    return middle + gain * (cells.mean - middle), np.sqrt(gain) * noise


def as_records(
    domain: Box | Ball, points: np.ndarray, usual: np.ndarray, rng: np.random.RandomState
) -> np.ndarray:  # fmt: skip
    """Return points as records of a domain could be: within the bounds, with one level in every column of levels.

    On a sphere they have length one. Levels are drawn with the shares of the cells that the points belong to, which
    `usual` holds.
    """
    rows = lengthened(points) if isinstance(domain, Sphere) else np.array(domain.clip(points))
    if not isinstance(domain, Product) or not len(rows):
        return rows
    shares = domain.clip(usual)
    for j, where, m in domain.levels:
        part, drawn = domain.parts[j], rng.random_sample(len(rows))
        if isinstance(part, Line):
            wide = part.upper - part.lower
            rows[:, where] = part.lower + wide * (drawn[:, None] < (shares[:, where] - part.lower) / wide)
        else:
            up_to = np.cumsum(shares[:, where], axis=1)
            code = (drawn[:, None] * up_to[:, -1:] >= up_to).sum(axis=1)
            rows[:, where] = np.eye(m)[np.minimum(code, m - 1)]
    return rows


def as_measured(
    cells: Measured, published: Published, made: np.ndarray, rows: np.ndarray, origin: np.ndarray,
    rng: np.random.RandomState,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Return the cluster in which the release would have measured each made-up record, and where it would have been."""
    if not len(made):
        return origin, rows
    if cells.smear is not None:
        seen = published.clip(rows + cells.smear * rng.standard_normal(rows.shape))
        return published.assign(seen), seen
    if cells.rule is not None:
        return cells.group[cells.rule(rows)], rows
    if cells.at is None:
        return cells.group[origin], rows
    cell = nearest(made if cells.view is None else made @ cells.view.T, cells.at)
    if cells.radius is None or cells.axes is None:
        return cells.group[cell], rows
    away = made - cells.at[cell]
    length = np.linalg.norm(away * cells.axes[cell], axis=1)
    short = np.minimum(1.0, cells.radius[cell] / np.maximum(length, 1e-300))
    return cells.group[cell], cells.outside(cells.at[cell] + away * short[:, None])


def means(points: np.ndarray, labels: np.ndarray, weight: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return weighted means and total weights of groups of points."""
    mass = grouped(weight[:, None], labels, k)
    return grouped(points * weight[:, None], labels, k) / np.maximum(mass, 1e-300), mass[:, 0]


def grouped(values: np.ndarray, labels: np.ndarray, k: int) -> np.ndarray:
    """Return the sums of rows by group, (m, d) -> (k, d). Rows of group -1 are left out."""
    total = np.zeros((k, values.shape[1]))
    add_rows(np.require(values, np.float64, ["C", "A"]), np.ascontiguousarray(labels, dtype=np.int64), total)
    return total


def gap_variance(points: np.ndarray, most: np.ndarray) -> np.ndarray:
    """Guess the variances of cells, per column, from the distances of each point to the nearest others.

    Records spread evenly over cells of width w have variance w^2 / 12; cells at the rim are wider, hence w^2 / 8.
    """
    if len(points) < 2:
        return np.tile(most, (len(points), 1))
    number = min(len(points), 1 + NEAREST)
    with one_thread(loops=True):  # of few points; and a forked process would wait for threads that it has not
        gaps = NearestNeighbors(n_neighbors=number).fit(points).kneighbors(points)[0][:, 1:]
    return np.minimum(np.square(gaps).mean(axis=1)[:, None] / 8, most)


def unclipped(part: np.ndarray, dims: np.ndarray) -> np.ndarray:
    """Return the mean square of lengths before they were clipped to one, from the mean square after.

    Squared lengths are taken for a sum of `dims` equal squares of normal numbers.
    """
    tried = np.geomspace(0.01, MOST_CLIPPED, 60)
    a = np.maximum(dims, 1.0)[:, None] / 2
    after = tried * gammainc(a + 1, a / tried) + 1 - gammainc(a, a / tried)
    return np.array([np.interp(value, row, tried) for value, row in zip(part, after, strict=True)])
