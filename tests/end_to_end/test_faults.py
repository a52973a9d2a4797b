"""Faults: whatever breaks, no release is without its entry, no entry is lost, and the error says what happened."""

import multiprocessing
import os
import random
import resource
import shutil
import signal
import sqlite3
import stat
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import knoll
from knoll.cli.main import app
from knoll.engines import ArrayEngine
from knoll.privacy import Budget, CapExceededError, Curator, FileLedger, LedgerError
from knoll.privacy.sources import WordNoise, noise_source
from knoll.queries import Box, CellMoments, Count, Nearest

FORK = multiprocessing.get_context("fork")
X = np.random.default_rng(0).uniform(size=(100, 2))


def fit(path, epsilon=0.1, **kw):
    return knoll.Lloyd(2, epsilon=epsilon, bounds=(0, 1), n_steps=3, ledger=FileLedger(path, "d"), **kw).fit(X)


def in_child(work, *arguments):
    """Run in a forked process; return its exit code (negative: the signal that ended it)."""
    child = FORK.Process(target=work, args=arguments)
    child.start()
    child.join(60)
    return child.exitcode


class CountedNoise(WordNoise):
    """Secure noise that writes one byte to a file before each draw, and may die there."""

    def __init__(self, drawn, die_at=0):
        super().__init__()
        self.drawn, self.die_at, self.seen = drawn, die_at, 0

    def perturb(self, total, law, scale):
        self.seen += 1
        with open(self.drawn, "ab") as file:
            file.write(b"n")
        if self.seen == self.die_at:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().perturb(total, law, scale)


class Dying(ArrayEngine):
    """An engine that fails at its second query."""

    def __init__(self, rows, how):
        super().__init__(rows)
        self.how, self.asked = how, 0

    def aggregate(self, query):
        self.asked += 1
        if self.asked == 2:
            self.how()
        return super().aggregate(query)


def spend_twice(ledger, how):
    with Curator(Dying(X, how), Budget(1.0), ledger=ledger, dataset="d") as door:
        for _ in range(2):
            door.release(Count(), 0.5)


# ---- kill -9 ----------------------------------------------------------------------------------


@pytest.mark.parametrize("at", [1, 2, 3])
def test_killed_at_the_draw_its_entry_is_there(tmp_path, at):
    path, drawn = tmp_path / "privacy.db", tmp_path / "drawn"

    def work():
        noise_source.set(CountedNoise(drawn, die_at=at))
        fit(path)

    assert in_child(work) == -signal.SIGKILL
    ledger = FileLedger(path)
    assert drawn.stat().st_size == at == ledger.spend("d").releases
    fit(path)
    assert ledger.spend("d").releases == at + 3


def test_killed_while_summing_nothing_is_recorded_for_that_query(tmp_path):
    path = tmp_path / "privacy.db"
    code = in_child(lambda: spend_twice(FileLedger(path), lambda: os.kill(os.getpid(), signal.SIGKILL)))
    assert code == -signal.SIGKILL
    assert FileLedger(path).spend("d").releases == 1


def test_a_killed_fit_keeps_its_reservation_until_settled(tmp_path):
    path = tmp_path / "privacy.db"
    ledger = FileLedger(path, "d")
    ledger.set_cap("d", Budget(1.0, 1e-6))
    in_child(lambda: spend_twice(ledger, lambda: os.kill(os.getpid(), signal.SIGKILL)))
    with pytest.raises(CapExceededError, match="reserved"):
        fit(path, 0.5)
    done = CliRunner().invoke(app, ["ledger", "settle", "--ledger", str(path), "--dataset", "d"])
    assert "1 reservations given back" in done.output
    fit(path, 0.5)
    assert CliRunner().invoke(app, ["ledger", "settle", "--ledger", "none.db", "--dataset", "d"]).exit_code != 0


def test_killed_inside_a_transaction_the_ledger_recovers(tmp_path):
    path = tmp_path / "privacy.db"
    fit(path)

    def work():
        db = sqlite3.connect(path, isolation_level=None)
        db.execute("BEGIN IMMEDIATE")
        db.execute("DELETE FROM log")
        os.kill(os.getpid(), signal.SIGKILL)

    assert in_child(work) == -signal.SIGKILL
    fit(path)
    assert FileLedger(path).spend("d").releases == 6


# ---- disk -------------------------------------------------------------------------------------


def test_full_disk_stops_the_release_before_its_noise(tmp_path):
    path, drawn = tmp_path / "privacy.db", tmp_path / "drawn"
    fit(path)
    before = FileLedger(path).lines()

    def work():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        noise_source.set(CountedNoise(drawn))
        resource.setrlimit(resource.RLIMIT_FSIZE, (512, 512))  # no file may grow: the journal cannot be written
        try:
            fit(path)
        except LedgerError as error:
            os._exit(7 if "nothing was released" in str(error) else 8)
        os._exit(0)

    assert in_child(work) == 7
    assert not drawn.exists()
    assert FileLedger(path).lines() == before


