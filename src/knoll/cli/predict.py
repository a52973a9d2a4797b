"""knoll predict: label rows with a released model."""

import csv
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from knoll.cli.common import plain_errors
from knoll.cli.options import Dates, Decimal, Delimiter, Encoding, LineBreaks, Thousands
from knoll.cli.printed import console


def predict(
    model: Annotated[Path, typer.Argument(help="model.json of an earlier run.")],
    data: Annotated[Path, typer.Argument(help="Rows to label; of a regression, with the predictors at least.")],
    out: Annotated[Path | None, typer.Option(help="CSV to write; standard output by default.")] = None,
    line_breaks: LineBreaks = False,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
    thousands: Thousands = None,
    dates: Dates = None,
) -> None:
    """Label rows with a released model: the cluster, component or mode of each row, or the predicted response.

    Spends no budget. The labels are as sensitive as your rows. A row without a value that is needed gets no label.
    """
    import knoll
    from knoll.imputing import filled
    from knoll.source import Source, open_source

    with plain_errors():
        fitted = knoll.load(model)
        if not hasattr(fitted, "predict"):
            raise ValueError(f"a {type(fitted).__name__} describes a density; there is nothing to predict for a row")
        what, names, width = _answer(fitted)
        columns = vars(fitted).pop("columns_", None)  # rows come encoded
        source = Source(
            data, names if columns is None else None, line_breaks, delimiter, encoding, decimal, thousands, dates
        )
        engine = open_source(source, columns, missing="drop", unit=None)
        if engine.n_columns != width and not (names is None and engine.n_columns == width + 1):
            raise typer.BadParameter(f"the model has {width} columns, the file {engine.n_columns}")
        if names is not None:
            del fitted.feature_names_in_  # rows come as plain arrays, in the model's order
        with _written_whole(out) as stream:
            table = csv.writer(stream)
            table.writerow(["row", what])
            row = 0
            for block, _, _ in engine.read():
                rows = filled(block, getattr(fitted, "imputed_", None))
                table.writerows((row + i, answer) for i, answer in enumerate(_answers(fitted, rows[:, :width])))
                row += len(rows)
        if out:
            console.print(f"Labelled {row:,} rows: {out}", highlight=False)


def _answer(fitted: Any) -> tuple[str, list[str] | None, int]:
    """Return what a model says about a row, the columns that it needs (None: no names are known), and how many."""
    from sklearn.base import ClusterMixin, is_regressor

    found = getattr(fitted, "feature_names_in_", None)
    names = None if found is None else [str(name) for name in found]
    if is_regressor(fitted):  # the last column is the response
        response = "prediction" if names is None or names[-1] == "row" else names[-1]
        return response, None if names is None else names[:-1], fitted.n_features_in_ - 1
    kind = "cluster" if isinstance(fitted, ClusterMixin) else "mode" if hasattr(fitted, "modes_") else "component"
    return kind, names, fitted.n_features_in_


def _answers(fitted: Any, rows: Any) -> list[Any]:
    """Return the label or the predicted value of each row; nothing for a row with a gap, or in no cluster."""
    import numpy as np

    usable = np.isfinite(rows).all(axis=1)
    found = fitted.predict(rows[usable]) if usable.any() else np.empty(0, dtype=int)
    answers: list[Any] = [""] * len(rows)
    whole = found.dtype.kind in "iu"
    for i, value in zip(np.flatnonzero(usable).tolist(), found.tolist(), strict=True):
        answers[i] = f"{value:.8g}" if not whole else value if value >= 0 else ""
    return answers


@contextmanager
def _written_whole(out: Path | None) -> Iterator[Any]:
    """Write to a draft that takes the file's name when it is complete; or to standard output."""
    if out is None:
        yield sys.stdout
        return
    draft = out.with_name(out.name + ".part")
    with open(draft, "w", newline="", encoding="utf-8") as stream:
        yield stream
    draft.replace(out)
