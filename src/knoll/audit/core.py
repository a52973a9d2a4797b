"""The audit: run on pairs that hurt, train attacks, judge them on fresh runs, and compare with what was declared."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from knoll.audit.attacks import Attack, choose, choose_ratio, judge, judge_ratio, published_features
from knoll.audit.evidence import Guarantee
from knoll.audit.pairs import Pair, hurtful_pairs
from knoll.audit.runs import Run, look
from knoll.privacy.accounting import epsilon_for
from knoll.privacy.errors import PrivacyError

TRAINING = 0.2
"""Fraction of the runs on which attacks are trained and the worst pair is chosen."""

WORST = 0.8
"""Fraction of the other runs, and of the chance of error, that goes to the pair that looks worst in training."""

WHITE = 0.75
"""Fraction of a pair's chance of error that goes to the white box."""

_LEAST_TRAINING = 4  # runs of each neighbour of each pair
_PILOT = 2


@dataclass(frozen=True)
class Audit:
    """What an audit found.

    Attributes
    ----------
    name : str
        What was audited.
    guarantee : Guarantee
        What was declared.
    confidence : float
        All bounds hold together with this probability.
    attacks : tuple of Attack
        One for each pair and box.
    used : dict
        Exact cost of each pair's releases, as an epsilon at the declared delta: the largest of all runs. No
        statistics, but it takes the noise for what it says it is.
    leaks : tuple of str
        Anything published that was not a function of the releases.
    ratios : dict
        Log likelihood ratios of the fresh runs (without, present) of each pair: the trade-off curve.
    runs : int
        Runs made, training included.
    seconds : float
        How long it took.
    """

    name: str
    guarantee: Guarantee
    confidence: float
    attacks: tuple[Attack, ...]
    used: dict[str, float]
    leaks: tuple[str, ...]
    ratios: dict[str, tuple[np.ndarray, np.ndarray]]
    runs: int
    seconds: float

    @property
    def worst(self) -> Attack:
        """The attack that proves most."""
        return max(self.attacks, key=lambda attack: (attack.epsilon, attack.strength))

    @property
    def epsilon(self) -> float:
        """The lower bound on epsilon; infinite if there is a leak."""
        return float("inf") if self.leaks else self.worst.epsilon

    @property
    def most_used(self) -> float:
        """The largest exact cost over all pairs (0 if nothing went through the door)."""
        return max(self.used.values(), default=0.0)

    @property
    def passed(self) -> bool:
        """Whether nothing exceeds what was declared."""
        return not self.leaks and max(self.epsilon, self.most_used) <= self.guarantee.epsilon

    def bound(self, box: str) -> float:
        """Return the largest lower bound of one box ("white" or "black"), 0 if it was not tried."""
        return max((attack.epsilon for attack in self.attacks if attack.box == box), default=0.0)

    def __str__(self) -> str:
        worst, declared = self.worst, self.guarantee
        how = f"{worst.box} box, {worst.pair}: {worst.statistic}" if worst.epsilon else "so few prove nothing"
        lines = [
            f"{self.name}: declared epsilon = {declared.epsilon:g}, delta = {declared.delta:g}.",
            f"Lower bound: epsilon >= {worst.epsilon:.4g} at {self.confidence:.1%} confidence "
            f"({self.runs:,} runs, {self.seconds:.0f} s; {how}).",
        ]
        if self.used:
            pair = max(self.used, key=lambda name: self.used[name])
            lines.append(f"Exact cost of the worst releases seen: epsilon = {self.most_used:.4g} ({pair}).")
        lines += [f"LEAK: {leak}." for leak in self.leaks]
        lines.append("Passed: nothing exceeds what is declared." if self.passed else "FAILED: this is not private.")
        return "\n".join(lines)


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
        An unfitted estimator (it is cloned for every run), or a function from rows, an array of shape (rows,
        columns), to the numbers that it publishes. Noise is drawn from the secure source; results are thrown away.
    epsilon, delta : float, optional
        What is declared; an estimator's own by default. A callable must say its epsilon; delta is 0 by default.
    gaussian : bool, optional
        Whether the claim is that of a Gaussian release (see `Guarantee`). So by default for an estimator with
        delta > 0.
    pairs : list of Pair, optional
        Neighbours; by default `hurtful_pairs` in the box [-1, 1]^columns.
    columns : int, default=2
        Columns of the default pairs.
    runs : int, default=1000
        Runs in all. A fifth trains the attacks, on all pairs alike; four fifths of the rest go to the pair that looks
        worst, the others share what is left.
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
    guarantee = _declared(mechanism, epsilon, delta, gaussian)
    if pairs is None:
        pairs = getattr(mechanism, "pairs", None) or hurtful_pairs(
            columns, relation=getattr(mechanism, "relation", "add_remove")
        )
    batch = batch or getattr(mechanism, "batch", False)
    if not 0.5 < confidence < 1.0 or runs < 1 or not pairs:
        raise PrivacyError("an audit needs a confidence between 0.5 and 1, at least one run and one pair")
    started = time.monotonic()
    see = _Batch(mechanism) if batch else _OneByOne(mechanism)
    runs = _affordable(see, pairs, runs, seconds)
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
    leaks = sorted({f"{leak} ({one.pair.name})" for one in trained for leak in one.leaks})
    done = sum(one.count for one in trained)
    title = str(name or getattr(mechanism, "__name__", type(mechanism).__name__))
    return Audit(
        title, guarantee, confidence, tuple(attacks), used, tuple(leaks), ratios, done, time.monotonic() - started
    )


