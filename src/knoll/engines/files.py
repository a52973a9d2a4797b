"""Rows in files: parquet, CSV, Arrow and workbooks, one file or a folder of them, streamed in constant memory.

Only the needed columns are read. A batch becomes one block of doubles at a time and is then forgotten, so memory does
not grow with the rows (a cap per user needs a counter for each user; a workbook is read whole). Small files are kept
for the next pass (kept.py). Every file is read by
itself, from its own types to doubles: what one file holds does not change how another is read. Errors name columns and
files, never a value.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from os import PathLike
from pathlib import Path
from typing import Any

from knoll.arrays import Floats, Integers
from knoll.engines.ahead import ahead
from knoll.engines.batches import Decoder, Encoder
from knoll.engines.csv import Dialect, is_value
from knoll.engines.engine import Block, Engine, Missing, Rule
from knoll.engines.gridded import Batch, FilePoints, Packed, Run
from knoll.engines.kept import Kept
from knoll.engines.keys import Pass
from knoll.engines.listing import data_files, file_kind
from knoll.engines.marks import file_marks
from knoll.engines.notation import Notation, numbers_of_text
from knoll.engines.parts import ArrowPart, Part, check_columns, open_part
from knoll.engines.points import points_for
from knoll.engines.reading import changed, check_unchanged, safely_read, stamp_of
from knoll.engines.seen import Seen, look_at
from knoll.engines.vectors import folded, spread, width_of
from knoll.privacy.errors import DataError, brief
from knoll.privacy.query import QueryProtocol
from knoll.privacy.relation import Record, Unit, User
from knoll.queries.grid import Gridded, TwoGrids
from knoll.queries.points import points_on

_RUNS_EACH = 2  # runs of row groups to a thread, at least: else some threads would wait for the last
_TAKEN = 2**14  # rows that a thread decodes at a time: they stay in cache


class FileEngine(Engine):
    """Columns of a file, or of all files in a folder.

    Parameters
    ----------
    path : path-like
        A parquet, CSV (with a header line) or Arrow file, a workbook, a folder of files of one kind, or a pattern.
    columns : sequence of str, optional
        Feature columns, in order; by default all columns but the users'.
    missing, unit, nulls, rules
        As for every engine.
    dialect : Dialect, optional
        What is declared about CSV files.
    notation : Notation, optional
        How numbers and dates are written in files without types.
    encoders : dict, optional
        Name -> what encodes the column. All others hold numbers.
    """

    def __init__(
        self,
        path: str | PathLike[str],
        columns: list[str] | None = None,
        *,
        missing: Missing = "refuse",
        unit: Unit | None = None,
        nulls: bool = False,
        rules: Sequence[Rule] | None = None,
        line_breaks: bool = False,
        dialect: Dialect | None = None,
        notation: Notation | None = None,
        encoders: Mapping[str, Encoder] | None = None,
    ):
        self.files = data_files(Path(path))
        self._format = file_kind(self.files)
        self._untyped = self._format in ("csv", "sheet")
        user = unit.column if isinstance(unit, User) else None
        if user is not None and not isinstance(user, str):
            raise DataError(f"the column of user ids in a file needs a name, not {brief(user)}")
        self._user: str | None = user
        self._dialect = dialect or Dialect(line_breaks=line_breaks)
        self._notation = notation or Notation()
        if self._format == "sheet":  # cells that are numbers come with a decimal point, whatever is declared
            self._notation = Notation(dates=self._notation.dates)
        self._parts: list[Part] = [
            self._safely(file, open_part, file, self._format, self._dialect) for file in self.files
        ]
        widths = self._widths()
        names = self._chosen(columns if columns is None else folded(list(columns), widths))
        widths = {name: widths[name] for name in names if name in widths}
        features = tuple(spread(names, widths))
        super().__init__(features, len(features), missing=missing, unit=unit, nulls=nulls, rules=rules)
        self._decoder = Decoder(names, user, self._all_encoders(names, features, encoders or {}), widths)
        for part in self._parts[1:]:
            check_columns(part, self._decoder.wanted)
        self._check_kinds()
        self._stamps = [stamp_of(file) for file in self.files]
        self._held_rows = Kept()
        self._seen_runs, self._seen_files = Seen(), Seen()

    @property
    def row_limit(self) -> int:
        """Rows by the files' own metadata; a text file has fewer rows than bytes."""
        return sum(self._safely(part.path, part.count) for part in self._parts)

    @property
    def file_marks(self) -> list[bytes]:
        """Marks of the files, for a ledger's witness."""
        return file_marks(self.files)

    def read(self) -> Iterator[Block]:
        """Yield the rows of all files, in order; the next block is read while one is summed."""
        kept = self._held_rows.blocks(self.block_rows)
        if kept is None:
            return self._held_rows.noted(ahead(self._blocks()), self.block_rows)
        self._check_files()
        return kept

    def _check_files(self) -> None:
        """Refuse files that were written to since they were opened."""
        for part, stamp in zip(self._parts, self._stamps, strict=True):
            check_unchanged(part.path, stamp)

    def aggregate(self, query: QueryProtocol) -> Integers:
        """Return the exact integer total of a query over all rows; grid points of records in few columns are kept."""
        alone = isinstance(self.unit, Record) and self.missing != "count"
        alone = alone and not isinstance(getattr(query, "gridded", None), TwoGrids)  # which takes more than 20 bits
        kept = points_for(query, self._points, FilePoints) if alone else None
        if not isinstance(kept, FilePoints):
            total = super().aggregate(query)
            self._check_files()
            return total
        self._points = kept

        self._seen_runs.begin()
        batches = self._batches(kept)
        work = partial(kept.total, query, self._points_of)
        total = self._summed(query, work, batches if self._decoded_by_all else ahead(batches))
        kept.settle()
        self._check_runs()
        self._check_files()
        return total

    def _check_runs(self) -> None:
        """Refuse parts of files, and files as the sum of their parts, that held other records when they were read."""
        if (at := self._seen_runs.changed()) is not None:
            raise changed(self._runs[at][0].path)
        self._seen_files.begin()
        for number, part in enumerate(self._parts):
            looks = [self._seen_runs.first(at) for at, run in enumerate(self._runs) if run[0] is part]
            self._seen_files.add(number, sum(looks, Pass()))
        self._check_seen()

    def _check_seen(self) -> None:
        """Refuse files that held other records than at first."""
        if (number := self._seen_files.changed()) is not None:
            raise changed(self._parts[number].path)

    @cached_property
    def _decoded_by_all(self) -> bool:
        """Whether there are runs enough that every thread decodes what it sums."""
        return len(self._runs) >= _RUNS_EACH * (1 + self._helpers.number) and all(run for _, _, run in self._runs)

    def _points_of(self, batch: Batch, domain: Any) -> Gridded:
        """Return the grid points of a batch, of the records that are complete."""
        points = None if self._decoder.encoders else batch.on(domain, self._decoder.names)
        return Gridded.of(domain, points_on(domain, self._complete(batch.rows()))) if points is None else points

    def _batches(self, kept: FilePoints) -> Iterator[tuple[Batch | Run | Gridded | Packed, float]]:
        """Yield what is kept of the files, and what is not as it is read; one run of row groups after the other."""
        number, runs = 0, self._runs
        for at, (part, stamp, run) in enumerate(runs):
            check_unchanged(part.path, stamp)
            first, points = number, kept.part(at)
            batches: Iterator[Any] = self._run(at) if points is None else points
            if points is None and self._decoded_by_all and isinstance(part, ArrowPart) and run is not None:
                whole = Run(part.rows_of(run), batches, self.n_columns)
                batches = iter([whole] if whole.rows else [])
            for batch in batches:
                number += 1
                yield batch, at / len(runs)
            if points is None:
                kept.noted(at, range(first, number))
        if not number:
            self._refuse_empty()

    def _run(self, at: int) -> Iterator[Batch]:
        """Yield batches of a part of a file."""
        part, _, run = self._runs[at]
        decoder, notation = self._decoder, replace(self._notation, semicolons=part.delimiter == ";")
        rows = min(2 * self.block_rows, _TAKEN) if self._decoded_by_all else 2 * self.block_rows
        options: tuple[Any, ...] = (decoder.names, decoder.user, decoder.encoders, rows)
        alone = () if run is None else (run, not self._decoded_by_all)
        batches = self._safely(part.path, part.batches, *options, *alone)

        def decode(batch: Any) -> Floats:
            return self._safely(part.path, decoder.rows, batch, part.path.name, notation)

        while (batch := self._safely(part.path, next, batches, None)) is not None:
            if batch.num_rows:
                yield Batch(batch, decode, partial(self._seen_runs.add, at))

    @cached_property
    def _runs(self) -> list[tuple[Part, tuple[int, ...], list[int] | None]]:
        """The parts of all files that can be read alone, each with its file's stamp."""
        found = []
        for part, stamp in zip(self._parts, self._stamps, strict=True):
            runs = self._safely(part.path, part.runs) if isinstance(part, ArrowPart) else [None]
            found += [(part, stamp, run) for run in runs]
        return found

    def _widths(self) -> dict[str, int]:
        """Return the columns of vectors, and how long these are, by the first file's types."""
        if self._untyped:
            return {}
        kinds = {name: width_of(self._parts[0].kind(name)) for name in self._parts[0].names}  # type: ignore[union-attr]
        return {name: width for name, width in kinds.items() if width is not None}

    def _chosen(self, columns: list[str] | None) -> list[str]:
        """Return the feature columns; refuse a file without column names, whose first record would be published."""
        first = self._parts[0]
        nameless = self._untyped and any(map(is_value, first.names))
        if nameless and not set(columns or ()) <= set(first.names):
            columns = None  # named, but not there: the first line may be a record, which no error may quote
        if nameless and columns is None:
            raise DataError(
                f"the first line of {first.path.name} holds values, not column names: add a header line, else its "
                "first record would be taken, and published, as the names. If they are names, give them: columns=[...]"
            )
        names = [name for name in first.names if name != self._user] if columns is None else list(columns)
        check_columns(first, names if self._user is None else [*names, self._user])
        if len(set(names)) < len(names) or not names:
            raise DataError("name at least one feature column, each once")
        return names

    def _all_encoders(self, names: list[str], parts: Sequence[str], given: Mapping[str, Encoder]) -> dict[str, Encoder]:
        """Return the encoders of columns, or of numbers of a vector, that are not read as doubles right away."""
        found = {name: given[name] for name in (*names, *parts) if name in given}
        semicolons = any(part.delimiter == ";" for part in self._parts)
        marks = self._notation.declared or semicolons or len(names) <= _WITH_MARKS
        if self._format == "sheet" or (self._format == "csv" and marks):
            found = dict.fromkeys(names, numbers_of_text) | found
        return found

    def _check_kinds(self) -> None:
        """Refuse columns of a wrong type, and files that disagree on what a column or the ids are."""
        if self._untyped:
            return
        for name in self._decoder.wanted:
            seen: set[str] = set()
            for part in self._parts:
                kind = part.kind(name)  # type: ignore[union-attr]
                seen |= {self._decoder.family_of(name, kind, part.path.name, self._notation)} - {"nothing"}
                if len(seen) > 1:
                    raise DataError(
                        f"the files do not agree on what column {name!r} holds: {part.path.name} holds {kind}, "
                        "others something else. Give it one type in all of them"
                    )

    def _blocks(self) -> Iterator[Block]:
        seen, whole, decoder = 0, max(1, self.row_limit), self._decoder
        per_row = 8 * len(decoder.wanted) if self._format == "csv" else 1
        self._seen_files.begin()
        for number, (part, stamp) in enumerate(zip(self._parts, self._stamps, strict=True)):
            check_unchanged(part.path, stamp)
            notation = replace(self._notation, semicolons=part.delimiter == ";")
            options = decoder.names, decoder.user, decoder.encoders, 2 * self.block_rows
            batches = self._safely(part.path, part.batches, *options)
            while (batch := self._safely(part.path, next, batches, None)) is not None:
                seen += batch.num_rows
                rows = self._safely(part.path, decoder.rows, batch, part.path.name, notation)
                self._seen_files.add(number, look_at(rows))
                yield rows, decoder.users(batch), min(1.0, seen * per_row / whole)
        self._check_seen()

    def _safely(self, path: Path, call: Any, *args: Any) -> Any:
        """Call into Arrow; turn its errors, which may quote values, into ours, which do not."""
        return safely_read(path, self._dialect, call, *args)


_WITH_MARKS = 64
"""Columns of a CSV file up to which numbers with marks, such as $1,234, are read without being declared.

Each column that is read as text costs some time a block; wide tables are embeddings and measurements, which programs
wrote."""
