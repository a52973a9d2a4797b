"""What can be asked for Arrow batches again and again: lazy frames of polars, relations of DuckDB, Arrow streams.

Told by the module of its type: nothing is imported that is not there already. An object that gives its stream once, or
does not say how often, is copied to a local file without a name first (`Spool`): all passes then read the same rows.
"""

import mmap
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa

from knoll.engines.decode import maker_of
from knoll.engines.stream import Stream, safely

_ROWS = 2**16
_LIBRARIES = ("pandas", "polars", "pyarrow", "duckdb", "dask", "pyspark", "narwhals")


def library_of(X: Any) -> str:
    """Return the library that a type, or one of those it comes from, was made in; nothing if it is not known here.

    >>> library_of(pa.table({})), library_of([])
    ('pyarrow', '')
    """
    makers = (kind.__module__.partition(".")[0].lstrip("_") for kind in type(X).__mro__)
    return next((maker for maker in makers if maker in _LIBRARIES), "")


def stream_of(X: Any) -> Stream | None:
    """Return something that is read in batches as a stream; None for tables in memory, and all else."""
    library = library_of(X)
    if library == "narwhals" and hasattr(X, "to_native"):
        return stream_of(X.to_native())
    if library == "polars":
        return _from_polars(X) if type(X).__name__ == "LazyFrame" else None
    if library == "duckdb":
        return _from_duckdb(X) if hasattr(X, "to_arrow_reader") else None
    one_shot = library == "pyarrow" and (isinstance(X, pa.RecordBatchReader) or type(X).__name__ == "Scanner")
    if one_shot or (hasattr(X, "__arrow_c_stream__") and not maker_of(X)):
        what = "the stream of Arrow batches"
        reader = safely(what, _reader, X)
        return spooled(reader.schema, lambda names: iter(reader), what)
    return None


def _reader(X: Any) -> Any:
    if type(X).__name__ == "Scanner":
        return X.to_reader()
    return X if isinstance(X, pa.RecordBatchReader) else pa.RecordBatchReader.from_stream(X)


def _from_polars(frame: Any) -> Stream:
    """Return a lazy frame, collected in batches by polars' streaming engine."""
    polars = __import__("polars")
    what = "the lazy frame"
    schema = safely(what, lambda: polars.DataFrame(schema=dict(frame.collect_schema())).to_arrow().schema)

    def batches(names: list[str]) -> Iterator[Any]:
        chosen = frame.select(names)
        if hasattr(chosen, "collect_batches"):
            for part in chosen.collect_batches(chunk_size=_ROWS, maintain_order=True):
                yield from part.to_arrow().to_batches()
        else:  # an older polars makes the whole frame for every pass
            yield from chosen.collect().to_arrow().to_batches(max_chunksize=_ROWS)

    def count(names: list[str]) -> int:
        return int(frame.select(polars.len()).collect().item())

    return Stream(schema, batches, count, what, "frame.collect(), or frame.sink_parquet(...) and the path of that file")


def _from_duckdb(relation: Any) -> Stream:
    """Return a relation of DuckDB."""
    what = "the relation"

    def batches(names: list[str]) -> Iterator[Any]:
        return iter(relation.project(", ".join(map(quoted, names))).to_arrow_reader(_ROWS))

    def count(names: list[str]) -> int:
        return int(relation.aggregate("count(*)").fetchall()[0][0])

    schema = safely(what, lambda: relation.limit(0).to_arrow_table().schema)
    return Stream(schema, batches, count, what, "relation.create(...) a table of it, or relation.to_arrow_table()")


def quoted(name: str) -> str:
    """Return the name of a column or table as SQL wants it, whatever it holds."""
    return '"' + name.replace('"', '""') + '"'


class Spool:
    """A copy of some columns of what can be read once, or slowly, in a local file without a name.

    Nobody else can open the file, and its space is free again when this object goes, or the process. It lies in the
    folder for temporary files (TMPDIR); it is not encrypted.
    """

    def __init__(self, schema: Any, batches: Callable[[list[str]], Iterator[Any]]):
        self._schema, self._source = schema, batches
        self._rows, self._buffer = 0, None

    def count(self, names: list[str]) -> int:
        """Copy these columns, once; return the number of rows."""
        if self._buffer is None:
            self._copy(names)
        return self._rows

    def batches(self, names: list[str]) -> Iterator[Any]:
        """Yield the copied batches; if nothing was copied, those of the source, as often as it can be read."""
        if self._buffer is None:
            return (batch.select(names) for batch in self._source(names))
        return iter(pa.ipc.open_stream(self._buffer))

    def _copy(self, names: list[str]) -> None:
        schema = pa.schema([self._schema.field(name) for name in names])
        with tempfile.TemporaryFile() as file:
            with pa.ipc.new_stream(file, schema) as writer:
                for batch in self._source(names):
                    writer.write_batch(batch.select(names))
                    self._rows += batch.num_rows
            file.flush()
            self._buffer = pa.py_buffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        del self._source


def spooled(schema: Any, batches: Callable[[list[str]], Iterator[Any]], what: str, **more: Any) -> Stream:
    """Return what can be read once, or slowly, as a stream of a local copy."""
    spool = Spool(schema, batches)
    return Stream(schema, spool.batches, spool.count, what, "write it to a file", **more)
