"""What `knoll audit` and `make audit` attack: every registered estimator, and variants of some.

A factory makes each. It takes keyword parameters (epsilon, delta, relation, ...) and returns an
unfitted estimator for rows in the box [-1, 1]^2, or a callable from rows to published numbers with the attributes
`epsilon`, `delta` and, if they differ from what `audit` takes for granted, `pairs`, `batch` and `gaussian`.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import knoll
from knoll.audit.pairs import Pair
from knoll.privacy import Budget, PrivacyError
from knoll.queries import Box
from knoll.registry import ESTIMATORS


def _in_the_box(name: str, **fixed: Any) -> Callable[..., Any]:
    """Return a factory of an estimator for records in the box."""

    def make(**given: Any) -> Any:
        return getattr(knoll, name)(**{"bounds": (-1.0, 1.0), "random_state": 0, **fixed, **given})

    return make


class LocalReports:
    """What one respondent's client sends: local differential privacy is about a single record that becomes another.

    Parameters
    ----------
    columns : int
        Columns of the record.
    mechanism : str
        As in `knoll.LocalGaussianMixture`.
    epsilon, delta : float
        What a report declares to cost.
    """

    batch, relation = True, "replace_one"

    def __init__(self, columns: int, mechanism: str, *, epsilon: float = 1.0, delta: float = 1e-6, **ignored: Any):
        bounds = Box((-1.0,) * columns, (1.0,) * columns)
        model = knoll.LocalGaussianMixture(mechanism=mechanism, epsilon=epsilon, delta=delta, bounds=bounds)
        self.client = model.client()
        self.epsilon, self.delta = self.client.epsilon, self.client.delta
        self.gaussian = Budget(self.epsilon, self.delta).law.gdp
        ends = {"opposite corners": (-1.0, 1.0), "far outside": (-1e9, 1e9), "next to each other": (0.0, 0.07)}
        self.pairs = [
            Pair(name, np.full((1, columns), one), np.full((1, columns), other), np.full(columns, min(other, 1.0)))
            for name, (one, other) in ends.items()
        ]

    def __call__(self, rows: np.ndarray, size: int) -> np.ndarray:
        """Return independent reports of one record as numbers; a list of set bits as bits."""
        reports = self.client.reports(np.repeat(rows[:1], size, axis=0))
        if self.client.kind != "unary encoding":
            return np.array(reports, dtype=np.float64).reshape(size, -1)
        bits = np.zeros((size, self.client.n_bins))
        for i, report in enumerate(reports):
            bits[i, report] = 1.0
        return bits


def _local(columns: int, mechanism: str) -> Callable[..., Any]:
    return partial(LocalReports, columns, mechanism)


_EACH_STEP = {"bandwidth": 0.4, "release": "each-step", "n_steps": 3}
_VARIANTS: dict[str, Callable[..., Any]] = {
    "Lloyd, private bounds": _in_the_box("Lloyd", n_clusters=3, bounds="private"),
    "ModeSeeking, each step": _in_the_box("ModeSeeking", **_EACH_STEP),
    "ModeSeeking, mini-batches": _in_the_box("ModeSeeking", **_EACH_STEP, mini_batches=True),
    "LocalGaussianMixture": _local(2, "auto"),
    "LocalGaussianMixture, square wave": _local(1, "square_wave"),
    "LocalGaussianMixture, response": _local(1, "response"),
    "LocalGaussianMixture, unary": _local(1, "unary"),
    "LocalGaussianMixture, noise": _local(2, "noise"),
}


def _audited() -> dict[str, Callable[..., Any]]:
    """Return every estimator behind the door, each followed by its variants, then local reports."""
    found = {}
    for each in ESTIMATORS:
        if not each.local:
            found[each.name] = _in_the_box(each.name, **(each.example if each.attack is None else each.attack))
        found |= {name: make for name, make in _VARIANTS.items() if name.split(",")[0] == each.name}
    return found


AUDITED = _audited()


def make_audited(name: str, **parameters: Any) -> Any:
    """Return the audited estimator of this name with these parameters.

    >>> make_audited("Lloyd", epsilon=0.5).epsilon
    0.5
    """
    if name not in AUDITED:
        raise PrivacyError(f"no audit of {name!r}; there are {', '.join(AUDITED)}")
    if parameters.get("relation") == "replace_special":
        parameters["missing"] = "drop"
    return AUDITED[name](**parameters)
