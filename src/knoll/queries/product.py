"""A public domain of several kinds of columns: numbers, categories and circles, each a part of a few coordinates.

A block holds one double per column: a number, the code of a category, or a position on a circle, in turns. On its way
to the grid every column becomes its part's coordinates, by itself:

- `Line`: one coordinate, clipped to its bounds.
- `Corners`: one coordinate per level; a record stands at a corner of the simplex: one there, nothing elsewhere. Seen
  from the middle of the simplex all corners are equally far, sqrt(1 - 1/m), whatever the number m of levels.
- `Circle`: a cosine and a sine, one unit from the middle.

A code is rounded and clipped to those there are, a position is taken round the circle; both are then looked up in a
table of integers. So whatever a block holds, a record stands at a point of the table, bit for bit a function of its own
values, and the largest norm of a record is that of the table.

*Metric.* Every column counts alike: `scales` make the ends of a line 2 apart, two levels 1, and opposite points of a
circle 2; a weight multiplies that. A line's values are spread between its ends, the levels of a category are not: at
these scales both have variances of about a third. (`columns/domain.py` gives circles and yes-or-no a weight for that.)
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from knoll.arrays import Floats, Integers
from knoll.privacy.errors import BoundsError
from knoll.queries.domain import Box
from knoll.queries.grid import Grid, Gridded
from knoll.queries.query import UNIT

MOST_LEVELS = 10_000  # of one category: its table has the square of this many entries at most, in small integers
_TURN = 2**12  # positions on a circle: an hour of the day is known to 21 seconds
_APART = 2.0**-0.5  # of two levels, in units of their coordinates' scale: their squared distance is 1 then
_ANGLES = 2 * np.pi * np.arange(_TURN) / _TURN
_ROUND = np.trunc(UNIT * np.column_stack([np.cos(_ANGLES), np.sin(_ANGLES)]))  # cut towards zero: none is longer


@dataclass(frozen=True)
class Line:
    """Numbers between two bounds; with `binary`, no and yes at the ends and nothing between them."""

    lower: float
    upper: float
    weight: float = 1.0
    binary: bool = False

    @property
    def coordinates(self) -> int:
        """Number of coordinates."""
        return 1

    def __str__(self) -> str:
        return f"{self.lower:g}:{self.upper:g}"


@dataclass(frozen=True)
class Corners:
    """Levels of a category; a block holds their codes, 0 to levels - 1."""

    levels: int
    weight: float = 1.0

    def __post_init__(self) -> None:
        if not 2 <= self.levels <= MOST_LEVELS:
            raise BoundsError(f"a category has 2 to {MOST_LEVELS:,} levels, not {self.levels:,}")

    @property
    def coordinates(self) -> int:
        """Number of coordinates."""
        return self.levels

    def __str__(self) -> str:
        return f"{self.levels} levels"


@dataclass(frozen=True)
class Circle:
    """Positions on a circle, in turns: 0 and 1 are the same."""

    weight: float = 1.0

    @property
    def coordinates(self) -> int:
        """Number of coordinates."""
        return 2

    def __str__(self) -> str:
        return "circle"


Part = Line | Corners | Circle


def _box(part: Part) -> tuple[float, float, float]:
    """Return a part's lower and upper bounds, which are as far from its middle, and the scale of its metric."""
    if isinstance(part, Line):
        return part.lower, part.upper, (part.upper - part.lower) / 2 / part.weight
    if isinstance(part, Circle):
        return -1.0, 1.0, 1 / part.weight
    return 2 / part.levels - 1.0, 1.0, 1 / (_APART * part.weight)


