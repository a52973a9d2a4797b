"""Do bars of levels cover? Released shares of categories against the records assigned, on made-up tables.

    python -m benchmarks.coverage.levels               about two minutes: kinds that no constant was settled on
    python -m benchmarks.coverage.levels --tuned       the kinds on which the bars were mended

"Bar / error" is the root mean square bar over the root mean square error, averaged over fits: 1 is right.
"""

import argparse
import warnings
from typing import Any

import numpy as np

import knoll
from benchmarks.common import write
from benchmarks.mixed.made import HELD_OUT, TUNED, Table, make
from knoll.rows import points_of

MODELS = ("KMeans", "GaussianMixture", "EMGaussianMixture")
PROPORTIONS = ("75/25", "25/75", "0/100")
SETTINGS = ((20_000, 1.0), (3000, 1.0), (3000, 4.0))  # records, epsilon


def errors(name: str, table: Table, epsilon: float) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Fit once; return errors and bars of shares of levels, of means of numbers, and of sizes."""
    model = getattr(knoll, name)(table.k, epsilon=epsilon, bounds=table.bounds, random_state=0).fit(table.frame)
    rows = points_of(model, table.frame)
    if hasattr(model, "means_"):
        shares = model.to_mixture().predict_proba(rows)
        at, bars = model.means_, model.means_stderr_
        sizes, size_bars = model.weights_ * len(rows), model.weights_stderr_ * len(rows)
    else:
        shares = np.eye(model.n_clusters_)[model.predict(table.frame)]
        at, bars = model.cluster_centers_, model.centers_stderr_
        sizes, size_bars = model.cluster_sizes_, model.cluster_sizes_stderr_
    mass = shares.sum(axis=0)
    away = at - shares.T @ rows / np.maximum(mass, 1e-9)[:, None]
    level = np.zeros(at.shape[1], dtype=bool)
    for _, where, _ in model.bounds_.levels:
        level[where] = True
    return {
        "levels": (away[:, level], bars[:, level]),
        "numbers": (away[:, ~level], bars[:, ~level]),
        "sizes": (sizes - mass, size_bars),
    }


def row_of(name: str, tables: list[tuple[Table, float]]) -> dict[str, Any]:
    """Fit tables, each at its epsilon; return what is covered, how wide bars are, and how many there are none of."""
    found: dict[str, list[tuple[float, float, float]]] = {"levels": [], "numbers": [], "sizes": []}
    for table, epsilon in tables:
        for what, (error, bar) in errors(name, table, epsilon).items():
            known = np.isfinite(bar)
            if known.any():
                hit = np.mean(np.abs(error[known]) <= 2 * bar[known])
                wide = np.sqrt(np.mean(bar[known] ** 2) / np.mean(error[known] ** 2))
                found[what].append((float(hit), float(wide), float(1 - known.mean())))
            elif bar.size:
                found[what].append((np.nan, np.nan, 1.0))
    row: dict[str, Any] = {"estimator": name}
    for what, each in found.items():
        hit, wide, unseen = np.nanmean(each, axis=0)
        row[f"{what}: covered"], row[f"{what}: not seen"] = f"{hit:.1%}", f"{unseen:.0%}"
        row[f"{what}: bar / error"] = f"{wide:.2f}"
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tuned", action="store_true", help="the kinds on which the bars were mended")
    tuned = parser.parse_args().tuned
    warnings.simplefilter("ignore")
    kinds, seed = (TUNED, 0) if tuned else (HELD_OUT, 8)
    tables = [(make(kind, p, seed, n), epsilon) for kind in kinds for p in PROPORTIONS for n, epsilon in SETTINGS]
    rows = []
    for name in MODELS:
        rows.append(row_of(name, tables))
        print(rows[-1], flush=True)
    flag = " --tuned" if tuned else ""
    write(f"coverage-levels{'-tuned' if tuned else ''}", f"python -m benchmarks.coverage.levels{flag}", rows)


if __name__ == "__main__":
    main()
