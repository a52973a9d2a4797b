"""knoll profile: a private first look at a table."""

from pathlib import Path
from typing import Annotated, Any

import typer

from knoll.cli.common import Data, FitOptions, fit_and_write, with_fit_options
from knoll.cli.printed import console, print_table
from knoll.cli.written import write_pictures


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
    print_table(model.headline, header, rows, "profile.csv")
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
