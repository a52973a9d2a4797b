"""Columns that hold a vector in every row: Arrow's lists of one fixed size, as embeddings are stored.

A column `v` of lists of n numbers is n feature columns, named v[0] to v[n-1]. A missing list is a row without values.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from knoll.arrays import Floats
from knoll.engines.decode import doubles, is_number


def width_of(kind: Any) -> int | None:
    """Return how many numbers a column of this Arrow type holds in every row, None if it is no column of vectors."""
    if pa.types.is_fixed_size_list(kind) and is_number(kind.value_type) and kind.list_size > 0:
        return int(kind.list_size)
    return None


def spread(names: Iterable[str], widths: Mapping[str, int]) -> list[str]:
    """Return the feature columns of stored ones.

    >>> spread(["id", "v"], {"v": 2})
    ['id', 'v[0]', 'v[1]']
    """
    return [
        each for name in names for each in ([f"{name}[{i}]" for i in range(widths[name])] if name in widths else [name])
    ]


def folded(names: list[str], widths: Mapping[str, int]) -> list[str]:
    """Return the stored columns of feature columns: where all of a vector stand in their order, the vector.

    >>> folded(["id", "v[0]", "v[1]"], {"v": 2})
    ['id', 'v']
    """
    found, left = [], list(names)
    first = {f"{name}[0]": name for name in widths}
    while left:
        name = first.get(left[0])
        whole = [] if name is None else spread([name], widths)
        if name is not None and left[: len(whole)] == whole:
            found.append(name)
            left = left[len(whole) :]
        else:
            found.append(left.pop(0))
    return found


def vectors(column: Any, width: int) -> Floats:
    """Return an Arrow array of lists of one size as rows of doubles; what is missing becomes NaN."""
    start = column.offset * width
    values = doubles(column.values[start : start + len(column) * width]).reshape(len(column), width)
    if column.null_count:
        values = np.where(column.is_null().to_numpy(zero_copy_only=False)[:, None], np.nan, values)
    return values
