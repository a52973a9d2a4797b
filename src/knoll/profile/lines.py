"""Columns as rows of slots, the finest cells there are; all cells are runs of slots, so that edges meet exactly.

Public: from declared kinds alone.
"""

from dataclasses import dataclass

import numpy as np

from knoll.arrays import Floats, Integers
from knoll.columns import Boolean, Category, Cyclic, Date, Kind, Ordered, Whole

_FINEST = 2**30  # slots of a column of any numbers: far finer than noise
MOST_FIXED = 64  # slots up to which each is a cell of its own


@dataclass(frozen=True)
class Line:
    """The slots of one column: from `first` on, each `step` wide.

    Attributes
    ----------
    smooth : bool
        Whether neighbours are likely to be alike: false for categories.
    round : bool
        Whether the last slot is beside the first.
    """

    first: float
    step: float
    slots: int
    smooth: bool = True
    round: bool = False

    @property
    def fixed(self) -> bool:
        """Whether every slot is a cell: they are few, or have no order."""
        return not self.smooth or self.slots <= MOST_FIXED

    def values(self, at: Integers) -> Floats:
        """Return the values of edges between slots."""
        return self.first + self.step * np.asarray(at, dtype=np.float64)


def line_of(kind: Kind) -> Line:
    """Return the slots of a declared column, by the values that it is encoded as."""
    part = kind.part
    if isinstance(kind, Category | Boolean):
        levels = part[1] if part[0] == "corners" else 2
        return Line(-0.5, 1.0, int(levels), smooth=False)
    if isinstance(kind, Cyclic):
        return Line(0.0, 1.0 / _FINEST, _FINEST, round=True)
    _, lower, upper = part
    if isinstance(kind, Ordered | Whole):
        first, last = np.ceil(lower), np.floor(upper)
        if last - first < _FINEST:
            return Line(float(first) - 0.5, 1.0, int(max(last - first, 0)) + 1)
    if isinstance(kind, Date) and "T" not in kind.first + kind.last and upper - lower < _FINEST:
        return Line(float(np.floor(lower)), 1.0, int(np.floor(upper) - np.floor(lower)) + 1)
    return Line(lower, (upper - lower) / _FINEST, _FINEST)


def equal_cells(line: Line, number: int) -> Integers:
    """Return the edges of about so many equal cells, the outer ones too."""
    return np.unique(np.linspace(0, line.slots, min(number, line.slots) + 1).astype(np.int64))


def refined(edges: Integers, masses: Floats, target: float, light: float, most: int) -> Integers:
    """Return edges of cells that hold about `target` at most: heavy cells are split, light neighbours joined.

    Parameters
    ----------
    edges : array of shape (n + 1,)
        Cells so far.
    masses : array of shape (n,)
        What each holds, zero or more.
    target : float
        What a cell should hold.
    light : float
        What neighbours that are joined may hold together.
    most : int
        Parts that one cell is split into.
    """
    parts = np.exp2(np.rint(np.log2(np.clip(masses / target, 1.0, most)))).astype(np.int64)
    found, held = [int(edges[0])], 0.0
    for i, (start, stop) in enumerate(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)):
        if held and (parts[i] > 1 or held + masses[i] > light):
            found.append(start)
            held = 0.0
        if parts[i] > 1:
            found += np.linspace(start, stop, parts[i] + 1).astype(np.int64)[1:].tolist()
        else:
            held += masses[i] or 1e-300
            if i == len(parts) - 1:
                found.append(stop)
    return np.unique(found)
