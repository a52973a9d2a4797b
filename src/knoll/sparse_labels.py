"""Labels of sparse rows, and of dense ones under a model that was fitted to sparse ones; for the holder of the rows."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from knoll.engines.sparse import is_sparse, rows_of
from knoll.privacy.errors import DataError
from knoll.privacy.relation import User
from knoll.queries import ChosenColumns, SparseRows
from knoll.rows import GAPS, check_rows

_ROWS = 4096  # at a time: the chosen columns of so many are made dense


def weighs_columns(model: Any, X: Any) -> bool:
    """Whether rows are measured in chosen columns: X is sparse, or the model was fitted to sparse rows."""
    return is_sparse(X) or not bool((model.column_weights_ == 1.0).all())


def label_sparse(model: Any, X: Any) -> np.ndarray:
    """Return the cluster of each row, -1 for one with a missing value."""
    found = []
    for whole, distances in _distances(model, X):
        labels = np.full(len(whole), -1)
        labels[whole] = distances.argmin(axis=1) if len(distances) else labels[whole]
        found.append(labels)
    return np.concatenate(found) if found else np.empty(0, dtype=np.int64)


def sparse_distances(model: Any, X: Any) -> np.ndarray:
    """Return the distance of each row, in the chosen columns and scaled to length one, to each centre."""
    found = list(_distances(model, X))
    if not all(whole.all() for whole, _ in found):
        raise DataError(GAPS)
    return np.concatenate([distances for _, distances in found])


def _distances(model: Any, X: Any) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield, block by block, which rows have no missing value, and the distances of those to the centres."""
    matrix = _matrix(model, X)
    chosen = np.flatnonzero(model.column_weights_)
    domain = ChosenColumns(len(model.column_weights_), chosen, model.column_weights_[chosen])
    centres = model.cluster_centers_[:, chosen]
    for start in range(0, matrix.shape[0], _ROWS):
        rows = SparseRows.of(matrix[start : start + _ROWS])
        whole = ~rows.rows_with(~np.isfinite(rows.values))
        if not whole.all() and model.missing != "drop":
            raise DataError(GAPS)
        points = domain.coordinates(rows[whole])
        squares = np.square(points).sum(axis=1)[:, None] + np.square(centres).sum(axis=1) - 2.0 * points @ centres.T
        yield whole, np.sqrt(np.maximum(squares, 0.0))


def _matrix(model: Any, X: Any) -> Any:
    """Return rows to label, with as many columns as the model's."""
    if not is_sparse(X):
        X = check_rows(model, X, reset=False, allow_missing=True)
    else:
        unit = model.unit if isinstance(model.unit, User) and X.shape[1] == model.n_features_in_ + 1 else None
        X, _ = rows_of(X, unit)
    if X.shape[1] != model.n_features_in_:
        raise DataError(f"X has {X.shape[1]} columns, the model {model.n_features_in_}")
    return X
