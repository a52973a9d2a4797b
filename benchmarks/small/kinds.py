"""Made-up clusters in two and three columns: some kinds for settling constants, others for the last look alone.

Every kind has k clusters of 100 to 800 records. Lengths are in units of the side of a square (cube) for each cluster.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Draw = Callable[[np.random.RandomState, int, int], np.ndarray]


@dataclass(frozen=True)
class Case:
    """A kind with its number of clusters, records in each, columns and seed."""

    kind: str
    k: int
    least: int
    most: int
    seed: int
    columns: int = 2

    @property
    def name(self) -> str:
        """What tables call it."""
        return f"{self.kind}, k = {self.k}" + (f", {self.columns} columns" if self.columns != 2 else "")

    def records(self) -> tuple[np.ndarray, np.ndarray]:
        """Return records between 0 and 1, and the true centres."""
        X, _, at = self.labelled()
        return X, at

    def labelled(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return records between 0 and 1, their clusters (-1: noise records), and the true centres."""
        rng = np.random.RandomState(self.seed)
        places, shape, noise = KINDS[self.kind]
        side = self.k ** (-1 / self.columns)
        at = PLACES[places](rng, self.k, self.columns)
        parts = [side * shape(rng, int(rng.randint(self.least, self.most + 1)), self.columns) for _ in at]
        X = np.vstack([c + part for c, part in zip(at, parts, strict=True)])
        at = at + np.array([part.mean(axis=0) for part in parts])  # the centre of what was drawn
        y = np.repeat(np.arange(self.k), [len(part) for part in parts])
        X = np.vstack([X, rng.uniform(0, 1, (int(noise * len(X)), self.columns))])
        y = np.concatenate([y, np.full(len(X) - len(y), -1)])
        low, high = np.quantile(X, [0.0003, 0.9997], axis=0)
        return np.clip((X - low) / (high - low), 0.0, 1.0), y, (at - low) / (high - low)


def apart(rng: np.random.RandomState, k: int, d: int, gap: float = 0.6) -> np.ndarray:
    """Return random places that keep a distance; it shrinks if there is no room."""
    found: list[np.ndarray] = []
    while len(found) < k:
        tried = rng.uniform(0.05, 0.95, (500, d))
        free = [c for c in tried if all(np.linalg.norm(c - other) > gap * k ** (-1 / d) for other in found)]
        gap *= 1.0 if free else 0.95
        found += free[:1]
    return np.array(found)


def on_grid(rng: np.random.RandomState, k: int, d: int) -> np.ndarray:
    """Return places on a grid."""
    side = int(np.ceil(k ** (1 / d) - 1e-9))
    return (np.stack(np.meshgrid(*[np.arange(side)] * d), axis=-1).reshape(-1, d)[:k] + 0.5) / side


