"""The files of a dataset, one object for each: CSV, parquet or Arrow, or a sheet of a workbook.

Each yields record batches. Files without types (CSV and sheets) hold texts, which are read one by one.
"""

import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet

from knoll.engines.csv import CsvFile, Dialect, is_value
from knoll.engines.decode import family
from knoll.engines.notation import MISSING
from knoll.privacy.errors import DataError

_BATCH = 2**16
_BUFFER = 2**18  # bytes of each column read at a time
_RUN = 2**18  # rows of a parquet file that are read alone, at least


class CsvPart(CsvFile):
    """One CSV file of a dataset."""

    def batches(self, names: list[str], ids: str | None, texts: Collection[str] = (), rows: int = 0) -> Iterator[Any]:
        """Yield record batches."""
        return super().batches(names, ids, texts)

    def count(self) -> int:
        """A number that the rows cannot exceed: a row takes a byte, or less if it is compressed."""
        packed = self.path.suffix in (".gz", ".bz2", ".zst")
        return self.path.stat().st_size * (1000 if packed else 1)


class ArrowPart:
    """One parquet or Arrow file of a dataset."""

    delimiter = ""

    def __init__(self, path: Path, kind: str):
        self.path, self._form = path, kind
        self._dataset = pa.dataset.dataset([str(path)], format=kind)
        self.names: list[str] = self._dataset.schema.names

    def runs(self) -> list[list[int] | None]:
        """Return parts of the file that can be read alone: row groups of some 250,000 rows, or the whole (None)."""
        if self._form != "parquet":
            return [None]
        runs: list[list[int] | None] = []
        group, rows = list[int](), 0
        about = pa.parquet.read_metadata(self.path)
        for number in range(about.num_row_groups):
            group.append(number)
            rows += about.row_group(number).num_rows
            if rows >= _RUN or number + 1 == about.num_row_groups:
                runs.append(group)
                group, rows = [], 0
        return runs or [None]

    def rows_of(self, run: list[int]) -> int:
        """The number of rows of some row groups, by the file's metadata."""
        about = pa.parquet.read_metadata(self.path)
        return sum(about.row_group(number).num_rows for number in run)

    def batches(
        self, names: list[str], ids: str | None, texts: Collection[str] = (), rows: int = _BATCH,
        run: list[int] | None = None, threads: bool = True,
    ) -> Iterator[Any]:  # fmt: skip
        """Yield record batches, every column of its own type."""
        wanted = names if ids is None else [*names, ids]
        if self._form == "parquet":  # page by page: a scanner holds several row groups; each different text once
            words = [name for name in wanted if name in texts and family(self.kind(name)) == "text"]
            file = pa.parquet.ParquetFile(self.path, read_dictionary=words, pre_buffer=False, buffer_size=_BUFFER)
            return file.iter_batches(rows, columns=wanted, row_groups=run, use_threads=threads)
        scanner = self._dataset.scanner(
            columns=wanted,
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


class SheetPart:
    """The first sheet of a workbook (xlsx, xls, ods), in memory.

    Every cell is a text: types that a reader guesses from all cells of a column let one record change how others are
    read.
    """

    delimiter = ""

    def __init__(self, path: Path):
        self.path = path
        self._table = _read_sheet(path)
        self.names: list[str] = self._table.schema.names
        if not any(self.names):
            raise DataError(f"{path.name} has no header line with column names")

    def batches(
        self, names: list[str], ids: str | None, texts: Collection[str] = (), rows: int = _BATCH
    ) -> Iterator[Any]:
        """Yield record batches of texts."""
        wanted = self._table.select(names if ids is None else [*names, ids])
        if ids is not None:
            gone = pa.compute.is_in(wanted[ids], value_set=pa.array(MISSING, wanted[ids].type))
            kept = pa.compute.if_else(gone, pa.scalar(None, wanted[ids].type), wanted[ids])
            wanted = wanted.set_column(wanted.schema.get_field_index(ids), ids, kept)
        return iter(wanted.to_batches(max_chunksize=rows))

    def count(self) -> int:
        """The number of rows."""
        return int(self._table.num_rows)


Part = CsvPart | ArrowPart | SheetPart


def open_part(path: Path, kind: str, dialect: Dialect) -> Part:
    """Return a file of a kind that `file_kind` names."""
    if kind == "csv":
        return CsvPart(path, dialect)
    return SheetPart(path) if kind == "sheet" else ArrowPart(path, kind)


TITLE = "Column names must be the first line: is there a title above them?"
_UNNAMED = re.compile(r"(__UNNAMED__\d+)?")
"""What a workbook's reader calls a column without a name, or nothing."""


def is_unnamed(name: str) -> bool:
    """Whether a column has no name in its file."""
    return _UNNAMED.fullmatch(name) is not None


def check_columns(part: Part, wanted: list[str]) -> None:
    """Refuse a file that lacks a column or has one twice."""
    path, names = part.path, part.names
    there = set(names)
    absent = [name for name in wanted if name not in there]
    if absent:
        known = "its first line holds values" if any(map(is_value, names)) else f"it has {', '.join(names[:40])}"
        hint = f". {TITLE}" if any(map(is_unnamed, names)) else ""
        raise DataError(f"no column {', '.join(map(repr, absent[:20]))} in {path.name}; {known}{hint}")
    if len(there) < len(names) and (doubled := [name for name in wanted if names.count(name) > 1]):
        raise DataError(f"column {doubled[0]!r} stands twice in {path.name}; rename one of them")


def _read_sheet(path: Path) -> Any:
    """Return the cells of a workbook's first sheet as an Arrow table of texts."""
    try:
        import fastexcel
    except ImportError:
        raise DataError(f"reading {path.name} needs fastexcel: pip install 'knoll[excel]'; or save it as CSV") from None
    try:
        sheet = fastexcel.read_excel(str(path)).load_sheet(0, dtypes="string", header_row=0)
        batch = sheet.to_arrow()
    except (fastexcel.FastExcelError, OSError, pa.ArrowException, ValueError):
        raise DataError(
            f"{path.name} cannot be read: it is damaged, empty or something else than its ending says"
        ) from None
    return pa.Table.from_batches([pa.record_batch(batch)])
