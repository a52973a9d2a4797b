"""From Arrow batches to rows of doubles: one decoder for files, streams, databases and clusters.

Every value becomes a double by itself (decode.py). Errors name columns and where they lie, never a value.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from knoll.arrays import Floats
from knoll.engines.decode import NOT_NUMBERS, doubles, family, is_number
from knoll.engines.ids import id_kind
from knoll.engines.notation import Notation
from knoll.engines.vectors import spread, vectors, width_of
from knoll.privacy.errors import DataError

Encoder = Callable[[Any, Notation], Floats]
"""From an Arrow array, and how its texts are written, to one double for each value: each value by itself."""


class Decoder:
    """What is read of a batch: feature columns, in order, some of them encoded, and the column of user ids.

    Parameters
    ----------
    names : list of str
        Feature columns.
    user : str or None
        The column of user ids.
    encoders : dict
        Name -> what encodes the column. All others hold numbers.
    widths : dict, optional
        Name -> how many numbers it holds in every row, for columns of vectors.
    """

    def __init__(
        self,
        names: list[str],
        user: str | None,
        encoders: Mapping[str, Encoder],
        widths: Mapping[str, int] | None = None,
    ):
        self.names, self.user, self.encoders, self.widths = names, user, dict(encoders), dict(widths or {})
        if user in names:
            raise DataError(f"column {user!r} holds the user ids; it cannot be a feature too")
        for name in set(self.widths) & set(self.encoders):
            raise DataError(
                f"column {name!r} holds {self.widths[name]} numbers in every row, and a kind is of one: declare "
                f"'{name}[0]', '{name}[1]' and so on, or give plain bounds to all columns"
            )

    @property
    def wanted(self) -> list[str]:
        """All columns that are read."""
        return self.names if self.user is None else [*self.names, self.user]

    def family_of(self, name: str, kind: Any, where: str, notation: Notation) -> str:
        """Return what a column's Arrow type holds, in a word; refuse one that cannot be read."""
        if name in self.widths:
            what = f"{width} numbers" if (width := width_of(kind)) == self.widths[name] else None
        elif name == self.user:
            what = id_kind(kind)
        elif name in self.encoders:
            self._encoded(
                name, pa.array([], kind.value_type if pa.types.is_dictionary(kind) else kind), where, notation
            )
            what = family(kind)
        else:
            what = family(kind) if is_number(kind) else None
        if what is None:
            raise DataError(f"column {name!r} of {where} holds {kind}, not numbers; {NOT_NUMBERS}")
        return what

    def rows(self, batch: Any, where: str, notation: Notation) -> Floats:
        """Copy the feature columns of a batch into rows of doubles; nulls become NaN."""
        places = spread(self.names, self.widths)
        rows, j = np.empty((batch.num_rows, len(places)), order="C" if self.widths else "F"), -1
        for name in self.names:
            column = batch.column(name)
            if name in self.widths:
                rows[:, j + 1 : j + 1 + self.widths[name]] = vectors(column, self.widths[name])
                for i, part in enumerate(spread([name], self.widths), j + 1):
                    if part in self.encoders:
                        rows[:, i] = self._encoded(part, pa.array(rows[:, i], from_pandas=True), where, notation)
                j += self.widths[name]
                continue
            j += 1
            encoded = name in self.encoders
            rows[:, j] = self._encoded(name, column, where, notation) if encoded else doubles(column)
        return rows

    def users(self, batch: Any) -> Any:
        """Return the user ids of a batch, None if the unit is a record."""
        return None if self.user is None else batch.column(self.user)

    def _encoded(self, name: str, column: Any, where: str, notation: Notation) -> Floats:
        try:
            return self.encoders[name](column, notation)
        except DataError as error:
            raise DataError(f"column {name!r} of {where} holds {error}") from None
