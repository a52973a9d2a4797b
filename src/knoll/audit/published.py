"""What a fitted model shows: its whole state, what it prints and writes, what it answers, and its numbers.

The state is compared between a run and its replay on the neighbour, byte for byte and without a limit. The numbers feed
the statistical attacks of the black box, and those need a limit to stay fast.
"""

import re
import tempfile
from collections.abc import Callable, Iterator
from functools import cache, cached_property, partial
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection._search import BaseSearchCV
from threadpoolctl import ThreadpoolController

from knoll.audit.nested import innermost
from knoll.audit.state import Node, differences, tree
from knoll.model import save

_MOST_EACH, _MOST_NUMBERS, _LONGEST_TEXT = 400, 2000, 10_000  # per value, in all, per text: the black box stays fast
_NOT_PUBLISHED = {"n_features_in_", "privacy_"}
_ANSWERS = (
    "predict", "transform", "predict_proba", "score_samples", "decision_function", "score", "density", "density_stderr",
    "gradient", "predict_modes", "predict_interval",
)  # fmt: skip
_MADE_ANEW = re.compile(r"sk-[a-z]+-id-\d+|0?x[0-9a-f]{6,16}(?=>|&gt;)")
"""What differs between any two texts: the numbers of scikit-learn's boxes, and addresses in memory."""

_NUMBER = re.compile(r"[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?")

Shown = dict[str, Node]


def shown_by(result: Any, canary: np.ndarray, *, closely: bool = True) -> Shown:
    """Return everything that a run shows, by name: its state and, on a close look, its texts and answers."""
    name = type(result).__name__ if hasattr(result, "fit") else "the result"
    shown = {name: tree(result)}
    if closely and hasattr(result, "fit"):
        sayings = _sayings(result, name) | _answers(result, name, canary) | _properties(result, name)
        with _threads().limit(limits=1):  # one thread: sums always have the same order, and small sums do not wait
            shown |= {what: tree(_said(say)) for what, say in sayings.items()}
    return shown


@cache
def _threads() -> Any:
    return ThreadpoolController()


def without_clock(result: Any) -> Any:
    """Set the times that searches record to zero. No guarantee here covers how long a fit takes."""
    for model in _estimators(result):
        if isinstance(model, BaseSearchCV):
            model.refit_time_ = 0.0
            for name, times in getattr(model, "cv_results_", {}).items():
                if name.endswith(("_fit_time", "_score_time")):
                    times[:] = 0.0
    return result


def unlike(one: Shown, other: Shown) -> list[str]:
    """Return the names of what differs; what a model says is named only if its state is the same."""
    state, *said = one
    found = differences(one[state], other[state], state) if state in other else [state]
    return found or [what for what in said if one[what].digest != other[what].digest]


def _said(say: Callable[[], Any]) -> Any:
    """What was said, or which error came instead."""
    try:
        said = say()
    except Exception as error:
        return "error", type(error).__name__
    return _MADE_ANEW.sub("", said) if isinstance(said, str) else said


def _sayings(model: Any, name: str) -> dict[str, Callable[[], Any]]:
    """All texts: printed, shown in a notebook, written to a file."""
    inner = innermost(model)
    sayings = {
        f"repr({name})": lambda: repr(model),
        f"str({name})": lambda: str(model),
        f"{name}._repr_html_()": lambda: model._repr_html_(),
        f"{name}._repr_mimebundle_()": lambda: {k: _MADE_ANEW.sub("", v) for k, v in model._repr_mimebundle_().items()},
    }
    if hasattr(inner, "privacy_"):
        sayings |= {
            "str(privacy_)": lambda: str(inner.privacy_),
            "privacy_._repr_html_()": lambda: inner.privacy_._repr_html_(),
            "privacy_.to_dict()": lambda: inner.privacy_.to_dict(),
        }
    if hasattr(inner, "_published"):
        sayings["model.json"] = partial(_saved, inner)
    return sayings


def _saved(model: Any) -> str:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        save(model, path)
        return path.read_text(encoding="utf-8")


def _answers(model: Any, name: str, canary: np.ndarray) -> dict[str, Callable[[], Any]]:
    """Answers about the canary and some public points around it."""
    reach = np.maximum(np.abs(canary), 1.0)
    others = np.random.default_rng(0).uniform(-1.0, 1.0, size=(12, canary.size)) * reach
    points = np.vstack([canary, -canary, others])[:, : getattr(model, "n_features_in_", canary.size)]
    asked: dict[str, Callable[[], Any]] = {
        f"{name}.{method}() of public points": partial(getattr(model, method), points)
        for method in _ANSWERS
        if hasattr(model, method)
    }
    if hasattr(model, "sample"):
        asked[f"{name}.sample()"] = partial(model.sample, 5, random_state=0)
    return asked


def _properties(model: Any, name: str) -> dict[str, Callable[[], Any]]:
    kinds = {key: kind for each in reversed(type(model).__mro__) for key, kind in vars(each).items()}
    public = [key for key, kind in kinds.items() if isinstance(kind, property | cached_property) and key[0] != "_"]
    return {f"{name}.{key}": partial(getattr, model, key) for key in public}


def numbers_of(result: Any, canary: np.ndarray) -> np.ndarray:
    """Return the numbers that a run publishes, and what a model says about the canary, for the black box."""
    if not hasattr(result, "fit"):
        return np.ravel(np.asarray(result, dtype=np.float64))
    found: list[np.ndarray] = []
    for model in _estimators(result):
        mine = [name for name in vars(model) if name not in _NOT_PUBLISHED]
        for name in sorted(mine, key=lambda each: (each[0] == "_", each)):  # public ones first
            if name[0] == "_" or name[-1] == "_":
                leaves = chain.from_iterable(_leaves(vars(model)[name], set()))
                found.append(np.fromiter(islice(leaves, _MOST_EACH), dtype=np.float64))
    numbers = np.concatenate(found)[:_MOST_NUMBERS] if found else np.zeros(0)
    said = [
        np.sort(np.ravel(getattr(result, method)(canary[None])))
        for method in ("transform", "score_samples", "predict_proba")
        if hasattr(result, method)
    ]
    return np.concatenate([numbers, *said])


def _estimators(model: Any) -> Iterator[Any]:
    """A model and the fitted ones inside it."""
    yield model
    steps = getattr(model, "steps", None)
    inside = [each for _, each in steps] if isinstance(steps, list) else []
    for each in (*inside, getattr(model, "best_estimator_", None)):
        if hasattr(each, "fit"):
            yield from _estimators(each)


def _leaves(value: Any, seen: set[int]) -> Iterator[list[float]]:
    """Yield the numbers in a value, however it is wrapped, as lists; each container once."""
    if isinstance(value, bool | int | float | np.generic | np.ndarray):
        array = np.asarray(value)
        if array.dtype.kind in "biuf":
            yield array.astype(np.float64).ravel()[:_MOST_EACH].tolist()
            return
        value = array.ravel()[:_MOST_EACH].tolist() if array.dtype.hasobject else None
    if isinstance(value, str):
        yield [float(each) for each in _NUMBER.findall(value[:_LONGEST_TEXT])]
    if id(value) in seen or len(seen) > _MOST_NUMBERS:
        return
    if isinstance(getattr(value, "__dict__", None), dict) and not hasattr(value, "fit"):
        value = vars(value)
    if isinstance(value, dict | list | tuple):
        seen.add(id(value))
        for each in value.values() if isinstance(value, dict) else value:
            yield from _leaves(each, seen)
