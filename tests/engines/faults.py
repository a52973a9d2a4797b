"""Faults that strike in the middle of a chosen pass, once: no timer decides, and no other process is looked for.

The task that goes to the workers is given another reader. It reads as before, and strikes after the first rows; whoever
makes a file first does so, so that a task that runs again is spared.
"""

import itertools
import os
import time
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

from knoll.engines.cluster import ClusterEngine


class Striking:
    """A reader of a worker's part that strikes when some rows are read."""

    def __init__(self, read, strike, folder, times):
        self.read, self.strike, self.folder, self.times = read, strike, str(folder), times

    def __call__(self, part):
        os.close(os.open(f"{self.folder}/read by {os.getpid()} at {time.monotonic_ns()}", os.O_CREAT | os.O_EXCL))
        for i, piece in enumerate(self.read(part)):
            yield piece
            if i == 0 and self._is_turn():
                self.strike(self.folder)

    def _is_turn(self):
        for turn in range(self.times):
            try:
                os.close(os.open(f"{self.folder}/{turn}", os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                continue
            return True
        return False


def kill_worker(_folder):
    """Kill the process that works on the part: a worker of Dask, a Python worker of Spark."""
    os.kill(os.getpid(), 9)


def kill_executor(_folder):
    """Kill the executor of Spark: the Java above this Python worker and its daemon."""
    pid = os.getpid()
    while "java" not in os.path.basename(os.readlink(f"/proc/{pid}/exe")):
        pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    os.kill(pid, 9)
    time.sleep(60)  # nothing more comes from here


def be_slow(folder):
    """Be so slow that a second copy of the task is started elsewhere: wait for it."""
    deadline = time.monotonic() + 60
    while readings(Path(folder).parent) <= 2 and time.monotonic() < deadline:
        time.sleep(0.1)


def kill_driver():
    """Kill the process that asks."""
    os.kill(os.getpid(), 9)


def struck(passes, strike, folder, times=1):
    """Have workers struck in these passes (the first look at the rows is pass 0), so many times each."""
    return at_passes(passes, wrap=lambda read, n: Striking(read, strike, _made(Path(folder) / f"pass {n}"), times))


@contextmanager
def at_passes(passes, work=None, wrap=None):
    """Do some work of the driver's before these passes, or give them another reader."""
    plain, count = ClusterEngine._send, itertools.count()

    def send(engine, query):
        number, read = next(count), engine._how
        if number in passes and work is not None:
            work()
        if number in passes and wrap is not None:
            engine._how = wrap(read, number)
        try:
            return plain(engine, query)
        finally:
            engine._how = read

    with patch.object(ClusterEngine, "_send", send):
        yield


def _made(folder):
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def strikes(folder):
    """Return how many strikes there were."""
    return len(list(Path(folder).glob("pass */[0-9]*")))


def readings(folder):
    """Return how many times a task began to read, in passes that were struck."""
    return len(list(Path(folder).glob("pass */read by *")))
