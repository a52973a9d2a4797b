"""Fits of made-up reports for `transcripts.py`: clients draw from secure entropy, so their reports are given instead.

The reports are numbers that every version of a client could have sent, and some that none could.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from transcript_data import Data, boxed

import knoll

GRID = 2**18  # units of a noisy report to half the width of the bounds
NOT_REPORTS = [None, "17", -1, [3, 3], 10**9, 2.5, True, [[1], [2]], {}]


@dataclass(frozen=True)
class LocalCase:
    """A fit to reports."""

    name: str
    parameters: dict[str, Any]
    columns: int
    reports: Callable[[], list[Any]]

    @property
    def data(self) -> Data:
        """Rows to ask the fitted model about."""
        return boxed(np.random.RandomState(3).uniform(-6, 6, size=(60, self.columns)), -5, 5, 1.0)

    def fit(self) -> Any:
        """Return the fitted estimator."""
        model = knoll.LocalGaussianMixture(**{"random_state": 0, "epsilon": 2.0, **self.parameters})
        return model.fit_reports(self.reports() + NOT_REPORTS, model.client(self.columns))


def outputs(bins: int, columns: int = 0, n: int = 500) -> Callable[[], list[Any]]:
    """Return outputs of square waves: two bumps among the bins, one number each or one per column."""

    def make() -> list[Any]:
        rng = np.random.RandomState(0)
        middle = np.where(rng.uniform(size=(n, 1)) < 0.4, 0.25, 0.7)
        drawn = np.floor(bins * (middle + 0.1 * rng.standard_normal((n, max(columns, 1)))))
        whole = drawn.clip(0, bins - 1).astype(int)
        return whole.tolist() if columns else whole[:, 0].tolist()

    return make


def bits(bins: int, n: int = 400) -> list[Any]:
    """Return unary reports: the bins that are set, those of a bump more often."""
    rng = np.random.RandomState(1)
    often = 0.15 + 0.2 * np.exp(-(((np.arange(bins) / bins - 0.3) / 0.1) ** 2))
    return [np.flatnonzero(rng.uniform(size=bins) < often).tolist() for _ in range(n)]


def noisy(columns: int, n: int = 500) -> list[Any]:
    """Return noisy records in grid units."""
    rng = np.random.RandomState(2)
    middle = np.where(rng.uniform(size=(n, 1)) < 0.5, -0.5, 0.4)
    drawn = middle + 0.6 * rng.standard_normal((n, columns))
    return np.rint(GRID * drawn.clip(-3, 3)).astype(int).tolist()


def _case(label: str, columns: int, reports: Callable[[], list[Any]], **parameters: Any) -> LocalCase:
    bounds = ([-5.0] * columns, [5.0] * columns)
    return LocalCase(f"LocalGaussianMixture, {label} | reports", {"bounds": bounds, **parameters}, columns, reports)


WAVE = {"mechanism": "square_wave", "n_bins": 32}
LOCAL = (
    _case("auto", 1, outputs(64), n_components=2),
    _case("square wave", 1, outputs(32), n_components=2, **WAVE),
    _case("square wave, k unknown", 1, outputs(32), n_components=None, **WAVE),
    _case("square wave, small budget", 1, outputs(32), n_components=2, **WAVE | {"epsilon": 0.2, "delta": 0.0}),
    _case("response", 1, outputs(16), n_components=2, mechanism="response", n_bins=16),
    _case("unary", 1, lambda: bits(24), n_components=2, mechanism="unary", n_bins=24),
    _case("waves", 2, outputs(32, 2), n_components=2, **WAVE),
    _case("waves, k unknown", 3, outputs(32, 3, 200), n_components=None, **WAVE),
    _case("noise, gaussian", 2, lambda: noisy(2), n_components=2, mechanism="noise"),
    _case("noise, laplace", 2, lambda: noisy(2), n_components=2, mechanism="noise", delta=0.0),
    _case("noise, k unknown", 3, lambda: noisy(3, 200), n_components=None, mechanism="noise", epsilon=8.0),
    _case("noise, auto", 10, lambda: noisy(10, 200), n_components=1, covariance_floor=0.05),
    _case("nothing arrived", 1, list, n_components=3, **WAVE),
)
