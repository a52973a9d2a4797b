"""What k-prototypes and k-modes find in the made-up tables, without privacy: the figures that `run` compares with.

    python -m venv kmodes && kmodes/bin/pip install kmodes pandas
    kmodes/bin/python -m benchmarks.mixed.reference          writes results/mixed-kmodes.json; resumes where it stopped

Numbers are standardised on the records, as is usual; the best of several starts by its own cost. Nothing of knoll is
imported, so that the package can live in an environment of its own. It takes minutes a table: with --rows, modes and
prototypes are found on so many of the records, and all records are labelled by them (new figures only).
"""

import argparse
import json
from pathlib import Path

import numpy as np
from kmodes.kmodes import KModes
from kmodes.kprototypes import KPrototypes
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from benchmarks.mixed.made import HELD_OUT, PROPORTIONS, TUNED, Table, make

FILE = Path(__file__).parents[1] / "results" / "mixed-kmodes.json"


def labels_of(table: Table, starts: int, seed: int, rows: int | None) -> np.ndarray:
    """Return the clusters of k-prototypes; of k-modes without numbers, of k-means without categories."""
    some = slice(rows)  # records are in no order
    numbers = table.frame[table.numbers].to_numpy(dtype=float)
    numbers = (numbers - numbers.mean(axis=0)) / numbers.std(axis=0) if numbers.size else numbers
    if not table.categories:
        return KMeans(table.k, n_init=starts, random_state=seed).fit(numbers[some]).predict(numbers)
    levels = table.frame[table.categories].to_numpy(dtype=str)
    if not table.numbers:
        model = KModes(table.k, init="Huang", n_init=starts, random_state=seed)
        return model.fit(levels[some]).predict(levels)
    both = np.column_stack([numbers.astype(object), levels.astype(object)])
    at = list(range(numbers.shape[1], both.shape[1]))
    model = KPrototypes(table.k, init="Huang", n_init=starts, random_state=seed, max_iter=30)
    return model.fit(both[some], categorical=at).predict(both, categorical=at)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kinds", default=",".join((*TUNED, *HELD_OUT)))
    parser.add_argument("--seeds", default="0,1,100,101,200")
    parser.add_argument("--starts", type=int, default=5)
    parser.add_argument("--rows", type=int)
    args = parser.parse_args()
    known = json.loads(FILE.read_text()) if FILE.exists() else {}
    for kind in args.kinds.split(","):
        for proportion in PROPORTIONS:
            for seed in map(int, args.seeds.split(",")):
                table = make(kind, proportion, seed)
                if table.name in known:
                    continue
                labels = labels_of(table, args.starts, seed, args.rows)
                known[table.name] = round(adjusted_rand_score(table.segment, labels), 4)
                print(f"{table.name:24} {known[table.name]:.3f}", flush=True)
                FILE.write_text(json.dumps(known, indent=1) + "\n")


if __name__ == "__main__":
    main()
