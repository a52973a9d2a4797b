"""Rows of a Dask DataFrame or array: partitions stay with their workers.

Every pass computes the partitions anew, unless they are persisted: persist what is slow to read. Few, large partitions
are best; a pass costs some milliseconds for each. If the unit is a user, rows are shuffled once, so that all rows of
a user are in one partition, and persisted.

Dask runs the tasks of a lost worker on another. If all are lost it would wait for ever: here it waits `_PATIENCE`.
"""

import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from knoll import progress
from knoll.engines.cluster import ClusterEngine
from knoll.engines.ids import Ids, seeds_of
from knoll.engines.stream import safely
from knoll.engines.task import Partial, Read, added, run
from knoll.privacy.errors import DataError

WHAT = "the Dask collection"
LOST = f"{WHAT} has lost all its workers. Nothing was released by this pass; start workers, and fit again"
_ADVICE = "collection.persist() of something that is computed from the same rows each time, or files"
_GROUP = 64  # partial sums that a worker adds up before they are sent
_MOST_BUCKETS = 64
_PATIENCE = 300.0  # seconds without a worker; a cluster that grows by itself needs minutes to start one
_LOOK = 2.0  # seconds between two looks at the workers


class DaskEngine(ClusterEngine):
    """Partitions of a Dask collection.

    Parameters
    ----------
    parts : list of Delayed
        The partitions.
    read : callable
        How a worker reads one.
    ids : callable, optional
        From a partition to the user ids of its rows, if the unit is a user.
    more
        As for `ClusterEngine`.
    """

    def __init__(self, parts: list[Any], read: Read, *args: Any, ids: Callable[[Any], Ids] | None = None, **more: Any):
        self._parts = parts if ids is None else safely(WHAT, _by_user, parts, ids)
        super().__init__(read, *args, what=WHAT, advice=_ADVICE, **more)

    def _run(self, sent: tuple[str, bytes]) -> Partial:
        dask: Any = import_module("dask")
        one, several = dask.delayed(run, pure=False), dask.delayed(added, pure=False)
        found = [one(sent, part) for part in self._parts]
        if len(found) > _GROUP:
            found = [several(found[start : start + _GROUP]) for start in range(0, len(found), _GROUP)]
        return added(safely(WHAT, _computed, dask, found))


def _computed(dask: Any, tasks: list[Any]) -> Any:
    """Compute tasks; refuse to wait for workers that do not come back."""
    client = getattr(dask.base.get_scheduler(collections=tasks), "__self__", None)
    if client is None or not hasattr(client, "scheduler_info"):  # threads or processes of this machine
        return dask.compute(*tasks)
    wait: Any = import_module("distributed").wait
    futures, alone = client.compute(tasks), 0.0
    while any(future.status == "pending" for future in futures):
        try:
            wait(futures, timeout=_LOOK)
        except TimeoutError:
            progress.report("partitions", float(np.mean([future.done() for future in futures])))
            alone = 0.0 if client.nthreads() else alone or time.monotonic()
            if alone and time.monotonic() - alone > _PATIENCE:
                client.cancel(futures)
                raise DataError(LOST) from None
    return client.gather(futures)


def partitions(X: Any) -> list[Any]:
    """Return the partitions of a Dask DataFrame, or blocks of rows of a Dask array."""
    if hasattr(X, "rechunk"):
        if X.ndim != 2:
            raise DataError(f"a Dask array of rows has two dimensions, not {X.ndim}")
        X = X.rechunk({1: -1})
        return list(X.to_delayed().ravel())
    return list(X.to_delayed())


def labelled(X: Any, label: Callable[[Any], Any]) -> Any:
    """Return the labels of a collection's rows, lazily: a Series for a DataFrame, an array for an array."""
    if hasattr(X, "rechunk"):
        return X.rechunk({1: -1}).map_blocks(label, drop_axis=1, dtype=np.int64, meta=np.empty(0, dtype=np.int64))
    return X.map_partitions(_series, label, meta=("label", np.int64))


def _series(part: Any, label: Callable[[Any], Any]) -> Any:
    found = label(part) if len(part) else np.empty(0, dtype=np.int64)
    return import_module("pandas").Series(found, index=part.index, name="label", dtype=np.int64)


def _by_user(parts: list[Any], ids: Callable[[Any], Ids]) -> list[Any]:
    """Return partitions that hold all rows of their users: a bucket for each remainder of the hash of an id."""
    dask: Any = import_module("dask")
    number = min(len(parts), _MOST_BUCKETS)
    split = dask.delayed(_split, nout=number)
    pieces = [split(part, ids, number) for part in parts]
    join = dask.delayed(_join)
    return list(dask.persist(*(join([each[b] for each in pieces]) for b in range(number))))


def _split(part: Any, ids: Callable[[Any], Ids], number: int) -> list[Any]:
    bucket = seeds_of(ids(part)) % np.uint64(number)
    return [part[bucket == np.uint64(b)] for b in range(number)]


def _join(pieces: list[Any]) -> Any:
    if isinstance(pieces[0], np.ndarray):
        return np.concatenate(pieces)
    return import_module("pandas").concat(pieces)
