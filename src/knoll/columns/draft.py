"""A draft of columns.toml for a file: from its column names and types alone, never from a value."""

import re
import unicodedata
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa

from knoll.columns.toml import toml_key, toml_text
from knoll.engines.csv import Dialect, is_value
from knoll.engines.decode import family
from knoll.engines.listing import data_files, file_kind
from knoll.engines.parts import TITLE, is_unnamed, open_part
from knoll.privacy.errors import DataError

_HEAD = """\
# What the columns of {name} hold: drafted from their names and types; no value was looked at.
# Everything written here is public. Fill in what you know without looking at the data, then remove the # before the
# line. Columns that stay behind a # are not used.
#   numbers "0:110"; on a logarithmic scale "log:1000:1000000"; whole "int:0:50"; yes or no "bool"; categories
#   "{{basic,gold}}", all else is "other"; in order "ordered:{{S,M,L}}"; dates "2020-01-01:2024-12-31"; round and round
#   "cyclic:24", "cyclic:hour", "cyclic:weekday", "cyclic:month". Add ";weight=2" or ";missing=drop" inside the quotes.
"""
_TWICE = "; the name stands twice in the file: rename one to use it"
_BY_TYPE = {
    "booleans": ("bool", ""),
    "dates": ("first:last", "dates: fill in, e.g. 2020-01-01:2024-12-31"),
    "text": ("{level,level}", "text: fill in the levels that you know, or leave the column out"),
    "times of the day": ("cyclic:hour", ""),
    "durations": ("leave out", "durations are not read: store them as numbers of minutes, or of another unit"),
    "vectors": ("leave out", "numbers in every row: declare the first as name[0], the next as name[1], and so on"),
    "lists": ("leave out", "lists and tables in cells are not read: give each part a column"),
}
_BY_NAME = (
    (r"(^|_)(id|ids|uuid|guid|ssn|ahv|iban|e?mail|phone|vorname|nachname|surname|prenom|ticket|add?resse?)$"
     r"|(^|_)(kunden|customer|client|patient|user|member|account|vertrags|personal|mitglieds?)_?(nr|no|nummer|number|num)$"
     r"|^(first_|last_|full_|user_|customer_|client_|patient_|member_)?name$|^(nr|no|nummer|number|numero)$",
     "", "an id? no feature; --user protects users"),
    (r"(^|_)(date|datum|timestamp|datetime|joined|created|updated|birth|dob|since|seit|depuis|begin+)(_|$)"
     r"|(datum|begin+|date)$|_(at|on)$|^(pickup|dropoff|start|end)$", "first:last", "a date?"),
    (r"(^|_)(hour|stunde|heure)(_|$)", "cyclic:hour", "an hour of the day?"),
    (r"(^|_)(weekday|day_of_week|dow|wochentag)(_|$)", "cyclic:weekday", "a day of the week?"),
    (r"(^|_)(month|monat|mois)(_|$)", "cyclic:month", "a month?"),
    (r"^(is|has|was)_|(^|_)(active|aktiv|churn|survived|newsletter|smoker|raucher|fumeur|citizen|alive)(_|$)", "bool",
     "yes or no?"),
    (r"(^|_)(sex|gender|plan|type|kind|category|class|status|country|region|city|colou?r|species|island|zone|borough"
     r"|payment|method|contract|tarif|ort|stadt|land|geschlecht|ville|pays|cut|clarity|service|embarked)(_|$)",
     "{level,level}", "a category?"),
    (r"(income|salary|price|amount|revenue|fare|cost|charges|balance|spend|umsatz|betrag|preis|gehalt|einkommen|montant|revenu|salaire|prix)",
     "log:lower:upper", "money?"),
    (r"(^|_)(age|alter|year|jahr|count|anzahl|passengers|visits|tenure)(_|$)|jahr$", "int:lower:upper",
     "a whole number?"),
)  # fmt: skip


def draft_toml(path: str | Path, *, delimiter: str | None = None, encoding: str | None = None) -> str:
    """Return a draft of the columns of a file, or of the first file of a folder.

    Parameters
    ----------
    path : path-like
        The file, folder or pattern.
    delimiter, encoding : str, optional
        Of CSV files, as for `Source`.
    """
    files = data_files(Path(path))
    kind = file_kind(files)
    try:
        part = open_part(files[0], kind, Dialect(delimiter, encoding))
    except UnicodeDecodeError:
        raise DataError(
            f"the column names of {files[0].name} are not UTF-8; declare how the file is written: "
            '--encoding cp1252 (encoding="cp1252", most files from Windows)'
        ) from None
    typed = kind not in ("csv", "sheet")
    if not typed and any(map(is_value, part.names)):
        raise DataError(f"the first line of {files[0].name} holds values, not column names: add a header line")
    types: list[Any] = [part.kind(name) if typed else None for name in part.names]  # type: ignore[union-attr]
    lines = [_line(name, each) for name, each in zip(part.names, types, strict=True)]
    unnamed = sum(map(is_unnamed, part.names))
    if unnamed > 1 and 2 * unnamed >= len(part.names):
        raise DataError(f"{unnamed} of {len(part.names)} columns of {files[0].name} have no name. {TITLE}")
    often = Counter(part.names)
    lines = [line + _TWICE * (often[name] > 1) for name, line in zip(part.names, lines, strict=True)]
    return _HEAD.format(name=toml_text(files[0].name)[1:-1]) + "\n" + "\n".join(lines) + "\n"


def _line(name: str, kind: Any) -> str:
    """Return the line of a column: complete if its type says all, else behind a # with what is left to fill in."""
    spec, words = _BY_TYPE.get("" if kind is None else family(kind), ("", ""))
    if spec and not words:
        return f"{toml_key(name)} = {toml_text(spec)}"
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()  # ä is an a, é an e
    snake = re.sub(r"[^a-z0-9]+", "_", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", plain).lower()).strip("_")
    guess = next(((text, about) for pattern, text, about in _BY_NAME if re.search(pattern, snake)), None)
    if guess is not None and not guess[0]:  # an id, of whatever type
        spec, words = guess
    elif not spec and kind is not None:
        spec = "int:lower:upper" if pa.types.is_integer(kind) else "lower:upper"
        words = "numbers: fill in bounds"
        if guess is not None and ":lower:" in guess[0]:
            spec, words = guess[0], f"numbers: fill in bounds ({guess[1]})"
    if not spec and not words:
        spec, words = guess or ("?", "fill in what it holds")
    return f"# {toml_key(name)} = {toml_text(spec or 'leave out')}  # {words}"
