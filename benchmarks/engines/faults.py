"""Fits on Dask in which a worker is killed in the middle of a pass, chosen by chance: all must give the same centres.

python -m benchmarks.engines.faults             20 fits
python -m benchmarks.engines.faults --fits 5    fewer; tests/engines runs two
"""

import argparse
import logging
import random
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import knoll
from benchmarks.common import write
from benchmarks.engines import page
from tests.engines import faults

PASSES = 18  # of a fit of KMeans, the first look among them


def fit(X: Any) -> Any:
    with knoll.testing.seeded_noise(1):
        return knoll.KMeans(3, bounds=(-60, 60), random_state=0).fit(X)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fits", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    import dask.array as da
    from dask.distributed import Client, LocalCluster

    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    rows = np.random.default_rng(3).normal(scale=20.0, size=(20_000, 2))
    expected, chance = fit(rows).cluster_centers_, random.Random(given.seed)
    started = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50)
    table = []
    with tempfile.TemporaryDirectory() as folder, started, Client(started):
        X = da.from_array(rows, chunks=(4000, 2))
        for number in range(given.fits):
            at, where = chance.randrange(PASSES), Path(folder) / str(number)
            with faults.struck([at], faults.kill_worker, where):
                found = fit(X).cluster_centers_
            same = np.array_equal(found, expected)
            table.append({"fit": number, "pass": at, "killed": faults.strikes(where), "same": "yes" if same else "no"})
            print(table[-1], flush=True)
    write("engines-faults", f"python -m benchmarks.engines.faults --fits {given.fits}", table)
    page.update()
    if not all(row["same"] == "yes" and row["killed"] for row in table):
        sys.exit("a fit with a worker that was killed gave other centres, or none was killed")


if __name__ == "__main__":
    main()
