"""Synthetic rows in the user's terms, drawn from released values: they cost nothing and are as private as the model.

A row belongs to one component. Its levels are drawn first, one column after the other: by the component's shares, moved
by what the released covariances say about columns that are drawn already. Then its numbers are drawn from the Gaussian
given those levels. So shares and correlations are those of the model, every level is a declared one, and a number
beyond a bound is folded back into the bounds.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from knoll.arrays import Floats
from knoll.columns import Boolean, Columns
from knoll.columns.frames import TableType, as_frame, plain_table, to_table, usual_library
from knoll.parameters import check_count
from knoll.queries import Box, Circle, Corners, Product

_MOST_ROWS = 10**9
_ENTRIES = 2**22  # coordinates that are drawn at a time
_FLAT = 1e-3  # directions of less than this part of the largest variance tell nothing about other columns


class Sampled:
    """Base of models that synthetic rows can be drawn from: they tell weights, means and spreads (`_drawn_from`)."""

    def _drawn_from(self) -> tuple[Floats, Floats, Floats]:
        """Return weights, means, and covariances or variances."""
        raise NotImplementedError

    def sample(self, n_samples: int = 1, random_state: Any = None, frame: str | None = "auto") -> Any:
        """Draw synthetic rows, within the bounds. They are as private as the model, and cost nothing.

        Where kinds of columns were declared, or a DataFrame was fitted, a DataFrame with the same names: levels as
        texts, yes and no as booleans, dates as dates, amounts as amounts. Else an array (n_samples, n_features).

        Parameters
        ----------
        n_samples : int
            How many.
        random_state : int, RandomState or None
            Public randomness.
        frame : {"auto", "pandas", "polars"} or None
            Library of the DataFrame; by default that of the table which was fitted. None gives an Arrow table. If
            arrays or files of plain numbers were fitted, "auto" gives an array.
        """
        check_is_fitted(self)
        rng = check_random_state(random_state)
        encoded = draw_rows(self, check_count("n_samples", n_samples, _MOST_ROWS), rng)
        columns: Columns | None = getattr(self, "columns_", None)
        fitted: TableType = getattr(self, "table_type_", TableType())
        if columns is None and frame == "auto" and fitted.library is None:
            return encoded
        library = usual_library(self) if frame == "auto" else frame
        if columns is None:
            return as_frame(plain_table(getattr(self, "feature_names_in_", None), encoded), library)
        return as_frame(to_table(columns, encoded, fitted.categories), library, list(columns.keys))


def draw_rows(model: Any, n_rows: int, rng: np.random.RandomState) -> Floats:
    """Return encoded synthetic rows of a fitted model, (n_rows, columns)."""
    bounds = model.bounds_
    weights, means, spreads = model._drawn_from()
    weights = weights if weights.sum() > 0 else np.ones(len(weights))
    component = rng.choice(len(weights), size=n_rows, p=weights / weights.sum())
    rows = np.empty((n_rows, bounds.n_sources))
    most = max(1, _ENTRIES // bounds.n_columns)
    for k in np.unique(component):
        drawing = _Drawing.of(model, means[k], spreads[k])
        members = np.flatnonzero(component == k)
        for start in range(0, len(members), most):
            here = members[start : start + most]
            rows[here] = drawing.draw(len(here), rng)
    return rows


@dataclass(frozen=True)
class _Drawing:
    """One component: the Gaussian of its coordinates, and which of them are levels."""

    bounds: Any
    mean: Floats
    covariance: Floats
    levels: list[slice]
    """Coordinates of columns of levels, booleans too: drawn before the others."""

    @classmethod
    def of(cls, model: Any, mean: Floats, spread: Floats) -> "_Drawing":
        bounds: Any = model.bounds_
        covariance = np.diag(spread) if spread.ndim == 1 else np.array(spread)
        if not isinstance(bounds, Product):
            return cls(bounds, mean, covariance, [])
        if len(covariance) < len(mean):  # a mixture with categorical parts: levels are drawn by their shares alone
            numbers, covariance = covariance, np.zeros((len(mean), len(mean)))
            covariance[np.ix_(bounds.number_places, bounds.number_places)] = numbers
        columns: Columns = model.columns_
        mean, levels = mean.copy(), []
        for (_, kind), part, where in zip(columns, bounds.parts, bounds.slices, strict=True):
            if isinstance(part, Corners):
                mean[where] = _shares(mean[None, where])[0]
            if isinstance(part, Corners) or isinstance(kind, Boolean):
                levels.append(where)
        return cls(bounds, mean, covariance, levels)

    def draw(self, n_rows: int, rng: np.random.RandomState) -> Floats:
        """Return encoded rows."""
        points = np.empty((n_rows, len(self.mean)))
        known: list[int] = []
        for where in self.levels:
            here = list(range(where.start, where.stop))
            points[:, here] = _one_level(self._given(points, known, here)[0], rng)
            known += here
        rest = [j for j in range(len(self.mean)) if j not in set(known)]
        if rest:
            expected, left = self._given(points, known, rest)
            points[:, rest] = expected + rng.normal(size=expected.shape) @ _root(left).T
        return self._encoded(points)

    def _given(self, points: Floats, known: list[int], wanted: list[int]) -> tuple[Floats, Floats]:
        """Return expected coordinates given those that are known, and the covariance that is left."""
        whole = self.covariance
        start = np.broadcast_to(self.mean[wanted], (len(points), len(wanted)))
        across = whole[np.ix_(wanted, known)]
        if not known or not across.any():
            return start, whole[np.ix_(wanted, wanted)]
        scale = np.sqrt(np.diag(whole)[known])
        inner = whole[np.ix_(known, known)] / np.outer(scale, scale)
        slope = (across / scale) @ np.linalg.pinv(inner, rcond=_FLAT, hermitian=True) / scale
        moved = start + (points[:, known] - self.mean[known]) @ slope.T
        return moved, whole[np.ix_(wanted, wanted)] - slope @ across.T

    def _encoded(self, points: Floats) -> Floats:
        """Return points of the domain as encoded rows within bounds."""
        bounds = self.bounds
        if not isinstance(bounds, Product):
            return folded(points, *bounds.corners) if isinstance(bounds, Box) else bounds.clip(points)
        rows = np.empty((len(points), bounds.n_sources))
        for j, (part, where) in enumerate(zip(bounds.parts, bounds.slices, strict=True)):
            own = points[:, where]
            if isinstance(part, Corners):
                rows[:, j] = own.argmax(axis=1)
            elif isinstance(part, Circle):
                rows[:, j] = np.mod(np.arctan2(own[:, 1], own[:, 0]) / (2 * np.pi), 1.0)
            else:
                rows[:, j] = folded(own[:, 0], part.lower, part.upper)
        return rows


def folded(values: Floats, lower: Any, upper: Any) -> Floats:
    """Return values with what lies beyond a bound folded back; what lies a whole width beyond is at a bound.

    >>> folded(np.array([-1.0, 3.0, 12.0, 99.0]), 0.0, 10.0).tolist()
    [1.0, 3.0, 8.0, 0.0]
    """
    once = np.where(values < lower, 2 * lower - values, np.where(values > upper, 2 * upper - values, values))
    return np.clip(once, lower, upper)


def _one_level(expected: Floats, rng: np.random.RandomState) -> Floats:
    """Draw one level by each row's shares, as a corner; of a single coordinate, a yes or a no."""
    if expected.shape[1] == 1:
        return (rng.random_sample((len(expected), 1)) < expected).astype(np.float64)
    ends = np.cumsum(_shares(expected), axis=1)
    drawn = (rng.random_sample((len(expected), 1)) * ends[:, -1:] >= ends).sum(axis=1)
    corners = np.zeros_like(ends)
    corners[np.arange(len(ends)), np.minimum(drawn, ends.shape[1] - 1)] = 1.0
    return corners


def _shares(points: Floats) -> Floats:
    """Return shares that are not negative and sum to one."""
    kept = np.maximum(points, 0.0)
    whole = kept.sum(axis=1, keepdims=True)
    return np.where(whole > 0, kept / np.where(whole > 0, whole, 1.0), 1.0 / points.shape[1])


def _root(covariance: Floats) -> Floats:
    """Return a root of a covariance whose negative directions, left by rounding, are flat."""
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))
