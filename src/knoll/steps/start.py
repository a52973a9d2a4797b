"""The start of a mixture: a tree of released shapes, and expectation-maximisation on its leaves, which is free.

A leaf is a small Gaussian with a released weight, mean and variance per column. The tree is that of `knoll.KMeans`
(steps/tree.py), but finer. The fit to its leaves is post-processing.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import softmax

from knoll.estimator import FitContext
from knoll.numeric.mixture import Mixture, onto_simplex
from knoll.privacy import Ask, Grant, Shares
from knoll.steps.axes import rotated_tree_asks
from knoll.steps.choose import Choice, choice_asks, choose_clusters
from knoll.steps.level_leaves import PRIOR, fit_levels, leaf_masses
from knoll.steps.levels import has_levels, mixed_start
from knoll.steps.moments import Form, restricted
from knoll.steps.refine import solve, synthetic_points
from knoll.steps.search import Searched, search_tree
from knoll.steps.tree import Leaves

# docs/benchmarks.md, "Mixtures" ("Several columns"), measures these together; it varies none of them singly.
FINER = 3  # the tree is grown as if for this many times the components: finer leaves show shapes, but have more noise
STEPS, WIDE = 60, 64  # steps on the leaves; only one with more columns than WIDE, where more take long and gain little


@dataclass(frozen=True)
class StartShares(Shares):
    """Shares of what a start may spend. If there is no rotation, the tree gets the share of the axes."""

    root: float = 0.15
    axes: float = 0.25
    tails: float = 0.1
    tree: float = 0.5


@dataclass(frozen=True)
class ChoiceShares(Shares):
    """Shares of a start that chooses the number of components. Without rotation, the rounds get that of the axes."""

    root: float = 0.05
    axes: float = 0.1
    tails: float = 0.03
    tree: float = 0.26
    rounds: float = 0.4
    votes: float = 0.16


@dataclass(frozen=True)
class Start:
    """A first mixture, the released number of records, and the number of components with its candidates."""

    mixture: Mixture
    total: float
    choice: Choice


def start_asks(n_columns: int, k: int | None) -> list[Ask]:
    """Return the most that a start releases."""
    if k is None:
        return choice_asks(n_columns, ChoiceShares())
    s = StartShares()
    return rotated_tree_asks(n_columns, FINER * k, (s.root, s.axes, s.tails, s.tree))


def start_from_tree(
    context: FitContext, grant: Grant, k: int | None, rng: np.random.RandomState, form: Form,
    asked: tuple[Any, Leaves] | None = None,
) -> Start:  # fmt: skip
    """Release a tree of shapes with a grant and fit a mixture to its leaves. With k None, choose their number.

    `asked` is the grant divided by the shares of a start, and all records as one cell, if these are released already.
    """
    if k is None:
        return _start_from_choice(context, grant, rng, form, asked)
    shares = StartShares()
    undivided = grant.worth((shares.tree + shares.axes) * grant.share)
    grants, root = asked or (grant.split(shares), None)
    found = search_tree(context, grants, k, rng, finer=FINER, without_axes=undivided, root=root)
    weights, means, covariances = fit_leaves(found.leaves, found.seed, found.hedge, k, rng)
    if found.rotation is not None:
        means, covariances = _lift(means, covariances, found.root)
    return _started(context, found, (weights, means, covariances), Choice.given(k), form, found.leaves)


def _start_from_choice(
    context: FitContext, grant: Grant, rng: np.random.RandomState, form: Form, asked: tuple[Any, Leaves] | None
) -> Start:
    """Choose the number of components (choose.py); start from the moments of the clusters found."""
    chosen = choose_clusters(context, grant, ChoiceShares(), rng, asked)
    centres = chosen.centres
    covariances = np.einsum("ki,ij->kij", centres.variance, np.eye(centres.at.shape[1]))
    parts = centres.weight / centres.weight.sum(), centres.at, covariances
    return _started(context, chosen.found, parts, chosen.choice, form)


def _started(
    context: FitContext, found: Searched, parts: tuple[np.ndarray, ...], choice: Choice, form: Form,
    leaves: Leaves | None = None,
) -> Start:  # fmt: skip
    """Return the start in the columns, from weights, means and covariances in the frame of a search.

    With levels, it is fitted to the leaves once more, if there are any, as a mixture of numbers and levels.
    """
    weights, means, covariances = parts
    if found.rotation is None:
        means, turn = found.frame.outside(means), np.diag(context.scales)
    else:
        turn = found.rotation.axes * context.scales
        means = context.domain.centre + means @ turn
    if has_levels(context.domain):
        across = turn[:, context.domain.number_places]
        mixed = mixed_start(context.domain, weights, means, across.T @ covariances @ across, form)
        if leaves is not None:
            mixed = fit_levels(_in_columns(context, found, leaves), across, mixed, form)
        return Start(mixed, float(found.root.count[0]), choice)
    covariances = turn.T @ covariances @ turn
    mixture = Mixture.nearest(weights, context.domain.clip(means), covariances, form.floor)
    return Start(restricted(mixture, form), float(found.root.count[0]), choice)


def _lift(means: np.ndarray, covariances: np.ndarray, root: Leaves) -> tuple[np.ndarray, np.ndarray]:
    """Add the axes that were not searched: there, a component gets the mean and the variance of all records."""
    k, q = means.shape
    d = root.mean.shape[1]
    full = np.tile(np.diag(root.variance[0]), (k, 1, 1))
    full[:, :q, :q] = covariances
    return np.hstack([means, np.tile(root.mean[0, q:], (k, 1))]) if d > q else means, full


def _in_columns(context: FitContext, found: Searched, leaves: Leaves) -> Leaves:
    """Return leaves whose means are in the columns; along axes that were not searched, as those of all records."""
    m, d = len(leaves.count), found.root.mean.shape[1]
    if found.rotation is None:
        return replace(leaves, mean=found.frame.outside(leaves.mean))
    rest = d - leaves.mean.shape[1]
    means = np.hstack([leaves.mean, np.tile(found.root.mean[0, d - rest :], (m, 1))])
    variances = np.hstack([leaves.variance, np.tile(found.root.variance[0, d - rest :], (m, 1))])
    return replace(
        leaves, mean=context.domain.centre + means @ (found.rotation.axes * context.scales), variance=variances
    )


def fit_leaves(
    leaves: Leaves, root: Leaves, hedge: np.ndarray, k: int, rng: np.random.RandomState
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return weights, means and covariances of a mixture fitted to leaves. Each leaf counts as a small Gaussian."""
    centres = solve(*synthetic_points(leaves, hedge, rng), k, rng)
    mass = leaf_masses(leaves)
    d = leaves.mean.shape[1]
    means, weights = centres.at, onto_simplex(centres.weight / centres.weight.sum())
    covariances = np.einsum("ki,ij->kij", np.maximum(centres.variance, 1e-12 * root.variance), np.eye(d))
    extra = PRIOR * mass.sum() / k
    for _ in range(STEPS if d <= WIDE else 1):
        logs = np.log(np.maximum(weights, 1e-300)) - _badness(leaves, means, covariances) / 2
        shares = softmax(logs, axis=1) * mass[:, None]
        n = shares.sum(axis=0)
        weights = (n + extra) / (n + extra).sum()
        means = np.where(n[:, None] > 0, shares.T @ leaves.mean / np.maximum(n, 1e-9)[:, None], means)
        scatter = np.stack([_scatter(leaves, mean, share) for mean, share in zip(means, shares.T, strict=True)])
        pooled = scatter.sum(axis=0) / mass.sum()
        covariances = (scatter + extra * pooled) / (n + extra)[:, None, None]
        covariances += 1e-9 * np.trace(pooled) / d * np.eye(d)
    return weights, means, covariances


def _badness(leaves: Leaves, means: np.ndarray, covariances: np.ndarray) -> np.ndarray:
    """Return minus twice the expected log density of each component over each leaf, (leaves, components)."""
    out = np.empty((len(leaves.count), len(means)))
    for i, (mean, covariance) in enumerate(zip(means, covariances, strict=True)):
        precision = np.linalg.inv(covariance)
        away = leaves.mean - mean
        out[:, i] = np.einsum("mi,mi->m", away @ precision, away) + leaves.variance @ np.diag(precision)
        out[:, i] += np.linalg.slogdet(covariance)[1]
    return out


def _scatter(leaves: Leaves, mean: np.ndarray, share: np.ndarray) -> np.ndarray:
    """Return a component's scatter matrix: that of the leaves about its mean, plus that of records in the leaves."""
    away = leaves.mean - mean
    return (away * share[:, None]).T @ away + np.diag(share @ leaves.variance)
