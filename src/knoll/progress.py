"""Progress of long passes over the data, for whoever wants to show it.

Engines report which query they are summing and how far they are; nothing listens unless asked to. Only the data
holder sees it: progress is not part of any result.
"""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from html import escape
from importlib import import_module
from typing import Any

QUIET = 1.0  # seconds before a line appears: short work needs none
BETWEEN = 0.2  # seconds between two drawings in a notebook
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
    """Show progress of work that takes longer than a second: a line of a terminal, or output of a notebook."""
    if not enabled:
        yield
        return
    started, done, last = time.monotonic(), 0, 0.0
    with (_in_notebook if _is_notebook() else _in_terminal)(title) as show:

        def listen(what: str, fraction: float) -> None:
            nonlocal done, last
            done += fraction < last
            last = fraction
            if time.monotonic() - started > QUIET:
                show(f"{title}: pass {done + 1} ({what})", fraction)

        with listening(listen):
            yield


@contextmanager
def _in_terminal(title: str) -> Iterator[Listener]:
    """Give what shows words and a bar on standard error; they are gone at the end."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(file=sys.stderr)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(title, total=1.0, visible=False)
        yield lambda words, fraction: bar.update(task, completed=fraction, description=words, visible=True)


def _is_notebook() -> bool:
    """Tell whether this runs in a notebook's kernel."""
    ask = getattr(sys.modules.get("IPython"), "get_ipython", None)
    return ask is not None and getattr(ask(), "kernel", None) is not None


@contextmanager
def _in_notebook(title: str) -> Iterator[Listener]:
    """Give what shows words and a bar in the cell's output; at the end one line is left: how long it took."""
    display: Any = import_module("IPython.display").display
    started, drawn, output = time.monotonic(), 0.0, None

    def draw(words: str, bar: str) -> None:
        nonlocal output
        shown = {"text/html": f"<div>{bar}{escape(words)}</div>", "text/plain": words}
        if output is None:
            output = display(shown, raw=True, display_id=True)
        else:
            output.update(shown, raw=True)

    def show(words: str, fraction: float) -> None:
        nonlocal drawn
        if time.monotonic() - drawn > BETWEEN:
            drawn = time.monotonic()
            draw(
                f"{words} {fraction:.0%}",
                f"<progress value='{fraction:.3f}' max='1' aria-label='progress'></progress> ",
            )

    yield show
    if output is not None:
        draw(f"{title}: {time.monotonic() - started:.1f} s", "")
