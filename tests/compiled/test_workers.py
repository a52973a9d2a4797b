"""Compiled functions in other processes: all find the same, and a second process compiles nothing."""

import multiprocessing
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import knoll
from knoll.testing import seeded_noise

LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="no other system forks as safely")
ALL = """
import knoll.audit, knoll.cluster, knoll.local, knoll.mixture, knoll.modes
from tests.compiled.plain import all_compiled
functions = {id(each): each for _, _, each in all_compiled()}.values()
missed = [each.__name__ for each in functions if sum(each.ready().stats.cache_misses.values())]
print(len(functions), "functions, compiled here:", *missed)
"""


def centres(path):
    """Fit a file, whose points are packed, and an array, whose points are kept for two grids."""
    X = np.column_stack([column.to_numpy() for column in pq.read_table(path).columns])
    wide = np.linspace(3, 5, X.shape[1])
    with seeded_noise(0):
        first = knoll.Lloyd(3, bounds=(-4, 4), random_state=0).fit(path)
        second = knoll.KMeans(3, bounds=(-wide, wide), scale_by_bounds=False, random_state=0).fit(X)
    return first.cluster_centers_, second.cluster_centers_


@pytest.mark.filterwarnings("ignore")  # of forking beside threads, which is what is tested, and of few records
@pytest.mark.parametrize("how", ["spawn", pytest.param("fork", marks=LINUX)])
def test_workers_find_what_this_process_finds(how, rng, tmp_path):
    X = rng.normal(size=(3000, 5))
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({f"x{j}": X[:, j] for j in range(5)}), path, row_group_size=500)
    here = centres(str(path))
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(how)) as pool:
        for there in pool.map(centres, [str(path)] * 2):
            assert all(np.array_equal(one, other) for one, other in zip(here, there, strict=True))


def test_what_any_function_is_compiled_to_is_kept():
    """Of all compiled functions, also those that call others."""
    call = [sys.executable, "-W", "ignore", "-c", ALL]
    for _ in range(2):
        told = subprocess.run(call, capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2]).stdout
    number, rest = told.split(" ", 1)
    assert int(number) >= 30
    assert rest.strip() == "functions, compiled here:"
