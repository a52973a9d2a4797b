"""The file ledger: caps, several processes, kill -9, and files that are something else."""

import multiprocessing
import os
import random
import signal
import sqlite3
import time

import numpy as np
import pytest

import knoll
from knoll.privacy import Budget, CapExceededError, FileLedger, LedgerError, LedgerWarning
from knoll.privacy.sources import noise_source

FORK = multiprocessing.get_context("fork")
X = np.random.default_rng(0).uniform(size=(200, 2))


def fit(path, epsilon=0.3, dataset="d", delta=1e-6):
    ledger = FileLedger(path, dataset)
    return knoll.Lloyd(2, epsilon=epsilon, delta=delta, bounds=(0, 1), n_steps=3, ledger=ledger).fit(X)


def test_every_release_is_recorded(tmp_path):
    path = tmp_path / "privacy.db"
    model = fit(path)
    lines = FileLedger(path).lines("d")
    assert tuple(line.entry for line in lines) == model.privacy_.releases
    assert {line.estimator for line in lines} == {"Lloyd"}
    assert all(abs(line.time - time.time()) < 60 for line in lines)


def test_fits_compose_into_one_figure(tmp_path):
    path = tmp_path / "privacy.db"
    for _ in range(4):
        fit(path, 0.5)
    spend = FileLedger(path).spend("d")
    assert spend.releases == 12
    assert spend.private
    single = Budget(0.5, 1e-6).ratio(1.0)
    assert spend.cost.mu_squared == pytest.approx(4 * single**2, rel=1e-12)
    assert 0.9 < spend.epsilon < 1.2  # far less than 4 x 0.5: Gaussian releases compose by squares


def test_names_come_from_the_ledger_the_file_or_are_pooled(tmp_path):
    path = tmp_path / "privacy.db"
    np.savetxt(tmp_path / "visits.csv", X / 2, delimiter=",", header="a,b", comments="")
    knoll.Lloyd(2, bounds=(0, 1), ledger=path).fit(X)
    knoll.Lloyd(2, bounds=(0, 1), ledger=str(path)).fit(tmp_path / "visits.csv")
    assert FileLedger(path).datasets() == ["unnamed data", "visits"]


def test_cap_refuses_the_fit_before_it_spends(tmp_path):
    path = tmp_path / "privacy.db"
    FileLedger(path).set_cap("d", Budget(0.5, 1e-6))
    fit(path, 0.3)
    before = FileLedger(path).spend("d").releases
    with pytest.raises(CapExceededError, match="cap of 'd'"):
        fit(path, 0.45)
    assert FileLedger(path).spend("d").releases == before
    with pytest.warns(LedgerWarning, match="also accounted for as 'd'"):
        fit(path, 0.3, dataset="other")


def test_cap_of_exactly_the_budget_admits_one_fit(tmp_path):
    for delta in (1e-6, 0.0):
        path = tmp_path / f"{delta}.db"
        FileLedger(path).set_cap("d", Budget(0.3, delta))
        fit(path, 0.3, delta=delta)
        with pytest.raises(CapExceededError):
            fit(path, 0.01, delta=delta)


def test_cap_below_what_is_spent_is_refused(tmp_path):
    path = tmp_path / "privacy.db"
    fit(path, 0.3)
    with pytest.raises(CapExceededError, match="already spent"):
        FileLedger(path).set_cap("d", Budget(0.1, 1e-6))


def _spend_greedily(path, start):
    start.wait()
    for _ in range(12):
        try:
            fit(path, 0.2)
        except CapExceededError:
            continue


def test_eight_processes_never_exceed_one_cap(tmp_path):
    path = tmp_path / "privacy.db"
    FileLedger(path).set_cap("d", Budget(0.8, 1e-6))
    start = FORK.Event()
    workers = [FORK.Process(target=_spend_greedily, args=(path, start)) for _ in range(8)]
    for worker in workers:
        worker.start()
    start.set()
    for worker in workers:
        worker.join(120)
        assert worker.exitcode == 0
    spend = FileLedger(path).spend("d")
    assert spend.epsilon <= 0.8
    assert spend.epsilon > 0.7  # and they did spend
    assert spend.releases % 3 == 0  # a fit is admitted whole or not at all


def _fit_until_killed(path, pipe):
    """Fit for ever; write one byte to the pipe each time that noise is drawn."""

    class Announced:
        private, label = False, "announced noise"

        def perturb(self, total, law, scale):
            os.write(pipe, b"n")
            return total

    noise_source.set(Announced())
    while True:
        fit(path, 0.01)