@dataclass(frozen=True, repr=False)
class Product(Box):
    """The product of parts: a box of coordinates, of which some are bounded together.

    `names` are those of the coordinates, `columns` those of the columns.

    >>> domain = Product.of([Line(0, 110), Corners(3)], ("age", "plan"))
    >>> domain.coordinates(np.array([[20.0, 1.0], [70.0, 2.0]])).round(2).tolist()
    [[20.0, 0.0, 1.0, 0.0], [70.0, 0.0, 0.0, 1.0]]
    """

    parts: tuple[Part, ...] = ()
    columns: tuple[str, ...] | None = None

    @classmethod
    def of(cls, parts: Any, columns: Any = None, names: Any = None) -> "Product":
        """Return the product of parts, with the names of its columns and of its coordinates."""
        parts = tuple(parts)
        sides = [_box(part) for part in parts for _ in range(part.coordinates)]
        known = None if columns is None else tuple(map(str, columns))
        if names is None and known is not None:
            names = [name for part, name in zip(parts, known, strict=True) for name in _coordinate_names(part, name)]
        told = None if names is None else tuple(map(str, names))
        return cls(tuple(low for low, _, _ in sides), tuple(high for _, high, _ in sides), told, parts, known)

    def __post_init__(self) -> None:
        super().__post_init__()
        if sum(part.coordinates for part in self.parts) != len(self.lower):
            raise BoundsError("the parts of a product do not fit its coordinates")
        if not all(0 < part.weight < np.inf for part in self.parts):
            raise BoundsError("weights of columns must be positive numbers")

    @property
    def n_sources(self) -> int:
        """Number of columns of a block."""
        return len(self.parts)

    @cached_property
    def scales(self) -> Floats:
        """The metric: coordinates are divided by these."""
        scales = np.array([_box(part)[2] for part in self.parts for _ in range(part.coordinates)])
        return np.where(self.constant, self.half, scales)

    @cached_property
    def slices(self) -> list[slice]:
        """The coordinates of every column."""
        ends = np.cumsum([part.coordinates for part in self.parts])
        return [slice(int(end) - part.coordinates, int(end)) for part, end in zip(self.parts, ends, strict=True)]

    @cached_property
    def levels(self) -> list[tuple[int, slice, int]]:
        """Columns of levels, yes and no among them: column, its coordinates, the number of levels."""
        found = []
        for j, (part, where) in enumerate(zip(self.parts, self.slices, strict=True)):
            if isinstance(part, Corners) or (isinstance(part, Line) and part.binary):
                found.append((j, where, part.levels if isinstance(part, Corners) else 2))
        return found

    @cached_property
    def numbers(self) -> list[int]:
        """Columns that are neither levels nor constant: lines and circles."""
        known = {j for j, _, _ in self.levels}
        return [j for j, where in enumerate(self.slices) if j not in known and not self.constant[where].any()]

    @cached_property
    def number_places(self) -> Integers:
        """Coordinates of the columns of numbers."""
        return np.array([c for j in self.numbers for c in range(*self.slices[j].indices(self.n_columns))], dtype=int)

    def take(self, columns: list[int]) -> "Product":
        """Return the product of some of the columns."""
        return Product.of([self.parts[j] for j in columns])

    def codes(self, block: Floats, column: int) -> Integers:
        """Return the level of each record in a column of levels: 0 is no and 1 is yes in a binary one."""
        part = self.parts[column]
        if isinstance(part, Corners):
            return np.clip(np.rint(block[:, column]), 0, part.levels - 1).astype(np.int64)
        assert isinstance(part, Line)
        return (block[:, column] > (part.lower + part.upper) / 2).astype(np.int64)

    @cached_property
    def on_lines(self) -> list[int]:
        """Coordinates that are columns of numbers, of which bounds can be too wide or too narrow."""
        return self._lines[1]

    @cached_property
    def ends(self) -> tuple[Floats, Floats]:
        """Where points of the domain lie in each coordinate: shares of levels between 0 and 1."""
        low, high = self.corners.copy()
        for part, where in zip(self.parts, self.slices, strict=True):
            if isinstance(part, Corners):
                low[where] = 0.0
        return low, high

    @cached_property
    def _lines(self) -> tuple[list[int], list[int], Grid | None]:
        """Columns that are lines, their coordinates, and their grid."""
        which = [j for j, part in enumerate(self.parts) if isinstance(part, Line)]
        where = [self.slices[j].start for j in which]
        return which, where, Grid(self.centre[where], self.extent[where], self.steps[where]) if which else None

    def clip_to_grid(self, block: Floats) -> Floats:
        """Put every column on its part's grid; records that hold a NaN are left out."""
        if isinstance(block, Gridded):
            return block.on(self)
        block = np.asarray(block, dtype=np.float64)
        missing = np.isnan(block).any(axis=1)
        if missing.any():
            block = block[~missing]
        grid = np.empty((len(block), self.n_columns))
        which, places, lines = self._lines
        if lines is not None:
            grid[:, places] = lines.clip_to_grid(block[:, which])
        for j, (part, where) in enumerate(zip(self.parts, self.slices, strict=True)):
            if isinstance(part, Circle):
                grid[:, where] = _ROUND.take(_turn(block[:, j]), axis=0)
            elif isinstance(part, Corners):
                grid[:, where] = _elsewhere(part)
                grid[np.arange(len(block)), where.start + self.codes(block, j)] = UNIT
        return grid

    def coordinates(self, block: Floats) -> Floats:
        """Return a block's rows as points of this domain; NaN where a value is missing."""
        block = np.asarray(block, dtype=np.float64)
        points = np.full((len(block), self.n_columns), np.nan)
        known = ~np.isnan(block).any(axis=1)
        points[known] = self.centre + self.clip_to_grid(block[known]) * self.steps
        return points

    def reach(self, weights: Integers, norm: int) -> float:
        """Largest norm of a weighted grid point: parts are independent, so each is at its own largest."""
        every = np.broadcast_to(weights, (self.n_columns,)).astype(np.float64)
        return float(np.linalg.norm(self._longest_parts(every, norm), norm))

    def widest(self, weights: Integers, norm: int) -> float:
        """Largest norm of the difference of two weighted grid points."""
        every = np.broadcast_to(weights, (self.n_columns,)).astype(np.float64)
        apart = [_widest(part, every[where], norm) for part, where in zip(self.parts, self.slices, strict=True)]
        return float(np.linalg.norm(apart, norm))

    def longest(self, scales: Floats | None = None) -> float:
        """Length of the longest record from the middle, after division by scales."""
        worth = self.steps if scales is None else self.steps / scales
        return float(np.linalg.norm(self._longest_parts(worth, 2)))

    def _longest_parts(self, weights: Floats, norm: int) -> list[float]:
        """Return the largest norm of each part's weighted grid points."""
        return [_longest(part, weights[where], norm) for part, where in zip(self.parts, self.slices, strict=True)]

    def __repr__(self) -> str:
        names = self.columns or tuple(f"x{j}" for j in range(self.n_sources))
        shown = [f"{name}={part}" for name, part in zip(names[:20], self.parts[:20], strict=True)]
        return f"Product({', '.join(shown)}{', ...' if self.n_sources > 20 else ''})"

    def clip(self, points: Floats) -> Floats:
        """Move public points into the domain: shares between 0 and 1, circles no wider than one."""
        points = np.clip(points, *self.corners)
        for part, where in zip(self.parts, self.slices, strict=True):
            if isinstance(part, Corners):
                points[..., where] = np.maximum(points[..., where], 0.0)
            elif isinstance(part, Circle):
                length = np.linalg.norm(points[..., where], axis=-1, keepdims=True)
                points[..., where] /= np.maximum(length, 1.0)
        return points


