"""The ledger: an append-only record of every release, written before its noise is drawn.

In memory by default. A file ledger is one SQLite database that any number of processes may share: a release is one
immediate transaction that reads what the dataset has spent, compares with its cap and appends the entry, so a cap holds
whatever runs at once. A fit reserves its whole budget when it begins, so that it is refused then or not at all;
what it did not spend is free again when it ends. A fit that was killed leaves its reservation standing, which only
errs on the safe side, until `settle` (knoll ledger settle) says that nothing is running. The database uses a
rollback journal with ``synchronous = EXTRA``: when `record` returns, the entry survives a crash of the process, the
system or the power. The order of entries is their number, never their clock.

How the file notices what it lost, what it cannot notice, and what the witness beside it remembers: log.py.
"""

import threading
import time
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from os import PathLike
from pathlib import Path
from typing import Any, Protocol

from knoll.privacy.accounting import Cost
from knoll.privacy.book import Book, Line, Spend, body_of, line_of
from knoll.privacy.budget import Budget
from knoll.privacy.errors import CapExceededError, LedgerError, LedgerWarning
from knoll.privacy.log import Log, Open
from knoll.privacy.released import UNNAMED as UNNAMED
from knoll.privacy.released import Entry

_MOST_NAMES = 20  # shown in an error


class Ledger(Protocol):
    """Where releases are recorded."""

    dataset: str | None

    def begin(self, dataset: str, budget: Budget, relation: str, unit: str, *, charge: Cost = ...) -> int:
        """Reserve the whole budget of a fit, or refuse it before it spends anything; return the number of the fit."""
        ...

    def record(self, fit: int, line: Line) -> None:
        """Write one release durably, or refuse it."""
        ...

    def end(self, fit: int) -> None:
        """Give back what a fit reserved and did not spend."""
        ...

    def meet(self, dataset: str, marks: Iterable[bytes], *, named: bool) -> None:
        """Remember what identifies the data of a dataset; object if it came under another name before."""
        ...


class MemoryLedger:
    """A ledger that lives as long as the process, without caps."""

    def __init__(self, dataset: str | None = None):
        self.dataset = dataset
        self.lines: list[Line] = []
        self._lock = threading.Lock()

    def __deepcopy__(self, memo: dict[int, Any]) -> "MemoryLedger":
        """Return itself: cloning an estimator must not lose what it spends."""
        return self

    def __getstate__(self) -> dict[str, Any]:
        return {"dataset": self.dataset, "lines": self.lines}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=threading.Lock())

    def begin(self, dataset: str, budget: Budget, relation: str, unit: str, *, charge: Cost | None = None) -> int:
        """Admit everything: a memory ledger has no caps."""
        return 0

    def end(self, fit: int) -> None:
        """Do nothing: a memory ledger reserves nothing."""

    def record(self, fit: int, line: Line) -> None:
        """Append one release."""
        with self._lock:
            self.lines.append(line)

    def meet(self, dataset: str, marks: Iterable[bytes], *, named: bool) -> None:
        """Do nothing: a memory ledger has no budgets that a second name could escape."""


