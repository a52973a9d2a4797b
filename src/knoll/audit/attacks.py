"""Attacks: a statistic and a threshold, chosen on training runs, judged on fresh ones.

The choice may be greedy: error rates come from fresh runs, which had no part in it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from knoll.audit.evidence import Guarantee, at_most

_THRESHOLDS = 96  # candidate thresholds of a statistic: more find a better one and take longer
_MOST_VALUES = 300  # numbers with more values than this are too rare each to be counted
_LOWEST_BIT = -1100.0  # stands for zero, which has no lowest bit: below that of every double
_CAUTION = 1e-5  # chance of error of limits in training: small, to favour tests that also do well on fresh runs

Feature = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Attack:
    """One test of one pair, and what it proves.

    Attributes
    ----------
    pair, box, statistic : str
        What was attacked, and how.
    runs : int
        Fresh runs, on both neighbours together.
    false_positive, false_negative : float
        Upper confidence limits of its error rates.
    strength : float
        The smallest mu, or epsilon, that allows them.
    epsilon : float
        The same as an epsilon: a lower bound on the truth.
    """

    pair: str
    box: str
    statistic: str
    runs: int
    false_positive: float
    false_negative: float
    strength: float
    epsilon: float


@dataclass(frozen=True)
class Rule:
    """Say "present" where sign * score exceeds the threshold."""

    name: str
    score: Feature
    sign: float
    threshold: float

    def says(self, outcomes: np.ndarray) -> np.ndarray:
        """Return the verdict on each outcome."""
        return self.sign * self.score(outcomes) > self.threshold


def choose(features: dict[str, Feature], train: tuple[np.ndarray, np.ndarray], guarantee: Guarantee) -> Rule:
    """Return the statistic and threshold that prove most on the training runs (without, present)."""
    best: tuple[float, float, Rule] | None = None
    for name, feature in features.items():
        without, present = feature(train[0]), feature(train[1])
        for sign in (1.0, -1.0):
            cuts, fp, fn = _rates(sign * without, sign * present)
            strength = guarantee.strength(
                at_most(fp * len(without), len(without), _CAUTION), at_most(fn * len(present), len(present), _CAUTION)
            )
            gap = 1.0 - fp - fn
            at = int(np.lexsort((gap, strength))[-1])
            if best is None or (strength[at], gap[at]) > best[:2]:
                best = (float(strength[at]), float(gap[at]), Rule(name, feature, sign, float(cuts[at])))
    assert best is not None
    return best[2]


def judge(
    rule: Rule, fresh: tuple[np.ndarray, np.ndarray], guarantee: Guarantee, chance: float
) -> tuple[float, float, float]:
    """Return (false positive limit, false negative limit, strength) on fresh runs, wrong with probability `chance`."""
    without, present = (rule.says(outcomes) for outcomes in fresh)
    fp = at_most(np.array([without.sum()]), len(without), chance / 2)
    fn = at_most(np.array([len(present) - present.sum()]), len(present), chance / 2)
    return float(fp[0]), float(fn[0]), float(guarantee.strength(fp, fn)[0])


def judge_ratio(
    rule: Rule, fresh: tuple[np.ndarray, np.ndarray], guarantee: Guarantee, chance: float
) -> tuple[float, float, float]:
    """Judge the white box; against a Gaussian curve by all errors together, which is sharper.

    At mu-GDP the mean of the two error rates is at least Phi(-mu / 2). With as many runs on either side, the number of
    errors is a sum of independent trials. Its lower tail is no heavier than that of a binomial at that mean (Hoeffding
    1956). So one Clopper-Pearson limit serves for both.
    """
    if guarantee.kind != "gaussian":
        return judge(rule, fresh, guarantee, chance)
    size = min(len(fresh[0]), len(fresh[1]))
    without, present = (rule.says(outcomes[:size]) for outcomes in fresh)
    errors = without.sum() + size - present.sum()
    mean = at_most(np.array([errors]), 2 * size, chance)
    return float(mean[0]), float(mean[0]), float(guarantee.strength(mean, mean)[0])


def choose_ratio(train: tuple[np.ndarray, np.ndarray], guarantee: Guarantee) -> Rule:
    """Return the white box's test. Outcomes are log likelihood ratios, so only the threshold is chosen.

    Against a Gaussian curve the best threshold is half-way. A pure guarantee is tested best in the tails.
    """
    if guarantee.kind == "gaussian":
        return Rule("likelihood ratio", _as_it_is, 1.0, 0.0)
    return choose({"likelihood ratio": _as_it_is}, train, guarantee)


def _as_it_is(outcomes: np.ndarray) -> np.ndarray:
    return outcomes


def published_features(train: tuple[np.ndarray, np.ndarray], canary: np.ndarray) -> dict[str, Feature]:
    """Return statistics of published numbers, (runs, numbers) -> (runs,).

    They are: each number; its distance from its median without the canary; its lowest set bit, where noise made of
    floats betrays its input; how near the numbers come to the canary's; the projection on the difference of means; and
    the difference of the distances from both medians, which is the likelihood ratio of Laplace noise.
    """
    without, present = train
    typical = np.median(without, axis=0)
    with np.errstate(all="ignore"):
        spread = np.sqrt((without.var(axis=0) + present.var(axis=0)) / 2)
        apart = present.mean(axis=0) - without.mean(axis=0)
    weights = np.divide(apart, spread**2, out=np.sign(apart) * 1e6, where=spread > 0)
    weights[np.abs(apart) < 3 * spread * np.sqrt(1 / len(without) + 1 / len(present))] = 0.0  # only chance
    middles = typical, np.median(present, axis=0)
    width = np.abs(without - typical).mean(axis=0)
    narrow = np.divide(1.0, width, out=np.full(len(width), 1e6), where=width > 0) * (weights != 0)
    clear = np.argsort(-np.abs(np.divide(apart, spread, out=np.abs(apart) * 1e9, where=spread > 0)))[:40]
    features: dict[str, Feature] = {
        "difference of means": lambda x: (x - typical) @ weights,
        "difference of distances": lambda x: (np.abs(x - middles[0]) - np.abs(x - middles[1])) @ narrow,
        "nearest to the canary": lambda x: np.abs(x[:, :, None] - canary).min(axis=(1, 2)),
    }
    if all(len(np.unique(column)) <= _MOST_VALUES for column in np.vstack(train).T):
        features["frequencies of values"] = _frequencies(train)
    for j in clear.tolist():
        features |= _of_number(j, typical[j])
    for j in clear[:8].tolist():
        features[f"number {j}, lowest bit"] = partial(_lowest_bit_of, j)
    return features


def _of_number(j: int, typical: float) -> dict[str, Feature]:
    return {f"number {j}": lambda x: x[:, j], f"number {j}, distance from typical": lambda x: np.abs(x[:, j] - typical)}


def _lowest_bit_of(j: int, outcomes: np.ndarray) -> np.ndarray:
    return lowest_bit(outcomes[:, j])


def _frequencies(train: tuple[np.ndarray, np.ndarray]) -> Feature:
    """Return the log likelihood ratio of numbers that take few values, column by column, as counted in training."""
    tables = []
    for without, present in zip(train[0].T, train[1].T, strict=True):
        values = np.unique(np.concatenate([without, present]))
        counts = [
            np.bincount(np.searchsorted(values, side), minlength=len(values)) + 1.0 for side in (without, present)
        ]
        tables.append((values, np.log(counts[1] / counts[0]) - np.log(counts[1].sum() / counts[0].sum())))

    def score(outcomes: np.ndarray) -> np.ndarray:
        total = np.zeros(len(outcomes))
        for column, (values, ratio) in zip(outcomes.T, tables, strict=True):
            total += ratio[np.minimum(np.searchsorted(values, column), len(values) - 1)]
        return total

    return score


def lowest_bit(numbers: np.ndarray) -> np.ndarray:
    """Return the exponent of the lowest set bit of each double (zero: far below all).

    >>> lowest_bit(np.array([1.0, 0.75, 6.0])).tolist()
    [0.0, -2.0, 1.0]
    """
    mantissa, exponent = np.frexp(np.nan_to_num(numbers, nan=0.0, posinf=0.0, neginf=0.0))
    whole = np.abs(np.ldexp(mantissa, 53)).astype(np.int64)
    trailing = np.log2(np.maximum(whole & -whole, 1).astype(np.float64))
    return np.where(whole == 0, _LOWEST_BIT, exponent - 53.0 + trailing)


def _rates(without: np.ndarray, present: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return candidate thresholds, and the error rates of "above it: present"."""
    pooled = np.unique(np.concatenate([without, present]))
    cuts = pooled if len(pooled) <= _THRESHOLDS else np.quantile(pooled, np.linspace(0, 1, _THRESHOLDS))
    cuts = np.append(cuts, np.nextafter(cuts[0], -np.inf))
    fp = 1.0 - np.searchsorted(np.sort(without), cuts, side="right") / len(without)
    fn = np.searchsorted(np.sort(present), cuts, side="right") / len(present)
    return cuts, fp, fn
