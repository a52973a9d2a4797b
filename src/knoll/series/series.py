"""A released kernel sum as a function: values, gradients and Hessians at any point, and the noise of each.

A kernel sum S(x) = sum_i K((x - X_i) / h), K(0) = 1, is linear in released Fourier totals T: S(x) = sum_e g_e B_e(x)
T_e. Here B_e are the features and g is the kernel's spectrum at bandwidth h. So one release serves every bandwidth;
only the noise depends on h. Everything here is post-processing.

`GridSeries` uses a lattice, in few columns: a feature is a product of one function per column. `FeatureSeries`
(features.py) uses a list of frequencies, in many columns. Both work in the coordinates of the domain; h is per column.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, reduce

import numpy as np

from knoll.queries import Lattice
from knoll.series.base import BaseSeries
from knoll.series.features import FeatureSeries

_CHUNK = 2**22  # entries of a feature matrix held at a time: bounds memory


def spectrum(lattice: Lattice, bandwidth: np.ndarray) -> np.ndarray:
    """The kernel's Fourier coefficients, (top_1 + 1, .., top_d + 1), which sum to K(0) = 1."""
    return reduce(np.multiply.outer, spectra(lattice, bandwidth))


def spectra(lattice: Lattice, bandwidth: np.ndarray) -> list[np.ndarray]:
    """The same column by column: its factors."""
    found = []
    for top, period, h in zip(lattice.top, lattice.period, bandwidth, strict=True):
        one = np.exp(-((2 * np.pi * np.arange(top + 1) * h / period) ** 2) / 2)
        one[1:] *= 2.0
        found.append(one / one.sum())
    return found


def kernel_volume(bandwidth: np.ndarray) -> float:
    """Integral of one record's kernel."""
    return float(np.prod(bandwidth)) * (2 * np.pi) ** (len(bandwidth) / 2)


