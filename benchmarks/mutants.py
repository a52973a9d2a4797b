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
AUDIT, ROUNDING = "tests/audit/test_audit.py", "tests/audit/test_quantisation.py"
FAULTS, NOISE = "tests/end_to_end/test_faults.py", "tests/statistical/test_noise.py"
CLIENTS, LOCAL = "tests/unit/test_clients.py", "tests/contract/test_local.py"
HOSTILE = "tests/fuzz/test_hostile_json.py"

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
        "        if not paid:\n"
        "            line = line_now(self._dataset, self._estimator, self._budget, entry)\n"
        "            self._ledger.record(self._begun(), line)\n"
        "            self._entries += (entry,)\n"
        "        noisy = source.perturb(total * query.weights, self._budget.law, entry.scale)\n",
        "        noisy = source.perturb(total * query.weights, self._budget.law, entry.scale)\n"
        "        if not paid:\n"
        "            line = line_now(self._dataset, self._estimator, self._budget, entry)\n"
        "            self._ledger.record(self._begun(), line)\n"
        "            self._entries += (entry,)\n",
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
        "privacy/curator.py",
        "        if self._used == self._number:",
        "        if False:",
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
        "privacy/ledger.py",
        "        if not intact:",
        "        if False:",
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
        "the exact check of a client's law",
        "local/law.py",
        "max(ratio, 1 / ratio) > exp_below(epsilon)",
        "False",
        CLIENTS,
        "one_word or wrong_way",
    ),
    Mutant(
        "e^epsilon from below",
        "local/law.py",
        "    return Fraction(total, 1 << _BITS)",
        "    return Fraction(total + (total >> 60), 1 << _BITS)",
        CLIENTS,
        "below_it or one_word",
    ),
    Mutant(
        "the range of a square wave's reach",
        "local/clients.py",
        'whole("reach", self.reach, 0, known["n_bins"])',
        "self.reach",
        CLIENTS,
        "every_field",
    ),
    Mutant(
        "whole numbers of a client are whole",
        "local/fields.py",
        "    if type(value) is not int or not least <= value <= most:",
        "    if not least <= value <= most:",
        CLIENTS,
        "every_field",
    ),
    Mutant(
        "the cost of a noisy record from a document",
        "local/clients.py",
        "        if not self.cost.epsilon_at(self.delta) <= self.epsilon:",
        "        if False:",
        CLIENTS,
        "noisy_record_from_a_document",
    ),
    Mutant(
        "an unpickled client is checked",
        "local/client.py",
        "    def __reduce__(self)",
        "    def _reduce(self)",
        CLIENTS,
        "every_field or copies",
    ),
    Mutant(
        "the limit of a report's numbers",
        "local/reports.py",
        "all(least <= number <= most for number in numbers)",
        "all(number <= most for number in numbers)",
        LOCAL,
        "hostile_reports or farthest",
    ),
    Mutant(
        "a report has one axis",
        "local/reports.py",
        'entry.ndim != 1 or entry.dtype.kind not in "iu"',
        'entry.dtype.kind not in "iu"',
        LOCAL,
        "hostile_reports",
    ),
    Mutant(
        "lines of reports are read in pieces",
        "cli/local.py",
        "        while line := file.readline(_LARGEST):",
        "        while line := file.readline():",
        HOSTILE,
        "line_without_end",
    ),
    Mutant(
        "the parts of a model fit together",
        "model.py",
        "lengths.setdefault(axis, n) != n for",
        "lengths.setdefault(axis, n) != n and False for",
        HOSTILE,
        "no_fit_gives",
    ),
    Mutant(
        "the parameters of a model",
        "model.py",
        "    _check(model)\n",
        "",
        HOSTILE,
        "no_fit_gives",
    ),
    Mutant(
        "a key is in a document once",
        "document.py",
        "    if len(known) < len(pairs):",
        "    if False:",
        HOSTILE,
        "in_one_line",
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
