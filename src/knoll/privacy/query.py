"""What the door needs to know of a query, and what it checks of it; `knoll.queries.Query` implements it.

A query that was made from overflowed or missing numbers has a sensitivity that means nothing, so the door looks for
itself: `check_query` before anything is summed or recorded, `bounded_total` at the total of every block of records.
"""

import math
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from knoll.privacy.errors import PrivacyError
from knoll.privacy.relation import Relation

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

_DEPTH = 2  # of objects of ours within a query that are looked into: its cells, their domain


class QueryProtocol(Protocol):
    """A query whose total an engine can sum, and whose noise can be calibrated."""

    name: str
    shape: tuple[int, ...]
    weights: Integers
    step: Floats
    touched: int
    largest: int

    def sensitivity(self, relation: Relation, norm: int) -> float:
        """Return the largest change of the weighted total between neighbours."""
        ...

    def summarise(self, block: Floats) -> Integers:
        """Return the exact total over a block of records."""
        ...


class Rows(Protocol):
    """Where records live: anything that sums a query exactly; `knoll.engines` implements it."""

    @property
    def row_limit(self) -> int:
        """A number that the rows cannot exceed."""
        ...

    def aggregate(self, query: QueryProtocol) -> Integers:
        """Return the exact integer total of a query."""
        ...

    def tally(self, query: Any) -> tuple[list[str], Integers]:
        """Return the names that a keyed query finds, and how many units hold each."""
        ...


@dataclass(frozen=True)
class Ask:
    """What a fit will release at most, known from public facts alone before it begins.

    Attributes
    ----------
    touched : int
        Coordinates of one total that one record can move.
    size : int
        Coordinates of one total.
    times : int
        Number of such releases.
    share : float
        Least share of the budget that one of them gets.
    bound : (float, float)
        Largest l1 and l2 norm of one record's weighted contribution; 0 if only the
        first release of a fit tells it.
    """

    touched: int
    size: int
    times: int = 1
    _: KW_ONLY
    share: float = 1.0
    bound: tuple[float, float] = (0.0, 0.0)

    @classmethod
    def like(cls, query: Any, cells: int = 1, times: int = 1, *, share: float) -> "Ask":
        """Return what asking a query with so many times its cells asks."""
        bound = float(query.max_norm(1)), float(query.max_norm(2))
        return cls(query.touched, cells * math.prod(query.shape), times, share=share, bound=bound)

    def within(self, share: float) -> "Ask":
        """Return the same with a part of the budget."""
        return replace(self, share=self.share * share)


def either(one: list[Ask], other: list[Ask]) -> list[Ask]:
    """Return what a fit asks at most that goes one of two ways: the way that touches more, and no times the other.

    The scales of both are checked before the fit; the precision of the noise is paid for one of them.
    """

    def touched(way: list[Ask]) -> int:
        return sum(ask.times * min(ask.touched, ask.size) for ask in way)

    more, less = (one, other) if touched(one) >= touched(other) else (other, one)
    return [*more, *(replace(ask, times=0) for ask in less)]


def check_query(query: QueryProtocol) -> None:
    """Refuse a query that no total or noise can be computed for. Looks at no record."""
    shape, size = query.shape, math.prod(query.shape)
    weights, step = np.asarray(query.weights), np.asarray(query.step)
    wrong = ""
    if not isinstance(shape, tuple) or not all(_whole(n) and n > 0 for n in shape):
        wrong = "its shape is no tuple of positive integers"
    elif not (_whole(query.touched) and 1 <= query.touched <= size):
        wrong = "it says that a record touches no coordinate, or more than there are"
    elif not (_whole(query.largest) and 1 <= query.largest <= 2**62):
        wrong = "its largest entry is not between 1 and 2^62"
    elif weights.dtype.kind not in "iu" or not _fits(weights, shape) or not (weights >= 1).all():
        wrong = "its weights are not positive integers in its shape"
    elif step.dtype.kind != "f" or not _fits(step, shape) or not (np.isfinite(step) & (step > 0)).all():
        wrong = "its steps are not positive, finite numbers in its shape"
    elif any(_holds_nan(part, _DEPTH) for part in vars(query).values()):
        wrong = "it was made with numbers that are none (NaN)"
    if wrong:
        raise PrivacyError(
            f"{query.name!r} cannot be asked: {wrong}. Are the bounds sensible? Nothing was released by it"
        )


def check_sensitivity(query: QueryProtocol, sensitivity: float) -> float:
    """Return a query's sensitivity, or refuse one that is not a positive, finite number."""
    if not (isinstance(sensitivity, float | int) and 0.0 < sensitivity < math.inf):
        raise PrivacyError(f"{query.name!r} cannot be asked: its sensitivity is not a positive, finite number")
    return float(sensitivity)


def bounded_total(query: QueryProtocol, rows: Floats) -> Integers:
    """Return the total over a block, or refuse one beyond what its rows can add.

    Each row adds at most `largest` to a weighted entry, whatever it holds. The comparison is exact: integers, divided
    by the weight instead of multiplied, so that nothing overflows, and no absolute value, which -2^63 has not.
    """
    total = query.summarise(rows)
    most = min(len(rows) * query.largest, 2**62) // np.asarray(query.weights)
    right = isinstance(total, np.ndarray | np.integer) and np.shape(total) == query.shape and total.dtype.kind == "i"
    if not right or not bool(((total <= most) & (total >= -most)).all()):
        raise PrivacyError(
            f"internal error: the total of {query.name!r} is beyond what its records can add; it was not released"
        )
    return total


def _whole(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _fits(array: npt.NDArray[Any], shape: tuple[int, ...]) -> bool:
    """Whether an array can be broadcast to exactly this shape."""
    try:
        return np.broadcast_shapes(array.shape, shape) == shape
    except ValueError:
        return False


def _holds_nan(value: Any, depth: int) -> bool:
    """Whether any array of numbers within an object of ours holds a NaN."""
    if isinstance(value, np.ndarray):
        return value.dtype.kind == "f" and bool(np.isnan(value).any())
    if isinstance(value, float):
        return math.isnan(value)
    if isinstance(value, list | tuple):
        # long lists are of plain numbers (a tree's nodes): those are looked through at once
        more = [part for part in value if type(part) is not int and not (type(part) is float and part == part)]
        return depth > 0 and any(_holds_nan(part, depth - 1) for part in more)
    if depth > 0 and type(value).__module__.startswith("knoll."):
        return any(_holds_nan(part, depth - 1) for part in getattr(value, "__dict__", {}).values())
    return False
