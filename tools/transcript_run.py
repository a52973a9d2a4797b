"""One case of `transcripts.py`: fit it under seeded noise and write down all that can be seen of it.

`recording` and `entries` are the only places that know how knoll's noise source and statement look; if these change,
change them here.
"""

import hashlib
import inspect
import json
import tempfile
import warnings
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits
from transcript_cases import Case, fits
from transcript_data import Data
from transcript_local import LOCAL, LocalCase

import knoll
from knoll.testing import seeded_noise

LISTED = 8  # longer lists are written as one digest
MADE = (property, cached_property)
STATEMENTS = ("privacy_", "mixture_privacy_")


# ---- what knows knoll's insides -----------------------------------------------------------------


class Memory:
    """A noise source that remembers every total, exact and noisy."""

    def __init__(self, source: Any) -> None:
        self.source, self.private, self.label = source, source.private, source.label
        self.totals: list[list[Any]] = []

    def perturb(self, total: np.ndarray, *how: Any, **named: Any) -> np.ndarray:
        """Add the source's noise."""
        exact = np.array(total)
        noisy = self.source.perturb(total, *how, **named)
        said = (*how, *named.values())
        self.totals.append([list(exact.shape), law_of(said), scale_of(said), digest(exact), digest(noisy)])
        return noisy


@contextmanager
def recording(seed: int) -> Iterator[Memory]:
    """Draw noise from a seed, as `seeded_noise` does, and remember what it was added to."""
    with seeded_noise(seed):
        found = [(variable, value) for variable, value in copy_context().items() if hasattr(value, "perturb")]
        if len(found) != 1:
            raise RuntimeError("seeded_noise sets no context variable with `perturb`: teach `recording` the new way")
        variable, source = found[0]
        memory = Memory(source)
        token = variable.set(memory)
        try:
            yield memory
        finally:
            variable.reset(token)


def law_of(said: tuple[Any, ...]) -> str:
    """Return the law's name, whether it was told as a word or as an object."""
    words = " ".join(str(each) if isinstance(each, str) else type(each).__name__ for each in said).lower()
    return next((law for law in ("gaussian", "laplace") if law in words), words)


def scale_of(said: tuple[Any, ...]) -> float | None:
    """Return the scale: a number by itself, or in the law."""
    numbers = [each for each in said if isinstance(each, int | float)]
    numbers += [each.scale for each in said if isinstance(getattr(each, "scale", None), int | float)]
    return float(numbers[0]) if numbers else None


def entries(privacy: Any) -> list[list[Any]]:
    """Return what a statement lists: query, shape, share, law, sensitivity and scale of each release."""
    return [
        [e.query, list(e.shape), float(e.share), law_of((e.law,)), float(e.sensitivity), float(e.scale)]
        for e in privacy.releases
    ]


def statement(privacy: Any) -> dict[str, Any]:
    """Return the rest of a statement."""
    names = ("epsilon", "delta", "relation", "unit", "estimator", "dataset", "spent", "assumed_public", "is_private")
    return flat({name: encode(getattr(privacy, name)) for name in (*names, "spent_epsilon")})


# ---- values as short text -----------------------------------------------------------------------


def digest(array: Any) -> str:
    """Return the start of the SHA-256 of an array's type, shape and bytes."""
    array = np.asarray(array)
    content = repr(array.tolist()).encode() if array.dtype == object else array.tobytes()
    return hashlib.sha256(f"{array.dtype.str} {array.shape} ".encode() + content).hexdigest()[:16]


def shown(array: np.ndarray) -> str:
    """Return an array as type, shape and digest, and the sum of its sizes: that tells how much two arrays differ."""
    text = f"{array.dtype.str} {array.shape} {digest(array)}"
    if array.dtype.kind not in "biuf":
        return text
    sizes = np.abs(np.ascontiguousarray(array, dtype=np.float64)).ravel()
    return f"{text} sum {float(sizes[np.isfinite(sizes)].sum())!r}"


def encode(value: Any) -> Any:
    """Return a value as text, or as a dict of such: arrays by digest, numbers as they print, objects by their parts."""
    if isinstance(value, np.ndarray):
        return shown(value)
    if isinstance(value, np.generic):
        return repr(value.item())
    if isinstance(value, str | Enum):
        return str(value)
    if value is None or isinstance(value, bool | int | float):
        return repr(value)
    if isinstance(value, list | tuple):
        if all(isinstance(part, bool | int | float | str) for part in value):
            return repr(list(value))
        parts = {str(i): encode(part) for i, part in enumerate(value)}
        return parts if len(value) <= LISTED else shortened(parts)
    if isinstance(value, dict):
        return {str(key): encode(part) for key, part in value.items()}
    names = [each.name for each in fields(value)] if is_dataclass(value) else list(getattr(value, "__dict__", {}))
    return {name: encode(getattr(value, name)) for name in names if not _derived(value, name)}


def shortened(parts: dict[str, Any]) -> str:
    """Return many values as one digest."""
    text = json.dumps(parts, sort_keys=True)
    return f"{len(parts)} of {hashlib.sha256(text.encode()).hexdigest()[:16]}"


