"""Model files of earlier formats, as documents of today's: what they lack is filled in, as far as they tell it.

Format 1 (before marks of what is seen): no `drop_unseen`, nothing was ever left out; no marks, which follow from sizes
and error bars; no candidates, which are then the chosen number alone; no variances of clusters, which stay unknown.
"""

from typing import Any

from knoll.document import short
from knoll.privacy import DataError

FORMAT = 2
"""Of the files that are written; raised when an earlier knoll could not read them, or would misread them."""

_READABLE = (1, 2)
_CHOOSE = ("KMeans", "PEMeans", "GaussianMixture", "MorseClustering", "ModeClustering")  # of several strategies
_UNLIKELY = 10_000  # no format has such a number
_UNSEEN = 2.0  # standard errors of its size below which a cluster counted as not seen


def as_of_today(data: Any, file: str) -> tuple[Any, int]:
    """Return a document in today's format, and the format it had; a DataError if another knoll is needed to read it."""
    given = data.get("knoll") if isinstance(data, dict) else None
    if type(given) is not int or not 0 < given < _UNLIKELY:
        raise DataError(f"{file} is not a knoll model, or is damaged: it does not tell its format")
    if given not in _READABLE:
        by = data.get("version")
        who = f"knoll {short(ValueError(by))}" if isinstance(by, str) else "another knoll"
        raise DataError(
            f"{file} was written by {who}, in format {given}; this one reads formats {_READABLE[0]} to {FORMAT}. "
            "Install a later knoll, or fit again"
        )
    return _with_strategy(_from_first(data) if given == 1 else data), given


def _with_strategy(data: dict[str, Any]) -> dict[str, Any]:
    """Return a document of an estimator that knew one strategy only with what would tell which was used: nothing."""
    fitted = data.get("fitted")
    if data.get("estimator") not in _CHOOSE or not isinstance(fitted, dict):
        return data
    return {**data, "fitted": {"records_over_noise_": 0.0, "effective_draws_": 0.0, **fitted}}


def _from_first(data: dict[str, Any]) -> dict[str, Any]:
    """Return a document of format 1 in format 2. Damaged ones pass unchanged where they are: who reads them objects."""
    fitted, parameters = data.get("fitted"), data.get("parameters")
    if not isinstance(fitted, dict) or not isinstance(parameters, dict):
        return data
    fitted = dict(fitted)
    for places, sizes, seen in (
        ("cluster_centers_", "cluster_sizes_", "clusters_seen_"),
        ("means_", "weights_", "components_seen_"),
    ):
        if isinstance(fitted.get(places), list):
            errors = fitted.get(sizes.removesuffix("_") + "_stderr_")
            fitted.setdefault(seen, _seen(fitted.get(sizes), errors))
            fitted.setdefault("cluster_variances_", [[None] * _length(each) for each in fitted[places]])
            for name in ("n_clusters", "n_components"):
                sure = fitted.setdefault(f"{name}_confidence_", 0.0 if parameters.get(name) is None else 1.0)
                fitted.setdefault(f"{name}_candidates_", [[len(fitted[places]), sure]])
    return {**data, "fitted": fitted, "parameters": _with_drop_unseen(parameters)}


def _with_drop_unseen(parameters: dict[str, Any]) -> dict[str, Any]:
    """Return parameters, also those of an estimator among them, with the one that format 1 did not have."""
    inner = {
        name: {**value, "parameters": _with_drop_unseen(value["parameters"])}
        for name, value in parameters.items()
        if isinstance(value, dict) and isinstance(value.get("parameters"), dict)
    }
    return {"drop_unseen": False, **parameters, **inner}


def _seen(sizes: Any, errors: Any) -> Any:
    """Return 1 for each size that stands out of its error, which is null if it is infinite; else 0."""
    if not isinstance(sizes, list) or not isinstance(errors, list):
        return None
    pairs = zip(sizes, errors, strict=False)
    numbers = (int, float)
    return [int(isinstance(a, numbers) and isinstance(b, numbers) and a > _UNSEEN * b) for a, b in pairs]


def _length(row: Any) -> int:
    return len(row) if isinstance(row, list) else 0
