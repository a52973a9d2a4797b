"""Speed of what is not a clusterer: modes, local reports, files, the import and the first compiling.

python -m benchmarks.speed.other            some minutes; 5,000,000 rows on disk (.4 GB, removed afterwards)
python -m benchmarks.speed.other --quick    500,000 rows
python -m benchmarks.speed.other --part modes --part local
                                            some parts; the last figures of the others stay

Seconds of the processor stand beside those of the clock: on a machine that does other work, only they can be compared.
Fits also say how long nothing was told of their progress. A row above its limit ends the run with an error.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.csv
import pyarrow.parquet as pq
from sklearn.datasets import make_blobs

import knoll
from benchmarks.common import RESULTS, write
from benchmarks.modes.data import four_gaussians
from benchmarks.speed.run import BOUNDS, ROOT, merged, write_parquet
from knoll import progress

FITS = """
import time
import numpy as np, knoll
from knoll import progress
told, spent = [], time.perf_counter()
rng = np.random.default_rng(0)
with progress.listening(lambda what, fraction: told.append(what)):
    knoll.KMeans(4, bounds=(-5, 5), random_state=0).fit(rng.normal(size=(2000, 3)))
from knoll.compiled.compiler import Compiled
import sys
made = {id(e): e for m in list(sys.modules.values()) for e in list(vars(m).values()) if isinstance(e, Compiled)}
ready = [e._ready for e in made.values() if e._ready is not None]
print(time.perf_counter() - spent, len(ready) - sum(sum(e.stats.cache_hits.values()) for e in ready),
      sum(what.startswith("compiling") for what in told))
