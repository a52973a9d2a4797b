"""A window of a domain, cut into cells and wrapped round; and how many records lie in each cell."""

import math
from functools import cached_property

import numpy as np

from knoll.arrays import Floats, Integers
from knoll.queries.domain import Box, Domain
from knoll.queries.query import COUNT_WEIGHT, Query, one_vote, require_finite

TABLE_SCALES = {1: 2**9, 2: 2**6, 3: 2**5}  # of the tables, by the number of columns


class Lattice:
    """A window of a domain, cut into cells and wrapped round: the torus on which a Fourier series lives.

    Column j's window [low, high] is padded to a period L_j, cut into `cells` cells. A record outside the window has no
    place on the lattice. Frequency k of column j is 2 pi k / L_j, k = 0 .. top_j.

    Parameters
    ----------
    domain : Domain
        Where records lie; its grid is the lattice's source.
    low, high : arrays of shape (n_columns,)
        The window, public or released, in the domain's units.
    pad : array of shape (n_columns,)
        Added to the window's width to make a period, so that the two ends do not touch.
    top : tuple of int
        Highest frequency per column.
    cells : tuple of int, optional
        Cells per column, more than twice the highest frequency; by default at least eight times.
    """

    def __init__(
        self,
        domain: Domain,
        low: Floats,
        high: Floats,
        pad: Floats,
        top: tuple[int, ...],
        cells: tuple[int, ...] | None = None,
    ) -> None:
        self.domain, self.top = domain, top
        self.low, self.high = np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)
        self.period = self.high - self.low + pad
        d = len(top)
        finest = {1: 13, 2: 9, 3: 7}[d]
        self.cells = cells or tuple(2 ** max(4, min(finest, math.ceil(math.log2(8 * k + 1)))) for k in top)
        self.scale = TABLE_SCALES[d]
        self.width = self.period / np.array(self.cells)
        self._end = (self.high - self.low) / self.width
        require_finite("the window and its padding", self.low, self._end)
        require_finite("the window's widths", self.period, domain.steps / self.width, positive=True)

    @classmethod
    def of(cls, low: Floats, high: Floats, period: Floats, top: Integers, cells: Integers) -> "Lattice":
        """Rebuild a lattice from its numbers, to evaluate a released series on."""
        box = Box(tuple(low), tuple(high))
        made = cls(box, low, high, period - (high - low), tuple(top.tolist()), tuple(cells.tolist()))
        made.period = np.asarray(period, dtype=np.float64)  # bit for bit
        made.width = made.period / np.array(made.cells)
        return made

    @cached_property
    def tables(self) -> list[Floats]:
        """Per column, the whole numbers nearest to scale * (cos 0, cos 1 .. cos K, sin 1 .. sin K) of each cell."""
        made: dict[tuple[int, int], Floats] = {}  # columns are often alike
        for cells, top in set(zip(self.cells, self.top, strict=True)):
            turn = 2 * np.pi / cells * np.arange(cells)
            cosine, sine = np.rint(self.scale * np.cos(turn)), np.rint(self.scale * np.sin(turn))
            times = np.outer(np.arange(top + 1), np.arange(cells)) % cells
            made[cells, top] = np.vstack([cosine[times], sine[times[1:]]])
        return [made[alike] for alike in zip(self.cells, self.top, strict=True)]

    @cached_property
    def blur(self) -> list[Floats]:
        """Per column, what the rounding of records to cells leaves of each frequency's amplitude."""
        return [np.sinc(np.arange(top + 1) / cells) for top, cells in zip(self.top, self.cells, strict=True)]

    @cached_property
    def _turns(self) -> list[tuple[Floats, Floats]]:
        """Per column, its frequencies, and what a second derivative multiplies each with."""
        turns = [2 * np.pi / each * np.arange(top + 1) for each, top in zip(self.period, self.top, strict=True)]
        return [(w, -np.square(w)) for w in turns]

    def histogram(self, block: Floats) -> Floats:
        """Count the records of a block in each cell; element-wise arithmetic decides the cell."""
        per_cell, first = self.domain.steps / self.width, (self.domain.centre - self.low) / self.width
        place = self.domain.clip_to_grid(block) * per_cell + first
        inside = ((place >= 0) & (place <= self._end)).all(axis=1)
        if not inside.all():
            place = place[inside]
        index = np.minimum(place.astype(np.int64), np.array(self.cells) - 1)
        flat = np.ravel_multi_index(tuple(index.T), self.cells)
        return np.bincount(flat, minlength=math.prod(self.cells)).astype(np.float64).reshape(self.cells)

    def basis(self, column: int, points: Floats, order: int = 0, top: int | None = None) -> Floats:
        """The column's features, or their derivatives, at points: (points,) -> (points, 2 top + 1).

        A record counts as lying in the middle of its cell, hence the shift by half a cell.
        """
        return self.bases(column, points, self.top[column] if top is None else top, order)[order]

    def bases(self, column: int, points: Floats, top: int, orders: int) -> Floats:
        """The same for all orders up to the second, (1 + orders, points, 2 top + 1): one sine and cosine for all."""
        w, curve = (each[: top + 1] for each in self._turns[column])
        phase = (points - self.low[column] - self.width[column] / 2)[:, None] * w
        found = np.empty((1 + orders, len(points), 2 * top + 1))
        np.cos(phase, out=found[0, :, : top + 1])
        np.sin(phase[:, 1:], out=found[0, :, top + 1 :])
        if orders >= 1:
            found[1, :, 0] = 0.0
            np.multiply(-w[1:], found[0, :, top + 1 :], out=found[1, :, 1 : top + 1])
            np.multiply(w[1:], found[0, :, 1 : top + 1], out=found[1, :, top + 1 :])
        if orders >= 2:
            np.multiply(curve, found[0, :, : top + 1], out=found[2, :, : top + 1])
            np.multiply(curve[1:], found[0, :, top + 1 :], out=found[2, :, top + 1 :])
        return found

    def frequency_of_feature(self, column: int) -> Integers:
        """The frequency number of each of a column's features."""
        k = np.arange(self.top[column] + 1)
        return np.concatenate([k, k[1:]])


class LatticeCounts(Query):
    """The number of records in each cell of a window: what pure differential privacy releases instead.

    One vote has l1 norm 1, where a vector of features has many times that.

    Sensitivity. A record adds 1 to one cell, or to none outside the window: bound 1 vote; spread sqrt(2) votes in l2
    and 2 in l1.

    Parameters
    ----------
    lattice : Lattice
        The window and its cells.
    """

    name = "counts on a lattice"

    def __init__(self, lattice: Lattice) -> None:
        self.lattice, self.domain = lattice, lattice.domain
        ends = np.floor((lattice.high - lattice.low) / lattice.width).astype(int) + 1
        self.shape = tuple(int(min(end, cells)) for end, cells in zip(ends, lattice.cells, strict=True))
        self.weights, self.step = np.array(COUNT_WEIGHT), np.array(1.0)
        self.touched, self.largest = 1, COUNT_WEIGHT

    def summarise(self, block: Floats) -> Integers:
        """Count the records of a block."""
        counts = self.lattice.histogram(block)[tuple(slice(0, end) for end in self.shape)]
        return counts.astype(np.int64)

    def max_norm(self, norm: int) -> float:
        """One vote."""
        return one_vote(norm, math.prod(self.shape))[0]

    def max_difference(self, norm: int) -> float:
        """A vote that moves from one cell to another."""
        return one_vote(norm, math.prod(self.shape))[1]
