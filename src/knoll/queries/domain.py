"""Public domains: a box or a ball, clipping to it, and its integer grid.

A record enters a query as integers on a fixed grid. Quantising is element-wise (subtract, multiply, round, clip: each
correctly rounded by IEEE 754, whatever the block), so it depends on the record alone, bit for bit.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from knoll.privacy.errors import BoundsError
from knoll.queries.query import UNIT

Floats = npt.NDArray[np.float64]
_LARGEST_BOUND, _SMALLEST_WIDTH = 1e30, 1e-30  # fourth powers, and ratios of them, stay far inside what doubles hold

HOW_TO_BOUND = (
    "Differential privacy needs to know how far a record can reach. Either give bounds that you know without looking "
    'at the data, e.g. bounds=(0, 100), bounds=([0, 10], [110, 60]) or bounds={"age": (0, 110), "bmi": (10, 60)}; or '
    'buy them from the budget: bounds="private". (On the command line: --bounds "age=0:110,bmi=10:60" or --bounds '
    "private.) The minimum and maximum of the data are not safe: they are two "
    "people's values."
)


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

    def quantise(self, block: Floats) -> Floats:
        """Clip records and round them to the grid; records that hold a NaN are left out."""
        ...

    def reach(self, weights: npt.NDArray[np.int64], norm: int) -> float:
        """Largest norm of a weighted grid point."""
        ...

    def clip(self, points: Floats) -> Floats:
        """Move public points into the domain."""
        ...


@dataclass(frozen=True)
class Box:
    """An axis-parallel box: every column between two public bounds.

    The grid is per column, `UNIT` units to half a width, so a grid point is any vector of integers within ±UNIT.

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
            if not low < high:
                raise BoundsError(f"bounds of column {self._name(j)}: lower {low:g} is not below upper {high:g}")
            if not high / 2 - low / 2 > max(_SMALLEST_WIDTH, 1e-12 * max(abs(low), abs(high))):
                raise BoundsError(
                    f"bounds of column {self._name(j)}: {low!r} and {high!r} are too close to compute with"
                )

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
    def half(self) -> Floats:
        """Half the width of each column."""
        return (self.corners[1] - self.corners[0]) / 2

    @cached_property
    def centre(self) -> Floats:
        """The middle of each column."""
        return self.corners[0] + self.half

    @cached_property
    def steps(self) -> Floats:
        """Width of a grid unit, per column."""
        return self.half / UNIT

    def quantise(self, block: Floats) -> Floats:
        """Clip to the box and round to the grid; records that hold a NaN are left out."""
        return self._grid.quantise(block)

    @cached_property
    def _grid(self) -> "Grid":
        return Grid(self.centre, self.half, self.steps)

    def reach(self, weights: npt.NDArray[np.int64], norm: int) -> float:
        """Largest norm of a weighted grid point: at a corner, where every coordinate is ±UNIT."""
        return float(UNIT * np.linalg.norm(np.broadcast_to(weights, (self.n_columns,)), norm))

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

    A record outside is first clipped to the surrounding cube, then pulled towards the middle; grid coordinates are cut
    towards zero, so that rounding never leaves the ball and adds nothing to the sensitivity.

    >>> ball = Ball(2.0, (0.0, 0.0))
    >>> (ball.quantise(np.array([[3.0, 0.0], [0.5, 0.5]])) * ball.steps).round(3).tolist()
    [[2.0, 0.0], [0.5, 0.5]]
    """

    radius: float
    middle: tuple[float, ...]
    names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", _floats("radius", [self.radius])[0])
        object.__setattr__(self, "middle", _floats("middle", self.middle))
        if not self.radius > max(_SMALLEST_WIDTH, 1e-12 * max(map(abs, self.middle), default=0.0)):
            raise BoundsError(f"radius {self.radius:g} is not positive, or too small to compute with")

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
    def steps(self) -> Floats:
        """Width of a grid unit, per column."""
        return self.half / UNIT

    @cached_property
    def cube(self) -> Box:
        """The surrounding cube, with the same grid."""
        return Box(tuple(self.centre - self.radius), tuple(self.centre + self.radius), self.names)

    def quantise(self, block: Floats) -> Floats:
        """Clip to the ball and cut to the grid; records that hold a NaN are left out."""
        return clip_to_ball(self.cube.quantise(block), UNIT)

    def reach(self, weights: npt.NDArray[np.int64], norm: int) -> float:
        """Largest norm of an equally weighted grid point: UNIT in l2; sqrt(columns) times it, on a diagonal, in l1."""
        largest = float(np.max(weights)) * UNIT
        return largest if norm == 2 else largest * self.n_columns**0.5

    def clip(self, points: Floats) -> Floats:
        """Move public points into the ball."""
        offset = points - self.centre
        length = np.linalg.norm(offset, axis=1, keepdims=True)
        return self.centre + offset * np.minimum(1.0, self.radius / np.maximum(length, 1e-300))


class Grid:
    """An integer grid over a box: element-wise ``rint((x - centre) / step)``, clipped to the box.

    A column whose values are x lies within ± limit, reached at its bounds: rounding is monotone, so nothing inside
    the box exceeds what its bounds give, and what lies outside is clipped.
    """

    def __init__(self, centre: Floats, half: Floats, steps: Floats) -> None:
        limit = np.minimum(np.rint(half / steps), UNIT)
        self._cube = all(bool((column == column[0]).all()) for column in (centre, steps, limit))
        # equal columns collapse to numbers, which broadcast much faster
        self._centre, self._per_step, self._limit = (
            column[0] if self._cube else column for column in (centre, 1.0 / steps, limit)
        )

    def quantise(self, block: Floats) -> Floats:
        """Return the grid points of a block as doubles; records that hold a NaN are left out."""
        with np.errstate(over="ignore", invalid="ignore"):
            if self._cube:
                grid = np.subtract(block, self._centre)
            else:  # column by column in memory, so that numpy's inner loops run along rows
                grid = block.T.copy().T
                grid -= self._centre
            grid *= self._per_step
        np.rint(grid, out=grid)
        np.clip(grid, -self._limit, self._limit, out=grid)
        if np.isnan(grid.sum()):
            grid = grid[~np.isnan(grid).any(axis=1)]
        return grid


def clip_to_ball(grid: Floats, radius: int) -> Floats:
    """Pull integer vectors into a ball of integer radius, cutting coordinates towards zero.

    Squared lengths are sums of integers below 2^53, exact in any order. The factor is lowered by 2^-40, more than
    all its roundings, so the cut vector is no longer than `radius`.
    """
    squares = np.einsum("ij,ij->i", grid, grid)
    limit = float(radius) ** 2
    if squares.size and squares.max() > limit:
        inside = squares <= limit
        factor = radius * (1.0 - 2.0**-40) / np.sqrt(np.maximum(squares, limit))
        factor[inside] = 1.0
        grid *= factor[:, None]
        np.trunc(grid, out=grid)
    return grid


def domain_from(bounds: Any, n_columns: int, names: Sequence[str] | None = None) -> Box | Ball:
    """Read what a user gives as bounds into a `Box` or `Ball` over `n_columns` columns.

    Parameters
    ----------
    bounds : Box, Ball, (lower, upper) or dict
        Lower and upper may be numbers or one value per column. A dict maps every column name (or position) to
        (lower, upper).
    n_columns : int
        Number of columns.
    names : sequence of str, optional
        Column names, in order.

    Examples
    --------
    >>> domain_from((0, 1), 2)
    Box(x0=0:1, x1=0:1)
    >>> domain_from({"bmi": (10, 60), "age": (0, 110)}, 2, ["age", "bmi"])
    Box(age=0:110, bmi=10:60)
    """
    known = tuple(map(str, names)) if names is not None else None
    if bounds is None:
        raise BoundsError(f"no bounds given. {HOW_TO_BOUND}")
    if isinstance(bounds, str):
        raise BoundsError(f"bounds={bounds!r} is not understood. {HOW_TO_BOUND}")
    if isinstance(bounds, Box | Ball):
        if bounds.n_columns != n_columns:
            raise BoundsError(f"bounds are for {bounds.n_columns} columns; the data has {n_columns}")
        if bounds.names is not None and known is not None and tuple(bounds.names) != known:
            raise BoundsError(
                f"bounds are for the columns {', '.join(bounds.names[:20])}; the data has {', '.join(known[:20])}, in "
                "this order. A dict of bounds by column is matched by name"
            )
        return bounds
    if isinstance(bounds, Mapping):
        lower, upper = _by_column(bounds, n_columns, known)
    else:
        lower, upper = _pair("bounds", bounds)
    try:
        pair = np.asarray(lower, dtype=float), np.asarray(upper, dtype=float)
        columns = [np.broadcast_to(side, (n_columns,)).tolist() for side in pair]
    except (TypeError, ValueError):
        raise BoundsError(
            f"bounds must be two numbers, or two lists with one number for each of the {n_columns} columns"
        ) from None
    return Box(tuple(columns[0]), tuple(columns[1]), known)


def _by_column(bounds: Mapping[Any, Any], n_columns: int, names: tuple[str, ...] | None) -> tuple[Any, Any]:
    columns: tuple[Any, ...] = names if names is not None else tuple(range(n_columns))
    missing = [column for column in columns if column not in bounds]
    unknown = [column for column in bounds if column not in columns]
    if missing or unknown:
        parts = [f"no bounds for column {c!r}" for c in missing] + [f"no column {c!r} in the data" for c in unknown]
        raise BoundsError(f"{'; '.join(parts[:6])}. The columns are {', '.join(map(repr, columns[:20]))}")
    pairs = [_pair(f"bounds of column {column!r}", bounds[column]) for column in columns]
    return [low for low, _ in pairs], [high for _, high in pairs]


def _pair(what: str, value: Any) -> tuple[Any, Any]:
    try:
        low, high = value
    except (TypeError, ValueError):
        raise BoundsError(f"{what}: {value!r} is not a pair (lower, upper). {HOW_TO_BOUND}") from None
    return low, high


def _floats(what: str, values: Sequence[Any]) -> tuple[float, ...]:
    try:
        numbers = tuple(float(value) for value in values)
    except (TypeError, ValueError):
        raise BoundsError(f"{what} bounds {values!r} are not all numbers") from None
    if not all(abs(number) <= _LARGEST_BOUND for number in numbers):
        raise BoundsError(f"{what} bounds must be finite numbers, at most {_LARGEST_BOUND:g} in size")
    return numbers
