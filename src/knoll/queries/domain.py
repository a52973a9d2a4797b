"""Public domains: a box or a ball. A record enters a query clipped to it, as whole numbers on its grid (`grid.py`)."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from knoll.arrays import Floats, Integers
from knoll.privacy.errors import BoundsError, brief
from knoll.queries.grid import Grid, Gridded, clip_to_ball, shorten
from knoll.queries.query import UNIT

LARGEST_BOUND, SMALLEST_HALF = 1e30, 1e-30
"""Bounds are no larger, and half a width no smaller.

What queries compute from bounds are widths, grid steps (2^-18 of them), their reciprocals and squares, products of two
columns' widths, and the square of a ratio of two; estimators add fourth powers of widths (the variance of a variance)
and of ratios of two. All lie between 1e-280 and 1e280, far from where doubles overflow or lose bits (1e308, 1e-308).
So every step and limit is a finite, positive number, and no number becomes a NaN: a difference that overflows is
infinite, keeps its sign, and is clipped.
"""

_NARROWEST = 1e-12  # half a width, as a part of the larger norm: it spans thousands of doubles then


class Domain(Protocol):
    """A public region that records are clipped to, and its grid."""

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        ...

    @property
    def centre(self) -> Floats:
        """Its middle: the origin of the grid."""
        ...

    @property
    def steps(self) -> Floats:
        """Width of a grid unit, per column."""
        ...

    def clip_to_grid(self, block: Floats) -> Floats:
        """Clip records and round them to the grid; records that hold a NaN are left out."""
        ...

    def reach(self, weights: Integers, norm: int) -> float:
        """Largest norm of a weighted grid point."""
        ...

    def widest(self, weights: Integers, norm: int) -> float:
        """Largest norm of the difference of two weighted grid points."""
        ...

    def clip(self, points: Floats) -> Floats:
        """Move public points into the domain."""
        ...


@dataclass(frozen=True)
class Box:
    """An axis-parallel box: every column between two public bounds.

    The grid is per column, `UNIT` units to half a width, so a grid point is any vector of integers within ±UNIT.

    A column whose bounds are equal is constant: every record has its value there, 0 on the grid, and adds nothing. It
    has a nominal width, that of the narrowest other column, so that nobody divides by zero.

    >>> box = Box((0, 10), (110, 60), names=("age", "bmi"))
    >>> box.centre
    array([55., 35.])
    >>> box
    Box(age=0:110, bmi=10:60)
    """

    lower: tuple[float, ...]
    upper: tuple[float, ...]
    names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "lower", _floats("lower", self.lower))
        object.__setattr__(self, "upper", _floats("upper", self.upper))
        if len(self.lower) != len(self.upper) or not self.lower:
            raise BoundsError(f"{len(self.lower)} lower bounds and {len(self.upper)} upper bounds")
        for j, (low, high) in enumerate(zip(self.lower, self.upper, strict=True)):
            if not low <= high:
                raise BoundsError(f"bounds of column {self._name(j)}: lower {low:g} is not below upper {high:g}")
            if low < high and not high / 2 - low / 2 >= max(SMALLEST_HALF, _NARROWEST * max(abs(low), abs(high))):
                raise BoundsError(
                    f"bounds of column {self._name(j)}: {low!r} and {high!r} are too close to compute with"
                )

        if self.lower == self.upper:
            raise BoundsError("lower bounds are not below upper bounds in any column: every record would be the same")

    def _name(self, j: int) -> str:
        return repr(self.names[j]) if self.names else str(j)

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.lower)

    @cached_property
    def corners(self) -> Floats:
        """The lower and the upper bounds as the rows of an array."""
        return np.array([self.lower, self.upper])

    @cached_property
    def extent(self) -> Floats:
        """How far records reach from the middle of each column: half its width, nothing in a constant column."""
        return (self.corners[1] - self.corners[0]) / 2

    @cached_property
    def constant(self) -> NDArray[np.bool_]:
        """Which columns are constant."""
        return np.array(self.lower) == np.array(self.upper)

    @cached_property
    def half(self) -> Floats:
        """Half the width of each column; of a constant column, a nominal one."""
        if not self.constant.any():
            return self.extent
        nominal = np.maximum(self.extent[~self.constant].min(), 2 * _NARROWEST * np.abs(self.corners[0]))
        return np.where(self.constant, nominal, self.extent)

    @cached_property
    def centre(self) -> Floats:
        """The middle of each column."""
        return self.corners[0] + self.extent

    @cached_property
    def steps(self) -> Floats:
        """Width of a grid unit, per column."""
        return self.half / UNIT

    def clip_to_grid(self, block: Floats) -> Floats:
        """Clip to the box and round to the grid; records that hold a NaN are left out."""
        return block.on(self) if isinstance(block, Gridded) else self.grid.clip_to_grid(block)

    @cached_property
    def grid(self) -> Grid:
        """The grid of the columns."""
        return Grid(self.centre, self.extent, self.steps)

    @property
    def n_sources(self) -> int:
        """Number of columns of a block: as many as there are coordinates."""
        return len(self.lower)

    @property
    def scales(self) -> Floats:
        """The metric in which columns count alike: divide by these."""
        return self.half.copy()

    def coordinates(self, block: Floats) -> Floats:
        """Return a block's rows as points of this domain: as they are, not clipped."""
        return block

    def longest(self, scales: Floats | None = None) -> float:
        """Length of the longest record from the middle, after division by scales."""
        return float(np.linalg.norm(self.half if scales is None else self.half / scales))

    def reach(self, weights: Integers, norm: int) -> float:
        """Largest norm of a weighted grid point: at a corner, where every coordinate is ±UNIT (0 if it is constant)."""
        return float(UNIT * np.linalg.norm(np.where(self.constant, 0, weights), norm))

    def widest(self, weights: Integers, norm: int) -> float:
        """Largest norm of the difference of two weighted grid points: of opposite corners."""
        return 2 * self.reach(weights, norm)

    def clip(self, points: Floats) -> Floats:
        """Move public points into the box."""
        return np.clip(points, *self.corners)

    def __repr__(self) -> str:
        names = self.names or tuple(f"x{j}" for j in range(self.n_columns))
        shown = [f"{n}={lo:g}:{hi:g}" for n, lo, hi in zip(names[:20], self.lower[:20], self.upper[:20], strict=True)]
        return f"Box({', '.join(shown)}{', ...' if self.n_columns > 20 else ''})"


