"""knoll sample: synthetic rows from a released model."""

from pathlib import Path
from typing import Annotated

import typer

from knoll.cli.common import plain_errors
from knoll.cli.printed import console


def sample(
    model: Annotated[Path, typer.Argument(help="model.json of an earlier run: kmeans, or a mixture.")],
    rows: Annotated[int, typer.Option(help="How many rows.")] = 1000,
    out: Annotated[Path, typer.Option(help="File to write: .csv, .parquet or .arrow.")] = Path("synthetic.csv"),
    seed: Annotated[int | None, typer.Option(help="Seed of the drawing.")] = None,
) -> None:
    """Draw synthetic rows from a released model, with the names and kinds of its columns.

    Spends no budget: they are as private as the model. Example: knoll sample out/model.json --rows 1000
    """
    import knoll
    from knoll.report import check_ending, write_rows

    with plain_errors():
        check_ending(out)
        fitted = knoll.load(model)
        if not hasattr(fitted, "sample"):
            raise ValueError(
                f"a {type(fitted).__name__} holds no spreads to draw rows from; fit kmeans or a mixture (knoll mixture)"
            )
        write_rows(fitted, rows, out, seed)
        if fitted.privacy_.warning:
            console.print(f"[bold red]{fitted.privacy_.warning}[/bold red]")
        console.print(f"Drew {rows:,} synthetic rows, as private as the model: {out}", highlight=False)
