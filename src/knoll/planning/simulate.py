"""Which epsilon? Fit made-up data at several budgets, and compare with k-means without privacy.

Everything is made up or public: no record is protected by these fits, no ledger records them, and their noise is
seeded, so that a plan can be repeated.
"""

import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from knoll import progress
from knoll.cluster import KMeans
from knoll.planning.formula import check_counts
from knoll.planning.made import MOST_ROWS, Trial, made_up, mean_loss, public_rows, scaled, share_found, stand_in
from knoll.planning.result import Expected, SimulatedPlan
from knoll.privacy import Budget, PrivacyError, Relation, User
from knoll.privacy.errors import brief
from knoll.privacy.risk import Risk, risk_of
from knoll.testing import seeded_noise

EPSILONS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
MOST_CLUSTERS = 1000  # of a simulation: beyond, laying out made-up centres takes longer than the fits


def simulate_plan(rows: int | None = None, dims: int | None = None, k: int | Sequence[int] = 5, *,
                  epsilons: Sequence[float] = EPSILONS, delta: float = 1e-6, separation: float = 5.0, like: Any = None,
                  bounds: Any = None, relation: str = "add_remove", cap: int = 1, estimator: Any = None, runs: int = 5,
                  seconds: float = 60.0, random_state: Any = 0, verbose: bool = False) -> SimulatedPlan:  # fmt: skip
    """Fit made-up data of the described kind over a range of epsilon: which epsilon will do, and what it risks.

    Parameters
    ----------
    rows, dims : int
        Records and columns that you expect. With `like`, `dims` is ignored and `rows` are drawn from the stand-in.
    k : int or list of int
        Number of clusters.
    epsilons : sequence of float
        Budgets to compare.
    delta : float
        As in every fit; 0 for pure differential privacy.
    separation : float
        Standard deviations between the centres of the two nearest clusters. 5 is clear, 3 overlaps.
    like : array, DataFrame, path or Source, optional
        PUBLIC rows that resemble the real ones. Never the sensitive data: the plan is not private.
    bounds : Box, Ball, (lower, upper) or dict, optional
        Bounds of the columns of `like`; by default its own range.
    relation : str
        The neighbouring relation.
    cap : int
        Records used per user, if the unit is a user; every made-up user has that many.
    estimator : clusterer, optional
        Method and its own parameters; `KMeans` by default.
    runs : int
        Fits for each number of clusters and epsilon, each with new noise (and new made-up data).
    seconds : float
        No new round of fits begins after this time; one round is always made.
    random_state : int, RandomState or None
        Seed of the made-up data and of the noise.
    verbose : bool
        Show progress.

    Returns
    -------
    plan : SimulatedPlan

    Examples
    --------
    >>> found = simulate_plan(4000, 2, 3, epsilons=[0.01, 1.0], runs=2)
    >>> found.recommended
    1.0
    """
    ks = list(k) if isinstance(k, Sequence | np.ndarray) else [k]
    budgets = sorted({Budget(float(each), delta).epsilon for each in epsilons})
    kind, method = Relation.parse(relation), clone(estimator) if estimator is not None else KMeans()
    rng = check_random_state(random_state)
    if not ks or not budgets:
        raise PrivacyError("give at least one number of clusters and one epsilon")
    public = None if like is None else public_rows(like, bounds, rows, rng)
    if public is None and (rows is None or dims is None):
        raise PrivacyError("give rows and dims, or a public stand-in: like=...")
    n, d = (rows or 0, dims or 0) if public is None else (rows or public.total, public.rows.shape[1])
    _check(n, d, ks, separation, runs, cap)
    used = min(n, MOST_ROWS) if public is None else len(public.rows)

    def trial(clusters: int) -> Trial:
        return made_up(used, d, clusters, float(separation), rng) if public is None else stand_in(public, clusters, rng)

    parameters = {"delta": delta, "relation": str(kind), "scale_by_bounds": True}
    measured, made = _rounds(trial, ks, budgets, method, parameters, int(cap), runs, seconds, rng, verbose)
    risks = tuple(risk_of(each, delta, relation) for each in budgets)
    expected = tuple(_summed(c, r, measured[c, r.epsilon]) for c in ks for r in risks)
    kind_of_data = _described(n, d, ks, separation if public is None else None, cap)
    words = f"{kind_of_data} {type(method).__name__}, {_runs(made)} each."
    notes = _notes(n, used, made, runs, own_range=public is not None and bounds is None)
    return SimulatedPlan(words, used, expected, risks, notes)