@dataclass(frozen=True)
class _Seen:
    """Outcomes of runs on both neighbours: (without, present)."""

    published: tuple[np.ndarray, np.ndarray]
    ratios: tuple[np.ndarray, np.ndarray]


class _Trained:
    """One pair, what its training runs showed, and the attacks chosen from them."""

    def __init__(self, see: "_See", pair: Pair, size: int, guarantee: Guarantee, step: Callable[[int], None]):
        self.pair, self.guarantee, self._see = pair, guarantee, see
        self.mu_squared = self.epsilon = 0.0
        self.leaks: set[str] = set()
        self.white, self.count = False, 0
        self._width = 0
        seen = self.watch(size, step)
        self._width = max(outcomes.shape[1] for outcomes in seen.published)
        self.rules = {}
        if self._width:
            without, present = (_padded(outcomes, self._width) for outcomes in seen.published)
            published = without, present
            self.rules["black"] = choose(published_features(published, pair.canary), published, guarantee)
        if self.white:
            self.rules["white"] = choose_ratio(seen.ratios, guarantee)
        self.promise = (len(self.leaks), self.mu_squared + self.epsilon, self._gap(seen))

    def watch(self, size: int, step: Callable[[int], None]) -> _Seen:
        """Make `size` runs on each neighbour."""
        sides = []
        for present in (False, True):
            published, found = self._see(self.pair, size, present=present, step=step)
            self.count += size
            for run in found:
                self.mu_squared = max(self.mu_squared, run.mu_squared)
                self.epsilon = max(self.epsilon, run.epsilon)
                self.leaks |= {run.leak} if run.leak else set()
            self.white = self.white or self.mu_squared + self.epsilon > 0
            sides.append((published, np.array([run.ratio for run in found])))
        return _Seen((sides[0][0], sides[1][0]), (sides[0][1], sides[1][1]))

    def judged(self, fresh: _Seen, chance: float) -> list[Attack]:
        """Return what the chosen attacks prove on fresh runs."""
        attacks = []
        for box, rule in self.rules.items():
            shown = (_padded(fresh.published[0], self._width), _padded(fresh.published[1], self._width))
            white = box == "white"
            outcomes = fresh.ratios if white else shown
            part = 1.0 if len(self.rules) == 1 else WHITE if white else 1.0 - WHITE
            fp, fn, strength = (judge_ratio if white else judge)(rule, outcomes, self.guarantee, part * chance)
            size = len(outcomes[0]) + len(outcomes[1])
            epsilon = self.guarantee.epsilon_of(strength)
            attacks.append(Attack(self.pair.name, box, rule.name, size, fp, fn, strength, epsilon))
        return attacks

    def _gap(self, seen: _Seen) -> float:
        """How well the black box did in training."""
        if "black" not in self.rules:
            return 0.0
        without, present = (self.rules["black"].says(_padded(each, self._width)) for each in seen.published)
        return float(abs(present.mean() - without.mean()))


