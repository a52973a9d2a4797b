"""The ledger's file: any row that is deleted, changed, doubled, swapped or cut off is refused at the next use."""

import multiprocessing
import shutil
import sqlite3
import stat
import warnings
from contextlib import closing

import numpy as np
import pytest
from typer.testing import CliRunner

from knoll.cli.main import app
from knoll.engines import ArrayEngine
from knoll.privacy import Budget, Curator, FileLedger, LedgerError, LedgerWarning, User, database
from knoll.privacy import log as log_module
from knoll.privacy.ledger import line_now
from knoll.queries import Count

FORK = multiprocessing.get_context("fork")
X = np.random.default_rng(0).uniform(size=(20, 2))
CAP = Budget(3.0, 1e-6)


def release(ledger, dataset, times=1, **kw):
    with Curator(ArrayEngine(X), Budget(0.1), ledger=ledger, dataset=dataset, **kw) as door:
        for _ in range(times):
            door.release(Count(), 1.0 / times)
    return door.statement().releases[0]


class Book:
    """A ledger with caps, fits, releases and marks of several datasets, and a fit that is running."""

    def __init__(self, folder):
        self.path = folder / "privacy.db"
        self.witness = folder / "privacy.db.witness"
        self.ledger = FileLedger(self.path)
        self.ledger.set_cap("a", CAP)
        release(self.ledger, "a", 2)
        self.backup = self.path.read_bytes()
        self.ledger.set_cap("b", Budget(1.0, 0.0))
        release(self.ledger, "c")
        self.ledger.meet("a", [b"one", b"two"], named=True)
        self.entry = release(self.ledger, "a")
        self.running = self.ledger.begin("a", Budget(0.1), "add_remove", "record")
        self.good = self.path.read_bytes(), self.witness.read_bytes()

    def restore(self):
        for path, content in zip((self.path, self.witness), self.good, strict=True):
            path.write_bytes(content)

    def uses(self):
        """What a ledger is used for next, by name: opened, or open already when the file was touched."""
        line = line_now("a", "a test", Budget(0.1), self.entry)
        return {
            "open": lambda: FileLedger(self.path),
            "begin": lambda: self.ledger.begin("a", Budget(0.1), "add_remove", "record"),
            "record": lambda: self.ledger.record(self.running, line),
            "spend": lambda: self.ledger.spend("a"),
        }

    def rows(self, table):
        with sqlite3.connect(self.witness if table in ("seen", "marks") else self.path) as db:
            found = db.execute(f"SELECT rowid, * FROM {table}").fetchall()
        db.close()
        return found

    def touch(self, *statements, witness=False):
        with closing(sqlite3.connect(self.witness if witness else self.path)) as db, db:
            for statement in statements:
                db.execute(*statement)

    def refused(self, *statements, uses=("open", "begin", "record", "spend"), **where):
        """Whether every use after these statements is an error, and leaves the file as it is."""
        try:
            self.touch(*statements, **where)
        except sqlite3.IntegrityError:  # the database itself does not allow it
            return True
        touched = self.path.read_bytes()
        assert (touched, self.witness.read_bytes()) != self.good
        for name in uses:
            with pytest.raises(LedgerError):
                self.uses()[name]()
        assert self.path.read_bytes() == touched
        self.restore()
        return True


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    return Book(tmp_path_factory.mktemp("ledger"))


@pytest.fixture(autouse=True)
def _as_it_was(book):
    book.restore()


def columns_of(book, table):
    with sqlite3.connect(book.witness if table in ("seen", "marks") else book.path) as db:
        names = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
    db.close()
    return names


def test_an_untouched_ledger_is_used(book):
    for use in book.uses().values():
        use()
    assert book.ledger.datasets() == ["a", "b", "c"]
    assert len(book.rows("log")) > 12


