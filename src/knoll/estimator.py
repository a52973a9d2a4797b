"""The way from scikit-learn's `fit(X)` to the door, the same for every estimator: X becomes rows behind a curator.

An estimator is handed a grant, a public domain and scales; never a row.
"""

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Self, TypeVar, dataclass_transform

import numpy as np
from sklearn.utils import check_random_state

from knoll import progress
from knoll.bounds import MOST_SHARE, PRIVATE, bounds_asks, buy_bounds
from knoll.columns import domain_of, require_lines
from knoll.diagnose import Diagnosed
from knoll.parameters import Flag, Rule, check_rules
from knoll.privacy import (
    Ask,
    Budget,
    Curator,
    FileLedger,
    Grant,
    Privacy,
    PrivacyError,
    Record,
    Relation,
    User,
    open_ledger,
)
from knoll.privacy.errors import BoundsError, brief
from knoll.queries import Ball, Box, domain_from
from knoll.releases import releases_note
from knoll.rows import open_rows

COMMON_PARAMETERS = """epsilon, delta : float, default=1.0 and 1e-6
        Privacy budget of one fit. ``delta=0`` gives pure differential privacy (Laplace noise). A GridSearchCV fits
        many times, and `privacy_` tells of the last fit only; a shared `ledger` adds them up.
    bounds : Box, Ball, (lower, upper), list of (lower, upper) per column, dict or "private"
        Where records can lie, known without looking at them; records outside are clipped. ``"private"`` buys
        bounds with 6 % of the budget if records are many, up to 40 % if they are few for so many columns; look at
        `bounds_` and `bounds_in_doubt_`.
    scale_by_bounds : bool, default=True
        Measure distances in units of each column's bounds, so that years and dollars count alike. False measures in
        raw units. (Scaling by the data's own spread, as a StandardScaler before the estimator does, is not private, and
        no estimator can see it: `privacy_` does not cover other steps of a pipeline.)
    relation : {"add_remove", "replace_special", "replace_one"}, default="add_remove"
        What neighbouring datasets are.
    unit : Record or User, optional
        Who is protected: one record (default), or ``User(column, cap)``.
    missing : {"refuse", "drop"}, default="refuse"
        Rows with NaN or infinity: an error, or left out. Where the number of records is public (the two replace
        relations) a row whose features are all missing is a null record: it adds nothing, under either.
    ledger : path or ledger, optional
        Where releases are recorded, against a cap per dataset. In memory by default. A file's name names its data;
        for frames and arrays say whose they are: ``ledger=knoll.Ledger("privacy.db", dataset="visits")``.
    random_state : int, RandomState or None
        Public randomness. Never the noise.
    verbose : bool, default=False
        Show progress of long fits."""

DROP_UNSEEN = """drop_unseen : bool, default=False
        Leave out what cannot be told from noise; at least one stays. Records then go to what is left. Standard errors
        account for it.
    """

COMMON_ATTRIBUTES = """bounds_ : Box or Ball
        The bounds used, given or bought.
    bounds_in_doubt_ : boolean array of shape (n_features,)
        True where bounds were bought and the noise may hide more than 2 % of the records outside. Give bounds for such
        columns, or take more records, fewer columns or a larger epsilon. False where bounds were given.
    privacy_ : Privacy
        What was released, at what cost; print it.
    diagnostics_ : tuple of Diagnostic
        Remarks on the fit, from released values alone: what is doubtful, and what to do about it.
    n_features_in_, feature_names_in_
        As in scikit-learn."""

_POINTS = {"cluster_centers_": "centers_stderr_", "means_": "means_stderr_", "modes_": "modes_stderr_"}
"""Published points, one coordinate per column, and their standard errors."""


@dataclass_transform()
def declared(cls: type) -> type:
    """Make an estimator of a class that declares its parameters as fields: add `__init__`, complete its docstring.

    What all estimators share is filled in for {parameters} and {attributes}; a class with attributes or parameters of
    its own kind names them in `_ATTRIBUTES` and `_PARAMETERS`, which come first. {releases} becomes what the class
    releases, from `knoll.releases`.
    """
    if cls.__doc__:
        attributes = getattr(cls, "_ATTRIBUTES", "") + COMMON_ATTRIBUTES
        parameters = getattr(cls, "_PARAMETERS", "") + COMMON_PARAMETERS
        cls.__doc__ = cls.__doc__.replace("{parameters}", parameters).replace("{attributes}", attributes)
        if "{releases}" in cls.__doc__:
            cls.__doc__ = cls.__doc__.replace("{releases}", releases_note(cls.__name__))
    return dataclass(cls, eq=False, repr=False)


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

    _lines_only: ClassVar[bool] = False
    """Whether categories and circles are refused: the method needs distances along each column."""

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
            found = draft._fit(context, rng)
            bounds = {"bounds_": context.domain, "bounds_in_doubt_": context.in_doubt}
            vars(draft).update(_pinned(found, context.domain), **bounds, privacy_=context.statement())
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

    def _fit(self, context: "FitContext", rng: np.random.RandomState) -> Mapping[str, Any]:
        """Ask through the door; return the fitted attributes that follow from the answers, by name.

        A method sets nothing itself: `_fit_to` publishes, after the cost is stated.
        """
        raise NotImplementedError


