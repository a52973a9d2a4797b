"""Transcripts: what every estimator asks, hears and publishes, bit for bit, before a refactor and after it.

    python tools/transcripts.py record before.json            fit all cases under seeded noise, and write them down
    python tools/transcripts.py compare before.json           fit them again; list what differs; exit 1 if anything does
    python tools/transcripts.py compare before.json now.json  compare two files

A transcript holds for every case: the releases (query, shape, share, law, sensitivity, scale), the totals inside the
door before and after noise, every fitted attribute, what the methods say about the records, and the spend. Arrays are
written as digests. Transcripts of two machines or of other versions of numpy may differ in the last bit.

`RENAMED` and `EXPECTED` say which differences are meant. `--renamed FILE.json` adds to both: one object with any of the
keys queries, attributes, methods, gone, new, changed.
"""

import argparse
import json
import os
import platform
import re
import sys
import time
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from fnmatch import fnmatchcase
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path
from typing import Any

RENAMED: dict[str, dict[str, str]] = {
    "queries": {},  # name of a query before -> after; also the beginning of one, up to a comma
    "attributes": {},  # fitted attribute, or a field within one, before -> after; or a dotted path
    "methods": {},  # method before -> after
}
EXPECTED: dict[str, dict[str, str]] = {
    # patterns (* and ?) of "path" or of "case: path" -> the reason why it may differ
    "gone": {},
    "new": {},
    "changed": {},
}
Renamed = dict[str, dict[str, str]]
Difference = tuple[str, str, Any, Any]  # kind (gone, new or changed), path, before, after
SHOWN = 6  # differences listed for each case
FIELDS = {
    "releases": ("query", "shape", "share", "law", "sensitivity", "scale"),
    "totals": ("shape", "law", "scale", "exact", "noisy"),
}

ROOMS = {"fitted": "attributes", "to_mixture": "attributes", "methods": "methods", "loaded": "methods"}


# ---- record -------------------------------------------------------------------------------------


def timed(name: str) -> tuple[str, dict[str, Any], float]:
    """Return a case's name, its transcript, and how long it took."""
    from transcript_run import run

    start = time.perf_counter()
    return name, run(name), time.perf_counter() - start


def recorded(only: str, jobs: int, slowest: int) -> dict[str, Any]:
    """Run the cases whose names hold a text."""
    from transcript_run import CASES

    names = [name for name in CASES if only in name]
    if jobs == 1:
        done = list(map(timed, names))
    else:
        with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
            done = list(pool.map(timed, names, chunksize=4))
    for name, _, seconds in sorted(done, key=lambda each: -each[2])[:slowest]:
        print(f"{seconds:7.2f} s  {name}", file=sys.stderr)
    return {name: record for name, record, _ in done}


def made_with() -> dict[str, str]:
    """Return what the last bits depend on besides the code."""
    packages = ("numpy", "scipy", "scikit-learn", "pandas", "pyarrow", "randomgen")
    return {"python": platform.python_version(), "machine": platform.machine(), **{n: version(n) for n in packages}}


def write(path: Path, cases: dict[str, Any]) -> None:
    """Write transcripts, a line each, so that files can be compared line by line."""
    lines = [f"{json.dumps(name)}:{json.dumps(cases[name], separators=(',', ':'))}" for name in sorted(cases)]
    body = ",\n".join(lines)
    path.write_text(f'{{"made_with":{json.dumps(made_with())},\n"cases":{{\n{body}\n}}}}\n', encoding="utf-8")


# ---- compare ------------------------------------------------------------------------------------


def paths(record: Any, path: str = "") -> dict[str, Any]:
    """Return a transcript as dotted path -> value, in the order in which things happen in a fit."""
    if isinstance(record, dict):
        order = sorted(record, key=lambda key: key not in FIELDS) if not path else record
        parts = [(key, record[key]) for key in order]
    elif isinstance(record, list) and path.rpartition(".")[2] in FIELDS:
        names = FIELDS[path.rpartition(".")[2]]
        parts = [(str(i), dict(zip(names, row, strict=True))) for i, row in enumerate(record)]
    else:
        return {path: record}
    found: dict[str, Any] = {}
    for key, part in parts:
        found |= paths(part, f"{path}.{key}" if path else key)
    return found


def renamed(found: dict[str, Any], names: Renamed) -> dict[str, Any]:
    """Return old paths and query names as they are called now."""
    out = {}
    for path, value in found.items():
        if path.endswith(".query"):
            value = renamed_query(value, names["queries"])
        room, _, rest = path.partition(".")
        if room in ROOMS:
            path = f"{room}.{renamed_path(rest, names[ROOMS[room]])}"
        out[path] = value
    return out


def renamed_query(name: str, names: dict[str, str]) -> str:
    """Return a query's new name; what follows a comma (its part of the records) stays."""
    first, comma, rest = name.partition(",")
    return names.get(name, names.get(first, first) + comma + rest)


