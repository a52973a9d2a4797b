"""The file behind a ledger: one append-only log of sealed events, its head, and a witness beside it.

**Seals.** Every event (a cap set, a fit begun, a release, a fit ended) carries a hash of itself, its number and the
seal before it; a table of one row, the head, holds the number and seal of the last. Nothing else is kept: what is spent
and reserved is read off the log, after its seals are verified. So an event that was deleted, changed, doubled, swapped
with another or cut off the end is noticed when a ledger is opened and when a fit begins, and the file is refused.
Between two such looks a process verifies what was added since its last one, or a release would take longer the more
there were before it.

**The witness**, ``<ledger>.witness``, readable by its owner alone, remembers the last event that was seen on this
machine; both files change in one SQLite transaction. A log without that event was restored from an older backup, or
rewritten, and is refused. A witness that is missing is made anew, with a warning.

**What cannot be noticed**: an older copy of both files restored together; a ledger that was carried to a machine that
never saw it; and malice, since who may write the files may seal anything. Seals tell damage.

**What came under which name.** The witness also keeps marks of what was read: a hash, keyed with 32 random bytes of its
own, of anything that identifies data (a file's resolved path, an order-free fingerprint of a column). They do not
belong in the ledger, which may be published: whether two fingerprints are equal is an exact fact about the data (did
it change between two fits?), which no noise covers. Nor does the ledger depend on them. In the witness they tell
nothing to who sees the ledger, and without the key nothing to who sees the marks. Never publish the witness.
"""

import hashlib
import hmac
import json
import os
import sqlite3
import warnings
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from knoll.privacy.book import Book
from knoll.privacy.database import VERSION, check_kind, place, schema, schema_as_written, there, uri
from knoll.privacy.errors import LedgerError, LedgerWarning

_LOG = """
CREATE TABLE log (number INTEGER PRIMARY KEY, event TEXT NOT NULL, body TEXT NOT NULL, seal TEXT NOT NULL);
CREATE TABLE head (one INTEGER PRIMARY KEY CHECK (one = 1), number INTEGER NOT NULL, seal TEXT NOT NULL);
"""
_WITNESS = """
CREATE TABLE seen (one INTEGER PRIMARY KEY CHECK (one = 1), key BLOB NOT NULL, number INTEGER NOT NULL,
  seal TEXT NOT NULL, mac TEXT NOT NULL);
CREATE TABLE marks (mark TEXT NOT NULL, dataset TEXT NOT NULL, PRIMARY KEY (mark, dataset));
"""


_verified: dict[Path, tuple[int, str, Book]] = {}
"""Per ledger, the last event that this process has verified, its seal, and what all events up to it add up to. Used and
changed inside a transaction only, which no two threads share; never holds an event that may yet be rolled back."""


class Log:
    """The two files of a ledger; every use is one immediate transaction on both.

    Parameters
    ----------
    path : Path
        The ledger. The witness lies beside the file that it resolves to.
    """

    def __init__(self, path: Path):
        self.path = path

    @property
    def witness(self) -> Path:
        """Where the witness lies."""
        try:
            real = self.path.resolve()
        except (OSError, RuntimeError) as error:
            raise LedgerError(f"cannot use the ledger {self.path}: {error}; nothing was released") from error
        return real.with_name(real.name + ".witness")

    def create(self) -> None:
        """Put a complete new log in place, unless there is one.

        A witness remembers a log only after that was in place. So one that remembers a log which is missing *after*
        the witness was read tells of a loss; a log that was missing before may have been made by another process.
        """
        if not there(self.path):
            if there(self.witness) and self._seen_before() and not there(self.path):
                raise LedgerError(
                    f"{self.path} has gone, and {self.witness.name} remembers it; restore it from a backup, never "
                    "start afresh"
                )
            self._new_witness()  # first: it tells a ledger that is being made from one that lost its witness
            first = json.dumps({"version": VERSION, "id": os.urandom(16).hex()})
            seal = _seal("", 1, "made", first)
            rows = [("log", (1, "made", first, seal)), ("head", (1, 1, seal))]
            place(self.path, _LOG, rows)

    @contextmanager
    def transaction(self, *, thorough: bool = False) -> Iterator["Open"]:
        """One immediate transaction on a connection of its own, so that forks and threads share nothing.

        Parameters
        ----------
        thorough : bool
            Whether to check the structure of the database too, and not only all seals.
        """
        if not there(self.path):
            raise LedgerError(f"{self.path} has gone; restore it from a backup")
        try:
            with closing(sqlite3.connect(uri(self.path), timeout=60.0, isolation_level=None, uri=True)) as db:
                check_kind(db, self.path)
                self._attach_witness(db)
                db.execute("PRAGMA synchronous = EXTRA")
                db.execute("PRAGMA witness.synchronous = EXTRA")
                db.execute("BEGIN IMMEDIATE")
                try:
                    found = Open(self, db, thorough=thorough)
                    yield found
                    found.witnessed()
                except BaseException:
                    db.execute("ROLLBACK")
                    raise
                db.execute("COMMIT")
        except (sqlite3.Error, UnicodeError) as error:  # damaged names in the schema are not text
            raise LedgerError(f"cannot use the ledger {self.path}: {error}; nothing was released") from error

    def _attach_witness(self, db: sqlite3.Connection) -> None:
        lost = not there(self.witness)
        self._new_witness()
        db.execute("ATTACH ? AS witness", (uri(self.witness),))
        if lost:
            warnings.warn(
                f"{self.witness} is missing and was made anew: whether the ledger lost entries before cannot be told",
                LedgerWarning,
                stacklevel=7,
            )

    def _new_witness(self) -> None:
        key = os.urandom(32)
        if not there(self.witness):
            place(self.witness, _WITNESS, [("seen", (1, key, 0, "", _mac(key, 0, "", ())))], private=True)

    def _seen_before(self) -> bool:
        """Whether the witness has seen a ledger, and is not one that is just being made."""
        try:
            with closing(sqlite3.connect(uri(self.witness), timeout=60.0, uri=True)) as db:
                return db.execute("SELECT number FROM seen").fetchone() != (0,)
        except sqlite3.Error:
            return True


