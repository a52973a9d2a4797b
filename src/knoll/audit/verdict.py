"""What an audit found, and how it says so."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from knoll.audit.attacks import Attack
from knoll.audit.evidence import Guarantee
from knoll.reported import Reported

_MOST_SHOWN = 8  # leaks that are printed; the rest are counted


@dataclass(frozen=True)
class Audit(Reported):
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
        Exact cost of each pair's releases, as an epsilon at the declared delta: the largest of all runs. It needs no
        statistics, but trusts that the noise follows its declared law.
    leaks : tuple of str
        Anything published that was not a function of the releases, and on which pairs: names, never values.
    ratios : dict
        Log likelihood ratios of the fresh runs (without, present) of each pair: the trade-off curve.
    runs : int
        Runs made, training included.
    seconds : float
        How long it took.
    releases : int
        The most releases of one run.
    """

    _picture: ClassVar[tuple[str, str]] = ("knoll.audit.picture", "plot_audit")

    name: str
    guarantee: Guarantee
    confidence: float
    attacks: tuple[Attack, ...]
    used: dict[str, float]
    leaks: tuple[str, ...]
    ratios: dict[str, tuple[np.ndarray, np.ndarray]]
    runs: int
    seconds: float
    releases: int = 0

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
        if self.most_used > declared.epsilon:
            lines.append(
                f"OVERSPENT: {self._all_releases()} cost epsilon = {self.most_used:.4g}, declared {declared.epsilon:g}."
            )
        lines += [f"LEAK: {leak}." for leak in self.leaks[:_MOST_SHOWN]]
        if len(self.leaks) > _MOST_SHOWN:
            lines.append(f"LEAK: and {len(self.leaks) - _MOST_SHOWN} more.")
        lines.append("Passed: nothing exceeds what is declared." if self.passed else "FAILED: this is not private.")
        return "\n".join(lines)

    def _all_releases(self) -> str:
        return f"the {self.releases} releases of all fits together" if self.releases > 1 else "what is released"
