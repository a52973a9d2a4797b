"""Moments of the components of a mixture over numbers and levels: what each component holds of the records.

A component is a public (released) Gaussian of the numbers and public shares of the levels of every other column. A
record adds to it r times (what `ComponentMoments` sums of its numbers, g at its level of every column of levels), where
r is its responsibility. Levels are counted as they are: nothing is clipped, and one that no record has adds nothing.

Bit for bit a function of one record: levels are codes; a responsibility follows from the numbers' badness and from one
entry of a public table for each column of levels, added in their order.
"""

from typing import Any

import numpy as np

from knoll.arrays import Floats, Integers
from knoll.queries.components import ComponentMoments, Gaussians, Products, probabilities
from knoll.queries.product import Product
from knoll.queries.query import Query, require_finite

_UNIT = 1000  # weight of one vote of a record without numbers
_ROWS = 2**13  # records in one chunk


class MixedMoments(Query):
    """Counts, moments of the numbers and counts of the levels, per component.

    The total has shape (components, 1 + q + p + m): q numbers with p products as in `ComponentMoments`, and m levels of
    c columns.

    Sensitivity, in units where a displacement of the numbers is no longer than 1, with g the weight of a level.

    - norm: a record has exactly one level in each column: c g^2 more than `ComponentMoments` in l2^2, c g more in l1.
      Both parts are largest independently of each other, so this is reached.
    - difference within one component: numbers as in `ComponentMoments`; levels that all differ add 2 c g^2 in l2^2,
      2 c g in l1. In different components: 2^(1/norm) times the norm.
    - responsibilities are non-negative and sum to one, whatever they follow from: the argument of `ComponentMoments`
      holds, a contribution is a convex combination of contributions to one component each.
    - rounding: levels are counted in whole numbers; numbers as in `ComponentMoments`.

    Parameters
    ----------
    domain : Product
        Of numbers and levels, at least one column of levels.
    gaussians : Gaussians or None
        The components' numbers, on ``domain.take(domain.numbers)``; None without numbers.
    weights : array of shape (n_components,)
        Public weights, used without numbers.
    shares : list of arrays of shape (n_components, n_levels)
        Public shares of the levels, positive, one array for each of `domain.levels`.
    level_weight : float
        g.
    **options
        As for `ComponentMoments`: soft, products, count_weight, square_weight, bits.
    """

    def __init__(
        self,
        domain: Product,
        gaussians: Gaussians | None,
        weights: Floats,
        shares: list[Floats],
        *,
        level_weight: float,
        soft: bool = True,
        products: Products = "full",
        **options: Any,
    ) -> None:
        self.domain, self.soft, self.products = domain, soft, products
        self.name = f"{'soft' if soft else 'hard'} moments and levels"
        k = len(weights)
        self.numbers = None
        if gaussians is not None:
            self.numbers = ComponentMoments(gaussians, soft=soft, products=products, **options)
        inner = self.numbers
        self._whole = inner._whole if inner else 2 ** options["bits"] if soft else 1
        one = int(inner._parts[1]) // self._whole if inner else _UNIT
        count = int(inner.weights[0]) if inner else max(1, round(_UNIT * options["count_weight"]))
        self._level = max(1, round(level_weight * one))
        self._tables = [-2 * np.log(np.asarray(each, dtype=np.float64)) for each in shares]
        with np.errstate(divide="ignore"):
            self._heights = np.maximum(2 * np.log(np.asarray(weights, dtype=np.float64)), -1e6)
        require_finite("shares of levels", *self._tables, self._heights)
        m = sum(each for _, _, each in domain.levels)
        first = inner.weights.tolist() if inner else [count]
        self.shape = (k, len(first) + m)
        self.weights = np.array(first + [self._level] * m, dtype=np.int64)
        step = inner.step if inner else np.full((k, 1), 1.0 / self._whole)
        self.step = np.hstack([step, np.full((k, m), 1.0 / self._whole)])
        self._votes = len(domain.levels)
        self.touched = (k if soft else 1) * (len(first) + self._votes)
        self.largest = max(inner.largest if inner else count * self._whole, self._level * self._whole)
        self._count = count * self._whole

    def summarise(self, block: Floats) -> Integers:
        """Share out a chunk of records by numbers and levels, and add up."""
        block = np.asarray(block, dtype=np.float64)
        block = block[~np.isnan(block).any(axis=1)]
        q = self.numbers.domain.n_columns if self.numbers else 0
        total = np.zeros((self.shape[0], 1 + q + q * q))
        votes = [np.zeros((self.shape[0], m)) for _, _, m in self.domain.levels]
        rows = max(64, _ROWS // max(1, q // 4))
        for start in range(0, len(block), rows):
            self._add(total, votes, block[start : start + rows])
        first = self.numbers._pack(total) if self.numbers else total[:, :1].astype(np.int64)
        return np.hstack([first, *(each.astype(np.int64) for each in votes)])

    def _add(self, total: Floats, votes: list[Floats], chunk: Floats) -> None:
        """Add a chunk of records."""
        codes = [self.domain.codes(chunk, j) for j, _, _ in self.domain.levels]
        moved, squares = self._whitened(chunk)
        badness = self._badness(squares, codes)
        if self.soft:
            parts = probabilities(badness, self._whole)
        else:
            parts = np.zeros(badness.shape)
            parts[badness.argmin(axis=0), np.arange(len(chunk))] = 1.0
        for i, part in enumerate(parts):
            held = np.flatnonzero(part)
            if not held.size:
                continue
            if self.numbers:
                self.numbers._sum(total[i], moved[i][:, held], squares[i][held], part[held])
            else:
                total[i, 0] += part.sum()
            for code, each in zip(codes, votes, strict=True):
                each[i] += np.bincount(code[held], part[held], each.shape[1])

    def _whitened(self, chunk: Floats) -> tuple[list[Floats], list[Floats]]:
        """Return whitened numbers of every component, and their squared lengths."""
        if self.numbers is None:
            return [], []
        g = self.numbers.gaussians
        grid = np.ascontiguousarray(g.domain.clip_to_grid(chunk[:, self.domain.numbers]))
        moved = [g.whiten(i, grid) for i in range(g.n_cells)]
        return moved, [np.einsum("ij,ij->j", each, each) for each in moved]

    def _badness(self, squares: list[Floats], codes: list[Integers]) -> Floats:
        """Return minus twice the log of every weighted component, (components, rows)."""
        if self.numbers:
            g = self.numbers.gaussians
            badness = np.array([g.badness(i, each) for i, each in enumerate(squares)])
        else:
            badness = np.tile(-self._heights[:, None], len(codes[0]))
        for table, code in zip(self._tables, codes, strict=True):
            badness += table.take(code, axis=1)
        return badness

    def _numbers_norm(self, norm: int) -> float:
        return self.numbers.max_norm(norm) if self.numbers else float(self._count)

    def max_norm(self, norm: int) -> float:
        """Numbers on the rim of the ellipsoid, and a vote in each column of levels."""
        levels = self._level * self._whole * self._votes ** (1 / norm)
        return float(np.linalg.norm([self._numbers_norm(norm), levels], norm))

    def max_difference(self, norm: int) -> float:
        """Two records in different components, or the worst pair within one."""
        apart = 2.0 ** (1 / norm) * self.max_norm(norm) if self.shape[0] > 1 else 0.0
        levels = self._level * self._whole * (2 * self._votes) ** (1 / norm)
        within = self.numbers.within(norm) if self.numbers else 0.0
        return max(apart, float(np.linalg.norm([within, levels], norm)))
