"""The number of clusters, not given: every estimator that chooses one, on data and noise that nothing was settled on.

python -m benchmarks.choose.estimators                about two minutes; writes results/choose-estimators.md
python -m benchmarks.choose.estimators --seed 100     other data, other noise
python -m benchmarks.choose.estimators --shapes       other shapes (shapes.py); writes results/choose-shapes.md

With KNOLL_DATA set to a folder of NPZ files, s1 and chameleon_t7_10k are looked at too; they were in view before.
"""

import argparse
import time
from collections.abc import Iterator

import numpy as np
from sklearn.metrics import adjusted_rand_score

import knoll
from benchmarks.choose import kinds, shapes
from benchmarks.common import write
from benchmarks.data import folder

NAMES = ("KMeans", "GaussianMixture", "MorseClustering", "ModeClustering")
ESTIMATORS = {name: getattr(knoll, name) for name in NAMES}
CLEAR = [(2, 9, 200), (2, 30, 200), (2, 80, 200), (3, 10, 200), (3, 30, 200), (4, 14, 200), (4, 45, 200), (7, 20, 500),
         (10, 35, 500), (16, 12, 500)]  # columns, clusters, records at least  # fmt: skip
OVERLAPPING = [(18, 4.0), (25, 4.2), (45, 4.0)]  # clusters, distance at least, in their largest deviations
CLOUDS = ["gamma", "log-normal", "simplex", "Student, common scale", "S"]
GROUPS = [(3, 5, 2, 400), (4, 3, 4, 300), (2, 7, 6, 500)]  # groups, clusters in each, columns, records
WITHIN = {"clear": 0.05, "overlapping": 0.15, "one cloud": 0.0, "groups of groups": 0.05, "bent": np.inf}
Case = tuple[str, str, int, float, np.ndarray, np.ndarray]


def cases(seed: int) -> Iterator[Case]:
    """Return goal, name, number of clusters, epsilon, records and labels of every dataset."""
    rng = np.random.default_rng([seed, 1])
    for d, k, each in CLEAR:
        yield "clear", f"{k} in {d} columns", k, 1.0, *kinds.mixed(k, d, each, 5.0, rng)
    for k, apart in OVERLAPPING:
        yield "overlapping", f"{k}, {apart} sd apart", k, 4.0, *kinds.mixed(k, 2, 200, apart, rng)
    for i, kind in enumerate(CLOUDS):
        n, d, epsilon = [(5000, 2, 1.0), (12_000, 4, 1.0), (10_000, 3, 4.0), (8000, 2, 4.0), (20_000, 8, 1.0)][i]
        yield "one cloud", kind, 1, epsilon, kinds.cloud(kind, n, d, rng), np.zeros(n, dtype=int)
    for g, each, d, n in GROUPS:
        X, y = kinds.groups(g, each, d, n, rng)
        yield "groups of groups", f"{g} x {each} in {d} columns", g * each, 1.0, X, y
    for name, X, y in kinds.bent(rng):
        yield "bent", name, int(y.max()) + 1, 4.0, X, y
    where = folder()
    for name, goal in (("s1", "overlapping"), ("chameleon_t7_10k", "bent")):
        if where is not None and (where / f"{name}.npz").exists():
            data = np.load(where / f"{name}.npz")
            X, y = data["X"].astype(float), data["y"].astype(int)
            yield goal, name, int(y.max()) + 1, 4.0, X, y


def tried(name: str, case: Case, seed: int) -> dict:
    """Return what an estimator makes of a dataset, with its number of clusters chosen and given."""
    goal, kind, k, epsilon, X, y = case
    low, high = X.min(axis=0), X.max(axis=0)
    bounds = (low - 0.1 * (high - low)).tolist(), (high + 0.1 * (high - low)).tolist()  # of made-up data: not private
    options = {"epsilon": epsilon, "delta": 1e-6, "bounds": bounds, "random_state": seed}
    start = time.process_time()
    model = ESTIMATORS[name](None, **options).fit(X)
    seconds, true = time.process_time() - start, y >= 0
    of = "n_components" if hasattr(model, "n_components_candidates_") else "n_clusters"
    candidates = getattr(model, f"{of}_candidates_")
    found, sure = int(candidates[0, 0]), float(candidates[0, 1])
    lost = 0.0
    if goal in ("clear", "bent"):
        given = ESTIMATORS[name](k, **options).fit(X)
        scores = [adjusted_rand_score(y[true], each.predict(X[true])) for each in (given, model)]
        lost = scores[0] - scores[1]
    right = abs(found - k) <= WITHIN[goal] * k or (goal == "one cloud" and sure < 0.5)
    if goal == "groups of groups":
        right = {float(k), float(kind.split()[0])} <= set(candidates[:, 0])
    if goal == "bent":
        right = lost <= 0.1
    return {"estimator": name, "goal": goal, "kind": kind, "k": k, "found": found, "sure": sure, "lost": lost,
            "right": right, "near": abs(found - k) <= 0.05 * k, "seconds": seconds}  # fmt: skip


def table(rows: list[dict]) -> list[dict]:
    """Return the goals against what was measured, by estimator."""
    out = []
    lines = [("clear: within 5 %", "90 %", "clear", lambda row: row["right"]),
             ("clear: ARI within .03 of k given", "90 %", "clear", lambda row: row["lost"] <= 0.03),
             ("overlapping: within 15 %", "80 %", "overlapping", lambda row: row["right"]),
             ("one cloud: 1, or confidence below 0.5", "90 %", "one cloud", lambda row: row["right"]),
             ("groups: both levels are candidates", "-", "groups of groups", lambda row: row["right"]),
             ("bent, noise records: ARI within .1 of k given", "all", "bent", lambda row: row["right"])]  # fmt: skip
    for what, wanted, goal, right in lines:
        line = {"what": what, "goal": wanted}
        for name in ESTIMATORS:
            of = [right(row) for row in rows if row["goal"] == goal and row["estimator"] == name]
            line[name] = f"{sum(of)} of {len(of)}" if of else "-"
        out.append(line)
    line = {"what": "confidence 90 % or more: right within 5 %", "goal": "85 %"}
    for name in ESTIMATORS:
        of = [row["near"] for row in rows if row["estimator"] == name and row["sure"] >= 0.9 and row["goal"] != "bent"]
        line[name] = f"{sum(of)} of {len(of)}"
    return [*out, line]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=8000)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--dry", action="store_true", help="write nothing")
    parser.add_argument("--shapes", action="store_true", help="other shapes of clusters and clouds")
    args = parser.parse_args()
    rows, made = [], shapes.cases if args.shapes else cases
    for repeat in range(args.repeats):
        for i, case in enumerate(made(args.seed + repeat)):
            for name in ["MorseClustering"] if case[0] == "bent" else ESTIMATORS:
                rows.append(tried(name, case, args.seed + 100 * repeat + i))
                row = rows[-1]
                miss = "" if row["right"] else "MISS"
                print(f"{name:16} {row['goal']:16} {row['kind']:22} {row['found']:4} {row['sure']:.2f}", end=" ")
                print(f"{row['lost']:.3f} {row['seconds']:.1f} s {miss}", flush=True)
    found = [line for line in table(rows) if {*map(line.get, ESTIMATORS)} != {"-"}]
    for line in found:
        print(line)
    if not args.dry:
        name, option = ("choose-shapes", " --shapes") if args.shapes else ("choose-estimators", "")
        write(name, f"python -m benchmarks.choose.estimators{option}", found)


if __name__ == "__main__":
    main()
