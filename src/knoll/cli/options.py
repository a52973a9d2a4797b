"""Options about files, of every command that reads one."""

from typing import Annotated

import typer

LineBreaks = Annotated[
    bool,
    typer.Option("--line-breaks", help="CSV fields may hold line breaks; the file's writer must close all quotes."),
]
Delimiter = Annotated[
    str | None, typer.Option(help="What divides fields of CSV files; by default told by the header line.")
]
Encoding = Annotated[
    str | None, typer.Option(help="Of CSV files: latin-1, cp1252, utf-16, ...; UTF-8 if none is declared.")
]
Decimal = Annotated[str | None, typer.Option(help='Decimal mark in CSV files: "." or ",".')]
Thousands = Annotated[str | None, typer.Option(help="Mark between thousands in CSV files.")]
Dates = Annotated[
    str | None, typer.Option(help='Order of dates in texts: iso, day-first, month-first, or e.g. "%d.%m.%y".')
]