"""


def timed(work: Callable[[], Any], repeats: int = 5) -> tuple[float, float]:
    """Return the median seconds of the clock and of the processor, after a warm-up."""
    work()
    found = []
    for _ in range(repeats):
        clock, processor = time.perf_counter(), time.process_time()
        work()
        found.append((time.perf_counter() - clock, time.process_time() - processor))
    clock, processor = np.median(found, axis=0)
    return float(clock), float(processor)


def entry(
    what: str, seconds: tuple[float, float], against: str, ratio: float, limit: float, silence: float | None = None
) -> dict[str, str]:
    print(f"{what}: {ratio:.2f} (limit {limit:g})", flush=True)
    return {
        "what": what, "seconds": f"{seconds[0]:.3f}", "of the processor": f"{seconds[1]:.3f}", "against": against,
        "ratio": f"{ratio:.2f}", "limit": f"{limit:g}", "longest silence": "" if silence is None else f"{silence:.2f}",
    }  # fmt: skip


def silence_of(work: Callable[[], Any]) -> float:
    """Return the longest time in which nothing was told of its progress, in seconds."""
    told = [time.perf_counter()]
    with progress.listening(lambda what, fraction: told.append(time.perf_counter())):
        work()
    return float(np.diff([*told, time.perf_counter()]).max())


def mode_rows() -> list[dict[str, str]]:
    wide, _ = make_blobs(20_000, 8, centers=10, random_state=0)
    few = four_gaussians(5000, np.random.default_rng(0))
    settings = {"bounds": (-10, 10), "random_state": 0}

    def in_many() -> None:
        knoll.ModeSeeking(bounds=BOUNDS, random_state=0).fit(wide)

    many = timed(in_many, 3)
    once = timed(lambda: knoll.ModeSeeking(**settings).fit(few), 15)
    each = timed(lambda: knoll.ModeSeeking(release="each-step", **settings).fit(few))
    return [
        entry("ModeSeeking, 20,000 x 8", many, "seconds of the processor", many[1], 2, silence_of(in_many)),
        entry("ModeSeeking, 5,000 x 2, ladder", once, "a release at each step", once[1] / each[1], 0.25),
    ]


def local_rows() -> list[dict[str, str]]:
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal([20, 40, 60], 5, size=(4000, 3)), rng.normal([70, 70, 30], 8, size=(6000, 3))])
    found = []
    for k in (2, None):
        model = knoll.LocalGaussianMixture(k, epsilon=3.0, bounds=([0.0] * 3, [100.0] * 3), random_state=0)
        reports = model.client().reports(X)
        work = partial(model.fit_reports, reports)
        seconds = timed(work, 3)
        name = f"LocalGaussianMixture({k}), 10,000 reports of 3 columns"
        found.append(entry(name, seconds, "seconds of the processor", seconds[1], 3, silence_of(work)))
    return found


def file_rows(rows: int) -> list[dict[str, str]]:
    """A fit of five passes from files: one small enough to be kept, and one that is read for every pass."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        path, text = Path(folder) / "rows.parquet", Path(folder) / "rows.csv"
        write_parquet(path, rows)
        table = pq.read_table(path)
        pyarrow.csv.write_csv(table.slice(0, rows // 10), text)
        X = np.column_stack([column.to_numpy() for column in table.columns])
        del table
        fit = knoll.Lloyd(16, bounds=BOUNDS, random_state=0).fit
        memory, parquet = timed(lambda: fit(X), 3), timed(lambda: fit(str(path)), 3)
        found.append(
            entry(f"Lloyd, {rows:,} x 8 from parquet", parquet, "the same in memory", parquet[1] / memory[1], 2.5)
        )
        plain = timed(lambda: [None for _ in pyarrow.csv.open_csv(text)], 3)
        ours = timed(lambda: fit(str(text)), 3)
        name = f"Lloyd, {rows // 10:,} x 8 from CSV"
        # seconds of the clock: pyarrow's stream is read by one thread, and a fit's threads wait for it
        found.append(entry(name, ours, "pyarrow only streaming it", ours[0] / plain[0], 1.5))
    return found


def start_rows() -> list[dict[str, str]]:
    """The import, and what the first and the second process spend on compiling; and one that can write nowhere."""
    call = [sys.executable, "-X", "importtime", "-c", "import knoll"]
    listed = [subprocess.run(call, capture_output=True, text=True, check=True).stderr for _ in range(5)]
    quickest = min(int(text.strip().splitlines()[-1].split("|")[1]) for text in listed) / 1e6
    found = [entry("import knoll", (quickest, quickest), "50 ms", quickest / 0.05, 1)]
    with tempfile.TemporaryDirectory() as folder:
        kept, ours = Path(folder) / "kept", Path(knoll.__file__).parent
        shutil.copytree(ours, Path(folder) / "knoll", ignore=shutil.ignore_patterns("__pycache__"))
        nowhere = Path(folder) / "knoll" / "compiled" / "__pycache__"
        nowhere.touch()  # a file, where the compiler would make a folder
        runs = {which: first_fit(kept, ours.parent) for which in ("first", "second")}
        runs["third"] = first_fit(nowhere / "none", Path(folder))
    warm = runs["second"][0]
    for which, (seconds, compiled, told) in runs.items():
        where = ", which can write nowhere" if which == "third" else ""
        name = f"the {which} process fits KMeans{where}: {compiled:.0f} functions compiled, told {told:.0f} times"
        taken = (seconds, float("nan"))
        if which == "second":
            found.append(entry(name, taken, "functions compiled", compiled, 0))
        else:
            found.append(entry(name, taken, "seconds more than the second", seconds - warm, 6))
    return found


def first_fit(cache: Path, package: Path) -> list[float]:
    """Return seconds of a first fit in a process of its own, functions it compiled, and how often it said so."""
    away = dict.fromkeys(("NUMBA_CACHE_DIR", "HOME", "XDG_CACHE_HOME"), str(cache))
    variables = {**os.environ, **away, "PYTHONPATH": str(package)}
    call = [sys.executable, "-W", "ignore", "-c", FITS]
    done = subprocess.run(call, capture_output=True, text=True, check=True, env=variables, cwd=ROOT)
    return [float(each) for each in done.stdout.split()]


PARTS: dict[str, Callable[..., list[dict[str, str]]]] = {
    "start": lambda quick: start_rows(),
    "modes": lambda quick: mode_rows(),
    "local": lambda quick: local_rows(),
    "files": lambda quick: file_rows(500_000 if quick else 5_000_000),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer rows")
    parser.add_argument(
        "--part", action="append", choices=list(PARTS), help="only this; the last figures of others stay"
    )
    options = parser.parse_args()
    rows = [row for part in options.part or PARTS for row in PARTS[part](quick=options.quick)]
    name = "speed-other" + ("-quick" if options.quick else "")
    known = RESULTS / f"{name}.json"
    if options.part and known.exists():
        rows = merged(json.loads(known.read_text())["rows"], rows)
    write(name, "python -m benchmarks.speed.other" + (" --quick" if options.quick else ""), rows)
    beyond = [row["what"] for row in rows if float(row["ratio"]) > float(row["limit"])]
    if beyond:
        raise SystemExit(f"slower than its limit: {'; '.join(beyond)}")


if __name__ == "__main__":
    main()
