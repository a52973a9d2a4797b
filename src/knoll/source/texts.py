"""Texts as users hand them over: a list, a column of a table, of a file or of a stream; and the user of each."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np

from knoll.columns.table import column_at, table_names
from knoll.engines.csv import Dialect
from knoll.engines.ids import Ids, ids_of
from knoll.engines.sql import Table
from knoll.engines.texts import AT_ONCE, TextBlock, TextBlocks, TextFiles, id_column, plain, text_stream
from knoll.engines.words import WordTable
from knoll.privacy.errors import DataError, brief
from knoll.privacy.ledger import UNNAMED
from knoll.privacy.relation import Unit, User
from knoll.source.clusters import Clustered
from knoll.source.places import Source, as_source

_ONE_COLUMN = "give the column of texts by name: TopicMap(text=...), or --text on the command line"


@dataclass(frozen=True)
class TextColumn:
    """Texts, block by block, cut after a public number of characters; None where there is none.

    Attributes
    ----------
    texts : TextBlocks or TextFiles
        The texts; if they are read, with the user of each.
    users : Ids, optional
        The user of each text, if they are in memory.
    name : str
        Of the dataset in a ledger.
    """

    texts: TextBlocks | TextFiles
    users: Ids | None = None
    name: str = UNNAMED


@dataclass(frozen=True)
class TextRows:
    """Texts that became vectors and words: what an engine is made of."""

    vectors: Any
    words: WordTable | None
    users: Ids | None = None
    name: str = UNNAMED


def texts_in(X: Any, text: str | None, unit: Unit | None, users: Any = None) -> TextColumn | None:
    """Return the texts of what a user hands over, or None if it holds numbers.

    Parameters
    ----------
    X : list, array or Series of str; frame, Arrow table, path or Source with a column of texts
        The texts.
    text : str, optional
        The column of texts, if X has columns.
    unit : Record, User or None
        If a user, the ids are in its column, or given.
    users : sequence, optional
        The user of each text, if X has no columns.
    """
    source = as_source(X)
    if source is not None:
        return None if text is None else _of_source(source, text, unit)
    names = table_names(X)
    if names is None:
        if not _listed(X):
            return None
        return TextColumn(_blocks(X), _given_users(unit, users, len(X)))
    if text is None and not any(_holds_text(column_at(X, names, j)) for j in range(len(names))):
        return None
    return _of_table(X, list(names), text, unit)


def _of_source(source: Any, text: str, unit: Unit | None) -> TextColumn:
    """Return a column of texts of files, or of a stream."""
    if isinstance(source, Clustered):
        raise DataError("texts are not read from a cluster: give the files themselves, or an Arrow table")
    if not isinstance(source, Source):
        stream = source.stream(id_column(unit), (text,)) if isinstance(source, Table) else source.stream
        return TextColumn(text_stream(stream, text, unit), name=source.name or UNNAMED)
    dialect = Dialect(source.delimiter, source.encoding, source.line_breaks)
    return TextColumn(TextFiles(source.files, text, unit, dialect), name=source.name)


def _of_table(X: Any, names: list[Any], text: str | None, unit: Unit | None) -> TextColumn:
    """Return two columns of a table."""
    if text is None:
        raise DataError(f"{_ONE_COLUMN}. The columns are {', '.join(map(str, names[:40]))}")
    found = _column(X, names, text, "texts")
    users = ids_of(_column(X, names, unit.column, "user ids")) if isinstance(unit, User) else None
    return TextColumn(_blocks(found), users)


def _column(X: Any, names: list[Any], column: Any, what: str) -> Any:
    if column not in names:
        raise DataError(f"no column {brief(column)} with {what}; the columns are {', '.join(map(str, names[:40]))}")
    if names.count(column) > 1:
        raise DataError(f"column {brief(column)} with {what} stands twice in the table")
    return column_at(X, names, names.index(column))


def _holds_text(column: Any) -> bool:
    """Whether a column's type is that of texts; its values are not looked at, but for Python objects."""
    kind = str(getattr(column, "dtype", getattr(column, "type", ""))).lower()
    return kind.startswith(("str", "utf8", "large_str", "object", "<u", "string"))


def _listed(X: Any) -> bool:
    """Whether X is a list or a column that holds texts."""
    if isinstance(X, str | bytes | PathLike) or table_names(X) is not None:
        return False
    if isinstance(X, np.ndarray) and (X.ndim != 1 or X.dtype.kind not in "OUT"):
        return False
    if not hasattr(X, "__len__") or not any(hasattr(X, name) for name in ("to_pylist", "to_list", "tolist", "index")):
        return False
    return any(isinstance(each, str) for start in range(0, len(X), AT_ONCE) for each in _values(X, start))


def _values(X: Any, start: int) -> list[Any]:
    """Return a block of what a list or a column holds."""
    part = getattr(X, "iloc", X)[start : start + AT_ONCE]
    for name in ("to_pylist", "to_list", "tolist"):
        if hasattr(part, name):
            return list(getattr(part, name)())
    return list(part) if isinstance(part, Sequence) else []


def _blocks(column: Any) -> TextBlocks:
    """Return a list or a column in memory as texts; what is no text is none."""

    def blocks() -> Iterator[TextBlock]:
        for start in range(0, len(column), AT_ONCE):
            texts = [plain(value) for value in _values(column, start)]
            yield TextBlock(texts, None, (start + len(texts)) / len(column))

    return TextBlocks(lambda: len(column), blocks)


def _given_users(unit: Unit | None, users: Any, rows: int) -> Ids | None:
    if not isinstance(unit, User):
        return None
    if users is None:
        raise DataError("unit is a user, and the texts are a list: give the user of each text, fit(texts, users=ids)")
    found = ids_of(users)
    if len(found) != rows:
        raise DataError(f"{len(found)} user ids for {rows} texts")
    return found