class FileLedger:
    """A ledger in a SQLite file, shared by any number of processes.

    Parameters
    ----------
    path : path-like
        The file; created if it does not exist. Beside it lies ``<path>.witness``, which is private: never publish it.
    dataset : str, optional
        Name under which releases are recorded. Without it, the name of the file that is read, or "unnamed data" for
        arrays in memory: all unnamed data counts as one dataset.

    Examples
    --------
    >>> import tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "privacy.db")
    >>> ledger = FileLedger(path, dataset="survey")
    >>> ledger.set_cap("survey", Budget(3.0, 1e-6))
    >>> spend = ledger.spend("survey")
    >>> spend.epsilon, spend.releases, spend.cap.epsilon
    (0.0, 0, 3.0)
    """

    def __init__(self, path: str | PathLike[str], dataset: str | None = None):
        if dataset is not None and not dataset.strip():
            raise LedgerError("the name of a dataset is empty; leave it out, or say whose data it is")
        if "://" in str(path):
            raise LedgerError("a ledger is a file on this machine, not a database; give its path")
        self.path = Path(path)
        self.dataset = dataset
        self._log.create()
        with self._open(thorough=True):
            pass

    @property
    def _log(self) -> Log:
        return Log(self.path)

    def begin(self, dataset: str, budget: Budget, relation: str, unit: str, *, charge: Cost | None = None) -> int:
        """Reserve the whole budget of a fit, or refuse it before it spends anything; return the number of the fit.

        Parameters
        ----------
        dataset, budget, relation, unit
            What the fit will spend, on what, and who is protected.
        charge : Cost, optional
            What the finite precision of the noise may cost besides.
        """
        cost = budget.cost(1.0) + (charge or Cost())
        with self._open(thorough=True) as (log, book):
            for other in book.of(dataset):
                if (other.relation, other.unit) != (relation, unit):
                    raise LedgerError(
                        f"{dataset!r} is accounted for per {other.unit} under {other.relation}; a fit per {unit} under "
                        f"{relation} cannot be added up with that. Use the same, or another name for the dataset"
                    )
            _check_cap(book, dataset, cost)
            close = get_close_matches(dataset, book.caps, n=1) if dataset not in book.names else []
            if close:
                warnings.warn(
                    f"{dataset!r} is new in {self.path.name} and has no cap; {close[0]!r} has one. A slip of the pen?",
                    LedgerWarning,
                    stacklevel=2,
                )
            return log.append("begin", {"dataset": dataset, "relation": relation, "unit": unit, **cost.__dict__})

    def record(self, fit: int, line: Line) -> None:
        """Check the cap and write the release in one transaction; durable on return."""
        with self._open() as (log, book):
            if fit not in book.fits or book.fits[fit].dataset != line.dataset:
                raise LedgerError(f"{self.path} knows no such fit of {line.dataset!r}; nothing was released")
            _check_cap(book, line.dataset, line.entry.cost, besides=fit)
            log.append("release", body_of(line, fit))

    def end(self, fit: int) -> None:
        """Give back what a fit reserved and did not spend."""
        with self._open() as (log, book):
            if fit in book.fits and book.fits[fit].running:
                log.append("end", {"fit": fit})

    def settle(self, dataset: str) -> int:
        """Give back the reservations of fits that were killed, when none is running; return how many there were."""
        with self._open() as (log, book):
            self._check_known(book, dataset)
            running = [number for number, fit in book.fits.items() if fit.running and fit.dataset == dataset]
            for number in running:
                log.append("end", {"fit": number})
            return len(running)

    def set_cap(self, dataset: str, cap: Budget) -> None:
        """Set the most that a dataset may spend over all fits; refused if it has spent more already."""
        with self._open() as (log, book):
            spent = book.spent(dataset).epsilon_at(cap.delta)
            if spent > cap.epsilon:
                raise CapExceededError(
                    f"{dataset!r} has already spent epsilon = {spent:.6g} at delta = {cap.delta:g}; "
                    f"a cap of {cap.epsilon:g} cannot be kept"
                )
            log.append("cap", {"dataset": dataset, "epsilon": cap.epsilon, "delta": cap.delta})

    def spend(self, dataset: str) -> Spend:
        """Return what a dataset has spent over all fits, as one (epsilon, delta); a LedgerError if it is not known."""
        with self._open() as (_, book):
            self._check_known(book, dataset)
            return book.spend(dataset)

    def datasets(self) -> list[str]:
        """Return the names of all datasets with a fit or a cap."""
        with self._open() as (_, book):
            return book.names

    def lines(self, dataset: str | None = None) -> list[Line]:
        """Return the recorded releases in order, of one dataset or of all."""
        with self._open() as (_, book):
            if dataset is not None:
                self._check_known(book, dataset)
            return [line_of(body) for body in book.releases if dataset in (None, body["dataset"])]

    def meet(self, dataset: str, marks: Iterable[bytes], *, named: bool) -> None:
        """Remember what identifies the data of a dataset; object if it came under another name before.

        Two names have two budgets, so data under a second name escapes its cap. Only keyed hashes of the marks are
        kept, in the witness and never in the ledger (log.py says why).

        Parameters
        ----------
        dataset : str
            Name under which the data is about to be accounted for.
        marks : iterable of bytes
            Whatever tells this data from other: paths of files, fingerprints of columns.
        named : bool
            Whether somebody gave the name: then a warning. A name that was derived from a file's is an error, unless
            the data came under it before.
        """
        marks = list(marks)
        with self._open() as (log, _):
            names = log.names_met(marks)
            others = sorted(names - {dataset})
            if others and not named and dataset not in names:
                raise LedgerError(
                    f"this data, or a part of it, was accounted for as {others[0]!r} before, not as {dataset!r}. Name "
                    f"the dataset: Ledger(path, dataset={others[0]!r})"
                )
            log.remember(dataset, marks)
        if others:
            warnings.warn(
                f"this data, or a part of it, was also accounted for as {', '.join(map(repr, others))}; under "
                f"{dataset!r} its releases are not added to those",
                LedgerWarning,
                stacklevel=2,
            )

    @contextmanager
    def _open(self, *, thorough: bool = False) -> Iterator[tuple[Open, Book]]:
        """One transaction on a verified log, and what it adds up to."""
        with self._log.transaction(thorough=thorough) as log:
            yield log, log.book

    def _check_known(self, book: Book, dataset: str) -> None:
        """Refuse a name that nobody ever used: a slip of the pen would look like nothing spent."""
        names = book.names
        if dataset not in names:
            close = get_close_matches(dataset, names, n=_MOST_NAMES)
            shown = [*close, *(name for name in names if name not in close)][:_MOST_NAMES]
            known = f"it knows {', '.join(map(repr, shown))}" if shown else "it knows none yet"
            raise LedgerError(f"{self.path} knows no dataset {dataset!r}; {known}")


