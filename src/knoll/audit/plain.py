"""A single release, audited in the white box with its noise drawn many times at once."""

import math
import time

import numpy as np

from knoll.audit.attacks import Attack, choose_ratio, judge_ratio
from knoll.audit.core import TRAINING
from knoll.audit.evidence import Guarantee
from knoll.audit.pairs import Pair
from knoll.audit.verdict import Audit
from knoll.engines import ArrayEngine
from knoll.privacy import Budget, Curator, Relation, epsilon_for
from knoll.privacy.laws import Law
from knoll.privacy.query import QueryProtocol
from knoll.privacy.sources import NoiseSource, WordNoise, noise_source


class _Many:
    """Draws the noise of one release many times; the first draw leaves the door."""

    private, label = False, "noise drawn many times"

    def __init__(self, source: NoiseSource, size: int):
        self._source, self._size = source, size

    def perturb(self, total: np.ndarray, law: Law, scale: float) -> np.ndarray:
        many = np.broadcast_to(total, (self._size, *total.shape))
        self.exact, self.law, self.scale = total, law, scale
        self.noisy = self._source.perturb(np.ascontiguousarray(many), law, scale)
        return self.noisy[0]


def audit_release(
    query: QueryProtocol,
    pair: Pair,
    *,
    epsilon: float = 1.0,
    delta: float = 1e-6,
    relation: str = "add_remove",
    runs: int = 1_000_000,
    confidence: float = 0.999,
    source: NoiseSource | None = None,
) -> Audit:
    """Audit one release of one query with the whole budget, through the real door.

    Parameters
    ----------
    query : Query
        What to release.
    pair : Pair
        The neighbours.
    epsilon, delta, relation
        The budget, and what neighbours are.
    runs : int, default=1_000_000
        Draws of the noise, on both neighbours together.
    confidence : float, default=0.999
        Of the bound.
    source : NoiseSource, optional
        The sampler under audit; the secure one by default.

    Examples
    --------
    >>> from knoll.audit import hurtful_pairs
    >>> from knoll.queries import Count
    >>> found = audit_release(Count(), hurtful_pairs()[0], epsilon=1.0)
    >>> 0.8 < found.epsilon <= 1.0
    True
    """
    started = time.monotonic()
    budget = Budget(epsilon, delta)
    guarantee = Guarantee(epsilon, delta, "gaussian" if budget.law.gdp else "approximate")
    sides = [_draw(query, rows, budget, relation, runs // 2, source) for rows in (pair.without, pair.present)]
    without, present = sides
    ratios = tuple(_ratio(side, without.exact, present.exact) for side in sides)
    cut = round(TRAINING * len(ratios[0]))
    rule = choose_ratio((ratios[0][:cut], ratios[1][:cut]), guarantee)
    fresh = (ratios[0][cut:], ratios[1][cut:])
    fp, fn, strength = judge_ratio(rule, fresh, guarantee, 1.0 - confidence)
    size = len(fresh[0]) + len(fresh[1])
    attack = Attack(pair.name, "white", rule.name, size, fp, fn, strength, guarantee.epsilon_of(strength))
    moved = ((present.exact - without.exact) / without.scale).astype(np.float64)
    cost = budget.law.cost(float(np.linalg.norm(moved.ravel(), budget.norm)))
    used = cost.epsilon + epsilon_for(math.sqrt(cost.mu_squared), delta)
    seconds = time.monotonic() - started
    return Audit(query.name, guarantee, confidence, (attack,), {pair.name: used}, (), {pair.name: fresh}, runs, seconds)


def _draw(
    query: QueryProtocol, rows: np.ndarray, budget: Budget, relation: str, size: int, source: NoiseSource | None
) -> _Many:
    many = _Many(WordNoise() if source is None else source, size)
    token = noise_source.set(many)
    try:
        Curator(ArrayEngine(rows), budget, relation=Relation.parse(relation)).release(query, 1.0)
    finally:
        noise_source.reset(token)
    return many


def _ratio(side: _Many, without: np.ndarray, present: np.ndarray) -> np.ndarray:
    """Log likelihood ratio (present : without) of every draw."""
    last = tuple(range(1, side.noisy.ndim))
    absent, there = (side.law.log_density((side.noisy - exact) / side.scale) for exact in (without, present))
    return np.sum(there - absent, axis=last)
