"""knoll columns: a draft of what the columns of a file hold."""

from pathlib import Path
from typing import Annotated

import typer

from knoll.cli.common import plain_errors
from knoll.cli.options import Delimiter, Encoding


def columns(
    data: Annotated[Path, typer.Argument(help="Parquet, CSV or Arrow file, a workbook, or a folder of them.")],
    out: Annotated[Path | None, typer.Option(help="File to write; standard output by default.")] = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
) -> None:
    """Draft columns.toml: the names of the columns and what is left to fill in. Reads no record.

    Example: knoll columns data.csv > columns.toml
    """
    from knoll.columns.draft import draft_toml

    with plain_errors():
        draft = draft_toml(data, delimiter=delimiter, encoding=encoding)
        if out is None:
            typer.echo(draft, nl=False)
        else:
            with open(out, "x", encoding="utf-8") as file:  # what was filled in is not written over
                file.write(draft)
