"""JSON from strangers: read within limits, or refused in one short sentence. Reading never runs anything.

JSON leaves open what two equal keys mean, and Python adds NaN and Infinity, which are no JSON. Two readers of one file
could see two different things, so all of that is refused. 1e999 is JSON and reads as infinity: who asks for a number
checks it.
"""

import json
from pathlib import Path
from typing import Any

from knoll.privacy import DataError

LONGEST_MESSAGE = 200


def read_document(path: Path, what: str, largest: int) -> Any:
    """Return what a JSON file holds.

    Parameters
    ----------
    path : Path
        The file.
    what : str
        What it should be, for messages: "a model".
    largest : int
        Bytes that it may have; no more are read.
    """
    try:
        with open(path, "rb") as file:
            content = file.read(largest + 1)
    except FileNotFoundError:
        raise DataError(f"no such file, so not {what}: {path}") from None
    except OSError as error:
        raise DataError(f"{path.name} cannot be read as {what}: {type(error).__name__}") from None
    if len(content) > largest:
        raise DataError(f"{path.name} is too large to be {what}")
    try:
        return parse(content)
    except (ValueError, RecursionError, MemoryError) as error:
        raise DataError(f"{path.name} cannot be read as {what}: {short(error)}") from None


def parse(content: bytes) -> Any:
    """Return the value of one JSON document in UTF-8; a ValueError or a RecursionError if it is none."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        raise ValueError("it is not UTF-8") from None
    return json.loads(text, parse_constant=_no_constant, object_pairs_hook=_once)


def short(error: BaseException) -> str:
    """Return the message of an error about a stranger's document: one line, cut where it gets long."""
    text = type(error).__name__ if isinstance(error, RecursionError | MemoryError) else str(error)
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_MESSAGE else line[:LONGEST_MESSAGE] + "..."


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    known = dict(pairs)
    if len(known) < len(pairs):
        raise ValueError("a key is there twice")
    return known
