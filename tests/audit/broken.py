"""Estimators that keep more than they released, each in its own way.

Every leak is a function of (model, rows). Given raw rows it is a mistake; given the released centres in their place it
is the same estimator without the mistake, which must pass.
"""

from dataclasses import KW_ONLY, replace
from functools import cached_property, partial

import numpy as np

import knoll
from knoll.estimator import declared
from knoll.queries import Box

REMEMBERED = {}
"""Outside every model: only what a model says betrays it."""


def number_of_rows(model, rows):
    model.n_seen_ = np.int64(len(rows))


def number_in_text(model, rows):
    model.summary_ = f"fitted to {len(rows)} records"


def number_in_a_dict(model, rows):
    model.info_ = {"records": len(rows)}


def mean_as_a_list(model, rows):
    model.mean_ = np.clip(rows, -1, 1).mean(axis=0).tolist()


def mask_per_row(model, rows):
    model.used_ = np.ones(len(rows), dtype=bool)


def rows_in_a_private_attribute(model, rows):
    model._rows = rows.copy()


def raw_bounds(model, rows):
    model.bounds_ = Box(tuple(rows.min(axis=0) - 1), tuple(rows.max(axis=0) + 1))


def past_the_400th_number(model, rows):
    model.curve_ = np.append(np.zeros(400), len(rows))


def type_of_an_array(model, rows):
    model.weights_ = np.ones(3, dtype=np.float32 if len(rows) % 2 else np.float64)


def name_of_an_attribute(model, rows):
    setattr(model, f"level_{len(rows)}_", "a name")


def order_of_attributes(model, rows):
    for name in ("first_", "second_")[:: -1 if len(rows) % 2 else 1]:
        setattr(model, name, "")


def in_a_closure(model, rows):
    model.distance_ = lambda point: np.abs(rows - point).min()


def in_a_partial_with_a_cycle(model, rows):
    model.itself_ = [model, partial(np.add, frozenset(rows[:, 0].tolist()))]


def in_a_parameter(model, rows):
    model.restart = bool(len(rows) % 2)


def in_the_statement(model, rows):
    model.privacy_ = replace(model.privacy_, dataset=f"{len(rows)} visits")


def stopped_early(model, rows):
    model.n_iter_ = 3 + len(rows) % 2


class Hidden:
    """Slots, and a pickle that does not tell."""

    __slots__ = ("__rows",)

    def __init__(self, rows):
        self.__rows = rows

    def __reduce__(self):
        return Hidden, ((),)


def in_a_slot_that_is_not_pickled(model, rows):
    model.helper_ = [{"deep": Hidden(rows.tobytes())}]


def said_when_asked(key):
    def remember(model, rows):
        REMEMBERED[key] = len(rows)

    return remember


LEAKS = {
    leak.__name__.replace("_", " "): leak
    for leak in (
        number_of_rows, number_in_text, number_in_a_dict, mean_as_a_list, mask_per_row, rows_in_a_private_attribute,
        raw_bounds, past_the_400th_number, type_of_an_array, name_of_an_attribute, order_of_attributes, in_a_closure,
        in_a_partial_with_a_cycle, in_a_parameter, in_the_statement, stopped_early, in_a_slot_that_is_not_pickled,
    )
} | {f"said by {key}": said_when_asked(key) for key in ("repr", "html", "predict", "a property")}  # fmt: skip

NAMED = list(LEAKS)[:8]
"""Those that the audit used to pass."""


@declared
class Broken(knoll.Lloyd):
    """Lloyd, and one leak (or, if it is mended, the same of released centres)."""

    _: KW_ONLY
    leak: str = ""
    mended: bool = False

    def fit(self, X, y=None):
        REMEMBERED.clear()
        super().fit(X)
        if self.leak:
            LEAKS[self.leak](self, self.cluster_centers_ if self.mended else np.asarray(X))
        return self

    def __repr__(self, **ignored):
        return f"Broken({REMEMBERED.get('repr')})"

    def _repr_html_(self):
        return f"<b>{REMEMBERED.get('html')}</b>"

    @cached_property
    def size_(self):
        return REMEMBERED.get("a property")

    def predict(self, X):
        return super().predict(X) + REMEMBERED.get("predict", 0) % 2


def make(leak, *, mended=False):
    return Broken(3, n_steps=2, bounds=(-1, 1), random_state=0, leak=leak, mended=mended)
