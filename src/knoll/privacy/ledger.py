"""The ledger: an append-only record of every release, written before its noise is drawn.

In memory by default. A file ledger is one SQLite database that any number of processes may share: a release is one
immediate transaction that reads what the dataset has spent, compares with its cap and inserts the entry, so a cap holds
whatever runs at once. A fit reserves its whole budget when it begins, so that it is refused then or not at all;
what it did not spend is free again when it ends. A fit that was killed leaves its reservation standing, which only
errs on the safe side, until `settle` (knoll ledger settle) says that nothing is running. The database uses a
rollback journal with ``synchronous = EXTRA``: when `record` returns, the entry survives a crash of the process, the
system or the power. The order of entries is their number, never their clock.

Every entry carries a seal, a hash of itself and of the seal before it; a cap carries one of itself. They are verified,
and the database's own structure with them, when a ledger is opened and when a fit begins: a file that lost or changed
an entry is refused, never read as if less had been spent. (Seals tell damage, not malice: who may write the file may
seal anything.)
"""

import hashlib
import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from os import PathLike
from pathlib import Path
from typing import Any, Protocol

from knoll.privacy.accounting import Cost
from knoll.privacy.budget import Budget
from knoll.privacy.errors import CapExceededError, LedgerError
from knoll.privacy.released import Entry

UNNAMED = "unnamed data"
_APPLICATION_ID = 0x6B6E6F6C  # "knol", in the database header
_SCHEMA_VERSION = 3
_SCHEMA = """
CREATE TABLE releases (
  id INTEGER PRIMARY KEY, time REAL NOT NULL, dataset TEXT NOT NULL, estimator TEXT NOT NULL, query TEXT NOT NULL,
  shape TEXT NOT NULL, share REAL NOT NULL, law TEXT NOT NULL, sensitivity REAL NOT NULL, scale REAL NOT NULL,
  mu_squared REAL NOT NULL, epsilon REAL NOT NULL, delta REAL NOT NULL, relation TEXT NOT NULL, unit TEXT NOT NULL,
  noise TEXT NOT NULL, private INTEGER NOT NULL, budget_delta REAL NOT NULL, fit INTEGER NOT NULL, seal TEXT NOT NULL);
CREATE TABLE fits (
  id INTEGER PRIMARY KEY, dataset TEXT NOT NULL, relation TEXT NOT NULL, unit TEXT NOT NULL, running INTEGER NOT NULL,
  mu_squared REAL NOT NULL, epsilon REAL NOT NULL);
CREATE INDEX releases_by_dataset ON releases (dataset);
CREATE TABLE caps (dataset TEXT PRIMARY KEY, epsilon REAL NOT NULL, delta REAL NOT NULL, seal TEXT NOT NULL);
"""


@dataclass(frozen=True)
class Spend:
    """What a dataset has spent over all fits, as one (epsilon, delta)."""

    dataset: str
    cost: Cost
    delta: float
    releases: int
    private: bool
    cap: Budget | None

    @property
    def epsilon(self) -> float:
        """Epsilon of everything together, at `delta`."""
        return self.cost.epsilon_at(self.delta)


@dataclass(frozen=True)
class Line:
    """One line of the ledger."""

    time: float
    dataset: str
    estimator: str
    budget_delta: float
    entry: Entry


class Ledger(Protocol):
    """Where releases are recorded."""

    dataset: str | None

    def begin(self, dataset: str, budget: Budget, relation: str, unit: str) -> int:
        """Reserve the whole budget of a fit, or refuse it before it spends anything; return the number of the fit."""
        ...

    def record(self, fit: int, line: Line) -> None:
        """Write one release durably, or refuse it."""
        ...

    def end(self, fit: int) -> None:
        """Give back what a fit reserved and did not spend."""
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

    def begin(self, dataset: str, budget: Budget, relation: str, unit: str) -> int:
        """Admit everything: a memory ledger has no caps."""
        return 0

    def end(self, fit: int) -> None:
        """Do nothing: a memory ledger reserves nothing."""

    def record(self, fit: int, line: Line) -> None:
        """Append one release."""
        with self._lock:
            self.lines.append(line)


