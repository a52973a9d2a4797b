"""What the commands share: the options of a private fit, its errors, where its results go."""

import inspect
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

from knoll.cli.options import Dates, Decimal, Delimiter, Encoding, LineBreaks, Thousands
from knoll.cli.parse import read_bounds, read_columns, read_kinds, read_place
from knoll.cli.printed import console, print_result
from knoll.cli.written import prepare_folder, write_page

_DECLARED = (".toml", ".json")  # files that declare columns

Data = Annotated[
    Path,
    typer.Argument(
        help="Parquet, CSV or Arrow file, a folder of them, or a database: postgresql://..., sqlite:///...",
        parser=read_place,
        metavar="DATA",
    ),
]
Epsilon = Annotated[float, typer.Option(help="Privacy budget of this fit; smaller is more private.")]
Delta = Annotated[
    float, typer.Option(help="Chance that the guarantee fails, far below 1 / records; 0 for pure differential privacy.")
]
Relation = Annotated[str, typer.Option(help="add_remove, replace_special or replace_one.")]


@dataclass
class FitOptions:
    """Options of every command that fits: the data's bounds and columns, the budget, who is protected."""

    bounds: Annotated[
        str | None,
        typer.Option(
            help='Public bounds: "age=0:110,bmi=10:60", "0:1" for all columns, "private" (costs budget), '
            'or "sphere" (rows are scaled to length one). '
            'Other kinds: "income=log:1000:1000000,visits=int:0:50,plan={basic,gold},smoker=bool,'
            'joined=2020-01-01:2024-12-31,hour=cyclic:24", or a file columns.toml or profile.json.'
        ),
    ] = None
    columns: Annotated[
        str | None,
        typer.Option(
            help="Columns to use, separated by commas; or a file columns.toml, which also declares them, or the "
            "profile.json of an earlier knoll profile, whose quantiles become bounds."
        ),
    ] = None
    epsilon: Epsilon = 1.0
    delta: Delta = 1e-6
    scale: Annotated[
        bool,
        typer.Option("--scale/--no-scale", help="Measure distance in units of each column's bounds, or in raw units."),
    ] = True
    relation: Relation = "add_remove"
    user: Annotated[str | None, typer.Option(help="Column of user ids: protect users, not rows.")] = None
    cap: Annotated[int, typer.Option(help="With --user: rows used per user.")] = 1
    missing: Annotated[
        str,
        typer.Option(
            help="What to do if rows have missing values: refuse or drop. For one column, inside its declaration: "
            '"age=0:110;missing=impute" (or refuse, drop; of categories and yes or no also level).'
        ),
    ] = "refuse"
    line_breaks: LineBreaks = False
    delimiter: Delimiter = None
    encoding: Encoding = None
    decimal: Decimal = None
    thousands: Thousands = None
    dates: Dates = None
    table: Annotated[str | None, typer.Option(help="With a database: the table or view to read.")] = None
    query: Annotated[str | None, typer.Option(help="With a database: a SELECT to read instead.")] = None
    spool: Annotated[
        bool, typer.Option("--spool", help="With a database: copy the columns to a local file first, for slow servers.")
    ] = False
    dask: Annotated[
        str | None, typer.Option(help="Read parquet files on Dask: the scheduler's address, tcp://..., or local.")
    ] = None
    spark: Annotated[bool, typer.Option("--spark", help="Read parquet files on Spark.")] = False
    ledger: Annotated[Path | None, typer.Option(help="Record the spend in this file.")] = None
    dataset: Annotated[str | None, typer.Option(help="Name of the data in the ledger; by default the file's.")] = None
    seed: Annotated[
        int | None, typer.Option(help="Seed of the public randomness (starting points), never of the noise.")
    ] = None

    def parameters(self) -> dict[str, Any]:
        """Return the parameters that every estimator takes."""
        import knoll

        return {
            "epsilon": self.epsilon,
            "delta": self.delta,
            "bounds": self._bounds(),
            "scale_by_bounds": self.scale,
            "relation": self.relation,
            "unit": knoll.User(self.user, self.cap) if self.user else None,
            "missing": self.missing,
            "ledger": knoll.Ledger(self.ledger, self.dataset) if self.ledger else None,
            "random_state": self.seed,
            "verbose": True,
        }

    def _bounds(self) -> Any:
        """Return the bounds: given, or those of the file that declares the columns."""
        if self.columns is None or not self.columns.endswith(_DECLARED):
            return read_bounds(self.bounds)
        if self.bounds is not None:
            raise typer.BadParameter("--columns with a file declares bounds already; leave --bounds out")
        return read_kinds(Path(self.columns))

    def source(self, data: Path | str) -> Any:
        """Return the chosen columns of a file or a table; say which files a folder stands for."""
        import knoll

        chosen = None if (self.columns or "").endswith(_DECLARED) else read_columns(self.columns)
        if self.dask and self.spark:
            raise typer.BadParameter("choose --dask or --spark, one of both")
        if isinstance(data, str) and (self.dask or self.spark):
            raise typer.BadParameter("--dask and --spark read parquet files; a database is read without them")
        if isinstance(data, str):
            return knoll.Table(data, self.table, self.query, chosen, self.spool)
        if self.table or self.query or self.spool:
            raise typer.BadParameter("--table, --query and --spool are for databases: postgresql://..., sqlite:///...")
        about = self.delimiter, self.encoding, self.decimal, self.thousands, self.dates
        source = knoll.Source(data, chosen, self.line_breaks, *about)
        if data.is_dir():
            names = [str(file.relative_to(data)) for file in source.files]
            more = f" and {len(names) - 20} more" if len(names) > 20 else ""
            console.print(f"Reading {len(names)} files: {escape(', '.join(names[:20]))}{more}", highlight=False)
        say_guessed(source)
        if self.dask or self.spark:
            from knoll.source import on_cluster

            return on_cluster(source, dask=self.dask)
        return source


