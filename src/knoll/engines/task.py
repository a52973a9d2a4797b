"""A query on its way to the rows: one function from (query, rows) to (status, rows, checksum, total).

A task is sent to whoever holds a part of the rows: a worker of Dask, of Spark. It holds the query and all that it takes
to read the part. What comes back is a `Partial`, a value: nothing is added up on the side, so a task that runs twice
because a worker was lost counts once. Data that cannot be used comes back as a status, not as an error that would be
tried again. A worker with another version of knoll says so, before it looks at the rest of the task.
"""

import ctypes
import pickle
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version
from typing import Any

from knoll.arrays import Floats
from knoll.engines.engine import Block, Engine
from knoll.engines.ids import seeds_of
from knoll.engines.keys import Pass
from knoll.engines.marks import ColumnSums
from knoll.privacy.errors import DataError, PrivacyError
from knoll.privacy.query import QueryProtocol
from knoll.privacy.relation import User

VERSION = version("knoll")

Read = Callable[[Any], Iterable[tuple[Floats, Any]]]
"""From a part, in whatever form it is held, to its rows as doubles and the user of each row (or None), in pieces."""


@dataclass(frozen=True)
class Partial:
    """What a part of the rows adds up to.

    Attributes
    ----------
    status : str
        Empty, or the kind of an error and its message.
    seen : Pass
        How many rows were read, and their checksum.
    total : integer array, ColumnSums or None
        The total of the query, or what marks are made of.
    """

    status: str
    seen: Pass = field(default_factory=Pass)
    total: Any = None


@dataclass(frozen=True)
class Task:
    """What a worker does with a part of the rows.

    Parameters
    ----------
    query : Query or None
        What to sum; None to look at the rows only: their number, their checksum, what marks of columns are made of.
    read : callable
        How the part is read.
    n_columns : int
        Number of feature columns.
    handling : dict
        missing, unit, nulls and rules, as for every engine.
    fills : float array or None
        What gaps are filled with.
    block_rows : int
        Rows summed at a time.
    """

    query: QueryProtocol | None
    read: Read
    n_columns: int
    handling: dict[str, Any]
    fills: Floats | None = None
    block_rows: int = 2**15

    def packed(self) -> tuple[str, bytes]:
        """Return the version of knoll and the task, to be sent."""
        return VERSION, pickle.dumps(self)


def run(sent: tuple[str, bytes], part: Any) -> Partial:
    """Run a task on a part of the rows, in the worker that holds it."""
    theirs, packed = sent
    if theirs != VERSION:
        return Partial(
            f"DataError: a worker has knoll {VERSION}, and the query comes from {theirs}; install one version"
        )
    _keep_pages()
    task: Task = pickle.loads(packed)
    try:
        return _summed(task, part)
    except (DataError, PrivacyError) as error:
        return Partial(f"{type(error).__name__}: {error}")


def _summed(task: Task, part: Any) -> Partial:
    if task.query is None:
        seen, sums = Pass(), ColumnSums()
        for rows, users in task.read(part):
            seen.add(rows, 0 if users is None else seeds_of(users))
            sums.add(rows)
        return Partial("", seen, sums)
    engine = PartEngine(task, part)
    total = engine.aggregate(task.query)
    return Partial("", engine.seen, total)


class PartEngine(Engine):
    """A part of the rows, in the worker that holds it. It may be empty."""

    def __init__(self, task: Task, part: Any):
        super().__init__(None, task.n_columns, **task.handling)
        self._task, self._part = task, part
        self.block_rows, self._fills = task.block_rows, task.fills
        self._helpers.number = 0  # the cluster's own workers use all cores
        self._held: list[tuple[Floats, Any]] | None = None
        self.seen = Pass()

    @property
    def row_limit(self) -> int:
        """The rows that were seen."""
        return self.seen.rows

    def read(self) -> Iterator[Block]:
        """Yield the rows; if users must be told apart, they are kept for a second look."""
        if isinstance(self.unit, User) and self._held is None:
            self._held = list(self._pieces())
        for rows, users in self._pieces() if self._held is None else self._held:
            for start in range(0, len(rows), self.block_rows):
                stop = start + self.block_rows
                yield rows[start:stop], None if users is None else users[start:stop], 0.0

    def _pieces(self) -> Iterator[tuple[Floats, Any]]:
        for rows, users in self._task.read(self._part):
            self.seen.add(rows, 0 if users is None else seeds_of(users))
            yield rows, users

    def _refuse_empty(self) -> None:
        """Do nothing: other parts may have rows."""


def added(partials: Iterable[Partial]) -> Partial:
    """Return what several parts add up to: the first status that is not empty, or the sum."""
    seen, total = Pass(), None
    for each in partials:
        if each.status:
            return Partial(each.status)
        seen = seen + each.seen
        if each.total is not None:  # a worker that adds up nothing has none
            total = each.total if total is None else _merged(total, each.total)
    return Partial("", seen, total)


def _merged(one: Any, other: Any) -> Any:
    if isinstance(one, ColumnSums):
        one.merge(other)
        return one
    return one + other


def checked(partial: Partial) -> Any:
    """Return the total, or raise the error that a worker met."""
    if partial.status:
        kind, _, message = partial.status.partition(": ")
        raise (PrivacyError if kind == "PrivacyError" else DataError)(message)
    return partial.total


@cache
def _keep_pages() -> None:
    """Have GNU's allocator keep what blocks give back: Dask's nanny sets a threshold that defeats it."""
    try:
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(-3, 2**25)  # M_MMAP_THRESHOLD
        mallopt(-1, 2**26)  # M_TRIM_THRESHOLD
    except (OSError, AttributeError, TypeError):
        pass