@dataclass(kw_only=True, eq=False, repr=False)
class DropsUnseen:
    """The parameter of models that may leave out what cannot be told from noise."""

    drop_unseen: bool = False

    _PARAMETERS: ClassVar = DROP_UNSEEN
    _rules: ClassVar[dict[str, Rule]] = {"drop_unseen": Flag()}


Model = TypeVar("Model")


def unfitted(model: Model) -> Model:
    """Return a model with the same parameters and nothing of an earlier fit: what a fit works on until it is done."""
    draft = copy.copy(model)
    draft.__dict__ = {name: value for name, value in vars(model).items() if not name.endswith("_")}
    return draft


@dataclass(frozen=True)
class FitContext:
    """What an estimator is handed: its part of the budget, the public domain and metric."""

    grant: Grant
    domain: Box | Ball
    scales: np.ndarray
    statement: Callable[[], Privacy]
    """Rechecks the spend and returns the privacy statement."""
    in_doubt: np.ndarray
    """Columns whose bounds were bought and are in doubt."""


@contextmanager
def open_curator(
    estimator: Any,
    X: Any,
    *,
    response: Any = None,
    public: tuple[str, ...] = ("the parameters",),
    asks: Sequence[Ask] | None = None,
) -> Iterator[FitContext]:
    """Validate parameters and data, and put the data behind a curator for the length of a fit.

    Spends nothing by itself, unless bounds are bought. The ledger reserves the budget of the fit until it ends.

    Parameters
    ----------
    estimator : estimator
        With the parameters of `PrivateFit`. Its `_budget_for(n_columns)`, if any, may promise more: a smaller budget.
    X : array, frame, Arrow table, path or Source
        The records.
    response : array of shape (n_samples,), optional
        A last column.
    public : tuple of str
        What the estimator takes as public besides bounds and columns.
    asks : sequence of Ask, optional
        What is released at most; by default what a fit of the estimator says.
    """
    budget = Budget(estimator.epsilon, estimator.delta)
    relation = Relation.parse(estimator.relation)
    _check_bounds(estimator.bounds)
    if not isinstance(estimator.unit, Record | User | None):
        raise PrivacyError(f"unit={brief(estimator.unit)} is neither knoll.Record() nor knoll.User(column, cap)")
    engine, dataset = open_rows(estimator, X, response, nulls=relation is not Relation.ADD_REMOVE)
    private = isinstance(estimator.bounds, str)
    domain = None if private else _domain(estimator, engine)
    coordinates = engine.n_columns if domain is None else domain.n_columns
    budget = getattr(estimator, "_budget_for", lambda n_columns: budget)(coordinates)
    engine.size_blocks(coordinates)
    ledger = open_ledger(estimator.ledger)
    curator = Curator(
        engine,
        budget,
        relation=relation,
        unit=estimator.unit,
        ledger=ledger,
        dataset=dataset,
        estimator=type(estimator).__name__,
        asks=(
            *(bounds_asks(engine.n_columns) if private else ()),
            *(ask.within(1 - MOST_SHARE if private else 1.0) for ask in asks or estimator._asks(coordinates)),
        ),
    )
    known = ("column names", *(() if private else ("bounds",)), *public)
    counted = () if relation is Relation.ADD_REMOVE else ("the number of records",)
    _recognise(ledger, engine, dataset)
    with curator:
        grant = Grant(curator)
        in_doubt = np.zeros(engine.n_columns, dtype=bool)
        if domain is None:
            bought = buy_bounds(grant, engine.n_columns, engine.names)
            domain, in_doubt = bought.box, bought.in_doubt
        scales = domain.scales if estimator.scale_by_bounds else np.ones(domain.n_columns)
        yield FitContext(grant.rest, domain, scales, partial(curator.statement, (*known, *counted)), in_doubt)


def _domain(estimator: Any, engine: Any) -> Box | Ball:
    """Return the public domain that an estimator was given bounds for, or kinds of columns."""
    columns = getattr(estimator, "columns_", None)
    if columns is None:
        return domain_from(estimator.bounds, engine.n_columns, engine.names)
    if estimator._lines_only:
        require_lines(columns, type(estimator).__name__)
    return domain_of(columns)


def _pinned(found: Mapping[str, Any], domain: Box | Ball) -> dict[str, Any]:
    """Return what was found with the constant columns of points at their value, without error: both are public."""
    fixed, pinned = domain.constant, dict(found)
    if fixed.any():
        for points, errors in _POINTS.items():
            for name, value in ((points, domain.centre), (errors, 0.0)):
                if name in pinned:
                    pinned[name] = np.where(fixed, value, pinned[name])
    return pinned


def _check_bounds(bounds: Any) -> None:
    """Refuse missing or unknown bounds before any data is looked at."""
    if bounds is None or (isinstance(bounds, str) and bounds != PRIVATE):
        domain_from(bounds, 1)
    if isinstance(bounds, np.ndarray) and bounds.size == 0:
        raise BoundsError("bounds are empty")


def _recognise(ledger: Any, engine: Any, dataset: str) -> None:
    """Have a ledger on disk object to data that it accounted for under another name, before anything is spent.

    A file under a second name that nobody gave is refused; columns that were met elsewhere are a warning.
    """
    if isinstance(ledger, FileLedger):
        name, named = ledger.dataset or dataset, ledger.dataset is not None
        ledger.meet(name, engine.file_marks, named=named)
        ledger.meet(name, engine.column_marks(), named=True)