def test_two_hundred_kills_leave_no_release_unrecorded(tmp_path):
    path = tmp_path / "privacy.db"
    fit(tmp_path / "warm.db")  # children then have nothing to import
    FileLedger(path)
    chance = random.Random(5)
    drawn = 0
    for kill in range(200):
        read, write = os.pipe()
        child = FORK.Process(target=_fit_until_killed, args=(path, write))
        child.start()
        os.close(write)
        for _ in range((0, 1, 0, 3)[kill % 4]):  # every other child has begun to work, however slow the machine
            drawn += len(os.read(read, 1))
        time.sleep(chance.uniform(0.0, 0.05))
        os.kill(child.pid, signal.SIGKILL)
        child.join()
        while chunk := os.read(read, 65536):
            drawn += len(chunk)
        os.close(read)
    recorded = FileLedger(path).spend("d").releases
    assert drawn > 100  # the children did work
    assert drawn <= recorded <= drawn + 200  # at most one wasted entry a kill


def test_something_else_is_not_taken_for_a_ledger(tmp_path):
    text = tmp_path / "notes.txt"
    text.write_text("dear diary " * 100)
    with pytest.raises(LedgerError, match="nothing was released"):
        FileLedger(text)
    other = tmp_path / "other.db"
    with sqlite3.connect(other) as db:
        db.execute("CREATE TABLE t (x)")
    db.close()
    with pytest.raises(LedgerError, match="not a knoll ledger"):
        FileLedger(other)


def test_an_emptied_or_damaged_ledger_is_never_reset(tmp_path):
    path = tmp_path / "privacy.db"
    fit(path)
    whole = path.read_bytes()
    for damage in (b"", whole[:100], whole[:4096] + os.urandom(len(whole) - 4096)):
        path.write_bytes(damage)
        with pytest.raises(LedgerError):
            fit(path)
        assert path.read_bytes() == damage


def test_relations_and_units_are_not_added_up(tmp_path):
    path = tmp_path / "privacy.db"
    fit(path)
    ledger = FileLedger(path, "d")
    with pytest.raises(LedgerError, match="cannot be added up"):
        knoll.Lloyd(2, bounds=(0, 1), relation="replace_one", ledger=ledger).fit(X)
    with pytest.raises(LedgerError, match="cannot be added up"):
        knoll.Lloyd(2, bounds=(0, 1), unit=knoll.User(1, 3), ledger=ledger).fit(X)
    assert ledger.spend("d").releases == 3


def test_a_running_fit_reserves_its_budget(tmp_path):
    ledger = FileLedger(tmp_path / "privacy.db")
    ledger.set_cap("d", Budget(1.0, 1e-6))
    running = ledger.begin("d", Budget(0.9, 1e-6), "add_remove", "record")
    with pytest.raises(CapExceededError, match="reserved"):
        ledger.begin("d", Budget(0.9, 1e-6), "add_remove", "record")
    ledger.end(running)
    ledger.begin("d", Budget(0.9, 1e-6), "add_remove", "record")
    assert ledger.settle("d") == 1
    ledger.begin("d", Budget(0.9, 1e-6), "add_remove", "record")


def test_a_failed_fit_gives_its_reservation_back(tmp_path):
    ledger = FileLedger(tmp_path / "privacy.db", "d")
    ledger.set_cap("d", Budget(1.0, 1e-6))
    with pytest.raises(ValueError, match="missing"):
        knoll.Lloyd(2, bounds=(0, 1), ledger=ledger).fit(_gappy_file(tmp_path))
    assert ledger.settle("d") == 0
    knoll.Lloyd(2, bounds=(0, 1), ledger=ledger).fit(X)


def _gappy_file(folder):
    path = folder / "gaps.csv"
    path.write_text("a,b\n1,2\n,3\n")
    return path


def test_a_vanished_ledger_stops_the_fit(tmp_path):
    ledger = FileLedger(tmp_path / "privacy.db", "d")
    ledger.path.unlink()
    with pytest.raises(LedgerError, match="has gone"):
        knoll.Lloyd(2, bounds=(0, 1), ledger=ledger).fit(X)


def test_unwritable_folder(tmp_path):
    with pytest.raises(LedgerError):
        FileLedger(tmp_path / "no" / "such" / "folder.db")