@pytest.mark.parametrize("table", ["log", "head", "seen", "marks"])
def test_any_row_that_is_deleted_is_missed(book, table):
    witness = table in ("seen", "marks")
    for number, *_ in book.rows(table):
        assert book.refused((f"DELETE FROM {table} WHERE rowid = ?", (number,)), witness=witness)
    assert book.refused((f"DELETE FROM {table}",), witness=witness)
    assert book.refused((f"DROP TABLE {table}",), witness=witness)


@pytest.mark.parametrize("table", ["log", "head", "seen", "marks"])
def test_any_value_that_is_changed_is_noticed(book, table):
    for number, *values in book.rows(table):
        for name, value in zip(columns_of(book, table), values, strict=True):
            new = value + 100 if isinstance(value, int) else value[:-1]
            change = (f"UPDATE {table} SET {name} = ? WHERE rowid = ?", (new, number))
            assert book.refused(change, witness=table in ("seen", "marks")), (table, number, name)


def test_a_change_of_meaning_is_noticed_even_with_a_seal_of_its_own(book):
    """The seal of one entry alone is not enough: every entry is chained to the one before."""
    rows = book.rows("log")
    for (_, number, kind, body, _), before in zip(rows, ["", *(row[-1] for row in rows)], strict=False):
        other = body[:-1] + ', "more": 1}'
        seal = log_module._seal(before, number, kind, other)
        assert book.refused(("UPDATE log SET body = ?, seal = ? WHERE number = ?", (other, seal, number))), number


@pytest.mark.parametrize("table", ["log", "head", "seen", "marks"])
def test_any_row_that_is_doubled_is_noticed(book, table):
    names = columns_of(book, table)
    for number, *_ in book.rows(table):
        rest = [name for name in names if name not in ("number", "one", "dataset")]
        extra = [name for name in names if name in ("one", "dataset")] + (["number"] if table != "marks" else [])
        picked = ", ".join(
            [*rest, *(f"{name} + 1" if name == "one" else f"{name} || '2'" if name == "dataset" else
                      "(SELECT MAX(number) + 1 FROM log)" if table == "log" else name for name in extra)]
        )  # fmt: skip
        insert = f"INSERT INTO {table} ({', '.join([*rest, *extra])}) SELECT {picked} FROM {table} WHERE rowid = ?"
        assert book.refused((insert, (number,)), witness=table in ("seen", "marks"))


def test_any_two_entries_that_are_swapped_are_noticed(book):
    numbers = [row[0] for row in book.rows("log")]
    for i in numbers:
        for j in numbers[i:]:
            swap = [("UPDATE log SET number = ? WHERE number = ?", pair) for pair in ((-1, i), (i, j), (j, -1))]
            assert book.refused(*swap, uses=("open", "record"))


@pytest.mark.parametrize("head", ["as it was", "to match"])
def test_a_tail_that_is_cut_off_is_missed(book, head):
    rows = book.rows("log")
    for left in range(len(rows)):
        cut = [("DELETE FROM log WHERE number > ?", (left,))]
        if head == "to match" and left:
            cut.append(("UPDATE head SET number = ?, seal = ?", (left, rows[left - 1][-1])))
        assert book.refused(*cut), left


def test_a_backup_restored_over_it_is_noticed(book):
    book.path.write_bytes(book.backup)
    for use in book.uses().values():
        with pytest.raises(LedgerError, match="older copy"):
            use()
    book.path.unlink()
    with pytest.raises(LedgerError, match="has gone"):
        FileLedger(book.path)
    assert not book.path.exists()


def test_a_log_sealed_anew_is_noticed(book):
    """Somebody who lowers a cost and seals all entries after it again; only the witness knows better."""
    before, changes = "", []
    for _, number, kind, body, _ in book.rows("log"):
        other = body.replace('"epsilon": 3.0', '"epsilon": 9.0')
        before = log_module._seal(before, number, kind, other)
        changes.append(("UPDATE log SET body = ?, seal = ? WHERE number = ?", (other, before, number)))
    changes.append(("UPDATE head SET seal = ?", (before,)))
    assert book.refused(*changes)


