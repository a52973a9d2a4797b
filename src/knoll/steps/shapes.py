"""Shapes of cells on the estimators' side: how to read a release of `CellShapes`, and how to ask for the next.

Everything here is post-processing of released values.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np

from knoll.numeric.made_up import Measured, unclipped
from knoll.privacy import Ask, Grant, Released
from knoll.queries import Ball, Box, CellShapes, Frame, Line, Product, Projected
from knoll.queries.shapes import Cells

# Clip radius^2 = (1 + CLIP / sqrt(dims)) * expected squared length, or more (see `ellipsoid`). A larger CLIP means more
# noise, a smaller one more bias. docs/benchmarks.md measures no other value.
CLIP = 3.0
TAIL = 0.08  # bias of a mean by the narrowest clip, in standard deviations of the records: a guess for skewed tails
# FULL: a mean square of clipped displacements, in squared radii of the clip: above, records may lie anywhere beyond.
# ALIKE: least standard deviation of that figure between cells.
# PULLED: a mean displacement, in radii of the clip: above, most records were clipped on one side.
# GUESSED: standard deviation of the mean square that the variances of a search say, for error bars.
# WIDER: standard errors that are added to it: too narrow a guess is worse than too wide a one.
# All are settled on the tuned kinds of benchmarks/coverage.
FULL, ALIKE, PULLED, GUESSED, WIDER = 0.85, 0.15, 0.5, 0.5, 0.5


@dataclass(frozen=True)
class Shapes:
    """Released counts, sums of displacements and of squares per cell, and the standard errors of their noise."""

    count: np.ndarray
    sums: np.ndarray
    squares: np.ndarray
    count_sd: float
    sums_sd: np.ndarray
    squares_sd: np.ndarray

    @classmethod
    def of(cls, released: Released) -> "Shapes":
        """Take a release of `CellShapes` apart."""
        d = (released.value.shape[1] - 1) // 2
        value, error = released.value, released.stderr
        return cls(
            value[:, 0].copy(),
            value[:, 1 : 1 + d],
            value[:, 1 + d :],
            float(error[0, 0]),
            error[:, 1 : 1 + d],
            error[:, 1 + d :],
        )

    def variance(self, prior: np.ndarray, trust: float, count: np.ndarray) -> np.ndarray:
        """Return variances per column: released ones averaged with `prior` by precision (prior sd = trust * prior)."""
        seen, noise = self._variance(count)
        p = (trust * prior) ** 2
        return prior + p / (p + noise) * (seen - prior)

    def rescaled(self, prior: np.ndarray, trust: float, count: np.ndarray) -> np.ndarray:
        """Return the prior variances times a factor for all cells and one for each cell. Many columns tell these well.

        Squares are taken about the point where the cell was expected. So a cell that is far from there does not look
        narrow.
        """
        seen, noise = self.squares / count, self._variance(count)[1]
        for axis in ((0, 1), 1):
            weight = np.where((self.count > 2 * self.count_sd)[:, None], prior**2 / noise, 0.0)
            known = weight.sum(axis=axis, keepdims=True)
            factor = (weight * seen / prior).sum(axis=axis, keepdims=True) / np.maximum(known, 1e-300)
            prior = prior * np.clip(1 + known / (known + trust**-2) * (factor - 1), 0.1, 10.0)
        return prior

    def _variance(self, count: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the released variances per column, and the variances of their noise."""
        return self.squares / count - (self.sums / count) ** 2, (self.squares_sd / count) ** 2


@cache
def unit_frame(n_columns: int) -> Frame:
    """Return a frame that stands for any other with as many columns, where only their number matters."""
    return Frame(Box((-1.0,) * n_columns, (1.0,) * n_columns))


def _probe(frame: Frame, count: float, squares: float) -> CellShapes:
    d, two = frame.n_columns, np.ones(2)
    at, axes = np.zeros((2, d)), np.ones((2, d))
    return CellShapes(_TwoCells, frame, at, axes, two, count_weight=count, square_weight=squares)


