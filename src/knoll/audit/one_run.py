"""An audit from a single run, for fits too big to repeat (Steinke, Nasr, Jagielski 2023).

A fair coin puts each of many canaries into the data or leaves it out. After one fit, the attacker guesses the coins of
which they are surest. Guessing better than epsilon allows proves a violation. Under add/remove the coins are
independent of one another, so one run counts like many.

The guesses come from the releases. Replaying the answers on one canary alone tells what that canary adds to every
total. Replaying them on the other rows tells what the rest adds. The coins are then estimated from the answers, by the
linear estimate of least squared error; the noise and the other canaries' coins count as its noise.
"""

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from knoll.audit.evidence import Guarantee, one_run_epsilon
from knoll.audit.nested import declared_by, repeatable, setting
from knoll.audit.published import numbers_of
from knoll.audit.runs import run
from knoll.privacy.errors import PrivacyError
from knoll.testing import Transcript, recorded_noise, replayed_noise

GUESSED = (0.05, 0.2, 0.5)
"""Fractions of the canaries that are guessed, surest first; the confidence is divided among them."""


@dataclass(frozen=True)
class OneRun:
    """What one run showed: `right` of `guesses` about `canaries` coins, and the lower bound on epsilon they prove."""

    guarantee: Guarantee
    confidence: float
    canaries: int
    guesses: int
    right: int
    epsilon: float
    seconds: float

    @property
    def passed(self) -> bool:
        """Whether the bound stays within what was declared."""
        return self.epsilon <= self.guarantee.epsilon

    def __str__(self) -> str:
        return (
            f"One run, {self.canaries:,} canaries: {self.right:,} of {self.guesses:,} guesses are right, so epsilon >= "
            f"{self.epsilon:.4g} at {self.confidence:.1%} confidence; declared {self.guarantee.epsilon:g}."
        )


def audit_one_run(
    mechanism: Any,
    rows: np.ndarray,
    canaries: np.ndarray,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    confidence: float = 0.999,
    score: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None,
) -> OneRun:
    """Audit one fit on `rows` and about half of `canaries`.

    Parameters
    ----------
    mechanism : estimator or callable
        As for `audit`, under add_remove.
    rows : array of shape (n, columns)
        Everybody else.
    canaries : array of shape (m, columns)
        Records whose presence is guessed. The further apart they lie, the better.
    epsilon, delta : float, optional
        What is declared; an estimator's own by default.
    confidence : float, default=0.999
        Of the bound.
    score : callable, optional
        (published numbers, canaries) -> one number per canary, larger where it seems present. By default the
        releases are used.

    Returns
    -------
    OneRun

    Examples
    --------
    >>> import numpy as np
    >>> from knoll.queries import Box, GridHistogram
    >>> histogram = GridHistogram(Box((0, 0), (1, 1)), (20, 20))
    >>> naked = lambda rows: histogram.summarise(rows)  # a histogram without noise
    >>> cells = np.array([(i, j) for i in range(20) for j in range(20)]) / 20 + 0.025
    >>> found = audit_one_run(naked, cells[:0], cells, epsilon=1.0, score=lambda counts, canaries: counts)
    >>> found.passed
    False
    """
    started = time.monotonic()
    guarantee = declared_by(mechanism, epsilon, delta, None)
    if setting(mechanism, "relation", "add_remove") != "add_remove":
        raise PrivacyError("one-run audits need the relation add_remove: a coin decides whether a record is there")
    coins = np.unpackbits(np.frombuffer(secrets.token_bytes(len(canaries) // 8 + 1), np.uint8))[: len(canaries)] == 1
    data = np.vstack([rows, canaries[coins]])
    mechanism = repeatable(mechanism)
    with recorded_noise() as transcript:
        published = numbers_of(run(mechanism, data), canaries[0])
    if score is not None:
        scores = np.asarray(score(published, canaries), dtype=np.float64)
    elif transcript.noisy:
        scores = _estimate(mechanism, transcript, rows, canaries)
    else:
        raise PrivacyError("this mechanism releases nothing through the door; give a score")
    order = np.argsort(-np.abs(scores - np.median(scores)), kind="stable")
    right = np.cumsum(((scores > np.median(scores)) == coins)[order])
    each = 1.0 - (1.0 - confidence) / len(GUESSED)
    tries = [max(1, round(fraction * len(canaries))) for fraction in GUESSED]
    bounds = [one_run_epsilon(len(canaries), r, int(right[r - 1]), guarantee.delta, each) for r in tries]
    best = int(np.argmax(bounds))
    return OneRun(
        guarantee, confidence, len(canaries), tries[best], int(right[tries[best] - 1]), bounds[best],
        time.monotonic() - started,
    )  # fmt: skip


def _estimate(mechanism: Any, transcript: Transcript, rows: np.ndarray, canaries: np.ndarray) -> np.ndarray:
    """Linear estimate of every coin from the answers."""
    noise = [law.standard_deviation(scale) for law, scale in zip(transcript.laws, transcript.scales, strict=True)]

    def added(data: np.ndarray) -> np.ndarray:
        with replayed_noise(transcript) as seen:
            run(mechanism, data)
        return _flat(seen.exact, noise)

    adds = np.stack([added(canary[None]) for canary in canaries])
    moves = adds.any(axis=0)
    adds = adds[:, moves]
    rest = added(rows)[moves] if len(rows) else 0.0
    blurred = _flat(transcript.noisy, noise)[moves] - rest - adds.sum(axis=0) / 2
    spread = np.eye(adds.shape[1]) + adds.T @ adds / 4
    return adds @ np.linalg.solve(spread, blurred)


def _flat(totals: list[np.ndarray], noise: list[float]) -> np.ndarray:
    """All totals as one vector, in units of their noise."""
    return np.concatenate([np.ravel(total) / each for total, each in zip(totals, noise, strict=True)])