def _rounds(trial: Callable[[int], Trial], ks: Sequence[int], epsilons: Sequence[float], method: Any,
            parameters: dict[str, Any], cap: int, runs: int, seconds: float, rng: np.random.RandomState,
            verbose: bool) -> tuple[dict[tuple[int, float], list[np.ndarray]], int]:  # fmt: skip
    """Fit every combination once per round, until there are enough rounds or time is up."""
    measured: dict[tuple[int, float], list[np.ndarray]] = {(c, e): [] for c in ks for e in epsilons}
    began, made, total = time.monotonic(), 0, runs * len(measured)
    with progress.shown("simulating", enabled=verbose):
        while made < runs and (made == 0 or time.monotonic() - began < seconds):
            for i, c in enumerate(ks):
                data = trial(c)
                for j, e in enumerate(epsilons):
                    model = clone(method).set_params(n_clusters=c, epsilon=e, **parameters)
                    measured[c, e].append(_measure(model, data, cap, int(rng.randint(2**31 - 1))))
                    progress.report(
                        f"{c} clusters, epsilon {e:g}", (made * len(measured) + i * len(epsilons) + j + 1) / total
                    )
            made += 1
    return measured, made


def _measure(model: Any, data: Trial, cap: int, seed: int) -> np.ndarray:
    """Fit once; return the share found, the excess loss and the two median standard errors."""
    rows, d = data.rows, data.rows.shape[1]
    model.set_params(bounds=data.domain, random_state=seed, ledger=None)
    if cap > 1:  # users in row order; rows are in random order, so each has rows of any cluster
        model.set_params(unit=User(d, cap))
        rows = np.column_stack([rows, np.arange(len(rows)) // cap])
    with warnings.catch_warnings(), seeded_noise(seed), progress.listening(lambda what, fraction: None):
        warnings.simplefilter("ignore")  # about noise that is seeded, and clusters that it hides: that is the question
        model.fit(rows)
    centres = scaled(model.cluster_centers_, data.domain)
    excess = mean_loss(scaled(data.rows, data.domain), centres) / max(data.loss, 1e-300) - 1
    error = np.median(model.centers_stderr_ / (2 * data.domain.half))
    return np.array([share_found(data.centres, centres), excess, error, np.median(model.cluster_sizes_stderr_)])


def _summed(k: int, risk: Risk, runs: list[np.ndarray]) -> Expected:
    found, excess, centre, size = np.array(runs).T
    loss = float(np.median(excess))
    spread = float(excess.min()), float(excess.max())
    errors = float(np.median(centre)), float(np.median(size))
    return Expected(k, risk.epsilon, float(found.mean()), loss, *spread, *errors, risk.right, len(runs))


def _check(n: int, d: int, ks: Sequence[int], separation: float, runs: int, cap: int) -> None:
    for clusters in ks:
        check_counts(rows=n, dims=d, k=clusters, runs=runs, cap=cap)
        if clusters > min(n, MOST_CLUSTERS):
            most = f"{n:,} records" if n <= MOST_CLUSTERS else f"the {MOST_CLUSTERS:,} of a simulation"
            raise PrivacyError(f"{clusters:,} clusters are more than {most}")
    if not 0 < separation < np.inf:
        raise PrivacyError(f"separation={brief(separation)} must be a positive number of standard deviations")


def _runs(n: int) -> str:
    return "1 run" if n == 1 else f"{n} runs"


def _described(n: int, d: int, ks: Sequence[int], separation: float | None, cap: int) -> str:
    """What is simulated; without a separation, it is a public stand-in."""
    columns = "1 column" if d == 1 else f"{d} columns"
    clusters = "1 cluster" if list(ks) == [1] else f"{' or '.join(f'{k:,}' for k in ks)} clusters"
    kind = " of a public stand-in" if separation is None else ""
    if separation is not None and max(ks) > 1:
        kind = f" at least {separation:g} standard deviations apart"
    users = "" if cap == 1 else f" of users with {cap} each"
    return f"Simulated: {n:,} records{users} in {columns}, {clusters}{kind}."


def _notes(n: int, used: int, made: int, runs: int, *, own_range: bool) -> tuple[str, ...]:
    notes = []
    if own_range:
        notes.append("The bounds are the stand-in's own range; those of the real data may be wider.")
    if used < n:
        notes.append(f"Fitted {used:,} records, to save time; {n:,} give at least as good a result.")
    if made < runs:
        notes.append(f"{made} of {_runs(runs)} each, to save time.")
    return tuple(notes)
