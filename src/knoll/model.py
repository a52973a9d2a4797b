"""Fitted models as JSON: `save` and `load`. Reading a file never runs anything from it.

An estimator names what it publishes in `_published`: fitted attribute -> its shape, a letter per axis ("kd": clusters x
columns, "" for one number). Axes with the same letter must have the same length; d is the number of columns, 2 is 2.
`_restore` sets what follows from those and refuses values that no fit gives.
"""

import json
import math
import warnings
from importlib.metadata import PackageNotFoundError, version
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from knoll.columns import Columns, domain_of
from knoll.columns.frames import TableType
from knoll.diagnose import Quality
from knoll.document import read_document, short
from knoll.earlier import FORMAT, as_of_today
from knoll.imputing import imputed_places
from knoll.privacy import Budget, DataError, Privacy, Relation
from knoll.queries import Ball, Box, Sphere
from knoll.registry import ESTIMATORS

_NOT_SAVED = {
    "bounds", "metric", "columns", "ledger", "unit", "random_state", "verbose", "encoder", "vocabulary", "stop_words"
}  # fmt: skip
_LARGEST_FILE = 2**30  # bytes: a hostile file must not fill the memory
_LONGEST_WORD, _LARGEST_NUMBER = 100, 1e100  # limits of a parameter: no real one comes near
_MOST_AXES = 8  # most axes of an array: far more than any attribute has, and numpy fails above 32


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
        "version": _version(),
        **_plain(model),
        "columns": None if names is None else [str(name) for name in names],
        "bounds": model.columns_.to_dict() if hasattr(model, "columns_") else _bounds_out(model.bounds_),
        "bounds_in_doubt": _doubts_out(model),
        **_table_out(model),
        **_imputed_out(model),
        "fitted": {name: _nested(np.asarray(getattr(model, name))) for name in model._published}
        | {name: list(getattr(model, name)) for name in _words_published(model)},
        "privacy": model.privacy_.to_dict(),
        **_quality_out(model),
    }
    path = Path(path)
    draft = path.with_name(path.name + ".part")
    draft.write_text(json.dumps(data, indent=1, allow_nan=False) + "\n", encoding="utf-8")
    draft.replace(path)


