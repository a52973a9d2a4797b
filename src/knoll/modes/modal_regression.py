"""DP-PMS: modal regression (the supplement's Algorithm 2), from one release.

    release the kernel sum of the pairs (x, y), once
    at any x: the modes of y given x are the peaks of the sum along y (partial mean shift, any number of times)

A conditional mean averages over separate branches; conditional modes follow each branch. Where we differ from the
paper: it takes the mesh and the bandwidth from the records. Here both are public or released, and a curve is drawn only
where it is significant.
"""

from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from knoll.estimator import FitContext, declared
from knoll.modes.kernel_model import Interpreted, KernelModel
from knoll.parameters import CHANCE
from knoll.privacy import DataError, PrivacyError
from knoll.privacy.errors import brief
from knoll.rows import doubles_of
from knoll.series.bandwidth import choose_bandwidth, regression_rungs
from knoll.series.conditional import (
    Profiles,
    climb_last,
    peaks_of_profiles,
    profile,
    records_near,
    records_near_typical,
    shift_last,
    threshold,
    y_mesh,
)
from knoll.series.restore import restored
from knoll.series.series import GridSeries, Series
from knoll.series.surroundings import Surroundings
from knoll.steps.kernel_sum import LADDER, MOST_ON_GRID

FEW = (
    0.1  # of the records near a typical one: a curve of fewer is marked, as of a normal predictor beyond 2.3 deviations
)


@dataclass(frozen=True)
class Curves:
    """Conditional modes on a mesh: one row per significant mode of each point.

    Attributes
    ----------
    x : array of shape (n_points, n_predictors)
        The mesh.
    row, y, significance, stderr : arrays of shape (n_modes,)
        The mesh point of each mode, its place, its significance, and the standard error of its place.
    records : array of shape (n_modes,)
        Released number of records near that mesh point (within about a bandwidth), whatever their response.
    few : array of shape (n_modes,)
        Whether that is less than a tenth of what lies near a typical record. Such a mode is significant, but of few
        records, which may be mistakes.
    """

    x: np.ndarray
    row: np.ndarray
    y: np.ndarray
    significance: np.ndarray
    stderr: np.ndarray
    records: np.ndarray
    few: np.ndarray


