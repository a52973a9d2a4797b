"""A fitted profile in the user's terms: a row per column, histograms, and text; from released values alone."""

from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from knoll.columns import Cyclic, Date, Kind, Log, Ordered
from knoll.columns.frames import frame_of, usual_library
from knoll.privacy.errors import DataError
from knoll.profile.drawn import drawn_bars
from knoll.profile.figures import QUANTILES
from knoll.report.clusters import count_with_error, with_error

MEANING = (
    "± is one standard error of what privacy changes: the figure against the same figure of these records without "
    "noise. It does not cover how far the records stand for others"
)
SHOWN = (0.05, 0.25, 0.5, 0.75, 0.95)  # quantiles in tables; the others are for bounds
MOST_LEVELS = 6  # of a category that are named in a table


@dataclass(frozen=True)
class Place:
    """A column: its name and kind (none for plain numbers), and its place among those with an order, if it has one."""

    name: str
    kind: Kind | None
    line: int | None


def layout_of(names: list[str], kinds: list[Kind | None]) -> list[Place]:
    """Return the columns with their places among those with an order."""
    ordered = [kind is None or (kind.part[0] != "corners" and kind.word != "boolean") for kind in kinds]
    before = np.cumsum([0, *ordered]).tolist()
    parts = zip(names, kinds, ordered, before, strict=False)
    return [Place(name, kind, at if smooth else None) for name, kind, smooth, at in parts]