def load(path: str | PathLike[str]) -> Any:
    """Read a model that `save` wrote.

    A file of an earlier format is read as far as possible, with a warning; one of a later format is refused.

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
    data, written = as_of_today(read_document(path, "a model", _LARGEST_FILE), path.name)
    try:
        with np.errstate(invalid="raise"):  # infinity where an integer should be
            model = _build(data)
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, MemoryError, RecursionError) as error:
        raise DataError(f"{path.name} is not a knoll model, or is damaged: {short(error)}") from None
    if written < FORMAT:
        warnings.warn(
            f"{path.name} was written by an earlier knoll (format {written}, now {FORMAT}): its error bars and its "
            "confidence are of that version, which knew them less well. Fit again if they matter",
            UserWarning,
            stacklevel=2,
        )
    return model


def _build(data: dict[str, Any]) -> Any:
    columns = Columns.from_dict(data["bounds"]) if "columns" in data["bounds"] else None
    bounds = _bounds_in(data["bounds"]) if columns is None else domain_of(columns)
    model = _estimator(data)
    model.set_params(bounds=bounds if columns is None else columns)
    _check(model)
    if columns is not None:
        model.columns_ = columns
    model.bounds_, model.n_features_in_ = bounds, bounds.n_sources
    if (doubts := _doubts_in(data.get("bounds_in_doubt"), bounds.n_sources)) is not None:
        model.bounds_in_doubt_ = doubts
    if "table" in data:
        model.table_type_ = TableType.from_dict(data["table"])
    if columns is not None and model.missing != "count" and (places := imputed_places(columns)):
        model.imputed_ = _imputed_in(data["imputed"], places, len(columns))
    lengths = {"d": bounds.n_columns, "2": 2}
    for name, axes in model._published.items():
        array = _array(data["fitted"][name], name)
        if not array.size and len(axes) > 1:  # an empty list has lost its other axes
            first = len(array) if array.ndim else 0
            array = array.reshape(first, *(lengths.get(axis, 0) if first == 0 else 0 for axis in axes[1:]))
        if array.ndim != len(axes) or any(
            lengths.setdefault(axis, n) != n for axis, n in zip(axes, array.shape, strict=True)
        ):
            raise ValueError(f"its parts do not fit together ({name})")
        setattr(model, name, array if axes else array.item())
    for name, axis in _words_published(model).items():
        setattr(model, name, _listed_words(data["fitted"][name], name, lengths[axis]))
    if data["columns"] is not None:
        names = data["columns"]
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise ValueError("its columns are not a list of names")
        if len(names) != bounds.n_sources:
            raise ValueError("its columns do not fit its bounds")
        model.feature_names_in_ = np.array(names, dtype=object)
    model.privacy_ = Privacy.from_dict(data["privacy"])
    if "quality" in data:
        model.quality_ = None if data["quality"] is None else Quality.from_dict(data["quality"])
    model._restore()
    model._diagnose()
    return model


def _words_published(model: Any) -> dict[str, str]:
    """Return which attributes are lists of words, and along which axis."""
    return getattr(model, "_published_words", {})


def _listed_words(given: Any, name: str, length: int) -> list[str]:
    if not isinstance(given, list) or len(given) != length:
        raise ValueError(f"its parts do not fit together ({name})")
    if not all(isinstance(word, str) and len(word) <= _LONGEST_WORD for word in given):
        raise ValueError(f"{name} are not words")
    return given


def _estimator(data: dict[str, Any], within: int = 0) -> Any:
    """Return an unfitted estimator of a known kind. A parameter may hold an estimator, but only one level deep."""
    name, parameters = data["estimator"], data["parameters"]
    kind = _kinds().get(name) if isinstance(name, str) else None
    if kind is None or within > 1 or not isinstance(parameters, dict):
        raise ValueError("its estimator is unknown")
    known = {name: parameters[name] for name in _saved_parameters(kind)}
    return kind(
        **{
            name: _estimator(value, within + 1) if isinstance(value, dict) else _parameter(value, name)
            for name, value in known.items()
        }
    )


def _parameter(value: Any, name: str) -> Any:
    """Return a parameter if it is one that JSON can hold: a word, a truth value, a number, or a list of numbers."""
    numbers = value if isinstance(value, list) else [value]
    word = isinstance(value, str) and len(value) <= _LONGEST_WORD
    if value is None or word or all(isinstance(x, int | float) and abs(x) <= _LARGEST_NUMBER for x in numbers):
        return value
    raise ValueError(f"its parameter {name} is damaged")


def _check(model: Any) -> None:
    """Refuse parameters with which no fit is possible."""
    Budget(model.epsilon, model.delta)
    Relation.parse(getattr(model, "relation", Relation.ADD_REMOVE))
    model._check_parameters()


def _version() -> str:
    """Return the version of this package, for messages of those who cannot read its files."""
    try:
        return version("knoll")
    except PackageNotFoundError:
        return "of an unknown version"


def _kinds() -> dict[str, type]:
    """Name -> class of everything that can be saved."""
    return {each.name: each.load() for each in ESTIMATORS}


def _saved_parameters(kind: Any) -> list[str]:
    return sorted(set(kind._get_param_names()) - _NOT_SAVED)


def _quality_out(model: Any) -> dict[str, Any]:
    """Return the quality of clusters, if a fit sets it; that of mixtures follows from what is saved."""
    if "quality_" not in vars(model):
        return {}
    return {"quality": None if model.quality_ is None else model.quality_.to_dict()}


def _table_out(model: Any) -> dict[str, Any]:
    """Return what the fitted table looked like; reports of respondents are no table."""
    return {"table": model.table_type_.to_dict()} if hasattr(model, "table_type_") else {}


def _imputed_out(model: Any) -> dict[str, Any]:
    """Return what missing values are filled with; null for columns where they are not."""
    return {"imputed": [None if x != x else x for x in model.imputed_.tolist()]} if hasattr(model, "imputed_") else {}


def _imputed_in(values: Any, places: list[int], n_columns: int) -> np.ndarray:
    if not isinstance(values, list) or len(values) != n_columns:
        raise ValueError("what it fills in is not a value for each column")
    given = [j for j, value in enumerate(values) if type(value) in (int, float) and math.isfinite(value)]
    if given != places or any(values[j] is not None for j in set(range(n_columns)) - set(places)):
        raise ValueError("what it fills in does not fit its columns")
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)


def _bounds_out(bounds: Box | Ball) -> dict[str, Any]:
    names = None if bounds.names is None else [str(name) for name in bounds.names]
    if isinstance(bounds, Box):
        return {"kind": "box", "lower": list(bounds.lower), "upper": list(bounds.upper), "names": names}
    if isinstance(bounds, Sphere):
        return {"kind": "sphere", "n_columns": bounds.n_columns, "names": names}
    return {"kind": "ball", "radius": bounds.radius, "middle": list(bounds.middle), "names": names}


def _bounds_in(data: dict[str, Any]) -> Box | Ball:
    names = _words(data["names"], "names")
    if data["kind"] == "box":
        bounds: Box | Ball = Box(_side(data["lower"]), _side(data["upper"]), names)
    elif data["kind"] == "ball":
        bounds = Ball(_side([data["radius"]])[0], _side(data["middle"]), names)
    elif data["kind"] == "sphere":
        if type(data["n_columns"]) is not int:
            raise ValueError("the number of columns of its sphere is no whole number")
        bounds = Sphere(data["n_columns"], names)
    else:
        raise ValueError("its bounds are neither a box, a ball nor a sphere")
    if names is not None and len(names) != bounds.n_columns:
        raise ValueError("its bounds have another number of names")
    return bounds


def _words(given: Any, what: str) -> tuple[str, ...] | None:
    if given is not None and not (isinstance(given, list) and all(isinstance(name, str) for name in given)):
        raise ValueError(f"the {what} in its bounds are not a list of words")
    return None if given is None else tuple(given)


def _doubts_out(model: Any) -> list[bool] | None:
    """Return which columns' bounds are in doubt; None for kinds of models that buy none."""
    return model.bounds_in_doubt_.tolist() if hasattr(model, "bounds_in_doubt_") else None


