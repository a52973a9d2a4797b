"""Rows in files: parquet, CSV and Arrow, one file or a folder of them, streamed in constant memory.

Only the needed columns are read. A batch becomes one block of doubles at a time and is then forgotten, so memory does
not grow with the rows (a cap per user needs a counter for each user). Every file is read by itself, from its own types
to doubles: what one file holds does not change how another is read. Errors name columns and files, never a value.
"""

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset

from knoll.engines.csv import CsvFile, is_value
from knoll.engines.decode import NOT_NUMBERS, doubles, is_number
from knoll.engines.engine import Block, Engine, Missing
from knoll.engines.ids import id_kind
from knoll.engines.listing import data_files, file_kind
from knoll.engines.marks import file_marks
from knoll.privacy.errors import DataError, brief
from knoll.privacy.relation import Unit, User


class FileEngine(Engine):
    """Columns of a file, or of all files in a folder.

    Parameters
    ----------
    path : path-like
        A parquet, CSV (with a header line) or Arrow file, or a folder of files of one kind.
    columns : sequence of str, optional
        Feature columns, in order; by default all columns but the users'.
    missing, unit, nulls
        As for every engine.
    line_breaks : bool
        Whether quoted fields of CSV files may hold line ends (csv.py says what that assumes).
    """

    def __init__(
        self,
        path: str | PathLike[str],
        columns: list[str] | None = None,
        *,
        missing: Missing = "refuse",
        unit: Unit | None = None,
        nulls: bool = False,
        line_breaks: bool = False,
    ):
        self.files = data_files(Path(path))
        self._format = file_kind(self.files)
        user = unit.column if isinstance(unit, User) else None
        if user is not None and not isinstance(user, str):
            raise DataError(f"the column of user ids in a file needs a name, not {brief(user)}")
        self._user: str | None = user
        self._line_breaks = line_breaks
        self._parts = [_safely(file, self._open, file) for file in self.files]
        names = self._chosen(columns)
        super().__init__(tuple(names), len(names), missing=missing, unit=unit, nulls=nulls)
        if user in names:
            raise DataError(f"column {user!r} holds the user ids; it cannot be a feature too")
        self._wanted = names if user is None else [*names, user]
        for part in self._parts[1:]:
            part.check_columns(self._wanted)
        self._check_kinds()
        self._stamps = [_stamp(file) for file in self.files]

    @property
    def row_limit(self) -> int:
        """Rows by the files' own metadata; a text file has fewer rows than bytes."""
        return sum(_safely(part.path, part.count) for part in self._parts)

    @property
    def file_marks(self) -> list[bytes]:
        """Marks of the files, for a ledger's witness."""
        return file_marks(self.files)

    def read(self) -> Iterator[Block]:
        """Yield the rows of all files, in order; the next block is read while one is summed."""
        return _ahead(self._blocks())

    def _open(self, file: Path) -> "_CsvPart | _ArrowPart":
        return (
            _CsvPart(file, line_breaks=self._line_breaks) if self._format == "csv" else _ArrowPart(file, self._format)
        )

    def _chosen(self, columns: list[str] | None) -> list[str]:
        """Return the feature columns; refuse a file without column names, whose first record would be published."""
        first = self._parts[0]
        if self._format == "csv" and any(map(is_value, first.names)) and not set(columns or ()) <= set(first.names):
            columns = None  # named, but not there: the first line may be a record, which no error may quote
        if self._format == "csv" and columns is None and any(map(is_value, first.names)):
            raise DataError(
                f"the first line of {first.path.name} holds values, not column names: add a header line, else its "
                "first record would be taken, and published, as the names. If they are names, give them: columns=[...]"
            )
        names = [name for name in first.names if name != self._user] if columns is None else list(columns)
        first.check_columns(names if self._user is None else [*names, self._user])
        if len(set(names)) < len(names) or not names:
            raise DataError("name at least one feature column, each once")
        return names

    def _check_kinds(self) -> None:
        """Refuse columns that are no numbers, and files that disagree on what a column or the ids are."""
        if self._format == "csv":
            return
        for name in self._wanted:
            seen: set[str] = set()
            for part in self._parts:
                kind = part.kind(name)
                what = id_kind(kind) if name == self._user else _number_kind(kind)
                if what is None:
                    raise DataError(f"column {name!r} of {part.path.name} holds {kind}, not numbers; {NOT_NUMBERS}")
                seen |= {what} - {"nothing"}
                if len(seen) > 1:
                    raise DataError(
                        f"the files do not agree on what column {name!r} holds: {part.path.name} holds {kind}, "
                        "others something else. Give it one type in all of them"
                    )

    def _blocks(self) -> Iterator[Block]:
        seen, whole = 0, max(1, self.row_limit)
        per_row = 8 * len(self._wanted) if self._format == "csv" else 1
        names = self._wanted[: self.n_columns]
        for part, stamp in zip(self._parts, self._stamps, strict=True):
            if _stamp(part.path) != stamp:
                raise DataError(f"{part.path.name} was changed while it was read; fit a copy that stays as it is")
            batches = _safely(part.path, part.batches, names, self._user, 2 * self.block_rows)
            while (batch := _safely(part.path, next, batches, None)) is not None:
                seen += batch.num_rows
                users = None if self._user is None else batch.column(self._user)
                yield _safely(part.path, self._rows, batch, names), users, min(1.0, seen * per_row / whole)

    def _rows(self, batch: Any, names: list[str]) -> np.ndarray:
        """Copy the feature columns of a batch into rows of doubles; nulls become NaN."""
        rows = np.empty((batch.num_rows, self.n_columns), order="F")
        for j, name in enumerate(names):
            rows[:, j] = doubles(batch.column(name))
        return rows