class ProfileTables:
    """What a fitted profile can show of itself."""

    cells_: np.ndarray
    cell_shares_: np.ndarray
    cell_shares_stderr_: np.ndarray
    missing_shares_: np.ndarray
    missing_shares_stderr_: np.ndarray
    quantiles_: np.ndarray
    quantiles_low_: np.ndarray
    quantiles_high_: np.ndarray
    averages_: np.ndarray
    averages_stderr_: np.ndarray
    n_records_: float
    n_records_stderr_: float
    privacy_: Any

    def _layout(self) -> list["Place"]:
        """Return name, kind and place of every column."""
        raise NotImplementedError

    def summary(self, frame: str | None = "auto") -> Any:
        """Return a DataFrame with one row per column.

        Its kind and the share of missing values; of the others the mean and quantiles, or the shares of levels. Each
        figure is followed by its standard error (±): of what privacy changes, against the same figure of these records
        without noise. Of dates it is in days.

        Parameters
        ----------
        frame : {"pandas", "polars"} or None
            Library of the DataFrame; None gives a dict of lists.
        """
        check_is_fitted(self, "cells_")
        rows = [self._row(j, place) for j, place in enumerate(self._layout())]
        table = {key: [row.get(key) for row in rows] for key in _keys()}
        if frame == "polars" or (frame == "auto" and usual_library(self) == "polars"):
            table = {key: _one_type(values) for key, values in table.items()}
        return frame_of(self, table, frame)

    def frame(self, frame: str | None = "auto") -> Any:
        """Return the same as `summary`."""
        return self.summary(frame)

    def _row(self, j: int, at: "Place") -> dict[str, Any]:
        row: dict[str, Any] = {
            "column": at.name,
            "kind": "number" if at.kind is None else at.kind.word,
            "missing": float(self.missing_shares_[j]),
            "missing ±": float(self.missing_shares_stderr_[j]),
        }
        if at.line is None:
            return row | {"levels": self._levels(j, at)}
        if not isinstance(at.kind, Cyclic):
            row["mean"], row["mean ±"] = self._mean(at)
        for share in SHOWN:
            row[_percent(share)], row[f"{_percent(share)} ±"] = self._quantile(at, share)
        return row

    def _mean(self, at: "Place") -> tuple[Any, float]:
        """Return the mean and its error; infinite if noise far out, where bounds are wide, hides the mean."""
        error = float(self.averages_stderr_[at.line])
        low, high = (_number(at.kind, float(self.quantiles_[at.line, QUANTILES.index(q)])) for q in (0.05, 0.95))
        blurred = at.kind is not None and at.kind.word == "log" and error > high - low
        return _plain(at.kind, float(self.averages_[at.line])), np.inf if blurred else error

    def _levels(self, j: int, at: "Place") -> str:
        names, shares, errors = self._level_shares(j, at)
        top = np.argsort(-shares, kind="stable")[:MOST_LEVELS]
        words = [f"{names[i]} {100 * shares[i]:.0f} % ± {100 * errors[i]:.1f}" for i in top if shares[i] > 0]
        return ", ".join(words) + (f" and {len(names) - MOST_LEVELS} more" if len(names) > MOST_LEVELS else "")

    def _level_shares(self, j: int, at: "Place") -> tuple[list[str], np.ndarray, np.ndarray]:
        assert at.kind is not None
        which = slice(*np.searchsorted(self.cells_[:, 0], [j, j + 1]))
        names = [each.partition("=")[2] for each in at.kind.coordinates("")]
        return (names if len(names) > 1 else ["no", "yes"]), self.cell_shares_[which], self.cell_shares_stderr_[which]

    def _quantile(self, at: "Place", share: float) -> tuple[Any, float]:
        q = QUANTILES.index(share)
        ends = [each[at.line, q] for each in (self.quantiles_low_, self.quantiles_, self.quantiles_high_)]
        low, value, high = (_number(at.kind, float(end)) for end in ends)
        return _plain(at.kind, value), max(high - value, value - low) / 2

    def quantile(self, name: str, at: float) -> tuple[Any, float]:
        """Return a released quantile of a column and its standard error, in the terms of the column (dates: days).

        Parameters
        ----------
        name : str
            The column.
        at : float
            One of 0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99.
        """
        _, place = self._named(name)
        if place.line is None or at not in QUANTILES:
            listed = ", ".join(map(str, QUANTILES))
            raise DataError(
                f"quantiles are released at {listed}, and of columns with an order; use histogram({name!r})"
            )
        return self._quantile(place, at)

    def histogram(self, name: str, frame: str | None = "auto") -> Any:
        """Return the released histogram of a column as a DataFrame: cells or levels, shares, standard errors.

        Cells are narrow where records are many. Shares are of the records that have a value.

        Parameters
        ----------
        name : str
            The column.
        frame : {"pandas", "polars"} or None
            Library of the DataFrame; None gives a dict of lists.
        """
        j, at = self._named(name)
        which = slice(*np.searchsorted(self.cells_[:, 0], [j, j + 1]))
        shares, errors = self.cell_shares_[which].tolist(), self.cell_shares_stderr_[which].tolist()
        if at.line is None:
            return frame_of(self, {"level": self._level_shares(j, at)[0], "share": shares, "share ±": errors}, frame)
        if isinstance(at.kind, Ordered):
            return frame_of(self, {"level": at.kind.keys, "share": shares, "share ±": errors}, frame)
        ends = [[_plain(at.kind, _edge(at.kind, each)) for each in self.cells_[which, side]] for side in (1, 2)]
        return frame_of(self, {"from": ends[0], "to": ends[1], "share": shares, "share ±": errors}, frame)

    def _named(self, name: str) -> tuple[int, "Place"]:
        check_is_fitted(self, "cells_")
        layout = self._layout()
        for j, place in enumerate(layout):
            if place.name == str(name):
                return j, place
        known = ", ".join(each.name for each in layout[:40])
        raise DataError(f"no column {str(name)[:60]!r}; the profile has {known}")

    def drawn(self, j: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return edges, shares and standard errors of the bars of a column with an order, as they are drawn."""
        which = slice(*np.searchsorted(self.cells_[:, 0], [j, j + 1]))
        edges = np.append(self.cells_[which, 1], self.cells_[which, 2][-1:])
        kind = self._layout()[j].kind
        whole = kind is not None and kind.word == "whole"
        return drawn_bars(edges, self.cell_shares_[which], self.cell_shares_stderr_[which], whole=whole)

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Return a header and one row of text per column."""
        shown = self.summary(None)
        header = ["column", "kind", "missing", "mean", *map(_percent, SHOWN), "levels"]
        rows = []
        for i in range(len(shown["column"])):
            cells = [shown["column"][i], shown["kind"][i], _share_text(shown["missing"][i], shown["missing ±"][i])]
            cells += [_cell(shown[key][i], shown[f"{key} ±"][i]) for key in ("mean", *map(_percent, SHOWN))]
            rows.append([*cells, shown["levels"][i] or ""])
        return header, rows

    def __str__(self) -> str:
        if not hasattr(self, "cells_"):
            return repr(self)
        header, rows = self.table()
        widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
        lines = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in (header, *rows)
        ]
        return "\n".join([self.headline, *(line.rstrip() for line in lines), f"{MEANING}."])

    @property
    def meaning(self) -> str:
        """What ± means, in words."""
        return MEANING

    @property
    def headline(self) -> str:
        """How many records and columns there are, in words."""
        records = count_with_error(self.n_records_, self.n_records_stderr_)
        warning = f"{self.privacy_.warning} " if self.privacy_.warning else ""
        return f"{warning}{records} records, {len(self.missing_shares_)} columns"

    def _table_html(self) -> str:
        header, rows = self.table()
        head = "".join(f"<th style='text-align:left'>{escape(cell)}</th>" for cell in header)
        body = "".join(
            "<tr>" + "".join(f"<td style='text-align:left'>{escape(cell)}</td>" for cell in row) + "</tr>"
            for row in rows
        )
        return f"<p>{escape(self.headline)}</p><table><tr>{head}</tr>{body}</table><p>{escape(MEANING)}.</p>"