def test_disk_that_fills_up_during_a_fit_ends_it_with_every_draw_recorded(tmp_path):
    path, drawn = tmp_path / "privacy.db", tmp_path / "drawn"
    FileLedger(path)

    def work():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        noise_source.set(CountedNoise(drawn))
        size = path.stat().st_size
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 8192, size + 8192))
        try:
            for _ in range(200):
                fit(path, 0.01)
        except LedgerError:
            os._exit(7)
        os._exit(0)

    assert in_child(work) == 7
    recorded = FileLedger(path).spend("d").releases
    assert 3 <= drawn.stat().st_size <= recorded <= drawn.stat().st_size + 1


def as_nobody(path, result):
    """Fit as somebody who may read the ledger and not write it; report the error."""
    if os.getuid() == 0:
        os.setgid(65534)
        os.setuid(65534)
    try:
        fit(path)
    except LedgerError as error:
        result.send(str(error))
        os._exit(7)
    os._exit(0)


@pytest.mark.parametrize("hidden", [False, True], ids=["read-only", "unreadable folder"])
def test_a_ledger_that_cannot_be_written_stops_the_fit(hidden):
    folder = Path(tempfile.mkdtemp(dir="/tmp"))
    try:
        path = folder / "privacy.db"
        fit(path)
        before = FileLedger(path).lines()
        path.chmod(stat.S_IRUSR | stat.S_IROTH)
        folder.chmod(0 if hidden else stat.S_IRUSR | stat.S_IXUSR | stat.S_IROTH | stat.S_IXOTH)
        receive, send = FORK.Pipe()
        assert in_child(as_nobody, path, send) == 7
        assert "nothing was released" in receive.recv()
        folder.chmod(0o700)
        path.chmod(0o600)
        assert FileLedger(path).lines() == before
    finally:
        folder.chmod(0o700)
        shutil.rmtree(folder)


def test_a_model_that_cannot_be_written_leaves_the_old_one(tmp_path, monkeypatch):
    path = tmp_path / "model.json"
    first = knoll.Lloyd(2, bounds=(0, 1)).fit(X)
    knoll.save(first, path)
    before = path.read_bytes()

    def full(self, *args, **kw):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(OSError, match="No space"):
        knoll.save(knoll.Lloyd(2, bounds=(0, 1)).fit(X), path)
    assert path.read_bytes() == before


# ---- processes and clocks ---------------------------------------------------------------------


def _race(path, start, drawn):
    noise_source.set(CountedNoise(drawn))
    start.wait()
    for _ in range(15):
        try:
            fit(path, 0.2)
        except CapExceededError:
            continue


def test_two_processes_share_one_cap_and_lose_no_entry(tmp_path):
    path = tmp_path / "privacy.db"
    FileLedger(path).set_cap("d", Budget(0.5, 1e-6))
    start = FORK.Event()
    drawn = [tmp_path / "a", tmp_path / "b"]
    racers = [FORK.Process(target=_race, args=(path, start, each)) for each in drawn]
    for racer in racers:
        racer.start()
    start.set()
    for racer in racers:
        racer.join(60)
        assert racer.exitcode == 0
    spend = FileLedger(path).spend("d")
    assert 0.4 < spend.epsilon <= 0.5
    assert spend.releases == sum(each.stat().st_size for each in drawn if each.exists())


def test_a_clock_that_goes_backwards_changes_nothing(tmp_path, monkeypatch):
    path = tmp_path / "privacy.db"
    FileLedger(path).set_cap("d", Budget(0.35, 1e-6))
    clock = iter(range(2**31, 0, -(10**6)))
    monkeypatch.setattr(time, "time", lambda: float(next(clock)))
    models = [fit(path, 0.1) for _ in range(4)]
    lines = FileLedger(path).lines("d")
    assert [line.time for line in lines] == sorted((line.time for line in lines), reverse=True)
    assert [line.entry for line in lines] == [entry for model in models for entry in model.privacy_.releases]
    with pytest.raises(CapExceededError):
        fit(path, 0.3)


# ---- a corrupt ledger -------------------------------------------------------------------------


