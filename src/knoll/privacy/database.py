"""SQLite files: made whole in one step, told apart from other files, compared with how they were defined."""

import os
import sqlite3
from contextlib import closing, suppress
from functools import cache
from pathlib import Path
from typing import Any

from knoll.privacy.errors import LedgerError

_APPLICATION_ID = 0x6B6E6F6C  # "knol", in the database header
VERSION = 4


def check_kind(db: sqlite3.Connection, path: Path) -> None:
    """Refuse a file that is no ledger, or one of another version."""
    found = tuple(db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version"))
    if found[0] == _APPLICATION_ID and 0 < found[1] < VERSION:
        raise LedgerError(
            f"{path} is a ledger of version {found[1]}; this is knoll with version {VERSION}, which "
            "cannot read it. Keep it, and take what it shows as spent off the caps of a new one under another name"
        )
    if found != (_APPLICATION_ID, VERSION):
        raise LedgerError(
            f"{path} is not a knoll ledger of version {VERSION} (or was emptied: restore it from a "
            "backup, never start afresh under the same name)"
        )


def place(path: Path, definition: str, rows: list[tuple[str, tuple[Any, ...]]], *, private: bool = False) -> None:
    """Put a complete new database in place in one step; if another process was quicker, its own stays."""
    draft = path.with_name(f".{path.name}.{os.urandom(8).hex()}.new")  # nobody else's, nor one that a crash left
    try:
        if private:
            os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        with closing(sqlite3.connect(draft, isolation_level=None)) as db:
            db.executescript(
                f"PRAGMA synchronous = EXTRA; BEGIN; {definition} PRAGMA application_id = {_APPLICATION_ID};"
            )
            db.execute(f"PRAGMA user_version = {VERSION}")
            for table, row in rows:
                db.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)
            db.execute("COMMIT")
        with suppress(FileExistsError):
            os.link(draft, path)
    except (sqlite3.Error, OSError) as error:
        raise LedgerError(f"cannot make the ledger {path}: {error}; nothing was released") from error
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


def uri(path: Path) -> str:
    """A file that must be there: SQLite makes no new one."""
    return path.resolve().as_uri() + "?mode=rw"


def there(path: Path) -> bool:
    """Whether a file exists; a folder that may not be looked into is an error, not an absence."""
    try:
        return path.exists()
    except OSError as error:
        raise LedgerError(f"cannot use the ledger {path}: {error}; nothing was released") from error


def schema(db: sqlite3.Connection, name: str) -> list[Any]:
    """Return the definitions of all tables and indices."""
    return db.execute(f"SELECT type, name, tbl_name, sql FROM {name}.sqlite_master ORDER BY name").fetchall()


@cache
def schema_as_written(definition: str) -> list[Any]:
    """Return what `schema` finds in a file that nobody touched."""
    with closing(sqlite3.connect(":memory:")) as db:
        db.executescript(definition)
        return schema(db, "main")
