"""Linear algebra on one thread: where matrices are small, threads would only wait for each other."""

from contextlib import AbstractContextManager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController


def one_thread(*, loops: bool = False) -> AbstractContextManager[Any]:
    """Keep linear algebra to one thread inside this context; with `loops`, scikit-learn's loops as well."""
    return _libraries().limit(limits=1, user_api=None if loops else "blas")


@cache
def _libraries() -> ThreadpoolController:
    """The process's libraries that start threads; finding them takes a while."""
    return ThreadpoolController()
