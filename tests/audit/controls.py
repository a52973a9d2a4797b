"""The known mistakes of the field, as small mechanisms, each beside the same thing done right.

Every control declares epsilon = 1 and is a function of (rows, size) -> (size, numbers), or of rows through the door.
`right=True` mends the mistake and nothing else.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from knoll.audit import Pair, hurtful_pairs
from knoll.engines import ArrayEngine
from knoll.privacy import Budget, Curator
from knoll.queries import Box, CellMoments, Nearest
from knoll.queries.query import UNIT, Query

EPSILON = 1.0
RNG = np.random.default_rng()


@dataclass(frozen=True)
class Control:
    make: Any
    pairs: list[Pair]
    batch: bool = True
    delta: float = 0.0
    runs: int = 100_000


def grid_laplace(scale, shape):
    """Laplace noise on a fixed grid, as it should be: the low bits say nothing."""
    return np.rint(RNG.laplace(scale=scale, size=shape) * 2**20) / 2**20


def clipped(rows):
    """Rows in the box and on the same grid; off it, the low bits of a sum would tell."""
    return np.rint(np.clip(rows, -1.0, 1.0) * 2**20) / 2**20


# ---- raw records as starting points -----------------------------------------------------------


def raw_starts(right):
    """One Lloyd step from two starts: the records farthest apart, or public points."""

    def mechanism(rows):
        far = rows[np.argsort(np.linalg.norm(rows - rows[0], axis=1))[[0, -1]]]
        starts = np.array([[-0.5, -0.5], [0.5, 0.5]]) if right else clipped(far)
        door = Curator(ArrayEngine(rows), Budget(EPSILON, 1e-6))
        moments = door.release(CellMoments(Nearest(starts, Box((-1, -1), (1, 1)))), 1.0).value
        seen = moments[:, :1] > 60.0  # a small cluster keeps its start
        return np.where(seen, moments[:, 1:] / np.maximum(moments[:, :1], 1.0), starts)

    return mechanism


# ---- too little noise -------------------------------------------------------------------------


def half_noise(right):
    scale = 1.0 / EPSILON if right else 0.5 / EPSILON
    return lambda rows, size: len(rows) + grid_laplace(scale, (size, 1))


def swapped_halves(right):
    """Half the budget for a count, half for d sums; the sums' half is not divided by d, the count's is."""

    def mechanism(rows, size):
        d = rows.shape[1]
        for_count, for_sum = (EPSILON / 2, EPSILON / 2 / d) if right else (EPSILON / 2 / d, EPSILON / 2)
        count = len(rows) + grid_laplace(1.0 / for_count, (size, 1))
        return np.hstack([count, clipped(rows).sum(axis=0) + grid_laplace(1.0 / for_sum, (size, d))])

    return mechanism


def quiet_empties(right):
    """A histogram over four quarters; the empty ones get no noise."""

    def mechanism(rows, size):
        cell = (clipped(rows) > 0) @ np.array([1, 2])
        counts = np.bincount(cell, minlength=4)
        noise = grid_laplace(1.0 / EPSILON, (size, 4))
        return counts + (noise if right else np.where(counts > 0, noise, 0.0))

    return mechanism


def data_bounds(right):
    """A sum whose bounds are the data's own minimum and maximum."""

    def mechanism(rows, size):
        column = np.rint(rows[:, 0] * 2**20) / 2**20
        low, high = (-1.0, 1.0) if right else (column.min(), column.max())
        reach = max(abs(low), abs(high))
        return np.clip(column, low, high).sum() + reach * grid_laplace(1.0 / EPSILON, (size, 1))

    return mechanism


def one_hot(right):
    """A category as one bit in eight, each bit flipped: two bits differ, so each may cost half of epsilon only."""

    def mechanism(rows, size):
        bits = np.arange(8) == int(rows[0, 0])
        flip = 1.0 / (1.0 + np.exp(EPSILON / 2 if right else EPSILON))
        return (bits ^ (RNG.random((size, 8)) < flip)).astype(float)

    return mechanism


# ---- noise that can be known ------------------------------------------------------------------


def seeded(right):
    def mechanism(rows, size):
        if right:
            return len(rows) + grid_laplace(1.0 / EPSILON, (size, 1))
        return len(rows) + np.repeat(np.random.default_rng(1234).laplace(scale=1.0 / EPSILON), size)[:, None]

    return mechanism


def float_noise(right):
    """A sum of values in [0, 1] with noise in doubles: small results have more bits than the sum could leave them."""

    def mechanism(rows, size):
        noise = grid_laplace(1.0 / EPSILON, (size, 1)) if right else RNG.laplace(scale=1.0 / EPSILON, size=(size, 1))
        return np.clip(rows[:, 0], 0, 1).sum() + noise

    return mechanism


# ---- second moments centred on a noisy mean ---------------------------------------------------


class CentredSquares(Query):
    """Sum of (x - c)^2 over records in [-1, 1]: a record adds up to (1 + |c|)^2, not 1."""

    name = "squares about a released mean"

    def __init__(self, centre, right):
        self.centre = centre
        self.reach = float(UNIT * ((1 + abs(centre)) ** 2 if right else 1.0)) + 1.0
        self.shape, self.weights, self.step = (), np.array(1), np.array(1.0 / UNIT)
        self.touched, self.largest = 1, int(max(1.0, (1 + abs(centre)) ** 2) * UNIT) + 1

    def summarise(self, block):
        squares = np.square(np.clip(block[:, 0], -1, 1) - self.centre)
        return np.array(np.trunc(squares * UNIT).sum(), dtype=np.int64)

    def max_norm(self, norm):
        return self.reach

    def max_difference(self, norm):
        return 2 * self.reach


def noisy_centre(right):
    """Mean, then variance about it. The noisy mean may lie far outside the data's bounds."""

    def mechanism(rows):
        door = Curator(ArrayEngine(rows), Budget(EPSILON, 1e-6))
        moments = door.release(CellMoments(Nearest(np.zeros((1, 1)), Box((-1.0,), (1.0,)))), 0.5).value[0]
        centre = float(moments[1]) / max(float(moments[0]), 1.0)
        return [*moments, float(door.release(CentredSquares(centre, right), 0.5).value)]

    return mechanism


def category_pair():
    first, second = np.array([[0.0]]), np.array([[1.0]])
    return [Pair("another category", first, second, second[0])]


def sum_pair():
    nothing = np.zeros((3, 1))
    return [Pair("nothing but zeros", nothing, np.vstack([nothing, [[1.0]]]), np.ones(1))]


CONTROLS = {
    "raw records as starting points": Control(raw_starts, hurtful_pairs(2), batch=False, delta=1e-6, runs=400),
    "noise half as large": Control(half_noise, hurtful_pairs(2)),
    "budget halves swapped": Control(swapped_halves, hurtful_pairs(10)),
    "empty clusters without noise": Control(quiet_empties, hurtful_pairs(2)),
    "bounds from the data": Control(data_bounds, hurtful_pairs(2)),
    "one-hot flips at epsilon": Control(one_hot, category_pair()),
    "second moments about a noisy mean": Control(noisy_centre, hurtful_pairs(1), batch=False, delta=1e-6, runs=400),
    "seeded noise": Control(seeded, hurtful_pairs(2)),
    "low bits of float noise": Control(float_noise, sum_pair()),
}
