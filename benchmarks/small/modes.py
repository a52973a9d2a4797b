"""Modes in many columns from few records: how many are found, and do two standard errors cover them.

Mixtures of 3 to 6 components in 4 to 8 columns, 5,000 records, epsilon 1. A mode is found if a released one lies
within one standard deviation of its component (Euclidean, over all columns); it is covered, column by column, if the
nearest released mode within 2.5 is within two of its standard errors; a released mode beyond 2.5 of all is false. The
oracle is told which component each record is of, and takes the mean of the component's records, without noise: the
right basins, but no search for the mode.

    python -m benchmarks.small.modes                about ten minutes
    python -m benchmarks.small.modes --held-out     seeds and mixtures that were not tuned on
    python -m benchmarks.small.modes --fits 3       fits of each kind and budget
"""

import argparse
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

import knoll
from benchmarks.common import write

COLUMN = {
    "normal": stats.norm(), "gamma": stats.gamma(3.0), "log-normal": stats.lognorm(0.5), "t": stats.t(5),
    "gumbel": stats.gumbel_r(), "weibull": stats.weibull_min(1.6), "beta": stats.beta(2.0, 6.0),
}  # fmt: skip


@dataclass(frozen=True)
class Kind:
    """Components of one shape: how many, in how many columns, how unequal, and how wide the bounds are."""

    column: str = "normal"
    k: int = 4
    d: int = 6
    sizes: float = 1.0
    widths: float = 1.0
    wide: float = 1.2
    dependent: bool = False


TUNED = {
    "round": Kind(), "skewed": Kind("gamma"), "unequal sizes": Kind(sizes=4.0), "unequal widths": Kind(widths=3.0),
    "wide bounds": Kind(wide=2.5), "6 modes, 8 columns": Kind(k=6, d=8),
    "3 skewed, 4 columns": Kind("gamma", 3, 4, 3.0),
}  # fmt: skip
HELD_OUT = {
    "gumbel": Kind("gumbel"), "weibull, unequal sizes": Kind("weibull", sizes=3.0),
    "beta, 5 columns": Kind("beta", 5, 5),
    "t, wide bounds": Kind("t", 4, 6, wide=3.0), "log-normal, 3 modes, 7 columns": Kind("log-normal", 3, 7),
    "normal, 5 modes, 8 columns": Kind("normal", 5, 8, 2.0, 2.0), "gumbel, 6 modes, 4 columns": Kind("gumbel", 6, 4),
    "log-normal, dependent columns": Kind("log-normal", dependent=True),
}  # fmt: skip


def made(kind: Kind, seed: int, n: int = 5000) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return records, labels, true modes and the components' standard deviations."""
    rng, column = np.random.default_rng(seed), COLUMN[kind.column]
    grid = np.linspace(column.ppf(1e-4), column.ppf(0.9999), 20_001)
    top, sd, at = grid[column.pdf(grid).argmax()] / column.std(), column.std(), np.zeros((0, kind.d))
    while len(at) < kind.k:
        tried = rng.uniform(-10, 10, kind.d)
        if not len(at) or np.linalg.norm(at - tried, axis=1).min() > 6:
            at = np.vstack([at, tried])
    weight, width = kind.sizes ** rng.uniform(0, 1, kind.k), kind.widths ** rng.uniform(-0.5, 0.5, kind.k)
    side, label = rng.choice([-1.0, 1.0], (kind.k, kind.d)), rng.choice(kind.k, n, p=weight / weight.sum())
    away, mode = column.ppf(rng.random((n, kind.d))) / sd, np.full(kind.d, top)
    if kind.dependent:  # log-normal, correlation .4 of the logarithms
        cov = 0.25 * (0.4 + 0.6 * np.eye(kind.d))
        away, mode = np.exp(rng.multivariate_normal(np.zeros(kind.d), cov, n)) / sd, np.exp(-cov.sum(axis=1)) / sd
    return at[label] + away * side[label] * width[label, None], label, at + mode * side * width[:, None], width


def scored(modes: np.ndarray, errors: np.ndarray | None, truth: np.ndarray, width: np.ndarray) -> list[float]:
    """Return the parts of modes found and covered, the number of false ones, and the error for each column."""
    if not len(modes):
        return [0.0, np.nan, 0.0, np.nan]
    gap = np.linalg.norm(modes[:, None] - truth, axis=2) / width
    near = [(gap[:, j].argmin(), j) for j in range(len(truth)) if gap[:, j].min() < 2.5]
    off = [np.abs(modes[i] - truth[j]) / width[j] for i, j in near]
    covered = np.nan if errors is None or not near else np.mean(
        [off[at] <= 2 * errors[i] / width[j] for at, (i, j) in enumerate(near)]
    )  # fmt: skip
    rms = np.sqrt(np.mean(np.square(off))) if near else np.nan
    return [float((gap.min(axis=0) < 1).mean()), float(covered), float((gap.min(axis=1) > 2.5).sum()), float(rms)]


def measured(kind: Kind, seed: int, delta: float) -> tuple[list[float], list[float]]:
    """Fit once; return the scores of the fit and of the oracle."""
    X, label, truth, width = made(kind, seed)
    low, high = X.min(axis=0), X.max(axis=0)
    middle, half = (low + high) / 2, (high - low) / 2 * kind.wide
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        bounds = (middle - half, middle + half)
        model = knoll.ModeSeeking(epsilon=1.0, delta=delta, bounds=bounds, random_state=seed % 1000).fit(X)
    means = np.array([X[label == j].mean(axis=0) for j in range(len(truth))])
    return scored(model.modes_, model.modes_stderr_, truth, width), scored(means, None, truth, width)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--held-out", action="store_true", help="seeds and mixtures that were not tuned on")
    parser.add_argument("--fits", type=int, default=8)
    options = parser.parse_args()
    kinds, first = (HELD_OUT, 70_000) if options.held_out else (TUNED, 30_000)
    table: list[dict[str, Any]] = []
    for delta in (1e-6, 0.0):
        for number, (name, kind) in enumerate(kinds.items()):
            rows = [measured(kind, first + 100 * number + run, delta) for run in range(options.fits)]
            (found, covered, false, rms), oracle = (np.nanmean(each, axis=0) for each in zip(*rows, strict=True))
            table.append({
                "delta": delta, "kind": name, "found": f"{found:.2f}", "covered": f"{covered:.2f}",
                "false modes a fit": f"{false:.2f}", "error for each column": f"{rms:.2f}",
                "oracle: found": f"{oracle[0]:.2f}", "oracle: error": f"{oracle[3]:.2f}",
            })  # fmt: skip
            print(table[-1], flush=True)
    look = " --held-out" if options.held_out else ""
    write(
        f"small-modes{look.replace(' -', '')}", f"python -m benchmarks.small.modes{look} --fits {options.fits}", table
    )


if __name__ == "__main__":
    main()