@declared
class ModalRegression(RegressorMixin, KernelModel):
    """Modal regression under differential privacy: the modes of a response given predictors.

    Parameters
    ----------
    bandwidth : "ladder", "private", float or array of shape (n_predictors + 1,), default="ladder"
        As in `KernelDensity`, for the predictors and then the response. "ladder" chooses the one with the least
        estimated error of the curve: noise, sampling error, and the bias that narrower bandwidths reveal.
    chance : float, default=0.1
        Chance that a fit shows a branch that is noise.
    n_frequencies : int, default=2048
        As in `KernelDensity`; used with three or more predictors.
    {parameters}

    Attributes
    ----------
    threshold_ : float
        The least significance of a branch. Noise alone exceeds it with probability `chance`.
    {attributes}

    Notes
    -----
    Bounds are those of the predictors and, last, of the response: ``bounds=([0, -1], [1, 4])``. `fit(X, y)` takes
    predictors and response separately; in `fit(table)` the last column is the response. `n_features_in_` counts it too.

    {releases}

    Predictions at any point, curves and intervals cost nothing.

    References
    ----------
    DP-GRAMS supplement, Algorithm 2 (DP-PMS). Chen, Genovese, Tibshirani, Wasserman (2016). Nonparametric modal
    regression.

    Examples
    --------
    >>> import knoll
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(size=(20_000, 1))
    >>> y = rng.choice([1.0, 3.0], size=20_000) + 0.2 * rng.normal(size=20_000)
    >>> model = knoll.ModalRegression(epsilon=1.0, bounds=([0, -1], [1, 5]), random_state=0).fit(x, y)
    >>> [modes.round().tolist() for modes in model.predict_modes([[0.5]])]
    [[1.0, 3.0]]
    """

    bandwidth: Any = LADDER
    _: KW_ONLY
    chance: float = 0.1
    n_frequencies: int = 2048

    _published: ClassVar = {**KernelModel._published, "threshold_": ""}
    _slope: ClassVar = True
    _rules: ClassVar = {"chance": CHANCE}

    def fit(self, X: Any, y: Any = None) -> Self:
        """Release the kernel sum of predictors and response.

        Parameters
        ----------
        X : array, DataFrame, Arrow table, path or Source
            The predictors; or, without y, the predictors and then the response.
        y : array of shape (n_samples,), optional
            The response.

        Returns
        -------
        self
        """
        return self._fit_to(X, y)

    def _interpret(self, series: Series, hs: np.ndarray, around: Surroundings, seed: int) -> Interpreted:
        series = series if len(hs) == 1 else choose_bandwidth(series, around, self.chance, seed, len(hs))
        return series, {"threshold_": threshold(series, around.high - around.low, self.chance, len(hs))}

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        state.pop("restored_", None)
        return state

    @cached_property
    def restored_(self) -> Series:
        """The released sum, corrected by public knowledge (restore.py). Post-processing, computed on first use."""
        series, around = self.series_, self._around()
        if not isinstance(series, GridSeries):
            return series
        return restored(series, around.low, around.high, self.rungs_.min(axis=0))

    def _rungs(self, context: FitContext, around: Surroundings) -> np.ndarray:
        if isinstance(self.bandwidth, str) and self.bandwidth == LADDER and around.n_columns <= MOST_ON_GRID:
            return regression_rungs(around)
        return super()._rungs(context, around)

    def _predictors(self, X: Any) -> np.ndarray:
        """Validate predictors: all columns but the last, which may come along and is ignored."""
        check_is_fitted(self, "totals_")
        wide = doubles_of(X)
        if wide.ndim == 2 and wide.shape[1] == self.n_features_in_:
            wide = wide[:, :-1]
        if wide.ndim != 2 or wide.shape[1] != self.n_features_in_ - 1:
            raise DataError(f"X has shape {wide.shape}; the model has {self.n_features_in_ - 1} predictors")
        if not np.isfinite(wide).all():
            raise DataError("X holds missing (NaN) or infinite values: leave such rows out first")
        around = self._around()
        return np.clip(wide, around.low[:-1], around.high[:-1])

    def _peaks(self, x: np.ndarray) -> Profiles:
        around = self._around()
        return peaks_of_profiles(self.series_, x, around.low[-1], around.high[-1])

    def predict(self, X: Any) -> np.ndarray:
        """Return the highest conditional mode at each row, whether it is significant or not.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_predictors)

        Returns
        -------
        y : array of shape (n_samples,)
        """
        x, around, series = self._predictors(X), self._around(), self.series_
        mesh = y_mesh(around.low[-1], around.high[-1], float(series.bandwidth[-1]))
        start = np.concatenate(
            [mesh[profile(series, x[i : i + 4096], mesh).argmax(axis=1)] for i in range(0, len(x), 4096)]
        )
        return climb_last(series, np.column_stack([x, start]), mesh[0], mesh[-1])[:, -1]

    def predict_modes(self, X: Any) -> list[np.ndarray]:
        """Return the significant conditional modes at each row, in increasing order; there may be none."""
        x = self._predictors(X)
        found = self._peaks(x)
        kept = found.significance > self.threshold_
        rows, y = found.row[kept], found.at[kept]
        order = np.lexsort((y, rows))
        return np.split(y[order], np.cumsum(np.bincount(rows, minlength=len(x)))[:-1])

    def curves(self, mesh: Any = 200) -> Curves:
        """Return the significant conditional modes on a mesh, and no others.

        Parameters
        ----------
        mesh : int or array of shape (n_points, n_predictors)
            Points, or how many of them along the only predictor.
        """
        if isinstance(mesh, int | np.integer):
            if self.n_features_in_ != 2:
                raise DataError("with several predictors, give the mesh as points")
            around = self._around()
            mesh = np.linspace(around.low[0], around.high[0], int(mesh))[:, None]
        x = self._predictors(mesh)
        found = self._peaks(x)
        kept = found.significance > self.threshold_
        error, row, around = np.sqrt(found.variance[kept]), found.row[kept], self._around()
        near = records_near(self.series_, x, float(around.low[-1]), float(around.high[-1]))[row]
        few = near < FEW * records_near_typical(self.series_, around.low, around.high)
        return Curves(x, row, found.at[kept], found.significance[kept], error, near, few)

    def ascend(self, X: Any, y: Any, steps: int | None = None, *, restore: bool = False) -> np.ndarray:
        """Follow partial mean shift on the released sum from each (x, y); return where y ends (Algorithm 2).

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_predictors)
        y : array of shape (n_samples,)
            Where to start.
        steps : int or None, default=None
            Number of steps, as in the paper; None continues until y rests on a conditional mode.
        restore : bool, default=False
            First correct the released sum by what is known of it: it is not negative, it has nothing outside the
            bounds, and its noise has a known size. The result is nearer to that of the same steps on the records. But
            the sum is smoother, so the result may be further from the true curve. No effect with more than two
            predictors.

        Returns
        -------
        y : array of shape (n_samples,)
        """
        if steps is not None and (isinstance(steps, bool) or not isinstance(steps, int | np.integer) or steps < 0):
            raise PrivacyError(f"steps={brief(steps)} must be a whole number, or None")
        x, around = self._predictors(X), self._around()
        points = np.column_stack([x, np.asarray(y, dtype=np.float64)])
        series, low, high = self.restored_ if restore else self.series_, around.low[-1], around.high[-1]
        if steps is None:
            return climb_last(series, points, low, high)[:, -1]
        return shift_last(series, points, low, high, int(steps))[:, -1]

    def predict_interval(self, X: Any, level: float = 0.9) -> list[np.ndarray]:
        """Return a modal prediction set at each row: the smallest set of y that holds `level` of the released density.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_predictors)
        level : float, default=0.9
            Coverage.

        Returns
        -------
        sets : list of arrays of shape (n_intervals, 2)
            The intervals of each row, in increasing order. The kernel's own width is part of them.
        """
        if isinstance(level, bool) or not isinstance(level, int | float) or not 0 < level < 1:
            raise PrivacyError(f"level={brief(level)} must be a number between 0 and 1")
        x, around, series = self._predictors(X), self._around(), self.series_
        mesh = y_mesh(around.low[-1], around.high[-1], float(series.bandwidth[-1]))
        sets = []
        for start in range(0, len(x), 4096):
            values = np.maximum(profile(series, x[start : start + 4096], mesh) - series.noise, 0.0)
            values[values.sum(axis=1) <= 0] = 1.0
            order = np.argsort(-values, axis=1, kind="stable")
            mass = np.cumsum(np.take_along_axis(values, order, axis=1), axis=1)
            inside = np.zeros(values.shape, dtype=bool)
            np.put_along_axis(inside, order, mass - np.take_along_axis(values, order, axis=1) < level * mass[:, -1:], 1)
            edge = np.diff(np.pad(inside, ((0, 0), (1, 1))).astype(np.int8), axis=1)
            rows, first = np.nonzero(edge == 1)
            _, last = np.nonzero(edge == -1)
            half = (mesh[1] - mesh[0]) / 2
            ends = np.column_stack([mesh[first] - half, mesh[last - 1] + half]).clip(mesh[0], mesh[-1])
            sets += np.split(ends, np.cumsum(np.bincount(rows, minlength=len(values)))[:-1])
        return sets
