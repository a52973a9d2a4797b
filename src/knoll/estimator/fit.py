"""A fit, the same for every estimator: check, open the door, ask, publish, all or nothing."""

import copy
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from sklearn.utils import check_random_state

from knoll import progress
from knoll.diagnose import Diagnosed
from knoll.engines.share import one_thread
from knoll.estimator.opening import FitContext, open_curator
from knoll.parameters import check_rules
from knoll.privacy import Ask
from knoll.privacy.book import Spend
from knoll.privacy.ledger import spend_in
from knoll.queries import Ball, Box

_POINTS = {"cluster_centers_": "centers_stderr_", "means_": "means_stderr_", "modes_": "modes_stderr_"}
"""Published points, one coordinate per column, and their standard errors."""

_WIDE = 512  # columns: matrices of fewer are small, and threads of linear algebra would mostly wait for each other


@dataclass(kw_only=True, eq=False, repr=False)
class PrivateFit(Diagnosed):
    """A fit through the door, and the parameters that all have. A method says what it checks and what it asks."""

    epsilon: float = 1.0
    delta: float = 1e-6
    bounds: Any = None
    scale_by_bounds: bool = True
    relation: str = "add_remove"
    unit: Any = None
    missing: str = "refuse"
    ledger: Any = None
    random_state: Any = None
    verbose: bool = False

    privacy_: ClassVar[Any]
    _lines_only: ClassVar[bool] = False
    """Whether categories and circles are refused: the method needs distances along each column."""
    _has_metric: ClassVar[bool] = True
    """Whether distances between records matter; else no budget is spent on a metric."""

    @property
    def _spend(self) -> Spend | None:
        """What the data has spent over all fits, if a ledger's file was given: for reports."""
        return spend_in(self.ledger, self.privacy_.dataset)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit to records, within the budget.

        Parameters
        ----------
        X : array, DataFrame, Arrow table, path or Source
            The records: in memory, or a parquet, CSV or Arrow file or folder, which is streamed.
        y : ignored

        Returns
        -------
        self
        """
        return self._fit_to(X)

    def _fit_to(self, X: Any, response: Any = None) -> Self:
        """Fit, all or nothing: what a fit sets is published after its cost is stated, or not at all."""
        draft = unfitted(self)
        draft._check_parameters()
        rng = check_random_state(draft.random_state)
        with (
            open_curator(draft, X, response=response) as context,
            progress.shown(type(self).__name__, enabled=self.verbose),
        ):
            with one_thread() if context.domain.n_columns < _WIDE else nullcontext():
                found = draft._fit(context, rng)
            known = {"bounds_": context.domain, "bounds_in_doubt_": context.in_doubt}
            known |= {} if context.imputed is None else {"imputed_": context.imputed}
            vars(draft).update(_pinned(found, context.domain), **known, privacy_=context.statement())
        draft._diagnose()
        self.__dict__ = draft.__dict__
        self._warn(stacklevel=3)
        return self

    def _check_parameters(self) -> None:
        """Refuse bad parameters before any data is looked at: each by its rule, then what must fit together."""
        check_rules(self)

    def _asks(self, n_columns: int) -> Sequence[Ask]:
        """Return what a fit releases at most, from public facts alone: its cost is planned before it begins.

        Without a plan each release is still checked before it happens, and a tiny budget may end a fit half-way.
        """
        return ()

    def _fit(self, context: FitContext, rng: np.random.RandomState) -> Mapping[str, Any]:
        """Ask through the door; return the fitted attributes that follow from the answers, by name.

        A method sets nothing itself: `_fit_to` publishes, after the cost is stated.
        """
        raise NotImplementedError


Model = TypeVar("Model")


def unfitted(model: Model) -> Model:
    """Return a model with the same parameters and nothing of an earlier fit: what a fit works on until it is done."""
    draft = copy.copy(model)
    draft.__dict__ = {name: value for name, value in vars(model).items() if not name.endswith("_")}
    return draft


def _pinned(found: Mapping[str, Any], domain: Box | Ball) -> dict[str, Any]:
    """Return what was found with the constant columns of points at their value, without error: both are public."""
    fixed, pinned = domain.constant, dict(found)
    if fixed.any():
        for points, errors in _POINTS.items():
            for name, value in ((points, domain.centre), (errors, 0.0)):
                if name in pinned:
                    pinned[name] = np.where(fixed, value, pinned[name])
    return pinned
