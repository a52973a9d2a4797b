"""Texts as users hand them over: a list, a column of a table or of a file; and the user of each."""

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from knoll.columns.table import column_at, table_names
from knoll.engines.ids import Ids, ids_of
from knoll.engines.tokens import LONGEST
from knoll.engines.words import WordTable
from knoll.privacy.errors import DataError, brief
from knoll.privacy.ledger import UNNAMED
from knoll.privacy.relation import Unit, User
from knoll.source.places import Source, as_source

_ONE_COLUMN = "give the column of texts by name: TopicMap(text=...), or --text on the command line"


@dataclass(frozen=True)
class TextColumn:
    """Texts, cut after a public number of characters, None where there is none; and the user of each, if any."""

    texts: list[str | None]
    users: Ids | None = None
    name: str = UNNAMED

    @property
    def there(self) -> np.ndarray:
        """Which rows have a text."""
        return np.array([text is not None for text in self.texts], dtype=bool)


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
    source = as_source(X) if isinstance(X, str | PathLike | Source) else None
    if isinstance(source, Source):
        return None if text is None else _of_file(source, text, unit)
    names = table_names(X)
    if names is None:
        listed = _listed(X)
        return None if listed is None else TextColumn(listed, _given_users(unit, users, len(listed)))
    if text is None and not any(_holds_text(column_at(X, names, j)) for j in range(len(names))):
        return None
    return _of_table(X, list(names), text, unit)


def _of_table(X: Any, names: list[Any], text: str | None, unit: Unit | None, name: str = UNNAMED) -> TextColumn:
    """Return two columns of a table."""
    if text is None:
        raise DataError(f"{_ONE_COLUMN}. The columns are {', '.join(map(str, names[:40]))}")
    found = _plain(_column(X, names, text, "texts"))
    users = ids_of(_column(X, names, unit.column, "user ids")) if isinstance(unit, User) else None
    return TextColumn(found, users, name)


def _column(X: Any, names: list[Any], column: Any, what: str) -> Any:
    if column not in names:
        raise DataError(f"no column {brief(column)} with {what}; the columns are {', '.join(map(str, names[:40]))}")
    if names.count(column) > 1:
        raise DataError(f"column {brief(column)} with {what} stands twice in the table")
    return column_at(X, names, names.index(column))


def _of_file(source: Source, text: str, unit: Unit | None) -> TextColumn:
    """Read the column of texts, and that of ids, of the files of a source."""
    wanted = [text, str(unit.column)] if isinstance(unit, User) else [text]
    tables = [_read(file, wanted, source) for file in source.files]
    table = pa.concat_tables(tables, promote_options="permissive")
    return _of_table(table, table.column_names, text, unit, source.name)


def _read(file: Path, wanted: list[str], source: Source) -> pa.Table:
    """Read some columns of a parquet, Arrow or CSV file; of CSV as text, and quoted texts may hold line ends."""
    kind = file.suffix.lower()
    try:
        if kind in (".parquet", ".pq"):
            import pyarrow.parquet

            return pyarrow.parquet.read_table(file, columns=wanted)
        if kind in (".arrow", ".feather"):
            import pyarrow.feather

            return pyarrow.feather.read_table(file, columns=wanted)
        import pyarrow.csv

        return pyarrow.csv.read_csv(
            file,
            read_options=pyarrow.csv.ReadOptions(encoding=source.encoding or "utf-8", block_size=2**26),
            parse_options=pyarrow.csv.ParseOptions(
                delimiter=source.delimiter or ("\t" if kind == ".tsv" else ","), newlines_in_values=True
            ),
            convert_options=pyarrow.csv.ConvertOptions(
                include_columns=wanted, column_types=dict.fromkeys(wanted, pa.string()), strings_can_be_null=True
            ),
        )
    except (pa.ArrowKeyError, KeyError):
        raise DataError(f"{file.name} has no column {' or no column '.join(map(repr, wanted))}") from None
    except pa.ArrowInvalid:
        raise DataError(
            f"{file.name} cannot be read as a table with the columns {', '.join(map(repr, wanted))}: are they in its "
            "header, are quotes closed, is it UTF-8 (else say encoding=, --encoding)?"
        ) from None


def _holds_text(column: Any) -> bool:
    """Whether a column's type is that of texts; its values are not looked at, but for Python objects."""
    kind = str(getattr(column, "dtype", getattr(column, "type", ""))).lower()
    return kind.startswith(("str", "utf8", "large_str", "object", "<u", "string"))


def _listed(X: Any) -> list[str | None] | None:
    """Return a list of texts as it is, None if X holds anything but texts and gaps, or no text at all."""
    if isinstance(X, np.ndarray) and (X.ndim != 1 or X.dtype.kind not in "OUT"):
        return None
    values = _values(X)
    if values is None or not any(isinstance(each, str) for each in values):
        return None
    return _plain(values)


def _values(X: Any) -> list[Any] | None:
    """Return what a list or a column holds."""
    for name in ("to_pylist", "to_list", "tolist"):
        if hasattr(X, name):
            return list(getattr(X, name)())
    return list(X) if isinstance(X, Sequence) and not isinstance(X, str | bytes) else None


def _plain(column: Any) -> list[str | None]:
    """Return texts, each cut by itself; what is no text is none."""
    values = _values(column)
    assert values is not None
    return [each[:LONGEST] if isinstance(each, str) else None for each in values]


def _given_users(unit: Unit | None, users: Any, rows: int) -> Ids | None:
    if not isinstance(unit, User):
        return None
    if users is None:
        raise DataError("unit is a user, and the texts are a list: give the user of each text, fit(texts, users=ids)")
    found = ids_of(users)
    if len(found) != rows:
        raise DataError(f"{len(found)} user ids for {rows} texts")
    return found
