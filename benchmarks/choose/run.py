"""The number of clusters, not given: clear clusters, overlapping ones, clouds that are none, hierarchies; KMeans.

python -m benchmarks.choose.run                about two minutes; writes results/choose.md
python -m benchmarks.choose.run --seed 100     other data, other noise
"""

import argparse
from collections.abc import Iterator

import numpy as np
from sklearn.metrics import adjusted_rand_score

import knoll
from benchmarks.common import write

# columns, clusters, records to a cluster
CLEAR = [(2, 7, 200), (2, 40, 250), (2, 90, 200), (3, 12, 200), (3, 60, 250), (4, 8, 200), (4, 30, 200), (5, 25, 500),
         (7, 50, 500), (9, 12, 600), (12, 30, 500), (16, 10, 500), (16, 60, 500)]  # fmt: skip
OVERLAPPING = [(15, 4.2), (15, 3.6), (20, 3.8), (35, 3.8), (50, 4.0), (50, 3.5)]  # clusters, distance at least
CLOUDS = ["Gaussian", "correlated", "uniform", "ball", "Student", "Laplace", "exponential", "half ring", "wave"]
GOALS = {"clear": (0.05, "90 %"), "overlapping": (0.15, "80 %"), "one cloud": (0.0, "90 %"), "hierarchy": (0.05, "-")}
Case = tuple[str, str, int, float, np.ndarray, np.ndarray]


