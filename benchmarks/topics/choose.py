"""The confidence that `SphericalKMeans` gives with a number of clusters that it chose: how far can it be believed.

    python -m benchmarks.topics.choose [--fits 60] [--seed 0]

Every fit draws its kind of directions, numbers of records, columns and clusters, and epsilon (1 to 8) at random. The
number is right if it is within 5 % of the true one. Kinds: clusters along axes of falling width; of sizes by Zipf's
law; of different tightness, with a tenth of the records anywhere; in groups; and one cloud, wide or narrow, round or
not, which is one cluster.
"""

import argparse
import warnings

import numpy as np

import knoll
from benchmarks.common import write
from benchmarks.topics.run import DELTA, directions

KINDS = ("axes", "zipf", "background", "groups", "cloud")
ROWS, COLUMNS = (5000, 10_000, 20_000, 40_000), (20, 50, 100, 200)
CLUSTERS, EPSILONS, APART = (2, 3, 4, 6, 8, 12, 16, 25, 40, 60), (1.0, 2.0, 4.0, 8.0), (0.9, 1.3, 1.8)
BANDS = ((0.9, 1.01, "0.90 to 1"), (0.5, 0.9, "0.50 to 0.90"), (0.02, 0.5, "0.02 to 0.50"), (0.0, 0.02, "0"))
NEAR = 0.05


def made(kind: str, n: int, d: int, k: int, apart: float, seed: int) -> np.ndarray:
    """Return directions of a kind, of length one."""
    if kind == "axes":
        return directions(n, d, k, apart, seed)[0]
    rng = np.random.default_rng(seed)
    if kind == "cloud":
        fall, wide, middle = rng.choice([0.0, 0.5]), rng.uniform(0.3, 2.0), rng.choice([0.0, 1.0])
        rows = middle * d**-0.5 + wide * rng.normal(size=(n, d)) * np.arange(1, d + 1) ** -fall / d**0.5
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)
    sizes = 1 / np.arange(1, k + 1) ** 0.7 if kind == "zipf" else np.ones(k)
    group = rng.choice(k, n, p=sizes / sizes.sum())
    centres = rng.normal(size=(k, d))
    if kind == "groups":
        centres = 0.7 * centres + rng.normal(size=(max(2, k // 5), d))[rng.integers(0, max(2, k // 5), k)]
    centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    far = apart * (np.exp(0.2 * rng.normal(size=k)) if kind == "background" else np.ones(k))
    rows = 0.2 * d**-0.5 + far[group, None] * centres[group] + rng.normal(size=(n, d)) / d**0.5
    if kind == "background":
        anywhere = rng.random(n) < 0.1
        rows[anywhere] = rng.normal(size=(int(anywhere.sum()), d))
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def one(number: int, seed: int) -> tuple[str, int, int, float]:
    """Return the kind, the true number, the chosen one and its confidence."""
    rng = np.random.default_rng([seed, number])
    kind = KINDS[number % len(KINDS)]
    n, d, k = (int(rng.choice(each)) for each in (ROWS, COLUMNS, CLUSTERS))
    epsilon, apart = float(rng.choice(EPSILONS)), float(rng.choice(APART))
    X = made(kind, n, d, k, apart, int(rng.integers(2**31)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = knoll.SphericalKMeans(None, epsilon=epsilon, delta=DELTA, random_state=number).fit(X)
    true = 1 if kind == "cloud" else k
    chosen, sure = model.n_clusters_, model.n_clusters_confidence_
    print(kind, n, d, f"epsilon {epsilon:g}, {true}:", chosen, f"{sure:.2f}", flush=True)
    return kind, true, chosen, sure


def main() -> None:
    """Measure, print, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--fits", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    found = [one(number, args.seed) for number in range(args.fits)]
    rows = []
    for lowest, below, name in BANDS:
        some = [(kind, abs(k - true) <= NEAR * true) for kind, true, k, sure in found if lowest <= sure < below]
        right = f"{np.mean([fine for _, fine in some]):.0%}" if some else "-"
        clouds = sum(kind == "cloud" for kind, _ in some)
        rows.append({"confidence": name, "fits": len(some), "right within 5 %": right, "of one cloud": clouds})
    write("topics_choose", f"python -m benchmarks.topics.choose --fits {args.fits} --seed {args.seed}", rows)


if __name__ == "__main__":
    main()