class FileLedger:
    """A ledger in a SQLite file, shared by any number of processes.

    Parameters
    ----------
    path : path-like
        The file; created if it does not exist.
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
        self.path = Path(path)
        self.dataset = dataset
        self._create()

    def begin(self, dataset: str, budget: Budget, relation: str, unit: str) -> int:
        """Reserve the whole budget of a fit, or refuse it before it spends anything; return the number of the fit."""
        cost = budget.cost(1.0)
        with self._transaction() as db:
            self._verify(db)
            other = db.execute(
                "SELECT relation, unit FROM fits WHERE dataset = ? AND (relation, unit) != (?, ?)",
                (dataset, relation, unit),
            ).fetchone()
            if other:
                raise LedgerError(
                    f"{dataset!r} is accounted for per {other[1]} under {other[0]}; a fit per {unit} under {relation} "
                    "cannot be added up with that. Use the same, or record it under another dataset name"
                )
            _check_cap(db, dataset, cost)
            row = (dataset, relation, unit, cost.mu_squared, cost.epsilon)
            number = db.execute("INSERT INTO fits VALUES (NULL, ?, ?, ?, 1, ?, ?)", row).lastrowid
        assert number is not None
        return number

    def record(self, fit: int, line: Line) -> None:
        """Check the cap and write the release in one transaction; durable on return."""
        entry, cost = line.entry, line.entry.cost
        shape = "x".join(map(str, entry.shape)) or "1"
        row: list[float | str] = [line.time, line.dataset, line.estimator, entry.query, shape, entry.share, entry.law]
        row += [entry.sensitivity, entry.scale, cost.mu_squared, cost.epsilon, cost.delta, entry.relation, entry.unit]
        row += [entry.noise, int(entry.private), line.budget_delta, fit]
        with self._transaction() as db:
            _check_cap(db, line.dataset, cost, besides=fit)
            last = db.execute("SELECT seal FROM releases ORDER BY id DESC LIMIT 1").fetchone()
            sealed = [*row, _seal(row, last[0] if last else "")]
            db.execute(f"INSERT INTO releases VALUES (NULL{', ?' * len(sealed)})", sealed)

    def end(self, fit: int) -> None:
        """Give back what a fit reserved and did not spend."""
        with self._transaction() as db:
            db.execute("UPDATE fits SET running = 0 WHERE id = ?", (fit,))

    def settle(self, dataset: str) -> int:
        """Give back the reservations of fits that were killed, when none is running; return how many there were."""
        with self._transaction() as db:
            return db.execute("UPDATE fits SET running = 0 WHERE dataset = ? AND running", (dataset,)).rowcount

    def set_cap(self, dataset: str, cap: Budget) -> None:
        """Set the most that a dataset may spend over all fits; refused if it has spent more already."""
        with self._transaction() as db:
            spent = _spent(db, dataset).epsilon_at(cap.delta)
            if spent > cap.epsilon:
                raise CapExceededError(
                    f"{dataset!r} has already spent epsilon = {spent:.6g} at delta = {cap.delta:g}; "
                    f"a cap of {cap.epsilon:g} cannot be kept"
                )
            row = [dataset, cap.epsilon, cap.delta]
            db.execute("INSERT OR REPLACE INTO caps VALUES (?, ?, ?, ?)", [*row, _seal(row)])

    def spend(self, dataset: str) -> Spend:
        """Return what a dataset has spent over all fits, as one (epsilon, delta)."""
        with self._transaction() as db:
            cap = _cap(db, dataset)
            count, private, delta = db.execute(
                "SELECT COUNT(*), MIN(private), MAX(budget_delta) FROM releases WHERE dataset = ?", (dataset,)
            ).fetchone()
            cost = _spent(db, dataset)
            return Spend(dataset, cost, cap.delta if cap else delta or 0.0, count, private != 0, cap)

    def datasets(self) -> list[str]:
        """Return the names of all datasets with a release or a cap."""
        with self._transaction() as db:
            rows = db.execute("SELECT dataset FROM releases UNION SELECT dataset FROM caps ORDER BY 1").fetchall()
            return [row[0] for row in rows]

    def lines(self, dataset: str | None = None) -> list[Line]:
        """Return the recorded releases in order, of one dataset or of all."""
        where, values = ("", ()) if dataset is None else ("WHERE dataset = ?", (dataset,))
        with self._transaction() as db:
            rows = db.execute(
                f"SELECT time, dataset, estimator, query, shape, share, law, sensitivity, scale, mu_squared, epsilon, "
                f"delta, relation, unit, noise, private, budget_delta FROM releases {where} ORDER BY id",
                values,
            ).fetchall()
        return [_line(*row) for row in rows]

    def _create(self) -> None:
        """Put a complete new ledger in place in one step, or check the one that is there."""
        if not _there(self.path):
            draft = self.path.with_name(f".{self.path.name}.{os.getpid()}-{threading.get_ident()}.new")
            try:
                with closing(sqlite3.connect(draft, isolation_level=None)) as db:
                    db.executescript(
                        f"PRAGMA synchronous = EXTRA; BEGIN; {_SCHEMA} PRAGMA application_id = {_APPLICATION_ID}; "
                        f"PRAGMA user_version = {_SCHEMA_VERSION}; COMMIT;"
                    )
                with suppress(FileExistsError):  # another process was quicker: use its ledger
                    os.link(draft, self.path)
            except (sqlite3.Error, OSError) as error:
                raise LedgerError(f"cannot make the ledger {self.path}: {error}; nothing was released") from error
            finally:
                draft.unlink(missing_ok=True)
        with self._transaction() as db:
            found = tuple(db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version"))
            if found != (_APPLICATION_ID, _SCHEMA_VERSION):
                raise LedgerError(
                    f"{self.path} is not a knoll ledger of version {_SCHEMA_VERSION} (or was emptied: restore it from "
                    "a backup, never start afresh under the same name)"
                )
            self._verify(db)

    def _verify(self, db: sqlite3.Connection) -> None:
        """Refuse a damaged file: its structure, every entry and every cap must be as they were written."""
        intact = db.execute("PRAGMA integrity_check(1)").fetchone()[0] == "ok" and _schema(db) == _schema_as_written()
        before = ""
        for number, (place, *row, seal) in enumerate(db.execute("SELECT * FROM releases ORDER BY id"), start=1):
            intact = intact and place == number and seal == _seal(row, before)
            before = seal
        intact = intact and all(seal == _seal(row) for *row, seal in db.execute("SELECT * FROM caps"))
        if not intact:
            raise LedgerError(f"{self.path} is damaged; restore it from a backup, never start afresh")

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """One immediate transaction on a connection of its own, so that forks and threads share nothing."""
        if not _there(self.path):
            raise LedgerError(f"{self.path} has gone; restore it from a backup")
        try:
            with closing(sqlite3.connect(self.path, timeout=60.0, isolation_level=None)) as db:
                db.execute("PRAGMA synchronous = EXTRA")
                db.execute("BEGIN IMMEDIATE")
                try:
                    yield db
                except BaseException:
                    db.execute("ROLLBACK")
                    raise
                db.execute("COMMIT")
        except (sqlite3.Error, UnicodeError) as error:  # damaged names in the schema are not text
            raise LedgerError(f"cannot use the ledger {self.path}: {error}; nothing was released") from error


def _there(path: Path) -> bool:
    """Whether the ledger exists; a folder that may not be looked into is an error, not an absence."""
    try:
        return path.exists()
    except OSError as error:
        raise LedgerError(f"cannot use the ledger {path}: {error}; nothing was released") from error


def open_ledger(ledger: "Ledger | str | PathLike[str] | None") -> Ledger:
    """Return a ledger from what a user gives: nothing (memory), a path (SQLite file), or a ledger."""
    if ledger is None:
        return MemoryLedger()
    if isinstance(ledger, str | PathLike):
        return FileLedger(ledger)
    return ledger


def line_now(dataset: str, estimator: str, budget: Budget, entry: Entry) -> Line:
    """Return a ledger line for a release that is about to happen."""
    return Line(time.time(), dataset, estimator, budget.delta, entry)


def _schema(db: sqlite3.Connection) -> list[Any]:
    """Return the definitions of all tables and indices."""
    return db.execute("SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY name").fetchall()


@cache
def _schema_as_written() -> list[Any]:
    with closing(sqlite3.connect(":memory:")) as db:
        db.executescript(_SCHEMA)
        return _schema(db)


def _seal(row: list[Any], before: str = "") -> str:
    """Return the hash of a row, numbers as the doubles that the database keeps, and of the seal before it."""
    plain = [float(value) if isinstance(value, int | float) else value for value in row]
    return hashlib.sha256(repr((before, plain)).encode()).hexdigest()


def _check_cap(db: sqlite3.Connection, dataset: str, cost: Cost, besides: int = 0) -> None:
    """Refuse a cost that would exceed the cap, counting what running fits (`besides` this one) have reserved."""
    cap = _cap(db, dataset)
    if cap is None:
        return
    spent = _spent(db, dataset)
    if (spent + _reserved(db, dataset, besides) + cost).epsilon_at(cap.delta) > cap.epsilon:
        raise CapExceededError(
            f"the cap of {dataset!r} is {cap}; epsilon = {spent.epsilon_at(cap.delta):.6g} is spent, and this would "
            "exceed it (running fits have reserved their part). Ask for less, or have the cap raised: knoll ledger cap"
        )


def _reserved(db: sqlite3.Connection, dataset: str, besides: int) -> Cost:
    """What running fits have reserved and not yet spent."""
    row = db.execute(
        "SELECT TOTAL(MAX(0, f.mu_squared - COALESCE(r.mu, 0))), TOTAL(MAX(0, f.epsilon - COALESCE(r.eps, 0))) "
        "FROM fits f LEFT JOIN (SELECT fit, SUM(mu_squared) AS mu, SUM(epsilon) AS eps FROM releases GROUP BY fit) r "
        "ON r.fit = f.id WHERE f.dataset = ? AND f.running AND f.id != ?",
        (dataset, besides),
    ).fetchone()
    return Cost(*row)


def _cap(db: sqlite3.Connection, dataset: str) -> Budget | None:
    row = db.execute("SELECT epsilon, delta FROM caps WHERE dataset = ?", (dataset,)).fetchone()
    return Budget(*row) if row else None


def _spent(db: sqlite3.Connection, dataset: str) -> Cost:
    row = db.execute(
        "SELECT TOTAL(mu_squared), TOTAL(epsilon), TOTAL(delta) FROM releases WHERE dataset = ?", (dataset,)
    ).fetchone()
    return Cost(*row)


def _line(
    when: float, dataset: str, estimator: str, query: str, shape: str, share: float, law: str, sensitivity: float,
    scale: float, mu_squared: float, epsilon: float, delta: float, relation: str, unit: str, noise: str, private: int,
    budget_delta: float,
) -> Line:  # fmt: skip
    sizes = tuple(int(size) for size in shape.split("x"))
    cost = Cost(mu_squared, epsilon, delta)
    entry = Entry(query, sizes, share, law, sensitivity, scale, cost, relation, unit, noise, bool(private))
    return Line(when, dataset, estimator, budget_delta, entry)
