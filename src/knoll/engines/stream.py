"""Rows that come in Arrow batches from something that can be asked again: lazy frames, relations, databases.

Every pass asks anew. What is asked may have changed meanwhile, or give other rows each time (a sample, a table that is
written to), and a record that counts twice breaks the guarantee. So the number of rows and an order-free checksum of
every pass are compared with those of the first, before its total leaves the engine: the door records and releases
nothing of a pass that differs.

The first pass is what others are compared with, unless something looked at the rows before it: a ledger's witness, the
choice of users' rows. So a source that gives other rows each time may be refused after one release. That release is
sound by itself: one reader gave each row of that pass once, and no part of it was computed again (clusters do that, and
look first). A look before it would cost every fit a pass, to save what a fit that ends with an error has spent, and
could not tell of changes to come; so there is none.
"""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from knoll.engines.ahead import ahead
from knoll.engines.batches import Decoder, Encoder
from knoll.engines.engine import Block, Engine, Missing, Rule
from knoll.engines.ids import seeds_of
from knoll.engines.keys import Pass
from knoll.engines.notation import Notation
from knoll.privacy.errors import DataError, brief
from knoll.privacy.relation import Unit, User

CHANGED = (
    "{what} gave other rows than before: it changed while it was read, or is not the same each time it is asked (a "
    "sample, a random order with a limit). Nothing was released by this pass. Fit something that stays: {advice}"
)
_LARGEST_BLOCK = 2**17  # rows; a batch of any size becomes blocks of at most so many


@dataclass(frozen=True)
class Stream:
    """Something that can be asked for its rows again and again.

    Attributes
    ----------
    schema : Arrow schema
        All columns and their types.
    batches : callable
        From names of columns to an iterator of record batches with these columns.
    count : callable
        From the same names to the number of rows.
    what : str
        What it is, for messages; no value, no credentials.
    advice : str
        What to do if it changes.
    marks : tuple of bytes
        What tells its place from others, for a ledger's witness; no credentials.
    """

    schema: Any
    batches: Callable[[list[str]], Iterator[Any]]
    count: Callable[[list[str]], int]
    what: str
    advice: str = "collect it first, or write it to a file"
    marks: tuple[bytes, ...] = ()


class StreamEngine(Engine):
    """Columns of a stream.

    Parameters
    ----------
    stream : Stream
        Where the rows come from.
    columns : sequence of str, optional
        Feature columns, in order; by default all columns but the users'.
    missing, unit, nulls, rules
        As for every engine.
    encoders : dict, optional
        Name -> what encodes the column. All others hold numbers.
    """

    def __init__(
        self,
        stream: Stream,
        columns: list[str] | None = None,
        *,
        missing: Missing = "refuse",
        unit: Unit | None = None,
        nulls: bool = False,
        rules: Sequence[Rule] | None = None,
        encoders: Mapping[str, Encoder] | None = None,
    ):
        self._stream, self._notation = stream, Notation()
        self._decoder = stream_decoder(stream, columns, unit, encoders or {})
        names = self._decoder.names
        super().__init__(tuple(names), len(names), missing=missing, unit=unit, nulls=nulls, rules=rules)
        self._types = [stream.schema.field(name).type for name in self._decoder.wanted]
        self._first: Pass | None = None
        self._count = int(safely(stream.what, stream.count, self._decoder.wanted))
        self._lock = threading.Lock()

    @property
    def row_limit(self) -> int:
        """The number of rows when the stream was opened; a pass that gives others is refused."""
        return self._count

    @property
    def file_marks(self) -> list[bytes]:
        """Marks of the place that the rows come from."""
        return list(self._stream.marks)

    def read(self) -> Iterator[Block]:
        """Yield the rows; the next block is read while one is summed."""
        return ahead(self._blocks())

    def _blocks(self) -> Iterator[Block]:
        seen, what = Pass(), self._stream.what
        batches = iter(safely(what, self._stream.batches, self._decoder.wanted))
        while (batch := safely(what, next, batches, None)) is not None:
            if [batch.schema.field(name).type for name in self._decoder.wanted] != self._types:
                raise self._changed()
            for start in range(0, batch.num_rows, _LARGEST_BLOCK):
                part = batch.slice(start, _LARGEST_BLOCK)
                rows = safely(what, self._decoder.rows, part, what, self._notation)
                users = self._decoder.users(part)
                seen.add(rows, 0 if users is None else seeds_of(users))
                yield rows, users, min(1.0, seen.rows / max(1, self._count))
        self._compare(seen)

    def _compare(self, seen: Pass) -> None:
        """Refuse a pass over other rows than the first."""
        with self._lock:
            self._first = self._first or seen
        if seen != self._first or seen.rows != self._count:
            raise self._changed()

    def _changed(self) -> DataError:
        return DataError(CHANGED.format(what=self._stream.what, advice=self._stream.advice))


def stream_decoder(
    stream: Stream, columns: list[str] | None, unit: Unit | None, encoders: Mapping[str, Encoder]
) -> Decoder:
    """Return what reads the chosen columns; refuse columns that are not there, or cannot be read."""
    user = unit.column if isinstance(unit, User) else None
    if user is not None and not isinstance(user, str):
        raise DataError(f"the column of user ids of {stream.what} needs a name, not {brief(user)}")
    known: list[str] = list(stream.schema.names)
    names = [name for name in known if name != user] if columns is None else list(columns)
    if len(set(names)) < len(names) or not names:
        raise DataError("name at least one feature column, each once")
    decoder = Decoder(names, user, {name: encoders[name] for name in names if name in encoders})
    absent = [name for name in decoder.wanted if name not in known]
    if absent:
        raise DataError(
            f"no column {', '.join(map(repr, absent[:20]))} in {stream.what}; it has {', '.join(known[:40])}"
        )
    if doubled := [name for name in decoder.wanted if known.count(name) > 1]:
        raise DataError(f"column {doubled[0]!r} stands twice in {stream.what}")
    for name in decoder.wanted:
        decoder.family_of(name, stream.schema.field(name).type, stream.what, Notation())
    return decoder


def safely(what: str, call: Any, *args: Any) -> Any:
    """Call into another library; its errors, which may quote values or passwords, become ours, which do not."""
    try:
        return call(*args)
    except (DataError, MemoryError, StopIteration):
        raise
    except Exception as error:
        kind = f"{type(error).__module__.partition('.')[0]}: {type(error).__name__}"
        code = getattr(error, "sqlstate", None)
    raise DataError(  # not within the clause above: the other error would be kept as the context of this one
        f"{what} cannot be read ({kind}{f', SQLSTATE {code}' if code else ''}). Read it without knoll to see why: the "
        "message may hold values, and is not repeated here"
    )
