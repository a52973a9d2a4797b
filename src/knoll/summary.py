"""Released clusters in the user's terms: one row per cluster, dates as dates, amounts as amounts, shares of levels.

Everything here is made from released values and the declared columns.
"""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from knoll.columns import Columns, Cyclic, Date, Kind, Log, Ordered
from knoll.columns.frames import frame_of
from knoll.queries import Box, Product

MOST_LEVELS = 3  # of a category that are named: the rest are few, or many and alike
MOST_APART = 3  # columns that are said to set a cluster apart
OWN = ("cluster", "size", "share", "sets it apart")  # columns of a summary itself
LEAST_APART = 2.0  # standard errors that a column must differ by: less may be noise


class Summarised:
    """Base of models with a `summary`: they tell points, their errors and sizes (`_summarised`)."""

    def _summarised(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return points, standard errors and sizes."""
        raise NotImplementedError

    def summary(self, frame: str | None = "auto") -> Any:
        """Return a DataFrame in the terms of the data: one row per cluster or component, the largest first.

        Its size and share; the value of every column with its standard error (dates as dates, amounts of a log scale as
        amounts, shares of levels); and the columns that set it apart from all records together.

        Parameters
        ----------
        frame : {"auto", "pandas", "polars"} or None
            Library of the DataFrame; by default that of the table which was fitted, else pandas. None gives a dict of
            lists.
        """
        check_is_fitted(self)
        table = summary_table(self, *self._summarised())
        if frame is None:
            return table
        return frame_of(self, table, frame)


def summary_table(model: Any, points: np.ndarray, errors: np.ndarray, sizes: np.ndarray) -> dict[str, list[Any]]:
    """Return the columns of a summary by name, largest cluster first.

    Parameters
    ----------
    model : fitted estimator
        With `bounds_` and, if kinds were declared, `columns_`.
    points, errors : arrays of shape (k, n_coordinates)
        Centres or means, and their standard errors.
    sizes : array of shape (k,)
        Released sizes, or weights.
    """
    order = np.argsort(-sizes, kind="stable")
    share = np.maximum(sizes, 0.0) / max(float(np.maximum(sizes, 0.0).sum()), 1e-300)
    table: dict[str, list[Any]] = {
        "cluster": order.tolist(),
        "size": sizes[order].tolist(),
        "share": share[order].tolist(),
    }
    for name, kind, where in _columns(model):
        values, spreads = _in_terms(kind, points[order][:, where], errors[order][:, where])
        name = f"{name} (column)" if name in OWN else name
        table[name] = values
        table[f"{name} ±"] = spreads
    whole = share @ points
    table["sets it apart"] = [_apart(model, points[i], errors[i], whole) for i in order]
    return table


def _columns(model: Any) -> list[tuple[str, Kind | None, slice]]:
    """Return name, kind and coordinates of every column; no kind where bounds are numbers."""
    bounds: Box = model.bounds_
    columns: Columns | None = getattr(model, "columns_", None)
    if columns is None:
        names = getattr(model, "feature_names_in_", [f"x{j}" for j in range(bounds.n_columns)])
        return [(str(name), None, slice(j, j + 1)) for j, name in enumerate(names)]
    assert isinstance(bounds, Product)
    return [(name, kind, where) for (name, kind), where in zip(columns, bounds.slices, strict=True)]


def _in_terms(kind: Kind | None, points: np.ndarray, errors: np.ndarray) -> tuple[list[Any], list[Any]]:
    """Return a column's values and their errors, a row each."""
    if kind is None:
        return points[:, 0].tolist(), errors[:, 0].tolist()
    if kind.part[0] == "corners":
        names = [name.partition("=")[2] for name in kind.coordinates("")]
        return [_levels(names, row) for row in points], [float(row.max()) for row in errors]
    if isinstance(kind, Cyclic):
        turns = np.mod(np.arctan2(points[:, 1], points[:, 0]) / (2 * np.pi), 1.0)
        length = np.maximum(np.linalg.norm(points, axis=1), 1e-9)
        return kind.decode(turns).tolist(), (errors.max(axis=1) / length / (2 * np.pi) * kind.period).tolist()
    if isinstance(kind, Log):
        values = kind.decode(points[:, 0])
        known = np.isfinite(errors[:, 0])
        factor = np.exp2(np.where(known, np.minimum(errors[:, 0], 60.0), 0.0)) - 1
        return values.tolist(), np.where(known, values * factor, np.inf).tolist()
    if isinstance(kind, Date):
        return kind.decode(points[:, 0]).tolist(), errors[:, 0].tolist()
    if isinstance(kind, Ordered):
        return [str(level) for level in kind.decode(points[:, 0])], errors[:, 0].tolist()
    return points[:, 0].tolist(), errors[:, 0].tolist()


def _levels(names: list[str], shares: np.ndarray) -> str:
    """Return the largest shares in words: ``gold 62 %, basic 30 %``."""
    shares = _proper(shares)
    top = np.argsort(-shares, kind="stable")[:MOST_LEVELS]
    return ", ".join(f"{names[i]} {shares[i]:.0%}".replace("%", " %") for i in top if shares[i] >= 0.005)


def _proper(shares: np.ndarray) -> np.ndarray:
    """Return the nearest shares that are not negative and sum to one: with noise, released ones may miss that."""
    falling = -np.sort(-shares)
    above = (np.cumsum(falling) - 1.0) / np.arange(1, len(shares) + 1)
    return np.maximum(shares - above[np.flatnonzero(falling > above)[-1]], 0.0)


def _apart(model: Any, point: np.ndarray, error: np.ndarray, whole: np.ndarray) -> str:
    """Return the columns in which a cluster differs most from all records together, as far as noise lets one say."""
    bounds: Box = model.bounds_
    gap = (point - whole) / bounds.scales
    sure = np.abs(point - whole) > LEAST_APART * error
    found = []
    for name, kind, where in _columns(model):
        most = where.start + int(np.abs(gap[where]).argmax())
        if not sure[most]:
            continue
        word = "higher" if gap[most] > 0 else "lower"
        if kind is not None and kind.part[0] == "corners":
            name, word = kind.coordinates(name)[most - where.start], "more" if gap[most] > 0 else "fewer"
        elif isinstance(kind, Cyclic):
            word = "another time"
        elif isinstance(kind, Date):
            word = "later" if gap[most] > 0 else "earlier"
        found.append((float(np.linalg.norm(gap[where])), f"{name} {word}"))
    return ", ".join(words for _, words in sorted(found, reverse=True)[:MOST_APART])
