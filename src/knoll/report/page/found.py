"""What a kind of report puts at its head: the title, the figures and the first section. Each kind has a builder."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from knoll.report.page.axes import Axis
from knoll.report.page.html import Html

MOST_MATRIX = 20_000  # numbers of covariances that go into the page: enough for ellipses, and the page stays small


@dataclass(frozen=True)
class Found:
    """What was found, before what every report adds.

    Attributes
    ----------
    title, lead : str
        In a line and in a sentence.
    facts : list of (str, str)
        The first figures.
    parts : list of Html
        The first section: pictures, tables, words.
    sure : list of Html
        What the second section shows before the remarks: error bars and what they mean.
    figures : dict
        What the script draws.
    """

    title: str
    lead: str
    facts: list[tuple[str, str]]
    parts: list[Html]
    sure: list[Html] = field(default_factory=list)
    figures: dict[str, Any] = field(default_factory=dict)


def in_data(privacy: Any, word: str = "in") -> str:
    """Return where something was found, for a title; nothing if the data has no name."""
    return f" {word} {privacy.dataset}" if privacy.is_named else ""


def counted(number: int, word: str) -> str:
    """Return a number and its word.

    >>> counted(1, "cluster"), counted(1200, "mode")
    ('1 cluster', '1,200 modes')
    """
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def map_figure(
    axes: list[Axis],
    marks: list[dict[str, Any]],
    chosen: tuple[int, int | None],
    *,
    word: str,
    covariances: np.ndarray | None = None,
) -> dict[str, Any]:
    """Return the figure of places in two columns that the reader chooses; the profile draws the same marks."""
    places: Any = [axis.place for axis in axes]
    drawn: dict[str, Any] = {
        "type": "map", "axes": [axis.to_dict() for axis in axes], "marks": marks, "x": chosen[0], "y": chosen[1],
        "word": word,
    }  # fmt: skip
    if covariances is not None and None not in places and len(marks) * len(axes) ** 2 <= MOST_MATRIX:
        drawn["covariances"] = _short(covariances[:, places][:, :, places])
    return drawn


def profile_figure(of: str, axes: list[Axis], most: int = 12) -> dict[str, Any]:
    """Return the figure of all marks in many columns: first those columns in which they differ most."""
    spread = np.array([np.std(axis.at) / max(axis.high - axis.low, 1e-300) for axis in axes])
    shown = sorted(np.argsort(-spread, kind="stable")[:most].tolist())
    return {"type": "profile", "of": of, "shown": shown}


def bars_figure(
    rows: list[dict[str, Any]], label: str, *, kind: str = "number", rule: tuple[float, str] | None = None
) -> dict[str, Any]:
    """Return the figure of bars with error bars: rows of label, value, error, text and, if any, mark."""
    line = None if rule is None else {"at": rule[0], "text": rule[1]}
    return {"type": "bars", "rows": rows, "label": label, "kind": kind, "rule": line}


def shaded(values: np.ndarray) -> str:
    """Return numbers from 0 to 1 as a text of two letters each, for a picture of cells: a byte is all that is seen.

    >>> shaded(np.array([0.0, 0.5, 1.0]))
    '0080ff'
    """
    return np.rint(np.clip(values, 0.0, 1.0) * 255).astype(np.uint8).tobytes().hex()


def owners(labels: np.ndarray) -> str:
    """Return the number of the cluster of each cell as a text of two letters each; ff for none.

    >>> owners(np.array([0, 17, -1]))
    '0011ff'
    """
    return np.where(labels < 0, 255, np.minimum(labels, 254)).astype(np.uint8).tobytes().hex()


def rounded(values: Any, digits: int = 5) -> list[Any]:
    """Return numbers of a curve with the digits that a picture can show."""
    return [float(f"{value:.{digits}g}") if np.isfinite(value) else None for value in np.asarray(values).ravel()]


def _short(matrices: np.ndarray) -> list[Any]:
    """Return matrices with few digits: they are drawn as ellipses only."""
    return [[rounded(row) for row in matrix] for matrix in matrices]
