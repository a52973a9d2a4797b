"""Rows as users hand them over: a table in memory or a file becomes an engine for `fit`, or rows to label.

What is handed back to the holder of the rows (labels, scores) is not released, and the model keeps nothing of it.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils import check_array

from knoll.columns import as_columns, encode_table
from knoll.columns.frames import TableType
from knoll.engines.decode import frame_to_doubles, is_frame, maker_of, names_of, plain_to_doubles, refuse_dates
from knoll.engines.engine import REFUSED
from knoll.engines.sparse import SparseEngine, is_sparse, rows_of
from knoll.engines.words import WordEngine
from knoll.imputing import filled
from knoll.privacy import DataError, User
from knoll.privacy.errors import BoundsError
from knoll.privacy.ledger import UNNAMED
from knoll.source import (
    Clustered,
    Elsewhere,
    Source,
    Streamed,
    Table,
    as_source,
    label_clustered,
    label_stream,
    open_array,
    open_source,
    open_table,
    split_users,
)
from knoll.source.texts import TextRows

try:
    from sklearn.utils.validation import validate_data

    _FINITE = "ensure_all_finite"
except ImportError:  # scikit-learn 1.5 has a method for it, and other names
    _FINITE = "force_all_finite"

    def validate_data(_estimator: Any, X: Any, *, reset: bool, skip_check_array: bool = False, **options: Any) -> Any:
        """Set or check the number and the names of columns; return what `check_array` makes of X."""
        return _estimator._validate_data(X, reset=reset, cast_to_ndarray=not skip_check_array, **options)


SMALL = (np.dtype(np.float16), np.dtype(np.float32))
"""Numbers that are kept as they are while they wait: every double that is made of one is exact."""
AT_ONCE = 2**14  # rows of such numbers that become doubles at once

GAPS = (
    "the rows hold missing (NaN) or infinite values: leave such rows out first. (`predict` of a model with "
    'missing="drop" does so itself, and gives them the label -1.)'
)


def open_rows(estimator: Any, X: Any, response: Any, *, nulls: bool) -> tuple[Any, str]:
    """Return the rows as an engine, and the name of the dataset."""
    handling = {"missing": estimator.missing, "unit": estimator.unit, "nulls": nulls}
    if isinstance(X, TextRows):
        return _open_texts(estimator, X, handling)
    columns = as_columns(estimator.bounds)
    estimator.table_type_ = TableType.of(X, columns)
    if columns is not None:
        if response is not None:
            raise DataError("where kinds of columns are declared, the response is the last of them; do not give y")
        if estimator.relation == "replace_special" and any(kind.missing == "level" for _, kind in columns):
            raise BoundsError(  # a null record must add nothing, and would be a record of missing levels
                'under relation="replace_special" a row without values is a null record, so a missing value cannot be '
                'a level of its own: declare missing="drop" for such columns, or use another relation'
            )
        estimator.columns_, estimator.n_features_in_ = columns, len(columns)
        estimator.feature_names_in_ = np.array(columns.names, dtype=object)
        return open_table(columns, X, **handling)
    if is_sparse(X):
        return _open_sparse(estimator, X, response, handling), UNNAMED
    source = as_source(X)
    if source is not None:
        if response is not None:
            raise DataError("with a file, the response is its last column; do not give y")
        engine = open_source(source, estimator.bounds, **handling)
        estimator.n_features_in_ = engine.n_columns
        if engine.names is not None:
            estimator.feature_names_in_ = np.array(engine.names, dtype=object)
        return engine, source.name or UNNAMED
    table, users = split_users(X, estimator.unit)
    named = estimator.bounds if isinstance(estimator.bounds, Mapping) else getattr(estimator.bounds, "names", None)
    if named:
        table = select_columns(table, list(named))
    array = check_rows(estimator, table, reset=True, allow_missing=nulls or estimator.missing != "refuse", small=True)
    if response is not None:
        array = _with_response(estimator, array, response)
    names = getattr(estimator, "feature_names_in_", None)
    return open_array(array, names, users, **handling), UNNAMED


def _open_texts(estimator: Any, X: TextRows, handling: dict[str, Any]) -> tuple[Any, str]:
    """Return texts that became vectors and words as an engine."""
    estimator.has_texts_, estimator.table_type_ = X.words is not None, TableType()
    missing, unit, nulls = handling["missing"], handling["unit"], handling["nulls"]
    if is_sparse(X.vectors):
        matrix, _ = rows_of(X.vectors, None)
        estimator.n_features_in_ = matrix.shape[1]
        engine: Any = SparseEngine(matrix, users=X.users, missing=missing, unit=unit, nulls=nulls)
    else:
        array = check_rows(estimator, X.vectors, reset=True, allow_missing=nulls or missing != "refuse", small=True)
        engine = open_array(array, None, X.users, missing=missing, unit=unit, nulls=nulls)
    return engine if X.words is None else WordEngine(engine, X.words, X.users), X.name


def _open_sparse(estimator: Any, X: Any, response: Any, handling: dict[str, Any]) -> SparseEngine:
    """Return sparse rows as an engine, if the method takes them as they are."""
    if not getattr(estimator, "_takes_sparse", False):
        raise DataError(
            "A sparse matrix was passed, and this method needs dense rows: use knoll.SphericalKMeans, which takes "
            "sparse ones, or X.toarray() if it fits into memory"
        )
    if response is not None:
        raise DataError("sparse rows have no response")
    matrix, users = rows_of(X, handling["unit"])
    estimator.n_features_in_ = matrix.shape[1]
    return SparseEngine(matrix, users=users, **handling)


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
        if maker_of(table):
            return plain_to_doubles((getattr(table, "to_pylist", None) or table.to_list)())
        return np.asarray(table, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise DataError("X or y holds values that are not numbers") from None


def check_rows(estimator: Any, X: Any, *, reset: bool, allow_missing: bool = False, small: bool = False) -> np.ndarray:
    """Validate a table in memory as scikit-learn does, with errors that quote no value.

    With `small`, an array of smaller floating-point numbers stays as it is; else all become doubles.
    """
    kept = small and isinstance(X, np.ndarray) and X.dtype in SMALL and not isinstance(X, np.ma.MaskedArray)
    if is_frame(X):
        validate_data(estimator, X, reset=reset, skip_check_array=True)  # names, and the number of columns
        array = frame_to_doubles(X)
    else:
        refuse_dates(X)
        if isinstance(X, np.ma.MaskedArray):  # what lies under a mask is missing
            X = np.ma.filled(X.astype(np.float64), np.nan)
    try:
        if is_frame(X):
            return check_array(array, dtype=np.float64, **{_FINITE: not allow_missing})
        return validate_data(
            estimator, X, reset=reset, dtype=X.dtype if kept else np.float64, **{_FINITE: not allow_missing}
        )
    except OverflowError:
        raise DataError("X holds numbers too large for a double") from None
    except ValueError as error:
        message = str(error)
        if "could not convert" in message:
            message = "X holds values that are not numbers; select numeric columns, or encode the others first"
        elif "contains NaN" in message or "contains infinity" in message:
            message = REFUSED if reset else GAPS
        elif "Complex data not supported" in message:
            message = "Complex data not supported"
        raise DataError(re.sub(r"array=.*?\.\n", "\n", message, flags=re.DOTALL)) from None


def points_of(estimator: Any, X: Any) -> np.ndarray:
    """Return the rows of a table as points of a fitted model's domain, for their holder; all of them in memory."""
    if (source := as_source(X)) is not None and not isinstance(source, Source):
        rows = np.vstack(list(_blocks_to_label(estimator, source)) or [np.empty((0, estimator.n_features_in_))])
        if not np.isfinite(rows).all():
            raise DataError(GAPS)
        return estimator.bounds_.coordinates(rows)
    if hasattr(estimator, "columns_"):
        return estimator.bounds_.coordinates(filled(encode_table(estimator.columns_, X), _fills(estimator)))
    if hasattr(estimator, "feature_names_in_"):
        X = select_columns(X, list(estimator.feature_names_in_))
    return estimator.bounds_.coordinates(check_rows(estimator, X, reset=False))