def test_a_missing_witness_is_told_and_made_anew(book):
    book.witness.unlink()
    with pytest.warns(LedgerWarning, match="made anew"):
        FileLedger(book.path)
    assert stat.S_IMODE(book.witness.stat().st_mode) == 0o600
    FileLedger(book.path).spend("a")
    book.path.write_bytes(book.backup)
    with pytest.raises(LedgerError, match="older copy"):
        FileLedger(book.path)


def test_a_ledger_of_the_version_before_is_told_apart(book):
    book.touch(("PRAGMA user_version = 3",))
    with pytest.raises(LedgerError, match="version 3"):
        FileLedger(book.path)


def test_entries_that_make_no_sense_are_refused(book):
    """Sealed properly, by this very code: a release of an unknown fit, a cost below zero, an unknown event."""
    for kind, body in (("release", {"fit": 99}), ("begin", {"dataset": "a"}), ("gift", {}), ("cap", {"dataset": "a"})):
        with book.ledger._log.transaction() as log:
            log.append(kind, body)
        with pytest.raises(LedgerError, match="make no sense"):
            FileLedger(book.path)
        book.restore()
    body = {"dataset": "a", "relation": "r", "unit": "u", "mu_squared": -9.0, "epsilon": 0.0, "delta": 0.0}
    with book.ledger._log.transaction() as log:
        log.append("begin", body)
    with pytest.raises(LedgerError, match="make no sense"):
        FileLedger(book.path)


# ---- names ------------------------------------------------------------------------------------


def test_a_name_that_nobody_used_is_an_error_with_the_nearest_first(tmp_path):
    ledger = FileLedger(tmp_path / "privacy.db")
    with pytest.raises(LedgerError, match="knows none yet"):
        ledger.spend("visits")
    for name in ("accounts", "visits", "zoo"):
        ledger.set_cap(name, CAP)
    for use in (ledger.spend, ledger.lines, ledger.settle):
        with pytest.raises(LedgerError, match="knows no dataset 'vists'; it knows 'visits', 'accounts', 'zoo'"):
            use("vists")
    assert ledger.lines() == []
    assert ledger.spend("visits").releases == 0


def test_the_command_line_says_so_too(tmp_path):
    path = tmp_path / "privacy.db"
    FileLedger(path).set_cap("visits", CAP)
    for command in ("show", "settle"):
        done = CliRunner().invoke(app, ["ledger", command, "--ledger", str(path), "--dataset", "vists"])
        assert done.exit_code == 1
        assert "'visits'" in done.output
    assert CliRunner().invoke(app, ["ledger", "show", "--ledger", str(path), "--dataset", "visits"]).exit_code == 0


def test_two_columns_of_users_are_two_units(tmp_path):
    ledger = FileLedger(tmp_path / "privacy.db")
    release(ledger, "a", unit=User("patient", 5))
    with pytest.raises(LedgerError, match="column 'patient'.*column 'doctor'.*cannot be added up"):
        release(ledger, "a", unit=User("doctor", 5))
    release(ledger, "a", unit=User("patient", 5))
    assert str(User(0, 5)) != str(User("0", 5))


# ---- the same data under another name ---------------------------------------------------------


def test_data_under_a_derived_name_is_refused_if_it_had_another(tmp_path):
    ledger = FileLedger(tmp_path / "privacy.db")
    ledger.meet("visits", [b"path", b"column"], named=False)
    ledger.meet("visits", [b"column", b"more"], named=False)
    with pytest.raises(LedgerError, match=r"as 'visits' before.*dataset='visits'"):
        ledger.meet("copy", [b"new", b"more"], named=False)
    ledger.meet("copy", [b"new"], named=False)  # what was refused was not remembered
    with pytest.warns(LedgerWarning, match="also accounted for as 'visits'"):
        ledger.meet("study", [b"path"], named=True)
    with pytest.warns(LedgerWarning, match="also accounted for as 'study'"):
        ledger.meet("visits", [b"path"], named=False)
    FileLedger(tmp_path / "other.db").meet("copy", [b"path"], named=False)


