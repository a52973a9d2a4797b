"""DP-GRAMS: the modes of sensitive data (the paper's Algorithm 1), from one release.

    release the kernel sum of the records, once                                            (kernel_sum.py)
    find its peaks and passes, at every bandwidth of the ladder                            (persistence.py)
    keep the significant peaks; choose the bandwidth that shows most of them               (landscape.py)
    place each peak with a bandwidth of its own, without its neighbours                    (place.py)

Where we differ from the paper. It starts at records, divides by a density that every record changes, and reads its
bandwidth off the data. None of that is private. Here a step, a start and a bandwidth cost nothing: they only read a
function that is already released. `release="each-step"` is the paper's algorithm, made rigorous (each_step.py). It
spends budget on every step, and is there for comparison.
"""

from collections.abc import Sequence
from dataclasses import KW_ONLY
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from knoll.diagnose import Facts
from knoll.estimator import FitContext, declared
from knoll.modes.density import best_by_cross_validation
from knoll.modes.kernel_model import Interpreted, KernelModel
from knoll.numeric.distances import nearest
from knoll.numeric.threads import one_thread
from knoll.parameters import CHANCE, MOST_STEPS, Flag, OneOf, Whole
from knoll.privacy import Ask
from knoll.rows import label_rows
from knoll.series.ascent import ascend
from knoll.series.hidden_bias import hidden_height
from knoll.series.packing import packed
from knoll.series.place import MOST_CURVED, seen_at, settle
from knoll.series.series import Series
from knoll.series.surroundings import Surroundings
from knoll.series.survey import ModeSurvey, choose_rung, survey
from knoll.steps.each_step import ascend_step_by_step, step_asks
from knoll.steps.first_look import SHARES, first_look, look_asks
from knoll.steps.kernel_sum import LADDER, MOST_ON_GRID, release_series, series_asks, surroundings
from knoll.steps.side_views import release_places, side_asks

ONCE, EACH_STEP = "once", "each-step"
MOST_MODES = 1000  # largest n_modes: refuses absurd values
CHUNK = 8192  # rows that climb at a time: bounds memory


