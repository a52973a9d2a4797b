"""Fourier features: what one record adds to the characteristic function of the data.

A Gaussian-kernel density, its gradient and its Hessian at any point are linear in these totals, and a record's vector
of features has the same norm wherever it lies (it is the record's place in the kernel's reproducing space; Hall,
Rinaldo and Wasserman 2013). So one release serves any number of points, steps and starts.

`FourierGrid` serves few dimensions: a Fourier series on a padded window, a deterministic grid of frequencies.
`FourierFeatures` serves many: a list of given frequencies. In both a record is first put on an integer lattice and
every cosine is a whole number read from a table, so a contribution is exact, and a function of the record alone.
"""

import math

import numpy as np

from knoll.arrays import Floats, Integers
from knoll.queries.domain import Domain
from knoll.queries.lattice import TABLE_SCALES, Lattice
from knoll.queries.projection import Projected
from knoll.queries.query import UNIT, Query, require_finite

_HEAVIEST = 32  # weight of the heaviest frequency
_TABLE = 2**12  # phases that `FourierFeatures` tells apart
_TURN = 2**30  # grid units to a full turn of a phase, before they are read as a table index


class FourierGrid(Query):
    """Fourier coefficients of the records in a window of one, two or three columns.

    A record in cell a adds, for every kept frequency k = (k_1 .. k_d) and every choice of cosine or sine per column,
    the product of whole numbers prod_j t_j(k_j, a_j), with integer weight w_k; a record outside the window adds
    nothing. The total of a block is its histogram multiplied by the tables: sums of whole numbers far below 2^53.

    Sensitivity. The squared l2 norm of a contribution is F(a) = sum_k w_k^2 prod_j (c_j^2 + s_j^2)(k_j, a_j): within
    rounding of the tables the same for all a. The l1 norm is the like sum of w_k prod_j (|c_j| + |s_j|). Both are
    computed at every cell, and `max_norm` is the largest. Difference, l2: |u - v|^2 = F(a) + F(b) - 2 <u, v>, and <u,
    v> is at least the least value of the untruncated kernel sum_k w_k^2 prod_j scale^2 cos(k_j lag_j), at any lag, less
    what rounding each table by half a unit can take from it: with r = sqrt(2) scale + 1 per column and factors of size
    at most scale^2 + r, at most sum_k w_k^2 ((scale^2 + r)^d - scale^(2d)). l1: twice the bound, which is not tight.

    Parameters
    ----------
    lattice : Lattice
        The window and its frequencies.
    amplitude : array of shape (top_1 + 1, .., top_d + 1)
        Public non-negative amplitudes: how the noise is divided among frequencies. Those below 1/64 of the largest
        are left out.
    """

    name = "Fourier coefficients"

    def __init__(self, lattice: Lattice, amplitude: Floats) -> None:
        self.lattice, self.domain = lattice, lattice.domain
        d = len(lattice.top)
        require_finite("amplitudes", amplitude)
        require_finite("the largest amplitude", amplitude.max(), positive=True)
        self._by_frequency = np.rint(_HEAVIEST * amplitude / amplitude.max())
        full = self._by_frequency[np.ix_(*(lattice.frequency_of_feature(j) for j in range(d)))]
        self.kept = np.flatnonzero(full)
        self.full_shape = full.shape
        self.weights = full.ravel()[self.kept].astype(np.int64)
        self.shape = (len(self.kept),)
        self.step = np.array(float(lattice.scale) ** -d)
        self.touched = len(self.kept)
        self._norms: dict[int, float] = {}
        self.largest = int(self.weights.max()) * lattice.scale**d

    @staticmethod
    def longest(n_columns: int, frequencies: int) -> float:
        """Return what the l2 norm of a contribution cannot exceed with so many frequencies, whatever the amplitudes."""
        return _HEAVIEST * float(TABLE_SCALES[n_columns] + 1) ** n_columns * frequencies**0.5

    def summarise(self, block: Floats) -> Integers:
        """Multiply the histogram of a block by the tables, one column after another."""
        total = self.lattice.histogram(block)
        if not len(block):
            return np.zeros(self.shape, dtype=np.int64)
        for table in self.lattice.tables:
            total = np.tensordot(total, table, axes=(0, 1))  # the next column comes first, the features last
        return np.rint(total.ravel()[self.kept]).astype(np.int64)

    def tensor(self, values: Floats) -> Floats:
        """Return released values as an array of features per column, zero where nothing was released."""
        full = np.zeros(self.full_shape)
        full.ravel()[self.kept] = values
        return full

    def _norm(self, norm: int) -> float:
        """Largest norm of a contribution over all cells."""
        if norm not in self._norms:
            total = self._by_frequency**norm
            for table, top in zip(self.lattice.tables, self.lattice.top, strict=True):
                size = np.abs(table) ** norm
                both = size[: top + 1].copy()
                both[1:] += size[top + 1 :]
                total = np.tensordot(total, without_mirrored(both), axes=(0, 0))
            self._norms[norm] = float(total.max()) ** (1 / norm)
        return self._norms[norm]

    def max_norm(self, norm: int) -> float:
        """The largest over all cells."""
        return self._norm(norm)

    def max_difference(self, norm: int) -> float:
        """Two records where the kernel is least."""
        if norm == 1:
            return 2 * self._norm(1)
        square = self._by_frequency**2
        kernel = square
        for cells, top in zip(self.lattice.cells, self.lattice.top, strict=True):
            turn = 2 * np.pi / cells * (np.outer(np.arange(top + 1), np.arange(cells)) % cells)
            kernel = np.tensordot(kernel, self.lattice.scale**2 * np.cos(turn), axes=(0, 0))
        scale, d = float(self.lattice.scale), len(self.lattice.top)
        rounding = float(square.sum()) * ((scale**2 + 2**0.5 * scale + 1) ** d - scale ** (2 * d))
        least = float(kernel.min()) - rounding
        return math.sqrt(2 * self._norm(2) ** 2 - 2 * min(least, 0.0))


