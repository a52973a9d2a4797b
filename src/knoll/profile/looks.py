"""Looks at all columns at once, each with a part of the budget; the cells of one are chosen from those before it.

A look counts the records in cells of each column, in groups of cells, and those without a value. All counts of a
column, from all looks, are then fitted together on the cells between all edges (`knoll.numeric.cell_masses`).
"""

from dataclasses import dataclass, field, replace

import numpy as np

from knoll.arrays import Floats, Integers
from knoll.numeric.cell_masses import Counted, Masses, Shape, fit_masses, increasing
from knoll.privacy import Grant
from knoll.profile.lines import Line, refined
from knoll.queries import ColumnCells, ColumnProfile
from knoll.queries.query import COUNT_WEIGHT

MOST_PARTS = 32  # of a cell at the next look
CLEAR = 7.0  # standard errors of its count that a cell should hold
LIGHT = 2.0  # standard errors of a count: cells that hold less are joined to their neighbours
GROUPS = 8  # of cells at the last look: what lies below an edge is then the sum of few counts
GROUPED = 0.3  # their part of what a column costs, its cells have the rest
FLOOR = 0.05  # least that a cell is expected to hold, in parts of what cells should hold


@dataclass(frozen=True)
class Cells:
    """The cells of one column at a look: their edges as slots, and groups of them with the weight of a vote."""

    edges: Integers
    starts: tuple[Integers, ...]
    weights: tuple[int, ...]

    @classmethod
    def between(cls, edges: Integers, *, grouped: bool = False, norm: int = 2, weight: float = 1.0) -> "Cells":
        """Return the cells between edges; groups of them are counted too, if they are many."""
        n = len(edges) - 1
        if not grouped or n < 2 * GROUPS:
            return cls(edges, (np.arange(n),), (int(weight * COUNT_WEIGHT),))
        groups = np.unique(np.linspace(0, n, GROUPS + 1).astype(np.int64)[:-1])
        parts = weight * COUNT_WEIGHT * np.array([1 - GROUPED, GROUPED]) ** (1 / norm)
        return cls(edges, (np.arange(n), groups), tuple(parts.astype(int).tolist()))

    def of(self, line: Line) -> ColumnCells:
        """Return what a query counts."""
        return ColumnCells(line.values(self.edges[1:-1]), self.starts, self.weights)


@dataclass(frozen=True)
class Column:
    """One column: its slots, the edges of all its cells so far, and what was counted.

    Attributes
    ----------
    edges : array of shape (n_cells + 1,)
        Edges between cells, the outer ones too, as slots.
    expected : array of shape (n_cells,)
        About what was expected of every cell before it was counted.
    runs : tuple of (first, end, values, variances)
        Counts of runs of slots. The missing values are the slot after the last.
    """

    line: Line
    edges: Integers
    expected: Floats
    runs: tuple[tuple[Integers, Integers, Floats, Floats], ...] = field(default=())

    @classmethod
    def of(cls, line: Line) -> "Column":
        """Return a column that was not looked at yet."""
        return cls(line, np.array([0, line.slots]), np.ones(1))

    def expecting(self, edges: Integers, masses: Floats, least: float) -> "Column":
        """Return the column with more edges; what cells hold is spread over their parts by width, at least a little."""
        every = np.union1d(self.edges, edges)
        below = np.concatenate([[0.0], np.cumsum(masses)])
        return replace(self, edges=every, expected=np.maximum(np.diff(np.interp(every, self.edges, below)), least))

    def after(self, cells: Cells, counts: list[Floats], errors: list[Floats]) -> "Column":
        """Return the column after its cells were counted."""
        runs = list(self.runs)
        for starts, values, noise in zip(cells.starts, counts, errors, strict=True):
            bounds = np.append(cells.edges[starts], [self.line.slots, self.line.slots + 1])
            runs.append((bounds[:-1], bounds[1:], values, noise**2))
        return replace(self, runs=tuple(runs))

    def fitted(self) -> Masses:
        """Return what every cell holds, and the missing values last."""
        edges = np.append(self.edges, self.line.slots + 1)
        first, end, values, variances = (np.concatenate(each) for each in zip(*self.runs, strict=True))
        counted = Counted(np.searchsorted(edges, first), np.searchsorted(edges, end), values, variances)
        return fit_masses(counted, Shape(np.diff(self.edges).astype(float), self.expected, self.line.round), 1)

    def held(self) -> Floats:
        """Return what every cell holds, as numbers above zero or zero; without the missing values."""
        masses = self.fitted().part(slice(0, -1))
        below, errors = masses.sums()
        return np.diff(increasing(below, errors, float(below[-1])))


def look(grant: Grant, columns: list[Column], plans: dict[int, Cells]) -> list[Column]:
    """Spend a grant on counting the cells of some columns; return all columns after it."""
    query = ColumnProfile([cells.of(columns[j].line) for j, cells in plans.items()], list(plans))
    released = grant.release(query)
    found = list(columns)
    parts = zip(plans.items(), query.split(released.value), query.split(released.stderr), strict=True)
    for (j, cells), counts, errors in parts:
        found[j] = columns[j].after(cells, counts, errors)
    return found


def choose_cells(column: Column, noise: float, number: int) -> tuple[Column, Integers]:
    """Return edges of cells that hold about as much each as far as can be told, and the column that expects it.

    Parameters
    ----------
    column : Column
        After the looks so far.
    noise : float
        Standard error of a cell's count at the next look.
    number : int
        Most cells, about.
    """
    held = column.held()
    target = max(float(held.sum()) / number, CLEAR * noise)
    edges = refined(column.edges, held, target, min(target, LIGHT * noise), MOST_PARTS)
    return column.expecting(edges, held, FLOOR * target), edges
