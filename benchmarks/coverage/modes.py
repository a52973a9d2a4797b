"""Cases for the error bars of modes: mixtures of known densities, whose modes are found on the density itself."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import stats
from scipy.optimize import minimize

import knoll

SIZES = (200, 1000, 5000, 50_000)
EPSILONS = (0.5, 1.0, 4.0)
COLUMNS = (1, 2, 3, 6)
APART, CLOSE = 9.0, 2.7  # standard deviations between components; a close pair has just two modes
LEAST = 0.3  # weight of the smallest component, over that of the largest

# One column of a component: a distribution of standard deviation about one, and where its density is highest.
TUNED: dict[str, Any] = {
    "normal": stats.norm(),
    "log-normal": stats.lognorm(0.6, scale=1.3),
    "very log-normal": stats.lognorm(0.9, scale=0.6),
    "gamma": stats.gamma(3.0, scale=0.58),
    "t": stats.t(5, scale=0.8),
    "close": stats.norm(),
}
HELD_OUT: dict[str, Any] = {
    "gumbel": stats.gumbel_r(scale=0.8),
    "weibull": stats.weibull_min(1.6, scale=1.6),
    "beta": stats.beta(2.0, 6.0, scale=7.0),
    "logistic": stats.logistic(scale=0.55),
    "skewed normal": stats.skewnorm(6.0, scale=1.6),
    "narrow and wide": None,
    "close log-normal": stats.lognorm(0.35, scale=2.0),
}


@dataclass(frozen=True)
class ModeCase:
    """One fit: components of one shape, at random places."""

    kind: str
    n: int
    d: int
    k: int
    epsilon: float
    bounds: str
    seed: int

    @property
    def _column(self) -> Any:
        return {**TUNED, **HELD_OUT}[self.kind] or stats.norm()

    @cached_property
    def _parts(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Places, widths, sides (1 or -1: which way the long tail points) and weights of the components."""
        rng = np.random.default_rng(self.seed)
        d, k = self.d, 2 if "close" in self.kind else self.k
        places = np.zeros((k, d))
        gap = CLOSE if "close" in self.kind else APART
        for i in range(1, k):
            while True:
                places[i] = rng.uniform(-1, 1, d) * gap * k
                if "close" in self.kind:
                    places[i] *= gap / np.linalg.norm(places[i])
                if np.linalg.norm(places[i] - places[:i], axis=1).min() >= gap - 1e-9:
                    break
        side = np.ones((k, d)) if "close" in self.kind else rng.choice([-1.0, 1.0], (k, d))
        width = np.where(np.arange(k) % 2, 0.35, 1.5) if self.kind == "narrow and wide" else np.ones(k)
        weight = np.ones(k) if "close" in self.kind else rng.uniform(LEAST, 1.0, k)
        return places, width, side, weight / weight.sum()

    @cached_property
    def unit(self) -> np.ndarray:
        """Units of the columns."""
        return 10.0 ** np.random.default_rng(self.seed + 2).uniform(-2, 2, self.d)

    def records(self) -> np.ndarray:
        """Draw the records."""
        rng = np.random.default_rng(self.seed + 1)
        places, width, side, weight = self._parts
        label = rng.choice(len(weight), self.n, p=weight)
        away = self._column.ppf(rng.random((self.n, self.d))) * side[label] * width[label, None]
        return (places[label] + away) * self.unit

    def _density(self, points: np.ndarray) -> np.ndarray:
        places, width, side, weight = self._parts
        away = (points[:, None] - places) * side / width[:, None]
        return (self._column.pdf(away) / width[:, None]).prod(axis=2) @ weight

    def modes(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the modes of the density, and its height there, both in units of the columns."""
        places, width, side, _ = self._parts
        grid = np.linspace(self._column.ppf(1e-4), self._column.ppf(0.9999), 20_001)
        top = grid[self._column.pdf(grid).argmax()]
        starts = places + side * width[:, None] * top
        found: list[np.ndarray] = []
        for start in starts:
            at = start
            for _ in range(3):
                at = minimize(
                    lambda x: -float(np.log(max(self._density(x[None])[0], 1e-300))), at, method="Nelder-Mead",
                    options={"xatol": 1e-6, "fatol": 1e-12, "maxiter": 4000, "initial_simplex": _simplex(at)},
                ).x  # fmt: skip
            if all(np.linalg.norm(at - other) > 0.05 for other in found):
                found.append(at)
        modes = np.array(found)
        return modes * self.unit, self._density(modes) / np.prod(self.unit)

    def domain(self, X: np.ndarray) -> knoll.Box | knoll.Ball:
        """Return public bounds that cut nothing: clipped records would pile up on the bounds and make modes there."""
        rng = np.random.default_rng(self.seed + 3)
        low, high = X.min(axis=0), X.max(axis=0)
        middle, half = (low + high) / 2, (high - low) / 2 * rng.uniform(1.05, 1.5)
        return knoll.Box(tuple(middle - half), tuple(middle + half))


def _simplex(at: np.ndarray) -> np.ndarray:
    return np.vstack([at, at + 0.05 * np.eye(len(at))])


def draw_mode_cases(kinds: dict[str, Any], number: int, seed: int, columns: int = 99) -> list[ModeCase]:
    """Draw cases: every factor by itself, so that each level of each is met often."""
    rng = np.random.default_rng(seed)
    names, widths = sorted(kinds), [d for d in COLUMNS if d <= columns]
    return [
        ModeCase(
            names[i % len(names)], int(rng.choice(SIZES)), int(rng.choice(widths)), int(rng.integers(1, 4)),
            float(rng.choice(EPSILONS)), "box", int(rng.integers(2**31)),
        )
        for i in range(number)
    ]  # fmt: skip


def mode_errors(model: Any, case: ModeCase) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return errors and bars of places, in units of the bounds, and of heights: each against the nearest true mode."""
    modes, heights = case.modes()
    if not len(model.modes_):
        return {"centres": (np.empty(0), np.empty(0)), "sizes": (np.empty(0), np.empty(0))}
    unit = model.bounds_.half
    gap = np.linalg.norm((model.modes_[:, None] - modes) / unit, axis=2)
    nearest = gap.argmin(axis=1)
    away = (model.modes_ - modes[nearest]) / unit
    high = heights[nearest]
    return {
        "centres": (away, model.modes_stderr_ / unit),
        "sizes": (model.mode_heights_ / high - 1, model.mode_heights_stderr_ / high),
    }