def without_mirrored(sizes: Floats) -> Floats:
    """Return the columns of a table without the half, or the three quarters, that repeat others bit for bit.

    Cosines and sines have the same size at cell c, cells - c and cells / 2 - c. That is looked at, not assumed: the
    largest norm over the cells that are left is the largest of all.
    """
    if np.array_equal(sizes[:, 1:], sizes[:, :0:-1]):
        sizes = sizes[:, : sizes.shape[1] // 2 + 1]
    if np.array_equal(sizes, sizes[:, ::-1]):
        sizes = sizes[:, : (sizes.shape[1] + 1) // 2]
    return sizes


class FourierFeatures(Query):
    """Sums of cos(w_m . x) and sin(w_m . x) over the records, for a public list of frequencies, and their number.

    A record is a grid point q of whole numbers; w_m in grid units is a vector of whole numbers too, so the phase
    w_m . q is exact in doubles in any order of summation, and its cosine and sine are whole numbers from a table.

    Sensitivity. A record adds the count with weight w_0, and for each of M frequencies (c, s) with c^2 + s^2 <= R over
    the table. norm: sqrt(w_0^2 + M R) in l2, w_0 + M max(|c| + |s|) in l1 (each frequency reaches it, all of them
    together only nearly). Difference: the counts cancel, so twice sqrt(M R), or twice M max(|c| + |s|); two records
    whose phases are opposite at every frequency would reach it, which frequencies in general position do not allow: not
    tight.

    Parameters
    ----------
    domain : Box, Ball or Projected
        The grid; phases are taken from its middle.
    frequencies : array of shape (n_frequencies, n_columns)
        In the domain's units.
    count_weight : float
        Weight of the count, as a multiple of the norm of all features: what it costs to know the number of records.
    """

    name = "Fourier features"

    def __init__(self, domain: Domain | Projected, frequencies: Floats, count_weight: float = 0.2) -> None:
        self.domain = domain
        m = len(frequencies)
        turns = frequencies * domain.steps / (2 * np.pi) * _TURN
        require_finite("frequencies", turns)
        self._turns = np.rint(turns).T
        if np.abs(self._turns).sum(axis=0).max(initial=0) * UNIT >= 2**52:
            raise ValueError("frequencies too high for an exact phase")
        self.frequencies = self._turns.T * 2 * np.pi / _TURN / domain.steps
        self._scale = 2**9
        phase = 2 * np.pi / _TABLE * np.arange(_TABLE)
        self._cos, self._sin = np.rint(self._scale * np.cos(phase)), np.rint(self._scale * np.sin(phase))
        count = max(1, round(count_weight * self._scale * m**0.5))
        self.shape = (1 + 2 * m,)
        self.weights = np.array([count] + [1] * (2 * m), dtype=np.int64)
        self.step = np.array([1.0] + [1 / self._scale] * (2 * m))
        self.touched = 1 + 2 * m
        self.largest = max(count, self._scale)

    def summarise(self, block: Floats) -> Integers:
        """Look up the cosine and sine of every phase; add them up."""
        grid = self.domain.clip_to_grid(block)
        m = (self.shape[0] - 1) // 2
        total = np.zeros(self.shape[0])
        total[0] = len(grid)
        rows = max(1, 2**21 // max(m, 1))
        for start in range(0, len(grid), rows):
            phase = grid[start : start + rows] @ self._turns
            phase *= _TABLE / _TURN
            index = np.rint(phase, out=phase).astype(np.int64) & (_TABLE - 1)
            total[1 : 1 + m] += self._cos[index].sum(axis=0)
            total[1 + m :] += self._sin[index].sum(axis=0)
        return np.rint(total).astype(np.int64)

    def max_norm(self, norm: int) -> float:
        """All features and the count."""
        return float(np.linalg.norm([self.weights[0], self._all(norm)], norm))

    def max_difference(self, norm: int) -> float:
        """Opposite phases at every frequency."""
        return 2 * self._all(norm)

    def _all(self, norm: int) -> float:
        each = (np.abs(self._cos) ** norm + np.abs(self._sin) ** norm).max()
        return float(((self.shape[0] - 1) / 2 * each) ** (1 / norm))
