"""Linear algebra on one thread: where matrices are small, threads would only wait for each other."""

from contextlib import AbstractContextManager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController


def one_thread() -> AbstractContextManager[Any]:
    """Keep linear algebra to one thread inside this context."""
    return _libraries().limit(limits=1, user_api="blas")


@cache
def _libraries() -> ThreadpoolController:
    """The process's linear algebra libraries; finding them takes a while."""
    return ThreadpoolController()
