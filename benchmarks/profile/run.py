"""Profiles of ten columns beside OpenDP's releases and plain Laplace noise at equal budget, and their coverage.

python -m benchmarks.profile.run              errors on kinds and seeds that were worked with: about ten minutes
python -m benchmarks.profile.run --last       the same on kinds and seeds that were not
python -m benchmarks.profile.run --coverage   how often two standard errors hold the truth; with --last on other kinds
python -m benchmarks.profile.run --encoding   what kinds of columns add to a pass
"""

import argparse
from collections import defaultdict
from typing import Any

import numpy as np
from numpy.random import RandomState

import knoll
from benchmarks.common import write
from benchmarks.profile.coverage import coverage_rows
from benchmarks.profile.encoding import encoding_rows
from benchmarks.profile.made import ALPHAS, LAST, WORK, Asked, Parameters, asked, table
from benchmarks.profile.with_opendp import OpenDP

SIZES, EPSILONS, DELTA = (5_000, 50_000), (0.5, 1.0), 1e-6
Found = list[tuple[np.ndarray, np.ndarray]]
"""For each column shares of the bins, and quantiles."""


def ours(data: Any, columns: Any, questions: list[Asked], epsilon: float, delta: float) -> Found:
    """Return what a profile says of the bins: a cell's records are spread evenly within it."""
    profile = knoll.Profile(columns, epsilon=epsilon, delta=delta).fit(data)
    found, line = [], 0
    for j, each in enumerate(questions):
        which = profile.cells_[:, 0] == j
        edges = np.append(profile.cells_[which, 1], profile.cells_[which, 2][-1:])
        below = np.interp(each.edges, edges, np.append(0.0, np.cumsum(profile.cell_shares_[which])))
        below[0], below[-1] = 0.0, 1.0
        quantiles = np.zeros(0)
        if each.ordered:
            quantiles, line = profile.quantiles_[line, 1:-1], line + 1
        found.append((np.diff(below), np.rint(quantiles) if each.whole else quantiles))
    return found


def plain(questions: list[Asked], epsilon: float, rng: RandomState) -> Found:
    """Return counts with Laplace noise, each column with an equal part of epsilon, and quantiles that follow."""
    found = []
    for each in questions:
        counts = np.bincount(each.bins(), minlength=len(each.edges) - 1)
        noisy = np.maximum(counts + rng.laplace(0, len(questions) / epsilon, len(counts)), 0.0)
        shares = noisy / max(noisy.sum(), 1.0)
        quantiles = np.interp(ALPHAS, np.append(0.0, np.cumsum(shares)), each.edges) if each.ordered else np.zeros(0)
        found.append((shares, np.rint(quantiles) if each.whole else quantiles))
    return found


def theirs(released: list[dict[str, Any]]) -> Found:
    """Return what OpenDP released."""
    found = []
    for each in released:
        counts = np.maximum(np.array(each["counts"], dtype=float), 0.0)
        found.append((counts / max(counts.sum(), 1.0), np.array(each["quantiles"], dtype=float)))
    return found


def errors_of(found: Found, questions: list[Asked]) -> list[tuple[float, float]]:
    """Return mean absolute errors of shares, in percent, and of quantiles, in parts of the bounds' width in 1,000."""
    errors = []
    for (shares, quantiles), each in zip(found, questions, strict=True):
        width = each.edges[-1] - each.edges[0]
        off = np.abs(quantiles - each.quantiles()).mean() / width if each.ordered else np.nan
        errors.append((100 * float(np.abs(shares - each.shares()).mean()), 1000 * float(off)))
    return errors


def compare(n: int, epsilon: float, delta: float, given: Parameters, seeds: range, opendp: OpenDP | None) -> list[dict]:
    """Return a row for each column: mean errors of all methods over the seeds."""
    seen: dict[str, list] = defaultdict(list)
    names: list[str] = []
    for seed in seeds:
        rng = RandomState(seed)
        data, columns = table(n, given, rng)
        questions = asked(columns, data)
        names = [each.name for each in questions]
        seen["knoll"].append(errors_of(ours(data, columns, questions, epsilon, delta), questions))
        seen["Laplace"].append(errors_of(plain(questions, epsilon, rng), questions))
        for method, released in opendp.release(questions, ALPHAS, epsilon, delta).items() if opendp else ():
            seen[f"OpenDP {method}"].append(errors_of(theirs(released), questions))
    means = {method: np.mean(values, axis=0) for method, values in seen.items()}
    rows = []
    for figure, what in enumerate(("shares", "quantiles")):
        for j, name in enumerate(names):
            each = {method: float(value[j, figure]) for method, value in means.items()}
            if np.isfinite(each["knoll"]):
                least = min(value for method, value in each.items() if method != "knoll")
                numbers = {method: f"{value:.3g}" for method, value in each.items()}
                about = {"n": n, "epsilon": epsilon, "delta": delta, "figure": what, "column": name}
                rows.append({**about, **numbers, "knoll / best other": _ratio(each["knoll"], least)})
                print(*rows[-1].values(), sep="  ", flush=True)
    return rows


def _ratio(error: float, least: float) -> str:
    return f"{error / least:.2f}" if least else ("equal" if not error else "above")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--last", action="store_true", help="kinds and seeds that were not worked with")
    parser.add_argument("--coverage", action="store_true", help="how often two standard errors hold the truth")
    parser.add_argument("--encoding", action="store_true", help="what kinds of columns add to a pass")
    parser.add_argument("--runs", type=int, default=8)
    parser.add_argument("--pure", action="store_true", help="without delta")
    args = parser.parse_args()
    given, first = (LAST, 1000) if args.last else (WORK, 0)
    seeds = range(first, first + args.runs)
    more = "".join(f" --{name}" for name in ("last", "coverage", "encoding", "pure") if getattr(args, name))
    name = "profile" + more.replace(" --", "-")
    command = "make bench-profile" + (f' ARGS="{more.strip()}"' if more else "")
    if args.encoding:
        write(name, command, encoding_rows())
        return
    delta = 0.0 if args.pure else DELTA
    if args.coverage:
        write(name, command, coverage_rows(SIZES, EPSILONS, delta, given, seeds))
        return
    opendp = OpenDP.install()
    rows = [row for n in SIZES for epsilon in EPSILONS for row in compare(n, epsilon, delta, given, seeds, opendp)]
    write(name, command, rows)


if __name__ == "__main__":
    main()
