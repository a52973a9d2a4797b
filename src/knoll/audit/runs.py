"""Running a mechanism on both neighbours, and what an attacker sees of each run.

White box: everything that left the door. The releases of a run on one neighbour are recorded, and the same answers are
replayed on the other, which yields the exact totals that the other would have asked noise for. The noise being
Gaussian or Laplace, their likelihood ratio is known:

    log p(answers | present) - log p(answers | without) = sum over releases of
        (|o - x|^2 - |o - x'|^2) / 2 s^2    or    (|o - x|_1 - |o - x'|_1) / s

with o the answer, x and x' the totals without and with the canary. No test tells the neighbours apart better.
The distance between the totals in units of the noise is what the pair costs, exactly: no statistics needed. And a
replay must publish the same numbers, bit for bit: what it publishes is a function of the answers, or it is a leak.

Black box: the numbers of the fitted model alone.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from knoll.audit.pairs import Pair
from knoll.testing import Transcript, recorded_noise, replayed_noise

Mechanism = Callable[[np.ndarray], Any]
_MOST_NUMBERS = 400
_NOT_PUBLISHED = {"n_features_in_"}


@dataclass(frozen=True)
class Run:
    """What one run shows: the published numbers, the log likelihood ratio and the exact cost of its releases."""

    published: np.ndarray
    ratio: float
    mu_squared: float
    epsilon: float
    leak: str = ""


def look(mechanism: Any, pair: Pair, *, present: bool) -> Run:
    """Run a mechanism on one neighbour with secure noise, replay it on the other, and compare."""
    here, there = (pair.present, pair.without) if present else (pair.without, pair.present)
    with recorded_noise() as first:
        shown = publish(mechanism, here, pair)
    if not first.noisy:
        return Run(shown, 0.0, 0.0, 0.0)
    leak, second = "", None
    try:
        with replayed_noise(first) as second:
            again = publish(mechanism, there, pair)
        if len(second.noisy) < len(first.noisy):
            leak = "it asks for fewer releases on the neighbour, though all answers were the same"
        elif second.scales != first.scales:
            leak = "its noise has another scale on the neighbour, though all answers were the same"
        elif not np.array_equal(shown, again, equal_nan=True):
            leak = "it publishes other numbers on the neighbour, though all answers were the same"
    except (AssertionError, RuntimeError, StopIteration):
        leak = "it asks other questions on the neighbour, though all answers were the same"
    if second is None or len(second.exact) < len(first.exact) or second.scales != first.scales:
        return Run(shown, 0.0, 0.0, 0.0, leak)
    ratio, mu_squared, epsilon = likelihood_ratio(first, second.exact)
    return Run(shown, -ratio if present else ratio, mu_squared, epsilon, leak)


def likelihood_ratio(transcript: Transcript, other: list[np.ndarray]) -> tuple[float, float, float]:
    """Return the log likelihood ratio (other : own) of recorded answers, and the cost: Gaussian mu^2, pure epsilon."""
    ratio = mu_squared = epsilon = 0.0
    for own, exact, noisy, scale, law in zip(
        transcript.exact, other, transcript.noisy, transcript.scales, transcript.laws, strict=True
    ):
        noise = (noisy - own) / scale
        moved = (exact - own) / scale
        if law == "gaussian":
            ratio += float(np.sum(moved * noise) - np.sum(moved**2) / 2)
            mu_squared += float(np.sum(moved**2))
        else:
            ratio += float(np.sum(np.abs(noise) - np.abs(noise - moved)))
            epsilon += float(np.sum(np.abs(moved)))
    return ratio, mu_squared, epsilon


def publish(mechanism: Any, rows: np.ndarray, pair: Pair) -> np.ndarray:
    """Return the numbers that one run of a mechanism publishes."""
    if hasattr(mechanism, "fit"):
        return numbers_of(clone(mechanism).fit(rows), pair.canary)
    return np.ravel(np.asarray(mechanism(rows), dtype=np.float64))


def numbers_of(model: Any, canary: np.ndarray) -> np.ndarray:
    """Return all numbers that a fitted model publishes, and what it says about the canary."""
    found = []
    for name in sorted(vars(model)):
        value = vars(model)[name]
        if name.endswith("_") and name not in _NOT_PUBLISHED and isinstance(value, int | float | np.ndarray):
            array = np.asarray(value)
            if array.dtype.kind in "fiu":
                found.append(array.astype(np.float64).ravel()[:_MOST_NUMBERS])
    for method in ("transform", "score_samples", "predict_proba"):
        if hasattr(model, method):
            found.append(np.sort(np.ravel(getattr(model, method)(canary[None]))))
    return np.concatenate(found) if found else np.zeros(0)
