"""Labels of rows that come in batches: the same kind of thing with one more column, computed when it is read.

A lazy frame gives a lazy frame, a relation a relation, a stream of Arrow batches a reader that can be read once. A
table of a database gives a reader too: its rows have no order, so labels alone would say nothing.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
import pyarrow as pa

from knoll.arrays import Floats, Integers
from knoll.columns import Columns
from knoll.engines.batches import Decoder
from knoll.engines.notation import Notation
from knoll.engines.stream import Stream, safely, stream_decoder
from knoll.engines.streams import library_of
from knoll.privacy.errors import DataError

LABEL = "label"


@dataclass(frozen=True)
class BatchLabels:
    """Labels the rows of batches.

    Parameters
    ----------
    decoder : Decoder
        What is read of a batch.
    what : str
        Where it comes from, for messages.
    label : callable
        From rows of doubles to their labels, -1 for a row that has none.
    """

    decoder: Decoder
    what: str
    label: Callable[[Floats], Integers]

    def of(self, batch: Any) -> Any:
        """Return the labels of a record batch."""
        rows = safely(self.what, self.decoder.rows, batch, self.what, Notation())
        return pa.array(self.label(rows), pa.int64())

    def added(self, batch: Any) -> Any:
        """Return a record batch with one more column."""
        return pa.RecordBatch.from_arrays([*batch.columns, self.of(batch)], names=[*batch.schema.names, LABEL])


def label_stream(
    stream: Stream, given: Any, columns: Columns | Sequence[str] | None, width: int, label: Callable[[Floats], Integers]
) -> Any:
    """Return what was given, with the label of each row, lazily.

    Parameters
    ----------
    stream : Stream
        The rows.
    given : object
        What the stream was made of; None for a table of a database.
    columns : Columns, list of str or None
        Feature columns: declared, named, or all.
    width : int
        Number of columns that the model knows.
    label : callable
        From rows of doubles to their labels.
    """
    encoders = {name: kind.encode for name, kind in columns} if isinstance(columns, Columns) else {}
    names = None if columns is None else list(columns.names if isinstance(columns, Columns) else columns)
    decoder = stream_decoder(stream, names, None, encoders)
    if len(decoder.names) != width:
        raise DataError(f"{stream.what} has {len(decoder.names)} feature columns, the model {width}")
    refuse_label(stream.schema.names, stream.what)
    labels = BatchLabels(decoder, stream.what, label)
    library = library_of(given)
    if library == "narwhals":
        given = given.to_native()
        library = library_of(given)
    if library == "polars":
        return _lazy_frame(given, labels)
    opened = _Reopened(stream, labels)
    if library == "duckdb":  # of a connection of its own: one query cannot wait for another of the same connection
        return import_module("duckdb").connect().from_arrow(opened)
    return opened.reader()


def refuse_label(names: list[str], what: str) -> None:
    """Refuse rows that have a column with the name of the one to come."""
    if LABEL in names:
        raise DataError(f"{what} has a column {LABEL!r} already, which labels would be written to; rename it first")


def _lazy_frame(frame: Any, labels: BatchLabels) -> Any:
    polars: Any = import_module("polars")

    def added(part: Any) -> Any:
        found = [labels.of(batch).to_numpy() for batch in part.to_arrow().to_batches()]
        return part.with_columns(polars.Series(LABEL, np.concatenate([np.empty(0, dtype=np.int64), *found])))

    return frame.map_batches(added, schema={**frame.collect_schema(), LABEL: polars.Int64}, streamable=True)


class _Reopened:
    """Batches with labels, for whoever takes Arrow streams: each time it is asked, the rows are read anew."""

    def __init__(self, stream: Stream, labels: BatchLabels):
        self._stream, self._labels = stream, labels
        self._schema = pa.schema([*(field.remove_metadata() for field in stream.schema), pa.field(LABEL, pa.int64())])

    def reader(self) -> Any:
        """Return a reader of all batches, which reads when it is read."""
        return pa.RecordBatchReader.from_batches(self._schema, self._batches())

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.reader().__arrow_c_stream__(requested_schema)

    def _batches(self) -> Iterator[Any]:
        stream = self._stream
        batches = iter(safely(stream.what, stream.batches, list(stream.schema.names)))
        while (batch := safely(stream.what, next, batches, None)) is not None:
            yield self._labels.added(batch).cast(self._schema)
