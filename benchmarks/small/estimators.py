"""Small budgets in two and three columns: what other estimators than `KMeans` make of them, the number being given.

loss        of `PEMeans` (and `KMeans`), over the best known non-private one: geometric means over runs
gap         of `GaussianMixture`: nats a record that the log-likelihood is below that of scikit-learn's mixture
ARI         of `MorseClustering` and `ModeClustering` (and `KMeans`): agreement with the true clusters, without
            noise records; `best` is non-private k-means

python -m benchmarks.small.estimators                 kinds that constants were settled on, two columns
python -m benchmarks.small.estimators --held-out      kinds and seeds for the last look
python -m benchmarks.small.estimators --three         three columns, kinds and seeds for the last look
"""

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture as NonprivateMixture
from threadpoolctl import threadpool_limits

import knoll
from benchmarks.common import write
from benchmarks.small.kinds import HELD_OUT, THREE, TUNED, Case
from benchmarks.small.run import best_known, loss
from knoll.numeric.distances import nearest
from knoll.queries import Box

NAMES = ("KMeans", "PEMeans", "GaussianMixture", "MorseClustering", "ModeClustering")


@threadpool_limits.wrap(limits=1)
def best_likelihood(X: np.ndarray, best: np.ndarray) -> float:
    """Return the mean log-likelihood of the best of two non-private mixtures: one starts at the best centres."""
    k, options = len(best), {"reg_covar": 1e-6, "max_iter": 100, "random_state": 0}
    fits = [NonprivateMixture(k, means_init=best, **options), NonprivateMixture(k, **options)]
    return max(float(fit.fit(X).score(X)) for fit in fits)


class Facts:
    """Records of a case, and the best that is known without privacy."""

    def __init__(self, case: Case, starts: int, names: list[str]):
        self.X, self.y, _ = case.labelled()
        self.best = best_known(self.X, case.k, starts)
        self.loss = loss(self.X, self.best)
        self.likelihood = best_likelihood(self.X, self.best) if "GaussianMixture" in names else np.nan

    def agreement(self, labels: np.ndarray) -> float:
        """Return the adjusted Rand index of labels, without noise records."""
        return float(adjusted_rand_score(self.y[self.y >= 0], labels[self.y >= 0]))

    def figures(self, model: Any) -> dict[str, float]:
        """Return the figures of a fitted model by name."""
        if isinstance(model, knoll.GaussianMixture):
            return {"gap": self.likelihood - model.score(self.X)}
        found = {"ARI": self.agreement(model.predict(self.X))}
        if isinstance(model, knoll.KMeans | knoll.PEMeans):
            found["loss"] = loss(self.X, model.cluster_centers_) / self.loss
        return found


def mean(name: str, values: list[float]) -> float:
    """Return the mean: a geometric one of losses."""
    return float(np.exp(np.mean(np.log(values)))) if name.endswith("loss") else float(np.mean(values))


def measured(case: Case, facts: Facts, epsilon: float, options: Any) -> dict[str, Any]:
    """Return a row: means over runs of every figure."""
    row: dict[str, Any] = {"set": case.name, "records": len(facts.X), "epsilon": epsilon}
    row["best: ARI"] = facts.agreement(nearest(facts.X, facts.best))
    box = Box((0.0,) * case.columns, (1.0,) * case.columns)
    for name in options.only:
        found: dict[str, list[float]] = {}
        for run in range(options.runs):
            make: Callable[..., Any] = getattr(knoll, name)
            start = time.process_time()
            model = make(case.k, epsilon=epsilon, delta=options.delta, bounds=box, random_state=run).fit(facts.X)
            took = time.process_time() - start
            for figure, value in [*facts.figures(model).items(), ("seconds", took)]:
                found.setdefault(f"{name}: {figure}", []).append(value)
        row |= {figure: mean(figure, values) for figure, values in found.items()}
    return row


def together(rows: list[dict[str, Any]], epsilon: float) -> dict[str, Any]:
    """Return the means over all sets."""
    some = [row for row in rows if row["epsilon"] == epsilon]
    names = [name for name in some[0] if name not in ("set", "records", "epsilon")]
    means = {name: mean(name, [row[name] for row in some]) for name in names}
    return {"set": "all", "records": "", "epsilon": epsilon, **means}


def shown(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row for readers."""
    return {name: f"{value:.2f}" if isinstance(value, float) and name != "epsilon" else value
            for name, value in row.items()}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--starts", type=int, default=10, help="of non-private k-means")
    parser.add_argument("--epsilons", type=lambda text: [float(each) for each in text.split(",")], default=[0.1, 0.25])
    parser.add_argument("--delta", type=float, default=1e-6)
    parser.add_argument("--only", type=lambda text: text.split(","), default=list(NAMES), help="estimators")
    parser.add_argument("--held-out", action="store_true", help="kinds and seeds for the last look")
    parser.add_argument("--three", action="store_true", help="three columns")
    parser.add_argument("--dry", action="store_true", help="write nothing")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    for case in THREE if options.three else HELD_OUT if options.held_out else TUNED:
        facts = Facts(case, options.starts, options.only)
        for epsilon in options.epsilons:
            rows.append(measured(case, facts, epsilon, options))
            print("  ".join(f"{name} {value}" for name, value in shown(rows[-1]).items()), flush=True)
    rows += [together(rows, epsilon) for epsilon in options.epsilons]
    for row in rows[-len(options.epsilons) :]:
        print("  ".join(f"{name} {value}" for name, value in shown(row).items()))
    flags = [name.replace("_", "-") for name in ("held_out", "three") if getattr(options, name)]
    command = " ".join(["python -m benchmarks.small.estimators", *(f"--{flag}" for flag in flags)])
    if not options.dry:
        write("-".join(["small-estimators", *flags]), f"{command} --runs {options.runs} --starts {options.starts}",
              [shown(row) for row in rows])  # fmt: skip


if __name__ == "__main__":
    main()
