"""Rows of a Spark DataFrame, classic or Connect: partitions stay with their executors (`mapInArrow`).

Spark turns rows into Arrow one by one, in every pass. So the second pass packs a hundred or so of them into one value,
as doubles, and these are persisted, if all of them are at most `_MOST_KEPT` bytes: later passes read a hundredth of the
rows. What is lost with an executor is computed again from the DataFrame's plan.

A plan that says that it is not deterministic is refused, since a task that is run again after a failure would meet
other rows; others are compared pass by pass, packed or not. Few, large partitions are best: an empty task takes a tenth
of a second. If the unit is a user, the rows are shuffled once, so that all rows of a user are in one partition, and
persisted as they are. The workers need knoll, and their Python the driver's (PYSPARK_PYTHON).
"""

import pickle
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
import pyarrow as pa

from knoll.arrays import Floats
from knoll.engines.batches import Decoder
from knoll.engines.cluster import ClusterEngine
from knoll.engines.ids import seeds_of
from knoll.engines.notation import Notation
from knoll.engines.stream import safely
from knoll.engines.task import Partial, added, run
from knoll.privacy.errors import DataError

WHAT = "the Spark DataFrame"
_ADVICE = "frame.checkpoint() or frame.localCheckpoint(), or files that it was written to"
_BUCKET = "knoll_bucket"
_MOST_RESULTS = 256  # partial sums that are sent to the driver as they are
_MOST_KEPT = 2**33  # bytes of rows that are packed and persisted, on the whole cluster
_BATCH = 2**26  # bytes of packed rows that a worker is handed at a time
_CHANCE = re.compile(
    r"\b(rand|randn|random|randstr|uniform|uuid|shuffle|monotonically_increasing_id|spark_partition_id)\(",
    re.IGNORECASE,
)


class SparkEngine(ClusterEngine):
    """Columns of a Spark DataFrame.

    Parameters
    ----------
    frame : DataFrame
        The rows.
    decoder : Decoder
        What is read of a batch.
    more
        As for `ClusterEngine`.
    """

    def __init__(self, frame: Any, decoder: Decoder, **more: Any):
        _refuse_chance(frame)
        frame = safely(WHAT, frame.select, *map(_quoted, decoder.wanted))
        self._persisted: Any = None
        self._results = 0
        if decoder.user is not None:
            frame = self._persisted = safely(WHAT, _by_user, frame, decoder)
        self._frame = frame
        names = tuple(decoder.names)
        super().__init__(partial(_read, decoder), names, len(names), what=WHAT, advice=_ADVICE, **more)
        if decoder.user is None and 8 * self._first.rows * len(names) <= _MOST_KEPT:
            self._frame = self._persisted = safely(WHAT, _packed, frame, decoder)
            self._how = partial(_unpacked, len(names))

    def __del__(self) -> None:
        """Let go of the rows that were persisted."""
        if (frame := self.__dict__.get("_persisted")) is not None:
            with suppress(Exception):  # the session may have ended before
                frame.unpersist()

    def _run(self, sent: tuple[str, bytes]) -> Partial:
        found = self._frame.mapInArrow(partial(_in_worker, sent), "partial binary")
        if self._results > _MOST_RESULTS:
            found = found.repartition(16).mapInArrow(_add, "partial binary")
        partials = [pickle.loads(row[0]) for row in safely(WHAT, found.collect)]
        self._results = self._results or len(partials)  # of the first look: one for each partition
        return added(partials)


def arrow_schema(frame: Any) -> Any:
    """Return the Arrow types of a DataFrame's columns."""
    return safely(WHAT, lambda: import_module("pyspark.sql.pandas.types").to_arrow_schema(frame.schema))


def labelled(frame: Any, label: Callable[[Any], Any]) -> Any:
    """Return a DataFrame with one more column, the label of each row; lazily."""
    kind = import_module("pyspark.sql.types")
    schema = kind.StructType([*frame.schema.fields, kind.StructField("label", kind.LongType())])
    return frame.mapInArrow(partial(_label, label), schema)


