"""What a diagnosis reads: released values and public parameters of one fit, the same for every kind of estimator."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from knoll.arrays import Floats


@dataclass(frozen=True)
class Facts:
    """Released values and public parameters of a fit.

    Attributes
    ----------
    names : tuple of str
        Names of the columns.
    lower, upper : arrays of shape (d,)
        The bounds; those of the surrounding cube if they are a ball.
    ball : bool
        Whether the bounds are a ball.
    raw_units : bool
        Whether distances are in raw units.
    warning : str
        What the privacy statement warns of.
    in_doubt : boolean array of shape (d,)
        Columns whose bought bounds are in doubt.
    closed : boolean array of shape (d,)
        Columns whose values cannot lie beyond their bounds: yes or no, levels in order.
    kind : str
        What is found: "cluster", "component" or "mode".
    at, errors : arrays of shape (k, d)
        Where they are, and the standard errors of that.
    sizes : array of shape (k,)
        How many records each has; for modes, one each.
    seen : boolean array of shape (k,)
        Which of them can be told from noise.
    spread : array of shape (k, d) or None
        The standard deviation of the records of each, if it was released.
    asked : int or None
        How many were asked for; None if the number was chosen, or is not a parameter.
    confidence : float
        If the number was chosen: how sure it is.
    candidates : array of shape (m, 2)
        Numbers that were considered, and how probable each is.
    grain : array of shape (d,)
        Half a cell of the grid that all was found from, in widths of the bounds; 0 if there is none.
    records, noise : float
        Released number of records, and the standard error of the size of one cluster.
    quietest : float
        The least noise of a count in any release; infinite if it was not asked for.
    others : tuple of (name, share, standard error)
        For each category, the share of values that are none of its declared levels.
    """

    names: tuple[str, ...]
    lower: Floats
    upper: Floats
    ball: bool
    raw_units: bool
    warning: str
    in_doubt: np.ndarray
    closed: np.ndarray = field(default_factory=lambda: np.zeros(1, dtype=bool))
    kind: str = "cluster"
    at: np.ndarray = field(default_factory=lambda: np.empty((0, 1)))
    errors: np.ndarray = field(default_factory=lambda: np.empty((0, 1)))
    sizes: np.ndarray = field(default_factory=lambda: np.empty(0))
    seen: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=bool))
    spread: np.ndarray | None = None
    asked: int | None = None
    confidence: float = 1.0
    candidates: np.ndarray = field(default_factory=lambda: np.empty((0, 2)))
    grain: Floats | float = 0.0
    records: float = np.inf
    noise: float = 0.0
    quietest: float = np.inf
    others: tuple[tuple[str, float, float], ...] = ()

    @property
    def width(self) -> Floats:
        """Width of each column's bounds."""
        return self.upper - self.lower

    @property
    def weight(self) -> np.ndarray:
        """Part of the records in each cluster that is seen; they sum to one."""
        sizes = np.where(self.seen, np.maximum(self.sizes, 0.0), 0.0)
        return sizes / max(float(sizes.sum()), 1e-300)

    def columns(self, which: np.ndarray) -> list[str]:
        """Return the names of some columns, in quotes."""
        return [repr(self.names[j]) for j in np.flatnonzero(which)]


def facts_of(model: Any, **found: Any) -> Facts:
    """Return the facts of a fitted model: what every estimator has, and what this one found."""
    bounds = model.bounds_
    names = getattr(model, "feature_names_in_", None)
    if found.get("spread") is not None and not np.isfinite(found["spread"]).all():  # of a file of an earlier version
        found["spread"] = None
    kept = np.arange(bounds.n_columns)
    if hasattr(model, "columns_"):  # levels and circles have no bounds that could be wrong
        found = {"others": _others(model, **found)} | found
        names, kept = bounds.names, np.array(bounds.on_lines or [0])
        found |= {name: found[name][:, kept] for name in ("at", "errors", "spread") if found.get(name) is not None}
    d = len(kept)
    closed = np.isin(kept, _closed(model))
    doubt = np.asarray(getattr(model, "bounds_in_doubt_", False)) != 0
    doubt = np.zeros(d, dtype=bool) if hasattr(model, "columns_") else np.broadcast_to(doubt, (d,))
    return Facts(
        names=tuple(f"x{j}" for j in range(d)) if names is None else tuple(str(names[j]) for j in kept),
        lower=(bounds.centre - bounds.half)[kept],
        upper=(bounds.centre + bounds.half)[kept],
        ball=hasattr(bounds, "radius"),
        raw_units=not getattr(model, "scale_by_bounds", True),
        warning=model.privacy_.warning,
        in_doubt=doubt,
        grain=_grain(model, d),
        closed=closed,
        **found,
    )


def _others(model: Any, **found: Any) -> tuple[tuple[str, float, float], ...]:
    """Return the share of "other" in each category over all clusters that are seen, and its standard error."""
    if found.get("at") is None or not np.any(found["seen"]):
        return ()
    sizes = np.where(found["seen"], np.maximum(found["sizes"], 0.0), 0.0)
    weight = sizes / max(float(sizes.sum()), 1e-300)
    errors = np.where(weight[:, None] > 0, found["errors"], 0.0)
    pairs = zip(model.columns_, model.bounds_.slices, strict=True)
    at = {name: where.start + kind.other for (name, kind), where in pairs if kind.word == "category"}
    return tuple(
        (name, float(weight @ found["at"][:, j]), float(np.linalg.norm(weight * errors[:, j])))
        for name, j in at.items()
    )


def _grain(model: Any, n_columns: int) -> Floats | float:
    """Return half a cell of a released grid, in widths; 0 if none was released."""
    shapes = [entry.shape for entry in model.privacy_.releases if entry.query == "grid histogram"]
    return 0.5 / np.array(shapes[-1], dtype=np.float64) if shapes and len(shapes[-1]) == n_columns else 0.0


def _closed(model: Any) -> list[int]:
    """Return the coordinates of columns that hold declared levels alone, if kinds were declared."""
    if not hasattr(model, "columns_"):
        return []
    pairs = zip(model.columns_, model.bounds_.slices, strict=True)
    return [j for (_, kind), where in pairs if hasattr(kind, "levels") or kind.word == "boolean"
            for j in range(where.start, where.stop)]  # fmt: skip


def visible(model: Any, name: str, errors: np.ndarray, sizes: np.ndarray, size_errors: np.ndarray) -> np.ndarray:
    """Return which clusters are seen: as the model says, or those with finite errors and a size above its noise."""
    said = getattr(model, name, None)
    if said is not None:
        return np.asarray(said) != 0
    return np.isfinite(errors).all(axis=1) & (sizes > 2 * size_errors)


def chosen(model: Any, name: str, given: Any) -> dict[str, Any]:
    """Return how many were asked for; or, if the number was chosen, how sure it is and what else was considered."""
    if given is not None:
        return {"asked": int(given)}
    candidates = np.asarray(getattr(model, f"{name}_candidates_", np.empty((0, 2))), dtype=np.float64)
    return {"confidence": float(getattr(model, f"{name}_confidence_", 1.0)), "candidates": candidates.reshape(-1, 2)}


def quietest(model: Any) -> float:
    """Return the least noise of a count in any release: no size that a fit publishes can be known much better."""
    return min((float(entry.scale / entry.sensitivity) for entry in model.privacy_.releases), default=0.0)
