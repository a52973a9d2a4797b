"""Mutants: take one protection out of the code at a time, and see that a test notices.

The source is copied, one protection is removed from the copy, and the tests that should notice run against it. A mutant
that survives is a protection that nothing watches over.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from common import write

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Mutant:
    """A protection, and the code without it."""

    protection: str
    file: str
    code: str
    without: str
    tests: str
    only: str = ""


QUERIES, ESTIMATORS = "tests/contract/test_queries.py", "tests/contract/test_estimators.py"
CURATOR, LEDGER = "tests/unit/test_curator.py", "tests/unit/test_ledger.py"
PARTS = "tests/unit/test_parts.py"
DOOR, LOG = "tests/unit/test_door.py", "tests/unit/test_log.py"
AUDIT, ROUNDING = "tests/audit/test_audit.py", "tests/audit/test_quantisation.py"
FAULTS, NOISE = "tests/end_to_end/test_faults.py", "tests/statistical/test_noise.py"

MUTANTS = [
    Mutant(
        "the clip to the box",
        "queries/domain.py",
        "        np.clip(grid, -self._limit, self._limit, out=grid)\n",
        "",
        QUERIES,
        "tight and moments",
    ),
    Mutant(
        "the clip to the ball",
        "queries/domain.py",
        "    if squares.size and squares.max() > limit:",
        "    if False:",
        QUERIES,
        "tight and ball",
    ),
    Mutant(
        "rounding towards zero in the ball",
        "queries/domain.py",
        "        np.trunc(grid, out=grid)\n",
        "        np.copyto(grid, np.sign(grid) * np.ceil(np.abs(grid)))\n",
        QUERIES,
        "tight and ball",
    ),
    Mutant(
        "the quantisation term of squares",
        "queries/shapes.py",
        "(within + b * d ** (1 / norm) / SHAPE_UNIT)",
        "within",
        ROUNDING,
    ),
    Mutant(
        "the quantisation term of products",
        "queries/moments.py",
        "fine * within * (1 + 2.0**-16)",
        "fine * within",
        ROUNDING,
    ),
    Mutant(
        "replace_one costs the spread",
        "queries/query.py",
        "max(self.spread(norm), self.bound(norm)) if relation is Relation.REPLACE_ONE else self.bound(norm)",
        "self.bound(norm)",
        QUERIES,
        "tight and votes",
    ),
    Mutant(
        "a record with a NaN adds nothing",
        "queries/domain.py",
        "        if np.isnan(grid.sum()):",
        "        if False:",
        QUERIES,
        "empty_and_single or padding",
    ),
    Mutant(
        "the ledger is written before the noise",
        "privacy/curator.py",
        "            self._record(entry)\n        return self._noisy(query, total, entry, source)\n",
        "            noisy = self._noisy(query, total, entry, source)\n"
        "            self._record(entry)\n        return noisy\n",
        FAULTS,
        "killed_at_the_draw",
    ),
    Mutant(
        "noise on empty cells",
        "privacy/noise.py",
        "        return total + draw(scale, total.size, self.words).reshape(total.shape)",
        "        return total + (total != 0) * draw(scale, total.size, self.words).reshape(total.shape)",
        AUDIT,
        "gives_nothing_away",
    ),
    Mutant(
        "the recheck after the fit",
        "privacy/curator.py",
        "spent = recheck(self._budget, self._entries)",
        "from knoll.privacy.released import compose as c; spent = c(self._entries)",
        FAULTS,
        "statement_is_refused",
    ),
    Mutant(
        "the whole of the noise",
        "privacy/curator.py",
        "return sensitivity, sensitivity / self._budget.ratio(",
        "return sensitivity, 0.7 * sensitivity / self._budget.ratio(",
        AUDIT,
        "plain_release or joint_release",
    ),
    Mutant("the shape of the noise", "privacy/noise.py", "    rate = 0.5 / fine**2", "    rate = 0.7 / fine**2", NOISE),
    Mutant(
        "a fresh key for every draw", "privacy/entropy.py", 'int.from_bytes(os.urandom(16), "little")', "4711", ROUNDING
    ),
    Mutant(
        "the shares' limit",
        "privacy/curator.py",
        "share]) > 1.0 + _ROUNDING:",
        "share]) > 3.0:",
        CURATOR,
        "beyond_the_budget",
    ),
    Mutant(
        "the cap per user counts",
        "privacy/curator.py",
        "sensitivity = self._unit.cap * query",
        "sensitivity = query",
        CURATOR,
        "users_scale",
    ),
    Mutant(
        "each part of the records answers once",
        "privacy/parts.py",
        "            if self._used == self._number:",
        "            if False:",
        PARTS,
        "answers_once",
    ),
    Mutant(
        "a replaced record touches two parts",
        "privacy/parts.py",
        "        if relation is not Relation.REPLACE_ONE:",
        "        if True:",
        PARTS,
        "together",
    ),
    Mutant(
        "the cap of a dataset",
        "privacy/ledger.py",
        "    if cap is None:\n        return\n",
        "    return\n",
        LEDGER,
        "cap and not processes",
    ),
    Mutant(
        "the seals of the ledger",
        "privacy/log.py",
        " or seal != _seal(before, number, kind, body)",
        "",
        FAULTS,
        "changed_or_lost",
    ),
    Mutant(
        "the price of the sampler",
        "privacy/curator.py",
        "Cost(ratio**2, epsilon, delta)",
        "Cost(ratio**2, 0.0, 0.0)",
        ESTIMATORS,
        "price_of_the_sampler and Lloyd",
    ),
    Mutant(
        "the ledger's seals are a chain",
        "privacy/log.py",
        "repr((before, number, kind, body))",
        'repr(("", number, kind, body))',
        LOG,
        "seal_of_its_own",
    ),
    Mutant(
        "the ledger's head",
        "privacy/log.py",
        " or head != [(1, len(self.events), before)]:",
        ":",
        LOG,
        "deleted or cut_off",
    ),
    Mutant(
        "the ledger's witness",
        "privacy/log.py",
        "        if number and (number > len(self.events) or self._seal_of(number) != seal):",
        "        if False:",
        LOG,
        "backup or sealed_anew or cut_off",
    ),
    Mutant(
        "keys of 16 bytes",
        "privacy/entropy.py",
        "os.urandom(16)",
        "os.urandom(4)",
        DOOR,
        "fresh_bits",
    ),
    Mutant(
        "the sampler's price counts a user's records",
        "privacy/curator.py",
        "min(touched * self._unit.cap * (2 if",
        "min(touched * (2 if",
        DOOR,
        "charge_counts",
    ),
    Mutant(
        "the sampler's price counts both records of a replacement",
        "privacy/curator.py",
        "self._unit.cap * (2 if self._relation is Relation.REPLACE_ONE else 1), 2 * size)",
        "self._unit.cap, 2 * size)",
        DOOR,
        "charge_counts",
    ),
    Mutant(
        "the sampler's price counts every part",
        "privacy/curator.py",
        "charge(budget.law, parts * self._moved(",
        "charge(budget.law, self._moved(",
        DOOR,
        "charge_counts",
    ),
    Mutant(
        "the check before a release",
        "privacy/curator.py",
        "        if compose((*self._granted, entry)).epsilon_at(self._budget.delta) > self._budget.epsilon:",
        "        if False:",
        DOOR,
        "precision_cannot_be_paid",
    ),
    Mutant(
        "the whole fit is planned before it begins",
        "privacy/curator.py",
        "            if (whole + charge).epsilon_at(self._budget.delta) > self._budget.epsilon:",
        "            if False:",
        DOOR,
        "half_way",
    ),
    Mutant(
        "what is granted is reserved",
        "privacy/curator.py",
        "        return (*self._entries, *self._pending)",
        "        return self._entries",
        DOOR,
        "whole_budget",
    ),
    Mutant(
        "parts answer one after the other",
        "privacy/parts.py",
        "        with self._lock:",
        "        if True:",
        DOOR,
        "last_part",
    ),
    Mutant(
        "the door looks at a query's numbers",
        "privacy/asked.py",
        "    if wrong:",
        "    if False:",
        DOOR,
        "bad_query or hold_a_nan",
    ),
    Mutant(
        "a total within what its records can add",
        "privacy/asked.py",
        "    if not right or not bool(((total <= most) & (total >= -most)).all()):",
        "    if False:",
        DOOR,
        "beyond_what",
    ),
]


def killed(mutant: Mutant, folder: Path) -> tuple[bool, float, str]:
    """Whether a test fails without the protection, after how long, and which."""
    source = folder / "src"
    shutil.rmtree(source, ignore_errors=True)
    shutil.copytree(ROOT / "src", source, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    file = source / "knoll" / mutant.file
    text = file.read_text()
    if text.count(mutant.code) != 1:
        raise SystemExit(f"{mutant.protection}: {mutant.file} holds its code {text.count(mutant.code)} times, not once")
    file.write_text(text.replace(mutant.code, mutant.without))
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *mutant.tests.split()]
    command += ["-k", mutant.only] if mutant.only else []
    started = time.monotonic()
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(source)}, timeout=600
    )
    if done.returncode not in (0, 1):
        raise SystemExit(f"{mutant.protection}: the tests could not run\n{done.stdout[-3000:]}")
    failed = [line.split(" - ")[0].removeprefix("FAILED ") for line in done.stdout.splitlines() if line[:6] == "FAILED"]
    return done.returncode == 1, time.monotonic() - started, failed[0] if failed else "none"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="protections whose name holds this")
    chosen = parser.parse_args().only
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for mutant in MUTANTS:
            if chosen not in mutant.protection:
                continue
            noticed, seconds, test = killed(mutant, Path(folder))
            print(f"{'noticed' if noticed else 'SURVIVES'}: {mutant.protection} ({seconds:.0f} s)", flush=True)
            rows.append(
                {
                    "without": mutant.protection, "in": f"`{mutant.file}`", "noticed": "yes" if noticed else "NO",
                    "by": f"`{test.split('[')[0]}`",
                }
            )  # fmt: skip
    if not chosen:
        write("mutants", "make mutants", rows)
    if any(row["noticed"] == "NO" for row in rows):
        raise SystemExit("a protection can be removed without any test noticing")


if __name__ == "__main__":
    main()
