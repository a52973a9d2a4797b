"""A column with an even spread among columns with clusters: it leads k-means astray, with or without privacy.

6,000 records of five columns, three clusters of normal records in four of them, the fifth even over its bounds; epsilon
1. Agreement (ARI) with the planted clusters: of `KMeans`, of scikit-learn's KMeans in the same units (half widths of
the bounds, ten starts), of `KMeans` without that column, and of `GaussianMixture`. "Loss" is that of `KMeans` over
scikit-learn's, at most over the fits.

    python -m benchmarks.diagnostics.even             about a minute
"""

import warnings

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

import knoll
from benchmarks.common import write
from benchmarks.diagnostics.kinds import around

RUNS, N, K, COLUMNS = 12, 6000, 3, 4


def planted(rng: np.random.Generator, apart: float) -> tuple[np.ndarray, np.ndarray]:
    """Records, the last column even, and their clusters."""
    places, label = rng.uniform(-apart, apart, (K, COLUMNS)), rng.integers(K, size=N)
    return np.column_stack([places[label] + rng.normal(size=(N, COLUMNS)), rng.uniform(-10, 10, N)]), label


def row_of(apart: float) -> dict[str, str]:
    """Fit all; return mean agreements, how often both k-means find the same, and the largest ratio of losses."""
    found, losses, same = [], [], []
    for run in range(RUNS):
        X, label = planted(np.random.default_rng(100 + run), apart)
        low, high = around(X)
        half = (high - low) / 2
        private = knoll.KMeans(K, bounds=(low, high), random_state=run).fit(X)
        less = knoll.KMeans(K, bounds=(low[:-1], high[:-1]), random_state=run).fit(X[:, :-1])
        mixture = knoll.GaussianMixture(K, bounds=(low, high), random_state=run).fit(X)
        open_ = KMeans(K, n_init=10, random_state=run).fit(X / half)
        labels = private.predict(X)
        losses.append(np.square((X - private.cluster_centers_[labels]) / half).sum() / open_.inertia_)
        same.append(adjusted_rand_score(labels, open_.labels_))
        each = labels, open_.labels_, less.predict(X[:, :-1]), mixture.predict(X)
        found.append([adjusted_rand_score(label, part) for part in each])
    names = ("KMeans", "scikit-learn", "KMeans without the column", "GaussianMixture")
    row = {"places within": f"±{apart:g}"} | {n: f"{v:.2f}" for n, v in zip(names, np.mean(found, axis=0), strict=True)}
    return row | {"KMeans as scikit-learn": f"{np.mean(same):.2f}", "loss": f"{max(losses):.3f}"}


def main() -> None:
    warnings.simplefilter("ignore")
    rows = []
    for apart in (3.0, 4.0, 6.0):
        rows.append(row_of(apart))
        print(*rows[-1].values(), sep=" | ", flush=True)
    write("diagnostics-even", "python -m benchmarks.diagnostics.even", rows)


if __name__ == "__main__":
    main()