@declared
class ModeSeeking(KernelModel):
    """Modes (local maxima of the density) under differential privacy.

    Parameters
    ----------
    n_modes : int or None, default=None
        Number of modes: the peaks that persist longest when peaks are merged as the density level falls. None keeps
        those that stand significantly above the noise.
    bandwidth : "ladder", "private", float or array of shape (n_features,), default="ladder"
        As in `KernelDensity`. "ladder" chooses the bandwidth by significance; each mode is then placed with a
        bandwidth of its own.
    release : {"once", "each-step"}, default="once"
        One release for everything, or a release at every step of the ascent (for comparison).
    n_steps : int or None, default=None
        Steps of ``release="each-step"``; None takes the log of the released number of records, rounded up.
    mini_batches : bool, default=False
        With ``release="each-step"``: every step sees its own random part of the records and has the whole budget,
        instead of all records and a part of the budget. As in the paper; each step then sees fewer records.
    chance : float, default=0.1
        Chance that a fit shows a mode that is only noise.
    n_frequencies : int, default=2048
        As in `KernelDensity`.
    {parameters}

    Attributes
    ----------
    modes_ : array of shape (n_modes, n_features)
        Modes, most significant first. There may be none.
    modes_stderr_ : array of shape (n_modes, n_features)
        Standard error of their places, against the modes of the density that the records are drawn from: privacy
        noise, sampling error, and the bias of the kernel towards a mode's long side. Infinite where nothing can be
        said: on a ridge, or if noise made the peak.
    mode_heights_, mode_heights_stderr_ : arrays of shape (n_modes,)
        Released density at the modes, and its standard error: privacy noise, sampling error, and what the kernel takes
        off a peak. Infinite if the peak is too narrow for the kernel to tell.
    mode_significance_ : array of shape (n_modes,)
        Height above the highest pass to a higher mode (for the highest mode: above an even spread), in standard errors
        of privacy noise and sampling error together.
    threshold_ : float
        The least significance of a mode. Noise alone exceeds it with probability `chance`.
    n_modes_ : int
        Number of modes.
    density_bandwidth_ : array of shape (n_features,)
        Bandwidth of `density` and `mode_heights_`; with a ladder, the one with the least estimated error of the
        density. `bandwidth_` is the one that shows the modes best; basins use it.
    {attributes}

    Notes
    -----
    {releases}

    Modes, heights, significance and basins cost nothing. Starts are public.

    References
    ----------
    DP-GRAMS: Differentially Private Gradient Ascent-based Mean Shift for Mode Estimation (Algorithm 1).
    Hall, Rinaldo, Wasserman (2013). Differential privacy for functions and functional data.

    Examples
    --------
    >>> import knoll
    >>> from sklearn.datasets import make_blobs
    >>> X, _ = make_blobs(5000, centers=[[-3, -3], [3, 3], [3, -3]], random_state=0)
    >>> model = knoll.ModeSeeking(epsilon=1.0, bounds=(-10, 10), random_state=0).fit(X)
    >>> sorted(model.modes_.round(0).tolist())
    [[-3.0, -3.0], [3.0, -3.0], [3.0, 3.0]]
    """

    n_modes: int | None = None
    _: KW_ONLY
    bandwidth: Any = LADDER
    release: str = ONCE
    n_steps: int | None = None
    mini_batches: bool = False
    chance: float = 0.1
    n_frequencies: int = 2048

    _published: ClassVar = {
        **KernelModel._published, "density_bandwidth_": "p", "modes_": "kd", "modes_stderr_": "kd",
        "mode_heights_": "k", "mode_heights_stderr_": "k", "mode_significance_": "k", "threshold_": "",
    }  # fmt: skip

    _rules: ClassVar = {
        "n_modes": Whole(MOST_MODES, none=True), "release": OneOf((ONCE, EACH_STEP)), "chance": CHANCE,
        "n_steps": Whole(MOST_STEPS, none=True), "mini_batches": Flag(),
    }  # fmt: skip

    def _asks(self, n_columns: int) -> Sequence[Ask]:
        if self.release != ONCE:
            return step_asks(self, n_columns)
        if self._looks(n_columns):
            most = 2 * self.n_frequencies
            _, kernel = series_asks(self, n_columns, most)
            return [*look_asks(n_columns), kernel.within(SHARES.kernel), *side_asks(n_columns, SHARES.sides)]
        return super()._asks(n_columns)

    def _fit(self, context: FitContext, rng: np.random.RandomState) -> dict[str, Any]:
        if self.release == ONCE:
            return self._looked(context, rng) if self._looks(context.domain.n_columns) else super()._fit(context, rng)
        around = surroundings(context, self)
        found = ascend_step_by_step(
            context.grant, around, self.bandwidth, self.n_steps, rng, mini_batches=bool(self.mini_batches)
        )
        series = packed(found.series, found.rungs)
        points, heights, sure = found.merged(self.n_modes, self.chance)
        unknown = np.full(len(heights), np.inf)  # no curvature was released, so nothing tells what the kernel hides
        modes = ordered(points, found.stderr(points), heights, sure, found.threshold(self.chance), unknown)
        return {"scales_": context.scales, **series, "density_bandwidth_": series["bandwidth_"], **modes}

    def _looks(self, n_columns: int) -> bool:
        """Return whether a first look tells where modes may be, and the bandwidths."""
        return n_columns > MOST_ON_GRID and isinstance(self.bandwidth, str) and self.bandwidth == LADDER

    def _looked(self, context: FitContext, rng: np.random.RandomState) -> dict[str, Any]:
        """Take a first look; release a kernel sum that suits what it showed; place its modes by a third release."""
        around, grants = surroundings(context, self), context.grant.split(SHARES)
        look = first_look(context, grants, rng)
        hs, kernel = look.rungs(pure=around.pure), grants.kernel.joined(grants.axes)
        most = 2 * look.frequencies(kernel, around, self.n_frequencies)
        series = release_series(kernel, around, hs, rng, most)
        with one_thread():
            seed = int(rng.randint(2**31 - 1))
            view, kept, points, stderr = self._settled(series, hs, around, seed, look.starts)
            if len(points):
                points, stderr = release_places(context.grant.rest, around, look, points)
            more = self._described(series, hs, view, kept, points, stderr)
        return {"scales_": context.scales, **packed(view.series, hs), **more}

    def _interpret(self, series: Series, hs: np.ndarray, around: Surroundings, seed: int) -> Interpreted:
        view, kept, points, stderr = self._settled(series, hs, around, seed)
        return view.series, self._described(series, hs, view, kept, points, stderr)

    def _settled(
        self, series: Series, hs: np.ndarray, around: Surroundings, seed: int, starts: np.ndarray | None = None
    ) -> tuple[ModeSurvey, np.ndarray, np.ndarray, np.ndarray]:
        """Return the view at the best rung, which of its peaks are modes, their places, and errors of these."""
        view, _ = choose_rung(series, hs, around, self.chance, seed, self.n_modes, starts=starts)
        kept = kept_peaks(view, self.n_modes)
        finest = hs[-1] if isinstance(self.bandwidth, str) else None
        points, covariance = settle(view.series, view.peaks.points[kept], around, finest)
        return view, kept, points, np.sqrt(np.maximum(np.diagonal(covariance, axis1=1, axis2=2), 0.0))

    def _described(
        self, series: Series, hs: np.ndarray, view: ModeSurvey, kept: np.ndarray, points: np.ndarray, stderr: np.ndarray
    ) -> dict[str, Any]:
        """Return modes and the density at them as fitted attributes by name."""
        best = density_bandwidth(series, hs, view.series.bandwidth)
        shown = series.at(best)
        heights = shown.value(points) / self._mass(shown)
        errors = height_errors(shown, points)
        modes = ordered(points, stderr, heights, view.significance[kept], view.threshold, errors)
        return {"density_bandwidth_": best, **modes}

    def _facts(self, **found: Any) -> Facts:
        return super()._facts(
            kind="mode",
            at=self.modes_,
            errors=self.modes_stderr_,
            sizes=np.ones(len(self.modes_)),
            seen=self.mode_significance_ > self.threshold_,
            **found,
        )

    @property
    def _shown(self) -> Series:
        return self.series_.at(self.density_bandwidth_)

    def _restore(self) -> None:
        super()._restore()
        if not (np.isfinite(self.density_bandwidth_) & (self.density_bandwidth_ > 0)).all():
            raise ValueError("density_bandwidth_ is not positive")
        if not np.isfinite(self.modes_).all():
            raise ValueError("a mode is not finite")
        self.n_modes_ = len(self.modes_)

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        state.pop("landscape_", None)
        return state

    @cached_property
    def landscape_(self) -> ModeSurvey:
        """Peaks, passes and significance at the chosen bandwidth. Post-processing, computed on first use."""
        return survey(self.series_, self._around(), self.chance, 0, starts=self._starts)

    @property
    def _starts(self) -> np.ndarray | None:
        """Where peaks are looked for again: at the modes, if a first look told where they may be."""
        return self.modes_ if self._looks(len(self.scales_)) and len(self.modes_) else None

    def mode_tree(self, steps: int = 25) -> list[ModeSurvey]:
        """Return the peaks and their significance at bandwidths along the ladder (or around the only one).

        Parameters
        ----------
        steps : int
            Number of bandwidths, widest first.

        Returns
        -------
        views : list of ModeSurvey
            Each with `series.bandwidth`, `peaks`, `significance` and `stands_out`.
        """
        widest, narrowest = self.rungs_[0], self.rungs_[-1]
        if len(self.rungs_) == 1:
            widest, narrowest = 2 * widest, widest
        along = np.linspace(0.0, 1.0, steps)[:, None]
        around = self._around()
        return [
            survey(self.series_.at(h), around, self.chance, 0, starts=self._starts)
            for h in widest * (narrowest / widest) ** along
        ]

    def basins(self, X: Any) -> np.ndarray:
        """Return the mode whose basin each row lies in: where steepest ascent on the released density leads.

        A peak that is not a mode belongs to the mode it merges into. A row gets -1 if there are no modes or if one of
        its values is missing.

        Parameters
        ----------
        X : array, DataFrame, Arrow table, path or Source
            Rows to label.

        Returns
        -------
        labels : integer array of shape (n_samples,)
        """
        check_is_fitted(self, "modes_")
        return label_rows(self, X, self._basins_of)

    def _basins_of(self, points: np.ndarray) -> np.ndarray:
        if not len(self.modes_):
            return np.full(len(points), -1)
        if self.release == EACH_STEP:  # no density was released: the nearest mode stands for the basin
            return nearest(points / self.bandwidth_, self.modes_ / self.bandwidth_)
        return basin_labels(self.series_, self.landscape_, self._around(), self.modes_, points)

    def predict(self, X: Any) -> np.ndarray:
        """Return the mode of each row, by its basin; see `basins`. The labels go to whoever holds X."""
        return self.basins(X)