class Open:
    """A log that is locked and verified, inside one transaction; `book` is what its events add up to."""

    def __init__(self, log: Log, db: sqlite3.Connection, *, thorough: bool):
        self._log, self._db = log, db
        known = _verified.pop(log.path.resolve(), None)
        if thorough or known is None or self._seal_of(known[0]) != known[1]:
            known = (0, "", Book())
        self._number, self._last, self.book = known
        damaged = (thorough and not self._sound()) or schema(db, "main") != schema_as_written(_LOG)
        if damaged or not self._read_on():
            raise LedgerError(f"{log.path} is damaged; restore it from a backup, never start afresh")
        self._check_witness()
        _verified[log.path.resolve()] = (self._number, self._last, self.book)

    def _read_on(self) -> bool:
        """Verify and take in the events after the last one that is known; return whether all is well."""
        rows = self._db.execute("SELECT * FROM log WHERE number > ? OR number < 1 ORDER BY number", (self._number,))
        for at, kind, body, seal in rows:
            if at != self._number + 1 or seal != _seal(self._last, at, kind, body):
                return False
            try:
                self.book.take(at, kind, json.loads(body))
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                raise LedgerError(f"{self._log.path} holds entries that make no sense; restore a backup") from error
            self._number, self._last = at, seal
        count = self._db.execute("SELECT COUNT(*) FROM log").fetchone()[0]
        head = self._db.execute("SELECT one, number, seal FROM head").fetchall()
        return self._number == count > 0 and head == [(1, self._number, self._last)]

    def append(self, kind: str, body: dict[str, Any]) -> int:
        """Seal an event and add it to the log; return its number."""
        number, text = self._number + 1, json.dumps(body, default=lambda number: number.item())
        seal = _seal(self._last, number, kind, text)
        self._db.execute("INSERT INTO log VALUES (?, ?, ?, ?)", (number, kind, text, seal))
        self._db.execute("UPDATE head SET number = ?, seal = ?", (number, seal))
        self._number, self._last = number, seal  # the book takes it in when it is there to stay
        return number

    def names_met(self, marks: Iterable[bytes]) -> set[str]:
        """Return the datasets under which any of these marks was met."""
        names: set[str] = set()
        for mark in self._hashed(marks):
            rows = self._db.execute("SELECT dataset FROM marks WHERE mark = ?", (mark,))
            names.update(row[0] for row in rows)
        return names

    def remember(self, dataset: str, marks: Iterable[bytes]) -> None:
        """Remember that these marks came under the name of a dataset."""
        rows = [(mark, dataset) for mark in self._hashed(marks)]
        self._db.executemany("INSERT OR IGNORE INTO marks VALUES (?, ?)", rows)

    def witnessed(self) -> None:
        """Have the witness remember the log's last event, and the marks as they are now."""
        key, number, seal, mac = self._seen
        now = self._number, self._last
        if (fresh := _mac(key, *now, self._marks())) != mac or (number, seal) != now:
            self._db.execute("UPDATE seen SET number = ?, seal = ?, mac = ?", (*now, fresh))

    def _hashed(self, marks: Iterable[bytes]) -> list[str]:
        return [hmac.digest(self._seen[0], b"mark" + mark, "sha256").hex() for mark in marks]

    def _marks(self) -> tuple[tuple[str, str], ...]:
        return tuple(self._db.execute("SELECT mark, dataset FROM marks ORDER BY mark, dataset").fetchall())

    def _sound(self) -> bool:
        return bool(self._db.execute("PRAGMA main.integrity_check(1)").fetchone()[0] == "ok")

    def _check_witness(self) -> None:
        """Refuse a log without the event that was seen last on this machine, and a damaged witness."""
        log, rows = self._log, self._db.execute("SELECT key, number, seal, mac FROM seen").fetchall()
        if (
            schema(self._db, "witness") != schema_as_written(_WITNESS)
            or len(rows) != 1
            or rows[0][3] != _mac(rows[0][0], rows[0][1], rows[0][2], self._marks())
        ):
            raise LedgerError(
                f"{log.witness} is damaged. Restore it from a backup; or, if {log.path.name} is known to be whole, "
                "remove the witness, and it is made anew"
            )
        self._seen: tuple[bytes, int, str, str] = rows[0]
        _, number, seal, _ = self._seen
        if number and self._seal_of(number) != seal:
            raise LedgerError(
                f"{log.path} lacks entries that were seen on this machine: an older copy was restored over it, or it "
                "is another ledger. Restore the newest copy. If there is none, the lost releases stay spent: lower the "
                f"caps by what they cost, then remove {log.witness.name}"
            )

    def _seal_of(self, number: int) -> str:
        """Return the seal of an event, nothing if there is no such event."""
        row = self._db.execute("SELECT seal FROM log WHERE number = ?", (number,)).fetchone()
        return str(row[0]) if row else ""


def _seal(before: str, number: int, kind: Any, body: Any) -> str:
    """Return the hash of an event and of the seal before it."""
    return hashlib.sha256(repr((before, number, kind, body)).encode()).hexdigest()


def _mac(key: Any, number: Any, seal: Any, marks: tuple[Any, ...]) -> str:
    """Return the keyed hash of everything that a witness holds."""
    return hmac.digest(bytes(key), repr((number, seal, marks)).encode(), "sha256").hex()
