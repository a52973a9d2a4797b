"""Rows on a cluster: a query goes to the rows, partial sums come back.

The cluster is inside the wall: its memory, its scheduler and its logs may hold rows and exact partial sums.

Before anything is asked, all parts are looked at once: the number of rows, which must not exceed what 64-bit sums hold,
and a checksum. Every pass must then meet the same rows (stream.py says why): a cluster that computes a part again after
a failure, from something that is not the same each time, is refused.
"""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from knoll import progress
from knoll.engines.engine import NO_ROWS, Block, Engine, Missing, Rule
from knoll.engines.marks import file_marks
from knoll.engines.stream import CHANGED
from knoll.engines.task import Partial, Read, Task, checked
from knoll.privacy.errors import DataError
from knoll.privacy.query import Integers, QueryProtocol
from knoll.privacy.relation import Unit


class ClusterEngine(Engine):
    """Parts of the rows, held by workers.

    Parameters
    ----------
    read : callable
        How a worker reads its part.
    names : tuple of str or None
        Feature columns.
    n_columns : int
        Number of feature columns.
    what, advice : str
        What the rows are, and what to do if they change, for messages.
    missing, unit, nulls, rules
        As for every engine.
    """

    files: tuple[Path, ...] = ()

    def __init__(
        self,
        read: Read,
        names: tuple[str, ...] | None,
        n_columns: int,
        *,
        what: str,
        advice: str,
        missing: Missing = "refuse",
        unit: Unit | None = None,
        nulls: bool = False,
        rules: Sequence[Rule] | None = None,
    ):
        super().__init__(names, n_columns, missing=missing, unit=unit, nulls=nulls, rules=rules)
        self._how, self._what, self._advice = read, what, advice
        self._handling = {"missing": missing, "unit": self.unit, "nulls": nulls, "rules": rules}
        looked = self._send(None)
        self._sums: Any = checked(looked)
        self._first = looked.seen
        if not self._first.rows:
            raise DataError(NO_ROWS)

    @abstractmethod
    def _run(self, sent: tuple[str, bytes]) -> Partial:
        """Run a task on all parts; return the sum of what comes back."""

    def _send(self, query: QueryProtocol | None) -> Partial:
        task = Task(query, self._how, self.n_columns, self._handling, self._fills, self.block_rows)
        return self._run(task.packed())

    @property
    def row_limit(self) -> int:
        """The number of rows at the first look."""
        return self._first.rows

    @property
    def file_marks(self) -> list[bytes]:
        """Marks of the files that the rows are read from, as far as they are known."""
        return file_marks(self.files)

    def column_marks(self) -> list[bytes]:
        """Marks of the columns, from the first look."""
        return list(self._sums.marks())

    def aggregate(self, query: QueryProtocol) -> Integers:
        """Return the exact integer total of a query over all rows."""
        progress.report(query.name, 0.0)
        partial = self._send(query)
        total: Integers = checked(partial)
        if partial.seen != self._first:
            raise DataError(CHANGED.format(what=self._what, advice=self._advice))
        progress.report(query.name, 1.0)
        self._passes += 1
        return total

    def read(self) -> Iterator[Block]:
        """Rows stay where they are."""
        raise DataError(f"{self._what} is not read row by row; ask for a part of it in memory")