def _elsewhere(part: Corners) -> float:
    """Grid coordinate of a level that a record does not have: zero, seen from the middle 1 / m; half is 1 - 1 / m."""
    return float(np.trunc(-UNIT / (part.levels - 1)))


def _turn(positions: Floats) -> Integers:
    """Return the row of the table of a circle for positions in turns, also for absurd ones."""
    with np.errstate(invalid="ignore", over="ignore"):
        steps = np.rint((positions - np.floor(positions)) * _TURN)
    return np.where(np.isfinite(steps), steps, 0.0).astype(np.int64) % _TURN


def _longest(part: Part, weights: Floats, norm: int) -> float:
    """Return the largest norm of a part's weighted grid points.

    A record at level i of a category has UNIT there and e elsewhere: its norm to the p is e^p (sum of w^p) +
    w_i^p (UNIT^p - e^p), largest at the largest weight.
    """
    if isinstance(part, Line):
        return float(weights[0]) * UNIT if part.lower < part.upper else 0.0
    if isinstance(part, Circle):
        return float(np.linalg.norm(_ROUND * weights, norm, axis=1).max())
    e, powers = abs(_elsewhere(part)), weights**norm
    whole = e**norm * powers.sum() + powers.max() * (float(UNIT) ** norm - e**norm)
    return float(whole ** (1 / norm))


def _widest(part: Part, weights: Floats, norm: int) -> float:
    """Return the largest norm of the difference of a part's weighted grid points.

    Ends of a line and opposite points of a circle differ by twice their norm. Two levels differ by UNIT - e in their
    own two coordinates, and by nothing in others.
    """
    if not isinstance(part, Corners):
        return 2 * _longest(part, weights, norm)
    return (UNIT - _elsewhere(part)) * float(np.linalg.norm(np.sort(weights)[-2:], norm))


def _coordinate_names(part: Part, name: str) -> list[str]:
    """Return names of a column's coordinates, where its levels have no names."""
    if isinstance(part, Line):
        return [name]
    if isinstance(part, Circle):
        return [f"{name}, cosine", f"{name}, sine"]
    return [f"{name}={i}" for i in range(part.levels)]