@dataclass(frozen=True)
class ShapeRequest:
    """How `CellShapes` is asked: name, weights of count and squares (displacements have 1), tolerated bias."""

    name: str
    count: float
    squares: float
    bias: float

    def noise(self, grant: Grant, frame: Frame) -> float:
        """Return the standard error of a unit displacement if all that is left of a grant is spent on it."""
        probe = _probe(unit_frame(frame.n_columns), self.count, self.squares)  # the size of the bounds does not matter
        return float(grant.stderr(probe)[0, 1])

    def plan(self, n_columns: int, cells: int, times: int = 1, *, share: float) -> Ask:
        """Return what a release of the shapes of so many cells asks."""
        return Ask.like(_probe(unit_frame(n_columns), self.count, self.squares), cells, times, share=share)

    def ask(
        self, grant: Grant, cells: Cells, frame: Frame, at: np.ndarray, axes: np.ndarray, radii: np.ndarray
    ) -> Shapes:
        """Release the shapes of cells about the points `at`."""
        query = CellShapes(
            cells, frame, at, axes, radii, count_weight=self.count, square_weight=self.squares, name=self.name
        )
        return Shapes.of(grant.release(query))


class _TwoCells:
    """Stands for any cells, where it only matters that there is more than one."""

    n_cells = 2
    gridded = None

    @staticmethod
    def labels(block: np.ndarray, grid: np.ndarray | None = None) -> np.ndarray:
        raise NotImplementedError


def effective(widths: np.ndarray) -> np.ndarray:
    """Return the effective number of columns of these widths: 1 if only one is wide, d if all are equal."""
    return widths.sum(-1) ** 2 / np.maximum((widths * widths).sum(-1), 1e-300)


