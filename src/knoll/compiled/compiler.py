"""Compile a function at its first call, for one kind of arguments, and keep the code for the next process.

Compiling takes some tenths of a second, once on a machine: the code is kept beside the source, in the user's cache
folder, or where NUMBA_CACHE_DIR says. If none of these can be written to, every process compiles for itself.
numba is imported at the first call, so that importing knoll stays quick.

Compiled functions leave the interpreter to other threads while they run. They start no threads of their own: forked
and spawned processes, threads and notebooks can call them.
"""

import threading
from collections.abc import Callable
from functools import update_wrapper
from types import FunctionType
from typing import Any

from knoll import progress

_LOCK = threading.RLock()


class Compiled:
    """A function that is compiled when it is first called.

    Parameters
    ----------
    function : callable
        Loops over arrays, in the part of Python that numba compiles. It calls nothing of ours but `calls`.
    kinds : sequence of str
        What its arguments are: `f` a double, `i` a 64-bit integer, `o` one of 32 bits, `u`, `s` and `w` one of 32,
        16 and 64 bits without a sign, `b` a byte, with the number of dimensions if it is an array. Arrays are
        contiguous and read only; capitals (`F2`, `I1`) are written to, `c2` are doubles column after column, `a2` in
        any layout.
    calls : sequence of Compiled
        Compiled functions of the same file that it calls by their names: a change of the file compiles all anew.
    """

    def __init__(
        self, function: Callable[..., Any], kinds: tuple[str, ...], calls: "tuple[Compiled, ...]" = ()
    ) -> None:
        update_wrapper(self, function)
        self.plain, self.kinds, self.calls = function, kinds, calls
        self._ready: Any = None

    def __call__(self, *arguments: Any) -> Any:
        """Call the function; compile it first if that has not happened in this process."""
        return (self._ready or self.ready())(*arguments)

    def ready(self) -> Any:
        """Return the compiled function."""
        with _LOCK:
            if self._ready is None:
                progress.report("compiling, once on this machine", 0.0)
                self._ready = self._compile()
        return self._ready

    def _compile(self) -> Any:
        """Fetch what an earlier process compiled, or compile."""
        try:
            return self.afresh(cache=True)
        except Exception:  # no folder that can be written to, a full disk, a damaged file: do without
            return self.afresh()

    def afresh(self, *, cache: bool = False) -> Any:
        """Return the function compiled as written: no reordering of sums, no fused operations.

        Equal operations that stand side by side become one instruction, which numba leaves out unless told.
        """
        import numba

        signature = tuple(_type_of(kind) for kind in self.kinds)
        linked = self._linked(cache=cache)
        settings: Any = numba.config
        with _LOCK:
            before, settings.SLP_VECTORIZE = settings.SLP_VECTORIZE, 1
            try:
                return numba.njit([signature], nogil=True, fastmath=False, cache=cache)(linked)
            finally:
                settings.SLP_VECTORIZE = before

    def _linked(self, *, cache: bool) -> Any:
        """Return the function to compile, where the names of what it calls mean compiled functions."""
        if not self.calls:
            return self.plain
        known = {each.plain.__name__: each.afresh(cache=cache) for each in self.calls}
        linked = FunctionType(self.plain.__code__, {**self.plain.__globals__, **known}, self.plain.__name__)
        linked.__module__, linked.__qualname__ = self.plain.__module__, self.plain.__qualname__
        return linked


def compiled(*kinds: str, calls: tuple[Compiled, ...] = ()) -> Callable[[Callable[..., Any]], Compiled]:
    """Have a function compiled at its first call, for arguments of these kinds (see `Compiled`)."""
    return lambda function: Compiled(function, kinds, calls)


def _type_of(kind: str) -> Any:
    from numba import types

    scalars: dict[str, Any] = {"i": types.int64, "o": types.int32, "u": types.uint32, "b": types.uint8}
    scalars |= {"s": types.uint16, "w": types.uint64}
    scalar = scalars.get(kind[0].lower(), types.float64)
    if len(kind) == 1:
        return scalar
    layout: Any = {"a": "A", "c": "F"}.get(kind[0], "C")
    return types.Array(scalar, int(kind[1]), layout, readonly=kind[0].islower())
