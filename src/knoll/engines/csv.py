"""CSV files, read so that no record changes how another one is read.

The rule: one record a line. Quotes toggle; a quote may open a field only at its start and close it only at its end
(two quotes inside stand for one); every line ends outside quotes, in LF or CRLF. What breaks the rule is refused. So a
line is read by itself, whatever stands before it: no text of one record changes how another line is read. Arrow's
parser reads what obeys the rule in the same way; a line of another number of fields than the header is an error there.
Values are converted one by one to types that are fixed beforehand.

``line_breaks=True`` also admits line ends inside quotes, for files that a CSV writer made: each record closes the
quotes that it opens. Whether a byte is inside quotes then depends on the number of quotes before it, odd or even. A
record with another text of an even number leaves every other record where it was; one of an odd number makes the file
end inside quotes, which is refused. But where *other* records leave quotes open, a record between two of them is read
otherwise than alone, and may count more than once: who asks for line breaks vouches for the file.
"""

import csv
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from knoll.engines.encodings import Utf8Stream, check_encoding
from knoll.engines.notation import BLANKS, MISSING
from knoll.privacy.errors import DataError

_QUOTE, _LF, _CR = (ord(mark) for mark in '"\n\r')
_LONGEST_HEADER = 2**20
_BLOCK = 2**20
_SEP = re.compile(r"\"?sep=(?P<mark>[,;\t|])\"?[,;]*")
"""A first line that tells spreadsheets the delimiter; the header is the second line then."""

_VALUE = re.compile(r"[\s$€£<>~=+.-]*\d.*|[+-]?inf(inity)?|-?nan|true|false|yes|no|missing|\W+", re.IGNORECASE)


def is_value(name: str) -> bool:
    """Whether a name looks like a value of a record: it begins with a number, or stands for a missing one."""
    known = {word.lower() for word in MISSING if word}
    return name.strip().lower() in known or _VALUE.fullmatch(name.strip()) is not None