def ordered(
    points: np.ndarray,
    stderr: np.ndarray,
    heights: np.ndarray,
    sure: np.ndarray,
    threshold: float,
    heights_stderr: np.ndarray,
) -> dict[str, Any]:
    """Return modes as fitted attributes by name, most significant first."""
    order = np.argsort(-sure, kind="stable")
    return {
        "modes_": points[order],
        "modes_stderr_": stderr[order],
        "mode_heights_": heights[order],
        "mode_heights_stderr_": heights_stderr[order],
        "mode_significance_": sure[order],
        "threshold_": float(threshold),
        "n_modes_": len(points),
    }


def height_errors(series: Series, points: np.ndarray) -> np.ndarray:
    """Standard errors of the density at modes: noise, sampling, and what the kernel takes off a peak."""
    if points.shape[1] > MOST_CURVED:
        return np.full(len(points), np.inf)
    value, curve = seen_at(series, points)
    lower = hidden_height(curve / value[:, None, None])
    return np.sqrt(series.noise**2 + value + np.square(lower * value)) / KernelModel._mass(series)


def density_bandwidth(series: Series, hs: np.ndarray, widest: np.ndarray) -> np.ndarray:
    """Bandwidth of the density: the one of least estimated error, but no wider than that of the modes."""
    return widest if len(hs) == 1 else np.minimum(best_by_cross_validation(series, hs), widest)