class _CsvPart(CsvFile):
    """One CSV file of a dataset."""

    def batches(self, numbers: list[str], ids: str | None, rows: int = 0) -> Iterator[Any]:
        """Yield record batches."""
        return super().batches(numbers, ids)

    def count(self) -> int:
        """A number that the rows cannot exceed: a row takes a byte, or less if it is compressed."""
        packed = self.path.suffix in (".gz", ".bz2", ".zst")
        return self.path.stat().st_size * (1000 if packed else 1)

    def check_columns(self, wanted: list[str]) -> None:
        """Refuse a file that lacks a column or has one twice."""
        _check_columns(self.path, self.names, wanted)


class _ArrowPart:
    """One parquet or Arrow file of a dataset."""

    def __init__(self, path: Path, kind: str):
        self.path = path
        form: Any = kind
        if kind == "parquet":  # read pages as they are needed, not whole row groups ahead
            paged = pa.dataset.ParquetFragmentScanOptions(pre_buffer=False, use_buffered_stream=True)
            form = pa.dataset.ParquetFileFormat(default_fragment_scan_options=paged)
        self._dataset = pa.dataset.dataset([str(path)], format=form)
        self.names: list[str] = self._dataset.schema.names

    def batches(self, numbers: list[str], ids: str | None, rows: int) -> Iterator[Any]:
        """Yield record batches."""
        scanner = self._dataset.scanner(
            columns=numbers if ids is None else [*numbers, ids],
            batch_size=rows,  # each batch has its cost
            batch_readahead=0,
            fragment_readahead=0,
            use_threads=True,
        )
        return iter(scanner.to_batches())

    def count(self) -> int:
        """The number of rows by the file's metadata."""
        return int(self._dataset.count_rows())

    def kind(self, name: str) -> Any:
        """Return the Arrow type of a column."""
        return self._dataset.schema.field(name).type

    def check_columns(self, wanted: list[str]) -> None:
        """Refuse a file that lacks a column or has one twice."""
        _check_columns(self.path, self.names, wanted)


def _check_columns(path: Path, names: list[str], wanted: list[str]) -> None:
    absent = [name for name in wanted if name not in names]
    if absent:
        known = "its first line holds values" if any(map(is_value, names)) else f"it has {', '.join(names[:40])}"
        raise DataError(f"no column {', '.join(map(repr, absent))} in {path.name}; {known}")
    if doubled := [name for name in wanted if names.count(name) > 1]:
        raise DataError(f"column {doubled[0]!r} stands twice in {path.name}")


def _number_kind(kind: Any) -> str | None:
    if pa.types.is_null(kind):
        return "nothing"
    return None if not is_number(kind) else "booleans" if pa.types.is_boolean(kind) else "numbers"


def _stamp(file: Path) -> tuple[int, int]:
    """Return what changes when a file is written to."""
    about = file.stat()
    return about.st_size, about.st_mtime_ns


def _ahead(blocks: Iterator[Block]) -> Iterator[Block]:
    """Yield the same blocks, fetching the next one in another thread meanwhile."""
    with ThreadPoolExecutor(1, thread_name_prefix="knoll-read") as reader:
        coming = reader.submit(next, blocks, None)
        while (block := coming.result()) is not None:
            coming = reader.submit(next, blocks, None)
            yield block


def _safely(path: Path, call: Any, *args: Any) -> Any:
    """Call into Arrow; turn its errors, which may quote values, into ours, which do not."""
    try:
        return call(*args)
    except DataError:
        raise
    except UnicodeDecodeError:
        raise DataError(f"{path.name} holds text that is not UTF-8 (column names?); save it as UTF-8") from None
    except (pa.ArrowException, OSError, KeyError) as error:
        raise DataError(_explain(path, str(error))) from None


def _explain(path: Path, message: str) -> str:
    """Return an error of Arrow's in our words."""
    where = path.name
    if "conversion error" in message.lower():
        named = re.search(r"In CSV column #(\d+)", message)
        names = CsvFile(path).names if named else []
        number = int(named.group(1)) if named else 0
        which = f"column {names[number]!r}" if number < len(names) else "a column"
        return f"{which} of {where} holds something that is not a number; choose other columns, or clean it"
    if "columns, got" in message:
        return f"a line of {where} has another number of fields than its header"
    if "nvalid UTF" in message:
        return f"{where} holds text that is not UTF-8; save it as UTF-8"
    if "Permission denied" in message:
        return f"{where} cannot be opened: permission denied"
    return f"{where} cannot be read: it is damaged, truncated or something else than its ending says"