class _OneByOne:
    """Runs a mechanism once at a time, in both boxes."""

    def __init__(self, mechanism: Any):
        if hasattr(mechanism, "fit") and getattr(mechanism, "random_state", 0) is None:
            mechanism = clone(mechanism).set_params(random_state=0)  # the attacker knows the public randomness
        self._mechanism = mechanism

    def __call__(
        self, pair: Pair, size: int, *, present: bool, step: Callable[[int], None]
    ) -> tuple[np.ndarray, list[Run]]:
        found = []
        for _ in range(size):
            found.append(look(self._mechanism, pair, present=present))
            step(1)
        width = max((run.published.size for run in found), default=0)
        return np.vstack([_padded(run.published[None], width) for run in found]), found


class _Batch:
    """Asks a callable for many outcomes at once: black box only."""

    def __init__(self, mechanism: Callable[[np.ndarray, int], Any]):
        self._mechanism = mechanism

    def __call__(
        self, pair: Pair, size: int, *, present: bool, step: Callable[[int], None]
    ) -> tuple[np.ndarray, list[Run]]:
        rows = pair.present if present else pair.without
        outcomes = np.asarray(self._mechanism(rows, size), dtype=np.float64).reshape(size, -1)
        step(size)
        return outcomes, []


_See = _OneByOne | _Batch


def _divided(whole: float, first: int, count: int, part: float = WORST) -> list[float]:
    """Divide a whole: a part to one, the rest to the others alike."""
    if count == 1:
        return [whole]
    parts = [whole * (1 - part) / (count - 1)] * count
    parts[first] = whole * part
    return parts


def _padded(outcomes: np.ndarray, width: int) -> np.ndarray:
    """Outcomes as finite numbers of one width, filled up with a number that is none of them."""
    wide = np.full((len(outcomes), width), -1e12)
    kept = min(width, outcomes.shape[1])
    wide[:, :kept] = np.nan_to_num(outcomes[:, :kept], nan=-1e12, posinf=1e12, neginf=-1e12)
    return wide


def _declared(mechanism: Any, epsilon: float | None, delta: float | None, gaussian: bool | None) -> Guarantee:
    estimator = hasattr(mechanism, "fit")
    epsilon = getattr(mechanism, "epsilon", None) if epsilon is None else epsilon
    delta = getattr(mechanism, "delta", 0.0) if delta is None else delta
    if epsilon is None:
        raise PrivacyError("say which epsilon the callable declares: audit(f, epsilon=1.0)")
    if not estimator and not callable(mechanism):
        raise PrivacyError(f"{mechanism!r} is neither an estimator nor a function of rows")
    if gaussian is None:
        gaussian = (estimator or getattr(mechanism, "gaussian", False)) and delta > 0
    return Guarantee(float(epsilon), float(delta), "gaussian" if gaussian else "approximate")


def _affordable(see: Any, pairs: list[Pair], runs: int, seconds: float) -> int:
    """Return how many runs fit into the time, judged by a few trial runs."""
    if isinstance(see, _Batch):
        return runs
    see(pairs[0], 1, present=True, step=lambda size: None)  # imports and caches
    started = time.monotonic()
    for pair in (pairs[0], pairs[-1]):
        see(pair, _PILOT, present=False, step=lambda size: None)
    each = (time.monotonic() - started) / (2 * _PILOT)
    return int(min(runs, max(seconds / max(each, 1e-9), 1)))


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
