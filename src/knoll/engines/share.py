"""Blocks of rows, summed by a few threads: compiled functions and numpy leave the interpreter to others.

Totals are integers, so it does not matter who sums which block. Threads of linear algebra are kept out of it: they
would only wait for each other (`one_thread`).
"""

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import cache
from itertools import chain, islice

import numpy as np
from threadpoolctl import ThreadpoolController

from knoll.privacy.query import Floats, Integers

_MOST_THREADS = 4

Blocks = Iterator[tuple[Floats, float]]
Work = Callable[[Floats, int], Integers]
"""Makes the total of a block of rows and its number; -1 if it is none of the blocks."""


def one_thread() -> AbstractContextManager[object]:
    """Have linear algebra use one thread inside this context: for products too small to share."""
    return _linear_algebra().limit(limits=1, user_api="blas")


@cache
def _linear_algebra() -> ThreadpoolController:
    """The process's linear algebra libraries; finding them takes a while."""
    return ThreadpoolController()


class Helpers:
    """Threads that help to sum, started when they are first needed; they end when this object goes."""

    def __init__(self) -> None:
        usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        self.number = min(usable, _MOST_THREADS) - 1
        self._pool: ThreadPoolExecutor | None = None

    def sum(self, work: Work, blocks: Blocks, shape: tuple[int, ...], tell: Callable[[float], None]) -> Integers:
        """Return the sum of the totals of all blocks; tell which fraction is done. The caller's thread sums too."""
        ahead = list(islice(blocks, 2))
        for rows, _ in ahead[:1]:
            work(rows[:0], -1)  # whatever must be compiled is compiled here, where progress is heard
        shared = _Shared(work, chain(ahead, blocks), shape)
        helping = [self._start(shared.run) for _ in range(self.number if len(ahead) > 1 else 0)]
        shared.run(tell)
        for each in helping:
            each.result()
        if shared.error is not None:
            raise shared.error
        tell(1.0)
        return shared.total

    def _start(self, run: Callable[[], None]) -> "Future[None]":
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.number, thread_name_prefix="knoll-sum")
        return self._pool.submit(run)


class _Shared:
    """Blocks that several threads take in turn, and what they sum to."""

    def __init__(self, work: Work, blocks: Blocks, shape: tuple[int, ...]) -> None:
        self._work, self._blocks, self._lock = work, enumerate(blocks), threading.Lock()
        self.total = np.zeros(shape, dtype=np.int64)
        self.error: BaseException | None = None

    def run(self, tell: Callable[[float], None] | None = None) -> None:
        """Sum blocks until there are none, or one could not be summed."""
        total = np.zeros_like(self.total)
        try:
            while (block := self._take()) is not None:
                number, (rows, done) = block
                total += self._work(rows, number)
                if tell is not None:
                    tell(done)
        except BaseException as error:
            self.error = self.error or error
        with self._lock:
            self.total += total

    def _take(self) -> tuple[int, tuple[Floats, float]] | None:
        with self._lock:
            return None if self.error is not None else next(self._blocks, None)