def say_guessed(source: Any) -> None:
    """Say what was not declared about a CSV file, and is told by its header line. A file that is bad is told later."""
    from knoll.engines.csv import CsvFile, Dialect
    from knoll.engines.listing import file_kind

    if source.delimiter is not None:
        return
    with suppress(ValueError, OSError):
        if file_kind(source.files) == "csv":
            mark = CsvFile(source.files[0], Dialect(None, source.encoding)).delimiter
            words = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}[mark]
            how = f"{source.encoding or 'UTF-8'}, dates {source.dates or 'year first'}"
            console.print(f"[dim]Read as fields between {words} (by the header line), {how}.[/dim]", highlight=False)


def with_fit_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command whose last parameter is `options: FitOptions` one command-line option per field of it."""
    own = [each for each in inspect.signature(command).parameters.values() if each.name != "options"]
    shared = [
        inspect.Parameter(each.name, inspect.Parameter.KEYWORD_ONLY, default=each.default, annotation=each.type)
        for each in fields(FitOptions)
    ]

    @wraps(command)
    def wrapped(**given: Any) -> None:
        options = FitOptions(**{each.name: given.pop(each.name) for each in fields(FitOptions)})
        command(**given, options=options)

    both = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in own] + shared
    wrapped.__signature__ = inspect.Signature(both)  # type: ignore[attr-defined]
    wrapped.__annotations__ = {each.name: each.annotation for each in both}
    return wrapped


def method_option(methods: dict[str, str], words: str) -> Any:
    """Return the option that chooses among the methods of a command."""

    def one_of_them(given: str) -> str:
        if given not in methods:
            raise typer.BadParameter(f"{given!r} is not one of {', '.join(methods)}")
        return given

    return typer.Option(parser=one_of_them, metavar=f"[{'|'.join(methods)}]", help=words)


def fit_and_write(
    make: Callable[[], Any],
    data: Path,
    options: FitOptions,
    out: Path,
    write: Callable[[Any, Path], dict[Path, str]],
    show: Callable[[Any], None],
) -> None:
    """Make an estimator, fit it, write what it publishes (file -> what it is), and print what it found."""
    with plain_errors():
        model = make()
        prepare_folder(out)
        started = time.monotonic()
        model.fit(options.source(data))
        seconds = time.monotonic() - started
        files = write(model, out) | write_page(model, out)
    print_result(model, show, files, seconds)


@contextmanager
def plain_errors() -> Iterator[None]:
    """Turn expected errors into one line and exit code 1, and warnings of the ledger into one line.

    Remarks on a fit are not warned of here: commands print them.
    """
    from knoll.diagnose import DiagnosticWarning
    from knoll.privacy import LedgerError, LedgerWarning
    from knoll.privacy.errors import masked

    def show(message: Warning | str, *rest: Any, **more: Any) -> None:
        Console(stderr=True).print(f"[yellow]knoll:[/yellow] {escape(str(message))}", highlight=False, soft_wrap=True)

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", LedgerWarning)
            warnings.simplefilter("ignore", DiagnosticWarning)
            warnings.showwarning = show
            yield
    except (ValueError, TypeError, LedgerError, OSError, MemoryError) as error:
        Console(stderr=True).print(
            f"[bold red]knoll:[/bold red] {escape(masked(str(error)))}", highlight=False, soft_wrap=True
        )
        raise typer.Exit(1) from None
