"""knoll profile: a private first look at a table."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.cells import cell_len
from rich.markup import escape

from knoll.cli.common import Data, FitOptions, fit_and_write, with_fit_options
from knoll.cli.printed import MOST_ROWS, console, print_table
from knoll.cli.written import write_pictures

_MISSING = 2  # its place in a row of the table
_NARROW = ((0, 2, 3, 6), (0, 4, 5), (0, 7, 8))  # columns of the table that are printed together on a narrow terminal


@with_fit_options
def profile(
    data: Data,
    out: Annotated[Path, typer.Option(help="Folder for profile.json, profile.csv and profile.png.")] = Path("out"),
    *,
    options: FitOptions,
) -> None:
    """Look at every column: missing values, quantiles or shares of levels, each with its error; one budget for all.

    Missing values are counted; --missing drop leaves such rows out instead.

    Example: knoll profile data.csv --columns columns.toml --epsilon .5 --out out/
    """
    import knoll

    def make() -> Any:
        given = options.parameters()
        return knoll.Profile(**given | {"missing": "drop" if options.missing == "drop" else "count"})

    fit_and_write(make, data, options, out, _write, _show)


def _show(model: Any) -> None:
    from knoll.profile.tables import MEANING

    header, rows = model.table()
    console.print(model.headline, highlight=False)
    if lines := [row for row in rows if not row[-1]]:
        wide = sum(max(map(cell_len, column)) + 3 for column in zip(header, *lines, strict=True))
        for which in [range(len(header) - 1)] if wide < console.width else _NARROW:
            print_table("", [header[j] for j in which], [[row[j] for j in which] for row in lines], "profile.csv")
    for row in [row for row in rows if row[-1]][:MOST_ROWS]:
        missing = "" if row[_MISSING].startswith("0.0 %") else f"; missing {row[_MISSING]}"
        console.print(escape(f"{row[0]}: {row[-1]}{missing}"), highlight=False, soft_wrap=True)
    console.print(f"{MEANING}.", highlight=False)


def _write(model: Any, out: Path) -> dict[Path, str]:
    import knoll
    from knoll.report import write_summary

    knoll.save(model, out / "profile.json")
    write_summary(model, out / "profile.csv")
    files = {
        out / "profile.json": "the profile: knoll.load(path), and as bounds= of other estimators",
        out / "profile.csv": "a row for each column",
    }
    return files | write_pictures(model, {out / "profile.png": "a picture of all columns"})
