"""Functions are compiled once, kept for the next process, and do not reorder or fuse what is written."""

import os
import re
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import knoll
import knoll.queries
from knoll import progress
from knoll.compiled.compiler import compiled
from tests.compiled import plain

ALL = {each.__name__ + "".join(each.kinds): each for _, _, each in plain.all_compiled()}


@pytest.mark.parametrize("function", ALL.values(), ids=ALL)
def test_sums_are_not_reordered_and_products_not_fused(function):
    """A fused multiply-add rounds once where the plain form rounds twice: it could move a record to another cell."""
    made = function.afresh()  # what is fetched from a cache cannot be looked into
    assert "fmadd" not in "".join(made.inspect_asm().values())
    code = "".join(made.inspect_llvm().values())
    assert "llvm.fma" not in code
    assert "llvm.fmuladd" not in code
    arithmetic = [line for line in code.splitlines() if re.search(r"= f(add|sub|mul|div) ", line)]
    assert not [line for line in arithmetic if re.search(r"\b(fast|reassoc|contract|arcp|afn|nnan|ninf)\b", line)]


def test_every_compiled_function_has_a_plain_twin():
    assert len(ALL) >= 7
    ours = [each.__name__ for each in ALL.values() if each.__module__ not in plain.READERS]
    assert not [name for name in ours if not hasattr(plain, name.lstrip("_"))]


FIRST = """
from knoll.compiled.sums import add_sums
told = add_sums.ready().stats
print("compiled", sum(told.cache_misses.values()), "fetched", sum(told.cache_hits.values()))
"""
WHERE = """
import knoll, numpy as np
print(knoll.__file__, knoll.Lloyd(2, bounds=(-3, 3), random_state=0).fit(np.ones((300, 2))).n_features_in_)
"""


def _run(code, **variables):
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **variables}, capture_output=True, text=True, check=True
    )
    return done.stdout


def test_the_second_process_does_not_compile(tmp_path):
    assert "compiled 1 fetched 0" in _run(FIRST, NUMBA_CACHE_DIR=str(tmp_path))
    assert "compiled 0 fetched 1" in _run(FIRST, NUMBA_CACHE_DIR=str(tmp_path))


@pytest.mark.skipif(os.name == "nt", reason="needs a folder that is a file")
def test_a_cache_that_cannot_be_written_does_not_matter(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    code = "from knoll.compiled.grid import to_grid; import numpy as np; a = np.ones((3, 1));"
    code += "print(to_grid(a, a[0], a[0], a[0], a.copy()))"
    away = {name: str(blocked / "sub") for name in ("NUMBA_CACHE_DIR", "HOME", "XDG_CACHE_HOME", "IPYTHONDIR")}
    assert _run(code, **away).strip() == "3"


@pytest.mark.skipif(os.name == "nt", reason="needs a folder that is a file")
def test_a_package_that_cannot_be_written_to_works_too(tmp_path):
    """Neither the folder that is named, nor the package's own, nor the user's can be written: also not by root."""
    shutil.copytree(Path(knoll.__file__).parent, tmp_path / "knoll", ignore=shutil.ignore_patterns("__pycache__"))
    blocked = tmp_path / "knoll" / "compiled" / "__pycache__"
    blocked.write_text("")
    away = {name: str(blocked / "sub") for name in ("NUMBA_CACHE_DIR", "HOME", "XDG_CACHE_HOME", "IPYTHONDIR")}
    for _ in range(2):
        told = _run(FIRST + WHERE, PYTHONPATH=str(tmp_path), **away)
        assert "compiled 1 fetched 0" in told
        assert str(tmp_path) in told


def test_a_damaged_cache_does_not_matter(tmp_path):
    _run(FIRST, NUMBA_CACHE_DIR=str(tmp_path))
    files = [each for each in tmp_path.rglob("*.nb*") if each.is_file()]
    assert files
    for each in files:
        each.write_bytes(b"rubbish")
    assert "compiled" in _run(FIRST, NUMBA_CACHE_DIR=str(tmp_path))


def test_compiling_is_told_as_progress_and_happens_once():
    made, told = [], []

    @compiled("f1")
    def total(values):
        made.append(1)
        return values.sum()

    total._compile = lambda: made.append(0) or (lambda values: float(np.sum(values)))
    with progress.listening(lambda what, fraction: told.append(what)):
        assert total(np.ones(3)) == total(np.ones(3)) == 3.0
    assert made == [0]
    assert len(told) == 1
    assert "compiling" in told[0]


def test_threads_that_meet_at_the_first_call_compile_once():
    made = []

    @compiled("f1")
    def total(values):
        return values.sum()

    def slowly():
        time.sleep(0.05)
        made.append(1)
        return np.sum

    total._compile = slowly
    threads = [threading.Thread(target=total, args=(np.ones(3),)) for _ in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert made == [1]


def test_importing_knoll_imports_no_compiler():
    assert _run("import knoll, sys; print('numba' in sys.modules)").strip() == "False"
