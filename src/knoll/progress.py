"""Progress of long passes over the data, for whoever wants to show it.

Engines report which query they are summing and how far they are; nothing listens unless asked to. Only the data
holder sees it: progress is not part of any result.
"""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

QUIET = 1.0  # seconds before a line appears: short work needs none
Listener = Callable[[str, float], None]
_listener: ContextVar[Listener | None] = ContextVar("progress_listener", default=None)


def report(what: str, fraction: float) -> None:
    """Tell the listener, if there is one, how much of a pass is done."""
    listener = _listener.get()
    if listener is not None:
        listener(what, min(fraction, 1.0))


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Send progress to `listener(what, fraction)` inside this context."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def shown(title: str, *, enabled: bool = True) -> Iterator[None]:
    """Show a progress line on standard error for work that takes longer than a second."""
    if not enabled:
        yield
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(file=sys.stderr)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%"),
        TimeElapsedColumn(),
    )
    started, done, last = time.monotonic(), 0, 0.0
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(title, total=1.0, visible=False)

        def listen(what: str, fraction: float) -> None:
            nonlocal done, last
            done += fraction < last
            last = fraction
            visible = time.monotonic() - started > QUIET
            bar.update(task, completed=fraction, description=f"{title}: pass {done + 1} ({what})", visible=visible)

        with listening(listen):
            yield