def clusters(k: int, d: int, each: int, apart: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return round clusters of standard deviation one, at least so far apart, of 1 to 1.6 times `each` records."""
    side, centres = 1.3 * apart * max(1.0, k ** (1 / d)), np.empty((0, d))
    while len(centres) < k:
        tried = rng.uniform(0, side, d)
        if not len(centres) or np.linalg.norm(centres - tried, axis=1).min() >= apart:
            centres = np.vstack([centres, tried])
        side *= 1.0002
    y = np.repeat(np.arange(k), rng.integers(each, int(1.6 * each) + 1, k))
    return centres[y] + rng.normal(size=(len(y), d)), y


def cloud(kind: str, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
    """Return records that are one cluster."""
    normal = rng.normal(size=(n, d))
    if kind == "correlated":
        return normal @ rng.normal(size=(d, d))
    if kind == "uniform":
        return rng.uniform(size=(n, d)) * np.linspace(1, 2, d)
    if kind == "ball":
        return normal / np.linalg.norm(normal, axis=1)[:, None] * rng.uniform(size=(n, 1)) ** (1 / d)
    if kind == "Student":
        return np.clip(rng.standard_t(4, (n, d)), -20, 20)
    if kind in ("Laplace", "exponential"):
        return rng.laplace(size=(n, d)) if kind == "Laplace" else rng.exponential(size=(n, d))
    if kind in ("half ring", "wave"):
        along, X = rng.uniform(0, np.pi if kind == "half ring" else 2 * np.pi, n), 0.15 * normal
        X[:, 0] += 2 * np.cos(along) if kind == "half ring" else along
        X[:, 1] += 2 * np.sin(along) if kind == "half ring" else np.sin(along)
        X[:, 2:] += rng.uniform(-1, 1, (n, 1))
        return X
    return normal


def cases(seed: int, repeats: int) -> Iterator[Case]:
    """Return goal, name, clusters, epsilon, records and labels of every dataset."""
    for repeat in range(repeats):
        rng = np.random.default_rng([seed, repeat])
        for d, k, each in CLEAR:
            yield "clear", f"{k} in {d} columns", k, 1.0, *clusters(k, d, each, 5.0, rng)
        for k, apart in OVERLAPPING:
            yield "overlapping", f"{k}, {apart} sd apart", k, 4.0, *clusters(k, 2, 300, apart, rng)
        for kind in CLOUDS:
            n, d, epsilon = [(5000, 2, 1.0), (12_000, 4, 1.0), (20_000, 3, 4.0), (20_000, 10, 1.0)][rng.integers(4)]
            yield "one cloud", kind, 1, epsilon, cloud(kind, n, d, rng), np.zeros(n, dtype=int)
        top, groups = clusters(3, 3, 1, 60.0, rng)
        X, y = clusters(4, 3, 500, 6.0, rng)
        which = rng.integers(0, 3, len(X))
        X = X + top[np.unique(groups, return_index=True)[1]][which]
        yield "hierarchy", "3 x 4 in 3 columns", 12, 1.0, X, 4 * which + y


def tried(case: Case, seed: int) -> dict:
    """Return what KMeans makes of a dataset, with its number of clusters chosen and given."""
    goal, name, k, epsilon, X, y = case
    low, high = X.min(axis=0), X.max(axis=0)
    bounds = (low - 0.1 * (high - low)).tolist(), (high + 0.1 * (high - low)).tolist()  # of made-up data: not private
    options = {"epsilon": epsilon, "delta": 1e-6, "bounds": bounds, "random_state": seed, "scale_by_bounds": True}
    model = knoll.KMeans(None, **options).fit(X)
    given = knoll.KMeans(k, **options).fit(X) if goal == "clear" else None
    lost = adjusted_rand_score(y, given.predict(X)) - adjusted_rand_score(y, model.predict(X)) if given else 0.0
    sure = model.n_clusters_confidence_
    right = abs(model.n_clusters_ - k) <= GOALS[goal][0] * k or (goal == "one cloud" and sure < 0.5)
    return {"goal": goal, "name": name, "k": k, "found": model.n_clusters_, "right": right, "sure": sure, "lost": lost,
            "near": abs(model.n_clusters_ - k) <= 0.05 * k,
            "shown": 3.0 in model.n_clusters_candidates_[:, 0]}  # fmt: skip


def tables(rows: list[dict]) -> tuple[list[dict], list[dict]]:
    """Return the goals against what was measured, and every kind by itself."""
    first = []
    for goal, (within, wanted) in GOALS.items():
        of = [row for row in rows if row["goal"] == goal]
        words = f"within {within:.0%}" if goal != "one cloud" else "1, or confidence below 0.5"
        first.append({"what": f"{goal}: {words}", "fits": len(of), "goal": wanted,
                      "measured": f"{np.mean([row['right'] for row in of]):.0%}"})  # fmt: skip
    kept = np.mean([row["lost"] <= 0.03 for row in rows if row["goal"] == "clear"])
    shown = np.mean([row["shown"] for row in rows if row["goal"] == "hierarchy"])
    first.append({"what": "clear: ARI within .03 of k given", "fits": "", "goal": "all", "measured": f"{kept:.0%}"})
    first.append({"what": "hierarchy: 3 among candidates", "fits": "", "goal": "all", "measured": f"{shown:.0%}"})
    for low, high in ((0.9, 1.01), (0.7, 0.9), (0.5, 0.7), (0.0, 0.5)):
        of = [row["near"] for row in rows if low <= row["sure"] < high]
        first.append({"what": f"confidence {low:.0%} to {min(high, 1):.0%}: right within 5 %", "fits": len(of),
                      "goal": "85 %" if low == 0.9 else "-", "measured": f"{np.mean(of or [0]):.0%}"})  # fmt: skip
    second = []
    for name in dict.fromkeys((row["goal"], row["name"]) for row in rows):
        of = [row for row in rows if (row["goal"], row["name"]) == name]
        second.append({"kind": f"{name[0]}: {name[1]}", "found": ", ".join(str(row["found"]) for row in of),
                       "confidence": ", ".join(f"{row['sure']:.2f}" for row in of)})  # fmt: skip
    return first, second


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--dry", action="store_true", help="write nothing")
    args = parser.parse_args()
    rows = []
    for i, case in enumerate(cases(args.seed, args.repeats)):
        rows.append(tried(case, args.seed + i))
        row = rows[-1]
        miss = "" if row["right"] else "MISS"
        print(f"{row['goal']:12} {row['name']:22} {row['found']:4} {row['sure']:.2f} {miss}", flush=True)
    for name, table in zip(("choose", "choose-kinds"), tables(rows), strict=True):
        for line in table:
            print(line)
        if not args.dry:
            write(name, "python -m benchmarks.choose.run", table)


if __name__ == "__main__":
    main()
