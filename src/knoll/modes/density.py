"""The released density itself: a Gaussian-kernel density estimate from one query.

    release the Fourier totals of the records, with noise
    density, gradient, samples: read off the totals, anywhere, any number of times

All bandwidths of a ladder share these totals. The bandwidth is chosen after the release, by least-squares
cross-validation. This needs only the squared totals, corrected for the variance of the noise.
"""

from dataclasses import KW_ONLY
from typing import Any

import numpy as np
from sklearn.base import DensityMixin
from sklearn.utils import check_random_state

from knoll.estimator import declared
from knoll.modes.kernel_model import Interpreted, KernelModel
from knoll.privacy import PrivacyError
from knoll.privacy.errors import brief
from knoll.series.ascent import good_starts
from knoll.series.series import GridSeries, Series, kernel_volume
from knoll.series.surroundings import Surroundings
from knoll.series.survey import mesh_axes
from knoll.steps.kernel_sum import LADDER


@declared
class KernelDensity(DensityMixin, KernelModel):
    """Gaussian-kernel density estimate under differential privacy.

    Parameters
    ----------
    bandwidth : "ladder", "private", float or array of shape (n_features,), default="ladder"
        A number is in units of half the bounds' widths, or in raw units with ``scale_by_bounds=False``. "private"
        spends a tenth of the budget to release the spread of each column. "ladder" makes one release that serves a
        range of bandwidths, fractions of the bounds, and then chooses one.
    n_frequencies : int, default=2048
        Number of random frequencies; used with more than three columns. Up to three columns, a grid of frequencies is
        used, as fine as the bandwidth needs.
    {parameters}

    Attributes
    ----------
    {attributes}

    Notes
    -----
    {releases}

    The density may be read at any number of points. Its noise has the same standard error everywhere: `density_stderr`.

    References
    ----------
    Hall, Rinaldo, Wasserman (2013). Differential privacy for functions and functional data.

    Examples
    --------
    >>> import knoll
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(60_000, 2))
    >>> model = knoll.KernelDensity(epsilon=1.0, bounds=(-5, 5), random_state=0).fit(X)
    >>> bool(0.13 < model.density([[0.0, 0.0]])[0] < 0.17)
    True
    >>> model.density_stderr() < 0.001
    True
    """

    bandwidth: Any = LADDER
    _: KW_ONLY
    n_frequencies: int = 2048

    def _interpret(self, series: Series, hs: np.ndarray, around: Surroundings, seed: int) -> Interpreted:
        return (series if len(hs) == 1 else series.at(best_by_cross_validation(series, hs))), {}

    def score_samples(self, X: Any) -> np.ndarray:
        """Return the log density at points. The density counts as at least a tenth of its noise."""
        density = self.density(X)
        return np.log(np.maximum(density, max(self.density_stderr() / 10, 1e-300)))

    def score(self, X: Any, y: Any = None) -> float:
        """Return the total log density of X. **Not private: keep it to yourself.** It is computed without noise."""
        return float(self.score_samples(X).sum())

    def sample(self, n_samples: int = 1, random_state: Any = None) -> np.ndarray:
        """Draw synthetic records from the released density, cut off at zero. Costs no privacy.

        Parameters
        ----------
        n_samples : int
            How many.
        random_state : int, RandomState or None
            Public randomness.

        Returns
        -------
        X : array of shape (n_samples, n_features)
        """
        if isinstance(n_samples, bool) or not isinstance(n_samples, int | np.integer) or n_samples < 1:
            raise PrivacyError(f"n_samples={brief(n_samples)} must be a positive integer")
        rng, around, series = check_random_state(random_state), self._around(), self.series_
        floor = series.noise
        if isinstance(series, GridSeries):
            axes = mesh_axes(around, series.bandwidth)
            weight = np.maximum(series.on_mesh(*axes) - floor, 0.0).ravel()
            jitter = np.array([axis[1] - axis[0] for axis in axes])
            points = np.column_stack([part.ravel() for part in np.meshgrid(*axes, indexing="ij")])
        else:
            points = good_starts(series, around.low, around.high, around.domain.clip, rng.randint(2**31 - 1), 512)
            weight = np.maximum(series.value(points) - floor, 0.0)
            jitter = series.bandwidth / 2
        if not weight.sum() > 0:
            weight = np.ones(len(points))
        chosen = points[rng.choice(len(points), n_samples, p=weight / weight.sum())]
        return around.domain.clip(chosen + jitter * rng.uniform(-0.5, 0.5, size=chosen.shape))


def best_by_cross_validation(series: Series, hs: np.ndarray) -> np.ndarray:
    """Return the bandwidth of least estimated squared error; tried ones are a quarter octave apart."""
    top, bottom = hs[0], hs[-1]
    steps = int(np.ceil(4 * np.log2(float((top / bottom).max())))) + 1
    tried = top * (bottom / top) ** np.linspace(0.0, 1.0, steps)[:, None]
    return tried[squared_errors(series, tried).argmin()]


def squared_errors(series: Series, bandwidths: np.ndarray) -> np.ndarray:
    """Least-squares cross-validation: integral of f^2 less twice the mean of the leave-one-out density.

    Two Gaussian kernels overlap like one kernel with sqrt(2) times their bandwidth. So both terms are sums over all
    pairs of records, which the squared totals give. Noise adds its variance to a squared total; the second term
    subtracts it again.
    """
    n, d = max(series.count, 1.0), bandwidths.shape[1]
    volume = np.array([kernel_volume(h) for h in bandwidths])
    square = series.pairs(2**0.5 * bandwidths, debias=False) / (n**2 * volume * 2 ** (d / 2))
    return square - 2 * (series.pairs(bandwidths, debias=True) - n) / (n**2 * volume)