def _doubts_in(values: Any, n_columns: int) -> np.ndarray | None:
    """Return the doubts that a file tells; files of earlier versions tell none."""
    if values is None:
        return None
    if not isinstance(values, list) or len(values) != n_columns or any(type(each) is not bool for each in values):
        raise ValueError("its doubts about bounds are not a truth value for each column")
    return np.array(values, dtype=bool)


def _side(values: Any) -> tuple[float, ...]:
    """Return the numbers of bounds. A text is not read as a number."""
    if not isinstance(values, list) or not values or any(type(x) not in (int, float) for x in values):
        raise ValueError("its bounds are not lists of numbers")
    return tuple(values)


def _plain(value: Any) -> Any:
    """Turn a parameter into JSON's types: numpy's values into Python's, an estimator into its name and parameters."""
    if hasattr(value, "get_params"):
        return {
            "estimator": type(value).__name__,
            "parameters": {name: _plain(getattr(value, name)) for name in _saved_parameters(type(value))},
        }
    return value.tolist() if isinstance(value, np.generic | np.ndarray) else value


def _nested(array: np.ndarray) -> Any:
    """Turn an array into nested lists. Infinity becomes null: JSON has no infinity. Truth values become 0 and 1."""
    array = array.astype(np.int64) if array.dtype == bool else array
    if array.ndim == 0:
        return array.item() if np.isfinite(array) else None
    return (
        [_nested(row) for row in array] if array.ndim > 1 else [x if math.isfinite(x) else None for x in array.tolist()]
    )


def _array(nested: Any, name: str) -> np.ndarray:
    array = np.array(nested, dtype=object)
    if array.ndim > _MOST_AXES or not all(
        x is None or (isinstance(x, int | float) and not isinstance(x, bool) and abs(x) < np.inf) for x in array.flat
    ):
        raise ValueError(f"{name} holds something that is not a number")
    return np.where(array == None, np.inf, array).astype(np.float64)  # noqa: E711 (element-wise)