def _refuse_chance(frame: Any) -> None:
    """Refuse a plan that is not deterministic. Connect does not tell: the plan's text is looked through for functions.

    It may be cut short there; what it hides is found out by checksums.
    """
    plan = getattr(frame, "_jdf", None)
    if plan is not None:
        same = safely(WHAT, lambda: plan.queryExecution().analyzed().deterministic())
    else:
        same = not _CHANCE.search(safely(WHAT, lambda: frame._explain_string(extended=True)))
    if not same:
        raise DataError(f"{WHAT} is not the same each time it is computed (rand(), a UDF of chance); fit {_ADVICE}")


def _packed(frame: Any, decoder: Decoder) -> Any:
    """Return the rows as doubles, many in one value, persisted; nothing is computed yet."""
    at_a_time = int(frame.sparkSession.conf.get("spark.sql.execution.arrow.maxRecordsPerBatch"))
    width = 8 * len(decoder.names)
    rows = max(1, _BATCH // max(1, at_a_time) // width)
    return frame.mapInArrow(partial(_pack, decoder, rows), "rows binary").persist()


def _pack(decoder: Decoder, number: int, batches: Iterator[Any]) -> Iterator[Any]:
    """Yield values that hold so many rows each, one after the other."""
    for batch in batches:
        rows = np.ascontiguousarray(decoder.rows(batch, WHAT, Notation()))
        starts = range(0, len(rows), number)
        packed = pa.array([rows[start : start + number].tobytes() for start in starts], pa.binary())
        yield pa.record_batch([packed], names=["rows"])


def _unpacked(n_columns: int, batches: Iterator[Any]) -> Iterator[tuple[Floats, None]]:
    """Yield the rows of packed values: within a batch they lie one after the other, so nothing is copied."""
    for batch in batches:
        if not batch.num_rows:
            continue
        packed = batch.column(0).cast(pa.binary())
        _, ends, values = packed.buffers()
        at = np.frombuffer(ends, dtype=np.int32)[packed.offset : packed.offset + len(packed) + 1]
        yield (
            np.frombuffer(values, dtype=np.float64, count=(at[-1] - at[0]) // 8, offset=at[0]).reshape(-1, n_columns),
            None,
        )


def _by_user(frame: Any, decoder: Decoder) -> Any:
    """Return the rows with all rows of a user in one partition: buckets by the hash of an id, then a shuffle."""
    kind = import_module("pyspark.sql.types")
    number = int(frame.sparkSession.conf.get("spark.sql.shuffle.partitions"))
    schema = kind.StructType([*frame.schema.fields, kind.StructField(_BUCKET, kind.IntegerType())])
    marked = frame.mapInArrow(partial(_mark, decoder, 8 * number), schema)
    return marked.repartition(number, _BUCKET).drop(_BUCKET).persist()


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _read(decoder: Decoder, batches: Iterator[Any]) -> Iterator[tuple[Floats, Any]]:
    for batch in batches:
        yield decoder.rows(batch, WHAT, Notation()), decoder.users(batch)


def _mark(decoder: Decoder, number: int, batches: Iterator[Any]) -> Iterator[Any]:
    for batch in batches:
        bucket = (seeds_of(decoder.users(batch)) % np.uint64(number)).astype(np.int32)
        yield pa.RecordBatch.from_arrays([*batch.columns, pa.array(bucket)], names=[*batch.schema.names, _BUCKET])


def _in_worker(sent: tuple[str, bytes], batches: Iterator[Any]) -> Iterator[Any]:
    yield _sent(run(sent, batches))


def _add(batches: Iterator[Any]) -> Iterator[Any]:
    yield _sent(added(pickle.loads(each) for batch in batches for each in batch.column(0).to_pylist()))


def _sent(found: Partial) -> Any:
    return pa.record_batch([pa.array([pickle.dumps(found)], pa.binary())], names=["partial"])


def _label(label: Callable[[Any], Any], batches: Iterator[Any]) -> Iterator[Any]:
    for batch in batches:
        found = pa.array(np.asarray(label(pa.Table.from_batches([batch])), dtype=np.int64))
        yield pa.RecordBatch.from_arrays([*batch.columns, found], names=[*batch.schema.names, "label"])
