"""Votes of records that lie outside a range: cheap where few do, in however many columns."""

import numpy as np

from knoll.arrays import Floats, Integers
from knoll.queries.query import Query, require_finite

_VOTE = 2**10  # a whole vote; parts of it are rounded down
_OUTSIDE, _RING, _NUMBER = 4, 3, 2  # weights: that a record is outside, in which ring, and in how many columns


class OutsideVotes(Query):
    """How many records lie outside a range of each column, how far, and in how many columns at once.

    A record that is outside in t columns casts a part of a vote, t^(-1/p), in each of them, twice: that it is outside,
    and in which ring; and one whole vote for t, in classes of powers of two. One that is inside everywhere adds
    nothing. The parts keep the norm of a record the same whatever t is: a histogram of d columns has sqrt(d) times its
    noise. What parts hide where many columns are left at once is told by the classes (`parts`).

    Sensitivity. With a = _OUTSIDE, b = _RING, c = _NUMBER and v(t) = floor(_VOTE t^(-1/p)), a record has norm
    (t (a^q + b^q) v(t)^q + (c _VOTE)^q)^(1/q) in l_q; the largest over t = 1, ..., d is taken. Two records that are
    outside in t and u columns share s >= t + u - d of these. In a column that they share the votes for a ring are apart
    at most, those for outside cancel but for |v(t) - v(u)|; so sharing never adds to the difference, and s is the
    least. The largest over all t and u is taken, computed term by term from the whole numbers that are added.

    Parameters
    ----------
    edges : array of shape (n_columns, 2 n_rings)
        Increasing edges of rings: those below the range, its ends, those above. The outer rings are open.
    power : {1, 2}
        p, the norm in which the noise needs sensitivities.
    """

    name = "outside votes"

    def __init__(self, edges: Floats, power: int) -> None:
        self.edges = np.asarray(edges, dtype=np.float64)
        require_finite("edges", self.edges)
        d, inner = self.edges.shape
        self.n_rings = inner // 2
        self.parts = np.floor(_VOTE * np.arange(1, d + 1) ** (-1 / power)).astype(np.int64)
        self.classes = np.ceil(np.log2(np.arange(1, d + 1))).astype(np.int64)  # of 1, 2, 3 to 4, 5 to 8, ... columns
        self.n_classes = int(self.classes[-1]) + 1
        self.shape = (d * (1 + inner) + self.n_classes,)
        sizes = (d, d * inner, self.n_classes)
        self.weights = np.repeat(np.array([_OUTSIDE, _RING, _NUMBER]), sizes)
        self.step = np.array(1.0 / _VOTE)
        self.touched = 2 * d + 1
        self.largest = _VOTE * _OUTSIDE

    def split(self, values: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the votes of each column, (d,), those of its rings, (d, 2 n_rings), and those of the classes."""
        d, inner = self.edges.shape
        return values[:d], values[d : d + d * inner].reshape(d, inner), values[d + d * inner :]

    def summarise(self, block: Floats) -> Integers:
        """Add up the parts of votes."""
        block = block[~np.isnan(block).any(axis=1)]
        d, inner = self.edges.shape
        rings = np.empty(block.shape, dtype=np.int64)
        for j, (edges, column) in enumerate(zip(self.edges, block.T, strict=True)):
            rings[:, j] = np.searchsorted(edges, column, side="right")
        outside = rings != self.n_rings
        number = outside.sum(axis=1)
        rows, columns = np.nonzero(outside)
        part = self.parts[number[rows] - 1]
        ring = rings[rows, columns]
        ring -= ring > self.n_rings  # the range itself is none
        total = np.zeros(self.shape, dtype=np.int64)
        np.add.at(total, columns, part)
        np.add.at(total, d + inner * columns + ring, part)
        classes = self.classes[number[number > 0] - 1]
        total[d + d * inner :] = _VOTE * np.bincount(classes, minlength=self.n_classes)
        return total

    def max_norm(self, norm: int) -> float:
        """Outside in as many columns as gives the largest norm."""
        votes = np.arange(1, len(self.parts) + 1) * (_OUTSIDE**norm + _RING**norm) * self.parts.astype(float) ** norm
        return float(votes.max() + (_NUMBER * _VOTE) ** norm) ** (1 / norm)

    def max_difference(self, norm: int) -> float:
        """Outside in different columns, as far as there are enough, and in different rings."""
        d = len(self.parts)
        t, u = np.arange(1, d + 1)[:, None], np.arange(1, d + 1)
        v, w = self.parts.astype(float)[:, None], self.parts.astype(float)
        shared = np.maximum(t + u - d, 0)
        outside = (t - shared) * v**norm + (u - shared) * w**norm + shared * np.abs(v - w) ** norm
        ring = t * v**norm + u * w**norm
        number = 2.0 * _VOTE**norm * (self.classes[:, None] != self.classes)
        total = _OUTSIDE**norm * outside + _RING**norm * ring + _NUMBER**norm * number
        return float(total.max()) ** (1 / norm)
