"""Mixtures in several columns: five components with random full covariances, beside a non-private fit and two oracles.

An oracle starts from the non-private fit, and has what the start leaves of the budget: "true start" takes the usual
steps, "moments once" releases the moments of the right components a single time. Their gaps are what noise alone costs.
"""

from typing import Any

import numpy as np
from rich.progress import track
from sklearn.mixture import GaussianMixture as NonprivateMixture

import knoll
from knoll.mixture import Mixture
from knoll.mixture.base import Components
from knoll.mixture.central import NO_HISTOGRAM, START_SHARE, STEPS
from knoll.steps.moments import Belief, walk

QUICK = [(2, 50_000, 1.0, 1e-6), (8, 50_000, 1.0, 1e-6)]
CELLS = [
    (2, 50_000, 1.0, 1e-6), (8, 50_000, 1.0, 1e-6), (8, 5_000, 1.0, 1e-6), (8, 50_000, 0.1, 1e-6),
    (16, 50_000, 1.0, 1e-6), (16, 5_000, 1.0, 1e-6), (16, 50_000, 0.1, 1e-6), (8, 50_000, 1.0, 0.0),
    (8, 5_000, 1.0, 0.0), (16, 50_000, 1.0, 0.0), (16, 5_000, 1.0, 0.0),
]  # fmt: skip


def random_mixture(d: int, k: int, n: int, seed: int) -> np.ndarray:
    rng = np.random.RandomState(seed)
    roots = rng.standard_normal((k, d, d)) / d**0.5
    covariances = roots @ roots.transpose(0, 2, 1) + 0.3 * np.eye(d)
    means = rng.standard_normal((k, d)) * 3 / 2**0.5
    return Mixture(rng.dirichlet(np.full(k, 5.0)), means, covariances).sample(n, rng)


def oracle(best: NonprivateMixture, total: int, steps: int) -> type:
    """Return GaussianMixture with the non-private fit as its start, which is not private."""
    first = Mixture(best.weights_ / best.weights_.sum(), best.means_, best.covariances_)

    class FromTheBest(knoll.GaussianMixture):
        def _search(self, context: Any, k: Any, rng: Any, form: Any) -> Components:
            grant = context.grant.part(1 - START_SHARE)
            belief = walk(grant, steps, context.domain, Belief.start(first, float(total)), form, soft=True)
            return Components.of_belief(belief, more=NO_HISTOGRAM)

    return FromTheBest


def scores_of(X: np.ndarray, epsilon: float, delta: float, seed: int) -> tuple[dict[str, float], float]:
    """Return the mean log-likelihood of every method on one dataset, and how far GaussianMixture shrank."""
    best = NonprivateMixture(5, n_init=3, random_state=seed).fit(X)
    makers = {
        "GaussianMixture": knoll.GaussianMixture,
        "true start": oracle(best, len(X), STEPS),
        "moments once": oracle(best, len(X), 1),
        "EM": knoll.EMGaussianMixture,
        "hard EM": knoll.HardEMGaussianMixture,
        "paper": lambda k, **parameters: knoll.GaussianMixture(k, preset="paper", **parameters),
    }
    common = {"epsilon": epsilon, "delta": delta, "bounds": (-12, 12), "random_state": seed}
    fits = {name: make(5, **common).fit(X) for name, make in makers.items()}
    scores = {"non-private": float(best.score(X))} | {name: fit.score(X) for name, fit in fits.items()}
    return scores, float(fits["GaussianMixture"].shrinkage_.mean())


def dimensions(runs: int, quick: bool) -> list[dict]:
    rows = []
    for d, n, epsilon, delta in track(QUICK if quick else CELLS, description="dimensions"):
        found = [scores_of(random_mixture(d, 5, n, seed), epsilon, delta, seed) for seed in range(runs)]
        scores = {name: np.array([each[0][name] for each in found]) for name in found[0][0]}
        gaps = {name: 100 * (values / scores["non-private"] - 1) for name, values in scores.items()}
        row = {"columns": d, "n": f"{n:,}", "epsilon": f"{epsilon:g}", "delta": f"{delta:g}"}
        row |= {name: f"{values.mean():.2f}" for name, values in scores.items() if name in ("non-private", "paper")}
        for name in ("GaussianMixture", "true start", "moments once", "EM", "hard EM"):
            row[f"{name}: gap"] = f"{gaps[name].mean():.2f} %"
        row["worst gap of GaussianMixture"] = f"{gaps['GaussianMixture'].max():.2f} %"
        rows.append(row | {"shrinkage": f"{np.mean([each[1] for each in found]):.2f}"})
    return rows
