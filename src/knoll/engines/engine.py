"""Where rows live. An engine sums queries over its rows, block by block, and knows nothing of noise or budgets."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from functools import cache, partial
from typing import Any, ClassVar, Literal, cast

import numpy as np

from knoll import progress
from knoll.arrays import Bools
from knoll.engines.ids import NO_ID
from knoll.engines.marks import column_marks
from knoll.engines.points import KeptPoints, points_for
from knoll.engines.share import Helpers, one_thread
from knoll.engines.users import Admission, ChosenRows
from knoll.privacy.errors import DataError, brief
from knoll.privacy.query import Floats, Integers, QueryProtocol, bounded_total
from knoll.privacy.relation import Record, Unit, User

_BLOCK_ENTRIES, _FEWEST_ROWS, _MOST_ROWS = 2**18, 2**11, 2**16
_WIDE = 2000  # from so many coordinates on, blocks of the usual fewest rows would fill tens of megabytes

Missing = Literal["refuse", "drop", "count"]
Rule = Literal["refuse", "drop", "count", "impute"]
Block = tuple[Floats, Any, float]
"""Rows, the user of each row (or None), and the fraction of the pass that is done after them."""

NO_ROWS = "there are no rows in the data"
REFUSED = (
    "the data holds missing (NaN) or infinite values, or levels that an ordered column does not declare. Pass "
    'missing="drop" (--missing drop) to leave such rows out (a row is dropped for its own values alone, which keeps '
    'the guarantee); or give the column a rule of its own, such as "0:110;missing=impute" or "{a,b};missing=level"'
)


class Engine(ABC):
    """Rows behind the wall.

    Parameters
    ----------
    names : tuple of str or None
        Column names.
    n_columns : int
        Number of feature columns.
    missing : {"refuse", "drop", "count"}
        What to do with a row that holds NaN or infinity. "count" hands it to the query, with infinity for what is
        missing (a NaN would make it null).
    unit : Record or User
        With a user, only `cap` rows of a user are used (users.py says which).
    nulls : bool
        Whether a row whose features are all missing is a null record, which adds nothing, whatever `missing` says. True
        under the replace relations, where the number of records is public and a neighbour may have one null record.
    rules : sequence of {"refuse", "drop", "impute"}, optional
        As `missing`, for each column; `missing` is then about rows without a user id only. Gaps to impute are left as
        they are, NaN, until `impute` is told what to fill them with.
    """

    rows_stay: ClassVar[bool] = False
    """Whether rows are the same in every pass by nature, so that one look for missing values is enough."""

    def __init__(
        self,
        names: tuple[str, ...] | None,
        n_columns: int,
        *,
        missing: Missing,
        unit: Unit | None,
        nulls: bool = False,
        rules: Sequence[Rule] | None = None,
    ):
        if missing not in ("refuse", "drop", "count"):
            raise DataError(f'missing={brief(missing)} is not one of "refuse", "drop", "count"')
        self.names, self.n_columns = names, n_columns
        self.missing: Missing = missing
        self.nulls = nulls
        known = np.array(rules or [missing] * n_columns)
        self._strict, self._imputed = known == "refuse", known == "impute"
        self._fills: Floats | None = None
        self.unit: Unit = unit if unit is not None else Record()
        self._passes, self._gaps = 0, False
        self._helpers, self._points = Helpers(), cast(KeptPoints | None, None)
        self._new_points: Any = KeptPoints
        self._chosen_rows: ChosenRows | None = None
        self.size_blocks(n_columns)

    def size_blocks(self, coordinates: int) -> None:
        """Choose how many rows are summed at a time, for queries that make so many coordinates of a row.

        Threads seldom wait for each other, intermediate arrays stay in cache, and sums of a block are exact in doubles.
        """
        self._points = None
        fewest = _FEWEST_ROWS if coordinates <= _WIDE else _FEWEST_ROWS // 4
        self.block_rows = int(np.clip(_BLOCK_ENTRIES // max(coordinates, 1), fewest, _MOST_ROWS))

    @property
    @abstractmethod
    def row_limit(self) -> int:
        """A number that the rows cannot exceed."""

    @abstractmethod
    def read(self) -> Iterator[Block]:
        """Yield all rows, in order, in blocks of about `block_rows`."""

    def blocks(self) -> Iterator[tuple[Floats, float]]:
        """Yield the usable rows in blocks, and the fraction done: missing values handled, users capped."""
        return ((self._complete(rows), done) for rows, done in self._capped())

    def _capped(self) -> Iterator[tuple[Floats, float]]:
        """Yield the rows, of each user those only that count."""
        chosen = self._choose(self.unit.cap) if isinstance(self.unit, User) else None
        empty = True
        for rows, users, done in self.read():
            empty = empty and not len(rows)
            yield rows if chosen is None else self._admitted(chosen, rows, users), done
        if empty:
            self._refuse_empty()

    def _refuse_empty(self) -> None:
        raise DataError(NO_ROWS)

    def _choose(self, cap: int) -> Admission:
        """Return what admits a user's rows in one pass; which rows count takes a pass to find out, once."""
        if self._chosen_rows is None:
            chosen = ChosenRows(cap)
            for rows, users, _ in self.read():
                chosen.add(users, rows, self._usable_rows(rows))
            chosen.settle()
            self._chosen_rows = chosen
        return self._chosen_rows.new_pass()

    def _admitted(self, chosen: Admission, rows: Floats, users: Any) -> Floats:
        """Return the rows that count; a row without a user id is missing a value."""
        admitted, without = chosen.admit(users, rows, self._usable_rows(rows))
        if self.missing != "drop" and not self._all_null(rows[without]):
            raise DataError(NO_ID)
        return rows[admitted]

    def _complete(self, rows: Floats) -> Floats:
        """Return the rows without a missing value that is to be refused or dropped."""
        if self.rows_stay and self._passes and not self._gaps:
            return rows
        with np.errstate(all="ignore"):
            if np.isfinite(rows.sum()):  # a finite sum has finite terms
                return rows
        absent = ~np.isfinite(rows)
        self._gaps = self._gaps or bool(absent.any())
        if not self._all_null(rows[absent[:, self._strict].any(axis=1)]):
            raise DataError(REFUSED.replace("the data holds", self._gaps_in(absent), 1))
        keep = self._usable(absent)
        if self.missing == "count":
            return np.where(absent, np.inf, rows)[keep]
        rows = rows[keep]
        return rows if self._fills is None else np.where(np.isfinite(rows), rows, self._fills)

    def _gaps_in(self, absent: np.ndarray) -> str:
        """Return which columns hold missing values, in words; a block of rows may not show all of them."""
        if self.names is None:
            return "the data holds"
        which = [repr(self.names[j]) for j in np.flatnonzero((absent & self._strict).any(axis=0))]
        more = f" and {len(which) - 10} others" if len(which) > 10 else ""
        listed = f"{', '.join(which[:10])}{more} of the data"
        return f"column {listed} holds" if len(which) == 1 else f"columns {listed} hold"

    def _usable_rows(self, rows: Floats) -> Bools:
        """Return which rows add something."""
        return self._usable(~np.isfinite(rows))

    def _usable(self, absent: Bools) -> Bools:
        """Return which rows add something, by which of their values are missing."""
        keep: Bools = np.ones(len(absent), dtype=bool)
        if self.missing != "count":
            keep &= ~absent[:, ~self._imputed].any(axis=1)
        if self.nulls:
            keep &= ~absent.all(axis=1)  # a null record is not filled in: it adds nothing
        return keep

    def impute(self, fills: Floats) -> None:
        """Fill gaps of columns whose rule is "impute" with released values from now on."""
        self._fills, self._points = np.where(self._imputed, fills, np.nan), None

    def _all_null(self, rows: Floats) -> bool:
        """Whether all of these rows are null records (true of no rows)."""
        return not len(rows) or (self.nulls and bool(np.isnan(rows).all()))

    @property
    def file_marks(self) -> list[bytes]:
        """Marks of the files that hold the rows, for a ledger's witness; none if they are in memory."""
        return []

    def column_marks(self) -> list[bytes]:
        """Marks of the columns, for a ledger's witness: one pass over all rows."""
        return column_marks(rows for rows, _, _ in self.read())

    def tally(self, query: Any) -> tuple[list[str], Integers]:
        """Refuse: these rows are numbers, and hold no names (`knoll.engines.words` has both)."""
        raise DataError(f"{query.name!r} needs texts, and these rows are numbers")

    def aggregate(self, query: QueryProtocol) -> Integers:
        """Return the exact integer total of a query over all rows."""
        if getattr(query, "of_whole_unit", False) and isinstance(self.unit, User):  # rows are not cut to a user's share
            raise DataError(f"{query.name!r} needs texts, and these rows are numbers")
        _keep_memory()

        kept = points_for(query, self._points, self._new_points) if self.rows_stay else None
        self._points = kept or self._points

        def work(rows: Floats, number: int) -> Integers:
            complete = self._complete(rows)
            return bounded_total(query, complete if kept is None else kept.points(number, complete))

        return self._summed(query, work, self._capped())

    def _summed(self, query: QueryProtocol, work: Any, blocks: Iterator[tuple[Any, float]]) -> Integers:
        """Return the sum of what `work` makes of the blocks of a pass."""
        with one_thread():  # blocks are too small to share among threads of linear algebra
            total = self._helpers.sum(work, blocks, query.shape, partial(progress.report, query.name))
        self._passes += 1
        return total


@cache
def _keep_memory() -> None:
    """Have the allocator keep what blocks give back, or it fetches fresh pages for every intermediate array.

    GNU's keeps twice the size of the largest piece, up to 32 MB, that it ever got back from an array; here it gets one,
    which nobody touched. To others it means nothing.
    """
    np.empty(2**25 - 2**16, dtype=np.uint8)
