"""The way from scikit-learn's `fit(X)` to the door, the same for every estimator: X becomes rows behind a curator.

An estimator is handed a curator, a public domain and scales; never a row.
"""

import copy
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Self, dataclass_transform

import numpy as np
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import validate_data

from knoll import progress
from knoll.bounds import PRIVATE, SHARE, bounds_asks, buy_bounds
from knoll.engines.decode import frame_to_doubles, is_frame, plain_to_doubles, refuse_dates
from knoll.engines.engine import REFUSED
from knoll.privacy import Ask, Budget, Curator, DataError, FileLedger, PrivacyError, Record, Relation, User, open_ledger
from knoll.privacy.errors import BoundsError
from knoll.privacy.ledger import UNNAMED
from knoll.queries import Ball, Box, domain_from
from knoll.releases import releases_note
from knoll.source import Source, as_source, open_array, open_file, split_users

COMMON_PARAMETERS = """epsilon, delta : float, default=1.0 and 1e-6
        Privacy budget of one fit. ``delta=0`` gives pure differential privacy (Laplace noise). A GridSearchCV fits
        many times, and `privacy_` tells of the last fit only; a shared `ledger` adds them up.
    bounds : Box, Ball, (lower, upper), dict or "private"
        Where records can lie, known without looking at them; records outside are clipped. ``"private"`` buys
        bounds with a tenth of the budget.
    scale_by_bounds : bool, default=False
        Measure distances in units of each column's bounds, for columns of different kinds. (Scaling by the data's
        own spread, as a StandardScaler before the estimator does, is not private, and no estimator can see it:
        `privacy_` does not cover other steps of a pipeline.)
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

COMMON_ATTRIBUTES = """bounds_ : Box or Ball
        The bounds used, given or bought.
    privacy_ : Privacy
        What was released, at what cost; print it.
    n_features_in_, feature_names_in_
        As in scikit-learn."""


@dataclass_transform()
def declared(cls: type) -> type:
    """Make an estimator of a class that declares its parameters as fields: add `__init__`, complete its docstring.

    What all estimators share is filled in for {parameters} and {attributes}; a class with attributes of its own kind
    names them in `_ATTRIBUTES`, which come first. {releases} becomes what the class releases, from `knoll.releases`.
    """
    if cls.__doc__:
        attributes = getattr(cls, "_ATTRIBUTES", "") + COMMON_ATTRIBUTES
        cls.__doc__ = cls.__doc__.replace("{parameters}", COMMON_PARAMETERS).replace("{attributes}", attributes)
        if "{releases}" in cls.__doc__:
            cls.__doc__ = cls.__doc__.replace("{releases}", releases_note(cls.__name__))
    return dataclass(cls, eq=False, repr=False)


@dataclass(kw_only=True, eq=False, repr=False)
class PrivateFit:
    """A fit through the door, and the parameters that all have. A method says what it checks and what it asks."""

    epsilon: float = 1.0
    delta: float = 1e-6
    bounds: Any = None
    scale_by_bounds: bool = False
    relation: str = "add_remove"
    unit: Any = None
    missing: str = "refuse"
    ledger: Any = None
    random_state: Any = None
    verbose: bool = False

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
        draft = copy.copy(self)
        draft.__dict__ = {name: value for name, value in vars(self).items() if not name.endswith("_")}
        draft._check_parameters()
        rng = check_random_state(draft.random_state)
        with (
            open_curator(draft, X, response=response) as room,
            progress.shown(type(self).__name__, enabled=self.verbose),
        ):
            draft._fit(room, rng)
            vars(draft).update(bounds_=room.domain, privacy_=room.statement())
        self.__dict__ = draft.__dict__
        return self

    def _check_parameters(self) -> None:
        """Refuse bad parameters of the method's own, before any data is looked at."""
        raise NotImplementedError

    def _asks(self, n_columns: int) -> Sequence[Ask]:
        """Return what a fit releases at most, from public facts alone: its cost is planned before it begins.

        Without a plan each release is still checked before it happens, and a tiny budget may end a fit half-way.
        """
        return ()

    def _fit(self, room: "Room", rng: np.random.RandomState) -> None:
        """Ask through the door, and publish what follows from the answers."""
        raise NotImplementedError


@dataclass(frozen=True)
class Room:
    """What an estimator is handed: the door, the public domain and metric, and what is assumed public."""

    curator: Curator
    domain: Box | Ball
    scales: np.ndarray
    assumed_public: tuple[str, ...]

    def statement(self) -> Any:
        """Recheck the spend and return the privacy statement."""
        return self.curator.statement(self.assumed_public)


@contextmanager
def open_curator(
    estimator: Any,
    X: Any,
    *,
    response: Any = None,
    public: tuple[str, ...] = ("the parameters",),
    asks: Sequence[Ask] | None = None,
) -> Iterator[Room]:
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
        raise PrivacyError(f"unit={estimator.unit!r} is neither knoll.Record() nor knoll.User(column, cap)")
    engine, dataset = _engine(estimator, X, response, nulls=relation is not Relation.ADD_REMOVE)
    budget = getattr(estimator, "_budget_for", lambda n_columns: budget)(engine.n_columns)
    private = isinstance(estimator.bounds, str)
    domain = None if private else domain_from(estimator.bounds, engine.n_columns, engine.names)
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
            *(ask.within(1 - SHARE if private else 1.0) for ask in asks or estimator._asks(engine.n_columns)),
        ),
    )
    known = ("column names", *(() if private else ("bounds",)), *public)
    counted = () if relation is Relation.ADD_REMOVE else ("the number of records",)
    _recognise(ledger, engine, dataset)
    with curator:
        if domain is None:
            domain = buy_bounds(curator, engine.n_columns, engine.names)
        scales = domain.half.copy() if estimator.scale_by_bounds else np.ones(domain.n_columns)
        yield Room(curator, domain, scales, (*known, *counted))


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