@dataclass(frozen=True)
class Ball:
    """A Euclidean ball: every record within `radius` of a public `middle`.

    Without a middle it is about the origin, in as many columns as the data has: ``bounds=knoll.Ball(1.0)``.

    A record outside is first clipped to the surrounding cube, then pulled towards the middle; grid coordinates are cut
    towards zero, so that rounding never leaves the ball and adds nothing to the sensitivity.

    >>> ball = Ball(2.0, (0.0, 0.0))
    >>> (ball.clip_to_grid(np.array([[3.0, 0.0], [0.5, 0.5]])) * ball.steps).round(3).tolist()
    [[2.0, 0.0], [0.5, 0.5]]
    """

    radius: float
    middle: tuple[float, ...] = ()
    names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", _floats("radius", [self.radius])[0])
        object.__setattr__(self, "middle", _floats("middle", self.middle))
        if not self.radius >= max([SMALLEST_HALF, *(_NARROWEST * abs(each) for each in self.middle)]):
            raise BoundsError(f"radius {self.radius:g} is not positive, or too small to compute with")
        if self.middle:
            _ = self.cube  # refused here, not in the middle of a fit, if it cannot be computed with

    def over(self, n_columns: int, names: tuple[str, ...] | None = None) -> "Ball":
        """Return the ball in so many columns: the same, if its middle is known, else about the origin."""
        return self if self.middle else Ball(self.radius, (0.0,) * n_columns, self.names or names)

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.middle)

    @property
    def centre(self) -> Floats:
        """The middle of the ball."""
        return np.array(self.middle)

    @property
    def half(self) -> Floats:
        """Half the width of the surrounding cube, per column."""
        return np.full(self.n_columns, self.radius)

    @property
    def constant(self) -> NDArray[np.bool_]:
        """Which columns are constant: none."""
        return np.zeros(self.n_columns, dtype=bool)

    @property
    def steps(self) -> Floats:
        """Width of a grid unit, per column."""
        return self.half / UNIT

    @cached_property
    def cube(self) -> Box:
        """The surrounding cube, with the same grid."""
        return Box(tuple(self.centre - self.radius), tuple(self.centre + self.radius), self.names)

    def clip_to_grid(self, block: Floats) -> Floats:
        """Clip to the ball and cut to the grid; records that hold a NaN are left out."""
        return block.on(self) if isinstance(block, Gridded) else clip_to_ball(self.cube.clip_to_grid(block), UNIT)

    @property
    def n_sources(self) -> int:
        """Number of columns of a block: as many as there are coordinates."""
        return len(self.middle)

    @property
    def scales(self) -> Floats:
        """The metric in which columns count alike: divide by these."""
        return self.half

    def coordinates(self, block: Floats) -> Floats:
        """Return a block's rows as points of this domain: as they are, not clipped."""
        return block

    def longest(self, scales: Floats | None = None) -> float:
        """Length of the longest record from the middle, after division by scales."""
        return float(np.max(self.half if scales is None else self.half / scales))

    def reach(self, weights: Integers, norm: int) -> float:
        """Largest norm of an equally weighted grid point: UNIT in l2; sqrt(columns) times it, on a diagonal, in l1."""
        largest = float(np.max(weights)) * UNIT
        return largest if norm == 2 else largest * self.n_columns**0.5

    def widest(self, weights: Integers, norm: int) -> float:
        """Largest norm of the difference of two weighted grid points: of opposite ones."""
        return 2 * self.reach(weights, norm)

    def clip(self, points: Floats) -> Floats:
        """Move public points into the ball."""
        return self.centre + shorten(points - self.centre, self.radius)


def _floats(what: str, values: Sequence[Any]) -> tuple[float, ...]:
    try:
        numbers = tuple(float(value) for value in values)
    except (TypeError, ValueError):
        raise BoundsError(f"{what} bounds {brief(values)} are not all numbers") from None
    if not all(abs(number) <= LARGEST_BOUND for number in numbers):
        raise BoundsError(f"{what} bounds must be finite numbers, at most {LARGEST_BOUND:g} in size")
    return numbers
