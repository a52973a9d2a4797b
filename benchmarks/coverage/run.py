"""Do error bars cover? Released centres and sizes against the records that the model assigns to them.

Every fit draws its kind of data, numbers of records and clusters, epsilon, bounds and units at random. A centre is
compared, column by column, with the mean of the records assigned to it (clipped to the bounds), a size with their
number; means and weights of mixtures with those of the records weighted by their responsibilities; centres of
directions with the direction of the mean. Only finite bars count; a finite bar of a cluster to which no record is
assigned is a miss. "Bar / error" is the median over fits of the root mean square bar over the root mean square error,
in bars of clusters that are seen: 1 is right, 2 is twice as wide as needed.

    python -m benchmarks.coverage.run                   about an hour
    python -m benchmarks.coverage.run --quick           a few minutes
    python -m benchmarks.coverage.run --only KMeans,Lloyd --fits 60
    python -m benchmarks.coverage.run --held-out        other kinds and seeds
    python -m benchmarks.coverage.run --new             kinds and seeds on which nothing was settled, looked at once
    python -m benchmarks.coverage.run --modes           modes of known densities: places ("centres"), heights ("sizes")
"""

import argparse
import time
import warnings
from typing import Any

import numpy as np

import knoll
from benchmarks.common import write
from benchmarks.coverage import modes
from benchmarks.coverage.cases import HELD_OUT, LAST, NEW, SHAPES, TUNED, WIDE, draw_cases
from knoll.queries.sphere import lengthened

SPHERICAL = "SphericalKMeans"
CLUSTERERS = (
    "KMeans", "Lloyd", "FastLloyd", "PEMeans", "LSHTree", "Cubes", "MorseClustering", "ModeClustering", SPHERICAL,
)  # fmt: skip
MIXTURES = ("GaussianMixture", "EMGaussianMixture", "HardEMGaussianMixture")
SLOW = {"MorseClustering": 5000, "ModeClustering": 50_000, **dict.fromkeys(MIXTURES, 5000)}
MOST_COMPONENTS = 60  # of a mixture or landscape: more take minutes


MODES = ("ModeSeeking",)
DELTA = 1e-6
FACTORS = ("kind", "n", "d", "times", "epsilon", "bounds", "scaled", "strategy")


def fitted(name: str, case: Any, delta: float) -> tuple[Any, np.ndarray]:
    """Return a fitted model and the records."""
    X = case.records()
    if isinstance(case, modes.ModeCase):
        known = getattr(knoll, name)(epsilon=case.epsilon, bounds=case.domain(X), random_state=case.seed % 1000)
        return known.fit(X), X
    k = case.k * case.times
    if name in (*MIXTURES, "MorseClustering"):
        k = min(k, MOST_COMPONENTS)
    if name == SPHERICAL:  # directions have neither bounds nor units
        return knoll.SphericalKMeans(k, epsilon=case.epsilon, random_state=case.seed % 1000).fit(X), X
    model = getattr(knoll, name)(
        k, epsilon=case.epsilon, delta=delta, bounds=case.domain(X), scale_by_bounds=case.scaled,
        random_state=case.seed % 1000,
    )  # fmt: skip
    return model.fit(X), X