def select_columns(X: Any, names: list[Any]) -> Any:
    """Return these columns, in this order, of a frame that has them all and others; anything else as it is."""
    known = names_of(X)
    if known is None or len(set(known)) < len(known) or not set(names) < set(known):
        return X
    return X[names] if maker_of(X) == "pandas" else X.select(names)


def label_rows(
    estimator: Any, X: Any, label: Callable[[np.ndarray], np.ndarray], *, part_of_cluster: bool = False
) -> Any:
    """Label the rows of what `fit` accepts, for their holder; -1 for a row with a missing value.

    What a cluster or a stream holds is labelled when it is read, and comes back as the same kind of thing.
    """
    source = as_source(X)
    if isinstance(source, Clustered):
        return label_clustered(source, partial(label_rows, estimator, label=label, part_of_cluster=True))

    def labelled(rows: np.ndarray) -> np.ndarray:
        labels = np.full(len(rows), -1)
        usable = np.logical_and.reduce(np.isfinite(rows), axis=1)
        if usable.any():
            labels[usable] = label(estimator.bounds_.coordinates(rows[usable]))
        return labels

    if isinstance(source, Streamed | Table):
        return _label_stream(estimator, source, lambda rows: labelled(filled(rows, _fills(estimator))))
    blocks = _blocks_to_label(estimator, X if source is None else source, part_of_cluster)
    return np.concatenate([np.empty(0, dtype=np.int64), *map(labelled, blocks)])


