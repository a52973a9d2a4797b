"""Fitted models as JSON: `save` and `load`. Reading a file never runs anything from it.

An estimator names what it publishes in `_published`: fitted attribute -> its shape, a letter per axis ("kd": clusters x
columns, "" for one number). Axes with the same letter must have the same length; d is the number of columns.
`_restore` sets what follows from those and refuses values that no fit gives.
"""

import json
import math
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from knoll.privacy import DataError, Privacy
from knoll.queries import Ball, Box

FORMAT = 1
ROOMS = ("knoll.cluster", "knoll.mixture", "knoll.modes", "knoll.local")
_NOT_SAVED = {"bounds", "ledger", "unit", "random_state", "verbose"}
_LARGEST_FILE = 2**30


def save(model: Any, path: str | PathLike[str]) -> None:
    """Write a fitted model as JSON. The file holds released values and public parameters only.

    Parameters
    ----------
    model : fitted estimator
        For example a fitted `knoll.Lloyd`.
    path : path-like
        The file to write; replaced in one step if it exists.
    """
    names = getattr(model, "feature_names_in_", None)
    data = {
        "knoll": FORMAT,
        **_plain(model),
        "columns": None if names is None else [str(name) for name in names],
        "bounds": _bounds_out(model.bounds_),
        "fitted": {name: _nested(np.asarray(getattr(model, name))) for name in model._published},
        "privacy": model.privacy_.to_dict(),
    }
    path = Path(path)
    draft = path.with_name(path.name + ".part")
    draft.write_text(json.dumps(data, indent=1, allow_nan=False) + "\n", encoding="utf-8")
    draft.replace(path)


def load(path: str | PathLike[str]) -> Any:
    """Read a model that `save` wrote.

    Parameters
    ----------
    path : path-like
        A JSON file.

    Returns
    -------
    model : fitted estimator
        Ready to predict; its parameters are those of the fit.
    """
    path = Path(path)
    try:
        if path.stat().st_size > _LARGEST_FILE:
            raise DataError(f"{path.name} is too large to be a model")
        data = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise DataError(f"no such model: {path}") from None
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"{path.name} cannot be read as a model: {type(error).__name__}") from None
    try:
        with np.errstate(invalid="raise"):  # infinity where an integer should be
            return _build(data)
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, MemoryError) as error:
        raise DataError(f"{path.name} is not a knoll model, or is damaged: {error}") from None


def _build(data: dict[str, Any]) -> Any:
    if data["knoll"] != FORMAT:
        raise ValueError(f"format {data['knoll']!r} is not {FORMAT}")
    bounds = _bounds_in(data["bounds"])
    model = _estimator(data)
    model.set_params(bounds=bounds)
    model.bounds_, model.n_features_in_ = bounds, bounds.n_columns
    lengths = {"d": bounds.n_columns}
    for name, axes in model._published.items():
        array = _array(data["fitted"][name], name)
        if not array.size and len(axes) > 1:  # an empty list has lost its other axes
            array = array.reshape(0, *(lengths.get(axis, 0) for axis in axes[1:]))
        if array.ndim != len(axes) or any(
            lengths.setdefault(axis, n) != n for axis, n in zip(axes, array.shape, strict=True)
        ):
            raise ValueError(f"its parts do not fit together ({name})")
        setattr(model, name, array if axes else array.item())
    if data["columns"] is not None:
        names = data["columns"]
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise ValueError("its columns are not a list of names")
        if len(names) != bounds.n_columns:
            raise ValueError("its columns do not fit its bounds")
        model.feature_names_in_ = np.array(names, dtype=object)
    model.privacy_ = Privacy.from_dict(data["privacy"])
    model._restore()
    return model


def _estimator(data: dict[str, Any]) -> Any:
    """Return an unfitted estimator of a known kind; parameters may hold another."""
    kind = _kinds().get(data["estimator"])
    if kind is None:
        raise ValueError(f"unknown estimator {data['estimator']!r}")
    known = {name: data["parameters"][name] for name in _saved_parameters(kind)}
    return kind(**{name: _estimator(value) if isinstance(value, dict) else value for name, value in known.items()})


def _kinds() -> dict[str, type]:
    """Name -> class of everything that can be saved."""
    import knoll

    places = ((name, place) for name, place in knoll._WHERE.items() if place in ROOMS)
    found = ((name, getattr(knoll, name)) for name, _ in places)
    return {name: kind for name, kind in found if hasattr(kind, "_published")}


def _saved_parameters(kind: Any) -> list[str]:
    return sorted(set(kind._get_param_names()) - _NOT_SAVED)


def _bounds_out(bounds: Box | Ball) -> dict[str, Any]:
    if isinstance(bounds, Box):
        return {
            "kind": "box",
            "lower": list(bounds.lower),
            "upper": list(bounds.upper),
            "names": bounds.names,
        }
    return {"kind": "ball", "radius": bounds.radius, "middle": list(bounds.middle), "names": bounds.names}


def _bounds_in(data: dict[str, Any]) -> Box | Ball:
    names = None if data["names"] is None else tuple(map(str, data["names"]))
    if data["kind"] == "box":
        return Box(tuple(data["lower"]), tuple(data["upper"]), names)
    if data["kind"] == "ball":
        return Ball(data["radius"], tuple(data["middle"]), names)
    raise ValueError(f"unknown bounds {data['kind']!r}")


def _plain(value: Any) -> Any:
    """Numpy scalars as Python ones and an estimator as its name and parameters, for JSON."""
    if hasattr(value, "get_params"):
        return {
            "estimator": type(value).__name__,
            "parameters": {name: _plain(getattr(value, name)) for name in _saved_parameters(type(value))},
        }
    return value.item() if isinstance(value, np.generic) else value


def _nested(array: np.ndarray) -> Any:
    """Nested lists, infinity as null: JSON has no word for it."""
    if array.ndim == 0:
        return array.item() if np.isfinite(array) else None
    return (
        [_nested(row) for row in array] if array.ndim > 1 else [x if math.isfinite(x) else None for x in array.tolist()]
    )


def _array(nested: Any, name: str) -> np.ndarray:
    array = np.array(nested, dtype=object)
    if array.size and not all(
        x is None or (isinstance(x, int | float) and not isinstance(x, bool)) for x in array.flat
    ):
        raise ValueError(f"{name} holds something that is not a number")
    return np.where(array == None, np.inf, array).astype(np.float64)  # noqa: E711 (element-wise)
