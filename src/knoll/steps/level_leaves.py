"""Expectation-maximisation on a tree's leaves for mixtures over numbers and levels: post-processing, and so free.

The first fit to the leaves takes every coordinate as a number (`knoll.steps.start.fit_leaves`). By distances, a large
component whose records differ in one category is split in two before two small components are told apart: so do k-means
and k-prototypes. Here levels are counted as levels, and a component may hold several of them, so that the same leaves
show the small components too.
"""

import numpy as np
from scipy.special import softmax

from knoll.numeric.levels import MixedMixture
from knoll.steps.levels import mixed_start
from knoll.steps.moments import Form
from knoll.steps.tree import Leaves

PRIOR = 0.02  # this part of an average component's records is added at the pooled covariance, so that none collapses
STEPS = 60
# Most numbers: covariances of all leaves take long. Most levels: noisy leaves show no more (of made-up tables, eight
# columns of up to 12 levels gained, of 16 neither gained nor lost, of 25 and 50 lost).
MOST_NUMBERS, MOST_LEVELS = 64, 100
LEVEL_LIFT = 0.01  # part of all shares that levels have alike: none is impossible where leaves show none of it


def leaf_masses(leaves: Leaves) -> np.ndarray:
    """Return the records of each leaf, as far as they can be told from noise; some of at least one leaf."""
    mass = np.where(leaves.count > np.sqrt(leaves.count_variance), leaves.count, 0.0)
    mass[leaves.count.argmax()] = max(float(leaves.count.max()), 1.0)
    return mass


def fit_levels(leaves: Leaves, across: np.ndarray, first: MixedMixture, form: Form) -> MixedMixture:
    """Return a mixture over numbers and levels, fitted to leaves.

    Parameters
    ----------
    leaves : Leaves
        Means in the columns' coordinates; variances along the rows of `across`.
    across : array of shape (axes, q)
        What a unit along each axis is in the numbers.
    first : MixedMixture
        Where the fit begins.
    form : Form
        Of the numbers' covariances.
    """
    domain = first.domain
    at, k, mass = domain.number_places, first.n_components, leaf_masses(leaves)
    if len(at) > MOST_NUMBERS or domain.n_columns - len(at) > MOST_LEVELS:
        return first
    points = domain.clip(leaves.mean)
    inside = np.einsum("ma,ai,aj->mij", leaves.variance, across, across)
    mixture, extra = first, PRIOR * mass.sum() / k
    for step in range(STEPS):
        logs = mixture.log_components(points)
        if len(at):
            logs = logs - np.einsum("kij,mij->mk", np.linalg.inv(mixture.covariances), inside) / 2
        shares = softmax(logs, axis=1) * mass[:, None]
        n = shares.sum(axis=0)
        means = np.where(n[:, None] > 1e-9, shares.T @ points / np.maximum(n, 1e-9)[:, None], mixture.means)
        away = points[None, :, at] - means[:, None, at]
        scatter = np.einsum("mk,kmi,kmj->kij", shares, away, away) + np.einsum("mk,mij->kij", shares, inside)
        pooled = scatter.sum(axis=0) / mass.sum()
        covariances = (scatter + extra * pooled) / (n + extra)[:, None, None]
        lift = {} if step == STEPS - 1 else {"lift": LEVEL_LIFT}
        mixture = mixed_start(domain, (n + extra) / (n + extra).sum(), means, covariances, form, **lift)
    return mixture
