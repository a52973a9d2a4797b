"""Bounds as a user gives them: numbers, lists, a dict by column, or a domain."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from knoll.privacy.errors import BoundsError
from knoll.queries.domain import Ball, Box
from knoll.queries.product import Product

HOW_TO_BOUND = (
    "Differential privacy needs to know how far a record can reach. Either give bounds that you know without looking "
    'at the data, e.g. bounds=(0, 100), bounds=([0, 10], [110, 60]) or bounds={"age": (0, 110), "bmi": (10, 60)}; or '
    'buy them from the budget: bounds="private". (On the command line: --bounds "age=0:110,bmi=10:60" or --bounds '
    "private.) The minimum and maximum of the data are not safe: they are two "
    "people's values."
)


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
