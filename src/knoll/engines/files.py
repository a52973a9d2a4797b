"""Rows in files: parquet, CSV and Arrow, one file or a folder of them, streamed in constant memory.

Only the needed columns are read. A batch becomes one block of doubles at a time and is then forgotten, so memory does
not grow with the rows (a cap per user needs a counter for each user). Errors name columns and files, never a value.
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

from knoll.engines.engine import Block, Engine, Missing
from knoll.privacy.errors import DataError
from knoll.privacy.relation import Unit, User

_FORMATS = {
    ".parquet": "parquet", ".pq": "parquet", ".csv": "csv", ".tsv": "csv",
    ".arrow": "ipc", ".feather": "ipc", ".ipc": "ipc",
}  # fmt: skip
_MISSING = ["", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "#N/A", "n/a", "?", "-"]


class FileEngine(Engine):
    """Columns of a file, or of all files in a folder.

    Parameters
    ----------
    path : path-like
        A parquet, CSV (with a header line) or Arrow file, or a folder of files of one kind.
    columns : sequence of str, optional
        Feature columns, in order; by default all columns but the users'.
    """

    def __init__(
        self,
        path: str | PathLike[str],
        columns: list[str] | None = None,
        *,
        missing: Missing = "refuse",
        unit: Unit | None = None,
    ):
        self._files = _files(Path(path))
        self._format = _format(self._files)
        user = unit.column if isinstance(unit, User) else None
        if user is not None and not isinstance(user, str):
            raise DataError(f"the column of user ids in a file needs a name, not {user!r}")
        self._user: str | None = user
        header = self._header()
        if self._format == "csv" and header and all(_is_number(name) for name in header if name):
            raise DataError(
                "the first line of the file holds numbers, not column names: add a header line, else its first record "
                "would be taken, and published, as the names"
            )
        doubled = sorted({name for name in header if header.count(name) > 1})
        names = [name for name in header if name != user] if columns is None else list(columns)
        wanted = names if user is None else [*names, user]
        absent = [name for name in wanted if name not in header]
        if absent:
            raise DataError(f"no column {', '.join(map(repr, absent))} in the file; it has {', '.join(header[:40])}")
        if doubled := [name for name in wanted if name in doubled]:
            raise DataError(f"column {doubled[0]!r} stands twice in the file")
        if len(set(names)) < len(names) or not names:
            raise DataError("name at least one feature column, each once")
        super().__init__(tuple(names), len(names), missing=missing, unit=unit)
        self._dataset = self._open(wanted)
        for name in names:
            kind = self._dataset.schema.field(name).type
            if not (pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_boolean(kind)
                    or pa.types.is_decimal(kind) or pa.types.is_null(kind)):  # fmt: skip
                raise DataError(
                    f"column {name!r} holds {kind}, not numbers; choose other columns (columns=...), or convert it"
                )

    @property
    def row_limit(self) -> int:
        """Rows by the files' own metadata; a text file has fewer rows than bytes."""
        if self._format == "csv":
            return sum(file.stat().st_size for file in self._files) * (1000 if self._compressed else 1)
        return int(self._read_safely(self._dataset.count_rows))

    def read(self) -> Iterator[Block]:
        """Yield the rows of all files, in order; the next block is read while one is summed."""
        return _ahead(self._blocks())

    def _blocks(self) -> Iterator[Block]:
        assert self.names is not None
        wanted = list(self.names) if self._user is None else [*self.names, self._user]
        scanner = self._dataset.scanner(
            columns=wanted,
            batch_size=2 * self.block_rows,  # each batch has its cost
            batch_readahead=0,
            fragment_readahead=0,
            use_threads=True,
        )
        batches = iter(self._read_safely(scanner.to_batches))
        seen, whole = 0, max(1, self.row_limit)
        per_row = 8 * len(wanted) if self._format == "csv" else 1
        while (batch := self._read_safely(next, batches, None)) is not None:
            seen += batch.num_rows
            users = None if self._user is None else self._read_safely(_as_text, batch.column(self._user))
            yield self._read_safely(self._doubles, batch), users, min(1.0, seen * per_row / whole)

    def _doubles(self, batch: Any) -> np.ndarray:
        """Copy the feature columns of a batch into rows of doubles; nulls become NaN."""
        rows = np.empty((batch.num_rows, self.n_columns), order="F")
        for j in range(self.n_columns):
            column = batch.column(j)
            if not pa.types.is_float64(column.type):
                column = column.cast(pa.float64(), safe=False)
            rows[:, j] = column.to_numpy(zero_copy_only=False)
        return rows

    def _open(self, wanted: list[str] | None) -> Any:
        """Open the dataset; with `wanted`, read those columns of a CSV as numbers (and the users' as text)."""
        kind: Any = self._format
        if kind == "csv":
            numbers = {name: pa.float64() for name in wanted or ()}
            if self._user is not None:
                numbers[self._user] = pa.string()
            kind = pa.dataset.CsvFileFormat(
                parse_options=pa.csv.ParseOptions(
                    delimiter=self._read_safely(_delimiter, self._files[0]),
                    newlines_in_values=True,  # else a record's text could move where the next blocks begin
                ),
                convert_options=pa.csv.ConvertOptions(column_types=numbers, null_values=_MISSING),
                read_options=pa.csv.ReadOptions(block_size=2**20),
            )
        if kind == "parquet":  # read pages as they are needed, not whole row groups ahead
            paged = pa.dataset.ParquetFragmentScanOptions(pre_buffer=False, use_buffered_stream=True)
            kind = pa.dataset.ParquetFileFormat(default_fragment_scan_options=paged)
        return self._read_safely(lambda: pa.dataset.dataset([str(file) for file in self._files], format=kind))

    def _header(self) -> list[str]:
        """Return the names of all columns."""
        return self._read_safely(lambda: self._open(None).schema.names)

    @property
    def _compressed(self) -> bool:
        return any(file.suffix in (".gz", ".bz2", ".zst") for file in self._files)

    def _read_safely(self, call: Any, *args: Any) -> Any:
        """Call into Arrow; turn its errors, which may quote values, into ours, which do not."""
        try:
            return call(*args)
        except UnicodeDecodeError:
            raise DataError(f"{self._where} holds text that is not UTF-8 (column names?); save it as UTF-8") from None
        except (pa.ArrowException, OSError) as error:
            raise DataError(self._explain(str(error))) from None

    @property
    def _where(self) -> str:
        return self._files[0].name if len(self._files) == 1 else "the files"

    def _explain(self, message: str) -> str:
        where = self._where
        if "conversion error" in message.lower():
            named = re.search(r"In CSV column #(\d+)", message)
            names = self._header() if named else []
            number = int(named.group(1)) if named else 0
            which = f"column {names[number]!r}" if number < len(names) else "a column"
            return f"{which} of {where} holds something that is not a number; choose other columns, or clean it"
        if "Empty CSV" in message:
            return f"{where} is empty"
        if "columns, got" in message:
            return f"a line of {where} has another number of fields than its header"
        if "nvalid UTF" in message:
            return f"{where} holds text that is not UTF-8; save it as UTF-8"
        if "nsupported cast" in message or "ncompatible types" in message or "nable to merge" in message:
            return "the files do not agree on what a column holds (numbers in one, something else in another)"
        if "Permission denied" in message:
            return f"{where} cannot be opened: permission denied"
        return f"{where} cannot be read as {self._format}: it is damaged, truncated or something else"


