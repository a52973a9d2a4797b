"""Missing values filled in by released means: one release, before all others of a fit.

Columns that are declared with ``missing="impute"`` get the mean of their observed values; categories the most frequent
level; what comes round again, the mean direction. From then on these values are public, and a record with a gap counts
as the record that they make of it: a function of that record alone. A null record stays one (`Engine._complete`).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from knoll.arrays import Floats
from knoll.columns import Columns
from knoll.privacy import Ask, Grant
from knoll.queries import Circle, Corners, ObservedMeans, Product

IMPUTE_SHARE = 0.05
"""Share of the budget: at 1,000 records and epsilon 1 the mean of one column is then known to a fiftieth of its bounds;
what is left has 2.5 % more noise."""

_DOUBT = 2.0  # standard errors of a count: with fewer values than that, the mean goes to the middle of the bounds


def imputed_places(columns: Columns | None) -> list[int]:
    """Return the places of columns whose missing values are filled in."""
    return [] if columns is None else [j for j, (_, kind) in enumerate(columns) if kind.missing == "impute"]


@dataclass(frozen=True)
class Imputing:
    """What a fit does about gaps: which columns are filled in, and with what if that is known already."""

    places: list[int]
    domain: Any
    known: Floats | None

    @classmethod
    def of(cls, estimator: Any, domain: Any) -> "Imputing":
        """Return what an estimator with these columns does."""
        return cls(imputed_places(getattr(estimator, "columns_", None)), domain, getattr(estimator, "imputed_", None))

    @property
    def share(self) -> float:
        """Share of the budget that it costs."""
        return IMPUTE_SHARE if self.places and self.known is None else 0.0

    @property
    def asks(self) -> list[Ask]:
        """What is released, at most."""
        return [Ask.like(ObservedMeans(self.domain, self.places), share=self.share)] if self.share else []

    def fill(self, engine: Any, grant: Grant) -> Floats | None:
        """Have an engine fill in gaps; return what with, encoded, NaN for other columns; None if there are none."""
        if not self.places:
            return None
        fills = self._bought(grant, engine.n_columns) if self.known is None else self.known
        engine.impute(fills)
        return fills

    def _bought(self, grant: Grant, n_columns: int) -> Floats:
        """Release means of observed values."""
        query = ObservedMeans(self.domain, self.places)
        released = grant.worth(self.share).release(query)
        fills = np.full(n_columns, np.nan)
        for j, where in zip(query.columns, query.slices, strict=True):
            count, sums = float(released.value[where.start]), released.value[where.start + 1 : where.stop]
            least = max(1.0, _DOUBT * float(released.stderr[where.start]))
            fills[j] = _fill(self.domain, j, sums / max(count, least))
        return fills


def _fill(domain: Product, column: int, from_middle: Floats) -> float:
    """Return the encoded value nearest to a mean, which is given from the middle of the domain."""
    part = domain.parts[column]
    mean = domain.centre[domain.slices[column]] + from_middle
    if isinstance(part, Corners):
        return float(mean.argmax())
    if isinstance(part, Circle):
        return float(np.mod(np.arctan2(mean[1], mean[0]) / (2 * np.pi), 1.0))
    return float(np.clip(mean[0], part.lower, part.upper))


def filled(rows: Floats, fills: Floats | None) -> Floats:
    """Return encoded rows with the values that a model fills in, if it does; other gaps stay."""
    return rows if fills is None else np.where(np.isfinite(rows), rows, fills)