def _derived(value: Any, name: str) -> bool:
    """Whether an attribute is private, or there only because somebody asked for it."""
    return name.startswith("_") or isinstance(inspect.getattr_static(type(value), name, None), cached_property)


def flat(tree: Any, path: str = "") -> dict[str, Any]:
    """Return nested dicts as one, its keys dotted paths."""
    if not isinstance(tree, dict):
        return {path: tree}
    found: dict[str, Any] = {}
    for key, part in tree.items():
        found |= flat(part, f"{path}.{key}" if path else str(key))
    return found


# ---- a case -------------------------------------------------------------------------------------

CASES: dict[str, Case | LocalCase] = {case.name: case for case in (*fits(), *LOCAL)}


def run(name: str) -> dict[str, Any]:
    """Return the transcript of a case."""
    case = CASES[name]
    np.random.seed(0)  # noqa: NPY002 (whatever draws from the global generator shall do so from a known state)
    with warnings.catch_warnings(), threadpool_limits(1), recording(zlib.crc32(name.encode())) as memory:
        warnings.simplefilter("ignore")
        record: dict[str, Any] = {}
        try:
            model, data = fitted(case)
        except Exception as error:
            record["error"] = type(error).__name__
        else:
            record |= {"releases": entries(model.privacy_), "privacy": statement(model.privacy_)}
            record["fitted"] = attributes(model)
            record["methods"] = methods(model, data)
            record["loaded"] = again(model, data, record["methods"])
        record["totals"], memory.totals = memory.totals, []
        if "error" not in record and isinstance(case, Case) and case.variant.mixture is not None:
            record["to_mixture"] = mixture_of(model, data, case.variant.mixture, memory)
    return record


def fitted(case: Case | LocalCase) -> tuple[Any, Data]:
    """Return a fitted model, and its data."""
    if isinstance(case, LocalCase):
        return case.fit(), case.data
    model, data = case.make()
    X, y = split(data.X) if case.variant.response else (data.X, None)
    return (model.fit(X) if y is None else model.fit(X, y)), data


def split(X: Any) -> tuple[Any, Any]:
    """Return the predictors and the response of a table: all columns but the last, and the last."""
    return (X[X.columns[:-1]], X[X.columns[-1]]) if isinstance(X, pd.DataFrame) else (X[:, :-1], X[:, -1])


def attributes(model: Any) -> dict[str, Any]:
    """Return every fitted attribute: those that are set, and those that are made when asked for."""
    made = [name for name in dir(type(model)) if isinstance(inspect.getattr_static(type(model), name), MADE)]
    names = {name for name in (*vars(model), *made) if name.endswith("_") and not name.startswith("_")}
    return flat({name: attempt(lambda name=name: getattr(model, name)) for name in sorted(names - {*STATEMENTS})})


def attempt(work: Any) -> Any:
    """Return the encoded result, or the kind of error."""
    try:
        return encode(work())
    except Exception as error:
        return f"error {type(error).__name__}"


def methods(model: Any, data: Data) -> dict[str, Any]:
    """Return what the methods of a fitted model say about the records that it was fitted to."""
    rows, few = data.rows, data.rows[:20]
    table = rows if hasattr(model, "predict_modes") else data.X
    asked = {
        "predict": (table,), "predict_proba": (rows,), "transform": (rows,), "score": (rows,), "basins": (few,),
        "score_samples": (rows,), "density": (rows,), "gradient": (few,), "density_stderr": (), "sample": (20, 0),
        "nonprivate_bic": (rows,), "nonprivate_aic": (rows,), "predict_modes": (few,), "predict_interval": (few,),
        "ascend": (few[:, :-1], few[:, -1], 3), "get_feature_names_out": (), "mode_tree": (3,),
    }  # fmt: skip
    if hasattr(model, "predict_modes"):
        asked.pop("score")
        if data.n_columns == 2:
            asked["curves"] = (20,)
    known = {name: arguments for name, arguments in asked.items() if hasattr(model, name)}
    said = {name: attempt(lambda name=name, given=given: getattr(model, name)(*given)) for name, given in known.items()}
    return {name: shortened(flat(value)) if isinstance(value, dict) else value for name, value in said.items()}


def again(model: Any, data: Data, said: dict[str, Any]) -> dict[str, Any]:
    """Return what a model that was saved and loaded says otherwise."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            knoll.save(model, Path(folder) / "model.json")
            loaded = methods(knoll.load(Path(folder) / "model.json"), data)
        except Exception as error:
            return {"error": type(error).__name__}
    return {name: value for name, value in loaded.items() if value != said.get(name)}


def mixture_of(model: Any, data: Data, options: dict[str, Any], memory: Memory) -> dict[str, Any]:
    """Return what `to_mixture` gives, and what it released."""
    takes = inspect.signature(model.to_mixture).parameters
    given = (data.X,) if "X" in takes else ()
    mixture = attempt(lambda: model.to_mixture(*given, **options))
    found = {"mixture": flat(mixture) if isinstance(mixture, dict) else mixture}
    said = getattr(model, "mixture_privacy_", None)
    if said is not None:
        found |= {"releases": entries(said), "privacy": statement(said)}
    return {**found, "totals": memory.totals}