def renamed_path(path: str, names: dict[str, str]) -> str:
    """Return a dotted path with its beginning, or else each of its parts, renamed."""
    parts = path.split(".")
    for end in range(len(parts), 1, -1):
        whole = ".".join(parts[:end])
        if whole in names:
            return ".".join([names[whole], *(names.get(part, part) for part in parts[end:])])
    return ".".join(names.get(part, part) for part in parts)


def differences(before: Any, after: Any, names: Renamed) -> list[Difference]:
    """Return what differs between two transcripts of a case."""
    old, new = renamed(paths(before), names), paths(after)
    found: list[Difference] = []
    for path in [*old, *(path for path in new if path not in old)]:
        if path not in new:
            found.append(("gone", path, old[path], None))
        elif path not in old:
            found.append(("new", path, None, new[path]))
        elif old[path] != new[path]:
            found.append(("changed", path, old[path], new[path]))
    return found


def reason(case: str, difference: Difference, expected: Renamed) -> str | None:
    """Return why a difference is meant, or None."""
    kind, path = difference[:2]
    patterns = expected[kind].items()
    return next((why for pattern, why in patterns if _matches(case, path, pattern)), None)


def _matches(case: str, path: str, pattern: str) -> bool:
    return fnmatchcase(path, pattern) or fnmatchcase(f"{case}: {path}", pattern)


def report(before: dict[str, Any], after: dict[str, Any], names: Renamed, expected: Renamed) -> int:
    """Print what differs; return the number of cases in which something does that is not meant."""
    meant: Counter[str] = Counter()
    where: Counter[str] = Counter()
    bad = 0
    for case in sorted({*before, *after}):
        if case not in before or case not in after:
            found: list[Difference] = [("gone" if case in before else "new", "the whole case", "", "")]
        else:
            found = differences(before[case], after[case], names)
        reasons = [reason(case, each, expected) for each in found]
        meant.update(why for why in reasons if why is not None)
        left = [each for each, why in zip(found, reasons, strict=True) if why is None]
        if left:
            bad += 1
            where.update({f"{kind} {re.sub(r'[.][0-9]+(?=[.]|$)', '.*', path)}" for kind, path, *_ in left})
            print("\n".join([f"\n{case}", *listed(left)]))
    for why, times in meant.most_common():
        print(f"meant, {times} times: {why}")
    if where:
        print("\nIn how many cases:")
    for path, times in where.most_common(40):
        print(f"{times:6d}  {path}")
    print(f"\n{bad} of {len({*before, *after})} cases differ." if bad else f"All {len(after)} cases are the same.")
    return bad


def listed(found: list[Difference]) -> Iterable[str]:
    """Yield the first differences of a case as lines."""
    for kind, path, old, new in found[:SHOWN]:
        values = {"changed": f"{old}  ->  {new}", "gone": f"was {old}", "new": f"is {new}"}[kind]
        yield f"  {kind:8s}{path}: {values}"
    if len(found) > SHOWN:
        yield f"  ... and {len(found) - SHOWN} more"


def read(path: Path, only: str) -> dict[str, Any]:
    """Return the cases of a file whose names hold a text; say if it was made with something else."""
    data = json.loads(path.read_text(encoding="utf-8"))
    for name, known in made_with().items():
        if data["made_with"].get(name) != known:
            print(f"note: {path.name} was made with {name} {data['made_with'].get(name)}, this is {known}")
    return {name: record for name, record in data["cases"].items() if only in name}


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("record", "compare"))
    parser.add_argument("file", type=Path)
    parser.add_argument("other", type=Path, nargs="?", help="compare: a second file, instead of fitting again")
    parser.add_argument("--only", default="", metavar="TEXT", help="only cases whose name holds this text")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="processes")
    parser.add_argument("--slowest", type=int, default=0, metavar="N", help="say which cases took longest")
    parser.add_argument("--renamed", type=Path, metavar="JSON", help="more names and expected differences")
    given = parser.parse_args()
    # before numpy is loaded, here and in other processes: the last bits of a sum depend on the number of threads
    os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))
    start = time.perf_counter()
    before = read(given.file, given.only) if given.command == "compare" else {}
    if given.other and given.command == "compare":
        after = read(given.other, given.only)
    else:
        after = recorded(given.only, given.jobs, given.slowest)
    if given.command == "record":
        write(given.file, after)
        failed = [name for name, record in after.items() if "error" in record]
        print("\n".join(f"{after[name]['error']}: {name}" for name in failed))
        print(f"{len(after)} cases, {len(failed)} of them errors, in {time.perf_counter() - start:.0f} s.")
        return 0
    more = json.loads(given.renamed.read_text(encoding="utf-8")) if given.renamed else {}
    names = {room: {**known, **more.get(room, {})} for room, known in RENAMED.items()}
    expected = {kind: {**known, **more.get(kind, {})} for kind, known in EXPECTED.items()}
    return 1 if report(before, after, names, expected) else 0


if __name__ == "__main__":
    sys.exit(main())