def _keys() -> list[str]:
    figures = ["missing", "mean", *map(_percent, SHOWN)]
    return ["column", "kind", *(key for figure in figures for key in (figure, f"{figure} ±")), "levels"]


def _percent(at: float) -> str:
    return f"{100 * at:g} %"


def _edge(kind: Kind | None, encoded: float) -> float:
    """Return an encoded value as a number in the user's terms: amounts of logs, numbers of a circle, days of dates."""
    return float(kind.decode(np.array([encoded]))[0]) if isinstance(kind, Log | Cyclic) else float(encoded)


def _number(kind: Kind | None, encoded: float) -> float:
    """Return the same of a value that a record may have: whole numbers, levels and days are whole."""
    if kind is not None and kind.word in ("whole", "ordered"):
        return float(np.rint(encoded)) + 0.0  # zero has no sign
    if isinstance(kind, Date) and "T" not in kind.first + kind.last:
        return float(np.floor(encoded))
    return _edge(kind, encoded)


def _plain(kind: Kind | None, number: float) -> Any:
    """Return a number as people write it: a date, a level, or the number."""
    if isinstance(kind, Date) or (kind is not None and kind.word == "ordered"):
        return kind.decode(np.array([number])).tolist()[0]
    return float(number)


def _cell(value: Any, error: float | None) -> str:
    if value is None or error is None:
        return ""
    if isinstance(value, float):
        return f"{value:,.0f}" if error == 0 and value == round(value) else with_error(value, error)
    return f"{value} ± {error:.0f} d" if hasattr(value, "year") else str(value)


def _share_text(share: float, error: float) -> str:
    return f"{100 * share:.1f} % ± {100 * error:.1f}"


def _one_type(values: list[Any]) -> list[Any]:
    """Return values of one type: polars has no columns of several; dates and levels beside numbers become texts."""
    kinds = {type(each) for each in values if each is not None}
    return values if len(kinds) <= 1 else [None if each is None else str(each) for each in values]


def averaged(kind: Kind | None) -> Callable[[np.ndarray], np.ndarray]:
    """Return what takes encoded values to the terms in which they are averaged: amounts of logs."""
    return kind.decode if isinstance(kind, Log) else np.asarray