def _engine(estimator: Any, X: Any, response: Any, *, nulls: bool) -> tuple[Any, str]:
    """Return the rows as an engine, and the name of the dataset."""
    handling = {"missing": estimator.missing, "unit": estimator.unit, "nulls": nulls}
    source = as_source(X)
    if source is not None:
        if response is not None:
            raise DataError("with a file, the response is its last column; do not give y")
        engine = open_file(source, estimator.bounds, **handling)
        estimator.n_features_in_ = engine.n_columns
        estimator.feature_names_in_ = np.array(engine.names, dtype=object)
        return engine, source.name
    table, users = split_users(X, estimator.unit)
    array = check_rows(estimator, table, reset=True, allow_missing=nulls or estimator.missing == "drop")
    if response is not None:
        array = _with_response(estimator, array, response)
    names = getattr(estimator, "feature_names_in_", None)
    return open_array(array, names, users, **handling), UNNAMED


def _with_response(estimator: Any, array: np.ndarray, response: Any) -> np.ndarray:
    """Return rows with the response as their last column, and count and name it among the features."""
    y = doubles_of(response)
    if y.ndim != 1 or len(y) != len(array):
        raise DataError(f"X has shape {array.shape} and y {y.shape}; they need as many rows, and y one column")
    estimator.n_features_in_ += 1
    if hasattr(estimator, "feature_names_in_"):
        name = str(getattr(response, "name", None) or "y")
        if name in estimator.feature_names_in_:
            raise DataError(f"a predictor has the name of the response, {name!r}")
        estimator.feature_names_in_ = np.append(estimator.feature_names_in_, np.array([name], dtype=object))
    return np.column_stack([array, y])


def doubles_of(table: Any) -> np.ndarray:
    """Return a frame, a column or anything like an array as doubles, every value read by itself."""
    if is_frame(table):
        return frame_to_doubles(table)
    refuse_dates(table)
    try:
        if hasattr(table, "to_pylist") or type(table).__module__.startswith(("pandas", "polars")):
            return plain_to_doubles((getattr(table, "to_pylist", None) or table.to_list)())
        return np.asarray(table, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError("X or y holds values that are not numbers") from None


def check_rows(estimator: Any, X: Any, *, reset: bool, allow_missing: bool = False) -> np.ndarray:
    """Validate a table in memory as scikit-learn does, with errors that quote no value."""
    if is_frame(X):
        validate_data(estimator, X, reset=reset, skip_check_array=True)  # names, and the number of columns
        array = frame_to_doubles(X)
    else:
        refuse_dates(X)
    try:
        if is_frame(X):
            return check_array(array, dtype=np.float64, ensure_all_finite=not allow_missing)
        return validate_data(estimator, X, reset=reset, dtype=np.float64, ensure_all_finite=not allow_missing)
    except ValueError as error:
        message = str(error)
        if "could not convert" in message:
            message = "X holds values that are not numbers; select numeric columns, or encode the others first"
        elif "contains NaN" in message or "contains infinity" in message:
            message = REFUSED
        elif "Complex data not supported" in message:
            message = "Complex data not supported"
        raise DataError(re.sub(r"array=.*?\.\n", "\n", message, flags=re.DOTALL)) from None


def label_rows(estimator: Any, X: Any, label: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """Label the rows of what `fit` accepts, for their holder; -1 for a row with a missing value."""
    rows, usable = _rows_to_label(estimator, X)
    labels = np.full(len(rows), -1)
    if usable.any():
        labels[usable] = label(rows[usable])
    return labels


def _rows_to_label(estimator: Any, X: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of what `fit` accepts, for their holder, and which of them have no missing value.

    The column of user ids, if there is one, is left out. Non-private: what is computed from these rows is not released.
    """
    source = as_source(X)
    if source is not None:
        names = getattr(estimator, "feature_names_in_", None)
        columns = source.columns if names is None else [str(name) for name in names]
        engine = open_file(Source(source.path, columns), estimator.bounds, missing="drop", unit=None)
        rows = np.vstack([block for block, _, _ in engine.read()] or [np.empty((0, engine.n_columns))])
        if rows.shape[1] != estimator.n_features_in_:
            raise DataError(f"the file has {rows.shape[1]} feature columns, the model {estimator.n_features_in_}")
    else:
        table, _ = split_users(X, estimator.unit if _has_users(X, estimator) else None)
        rows = check_rows(estimator, table, reset=False, allow_missing=estimator.missing == "drop")
    return rows, np.logical_and.reduce(np.isfinite(rows), axis=1)


def _has_users(X: Any, estimator: Any) -> bool:
    """Whether a table still holds the column of user ids."""
    unit = estimator.unit
    if not isinstance(unit, User):
        return False
    names = getattr(X, "column_names", getattr(X, "columns", None))
    return unit.column in list(names) if names is not None else np.shape(X)[1:] == (estimator.n_features_in_ + 1,)
