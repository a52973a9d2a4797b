"""From X to the door: rows, budget and ledger behind a curator for the length of a fit.

An estimator is handed a grant, a public domain and scales; never a row.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from knoll.bounds import MOST_SHARE, PRIVATE, SHARE, balance_asks, balanced, balances, bounds_asks, buy_bounds
from knoll.columns import domain_of, require_lines
from knoll.imputing import Imputing
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
from knoll.queries import Ball, Box, Product, Sphere, domain_from
from knoll.queries.given import SPHERE
from knoll.rows import open_rows


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
    sparse: bool = False
    """Whether rows are sparse: `domain` then tells their number of columns, and queries of sparse rows are asked."""
    imputed: np.ndarray | None = None
    """What missing values of each column are filled with, encoded; NaN for columns where they are not."""


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

    Spends nothing by itself, unless bounds are bought or missing values filled in. The ledger reserves the budget of
    the fit until it ends.

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
    bounds = _given_bounds(estimator)
    _check_bounds(bounds)
    if not isinstance(estimator.unit, Record | User | None):
        raise PrivacyError(f"unit={brief(estimator.unit)} is neither knoll.Record() nor knoll.User(column, cap)")
    engine, dataset = open_rows(estimator, X, response, nulls=relation is not Relation.ADD_REMOVE)
    private = isinstance(bounds, str) and bounds == PRIVATE
    domain = None if private else _domain(estimator, engine)
    coordinates = engine.n_columns if domain is None else domain.n_columns
    budget = getattr(estimator, "_budget_for", lambda n_columns: budget)(coordinates)
    engine.size_blocks(coordinates)
    is_sparse = getattr(engine, "is_sparse", False)
    planned = estimator._sparse_asks if is_sparse else estimator._asks
    ledger = open_ledger(estimator.ledger)
    imputing = Imputing.of(estimator, domain)
    several = balances(domain, getattr(estimator, "columns_", None))
    balance = domain if estimator._has_metric and estimator.scale_by_bounds and several else None
    spare = 1.0 - (MOST_SHARE if private else SHARE if balance is not None else 0.0) - imputing.share
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
            *imputing.asks,
            *(balance_asks(balance) if isinstance(balance, Product) else ()),
            *(ask.within(spare) for ask in asks or planned(coordinates)),
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
        imputed = imputing.fill(engine, grant)
        scales = domain.scales if estimator.scale_by_bounds else np.ones(domain.n_columns)
        scales = balanced(grant, balance) if isinstance(balance, Product) else scales
        statement = partial(curator.statement, (*known, *counted))
        yield FitContext(grant.rest, domain, scales, statement, in_doubt, is_sparse, imputed)


def _domain(estimator: Any, engine: Any) -> Box | Ball:
    """Return the public domain that an estimator was given bounds for, or kinds of columns."""
    columns = getattr(estimator, "columns_", None)
    if columns is None:
        return domain_from(_given_bounds(estimator), engine.n_columns, engine.names)
    if estimator._lines_only:
        require_lines(columns, type(estimator).__name__)
    return domain_of(columns)


def _given_bounds(estimator: Any) -> Any:
    """Return the bounds that an estimator was given: the sphere, if it measures by cosine."""
    bounds = estimator.bounds
    if getattr(estimator, "metric", None) != "cosine" or isinstance(bounds, Sphere):
        return bounds
    if bounds is None or (isinstance(bounds, str) and bounds == SPHERE):
        return SPHERE
    raise BoundsError(
        f'bounds={brief(bounds)}: metric="cosine" scales rows to length one and has no other bounds. Leave them out'
    )


def _check_bounds(bounds: Any) -> None:
    """Refuse missing or unknown bounds before any data is looked at."""
    if bounds is None or (isinstance(bounds, str) and bounds not in (PRIVATE, SPHERE)):
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