def open_ledger(ledger: "Ledger | str | PathLike[str] | None") -> Ledger:
    """Return a ledger from what a user gives: nothing (memory), a path (SQLite file), or a ledger."""
    if ledger is None:
        return MemoryLedger()
    if isinstance(ledger, str | PathLike):
        return FileLedger(ledger)
    return ledger


def spend_in(ledger: Any, dataset: str) -> Spend | None:
    """Return what a dataset has spent according to a ledger's file, as a user gives it; None if there is no such file.

    A file that was moved or damaged since counts as none: this is for those who tell of it, not for those who spend.
    """
    given = isinstance(ledger, str | PathLike)
    try:
        if isinstance(ledger, FileLedger) or (given and Path(ledger).is_file()):
            book = FileLedger(ledger) if given else ledger
            return book.spend(dataset)
    except (LedgerError, OSError):
        pass
    return None


def line_now(dataset: str, estimator: str, budget: Budget, entry: Entry) -> Line:
    """Return a ledger line for a release that is about to happen."""
    return Line(time.time(), dataset, estimator, budget.delta, entry)


def _check_cap(book: Book, dataset: str, cost: Cost, besides: int = 0) -> None:
    """Refuse a cost that would exceed the cap, counting what running fits (`besides` this one) have reserved."""
    cap = book.caps.get(dataset)
    if cap is None:
        return
    spent = book.spent(dataset)
    if (spent + book.reserved(dataset, besides) + cost).epsilon_at(cap.delta) > cap.epsilon:
        raise CapExceededError(
            f"the cap of {dataset!r} is {cap}; epsilon = {spent.epsilon_at(cap.delta):.6g} is spent, and this would "
            "exceed it (running fits have reserved their part). Ask for less, or have the cap raised: knoll ledger cap"
        )
