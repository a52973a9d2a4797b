"""From what a cluster holds to an engine: collections of Dask, DataFrames of Spark, and files that either reads."""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from os import environ
from pathlib import Path
from typing import Any
from weakref import finalize

import numpy as np

from knoll.columns import Columns, encode_table
from knoll.engines.cluster import ClusterEngine
from knoll.engines.decode import frame_to_doubles, names_of, refuse_dates
from knoll.engines.listing import file_kind
from knoll.engines.stream import Stream, safely, stream_decoder
from knoll.engines.streams import library_of
from knoll.privacy.errors import DataError
from knoll.privacy.ledger import UNNAMED
from knoll.privacy.relation import Unit, User
from knoll.source.labelled import refuse_label
from knoll.source.users import split_users


@dataclass(frozen=True)
class Clustered:
    """A collection of Dask, or a DataFrame of Spark, and which of its columns to use; files that it is read from."""

    collection: Any
    columns: tuple[str, ...] | list[str] | None = None
    name: str = UNNAMED
    files: tuple[Path, ...] = ()


def open_cluster(X: Any, chosen: list[str] | None, declared: Columns | None, handling: dict[str, Any]) -> ClusterEngine:
    """Return an engine over what a cluster holds."""
    unit, encoders = handling["unit"], handling.pop("encoders")
    if library_of(X) == "pyspark":
        from knoll.engines import spark

        schema = Stream(spark.arrow_schema(X), lambda names: iter(()), lambda names: 0, spark.WHAT)
        return spark.SparkEngine(X, stream_decoder(schema, chosen, unit, encoders or {}), **handling)
    from knoll.engines.dask import DaskEngine, partitions

    reader = PartReader(declared, None if chosen is None else tuple(chosen), unit)
    names, width = reader.check(X)
    ids = reader.ids if isinstance(unit, User) else None
    return DaskEngine(partitions(X), reader, names, width, ids=ids, **handling)


@dataclass(frozen=True)
class PartReader:
    """Reads a partition of a collection, in the worker that holds it, as `fit` reads a table in memory."""

    columns: Columns | None
    names: tuple[str, ...] | None
    unit: Unit | None

    def __call__(self, part: Any) -> Iterator[tuple[np.ndarray, Any]]:
        """Yield the rows of a partition, and their users."""
        table, users = split_users(part, self.unit)
        yield self._rows(table), users

    def ids(self, part: Any) -> Any:
        """Return the user ids of a partition."""
        return split_users(part, self.unit)[1]

    def check(self, X: Any) -> tuple[tuple[str, ...] | None, int]:
        """Return the names of the features and their number; refuse what cannot be read, by its types alone."""
        like = X._meta if hasattr(X, "columns") else np.empty((0, int(X.shape[1])), dtype=X.dtype)
        table, _ = split_users(like, self.unit)
        rows = self._rows(table)
        if self.columns is not None:
            return self.columns.names, len(self.columns)
        names = names_of(table) if self.names is None else self.names
        return None if names is None else tuple(map(str, names)), rows.shape[1]

    def _rows(self, table: Any) -> np.ndarray:
        if self.columns is not None:
            return encode_table(self.columns, table)
        names = names_of(table)
        if names is None:
            refuse_dates(table)
            try:
                return np.asarray(table, dtype=np.float64)
            except (TypeError, ValueError, OverflowError):
                raise DataError("X holds values that are not numbers") from None
        if self.names is None:
            return frame_to_doubles(table)
        found = {str(name): name for name in names}
        if absent := [name for name in self.names if name not in found]:
            raise DataError(f"no column {', '.join(map(repr, absent[:20]))}; there are {', '.join(list(found)[:40])}")
        return frame_to_doubles(table[[found[name] for name in self.names]])


def label_clustered(source: Clustered, label: Callable[[Any], np.ndarray]) -> Any:
    """Return the labels of what a cluster holds, lazily."""
    from knoll.engines import dask, spark

    on = spark if library_of(source.collection) == "pyspark" else dask
    if on is spark:
        refuse_label(source.collection.columns, spark.WHAT)
    return on.labelled(source.collection, label)


def on_cluster(source: Any, *, dask: str | None = None) -> Clustered:
    """Return parquet files of a `Source` as what a cluster reads: of Dask at an address (or "local"), else of Spark.

    The workers must see the files under the same paths. Spark is that of SPARK_REMOTE, of spark-submit, or local.
    """
    files = [str(file.resolve()) for file in source.files]
    if file_kind(source.files) != "parquet":
        raise DataError("a cluster reads parquet files: others have no types, and a cluster would guess them")
    collection, close = _from_spark(files) if dask is None else _from_dask(files, dask)
    found = Clustered(collection, source.columns, source.name, tuple(source.files))
    finalize(found, close)
    return found


def _from_dask(files: list[str], address: str) -> tuple[Any, Callable[[], None]]:
    try:
        distributed: Any = import_module("dask.distributed")
        frames: Any = import_module("dask.dataframe")
    except ImportError:
        raise DataError("reading on Dask needs it: pip install 'knoll[dask]'") from None
    where = {"dashboard_address": ":0"} if address == "local" else {"address": address}  # any free port
    client = safely(f"the Dask scheduler {address}", lambda: distributed.Client(**where))
    plain = {"partitioning": None}  # the names of folders are no column: they are none without a cluster
    return safely("the files", lambda: frames.read_parquet(files, dataset=plain)), client.close


def _from_spark(files: list[str]) -> tuple[Any, Callable[[], None]]:
    try:
        sql: Any = import_module("pyspark.sql")
    except ImportError:
        raise DataError("reading on Spark needs it: pip install 'knoll[spark]'") from None
    environ.setdefault("PYSPARK_PYTHON", sys.executable)
    plain = {"recursiveFileLookup": "true"}  # the names of folders are no column: they are none without a cluster
    read = safely("Spark", lambda: sql.SparkSession.builder.getOrCreate().read.options(**plain))
    return safely("the files", lambda: read.parquet(*files)), lambda: None
