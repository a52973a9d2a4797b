"""Reading files: Arrow's errors in our words, which quote no value, and files that change while they are read."""

import re
from pathlib import Path
from typing import Any

import pyarrow as pa

from knoll.engines.csv import CsvFile, Dialect
from knoll.engines.notation import NOT_A_NUMBER
from knoll.privacy.errors import DataError


def safely_read(path: Path, dialect: Dialect, call: Any, *args: Any) -> Any:
    """Call into Arrow; turn its errors, which may quote values, into ours, which do not."""
    try:
        return call(*args)
    except DataError:
        raise
    except UnicodeDecodeError:
        raise DataError(f"{path.name} holds text that is not UTF-8 (column names?); {_ENCODE}") from None
    except (pa.ArrowException, OSError, KeyError) as error:
        raise DataError(_explain(path, str(error), dialect)) from None


_ENCODE = (
    'save it as UTF-8, or declare how it is written: encoding="cp1252" (most files from Windows); on the command line '
    "--encoding"
)


def stamp_of(file: Path) -> tuple[int, ...]:
    """Return what changes when a file is written to, or another is put in its place."""
    about = file.stat()
    return about.st_size, about.st_mtime_ns, about.st_dev, about.st_ino


def check_unchanged(file: Path, stamp: tuple[int, ...]) -> None:
    """Refuse a file that was written to since it was opened: two passes would see different records."""
    if stamp_of(file) != stamp:
        raise changed(file)


def changed(file: Path) -> DataError:
    """Return the refusal of a file that does not stay as it is."""
    return DataError(f"{file.name} was changed while it was read; fit a copy that stays as it is")


def _explain(path: Path, message: str, dialect: Dialect) -> str:
    """Return an error of Arrow's in our words."""
    where = path.name
    if "conversion error" in message.lower():
        named = re.search(r"In CSV column #(\d+)", message)
        names = CsvFile(path, dialect).names if named else []
        number = int(named.group(1)) if named else 0
        which = f"column {names[number]!r}" if number < len(names) else "a column"
        if "UTF" in message:
            return f"{which} of {where} holds text that is not UTF-8; {_ENCODE}"
        return (
            f"{which} of {where} holds {NOT_A_NUMBER}. (Numbers with marks, such as $1,234, are read where columns are "
            "declared by kinds: knoll.Number)"
        )
    if "columns, got" in message:
        return (
            f"a line of {where} has another number of fields than its header. Does a field hold the delimiter, without "
            "quotes around it? Is the delimiter right (--delimiter), and the header the first line?"
        )
    if "straddling" in message:
        return f"a line of {where} is too long to be one record. Is a quote open? Or save the data as parquet"
    if "nvalid UTF" in message:
        return f"{where} holds text that is not UTF-8; {_ENCODE}"
    if "Permission denied" in message:
        return f"{where} cannot be opened: permission denied"
    return f"{where} cannot be read: it is damaged, truncated or something else than its ending says"