@dataclass(frozen=True)
class GridSeries(BaseSeries):
    """A Fourier series on a lattice.

    Parameters
    ----------
    lattice : Lattice
        The window and its frequencies.
    totals, stderr : arrays of shape (2 top_1 + 1, .., 2 top_d + 1)
        Released totals per product of features, in records, and the standard error of their noise; zero where nothing
        was released.
    bandwidth : array of shape (n_columns,)
        Of the Gaussian kernel.
    """

    lattice: Lattice
    totals: np.ndarray
    stderr: np.ndarray
    bandwidth: np.ndarray

    def at(self, bandwidth: np.ndarray) -> "GridSeries":
        """Return the same release, seen with another bandwidth."""
        return replace(self, bandwidth=np.asarray(bandwidth, dtype=np.float64))

    @cached_property
    def _gains(self) -> list[np.ndarray]:
        """Per column, the kernel's spectrum at each feature, corrected for the rounding of records to cells."""
        damped = zip(spectra(self.lattice, self.bandwidth), self.lattice.blur, strict=True)
        return [np.concatenate([gain := one / blur, gain[1:]]) for one, blur in damped]

    @cached_property
    def _gain(self) -> np.ndarray:
        """Their product, per feature of the series."""
        return reduce(np.multiply.outer, self._gains)

    @cached_property
    def _tops(self) -> tuple[int, ...]:
        """Frequencies that matter at this bandwidth; the kernel's spectrum is below 1e-6 beyond them."""
        reach = np.ceil(5.3 * self.lattice.period / (2 * np.pi * self.bandwidth))
        return tuple(int(min(top, most)) for top, most in zip(self.lattice.top, reach, strict=True))

    @cached_property
    def _coefficients(self) -> np.ndarray:
        """Gain times total of the features that matter."""
        if self._tops == self.lattice.top:
            return self._gain * self.totals
        kept = [
            np.concatenate([np.arange(use + 1), top + 1 + np.arange(use)])
            for use, top in zip(self._tops, self.lattice.top, strict=True)
        ]
        gain = reduce(np.multiply.outer, [one[some] for one, some in zip(self._gains, kept, strict=True)])
        return gain * self.totals[np.ix_(*kept)]

    @property
    def count(self) -> float:
        """Released number of records in the window."""
        return float(self.totals.ravel()[0])

    @property
    def count_stderr(self) -> float:
        """Standard error of its noise."""
        return float(self.stderr.ravel()[0])

    @cached_property
    def _noise_by_frequency(self) -> np.ndarray:
        """Variance that each frequency adds to the noise of the kernel sum, the same at every point."""
        cosines = [slice(0, top + 1) for top in self.lattice.top]
        gain = reduce(np.multiply.outer, [one[some] for one, some in zip(self._gains, cosines, strict=True)])
        return np.square(gain * self.stderr[tuple(cosines)])

    @cached_property
    def noise(self) -> float:
        """Standard error of the privacy noise of the kernel sum, at any point."""
        return float(np.sqrt(self._noise_by_frequency.sum()))

    @cached_property
    def gradient_noise(self) -> np.ndarray:
        """Standard error of the noise of each partial derivative."""
        found = []
        for j, (top, period) in enumerate(zip(self.lattice.top, self.lattice.period, strict=True)):
            square = (2 * np.pi * np.arange(top + 1) / period) ** 2
            shape = [-1 if i == j else 1 for i in range(self.totals.ndim)]
            found.append(np.sqrt((self._noise_by_frequency * square.reshape(shape)).sum()))
        return np.array(found)

    def noise_of_difference(self, one: np.ndarray, other: np.ndarray) -> np.ndarray:
        """Standard error of the noise of S(one) - S(other), row by row."""
        alike = self._noise_by_frequency
        for j, top in enumerate(self.lattice.top):
            turn = 2 * np.pi / self.lattice.period[j] * np.outer(one[:, j] - other[:, j], np.arange(top + 1))
            cosine = np.cos(turn)
            if j == 0:
                alike = cosine @ alike.reshape(top + 1, -1)
            else:
                alike = np.einsum("pk,pkr->pr", cosine, alike.reshape(len(one), top + 1, -1))
        return np.sqrt(np.maximum(2 * (self.noise**2 - alike[:, 0]), 0.0))

    def pairs(self, bandwidths: np.ndarray, *, debias: bool) -> np.ndarray:
        """Sum of the kernel over all pairs of records, self-pairs too; `debias` subtracts the noise's variance."""
        square = np.where(self.stderr > 0, self.totals**2 - (self.stderr**2 if debias else 0.0), 0.0)
        return np.array([reduce(np.matmul, reversed(self.at(h)._gains), square) for h in bandwidths])

    def on_mesh(self, *axes: np.ndarray) -> np.ndarray:
        """Return the kernel sum on the product of axes, column by column: cheap for large meshes."""
        total = self._coefficients
        for j, axis in enumerate(axes):
            total = np.tensordot(total, self.lattice.basis(j, axis, 0, self._tops[j]), axes=(0, 1))
        return total

    def profile(self, x: np.ndarray, mesh: np.ndarray) -> np.ndarray:
        """Return the kernel sum at points x of all columns but the last, and a mesh of the last: (points, mesh)."""
        part: np.ndarray | None = None
        for j in range(x.shape[1]):
            basis = self.lattice.basis(j, x[:, j], 0, self._tops[j])
            if part is None:
                part = basis @ self._coefficients.reshape(basis.shape[1], -1)
            else:
                part = np.einsum("pk,pkr->pr", basis, part.reshape(len(x), basis.shape[1], -1))
        last = self.lattice.basis(x.shape[1], mesh, 0, self._tops[-1])
        return (np.repeat(self._coefficients[None], len(x), axis=0) if part is None else part) @ last.T

    def even_profile(self, x: np.ndarray, width: float) -> tuple[np.ndarray, float]:
        """Return the height of each profile if its records were spread evenly over a width of the last column.

        It is the part of the sum that is constant along that column, times period / width. Also returned: the standard
        error of the noise of (a value - this height). Both contain the constant part, so its noise nearly cancels.
        """
        top, period = self.lattice.top[-1], self.lattice.period[-1]
        round_the_torus = self.lattice.low[-1] + period * np.arange(2 * top + 1) / (2 * top + 1)
        ratio = period / width
        noise = self._noise_by_frequency
        constant = float(noise[..., 0].sum())
        error = np.sqrt(float(noise.sum()) - constant + (ratio - 1) ** 2 * constant)
        return self.profile(x, round_the_torus).mean(axis=1) * ratio, float(error)

    def _evaluate(self, points: np.ndarray, orders: Sequence[tuple[int, ...]]) -> np.ndarray:
        d = points.shape[1]
        size = int(np.prod(self._coefficients.shape[1:])) + sum(self._coefficients.shape)
        step = max(1, _CHUNK // max(size, 1))
        parts = [self._at(points[i : i + step], orders) for i in range(0, len(points), step)]
        return np.concatenate(parts) if parts else np.empty((0, len(orders) if d else 0))

    def _at(self, points: np.ndarray, orders: Sequence[tuple[int, ...]]) -> np.ndarray:
        n, d = points.shape
        most, place = _columns_asked(d, tuple(orders))
        total = self._coefficients[None, None]
        for j in range(d):  # every column by all its orders at once: few, and fewer calls
            basis = self.lattice.bases(j, points[:, j], self._tops[j], most[j])
            left, here, size = total.shape[0], *basis.shape[::2]
            total = total.reshape(left, 1, total.shape[1], size, -1)
            total = (basis[:, :, None] @ total)[..., 0, :] if j else basis @ total[:, :, 0]
            total = total.reshape(left * here, n, -1)
        return total[place, :, 0].T


@cache
def _columns_asked(d: int, orders: tuple[tuple[int, ...], ...]) -> tuple[list[int], np.ndarray]:
    """The highest order asked of each column, and the place of each derivative among all combinations up to these."""
    asked = np.array([[pick.count(j) for pick in orders] for j in range(d)])
    most = asked.max(axis=1)
    return most.tolist(), np.ravel_multi_index(asked, tuple(most + 1))


Series = GridSeries | FeatureSeries
