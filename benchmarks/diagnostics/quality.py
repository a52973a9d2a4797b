"""Quality: how often the figures on the records lie within two standard errors of `quality_`. The goal is about 95 %.

python -m benchmarks.diagnostics.quality             about four minutes: 20 fits of each kind
python -m benchmarks.diagnostics.quality --quick     5 fits of each
python -m benchmarks.diagnostics.quality --new       4 fits of each of other kinds, on which nothing was settled
"""

import argparse
import warnings

import numpy as np
from sklearn.datasets import load_iris, make_blobs, make_moons, make_swiss_roll
from sklearn.metrics import pairwise_distances

import knoll
from benchmarks.common import write
from benchmarks.coverage.cases import NEW as NEW_KINDS
from benchmarks.diagnostics.kinds import around

SIZES = (1000, 5000, 30_000)


def _blobs(rng, n, d, k, spread=1.0):
    return make_blobs(n, d, centers=k, cluster_std=spread, random_state=int(rng.integers(2**31)))[0]


def _iris(rng, n):
    X = load_iris().data
    return X[rng.integers(len(X), size=n)] + 0.1 * rng.normal(size=(n, 4))


def _roll(rng, n):
    return make_swiss_roll(n, noise=0.5, random_state=int(rng.integers(2**31)))[0]


# name -> (rows from rng and n, number of clusters)
TUNED = {
    "clusters": (lambda rng, n: _blobs(rng, n, 2, 8), 8),
    "clusters, ten columns": (lambda rng, n: _blobs(rng, n, 10, 8), 8),
    "one cloud": (lambda rng, n: rng.normal(size=(n, 3)), 6),
    "even": (lambda rng, n: rng.uniform(size=(n, 2)), 8),
    "heavy tails": (lambda rng, n: np.clip(rng.standard_t(3, size=(n, 2)), -20, 20), 5),
    "moons": (lambda rng, n: make_moons(n, noise=0.08, random_state=int(rng.integers(2**31)))[0], 4),
}
# No constant of the clusterers' quality was set by these; those of mixtures (MISFIT, UNFINISHED, BENT) were, by both.
OTHERS = {
    "wide clusters, five columns": (lambda rng, n: _blobs(rng, n, 5, 6, 3.0), 6),
    "too few for its clusters": (lambda rng, n: _blobs(rng, n, 4, 12), 5),
    "too many": (lambda rng, n: _blobs(rng, n, 3, 3), 9),
    "iris": (_iris, 3),
    "a roll": (_roll, 7),
    "waiting times": (lambda rng, n: np.minimum(rng.exponential(size=(n, 3)), 12), 5),
    "steps": (lambda rng, n: rng.binomial(6, 0.5, size=(n, 4)).astype(float), 5),
    "clusters, 20 columns": (lambda rng, n: _blobs(rng, n, 20, 5, 2.0), 5),
}
# Of these, nothing was known: five clusters in three columns each.
NEW = {name: (lambda rng, n, make=make: make(rng, 5, 3, n), 5) for name, make in NEW_KINDS.items()}
MODELS = {"KMeans": knoll.KMeans, "PEMeans": knoll.PEMeans, "GaussianMixture": knoll.GaussianMixture}
MORE = {"EMGaussianMixture": knoll.EMGaussianMixture, "HardEMGaussianMixture": knoll.HardEMGaussianMixture}


def on_records(model, X: np.ndarray) -> np.ndarray:
    """The same figures from the records themselves, clipped to the bounds. Not private."""
    X = model.bounds_.clip(X)
    centres = getattr(model, "cluster_centers_", None)
    if centres is None:
        centres, part = model.means_, model.predict_proba(X)
        if isinstance(model, knoll.HardEMGaussianMixture):
            part = np.eye(part.shape[1])[part.argmax(axis=1)]
        distances = pairwise_distances(X, centres)
        within = float((part * distances**2).sum() / len(X))
    else:
        distances = pairwise_distances(X, centres)
        within = float(np.square(distances.min(axis=1)).mean())
    near = np.partition(distances, 1, axis=1)
    return np.array([within, 1 - within / X.var(axis=0).sum(), (1 - near[:, 0] / near[:, 1]).mean()])


def covered(name: str, kind, k: int, n: int, runs: int) -> np.ndarray:
    """Which figures of which runs lie within two standard errors, (runs, 3), and the standard errors."""
    found = []
    for run in range(runs):
        rng = np.random.default_rng(1000 * n + run)
        X = kind(rng, n)
        model = (MODELS | MORE)[name](k, epsilon=1.0, bounds=around(X), scale_by_bounds=False, random_state=run).fit(X)
        q, true = model.quality_, on_records(model, X)
        errors = np.array([q.within_variance_stderr, q.explained_stderr, q.silhouette_stderr])
        off = np.abs(np.array([q.within_variance, q.explained, q.silhouette]) - true)
        found.append([*(off <= 2 * errors), errors[0] / true[0], errors[1], errors[2]])
    return np.array(found, dtype=float)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="5 fits of each kind")
    parser.add_argument("--new", action="store_true", help="kinds that nothing was settled on, and more models")
    options = parser.parse_args()
    runs = 4 if options.new else 5 if options.quick else 20
    looks = [("new", NEW)] if options.new else [("looked at", TUNED), ("others", OTHERS)]
    warnings.simplefilter("ignore")
    rows = []
    for name in MODELS | MORE if options.new else MODELS:
        for look, kinds in looks:
            for n in SIZES:
                found = [covered(name, kind, k, n, runs) for kind, k in kinds.values()]
                mean, every = np.mean([part[:, :3].mean(axis=0) for part in found], axis=0), np.vstack(found)
                worst = min(kinds, key=lambda kind: found[list(kinds).index(kind)][:, :3].mean())
                size = np.median(every[:, 3:], axis=0)
                typical = f"{size[0]:.0%}, {size[1]:.3f}, {size[2]:.3f}"
                rows.append({"model": name, "kinds": look, "records": f"{n:,}", "within variance": f"{mean[0]:.0%}",
                             "explained": f"{mean[1]:.0%}", "silhouette": f"{mean[2]:.0%}", "typical ±": typical,
                             "worst kind": worst})  # fmt: skip
                print(*rows[-1].values(), sep=" | ", flush=True)
    flag = " --new" if options.new else " --quick" if options.quick else ""
    write(
        f"diagnostics-quality{'-new' if options.new else ''}", f"python -m benchmarks.diagnostics.quality{flag}", rows
    )


if __name__ == "__main__":
    main()
