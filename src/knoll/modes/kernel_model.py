"""What every estimator with a kernel sum shares: one release of a kernel sum, and its place in a fitted model."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from knoll.diagnose import Facts, facts_of
from knoll.estimator import FitContext, PrivateFit
from knoll.numeric.threads import one_thread
from knoll.parameters import Passes, Whole
from knoll.privacy import Ask, PrivacyError
from knoll.rows import points_of
from knoll.series.packing import PackedSeries, packed, unpack
from knoll.series.series import Series, kernel_volume
from knoll.series.surroundings import Surroundings
from knoll.steps.kernel_sum import check_bandwidth, release_series, rungs, series_asks, surroundings

MOST_FEATURES = 2**17  # most released totals: bounds the memory and the time of a fit


Interpreted = tuple[Series, dict[str, Any]]


class KernelModel(PrivateFit, PackedSeries, BaseEstimator):
    """Base of estimators that release a kernel sum once. A method implements `_interpret`, which is post-processing."""

    _ATTRIBUTES = PackedSeries.ATTRIBUTES
    _published: ClassVar = {**PackedSeries.PUBLISHED, "scales_": "d"}
    _slope: ClassVar = False
    _lines_only: ClassVar = True
    _rules: ClassVar = {"bandwidth": Passes(check_bandwidth), "n_frequencies": Whole(MOST_FEATURES, 8)}

    def _asks(self, n_columns: int) -> Sequence[Ask]:
        return series_asks(self, n_columns, 2 * self.n_frequencies)

    def _fit(self, context: FitContext, rng: np.random.RandomState) -> dict[str, Any]:
        """Spend the budget on one kernel sum, then look at it."""
        around = surroundings(context, self)
        hs = self._rungs(context, around)
        series = release_series(context.grant, around, hs, rng, 2 * self.n_frequencies, slope=self._slope)
        with one_thread():
            series, more = self._interpret(series, hs, around, int(rng.randint(2**31 - 1)))
        return {"scales_": context.scales, **packed(series, hs), **more}

    def _rungs(self, context: FitContext, around: Surroundings) -> np.ndarray:
        """Bandwidths that the release must serve, coarsest first."""
        return rungs(context.grant, around, self.bandwidth)

    def _interpret(self, series: Series, hs: np.ndarray, around: Surroundings, seed: int) -> Interpreted:
        """Return the series with the bandwidth to keep, and the method's fitted attributes by name."""
        raise NotImplementedError

    def _facts(self, **found: Any) -> Facts:
        """Return what is known of every kernel sum, and of the modes that a method found in it."""
        released = self.features_.any() or len(self.frame_) > 1
        noise = unpack(self).noise if released else self.count_stderr_
        return facts_of(self, records=self.count_, noise=float(noise), **found)

    def _restore(self) -> None:
        """Complete a model that was read from a file; refuse one that could not have been fitted."""
        for name in ("bandwidth_", "rungs_", "scales_"):
            if not (np.isfinite(getattr(self, name)) & (getattr(self, name) > 0)).all():
                raise ValueError(f"{name} is not positive")
        if not np.isfinite(self.totals_).all():
            raise ValueError("a released total is not finite")
        _ = self.series_

    @cached_property
    def series_(self) -> Series:
        """The released kernel sum as a function."""
        check_is_fitted(self, "totals_")
        return unpack(self)

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        state.pop("series_", None)
        return state

    @property
    def _shown(self) -> Series:
        """The kernel sum that is shown as a density."""
        return self.series_

    @staticmethod
    def _mass(series: Series) -> float:
        """Integral of a kernel sum: dividing by it gives a density. A count below one is taken as one."""
        return max(series.count, 1.0) * kernel_volume(series.bandwidth)

    def _around(self) -> Surroundings:
        """Where the fitted release lives."""
        return Surroundings(getattr(self.bounds_, "cube", self.bounds_) if len(self.frame_) > 1 else self.bounds_,
                            self.scales_, self.delta == 0, MOST_FEATURES)  # fmt: skip

    def density(self, X: Any) -> np.ndarray:
        """Return the released density at points. Where there are few records, noise may make it negative."""
        return self._shown.value(self._points(X)) / self._mass(self._shown)

    def density_stderr(self, X: Any = None) -> Any:
        """Return the standard error of the privacy noise of the density: the same at every point."""
        error = self._shown.noise / self._mass(self._shown)
        return error if X is None else np.full(len(self._points(X)), error)

    def gradient(self, X: Any) -> np.ndarray:
        """Return the gradient of the released density at points."""
        return self._shown.gradient(self._points(X)) / self._mass(self._shown)

    def _points(self, X: Any) -> np.ndarray:
        check_is_fitted(self, "totals_")
        if not self.features_.any() and len(self.frame_) == 1:
            raise PrivacyError('no density was released; fit with release="once"')
        return points_of(self, X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        return tags

    def _more_tags(self) -> dict[str, bool]:
        return {"non_deterministic": True}  # the same for scikit-learn 1.5
