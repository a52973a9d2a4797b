"""Where rows live. An engine sums queries over its rows, block by block, and knows nothing of noise or budgets."""

import os
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache, partial
from itertools import chain, islice
from typing import Any, Literal

import numpy as np
from threadpoolctl import ThreadpoolController

from knoll import progress
from knoll.engines.ids import NO_ID, UserCap
from knoll.engines.marks import column_marks
from knoll.privacy.errors import DataError, brief
from knoll.privacy.query import Floats, Integers, QueryProtocol, bounded_total
from knoll.privacy.relation import Record, Unit, User

_BLOCK_ENTRIES, _FEWEST_ROWS, _MOST_ROWS = 2**18, 2**12, 2**16
_WIDE = 2000  # from so many coordinates on, blocks of the usual fewest rows would fill tens of megabytes
_MOST_THREADS = 4

Missing = Literal["refuse", "drop"]
Block = tuple[Floats, Any, float]
"""Rows, the user of each row (or None), and the fraction of the pass that is done after them."""

REFUSED = (
    'the data holds missing (NaN) or infinite values. Pass missing="drop" to leave such rows out (a row is dropped '
    "for its own values alone, which keeps the guarantee), or clean the data first"
)


class Engine(ABC):
    """Rows behind the wall.

    Parameters
    ----------
    names : tuple of str or None
        Column names.
    n_columns : int
        Number of feature columns.
    missing : {"refuse", "drop"}
        What to do with a row that holds NaN or infinity.
    unit : Record or User
        With a user, only a user's first `cap` rows are used.
    nulls : bool
        Whether a row whose features are all missing is a null record, which adds nothing, whatever `missing` says. True
        under the replace relations, where the number of records is public and a neighbour may have one null record.
    rules : sequence of {"refuse", "drop"}, optional
        As `missing`, for each column; `missing` is then about rows without a user id only.
    """

    def __init__(
        self,
        names: tuple[str, ...] | None,
        n_columns: int,
        *,
        missing: Missing,
        unit: Unit | None,
        nulls: bool = False,
        rules: Sequence[Missing] | None = None,
    ):
        if missing not in ("refuse", "drop"):
            raise DataError(f'missing={brief(missing)} is not one of "refuse", "drop"')
        self.names, self.n_columns = names, n_columns
        self.missing: Missing = missing
        self.nulls = nulls
        self._strict = np.array([rule == "refuse" for rule in rules or [missing] * n_columns])
        self.unit: Unit = unit if unit is not None else Record()
        self.size_blocks(n_columns)

    def size_blocks(self, coordinates: int) -> None:
        """Choose how many rows are summed at a time, for queries that make so many coordinates of a row.

        Threads seldom wait for each other, intermediate arrays stay in cache, and sums of a block are exact in doubles.
        """
        fewest = _FEWEST_ROWS if coordinates <= _WIDE else _FEWEST_ROWS // 8
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
        cap = UserCap(self.unit.cap) if isinstance(self.unit, User) else None
        empty = True
        for rows, users, done in self.read():
            empty = empty and not len(rows)
            yield self._complete(rows if cap is None else self._admitted(cap, rows, users)), done
        if empty:
            raise DataError("there are no rows in the data")

    def _admitted(self, cap: UserCap, rows: Floats, users: Any) -> Floats:
        """Return the rows that count; a row without a user id is missing a value."""
        admitted, without = cap.admit(users)
        if self.missing == "refuse" and not self._all_null(rows[without]):
            raise DataError(NO_ID)
        return rows[admitted]

    def _complete(self, rows: Floats) -> Floats:
        """Return the rows without a missing value."""
        with np.errstate(all="ignore"):
            if np.isfinite(rows.sum()):  # a finite sum has finite terms
                return rows
        absent = ~np.isfinite(rows)
        if not self._all_null(rows[absent[:, self._strict].any(axis=1)]):
            raise DataError(REFUSED)
        return rows[~absent.any(axis=1)]

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

    def aggregate(self, query: QueryProtocol) -> Integers:
        """Return the exact integer total of a query over all rows."""
        _keep_memory()
        total = np.zeros(query.shape, dtype=np.int64)
        with _linear_algebra().limit(limits=1, user_api="blas"):  # blocks are too small to share among threads
            for part, done in _in_threads(partial(bounded_total, query), self.blocks()):
                total += part
                progress.report(query.name, done)
        return total


def _in_threads(
    work: Callable[[Floats], Integers], blocks: Iterator[tuple[Floats, float]]
) -> Iterator[tuple[Integers, float]]:
    """Yield the totals of blocks in order, a few of them summed at once: numpy leaves the interpreter to others."""
    blocks = iter(blocks)
    ahead = list(islice(blocks, 2))
    if len(ahead) == 1:  # starting a thread takes longer than summing a small table
        yield work(ahead[0][0]), ahead[0][1]
        return
    workers = min(os.cpu_count() or 1, _MOST_THREADS)
    with ThreadPoolExecutor(workers, thread_name_prefix="knoll-sum") as pool:
        waiting: deque[tuple[Future[Integers], float]] = deque()
        for rows, done in chain(ahead, blocks):
            waiting.append((pool.submit(work, rows), done))
            if len(waiting) > workers:
                part, fraction = waiting.popleft()
                yield part.result(), fraction
        for part, fraction in waiting:
            yield part.result(), fraction


@cache
def _keep_memory() -> None:
    """Have the allocator keep what blocks give back, or it fetches fresh pages for every intermediate array.

    GNU's keeps twice the size of the largest piece, up to 32 MB, that it ever got back from an array; here it gets one,
    which nobody touched. To others it means nothing.
    """
    np.empty(2**25 - 2**16, dtype=np.uint8)


@cache
def _linear_algebra() -> ThreadpoolController:
    """The process's linear algebra libraries; finding them takes a while."""
    return ThreadpoolController()
