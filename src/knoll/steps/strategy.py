"""Which releases a fit made, and why: for estimators that choose between a kernel sum and something else."""

from typing import Any, ClassVar

from sklearn.utils.validation import check_is_fitted

from knoll.steps.once_choice import CHOSEN_ONCE
from knoll.steps.one_release import ONCE, UNKNOWN, Clarity, may_release_once, reason


class ChoosesReleases:
    """Part of an estimator that may use a kernel sum where the budget is small and columns are few."""

    records_over_noise_: float
    effective_draws_: float
    _most_clear: ClassVar = {2: 75.0, 3: 75.0}
    """Records of a cluster over the noise of one count, up to which a kernel sum is better (benchmarks/small)."""
    _choice_published: ClassVar = {"records_over_noise_": "", "effective_draws_": ""}

    def _otherwise(self) -> tuple[str, str]:
        """Return in a word, and as part of a sentence, what is released if it is no kernel sum."""
        raise NotImplementedError

    def _allows_once(self, n_columns: int, k: int | None) -> bool:
        """Return whether parameters and columns allow a kernel sum; votes in its place are for `KMeans` alone."""
        delta: float = self.delta  # type: ignore[attr-defined]
        return k is not None and delta > 0 and may_release_once(self, n_columns, k)

    @property
    def strategy_(self) -> str:
        """Which releases were made."""
        check_is_fitted(self, "records_over_noise_")
        return ONCE if self.effective_draws_ > 0 else self._otherwise()[0]

    @property
    def strategy_reason_(self) -> str:
        """Why these releases were made, in a sentence."""
        strategy, words = self.strategy_, self._otherwise()[1]
        bounds: Any = self.bounds_  # type: ignore[attr-defined]
        if self.records_over_noise_ <= 0 and strategy == ONCE:
            return CHOSEN_ONCE
        if self.records_over_noise_ <= 0:
            return f"The columns or the parameters leave no choice, or the file is of an earlier version: {words}"
        return reason(
            self.records_over_noise_, bounds.n_columns, once=strategy == ONCE, otherwise=words, limits=self._most_clear
        )


def strategy_facts(clear: Clarity = UNKNOWN, effective: float = 0.0) -> dict[str, float]:
    """Return the fitted attributes that tell which strategy was used, and why."""
    return {"records_over_noise_": clear.value, "effective_draws_": effective}
