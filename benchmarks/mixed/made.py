"""Made-up tables of numbers and categories with known segments, in five proportions of the two.

A segment has its own mean in every number, and its own shares of levels in every category. Kinds differ in how:

dominant   a segment prefers one level of each category, others share the rest alike
rare       2 to 12 levels, most of them rare everywhere; half of the segments share their favourite level with another
shares     shares of levels are drawn from a Dirichlet distribution: most segments have two or three usual levels
uneven     as `dominant`, the largest segment ten times the smallest
idle       as `dominant`, but a quarter of the columns says nothing of the segments
wide       as `dominant`, numbers fill a third of their declared bounds
many       every category has 50 levels; a segment has five usual ones, which overlap with those of others
together   within a segment, numbers are correlated, and every other category repeats the one before it for half of the
           records: columns are not independent
steep      the largest segment 30 times the smallest, numbers skewed with a long tail
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

PROPORTIONS = ("100/0", "75/25", "50/50", "25/75", "0/100")
TUNED, HELD_OUT = ("dominant", "rare"), ("shares", "uneven", "idle", "wide", "many", "together", "steep")
COLUMNS, LOWER, UPPER = 8, 0.0, 100.0


@dataclass(frozen=True)
class Table:
    """A made-up table: a frame, its segments, what is declared of its columns, the number of segments."""

    name: str
    frame: pd.DataFrame
    segment: np.ndarray
    bounds: dict[str, Any]
    k: int

    @property
    def numbers(self) -> list[str]:
        """Columns of numbers."""
        return [name for name, kind in self.bounds.items() if isinstance(kind, tuple)]

    @property
    def categories(self) -> list[str]:
        """Columns of levels."""
        return [name for name in self.bounds if name not in self.numbers]


def make(kind: str, proportion: str, seed: int, n: int = 20_000) -> Table:
    """Return a made-up table of one kind, with 4 to 8 segments."""
    rng = np.random.default_rng([seed, PROPORTIONS.index(proportion), (*TUNED, *HELD_OUT).index(kind)])
    k = int(rng.integers(4, 9))
    steepest = {"uneven": 10, "steep": 30}.get(kind)
    sizes = rng.uniform(1, 2, k) if steepest is None else np.geomspace(1, steepest, k)
    segment = rng.choice(k, n, p=rng.permutation(sizes) / sizes.sum())
    n_numbers = round(COLUMNS * int(proportion.split("/")[0]) / 100)
    columns: dict[str, Any] = {}
    bounds: dict[str, Any] = {}
    shared = rng.standard_normal(n) if kind == "together" else None
    code = np.zeros(n, dtype=int)
    for j in range(COLUMNS):
        idle = kind == "idle" and j % 4 == 0
        if j < n_numbers:
            columns[f"number{j}"] = _numbers(np.zeros(n, dtype=int) if idle else segment, k, rng, kind, shared)
            bounds[f"number{j}"] = (LOWER, UPPER)
        else:
            levels = [f"level{i}" for i in range(50 if kind == "many" else int(rng.integers(2, 13)))]
            shares = _shares(kind, k, len(levels), rng)
            row = shares[np.zeros(n, dtype=int) if idle else segment].cumsum(axis=1)
            before, code = code, (rng.random((n, 1)) > row).sum(axis=1)
            if kind == "together" and j % 2:
                code = np.where(rng.random(n) < 0.5, before % len(levels), code)
            code = np.minimum(code, len(levels) - 1)
            columns[f"category{j}"] = np.array(levels)[code]
            bounds[f"category{j}"] = set(levels)
    return Table(f"{kind} {proportion} #{seed}", pd.DataFrame(columns), segment, bounds, k)


def _numbers(segment: np.ndarray, k: int, rng: np.random.Generator, kind: str, shared: np.ndarray | None) -> np.ndarray:
    """Return a column of numbers: a mean for each segment, and spreads such that segments overlap in one column."""
    middle, spread, noise = rng.uniform(20, 80, k), rng.uniform(8, 16, k), rng.standard_normal(len(segment))
    if shared is not None:
        noise = 0.7 * shared + np.sqrt(1 - 0.49) * noise
    if kind == "steep":
        noise = np.expm1(0.6 * noise)
    values = middle[segment] + spread[segment] * noise
    return np.clip(values / 3 + 15 if kind == "wide" else values, LOWER, UPPER).round(2)


def _shares(kind: str, k: int, m: int, rng: np.random.Generator) -> np.ndarray:
    """Return the shares of m levels in each of k segments."""
    if kind == "shares":
        return rng.dirichlet(np.full(m, 0.5), k)
    if kind == "many":
        usual = np.stack([rng.permutation(m)[:5] for _ in range(k)])
        return 0.8 * np.eye(m)[usual].mean(axis=1) + 0.2 / m
    if kind == "rare":
        usual = rng.integers(0, max(2, m // 3), k)
        rest = 0.5 ** np.arange(m) + 0.01
    else:
        usual, rest = rng.integers(0, m, k), np.ones(m)
    strength = rng.uniform(0.5, 0.85, (k, 1))
    return strength * np.eye(m)[usual] + (1 - strength) * rest / rest.sum()
