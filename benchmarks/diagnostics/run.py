"""Diagnostics: how often each code is said of data that must trigger it, and of data that must not. Goal: 95 % each.

python -m benchmarks.diagnostics.run             about twenty minutes: 40 fits of each kind
python -m benchmarks.diagnostics.run --quick     8 fits of each
python -m benchmarks.diagnostics.run --only few-records
"""

import argparse
import json
import warnings

import numpy as np

from benchmarks.common import RESULTS, write
from benchmarks.diagnostics.kinds import KINDS
from benchmarks.diagnostics.last import LAST
from knoll.diagnose import CODES
from tests.diagnose.registry import CASES


def said(code: str, fit, runs: int, first: int) -> int:
    """How many of so many fits have a remark with this code."""
    return sum(code in {each.code for each in fit(first + run).diagnostics_} for run in range(runs))


def rows_of(code: str, runs: int) -> list[dict]:
    rows = []
    for must, side in ((True, 0), (False, 1)):
        looks = {"tested": {"registry of the tests": CASES[code][side]}}
        for look, kinds in (("first", KINDS), ("last", LAST)):
            found = kinds[code][side] if code in kinds else {}
            looks[look] = {n: lambda seed, fit=fit: fit(np.random.default_rng(seed)) for n, fit in found.items()}
        for look, fits in looks.items():
            for name, fit in fits.items():
                count = said(code, fit, runs, 1000)
                right = (count if must else runs - count) / runs
                rows.append({"code": code, "must": "trigger" if must else "not", "look": look, "data": name,
                             "said": f"{count} of {runs}", "right": f"{right:.0%}"})  # fmt: skip
                print(*rows[-1].values(), sep=" | ", flush=True)
    return rows


def totals(rows: list[dict]) -> list[dict]:
    """The part of fits with the right remark, by code and side, over all kinds of a look."""
    found = []
    for code in dict.fromkeys(row["code"] for row in rows):
        line = {"code": code}
        for must in ("trigger", "not"):
            for look in ("tested", "first", "last"):
                mine = [
                    float(row["right"].rstrip("%"))
                    for row in rows
                    if (row["code"], row["must"], row["look"]) == (code, must, look)
                ]
                line[f"{must}, {look}"] = f"{np.mean(mine):.0f} %" if mine else "-"
        found.append(line)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="8 fits of each kind")
    parser.add_argument("--runs", type=int, default=40, help="fits of each kind")
    parser.add_argument("--only", choices=list(CODES), help="one code")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    runs = 8 if given.quick else given.runs
    command = f"python -m benchmarks.diagnostics.run --runs {runs}"
    rows = [row for code in ([given.only] if given.only else CODES) for row in rows_of(code, runs)]
    if given.only:  # measured again: its rows replace the old ones
        old = json.loads((RESULTS / "diagnostics-kinds.json").read_text())["rows"]
        rows = [row for code in CODES for row in (rows if code == given.only else old) if row["code"] == code]
    if not given.quick:
        write("diagnostics-kinds", command, rows)
        write("diagnostics", command, totals(rows))


if __name__ == "__main__":
    main()