def test_marks_are_kept_as_keyed_hashes_and_never_in_the_ledger(tmp_path):
    for name in ("a", "b"):
        FileLedger(tmp_path / name).meet("visits", [b"a telling mark"], named=True)
    kept = [(tmp_path / f"{name}.witness").read_bytes() for name in "ab"]
    assert all(b"telling" not in file.read_bytes() for file in tmp_path.iterdir())
    assert b"visits" not in (tmp_path / "a").read_bytes()
    rows = []
    for name in "ab":
        with sqlite3.connect(tmp_path / f"{name}.witness") as db:
            rows.append(db.execute("SELECT mark FROM marks").fetchall())
        db.close()
    assert rows[0] != rows[1], "the hashes are keyed"
    assert kept[0] != kept[1]


def _meet(path, name, start, answer):
    start.wait()
    try:
        FileLedger(path).meet(name, [b"the same"], named=False)
    except LedgerError:
        answer.put("refused")
    else:
        answer.put(name)


def test_of_two_processes_that_meet_the_same_data_one_is_refused(tmp_path):
    path = tmp_path / "privacy.db"
    FileLedger(path)
    start, answer = FORK.Event(), FORK.Queue()
    both = [FORK.Process(target=_meet, args=(path, name, start, answer)) for name in ("a", "b")]
    for each in both:
        each.start()
    start.set()
    answers = {answer.get(timeout=30) for _ in both}
    for each in both:
        each.join(30)
    assert "refused" in answers
    assert len(answers & {"a", "b"}) == 1


def test_ledgers_made_by_many_at_once_warn_nobody(tmp_path):
    path = tmp_path / "privacy.db"
    start, answer = FORK.Event(), FORK.Queue()

    def make():
        warnings.simplefilter("error")
        start.wait()
        try:
            FileLedger(path).set_cap("a", CAP)
        except BaseException as error:
            answer.put(repr(error))
        else:
            answer.put("made")

    makers = [FORK.Process(target=make) for _ in range(6)]
    for each in makers:
        each.start()
    start.set()
    assert {answer.get(timeout=30) for _ in makers} == {"made"}
    for each in makers:
        each.join(30)


def test_a_ledger_made_and_used_while_another_looks_is_not_taken_for_a_lost_one(tmp_path, monkeypatch):
    path, looked = tmp_path / "privacy.db", []
    there = log_module.there

    def slow(place):
        """Look, and be overtaken by a process that makes the ledger and uses it."""
        found = there(place)
        if not looked:
            looked.append(place)
            FileLedger(path).set_cap("a", CAP)
        return found

    monkeypatch.setattr(log_module, "there", slow)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert FileLedger(path).spend("a").cap == CAP
    assert looked == [path]
    path.unlink()
    with pytest.raises(LedgerError, match="has gone"):
        FileLedger(path)


def test_a_draft_that_a_crash_left_is_in_nobodys_way(tmp_path, monkeypatch):
    path, link = tmp_path / "privacy.db", database.os.link

    def crash(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(database.os, "link", crash)
    monkeypatch.setattr(database.Path, "unlink", lambda *_, **__: None)
    with pytest.raises(KeyboardInterrupt):
        FileLedger(path)
    assert list(tmp_path.glob(".*.new"))
    monkeypatch.setattr(database.os, "link", link)
    FileLedger(path).set_cap("a", CAP)


def test_a_copy_of_the_files_is_as_good(tmp_path, book):
    for path in (book.path, book.witness):
        shutil.copy(path, tmp_path / path.name)
    assert FileLedger(tmp_path / "privacy.db").spend("a") == book.ledger.spend("a")
