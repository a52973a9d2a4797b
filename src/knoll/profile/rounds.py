"""Up to three looks at all columns: two that choose cells where records are, and one that counts them."""

from dataclasses import dataclass

import numpy as np

from knoll.privacy import Ask, Grant
from knoll.privacy.budget import Shares
from knoll.profile.lines import Line, equal_cells
from knoll.profile.looks import MOST_PARTS, Cells, Column, choose_cells, look
from knoll.queries import ColumnProfile

FIRST_CELLS, SECOND_CELLS, LAST_CELLS = 32, 16, 32
FIRST, SECOND = 0.6, 0.1  # of what a column is worth whose cells are chosen; the last look has the rest
UNORDERED = 1.5  # worth of a category, where a column of numbers is worth 1: nobody beside a level tells about it
FEW = 0.7  # worth of an ordered column of few values: nobody has to search for its cells


@dataclass(frozen=True)
class ProfileShares(Shares):
    """Shares of the budget: two looks that choose cells of some columns, and the one that counts those of all.

    A column whose cells are few or without order has all that it is worth at the last look.
    """

    first: float
    second: float
    last: float

    @classmethod
    def of(cls, lines: list[Line]) -> "ProfileShares":
        """Return the shares for columns. Public: from their declared kinds alone."""
        chosen = sum(_worth(line) for line in lines if not line.fixed) / sum(map(_worth, lines))
        return cls(FIRST * chosen, SECOND * chosen, 1.0 - (FIRST + SECOND) * chosen)


def looks_asks(lines: list[Line]) -> list[Ask]:
    """Return what the looks release at most. Public: from the declared columns alone."""
    chosen, shares = [line for line in lines if not line.fixed], ProfileShares.of(lines)
    last = _last_plans([Column.of(line) for line in lines], 2)
    query = _query([Column.of(line) for line in lines], last)
    more = LAST_CELLS * MOST_PARTS // 8 * len(chosen)
    asks = [Ask(2 * len(lines), query.shape[0] + more, share=shares.last, bound=_bound(query, 2.0))]
    if chosen:
        plans = {j: Cells.between(equal_cells(line, FIRST_CELLS)) for j, line in enumerate(chosen)}
        first = _query([Column.of(line) for line in chosen], plans)
        size = 2 * FIRST_CELLS * MOST_PARTS * len(chosen)
        asks.append(Ask(len(chosen), size, 2, share=shares.first, bound=_bound(first)))
    return asks


def look_at(grant: Grant, columns: list[Column]) -> list[Column]:
    """Spend a grant on up to three looks; without columns whose cells are chosen, on the last one alone."""
    columns, norm = list(columns), grant.norm
    chosen = [j for j, each in enumerate(columns) if not each.line.fixed]
    if chosen:
        parts = grant.split(ProfileShares.of([each.line for each in columns]))
        plans = {j: Cells.between(equal_cells(columns[j].line, FIRST_CELLS)) for j in chosen}
        for j, cells in plans.items():
            columns[j] = columns[j].expecting(cells.edges, np.ones(1), 0.0)
        columns = look(parts.first, columns, plans)
        noise = float(parts.second.stderr(_query(columns, plans)).max())
        for j in chosen:
            columns[j], edges = choose_cells(columns[j], noise, SECOND_CELLS)
            plans[j] = Cells.between(edges)
        columns = look(parts.second, columns, plans)
    last, plans = grant.rest, _last_plans(columns, norm)
    for j in set(plans) - set(chosen):
        columns[j] = columns[j].expecting(plans[j].edges, np.ones(1), 0.0)
    weights = _weights([each.line for each in columns], norm)
    noise = float(last.stderr(_query(columns, plans)).max())
    for j in chosen:
        columns[j], edges = choose_cells(columns[j], noise, LAST_CELLS)
        plans[j] = Cells.between(edges, grouped=True, norm=norm, weight=weights[j])
    return look(last, columns, plans)


def _worth(line: Line) -> float:
    return FEW if line.smooth and line.fixed else 1.0 if line.smooth else UNORDERED


def _weights(lines: list[Line], norm: int) -> list[float]:
    """Return the weights of the columns' votes at the last look: by what is left of their worth."""
    left = np.array([_worth(line) * (1.0 if line.fixed else 1.0 - FIRST - SECOND) for line in lines])
    return ((left / left.max()) ** (1 / norm)).tolist()


def _last_plans(columns: list[Column], norm: int) -> dict[int, Cells]:
    """Return the cells of the last look: every slot of fixed columns; of others as many equal ones, to be chosen."""
    plans, weights = {}, _weights([each.line for each in columns], norm)
    for j, column in enumerate(columns):
        line = column.line
        edges = np.arange(line.slots + 1) if line.fixed else equal_cells(line, LAST_CELLS)
        plans[j] = Cells.between(edges, grouped=line.smooth, norm=norm, weight=weights[j])
    return plans


def _query(columns: list[Column], plans: dict[int, Cells]) -> ColumnProfile:
    return ColumnProfile([cells.of(columns[j].line) for j, cells in plans.items()], list(plans))


def _bound(query: ColumnProfile, times: float = 1.0) -> tuple[float, float]:
    return times * query.max_norm(1), times * query.max_norm(2)
