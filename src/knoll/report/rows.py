"""Synthetic rows as a file: CSV, parquet or Arrow, with the names and types of the data."""

from os import PathLike
from pathlib import Path
from typing import Any

import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet

_ENDINGS = (".csv", ".parquet", ".arrow")


def check_ending(path: str | PathLike[str]) -> str:
    """Return the ending that tells which file is to be written; refuse another."""
    ending = Path(path).suffix.lower()
    if ending not in _ENDINGS:
        raise ValueError(f"{Path(path).name}: the kind of file is told by its ending, one of {', '.join(_ENDINGS)}")
    return ending


def write_rows(model: Any, n_rows: int, path: str | PathLike[str], random_state: Any = None) -> None:
    """Draw synthetic rows from a fitted model and write them to a file; it is replaced in one step if it exists."""
    ending = check_ending(path)
    table = model.sample(n_rows, random_state, frame=None)
    target = Path(path)
    draft = target.with_name(target.name + ".part")
    if ending == ".csv":
        pyarrow.csv.write_csv(table, draft)
    elif ending == ".parquet":
        pyarrow.parquet.write_table(table, draft)
    else:
        pyarrow.feather.write_feather(table, str(draft), compression="uncompressed")
    draft.replace(target)