def errors(model: Any, X: np.ndarray) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return errors and bars of centres and sizes. An error is infinite if there is nothing to compare with."""
    spherical = isinstance(model, knoll.SphericalKMeans)
    rows = lengthened(X) if spherical else model.bounds_.clip(X)
    if hasattr(model, "weights_stderr_"):
        shares = model.to_mixture().predict_proba(rows)
        if type(model).__name__.startswith("Hard"):
            shares = np.eye(shares.shape[1])[shares.argmax(axis=1)]
        mass = shares.sum(axis=0)
        centres, sizes = (model.means_, model.means_stderr_), (model.weights_, model.weights_stderr_)
        target, scale = shares.T @ rows, len(X)
    else:
        labels = model.predict(X)
        k = len(model.cluster_centers_)
        mass, target, scale = np.bincount(labels, minlength=k).astype(float), np.zeros((k, X.shape[1])), 1
        np.add.at(target, labels, rows)
        centres = model.cluster_centers_, model.centers_stderr_
        sizes = model.cluster_sizes_, model.cluster_sizes_stderr_
    target = lengthened(target) if spherical else target / np.maximum(mass, 1e-6)[:, None]
    away = np.where(mass[:, None] > 1e-6, centres[0] - target, np.inf)
    unit = model.bounds_.half
    return {"centres": (away / unit, centres[1] / unit), "sizes": (sizes[0] - mass / scale, sizes[1])}


def measure(name: str, case: Any, delta: float = DELTA) -> dict[str, Any]:
    """Fit once; return how many bars are finite and cover, and how wide they are."""
    model, X = fitted(name, case, delta)
    row: dict[str, Any] = {"strategy": model.strategy_} if hasattr(model, "strategy_") else {}
    pairs = modes.mode_errors(model, case) if name in MODES else errors(model, X)
    for what, (error, bar) in pairs.items():
        finite = np.isfinite(bar)
        hit = np.abs(error[finite]) <= 2 * bar[finite]
        known = np.isfinite(error[finite])
        rms = np.sqrt(np.mean(np.square(error[finite][known]))) if known.any() else np.nan
        width = np.sqrt(np.mean(np.square(bar[finite][known]))) / rms if known.any() and rms > 0 else np.nan
        row[what] = (int(finite.sum()), int(hit.sum()), int(finite.size), float(width))
    return row


def summary(rows: list[dict[str, Any]], label: dict[str, Any]) -> dict[str, Any]:
    """Pool fits: each weighs the same however many clusters it has."""
    out = dict(label)
    for what in ("centres", "sizes"):
        kept = [row[what] for row in rows if row[what][0]]
        share = np.mean([hit / finite for finite, hit, _, _ in kept]) if kept else np.nan
        out[f"{what}: covered"] = f"{share:.1%}"
        out[f"{what}: not seen"] = f"{1 - np.mean([row[what][0] / row[what][2] for row in rows if row[what][2]]):.0%}"
        out[f"{what}: bar / error"] = f"{np.nanmedian([width for *_, width in kept] or [np.nan]):.2f}"
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="24 fits of each, of at most 5,000 records")
    parser.add_argument("--only", help="names of estimators, separated by commas")
    parser.add_argument("--fits", type=int, default=120)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--held-out", action="store_true", help="other kinds and seeds")
    parser.add_argument("--new", action="store_true", help="kinds and seeds that nothing was settled on")
    parser.add_argument("--name", default=None, help="of the file of results")
    parser.add_argument("--levels", action="store_true", help="also by level of each factor")
    parser.add_argument("--modes", action="store_true", help="modes of known densities, instead of clusters")
    parser.add_argument("--delta", type=float, default=DELTA, help="of clusterers and mixtures; 0 for pure budgets")
    options = parser.parse_args()
    names = options.only.split(",") if options.only else MODES if options.modes else [*CLUSTERERS, *MIXTURES]
    kinds, seed = (HELD_OUT | LAST, options.seed + 88_000) if options.held_out else (TUNED, options.seed)
    if options.new:
        kinds, seed = NEW, options.seed + 99_000
    table = []
    for name in names:
        largest = min(SLOW.get(name, 50_000), 5000 if options.quick else 50_000)
        number = 24 if options.quick else options.fits
        cases: list[Any] = list(
            modes.draw_mode_cases(modes.HELD_OUT if options.held_out else modes.TUNED, number, seed)
            if name in MODES
            else draw_cases(kinds, number, seed, largest, WIDE if name == SPHERICAL else SHAPES)
        )
        start, rows = time.monotonic(), []
        for case in cases:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                rows.append({**vars(case), **measure(name, case, options.delta)})
        table.append(summary(rows, {"estimator": name, "level": "all"}))
        print(f"{table[-1]} {time.monotonic() - start:.0f} s", flush=True)
        if options.levels:
            for factor in (f for f in FACTORS if f in rows[0]):
                for level in sorted({row[factor] for row in rows}):
                    part = [row for row in rows if row[factor] == level]
                    table.append(summary(part, {"estimator": name, "level": f"{factor} {level}"}))
    subject = "coverage-modes" if options.modes else "coverage"
    look = "-new" if options.new else "-held-out" if options.held_out else ""
    name = options.name or f"{subject}{look}"
    flags = "".join(
        f" --{flag}"
        for flag in ("quick", "held-out", "new", "levels", "modes")
        if getattr(options, flag.replace("-", "_"))
    )
    flags += f" --delta {options.delta:g}" if options.delta != DELTA else ""
    only = f" --only {options.only}" if options.only else ""
    write(name, f"python -m benchmarks.coverage.run --fits {options.fits}{flags}{only}", table)


if __name__ == "__main__":
    main()