def kept_peaks(view: ModeSurvey, n_modes: int | None) -> np.ndarray:
    """Which peaks are modes: the significant ones, or the n that persist longest."""
    if n_modes is None:
        return np.flatnonzero(view.stands_out)
    return np.sort(np.argsort(-view.significance, kind="stable")[:n_modes])


def basin_labels(
    series: Series, view: ModeSurvey, around: Surroundings, modes: np.ndarray, rows: np.ndarray
) -> np.ndarray:
    """Label rows by where ascent leads: on the mesh in few columns, by following mean shift in many."""
    rows = around.domain.clip(rows)
    unit = series.bandwidth
    if view.basin is None:
        with one_thread():
            parts = [ascend(series, rows[i : i + CHUNK], around.domain.clip) for i in range(0, len(rows), CHUNK)]
        tops = np.vstack(parts)
        return nearest(tops / unit, modes / unit)
    points = view.peaks.points
    closest = nearest(points / unit, modes / unit)
    keep = np.zeros(len(points), dtype=bool)
    for mode in range(len(modes)):  # a mode's own peak is the one nearest to it
        gap = np.linalg.norm((points - modes[mode]) / unit, axis=1)
        keep[gap.argmin()] = True
    owner = view.peaks.survivors(keep)
    owner = np.where(owner >= 0, owner, np.arange(len(points)))
    cells = []
    for j, axis in enumerate(view.axes or []):
        cells.append(np.clip(np.rint((rows[:, j] - axis[0]) / (axis[1] - axis[0])), 0, len(axis) - 1).astype(int))
    return closest[owner[view.basin[tuple(cells)]]]
