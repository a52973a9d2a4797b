"""Centres and their cells; joining pairs of them, and swapping centres: merge a cheap pair, split a wide cell."""

import math
from dataclasses import dataclass

import numpy as np

from knoll.numeric.ward import Joins, averages, ward
from knoll.steps.tree import HALF_MEAN, HALF_VARIANCE

SWAP = 1.3  # swap centres if the split gains this many times what the merge costs: above 1, since both are noisy
MOST_SWAPPED = 2000  # centres up to which swaps are tried: more take longer


@dataclass
class Centres:
    """Centres, the variances of their cells per column, the weights of the cells, and squared errors of the centres."""

    at: np.ndarray
    variance: np.ndarray
    weight: np.ndarray
    error: np.ndarray


def with_variances(at: np.ndarray, points: np.ndarray, weights: np.ndarray, labels: np.ndarray) -> Centres:
    """Return centres with the weights and variances of their points. Variances of small cells shrink to the common."""
    k = len(at)
    weight = np.maximum(np.bincount(labels, weights, k), 1e-9)
    squares = np.zeros(at.shape)
    np.add.at(squares, labels, weights[:, None] * (points - at[labels]) ** 2)
    extra = 0.1 * weight.mean()
    variance = (squares + extra * squares.sum(axis=0) / weight.sum()) / (weight + extra)[:, None]
    return Centres(at, variance, weight, np.zeros(k))


def fused(centres: Centres, k: int) -> Centres:
    """Merge the pairs of centres that cost least (Ward), until k are left."""
    group = ward(centres.at, centres.weight, k, centres.error)
    at, weight = averages(centres.at, centres.weight, group), np.bincount(group, centres.weight)
    variance = averages(centres.variance + np.square(centres.at - at[group]), centres.weight, group)
    error = np.bincount(group, np.square(centres.weight / weight[group]) * centres.error)
    return Centres(at, variance, weight, error)


def merge(centres: Centres, i: int, j: int) -> None:
    """Make one centre the union of itself and another."""
    at, variance, weight, error = vars(centres).values()
    part = weight[j] / (weight[i] + weight[j])
    variance[i] += part * (variance[j] - variance[i]) + part * (1 - part) * np.square(at[j] - at[i])
    at[i] += part * (at[j] - at[i])
    error[i] = (1 - part) ** 2 * error[i] + part**2 * error[j]
    weight[i] += weight[j]


def swap(centres: Centres, visible: np.ndarray, last: np.ndarray) -> bool:
    """While this gains clearly, merge the cheapest pair of centres and split the widest cell. Released values only."""
    at, variance, weight, error = vars(centres).values()
    swapped = False
    if not 2 < len(at) <= MOST_SWAPPED:
        return swapped
    joins = Joins(at, weight, error)
    for _ in range(max(1, len(at) // 10)):
        gain = np.where(visible, HALF_MEAN**2 * weight * variance.max(axis=1), 0.0)
        wide = int(gain.argmax())
        joins.hide(wide)
        i, j, cost = joins.cheapest()
        if not gain[wide] > SWAP * cost:
            break
        merge(centres, i, j)
        axis = int(variance[wide].argmax())
        s = math.sqrt(variance[wide, axis])
        at[j] = at[wide]
        at[j, axis] += HALF_MEAN * s
        at[wide, axis] -= HALF_MEAN * s
        variance[wide, axis] *= HALF_VARIANCE
        variance[j], error[j] = variance[wide], error[wide]
        weight[wide] = weight[j] = weight[wide] / 2
        last[[wide, i, j]], swapped = 0.0, True
        joins.update(np.array([wide, i, j]))
    return swapped
