"""knoll local: a mixture from randomised reports, when nobody is trusted."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from knoll.cli.common import plain_errors
from knoll.cli.mixture import show_mixture, write_mixture
from knoll.cli.parse import read_bounds, read_columns
from knoll.cli.printed import console, print_result
from knoll.cli.written import prepare_folder, write_page

local_app = typer.Typer(
    help="A mixture from randomised reports: respondents run the client, the server sees reports only.",
    no_args_is_help=True,
)
ClientFile = Annotated[Path, typer.Argument(help="client.json")]
_LARGEST = 2**20  # most bytes of a client, and of a report: bounds memory


@local_app.command("client")
def local_client(
    bounds: Annotated[str, typer.Option(help='Public bounds: "age=0:110,bmi=10:60", or "0:100" for one column.')],
    epsilon: Annotated[float, typer.Option(help="What one report costs its respondent.")] = 1.0,
    delta: Annotated[float, typer.Option(help="Chance that the guarantee fails; for the mechanism noise only.")] = 1e-6,
    mechanism: Annotated[str, typer.Option(help="auto, square_wave, response, unary or noise.")] = "auto",
    out: Annotated[Path, typer.Option(help="File to write.")] = Path("client.json"),
) -> None:
    """Write the client that respondents run: public parameters, no data."""
    from knoll.local import LocalGaussianMixture

    with plain_errors():
        limits = read_bounds(bounds)
        if not isinstance(limits, dict | tuple):
            raise typer.BadParameter("clients take bounds of numbers, e.g. age=0:110,bmi=10:60")
        client = LocalGaussianMixture(epsilon=epsilon, delta=delta, bounds=limits, mechanism=mechanism).client()
        columns = list(limits) if isinstance(limits, dict) else None
        out.write_text(json.dumps({**client.to_dict(), "columns": columns}) + "\n", encoding="utf-8")
    console.print(f"Wrote {out}: {client.kind}, epsilon = {client.epsilon:g} a report.", highlight=False)


@local_app.command("report")
def local_report(
    client: ClientFile,
    data: Annotated[Path, typer.Argument(help="The respondent's own record, or many to simulate many respondents.")],
    columns: Annotated[str | None, typer.Option(help="Columns to use, separated by commas.")] = None,
    out: Annotated[Path, typer.Option(help="File to write, one JSON report a line.")] = Path("reports.jsonl"),
) -> None:
    """Randomise records on the respondent's side: one report a row."""
    import numpy as np

    from knoll.engines.files import FileEngine

    with plain_errors():
        runner, names = _read_client(client)
        engine = FileEngine(data, read_columns(columns) or names)
        rows = np.vstack([block for block, _, _ in engine.read()])
        reports = runner.reports(rows)
        out.write_text("".join(json.dumps(report) + "\n" for report in reports), encoding="utf-8")
    console.print(f"Wrote {len(reports):,} reports: {out}", highlight=False)


@local_app.command("fit")
def local_fit(
    client: ClientFile,
    reports: Annotated[Path, typer.Argument(help="Reports, one JSON value a line.")],
    k: Annotated[int | None, typer.Option("--k", help="Number of components; if left out, it is chosen.")] = None,
    synthetic: Annotated[int, typer.Option(help="Rows of synthetic data to draw from the mixture.")] = 0,
    seed: Annotated[int | None, typer.Option(help="Seed of the server's public randomness.")] = None,
    out: Annotated[Path, typer.Option(help="Folder for model.json, components.csv and mixture.png.")] = Path("out"),
) -> None:
    """Fit a mixture to reports alone. Reports that no honest client sends are left out."""
    import numpy as np

    from knoll.local import LocalGaussianMixture

    with plain_errors():
        runner, names = _read_client(client)
        prepare_folder(out)
        started = time.monotonic()
        known = {"epsilon": runner.epsilon, "delta": runner.delta, "bounds": runner.box}
        model = LocalGaussianMixture(k, random_state=seed, verbose=True, **known).fit_reports(
            read_lines(reports), runner
        )
        if names is not None:
            model.feature_names_in_ = np.array(names, dtype=object)
        files = write_mixture(model, out, synthetic) | write_page(model, out)
        seconds = time.monotonic() - started
    print_result(model, _show, files, seconds)


def _show(model: Any) -> None:
    show_mixture(model)
    if model.n_rejected_:
        console.print(f"{model.n_rejected_:,} reports left out: no honest client sends them.")


def _read_client(path: Path) -> tuple[Any, list[str] | None]:
    from knoll.document import read_document
    from knoll.local import client_from_dict
    from knoll.privacy import DataError

    data = read_document(path, "a client", _LARGEST)
    if not isinstance(data, dict):
        raise DataError(f"{path.name} is not a client")
    names = data.pop("columns", None)
    client = client_from_dict(data)
    if names is None:
        return client, None
    if not isinstance(names, list) or len(names) != len(client.lower) or not all(isinstance(n, str) for n in names):
        raise DataError(f"{path.name} is not a client: its columns must be {len(client.lower)} names")
    return client, names


def read_lines(path: Path) -> Iterator[Any]:
    """Yield one entry per line. A line that is not JSON, or is too long, becomes None, which no client sends.

    A line is read in pieces of at most `_LARGEST` bytes, and the rest of a longer line is thrown away. So memory holds
    only one piece and the reports that are kept, whatever the file holds.
    """
    from knoll.document import parse

    with open(path, "rb") as file:
        while line := file.readline(_LARGEST):
            whole = line.endswith(b"\n") or len(line) < _LARGEST
            rest = line
            while rest and not rest.endswith(b"\n"):
                rest = file.readline(_LARGEST)
            try:
                yield parse(line) if whole else None
            except (ValueError, RecursionError):
                yield None