def _ahead(blocks: Iterator[Block]) -> Iterator[Block]:
    """Yield the same blocks, fetching the next one in another thread meanwhile."""
    with ThreadPoolExecutor(1, thread_name_prefix="knoll-read") as reader:
        coming = reader.submit(next, blocks, None)
        while (block := coming.result()) is not None:
            coming = reader.submit(next, blocks, None)
            yield block


def _files(path: Path) -> list[Path]:
    """Return the file, or the data files of the folder in order."""
    if not path.exists():
        raise DataError(f"no such file or folder: {path}")
    if path.is_file():
        return [path]
    found = sorted(file for file in path.rglob("*") if file.is_file() and _suffix(file) in _FORMATS)
    if not found:
        raise DataError(f"{path} holds no parquet, CSV or Arrow file")
    return found


def _delimiter(path: Path) -> str:
    """Return the separator that stands most often in the header line."""
    with pa.input_stream(str(path)) as stream:
        header = stream.read(2**16).split(b"\n", 1)[0].decode("utf-8", "replace")
    return max(",;\t|", key=header.count)


def _suffix(path: Path) -> str:
    name = path.with_suffix("") if path.suffix in (".gz", ".bz2", ".zst") else path
    return name.suffix.lower()


def _format(files: list[Path]) -> str:
    kinds = {_FORMATS.get(_suffix(file)) for file in files}
    kind = kinds.pop()
    if kinds:
        raise DataError("the folder mixes kinds of files; keep parquet, CSV and Arrow apart")
    if kind is None:
        known = ", ".join(sorted(_FORMATS))
        raise DataError(f"{files[0].name}: the kind of file is told by its ending, one of {known}")
    return kind


def _as_text(column: Any) -> Any:
    """User ids of a batch as text."""
    return column.cast(pa.large_string())


def _is_number(name: str) -> bool:
    try:
        float(name)
    except ValueError:
        return False
    return True
