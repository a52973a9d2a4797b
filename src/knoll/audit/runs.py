"""Running a mechanism on both neighbours, and what an attacker sees of each run.

White box: everything that left the door. The releases of a run on one neighbour are recorded. The same answers are
replayed on the other neighbour, which shows the exact totals to which noise would be added there. The noise is Gaussian
or Laplace, so the likelihood ratio is known:

    log p(answers | present) - log p(answers | without) = sum over releases of
        (|o - x|^2 - |o - x'|^2) / 2 s^2    or    (|o - x|_1 - |o - x'|_1) / s

with o the answer, x and x' the totals without and with the canary. No test tells the neighbours apart better. The
distance between the totals, in units of the noise, is the exact cost of the pair, without statistics. A replay must
also have the same state and say the same, byte for byte: what is published must be a function of the answers, or it is
a leak.

Black box: the numbers of the fitted model alone.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from knoll.audit.pairs import Pair
from knoll.audit.published import numbers_of, shown_by, unlike, without_clock
from knoll.diagnose import DiagnosticWarning
from knoll.privacy import Cost
from knoll.testing import Transcript, recorded_noise, replayed_noise

Mechanism = Callable[[np.ndarray], Any]
SAME = "though all answers were the same"


@dataclass(frozen=True)
class Run:
    """What one run shows: the published numbers, the log likelihood ratio and the exact cost of its releases."""

    published: np.ndarray
    ratio: float
    mu_squared: float
    epsilon: float
    releases: int = 0
    leaks: tuple[str, ...] = ()


def look(mechanism: Any, pair: Pair, *, present: bool, closely: bool = True) -> Run:
    """Run a mechanism on one neighbour with secure noise, replay it on the other, and compare.

    The whole state is compared in every run. Texts, files and answers are made and compared on a close look only.
    """
    here, there = (pair.present, pair.without) if present else (pair.without, pair.present)
    with recorded_noise() as first:
        result = run(mechanism, here)
        shown = shown_by(result, pair.canary, closely=closely)
    published = numbers_of(result, pair.canary)
    if not first.noisy:
        return Run(published, 0.0, 0.0, 0.0, leaks=_without_a_door(mechanism, here, there, pair, closely, shown))
    with replayed_noise(first) as second:
        leaks = _compared(mechanism, there, pair, closely, shown, first, second)
    ratio, cost = likelihood_ratio(first, second)
    return Run(published, -ratio if present else ratio, cost.mu_squared, cost.epsilon, len(first.noisy), leaks)


def _without_a_door(
    mechanism: Any, here: np.ndarray, there: np.ndarray, pair: Pair, closely: bool, shown: Any
) -> tuple[str, ...]:
    """Say what repeats on the same data and differs on the neighbour, if an estimator asks nothing through the door.

    What does not repeat may be noise of its own: that is left to the black box.
    """
    if not (closely and hasattr(mechanism, "fit")):
        return ()
    again, other = (shown_by(run(mechanism, rows), pair.canary, closely=closely) for rows in (here, there))
    noisy = set(unlike(shown, again))
    return tuple(
        f"{what} differs on the neighbour, and nothing was released"
        for what in unlike(shown, other)
        if what not in noisy
    )


def run(mechanism: Any, rows: np.ndarray) -> Any:
    """Return what one run of a mechanism publishes: a fitted model, or what a function returned."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DiagnosticWarning)  # remarks on made-up data with recorded noise help nobody
        return without_clock(clone(mechanism).fit(rows)) if hasattr(mechanism, "fit") else mechanism(rows)


def _compared(
    mechanism: Any, rows: np.ndarray, pair: Pair, closely: bool, shown: Any, first: Transcript, second: Transcript
) -> tuple[str, ...]:
    """Replay on the other neighbour, and say what is not the same there."""
    try:
        again = shown_by(run(mechanism, rows), pair.canary, closely=closely)
    except (AssertionError, RuntimeError):
        return (f"it asks other questions on the neighbour, {SAME}",)
    if len(second.noisy) < len(first.noisy):
        return (f"it asks for fewer releases on the neighbour, {SAME}",)
    if second.scales != first.scales:
        return (f"its noise has another scale on the neighbour, {SAME}",)
    return tuple(f"{what} differs on the neighbour, {SAME}" for what in unlike(shown, again))


def likelihood_ratio(transcript: Transcript, other: Transcript) -> tuple[float, Cost]:
    """Return the log likelihood ratio (other : own) of recorded answers, and what they cost.

    If a replay goes another way, only the answers before that count: they cost no more than all answers.
    """
    ratio, cost = 0.0, Cost()
    own_laws, other_laws = (zip(each.laws, each.scales, strict=True) for each in (transcript, other))
    for own, exact, noisy, (law, scale), theirs in zip(
        transcript.exact, other.exact, transcript.noisy, own_laws, other_laws, strict=False
    ):
        if theirs != (law, scale):
            break
        noise = (noisy - own) / scale
        moved = (exact - own) / scale
        ratio += float(np.sum(law.log_density(noise - moved) - law.log_density(noise)))
        cost += law.cost(float(np.linalg.norm(moved.ravel(), law.norm)))
    return ratio, cost
