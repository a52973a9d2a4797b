"""Texts and user ids in files and streams, block by block: nothing is held but the block at hand.

Files are read by the rules that hold for numbers: each by itself, and of CSV files no record changes how another one is
read (csv.py). Errors name files and columns, never a text.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa

from knoll.engines.csv import Dialect
from knoll.engines.ids import id_kind
from knoll.engines.listing import file_kind
from knoll.engines.parts import ArrowPart, CsvPart, Part, check_columns, open_part
from knoll.engines.reading import check_unchanged, safely_read, stamp_of
from knoll.engines.stream import Stream, safely
from knoll.engines.tokens import LONGEST
from knoll.privacy.errors import DataError, brief
from knoll.privacy.relation import Unit, User

AT_ONCE = 1024
"""Texts of a block."""

_RECORD = 2**22  # bytes that a record of a CSV file may take: a long mail with all that it quotes is far below


@dataclass(frozen=True)
class TextBlock:
    """Some texts, cut after a public number of characters, None where there is none; the user of each; what is done."""

    texts: list[str | None]
    users: Any
    done: float


@dataclass(frozen=True)
class TextBlocks:
    """Texts that can be had block by block, again and again.

    Attributes
    ----------
    count : callable
        Returns the number of rows.
    blocks : callable
        Returns an iterator of all rows, in order.
    """

    count: Callable[[], int]
    blocks: Callable[[], Iterator[TextBlock]]


def plain(value: Any) -> str | None:
    """Return a text, cut; None for what is no text. An empty text is one: it has a vector, and no words."""
    return value[:LONGEST] if isinstance(value, str) else None


def written(value: Any) -> str | None:
    """Return a text of a file without types, cut: there, an empty field and a missing one are the same."""
    return plain(value) if value and not value.isspace() else None


class TextFiles:
    """A column of texts, and one of user ids, in files of one kind.

    Parameters
    ----------
    files : list of Path
        The files.
    text : str
        The column of texts.
    unit : Record, User or None
        If a user, the ids are in its column.
    dialect : Dialect
        What is declared about CSV files.
    """

    def __init__(self, files: list[Path], text: str, unit: Unit | None, dialect: Dialect) -> None:
        self._text, self._user, self._dialect = text, id_column(unit), dialect
        kind = file_kind(files)
        self._parts: list[Part] = [safely_read(file, dialect, _opened, file, kind, dialect) for file in files]
        self._stamps = [stamp_of(file) for file in files]
        for part in self._parts:
            check_columns(part, [text] if self._user is None else [text, self._user])
            if isinstance(part, ArrowPart):
                check_kinds(part.kind, text, self._user, part.path.name)

    def count(self) -> int:
        """Return the number of rows; CSV files are read for it."""
        return sum(self._counts)

    @cached_property
    def _counts(self) -> list[int]:
        found = []
        for part in self._parts:
            if isinstance(part, CsvPart):
                found.append(sum(batch.num_rows for batch in self._batches(part, None)))
            else:
                found.append(int(safely_read(part.path, self._dialect, part.count)))
        return found

    def blocks(self) -> Iterator[TextBlock]:
        """Yield the texts of all files, in order."""
        seen, whole = 0, max(1, self.count())
        for part, stamp in zip(self._parts, self._stamps, strict=True):
            check_unchanged(part.path, stamp)
            for batch in self._batches(part, self._user):
                yield from blocks_of(batch, self._text, self._user, seen, whole, plain if _typed(part) else written)
                seen += batch.num_rows
            check_unchanged(part.path, stamp)

    def _batches(self, part: Part, user: str | None) -> Iterator[Any]:
        """Yield record batches; of files without types, texts as texts."""
        texts = () if _typed(part) else (self._text,)
        batches = safely_read(part.path, self._dialect, part.batches, [self._text], user, texts, AT_ONCE)
        while (batch := safely_read(part.path, self._dialect, next, batches, None)) is not None:
            yield batch


def text_stream(stream: Stream, text: str, unit: Unit | None) -> TextBlocks:
    """Return a column of texts, and one of user ids, of a stream of Arrow batches."""
    user, known = id_column(unit), list(stream.schema.names)
    wanted = [text] if user is None else [text, user]
    for name in wanted:
        if known.count(name) != 1:
            raise DataError(f"{stream.what} has {'no' if name not in known else 'twice a'} column {brief(name)}")
    check_kinds(lambda name: stream.schema.field(name).type, text, user, stream.what)

    def count() -> int:
        return int(safely(stream.what, stream.count, wanted))

    def blocks() -> Iterator[TextBlock]:
        seen, whole = 0, max(1, count())
        batches = iter(safely(stream.what, stream.batches, wanted))
        while (batch := safely(stream.what, next, batches, None)) is not None:
            yield from blocks_of(batch, text, user, seen, whole)
            seen += batch.num_rows

    return TextBlocks(count, blocks)


def blocks_of(
    batch: Any, text: str, user: str | None, seen: int, whole: int, read: Callable[[Any], str | None] = plain
) -> Iterator[TextBlock]:
    """Yield a batch in blocks of a size that is easy on memory."""
    for start in range(0, batch.num_rows, AT_ONCE):
        part = batch.slice(start, AT_ONCE)
        users = None if user is None else part.column(user)
        texts = [read(value) for value in part.column(text).to_pylist()]
        yield TextBlock(texts, users, min(1.0, (seen + start + len(texts)) / whole))


def id_column(unit: Unit | None) -> str | None:
    """Return the name of the column of user ids, if the unit is a user."""
    if not isinstance(unit, User):
        return None
    if not isinstance(unit.column, str):
        raise DataError(f"the column of user ids in a file needs a name, not {brief(unit.column)}")
    return unit.column


def check_kinds(kind: Callable[[str], Any], text: str, user: str | None, where: str) -> None:
    """Refuse a column of texts that holds something else, and ids that cannot be compared."""
    found = kind(text)
    found = found.value_type if pa.types.is_dictionary(found) else found
    if not (pa.types.is_string(found) or pa.types.is_large_string(found) or pa.types.is_string_view(found)):
        raise DataError(f"column {text!r} of {where} holds {found}, not texts")
    if user is not None and id_kind(kind(user)) is None:
        raise DataError(f"column {user!r} of {where} holds {kind(user)}; ids are texts or whole numbers")


def _typed(part: Part) -> bool:
    return isinstance(part, ArrowPart)


def _opened(file: Path, kind: str, dialect: Dialect) -> Part:
    return CsvPart(file, dialect, _RECORD) if kind == "csv" else open_part(file, kind, dialect)
