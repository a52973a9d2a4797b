"""The audit: run on pairs that hurt, train attacks, judge them on fresh runs, and compare with what was declared."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from knoll.audit.attacks import Attack, choose, choose_ratio, judge, judge_ratio, published_features
from knoll.audit.evidence import Guarantee
from knoll.audit.nested import declared_by, domain_of, repeatable, setting, title_of
from knoll.audit.pairs import Pair, hurtful_pairs
from knoll.audit.runs import run
from knoll.audit.verdict import Audit
from knoll.audit.watch import Batch, OneByOne, See, affordable, padded
from knoll.privacy.accounting import epsilon_for
from knoll.privacy.errors import PrivacyError

TRAINING = 0.2
"""Fraction of the runs on which attacks are trained and the worst pair is chosen."""

WORST = 0.8
"""Fraction of the other runs, and of the chance of error, that goes to the pair that looks worst in training."""

WHITE = 0.75
"""Fraction of a pair's chance of error that goes to the white box."""

_LEAST_TRAINING = 4  # least training runs of each neighbour of each pair: with fewer there is nothing to choose by


def audit(
    mechanism: Any,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    gaussian: bool | None = None,
    pairs: list[Pair] | None = None,
    columns: int = 2,
    runs: int = 1000,
    confidence: float = 0.999,
    batch: bool = False,
    seconds: float = 600.0,
    name: str | None = None,
    verbose: bool = False,
) -> Audit:
    """Attack an estimator or a callable, and return a lower bound on its epsilon.

    Parameters
    ----------
    mechanism : estimator or callable
        An unfitted estimator (it is cloned for every run), also a whole pipeline or search, or a function from rows, an
        array of shape (rows, columns), to the numbers that it publishes. Noise is drawn from the secure source; results
        are thrown away, no ledger is charged, and searches run in one thread.
    epsilon, delta : float, optional
        What is declared; by default an estimator's own, or that of the estimator inside a pipeline or search, as its
        `privacy_` will say. A callable must say its epsilon; delta is 0 by default.
    gaussian : bool, optional
        Whether the claim is that of a Gaussian release (see `Guarantee`). So by default for an estimator with
        delta > 0.
    pairs : list of Pair, optional
        Neighbours; by default `hurtful_pairs` within the bounds that the estimator was given, else in [-1, 1]^columns.
        (Default pairs that a pipeline or search refuses to fit are left out, for example with too few rows to split.)
    columns : int, default=2
        Columns of the default pairs, unless the bounds tell.
    runs : int, default=1000
        Runs in all. A fifth trains the attacks, on all pairs alike. Of the rest, four fifths go to the pair that looks
        worst, and the other pairs share what is left.
    confidence : float, default=0.999
        Probability that all bounds hold together: the chance of error is divided as the runs are.
    batch : bool, default=False
        The callable takes (rows, size) and returns `size` independent outcomes at once, one per row.
    seconds : float, default=600
        If a few trial runs say that `runs` would take longer than this, fewer are made.
    name : str, optional
        What to call it.
    verbose : bool, default=False
        Show progress.

    Returns
    -------
    Audit

    Examples
    --------
    >>> broken = lambda rows: [len(rows)]  # a count without noise
    >>> found = audit(broken, epsilon=1.0, runs=400)
    >>> found.passed
    False
    """
    guarantee = declared_by(mechanism, epsilon, delta, gaussian)
    pairs = default_pairs(mechanism, columns) if pairs is None else pairs
    batch = batch or getattr(mechanism, "batch", False)
    if not 0.5 < confidence < 1.0 or runs < 1 or not pairs:
        raise PrivacyError("an audit needs a confidence between 0.5 and 1, at least one run and one pair")
    started = time.monotonic()
    see = Batch(mechanism) if batch else OneByOne(mechanism)
    runs = affordable(see, pairs, runs, seconds)
    each = max(_LEAST_TRAINING, round(runs * TRAINING / (2 * len(pairs))))
    left = max(runs - 2 * each * len(pairs), 2 * each * len(pairs))
    with _progress(verbose, 2 * each * len(pairs) + left) as step:
        trained = [_Trained(see, pair, each, guarantee, step) for pair in pairs]
        worst = max(range(len(pairs)), key=lambda i: trained[i].promise)
        sizes, chances = (_divided(whole, worst, len(pairs)) for whole in (left // 2, 1.0 - confidence))
        attacks, ratios = [], {}
        for one, size, chance in zip(trained, sizes, chances, strict=True):
            fresh = one.watch(max(int(size), 2), step)
            attacks += one.judged(fresh, chance)
            if one.white:
                ratios[one.pair.name] = fresh.ratios
    used = {one.pair.name: guarantee.epsilon_of(_cost(one, guarantee)) for one in trained if one.white}
    done, releases = sum(one.count for one in trained), max(one.releases for one in trained)
    return Audit(
        name or title_of(mechanism), guarantee, confidence, tuple(attacks), used, _leaks(trained), ratios, done,
        time.monotonic() - started, releases,
    )  # fmt: skip


@dataclass(frozen=True)
class _Observed:
    """Outcomes of runs on both neighbours: (without, present)."""

    published: tuple[np.ndarray, np.ndarray]
    ratios: tuple[np.ndarray, np.ndarray]


class _Trained:
    """One pair, what its training runs showed, and the attacks chosen from them."""

    def __init__(self, see: See, pair: Pair, size: int, guarantee: Guarantee, step: Callable[[int], None]):
        self.pair, self.guarantee, self._see = pair, guarantee, see
        self.mu_squared = self.epsilon = 0.0
        self.leaks: set[str] = set()
        self.white, self.count, self.releases = False, 0, 0
        self._width = 0
        seen = self.watch(size, step)
        self._width = max(outcomes.shape[1] for outcomes in seen.published)
        self.rules = {}
        if self._width:
            without, present = (padded(outcomes, self._width) for outcomes in seen.published)
            published = without, present
            self.rules["black"] = choose(published_features(published, pair.canary), published, guarantee)
        if self.white:
            self.rules["white"] = choose_ratio(seen.ratios, guarantee)
        self.promise = (len(self.leaks), self.mu_squared + self.epsilon, self._gap(seen))

    def watch(self, size: int, step: Callable[[int], None]) -> _Observed:
        """Make `size` runs on each neighbour."""
        sides = []
        for present in (False, True):
            published, found = self._see(self.pair, size, present=present, step=step)
            self.count += size
            for each in found:
                self.mu_squared = max(self.mu_squared, each.mu_squared)
                self.epsilon = max(self.epsilon, each.epsilon)
                self.releases = max(self.releases, each.releases)
                self.leaks |= set(each.leaks)
            self.white = self.white or self.mu_squared + self.epsilon > 0
            sides.append((published, np.array([each.ratio for each in found])))
        return _Observed((sides[0][0], sides[1][0]), (sides[0][1], sides[1][1]))

    def judged(self, fresh: _Observed, chance: float) -> list[Attack]:
        """Return what the chosen attacks prove on fresh runs."""
        attacks = []
        for box, rule in self.rules.items():
            shown = (padded(fresh.published[0], self._width), padded(fresh.published[1], self._width))
            white = box == "white"
            outcomes = fresh.ratios if white else shown
            part = 1.0 if len(self.rules) == 1 else WHITE if white else 1.0 - WHITE
            fp, fn, strength = (judge_ratio if white else judge)(rule, outcomes, self.guarantee, part * chance)
            size = len(outcomes[0]) + len(outcomes[1])
            epsilon = self.guarantee.epsilon_of(strength)
            attacks.append(Attack(self.pair.name, box, rule.name, size, fp, fn, strength, epsilon))
        return attacks

    def _gap(self, seen: _Observed) -> float:
        """How well the black box did in training."""
        if "black" not in self.rules:
            return 0.0
        without, present = (self.rules["black"].says(padded(each, self._width)) for each in seen.published)
        return float(abs(present.mean() - without.mean()))


def _divided(whole: float, first: int, count: int, part: float = WORST) -> list[float]:
    """Divide a whole: `part` of it goes to one pair, and the others share the rest equally."""
    if count == 1:
        return [whole]
    parts = [whole * (1 - part) / (count - 1)] * count
    parts[first] = whole * part
    return parts


def default_pairs(mechanism: Any, columns: int) -> list[Pair]:
    """Return the default neighbours; of a pipeline or search, those that it can be fitted to."""
    own = getattr(mechanism, "pairs", None)
    if own:
        return own
    domain = domain_of(setting(mechanism, "bounds", None), columns)
    lower, upper = domain.centre - domain.half, domain.centre + domain.half
    relation = setting(mechanism, "relation", "add_remove")
    pairs = hurtful_pairs(domain.n_columns, relation=relation, lower=lower, upper=upper)
    if hasattr(mechanism, "epsilon") or not hasattr(mechanism, "fit"):
        return pairs
    model, fitted, refusal = repeatable(mechanism), [], ""
    for pair in pairs:
        try:
            for rows in (pair.without, pair.present):
                run(model, rows)
            fitted.append(pair)
        except ValueError as error:
            refusal = str(error)
    if not fitted:
        raise PrivacyError(f"it can be fitted to none of the made-up neighbours: {refusal}")
    return fitted


def _leaks(trained: list[_Trained]) -> tuple[str, ...]:
    """Return every leak once, with the pairs that show it."""
    found: dict[str, list[str]] = {}
    for one in trained:
        for leak in one.leaks:
            found.setdefault(leak, []).append(one.pair.name)
    names = {leak: "every pair" if len(on) == len(trained) > 1 else ", ".join(on) for leak, on in found.items()}
    return tuple(f"{leak} ({names[leak]})" for leak in sorted(found))


def _cost(one: _Trained, guarantee: Guarantee) -> float:
    """Exact cost as a strength: mu for a Gaussian guarantee, else a pure epsilon (Gaussian parts at its delta)."""
    if guarantee.kind == "gaussian":
        return float(np.sqrt(one.mu_squared)) if not one.epsilon else float("inf")
    return one.epsilon + epsilon_for(float(np.sqrt(one.mu_squared)), guarantee.delta)


@contextmanager
def _progress(shown: bool, runs: int) -> Iterator[Callable[[int], None]]:
    if not shown:
        yield lambda size: None
        return
    import sys

    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(file=sys.stderr)
    columns = (TextColumn("auditing"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=runs)
        yield lambda size: bar.update(task, advance=size)
