"""The one helper between scikit-learn's `fit(X)` and the door: X becomes rows behind a curator.

Every estimator calls `open_curator(self, X)` and then holds a curator, a public domain and column names; never a row.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from knoll.bounds import PRIVATE, buy_bounds
from knoll.privacy import Budget, Curator, DataError, Relation, open_ledger
from knoll.privacy.errors import BoundsError
from knoll.privacy.ledger import UNNAMED
from knoll.queries import Ball, Box, domain_from
from knoll.source import as_source, open_array, open_file, split_users


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


def open_curator(estimator: Any, X: Any, *, public: tuple[str, ...] = ()) -> Room:
    """Validate parameters and data, and put the data behind a curator. Spends nothing unless bounds are bought.

    Parameters
    ----------
    estimator : estimator
        With the parameters epsilon, delta, bounds, scale_by_bounds, relation, unit, missing and ledger.
    X : array, frame, Arrow table, path or Source
        The records.
    public : tuple of str
        What the estimator takes as public besides bounds and columns.
    """
    budget = Budget(estimator.epsilon, estimator.delta)
    relation = Relation.parse(estimator.relation)
    _check_bounds(estimator.bounds)
    engine, dataset = _engine(estimator, X)
    private = isinstance(estimator.bounds, str)
    domain = None if private else domain_from(estimator.bounds, engine.n_columns, engine.names)
    curator = Curator(
        engine,
        budget,
        relation=relation,
        unit=estimator.unit,
        ledger=open_ledger(estimator.ledger),
        dataset=dataset,
        estimator=type(estimator).__name__,
    )
    if domain is None:
        domain = buy_bounds(curator, engine.n_columns, engine.names)
    known = ("column names", *(() if private else ("bounds",)), *public)
    counted = () if relation is Relation.ADD_REMOVE else ("the number of records",)
    scales = domain.half.copy() if estimator.scale_by_bounds else np.ones(domain.n_columns)
    return Room(curator, domain, scales, (*known, *counted))


def _check_bounds(bounds: Any) -> None:
    """Refuse missing or unknown bounds before any data is looked at."""
    if bounds is None or (isinstance(bounds, str) and bounds != PRIVATE):
        domain_from(bounds, 1)
    if isinstance(bounds, np.ndarray) and bounds.size == 0:
        raise BoundsError("bounds are empty")


def _engine(estimator: Any, X: Any) -> tuple[Any, str]:
    """Return the rows as an engine, and the name of the dataset."""
    handling = {"missing": estimator.missing, "unit": estimator.unit}
    source = as_source(X)
    if source is not None:
        engine = open_file(source, estimator.bounds, **handling)
        estimator.n_features_in_ = engine.n_columns
        estimator.feature_names_in_ = np.array(engine.names, dtype=object)
        return engine, source.name
    table, users = split_users(X, estimator.unit)
    array = check_rows(estimator, table, reset=True, allow_missing=estimator.missing == "drop")
    names = getattr(estimator, "feature_names_in_", None)
    return open_array(array, names, users, **handling), UNNAMED


def check_rows(estimator: Any, X: Any, *, reset: bool, allow_missing: bool = False) -> np.ndarray:
    """Validate a table in memory as scikit-learn does, with errors that quote no value."""
    try:
        return validate_data(estimator, X, reset=reset, dtype=np.float64, ensure_all_finite=not allow_missing)
    except (ValueError, TypeError) as error:
        if "could not convert" in str(error):
            message = "X holds values that are not numbers; select numeric columns, or encode the others first"
            raise DataError(message) from None
        raise