def ellipsoid(
    variance: np.ndarray, count: np.ndarray | float = 0.0, noise: float = 1.0, bias: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """Return column weights A and clip radii R of |A u| for cells of these variances.

    A_j = 1 / sqrt(s_j), for standard deviations s_j, minimises the total noise. R^2 is (1 + CLIP / sqrt(dims)) times
    the expected |A u|^2. The clip gets wider if counts are far above the noise: as long as this costs less than `bias`
    of the cell's variance, and at most up to the optimum for the heaviest tails.
    """
    s = np.sqrt(variance)
    s = np.maximum(s, 0.02 * s.max(-1, keepdims=True) + 1e-300)
    dims = effective(s)
    wide = affordable_room(dims, np.maximum(count, 1e-9) / noise, bias)
    return 1 / np.sqrt(s), np.sqrt(np.maximum(1 + CLIP / np.sqrt(dims), wide) * s.sum(-1))


def affordable_room(dims: np.ndarray, ratio: np.ndarray, bias: float) -> np.ndarray:
    """Return a squared clip radius, over the expected squared length, that costs at most `bias` of the variance.

    `ratio` is the count over the noise of a unit displacement. The room is at most the optimum for the heaviest tails.
    """
    return np.asarray(np.minimum(bias * ratio**2 / dims, ratio / np.sqrt(dims)))


def measured_shapes(
    seen: Shapes, at: np.ndarray, moved: np.ndarray, variance: np.ndarray, axes: np.ndarray, radii: np.ndarray,
    *, levels: bool = False,
) -> Measured:  # fmt: skip
    """Return what a release showed of the cells about points `at`, for the error bars of centres made of it.

    With `levels`, records lie on corners or circles: they fill a clip, all about as far from its middle, and none is
    far beyond.
    """
    k, d = at.shape
    n = np.maximum(seen.count, seen.count_sd)[:, None]
    noise = np.hypot(seen.sums_sd, moved * seen.count_sd) / n
    # what a narrow clip cuts off records with long tails to one side, nobody knows
    narrow = np.square(ellipsoid(np.maximum(variance, 1e-300))[1] / radii)[:, None]
    noise = np.hypot(noise, TAIL * np.sqrt(variance) * np.minimum(narrow, 1.0))
    times, _, hidden = beyond_clip(seen, n, variance, axes, radii)
    aside = pulled(seen, n, moved, axes, radii)
    hidden = aside if levels else hidden | aside
    mean = at + np.sqrt(times)[:, None] * moved
    return Measured(
        mean, np.where(hidden[:, None], np.inf, noise), times[:, None] * variance, seen.count,
        np.full(k, seen.count_sd), np.arange(k), np.zeros(d), np.eye(d), at, radii, axes,
    )  # fmt: skip


def pulled(seen: Shapes, n: np.ndarray, moved: np.ndarray, axes: np.ndarray, radii: np.ndarray) -> np.ndarray:
    """Return of which cells most records were clipped on one side."""
    weight = np.square(axes / radii[:, None])
    return np.asarray((weight * (np.square(moved) - np.square(seen.sums_sd / n))).sum(axis=1) > PULLED**2)


def mostly_levels(domain: Box | Ball | Projected) -> bool:
    """Return whether most coordinates of a domain are levels of categories or of circles: records lie on their rim."""
    source = domain.source if isinstance(domain, Projected) else domain
    if not isinstance(source, Product):
        return False
    lines = sum(isinstance(source.parts[j], Line) for j in source.numbers)
    return 2 * lines <= source.n_columns


def beyond_clip(
    seen: Shapes, n: np.ndarray, variance: np.ndarray, axes: np.ndarray, radii: np.ndarray, guessed: float = GUESSED
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return how many times larger variances are than they are taken to be, displacements than what the clip left.

    Both are what is likely. The third says where a clip hides all.

    The released squares tell which part of a clip's radius the records fill, whatever variances the search took them to
    have. Noisy parts are averaged with those of all cells by precision.
    """
    part, error, (common, doubt) = _filled(seen, n, variance, axes, radii, guessed)
    weight = np.square(axes / radii[:, None])
    differ = max(float(np.median(np.square(part - common) - error)), ALIKE**2)
    gain = differ / (differ + error)
    unsure = np.sqrt(gain * error + np.square((1 - gain) * doubt))
    part = np.clip(common + gain * (part - common) + WIDER * unsure, 0.01, 1.0)
    whole = unclipped(part, effective(np.sqrt(weight * variance)))
    wider = np.maximum(whole / (weight * variance).sum(axis=1), 1.0)
    return wider, np.sqrt(np.maximum(whole / part, 1.0)), part > FULL


def times_wider(seen: Shapes, n: np.ndarray, variance: np.ndarray, axes: np.ndarray, radii: np.ndarray) -> float:
    """Return how many times larger variances are than what the clips let through: one figure for all cells."""
    common = float(np.clip(_filled(seen, n, variance, axes, radii, ALIKE)[2][0], 0.01, FULL))
    dims = effective(np.sqrt(np.square(axes / radii[:, None]) * variance))
    return max(float(np.mean(unclipped(np.full(len(radii), common), dims))) / common, 1.0)


def _filled(
    seen: Shapes, n: np.ndarray, variance: np.ndarray, axes: np.ndarray, radii: np.ndarray, guessed: float
) -> tuple[np.ndarray, np.ndarray, tuple[float, float]]:
    """Return mean squares over the squared radius of each clip, the variances of their noise, and their average.

    The average is drawn to what the expected variances say, as far as it is noise; `guessed` is the standard deviation
    of what they say. The standard error of the average comes with it.
    """
    weight = np.square(axes / radii[:, None])
    part = (weight * seen.squares / n).sum(axis=1)
    error = np.square(weight * seen.squares_sd / n).sum(axis=1)
    known = float((1 / error).sum())
    expected = float(np.clip((weight * variance).sum(axis=1), 0.0, 1.0).mean())
    gain = guessed**2 / (guessed**2 + 1 / known)
    average = expected + gain * (float((part / error).sum()) / known - expected)
    return part, error, (average, float((gain / known) ** 0.5))