def test_a_damaged_ledger_is_refused_or_unharmed_and_never_reset(tmp_path):
    path = tmp_path / "privacy.db"
    FileLedger(path).set_cap("d", Budget(3.0, 1e-6))
    for _ in range(8):
        fit(path)
    good = path.read_bytes()
    lines, spend = FileLedger(path).lines(), FileLedger(path).spend("d")
    chance = random.Random(11)
    refused = 0
    for _ in range(600):
        bad = bytearray(good)
        kind = chance.randrange(4)
        if kind == 0:  # a flipped bit
            bad[chance.randrange(len(bad))] ^= 1 << chance.randrange(8)
        elif kind == 1:  # a page of zeros
            start = 512 * chance.randrange(len(bad) // 512)
            bad[start : start + 512] = bytes(512)
        elif kind == 2:  # cut off
            del bad[chance.randrange(len(bad)) :]
        else:  # noise
            start = chance.randrange(len(bad) - 64)
            bad[start : start + 64] = chance.randbytes(64)
        path.write_bytes(bad)
        try:
            found = FileLedger(path)
            assert (found.lines(), found.spend("d")) == (lines, spend)
        except LedgerError:
            with pytest.raises(LedgerError, match=r"\w{5}"):
                fit(path)
            assert path.read_bytes() == bad
            refused += 1
        for leftover in tmp_path.glob("privacy.db-*"):
            leftover.unlink()
    assert refused > 150


@pytest.mark.parametrize(
    "change",
    [
        "DELETE FROM log WHERE number = 5",
        "DELETE FROM log WHERE number = (SELECT MAX(number) FROM log)",
        """UPDATE log SET body = replace(body, '"epsilon": 1.0', '"epsilon": 9.0') WHERE event = 'cap'""",
        """UPDATE log SET body = replace(body, '"dataset": "d"', '"dataset": "e"') WHERE event = 'release'""",
        "UPDATE log SET number = number + 1 WHERE number = (SELECT MAX(number) FROM log)",
        "UPDATE head SET number = number - 1",
    ],
)
def test_an_entry_that_was_changed_or_lost_is_noticed_when_the_next_fit_begins(tmp_path, change):
    path = tmp_path / "privacy.db"
    ledger = FileLedger(path, "d")
    ledger.set_cap("d", Budget(1.0, 1e-6))
    fit(path)
    with sqlite3.connect(path) as db:
        db.execute(change)
    db.close()
    with pytest.raises(LedgerError, match="damaged"):
        FileLedger(path)
    with pytest.raises(LedgerError, match="damaged"):
        knoll.Lloyd(2, bounds=(0, 1), ledger=ledger).fit(X)


# ---- memory and interruptions -----------------------------------------------------------------


def _out_of_memory():
    raise MemoryError


def _interrupt():
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("how", "error"), [(_out_of_memory, MemoryError), (_interrupt, KeyboardInterrupt), (lambda: 1 / 0, ArithmeticError)]
)
def test_an_engine_that_fails_costs_nothing_more(tmp_path, how, error):
    ledger = FileLedger(tmp_path / "privacy.db")
    with pytest.raises(error) as caught:
        spend_twice(ledger, how)
    if error is MemoryError:
        assert "not enough memory to sum 'count'" in str(caught.value)
    assert ledger.spend("d").releases == 1
    assert ledger.settle("d") == 0  # the reservation was given back


def test_a_sampler_that_fails_has_its_entry_and_releases_nothing(tmp_path):
    class Broken(WordNoise):
        def perturb(self, total, law, scale):
            raise MemoryError("no room for noise")

    ledger = FileLedger(tmp_path / "privacy.db", "d")
    model = knoll.Lloyd(2, bounds=(0, 1), ledger=ledger)
    token = noise_source.set(Broken())
    try:
        with pytest.raises(MemoryError):
            model.fit(X)
    finally:
        noise_source.reset(token)
    assert ledger.spend("d").releases == 1
    assert not hasattr(model, "cluster_centers_")


def test_memory_that_really_runs_out(tmp_path):
    """A query wider than the memory there is: refused by the system, nothing recorded."""
    path = tmp_path / "privacy.db"
    ledger = FileLedger(path)

    class Huge(Count):
        shape = (10**8,)

        def __init__(self):
            super().__init__()
            self.shape = (10**8,)

        def summarise(self, block):
            return np.ones(self.shape, dtype=np.int64)

    def work():
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + 2**28, used + 2**28))
        try:
            Curator(ArrayEngine(X), Budget(1.0), ledger=ledger, dataset="d").release(Huge(), 0.5)
        except MemoryError as error:
            os._exit(7 if "not enough memory" in str(error) else 8)
        os._exit(0)

    assert in_child(work) == 7
    assert ledger.spend("d").releases == 0


def test_the_statement_is_refused_if_the_releases_exceed_the_budget():
    """The recheck after the fit looks at what was really released, whatever the plan said."""
    door = Curator(ArrayEngine(X), Budget(1.0))
    door.release(CellMoments(Nearest([[0.5, 0.5]], Box((0, 0), (1, 1)))), 1.0)
    door._entries *= 2
    with pytest.raises(RuntimeError, match="do not publish"):
        door.statement()
