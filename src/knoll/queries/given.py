"""Bounds as a user gives them: numbers, lists, a dict by column, or a domain."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from knoll.privacy.errors import BoundsError, brief
from knoll.queries.domain import Ball, Box
from knoll.queries.product import Product
from knoll.queries.sphere import Sphere

SPHERE = "sphere"
"""Bounds of directions: rows are scaled to length one."""

HOW_TO_BOUND = (
    "Differential privacy needs to know how far a record can reach. Either give bounds that you know without looking "
    'at the data, e.g. bounds=(0, 100), bounds=[(0, 110), (10, 60)] or bounds={"age": (0, 110), "bmi": (10, 60)}; '
    'buy them from the budget: bounds="private"; or, if only directions matter (embeddings), scale every row to length '
    'one: bounds="sphere". (On the command line: --bounds "age=0:110,bmi=10:60" or --bounds '
    "private; knoll columns drafts a file for columns of any kind.) The minimum and maximum of the data are not safe: "
    "they are two people's values."
)


def domain_from(bounds: Any, n_columns: int, names: Sequence[str] | None = None) -> Box | Ball:
    """Read what a user gives as bounds into a `Box` or `Ball` over `n_columns` columns.

    Parameters
    ----------
    bounds : Box, Ball, "sphere", (lower, upper), list of (lower, upper) or dict
        "sphere" scales every row to length one. A ball without a middle is about the origin. Lower and upper may be
        numbers or one value per column. A list has one pair (lower, upper) for each column, in order. A dict maps every
        column name (or position) to (lower, upper). With two columns, a tuple of two lists or arrays is (lower,
        upper), and a list of two tuples is one pair per column; see `_two_columns`.
    n_columns : int
        Number of columns.
    names : sequence of str, optional
        Column names, in order.

    Examples
    --------
    >>> domain_from((0, 1), 2)
    Box(x0=0:1, x1=0:1)
    >>> domain_from([(0, 110), (10, 60)], 2)
    Box(x0=0:110, x1=10:60)
    >>> domain_from({"bmi": (10, 60), "age": (0, 110)}, 2, ["age", "bmi"])
    Box(age=0:110, bmi=10:60)
    """
    known = tuple(map(str, names)) if names is not None else None
    if bounds is None:
        raise BoundsError(f"no bounds given. {HOW_TO_BOUND}")
    if isinstance(bounds, str) and bounds == SPHERE:
        return Sphere(n_columns, known)
    if isinstance(bounds, Ball):
        bounds = bounds.over(n_columns, known)
    if isinstance(bounds, str):
        raise BoundsError(f"bounds={brief(bounds)} is not understood. {HOW_TO_BOUND}")
    if isinstance(bounds, Box | Ball):
        if bounds.n_sources != n_columns:
            raise BoundsError(f"bounds are for {bounds.n_sources} columns; the data has {n_columns}")
        named = bounds.columns if isinstance(bounds, Product) else bounds.names
        if named is not None and known is not None and tuple(named) != known:
            raise BoundsError(
                f"bounds are for the columns {', '.join(named[:20])}; the data has {', '.join(known[:20])}, in "
                "this order. A dict of bounds by column is matched by name"
            )
        return bounds
    if isinstance(bounds, Mapping):
        lower, upper = _by_column(bounds, n_columns, known)
    elif _is_pairs(bounds, n_columns):
        lower, upper = zip(*bounds, strict=True)
    else:
        lower, upper = _pair("bounds", bounds)
    try:
        pair = np.asarray(lower, dtype=float), np.asarray(upper, dtype=float)
        columns = [np.broadcast_to(side, (n_columns,)).tolist() for side in pair]
    except (TypeError, ValueError):
        raise BoundsError(
            f"bounds must be two numbers, or one pair (lower, upper) for each of the {n_columns} columns, or two lists "
            "of one number per column"
        ) from None
    return Box(tuple(columns[0]), tuple(columns[1]), known)


def _by_column(bounds: Mapping[Any, Any], n_columns: int, names: tuple[str, ...] | None) -> tuple[Any, Any]:
    columns: tuple[Any, ...] = names if names is not None else tuple(range(n_columns))
    missing = [column for column in columns if column not in bounds]
    unknown = [column for column in bounds if column not in columns]
    if missing or unknown:
        parts = [f"no bounds for column {brief(column)}" for column in missing]
        parts += [f"no column {brief(column)} in the data" for column in unknown]
        raise BoundsError(f"{'; '.join(parts[:6])}. The columns are {', '.join(map(repr, columns[:20]))}")
    pairs = [_pair(f"bounds of column {brief(column)}", bounds[column]) for column in columns]
    return [low for low, _ in pairs], [high for _, high in pairs]


def _is_pairs(bounds: Any, n_columns: int) -> bool:
    """Whether bounds are one pair (lower, upper) for each column, and not the lower bounds and then the upper ones."""
    if isinstance(bounds, np.ndarray):
        bounds = bounds.tolist()
    if not isinstance(bounds, list | tuple) or len(bounds) != n_columns:
        return False
    if not all(isinstance(each, list | tuple | np.ndarray) and len(each) == 2 for each in bounds):
        return False
    return n_columns != 2 or _two_columns(bounds)


def _two_columns(bounds: Any) -> bool:
    """Whether two pairs of numbers are one pair per column.

    A tuple of lists or arrays is (lower, upper), and a list of tuples is one pair per column. Anything else is what it
    can be if the lower bounds are to lie below the upper ones. If it can be both, it is refused.
    """
    if isinstance(bounds, tuple) and not any(isinstance(each, tuple) for each in bounds):
        return False
    if isinstance(bounds, list) and all(isinstance(each, tuple) for each in bounds):
        return True
    try:
        (a, b), (c, d) = ((float(one), float(other)) for one, other in bounds)
    except (TypeError, ValueError):
        return False  # refused by those who read them as numbers
    by_column, by_side = a < b and c < d, a < c and b < d
    if not by_column and not by_side:  # a constant column, whose bounds are equal
        by_column = a <= b and c <= d
    if by_column and by_side and b != c:
        raise BoundsError(
            f"bounds={brief(bounds)} can be read in two ways. One (lower, upper) per column is a list of tuples, "
            f"bounds=[({a:g}, {b:g}), ({c:g}, {d:g})]; lower bounds and upper bounds are a tuple of lists, "
            f"bounds=([{a:g}, {b:g}], [{c:g}, {d:g}])"
        )
    return by_column


def _pair(what: str, value: Any) -> tuple[Any, Any]:
    try:
        low, high = value
    except (TypeError, ValueError):
        raise BoundsError(f"{what}: {brief(value)} is not a pair (lower, upper). {HOW_TO_BOUND}") from None
    return low, high