class StrictQuotes:
    """A stream of a CSV file's bytes that breaks off with an error where the rule above is broken."""

    closed = False

    def __init__(self, path: Path, delimiter: str, *, line_breaks: bool = False, encoding: str | None = None):
        self._name, self._line_breaks = path.name, line_breaks
        self._stream = Utf8Stream(path, encoding)
        self._around = np.array([_QUOTE, _LF, _CR, ord(delimiter)], dtype=np.uint8)
        self._inside = False
        self._before = _LF  # the byte before the next one; a file begins like a line
        self.error: DataError | None = None

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes, checked."""
        try:
            piece = self._stream.read(_BLOCK if size < 0 else size)
        except DataError as error:
            self.error = error
            raise
        if piece and (b'"' in piece or b"\r" in piece or self._before in (_QUOTE, _CR)):
            self._check(np.frombuffer(piece, dtype=np.uint8))
        elif piece:
            if self._inside and not self._line_breaks and b"\n" in piece:
                self._refuse_break()
            self._before = piece[-1]
        elif self._inside:
            self._refuse("a quote is opened and never closed")
        return piece

    def close(self) -> None:
        """Close the file."""
        self.closed = True
        self._stream.close()

    def _check(self, piece: np.ndarray) -> None:
        """Check a piece, together with the last byte of the one before it."""
        text = np.concatenate([np.array([self._before], dtype=np.uint8), piece])
        quotes = np.flatnonzero(piece == _QUOTE) + 1
        opens = (np.arange(len(quotes)) % 2 == 0) ^ self._inside
        before = text[quotes[opens] - 1]
        if before.size and not np.isin(before, self._around).all():
            self._refuse("a quote stands in the middle of a field")
        closed = np.zeros(len(text), dtype=bool)
        closed[quotes[~opens]] = True
        closed[0] = self._before == _QUOTE and not self._inside
        ends = np.flatnonzero(closed[:-1])
        if ends.size and not np.isin(text[ends + 1], self._around).all():
            self._refuse("a field goes on after its closing quote")
        returns = np.flatnonzero(text[:-1] == _CR)
        bare = returns[text[returns + 1] != _LF]
        if bare.size and ((np.searchsorted(quotes, bare) % 2 == 1) == self._inside).any():
            self._refuse("a line ends in a carriage return alone")
        if not self._line_breaks:
            breaks = np.flatnonzero(piece == _LF) + 1
            if breaks.size and ((np.searchsorted(quotes, breaks) % 2 == 1) != self._inside).any():
                self._refuse_break()
        self._inside ^= bool(len(quotes) % 2)
        self._before = int(text[-1])

    def _refuse_break(self) -> None:
        self.error = DataError(
            f"{self._name}: a line ends inside quotes. A field with a line break, or a quote that is never closed? One "
            "record with an open quote could swallow others, so a record is one line. If a program wrote the file and "
            "closes every quote, say so: knoll.Source(path, line_breaks=True), --line-breaks; or save it as parquet"
        )
        raise self.error

    def _refuse(self, what: str) -> None:
        self.error = DataError(
            f"{self._name} is not a clean CSV file: {what}, so that one record could swallow others. Write quotes "
            'inside a quoted field twice (""), and close every quote; or save the data as parquet'
        )
        raise self.error


@dataclass(frozen=True)
class Dialect:
    """What is declared about CSV files; None is told by the header line, which is public.

    Parameters
    ----------
    delimiter : str, optional
        What divides fields, one character; by default as a first line ``sep=;`` says, else the most frequent of comma,
        semicolon, tab and | in the header.
    encoding : str, optional
        How characters are written (encodings.py); by default UTF-8.
    line_breaks : bool
        Whether quoted fields may hold line ends.
    """

    delimiter: str | None = None
    encoding: str | None = None
    line_breaks: bool = False

    def __post_init__(self) -> None:
        known = self.delimiter
        if known is not None and (len(known) != 1 or not known.isascii() or known.isalnum() or known in '"\n\r.-+ '):
            raise DataError(f"delimiter={known!r} is not one character that divides fields, such as ; or a tab")
        check_encoding(self.encoding)


class CsvFile:
    """One CSV file with a header line.

    Parameters
    ----------
    path : Path
        The file, compressed or not.
    dialect : Dialect, optional
        What is declared about the file.
    block : int, optional
        Bytes that are read at a time; a record must fit into them.
    """

    def __init__(self, path: Path, dialect: Dialect | None = None, block: int = _BLOCK):
        self.path, self._dialect, self._block = path, dialect or Dialect(), block
        first, rest = _first_records(path, self._dialect.encoding)
        mark = _SEP.fullmatch(first)
        self._skip = 0 if mark is None else 1
        first = first if mark is None else rest
        declared = self._dialect.delimiter or (mark["mark"] if mark is not None else None)
        self.delimiter = declared or max(",;\t|", key=first.count)
        self._written = next(csv.reader([first], delimiter=self.delimiter), [])
        self.names = [name.strip(BLANKS) for name in self._written]
        if not any(self.names):
            raise DataError(f"{path.name} has no header line with column names")

    def batches(self, numbers: list[str], ids: str | None, texts: Collection[str] = ()) -> Iterator[Any]:
        """Yield record batches: `numbers` as doubles, those among `texts` as texts; `ids` as bytes, null if missing."""
        kinds: dict[str, Any] = {name: pa.string() if name in texts else pa.float64() for name in numbers}
        if ids is not None:
            kinds[ids] = pa.binary()
        for batch in self._read(kinds, nulls=not texts):
            yield batch if ids is None or not texts else _null_ids(batch, ids)

    def _named(self) -> dict[str, Any]:
        """Return what tells Arrow names without blanks around them, where the header has such blanks."""
        return {"column_names": self.names, "skip_rows_after_names": 1} if self.names != self._written else {}

    def _read(self, kinds: dict[str, Any], *, nulls: bool) -> Iterator[Any]:
        """Yield record batches of these types; with `nulls`, texts and bytes that stand for nothing are null."""
        line_breaks = self._dialect.line_breaks
        stream = StrictQuotes(self.path, self.delimiter, line_breaks=line_breaks, encoding=self._dialect.encoding)
        try:
            reader = pa.csv.open_csv(
                pa.PythonFile(stream, mode="r"),
                parse_options=pa.csv.ParseOptions(
                    delimiter=self.delimiter,
                    newlines_in_values=line_breaks,
                    ignore_empty_lines=len(self.names) > 1,  # in a single column, an empty line is a missing value
                ),
                convert_options=pa.csv.ConvertOptions(
                    column_types=kinds, include_columns=list(kinds), null_values=MISSING, strings_can_be_null=nulls
                ),
                read_options=pa.csv.ReadOptions(block_size=self._block, skip_rows=self._skip, **self._named()),
            )
            with reader:
                yield from reader
        except pa.ArrowException:
            if stream.error is not None:
                raise stream.error from None
            raise


def _null_ids(batch: Any, ids: str) -> Any:
    """Return a batch whose ids that stand for nothing are null, as Arrow does it while it reads."""
    column = batch.column(ids)
    gone = pc.is_in(column, value_set=pa.array([word.encode() for word in MISSING], pa.binary()))
    return batch.set_column(
        batch.schema.get_field_index(ids), ids, pc.if_else(gone, pa.scalar(None, pa.binary()), column)
    )


def _first_records(path: Path, encoding: str | None) -> tuple[str, str]:
    """Return the texts of the first two records, each up to a line end outside quotes: one of them is the header."""
    stream = Utf8Stream(path, encoding)
    text = b""
    while len(text) < _LONGEST_HEADER and (piece := stream.read(_LONGEST_HEADER - len(text))):
        text += piece
    stream.close()
    if not text:
        raise DataError(f"{path.name} is empty")
    marks = np.frombuffer(text, dtype=np.uint8)
    ends = np.flatnonzero((marks == _LF) | (marks == _CR))
    outside = ends[np.searchsorted(np.flatnonzero(marks == _QUOTE), ends) % 2 == 0]
    first = int(outside[0]) if outside.size else len(text)
    start = first + (2 if text[first : first + 2] == b"\r\n" else 1)
    second = next((int(end) for end in outside if end >= start), len(text))
    header = _SEP.fullmatch(text[:first].decode("utf-8")) is not None  # a record is not looked at
    return text[:first].decode("utf-8"), text[start:second].decode("utf-8") if header else ""
