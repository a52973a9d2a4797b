"""Mixed tables with known segments: what KMeans and GaussianMixture find at epsilon 1, beside k-prototypes and k-modes.

python -m benchmarks.mixed.run --kinds dominant,rare --seeds 2,3                        results/mixed.md
python -m benchmarks.mixed.run --kinds many,together,steep,idle,uneven --seeds 200 --name mixed-held-out

`reference.py` (in an environment of its own) finds what is compared with. A goal is met by a table if the adjusted Rand
index is at most 0.05 below.
"""

import argparse
import json
import re
import time

import numpy as np
from sklearn.metrics import adjusted_rand_score

import knoll
from benchmarks.common import RESULTS, write
from benchmarks.mixed.made import HELD_OUT, PROPORTIONS, TUNED, make

METHODS = {"KMeans": knoll.KMeans, "GaussianMixture": knoll.GaussianMixture}
GAP = 0.05  # how far below k-prototypes may be


def known() -> dict[tuple[str, str, int], float]:
    """Return the figures of the reference by kind, proportion and seed."""
    found = json.loads((RESULTS / "mixed-kmodes.json").read_text())
    pattern = re.compile(r"(\w+) (\d+/\d+) #(\d+)")
    return {(m[1], m[2], int(m[3])): ari for name, ari in found.items() if (m := pattern.fullmatch(name))}


def score(method: str, kind: str, proportion: str, seed: int, epsilon: float) -> float:
    """Return the adjusted Rand index of one private fit."""
    table = make(kind, proportion, seed)
    model = METHODS[method](table.k, epsilon=epsilon, bounds=table.bounds, random_state=seed).fit(table.frame)
    return float(adjusted_rand_score(table.segment, model.predict(table.frame)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kinds", default=",".join((*TUNED, *HELD_OUT)))
    parser.add_argument("--seeds", default="")
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--name", default="mixed")
    args = parser.parse_args()
    seeds = {int(each) for each in args.seeds.split(",") if each}
    found: dict[tuple[str, str], list[list[float]]] = {}
    for (kind, proportion, seed), reference in known().items():
        if kind not in args.kinds.split(",") or (seeds and seed not in seeds):
            continue
        start = time.perf_counter()
        scores = [score(method, kind, proportion, seed, args.epsilon) for method in METHODS]
        found.setdefault((kind, proportion), []).append([reference, *scores])
        shown = "  ".join(f"{name} {each:.3f}" for name, each in zip(METHODS, scores, strict=True))
        print(f"{kind:10} {proportion:6} #{seed:<4} reference {reference:.3f}  {shown}  "
              f"{time.perf_counter() - start:.0f} s", flush=True)  # fmt: skip
    rows = []
    for kind in (*TUNED, *HELD_OUT):
        for proportion in PROPORTIONS:
            if (kind, proportion) in found:
                rows.append({"kind": kind, "numbers/categories": proportion} | summary(found[kind, proportion]))
    every = [each for rows_ in found.values() for each in rows_]
    rows.append({"kind": "all", "numbers/categories": ""} | summary(every))
    asked = f" --seeds {args.seeds}" if seeds else ""
    write(args.name, f"python -m benchmarks.mixed.run --kinds {args.kinds}{asked} --epsilon {args.epsilon:g}", rows)


def summary(scores: list[list[float]]) -> dict[str, str]:
    """Return means, and how many tables meet the goal."""
    values = np.array(scores)
    means = {"tables": str(len(values)), "k-prototypes": f"{values[:, 0].mean():.3f}"}
    for i, method in enumerate(METHODS, start=1):
        met = int((values[:, i] >= values[:, 0] - GAP).sum())
        means |= {method: f"{values[:, i].mean():.3f}", f"{method} within {GAP}": f"{met}/{len(values)}"}
    return means


if __name__ == "__main__":
    main()