def in_groups(rng: np.random.RandomState, k: int, d: int) -> np.ndarray:
    """Return groups of four places: near each other, far from the next group."""
    groups = apart(rng, -(-k // 4), d, 0.9)
    near = np.vstack([g + 0.22 * len(groups) ** (-1 / d) * _corners(rng, d) for g in groups])
    return near[:k]


def on_ring(rng: np.random.RandomState, k: int, d: int) -> np.ndarray:
    """Return places on two rings."""
    inner = k // 3
    turn = np.concatenate([np.arange(inner) / inner, np.arange(k - inner) / (k - inner)]) * 2 * np.pi
    radius = np.where(np.arange(k) < inner, 0.22, 0.45)
    flat = 0.5 + radius[:, None] * np.column_stack([np.cos(turn), np.sin(turn)])
    return flat if d == 2 else np.column_stack([flat, rng.uniform(0.1, 0.9, (k, d - 2))])


def cloud(rng: np.random.RandomState, k: int, d: int) -> np.ndarray:
    """Return places that are dense in the middle and thin outside."""
    away = rng.standard_normal((400 * k, d)) * 0.18 + 0.5
    found = [away[0]]
    for c in away:
        if len(found) < k and min(np.linalg.norm(c - other) for other in found) > 0.35 * k ** (-1 / d):
            found.append(c)
    return np.array(found)


def _corners(rng: np.random.RandomState, d: int) -> np.ndarray:
    turn = rng.uniform(0, np.pi)
    flat = np.array([[np.cos(turn + a), np.sin(turn + a)] for a in np.arange(4) * np.pi / 2])
    return flat if d == 2 else np.column_stack([flat, np.tile([0.5, -0.5], 2)])


def gaussian(width: float) -> Draw:
    """Round clusters."""
    return lambda rng, n, d: width * rng.standard_normal((n, d))


def stretched(rng: np.random.RandomState, n: int, d: int) -> np.ndarray:
    """Long clusters, turned."""
    turn = np.linalg.qr(rng.standard_normal((d, d)))[0]
    return 0.15 * (rng.standard_normal((n, d)) * np.array([1.4, 0.4, 0.8][:d])) @ turn


def of_all_widths(rng: np.random.RandomState, n: int, d: int) -> np.ndarray:
    """Round clusters, some five times as wide as others."""
    return 0.12 * np.exp(rng.uniform(-1.0, 0.6)) * rng.standard_normal((n, d))


def heavy(rng: np.random.RandomState, n: int, d: int) -> np.ndarray:
    """Clusters with far records."""
    return 0.08 * rng.standard_t(3, (n, d))


def discs(rng: np.random.RandomState, n: int, d: int) -> np.ndarray:
    """Evenly filled balls of several sizes."""
    away = rng.standard_normal((n, d))
    radius = rng.uniform(0.15, 0.35) * rng.uniform(0, 1, (n, 1)) ** (1 / d)
    return radius * away / np.linalg.norm(away, axis=1, keepdims=True)


def boxes(rng: np.random.RandomState, n: int, d: int) -> np.ndarray:
    """Evenly filled boxes."""
    return rng.uniform(-1, 1, (n, d)) * rng.uniform(0.08, 0.32, d)


def bent(rng: np.random.RandomState, n: int, d: int) -> np.ndarray:
    """Half rings."""
    start, turn = rng.uniform(0, 2 * np.pi), rng.uniform(0, np.pi, n)
    flat = 0.25 * np.column_stack([np.cos(turn + start), np.sin(turn + start)])
    return np.column_stack([flat, np.zeros((n, d - 2))]) + 0.04 * rng.standard_normal((n, d))


def skewed(rng: np.random.RandomState, n: int, d: int) -> np.ndarray:
    """Clusters with a long tail to one side."""
    return 0.1 * rng.gamma(1.5, 1.0, (n, d)) * rng.choice([-1, 1], d)


PLACES = {"apart": apart, "grid": on_grid, "groups": in_groups, "ring": on_ring, "cloud": cloud}
KINDS: dict[str, tuple[str, Draw, float]] = {
    "blobs": ("apart", gaussian(0.13), 0.0), "tight": ("apart", gaussian(0.05), 0.0),
    "wide": ("apart", gaussian(0.2), 0.0), "stretched": ("apart", stretched, 0.0),
    "of all widths": ("apart", of_all_widths, 0.0), "heavy tails": ("apart", heavy, 0.0),
    "grid": ("grid", gaussian(0.15), 0.0), "noisy": ("apart", gaussian(0.1), 0.1),
    "discs": ("apart", discs, 0.0), "boxes": ("grid", boxes, 0.0), "bent": ("apart", bent, 0.0),
    "groups": ("groups", gaussian(0.06), 0.0), "rings": ("ring", gaussian(0.08), 0.0),
    "cloud": ("cloud", gaussian(0.08), 0.0), "skewed": ("apart", skewed, 0.0), "discs, noisy": ("apart", discs, 0.15),
}  # fmt: skip
TUNED = (
    Case("blobs", 8, 100, 800, 1), Case("blobs", 35, 100, 800, 2), Case("tight", 50, 100, 400, 4),
    Case("stretched", 15, 200, 800, 5), Case("of all widths", 25, 100, 800, 6), Case("grid", 100, 100, 300, 7),
    Case("noisy", 12, 200, 800, 8), Case("wide", 40, 300, 800, 9), Case("heavy tails", 16, 100, 800, 10),
)  # fmt: skip
HELD_OUT = (
    Case("discs", 10, 100, 800, 91), Case("boxes", 30, 100, 800, 92), Case("bent", 14, 100, 800, 93),
    Case("groups", 48, 100, 500, 94), Case("rings", 24, 100, 800, 95), Case("cloud", 60, 100, 500, 96),
    Case("skewed", 100, 200, 800, 97), Case("discs, noisy", 18, 100, 800, 98),
)  # fmt: skip
THREE = (
    Case("discs", 10, 100, 800, 81, 3), Case("boxes", 27, 100, 800, 82, 3), Case("groups", 16, 100, 800, 83, 3),
    Case("cloud", 40, 100, 800, 84, 3), Case("skewed", 20, 200, 800, 85, 3),
)  # fmt: skip
