"""Audit every estimator: `make audit` writes one table for the docs, and a picture.

Each estimator is attacked at several budgets, on all pairs, in both boxes. Plain releases come first: they show how
much of the declared epsilon these attacks can find where nothing is wasted.
"""

import argparse
import json
import time

import numpy as np

from knoll.audit import AUDITED, Audit, audit, audit_one_run, audit_release, hurtful_pairs, make_audited, plot_audit
from knoll.queries import Box, CellMoments, Count, GridHistogram, Nearest
from tools.output import RESULTS, write

BUDGETS = [(0.5, 1e-6), (1.0, 1e-6), (4.0, 1e-6), (0.5, 0.0), (1.0, 0.0), (4.0, 0.0)]


def row(name: str, found: Audit, relation: str = "add_remove") -> dict[str, str]:
    declared = found.guarantee.epsilon
    used = f"{found.most_used:.3f}" if found.used else ""
    black = f"{found.bound('black'):.3f}" if any(attack.box == "black" for attack in found.attacks) else ""
    white = f"{found.bound('white'):.3f}" if any(attack.box == "white" for attack in found.attacks) else ""
    result = {
        "estimator": name, "relation": relation, "declared epsilon": f"{declared:g}",
        "delta": f"{found.guarantee.delta:g}", "white box": white, "black box": black, "exact cost": used,
        "worst pair": found.worst.pair if found.epsilon else max(found.used, key=found.used.get, default=""),
        "runs": f"{found.runs:,}", "passed": "yes" if found.passed else "NO",
    }  # fmt: skip
    print(" | ".join(result.values()), flush=True)
    return result


def plain(confidence: float) -> list[dict[str, str]]:
    """Single releases with a million draws each."""
    box = Box((-1, -1), (1, 1))
    queries = {"one `Count`": Count(), "one `CellMoments`": CellMoments(Nearest([[-0.5, -0.5], [0.5, 0.5]], box))}
    pair = hurtful_pairs()[0]
    return [
        row(name, audit_release(query, pair, epsilon=epsilon, delta=delta, confidence=confidence))
        for name, query in queries.items()
        for epsilon, delta in BUDGETS
    ]


def one_run(confidence: float) -> list[dict[str, str]]:
    """Big fits, once each: a histogram of 4,096 cells, and KMeans on 20,000 records."""
    rng = np.random.default_rng(0)
    crowd = np.clip(rng.normal(scale=0.3, size=(20_000, 2)), -1, 1)
    cells = np.array([(i, j) for i in range(64) for j in range(64)]) / 32 + 1 / 64 - 1
    histogram = GridHistogram(Box((-1, -1), (1, 1)), (64, 64))
    rows = []
    for epsilon in (1.0, 4.0):
        from knoll.engines import ArrayEngine
        from knoll.privacy import Budget, Curator

        def release(data: np.ndarray, epsilon: float = epsilon) -> np.ndarray:
            return Curator(ArrayEngine(data), Budget(epsilon)).release(histogram, 1.0).value

        cases = [("one `GridHistogram`, 4,096 cells", release, cells)]
        cases += [("KMeans", make_audited("KMeans", n_clusters=8, epsilon=epsilon), cells[::41])]
        for name, mechanism, canaries in cases:
            found = audit_one_run(mechanism, crowd, canaries, epsilon=epsilon, delta=1e-6, confidence=confidence)
            rows.append(
                {
                    "fit": name, "records": f"{len(crowd):,}", "declared epsilon": f"{epsilon:g}",
                    "canaries": f"{found.canaries:,}", "right guesses": f"{found.right:,} of {found.guesses:,}",
                    "bound": f"{found.epsilon:.3f}", "passed": "yes" if found.passed else "NO",
                }
            )  # fmt: skip
            print(" | ".join(rows[-1].values()), flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3000, help="runs of each audit")
    parser.add_argument("--seconds", type=float, default=30.0, help="make fewer runs if they would take longer")
    parser.add_argument("--confidence", type=float, default=0.999)
    parser.add_argument("--only", help="audit this one alone, and renew its rows in the table")
    given = parser.parse_args()
    started = time.monotonic()
    command = f'make audit ARGS="--seconds {given.seconds:g}"'
    if not given.only:
        write("audit-one-run", command, one_run(given.confidence))
    limits = {"runs": given.runs, "seconds": given.seconds, "confidence": given.confidence}
    rows = known(given.only) if given.only else plain(given.confidence)
    for name in AUDITED if given.only is None else [given.only]:
        rows += attacked(name, limits)
        write("audit", command, sorted(rows, key=place))
    print(f"{time.monotonic() - started:.0f} s")
    if any(each["passed"] != "yes" for each in rows):
        raise SystemExit("an audit failed")


def attacked(name: str, limits: dict[str, float]) -> list[dict[str, str]]:
    """One estimator at every budget."""
    if getattr(make_audited(name), "batch", False):
        return reports(name, limits)
    rows = []
    for epsilon, delta in BUDGETS:
        found = audit(make_audited(name, epsilon=epsilon, delta=delta), name=name, **limits)
        rows.append(row(name, found))
        if (name, epsilon, delta) == ("KMeans", 4.0, 1e-6):
            plot_audit(found).savefig(RESULTS / "audit.png", dpi=130)
    found = audit(make_audited(name, relation="replace_one"), name=name, **limits)
    return [*rows, row(name, found, "replace_one")]


def reports(name: str, limits: dict[str, float]) -> list[dict[str, str]]:
    """What respondents send, drawn in bulk. Most clients cost no delta, whatever is declared."""
    made = {}
    for epsilon, delta in BUDGETS:
        mechanism = make_audited(name, epsilon=epsilon, delta=delta)
        made[mechanism.epsilon, mechanism.delta] = mechanism
    return [
        row(name, audit(mechanism, name=name, **{**limits, "runs": 200_000}), "one record becomes another")
        for mechanism in made.values()
    ]


def place(row: dict[str, str]) -> int:
    """Plain releases first, then estimators in their order."""
    return list(AUDITED).index(row["estimator"]) if row["estimator"] in AUDITED else -1


def known(other_than: str) -> list[dict[str, str]]:
    """Rows of the table as it is, but those of one estimator."""
    file = RESULTS / "audit.json"
    rows = json.loads(file.read_text())["rows"] if file.exists() else []
    return [each for each in rows if each["estimator"] != other_than]


if __name__ == "__main__":
    main()
