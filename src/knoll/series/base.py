"""What every released kernel sum can do: values, gradients and Hessians at any point."""

from collections.abc import Sequence
from functools import cache
from itertools import combinations_with_replacement
from typing import Protocol

import numpy as np


class Surface(Protocol):
    """What it takes to climb a kernel sum and to tell how sure its tops are."""

    @property
    def bandwidth(self) -> np.ndarray:
        """Of the kernel."""
        ...

    @property
    def noise(self) -> float:
        """Standard error of the privacy noise of the sum."""
        ...

    @property
    def gradient_noise(self) -> np.ndarray:
        """Standard error of the noise of each partial derivative."""
        ...

    def derivatives(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Value, gradient and Hessian."""
        ...


class Rungs(Surface, Protocol):
    """A surface that can be seen with other bandwidths."""

    def at(self, bandwidth: np.ndarray) -> "Rungs":
        """Return the same release, seen with another bandwidth."""
        ...


class BaseSeries:
    """What both kinds of series share."""

    bandwidth: np.ndarray

    @property
    def approximation(self) -> float:
        """Standard error of the kernel itself: none on a grid."""
        return 0.0

    def value(self, points: np.ndarray) -> np.ndarray:
        """Return the kernel sum at points."""
        return self._evaluate(points, [()])[:, 0]

    def gradient(self, points: np.ndarray) -> np.ndarray:
        """Return its gradient."""
        return self._evaluate(points, [(j,) for j in range(points.shape[1])])

    def value_and_gradient(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return both, cheaper than one after the other."""
        both = self._evaluate(points, [(), *((j,) for j in range(points.shape[1]))])
        return both[:, 0], both[:, 1:]

    def derivatives(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return value, gradient and Hessian together."""
        d = points.shape[1]
        orders, of_pair = _up_to_second(d)
        values = self._evaluate(points, orders)
        return values[:, 0], values[:, 1 : 1 + d], values[:, of_pair]

    def _evaluate(self, points: np.ndarray, orders: Sequence[tuple[int, ...]]) -> np.ndarray:
        raise NotImplementedError


@cache
def _up_to_second(d: int) -> tuple[tuple[tuple[int, ...], ...], np.ndarray]:
    """All derivatives up to the second, and the place of each pair of columns among them, (d, d)."""
    pairs = list(combinations_with_replacement(range(d), 2))
    of_pair = np.empty((d, d), dtype=int)
    for place, (i, j) in enumerate(pairs):
        of_pair[i, j] = of_pair[j, i] = 1 + d + place
    return ((), *((j,) for j in range(d)), *pairs), of_pair