def _label_stream(estimator: Any, source: Streamed | Table, label: Callable[[np.ndarray], np.ndarray]) -> Any:
    columns = getattr(estimator, "columns_", None)
    encoded = () if columns is None else columns.names
    stream = source.stream(None, encoded) if isinstance(source, Table) else source.stream
    named = _same_columns(estimator, source).columns if columns is None else columns
    return label_stream(stream, getattr(source, "given", None), named, estimator.n_features_in_, label)


def same_columns(estimator: Any, X: Any) -> Any:
    """Return a file, or a stream, with the columns that a model was fitted to; anything else as it is."""
    source = as_source(X)
    return X if source is None else _same_columns(estimator, source)


def _same_columns(estimator: Any, source: Elsewhere) -> Elsewhere:
    names = getattr(estimator, "feature_names_in_", None)
    return source if names is None else replace(source, columns=[str(name) for name in names])


def _blocks_to_label(estimator: Any, X: Any, gaps: bool = False) -> Iterator[np.ndarray]:
    """Yield the rows of what `fit` accepts, in order, for their holder.

    The column of user ids, if there is one, is left out. Non-private: what is computed from these rows is not released.
    """
    source = as_source(X)
    if hasattr(estimator, "columns_"):
        engine, _ = open_table(estimator.columns_, X if source is None else source, missing="drop", unit=None)
        for rows, _, _ in engine.read():
            yield filled(rows, _fills(estimator))
    elif source is not None:
        engine = open_source(_same_columns(estimator, source), estimator.bounds, missing="drop", unit=None)
        if engine.n_columns != estimator.n_features_in_:
            raise DataError(f"the file has {engine.n_columns} feature columns, the model {estimator.n_features_in_}")
        for rows, _, _ in engine.read():
            yield rows
    else:
        table, _ = split_users(X, estimator.unit if _has_users(X, estimator) else None)
        if hasattr(estimator, "feature_names_in_"):
            table = select_columns(table, list(estimator.feature_names_in_))
        rows = check_rows(estimator, table, reset=False, allow_missing=gaps or estimator.missing == "drop", small=True)
        for start in range(0, max(1, len(rows)), AT_ONCE if rows.dtype in SMALL else max(1, len(rows))):
            yield np.asarray(rows[start : start + AT_ONCE] if rows.dtype in SMALL else rows, dtype=np.float64)


def _fills(estimator: Any) -> np.ndarray | None:
    """Return what a fitted model fills missing values with, if it does."""
    return getattr(estimator, "imputed_", None)


def _has_users(X: Any, estimator: Any) -> bool:
    """Whether a table still holds the column of user ids."""
    unit = estimator.unit
    if not isinstance(unit, User):
        return False
    names = names_of(X)
    return unit.column in names if names is not None else np.shape(X)[1:] == (estimator.n_features_in_ + 1,)
