"""Rows of a Spark DataFrame, classic or Connect: partitions stay with their executors (`mapInArrow`).

Every pass runs the DataFrame's plan anew. A plan that says that it is not deterministic is refused, since a task that
is run again after a failure would meet other rows; others are compared pass by pass. Few, large partitions are best: an
empty task takes a tenth of a second. If the unit is a user, the rows are shuffled once, so that all rows of a user are
in one partition, and persisted. The workers need knoll, and their Python the driver's (PYSPARK_PYTHON).
"""

import pickle
from collections.abc import Callable, Iterator
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
        if decoder.user is not None:
            frame = self._persisted = safely(WHAT, _by_user, frame, decoder)
        self._frame = frame
        names = tuple(decoder.names)
        super().__init__(partial(_read, decoder), names, len(names), what=WHAT, advice=_ADVICE, **more)

    def __del__(self) -> None:
        """Let go of the shuffled rows."""
        if (frame := self.__dict__.get("_persisted")) is not None:
            frame.unpersist()

    def _run(self, sent: tuple[str, bytes]) -> Partial:
        found = self._frame.mapInArrow(partial(_in_worker, sent), "partial binary")
        if _partitions(self._frame) > _MOST_RESULTS:
            found = found.repartition(16).mapInArrow(_add, "partial binary")
        return added(pickle.loads(row[0]) for row in safely(WHAT, found.collect))


def arrow_schema(frame: Any) -> Any:
    """Return the Arrow types of a DataFrame's columns."""
    return safely(WHAT, lambda: import_module("pyspark.sql.pandas.types").to_arrow_schema(frame.schema))


def labelled(frame: Any, label: Callable[[Any], Any]) -> Any:
    """Return a DataFrame with one more column, the label of each row; lazily."""
    kind = import_module("pyspark.sql.types")
    schema = kind.StructType([*frame.schema.fields, kind.StructField("label", kind.LongType())])
    return frame.mapInArrow(partial(_label, label), schema)


def _refuse_chance(frame: Any) -> None:
    """Refuse a plan that is not deterministic; Connect does not tell, and is found out by checksums."""
    plan = getattr(frame, "_jdf", None)
    if plan is not None and not safely(WHAT, lambda: plan.queryExecution().analyzed().deterministic()):
        raise DataError(f"{WHAT} is not the same each time it is computed (rand(), a UDF of chance); fit {_ADVICE}")


def _partitions(frame: Any) -> int:
    return int(frame.rdd.getNumPartitions()) if hasattr(frame, "_jdf") else 0


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
