"""knoll on the command line: cluster, predict, plan, ledger, demo."""

import csv
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from knoll.cli.parse import read_bounds, read_columns

app = typer.Typer(
    help="Find the structure in sensitive data under differential privacy.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
ledger_app = typer.Typer(help="What has been spent on each dataset, and caps on it.", no_args_is_help=True)
app.add_typer(ledger_app, name="ledger")
console = Console()

Epsilon = Annotated[float, typer.Option(help="Privacy budget of this fit; smaller is more private.")]
Delta = Annotated[float, typer.Option(help="Chance term of the guarantee; 0 for pure differential privacy.")]
Relation = Annotated[str, typer.Option(help="add_remove, replace_special or replace_one.")]
LedgerFile = Annotated[Path, typer.Option("--ledger", help="The ledger file.")]
Dataset = Annotated[str, typer.Option(help="Name of the dataset in the ledger.")]


class Method(StrEnum):
    """Methods of `knoll cluster`."""

    KMEANS = "kmeans"
    LLOYD = "lloyd"
    FAST_LLOYD = "fast-lloyd"
    PE_MEANS = "pe-means"
    LSH_TREE = "lsh-tree"
    CUBES = "cubes"


_CLASSES = {
    Method.KMEANS: "KMeans", Method.LLOYD: "Lloyd", Method.FAST_LLOYD: "FastLloyd", Method.PE_MEANS: "PEMeans",
    Method.LSH_TREE: "LSHTree", Method.CUBES: "Cubes",
}  # fmt: skip


@app.command()
def cluster(
    data: Annotated[Path, typer.Argument(help="Parquet, CSV or Arrow file, or a folder of them.")],
    k: Annotated[int | None, typer.Option("--k", help="Number of clusters; without it, kmeans chooses.")] = None,
    bounds: Annotated[
        str | None,
        typer.Option(help='Public bounds: "age=0:110,bmi=10:60", "0:1" for all columns, or "private" to buy them.'),
    ] = None,
    columns: Annotated[str | None, typer.Option(help="Columns to use, separated by commas.")] = None,
    epsilon: Epsilon = 1.0,
    delta: Delta = 1e-6,
    method: Annotated[
        Method, typer.Option(help="kmeans is the most accurate; the others are for comparison.")
    ] = Method.KMEANS,
    scale: Annotated[
        bool,
        typer.Option("--scale/--no-scale", help="Measure distance in units of each column's bounds, or in raw units."),
    ] = True,
    relation: Relation = "add_remove",
    user: Annotated[str | None, typer.Option(help="Column of user ids: protect users, not rows.")] = None,
    cap: Annotated[int, typer.Option(help="With --user: rows used per user.")] = 1,
    missing: Annotated[str, typer.Option(help="Rows with missing values: refuse or drop.")] = "refuse",
    ledger: Annotated[Path | None, typer.Option(help="Record the spend in this file.")] = None,
    dataset: Annotated[str | None, typer.Option(help="Name of the data in the ledger; by default the file's.")] = None,
    seed: Annotated[
        int | None, typer.Option(help="Seed of the public randomness (starting points), never of the noise.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for model.json, centers.csv and clusters.png.")] = Path("out"),
) -> None:
    """Find clusters and publish their centres and sizes.

    Example: knoll cluster data.csv --columns age,bmi --bounds "age=0:110,bmi=10:60" --k 4 --epsilon 1 --out out/
    """
    import knoll
    from knoll.privacy import User

    with _plain_errors():
        model = getattr(knoll, _CLASSES[method])(
            k,
            epsilon=epsilon,
            delta=delta,
            bounds=read_bounds(bounds),
            scale_by_bounds=scale,
            relation=relation,
            unit=User(user, cap) if user else None,
            missing=missing,
            ledger=knoll.Ledger(ledger, dataset) if ledger else None,
            random_state=seed,
            verbose=True,
        )
        _writable(out)
        started = time.monotonic()
        model.fit(knoll.Source(data, read_columns(columns)))
        seconds = time.monotonic() - started
        files = _write(model, out)
    _print_model(model)
    console.print(f"\nDone in {seconds:.1f} s. Wrote:")
    for file, what in files.items():
        console.print(f"  {file}  [dim]{what}[/dim]", highlight=False, soft_wrap=True)


@app.command()
def predict(
    model: Annotated[Path, typer.Argument(help="model.json of an earlier run.")],
    data: Annotated[Path, typer.Argument(help="Rows to label.")],
    out: Annotated[Path | None, typer.Option(help="CSV to write; standard output by default.")] = None,
) -> None:
    """Label rows with a released model. Spends nothing; the labels describe your rows, so they are yours to guard."""
    import numpy as np

    import knoll
    from knoll.engines.files import FileEngine

    with _plain_errors():
        fitted = knoll.load(model)
        names = getattr(fitted, "feature_names_in_", None)
        engine = FileEngine(data, None if names is None else [str(name) for name in names])
        if engine.n_columns != fitted.n_features_in_:
            raise typer.BadParameter(f"the model has {fitted.n_features_in_} columns, the file {engine.n_columns}")
        if names is not None:
            del fitted.feature_names_in_  # rows come as plain arrays, in the model's order
        draft = out.with_name(out.name + ".part") if out else None
        stream: Any = open(draft, "w", newline="", encoding="utf-8") if draft else sys.stdout  # noqa: SIM115 (closed below)
        try:
            table = csv.writer(stream)
            table.writerow(["row", "cluster"])
            row = 0
            for rows, users, _ in engine.read():
                del users
                usable = np.isfinite(rows).all(axis=1)
                labels = np.full(len(rows), -1)
                if usable.any():
                    labels[usable] = fitted.predict(rows[usable])
                table.writerows((row + i, label if label >= 0 else "") for i, label in enumerate(labels.tolist()))
                row += len(rows)
        finally:
            if draft:
                stream.close()
        if out and draft:
            draft.replace(out)
            console.print(f"Labelled {row:,} rows: {out}", highlight=False)


@app.command()
def plan(
    rows: Annotated[int, typer.Option(help="Records you expect.")],
    dims: Annotated[int, typer.Option(help="Columns.")],
    k: Annotated[int, typer.Option("--k", help="Clusters.")],
    epsilon: Epsilon = 1.0,
    delta: Delta = 1e-6,
    steps: Annotated[int, typer.Option(help="Lloyd steps.")] = 5,
    relation: Relation = "add_remove",
    cap: Annotated[int, typer.Option(help="Rows used per user, if users are protected.")] = 1,
) -> None:
    """Tell the noise to expect, before any data is touched."""
    from knoll.planning import plan as make_plan

    with _plain_errors():
        plans = [
            make_plan(rows, dims, k, value, delta, steps=steps, relation=relation, cap=cap)
            for value in sorted({max(1e-6, epsilon / 4), epsilon, min(100.0, 4 * epsilon)})
        ]
    table = Table(title=f"{rows:,} records, {dims} columns, {k} clusters of {rows / k:,.0f}", title_justify="left")
    for heading in ("epsilon", "± size of a cluster", "± centre, % of its bounds"):
        table.add_column(heading, justify="right")
    for each in plans:
        style = "bold" if each.epsilon == epsilon else "dim"
        table.add_row(f"{each.epsilon:g}", f"{each.size_stderr:,.1f}", f"{100 * each.center_stderr:.3g}", style=style)
    console.print(table)
    console.print(next(each for each in plans if each.epsilon == epsilon).verdict)


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the data and the results.")] = Path("demo"),
    rows: Annotated[int, typer.Option(help="Rows of made-up data.")] = 20_000,
) -> None:
    """Cluster a messy file of made-up clinic visits, start to finish."""
    from knoll.datasets.clinic import BOUNDS, write_clinic_csv

    out.mkdir(parents=True, exist_ok=True)
    data = out / "visits.csv"
    write_clinic_csv(data, rows)
    bounds = ",".join(f"{name}={low:g}:{high:g}" for name, (low, high) in BOUNDS.items())
    console.print(f"Made {data}: {rows:,} visits, with names, notes, gaps and typing slips.\n", highlight=False)
    console.print(
        f'[bold]$ knoll cluster {data} --columns {",".join(BOUNDS)} --bounds "{bounds}" --k 4 --epsilon 1 '
        f"--missing drop --ledger {out / 'privacy.db'} --out {out}[/bold]\n",
        highlight=False, soft_wrap=True,
    )  # fmt: skip
    cluster(
        data,
        k=4,
        bounds=bounds,
        columns=",".join(BOUNDS),
        missing="drop",
        ledger=out / "privacy.db",
        out=out,
        seed=0,
    )
    console.print(f"\nOpen [bold]{out / 'clusters.png'}[/bold] to see the clusters.", highlight=False)


@ledger_app.command("show")
def ledger_show(
    ledger: LedgerFile,
    dataset: Annotated[str | None, typer.Option(help="One dataset, with every release.")] = None,
) -> None:
    """Show what each dataset has spent over all fits, composed into one (epsilon, delta)."""
    from knoll.privacy import FileLedger

    with _plain_errors():
        if not ledger.exists():
            raise typer.BadParameter(f"no such ledger: {ledger}")
        book = FileLedger(ledger)
        names = book.datasets() if dataset is None else [dataset]
        spends = [book.spend(name) for name in names]
        lines = book.lines(dataset) if dataset is not None else []
    table = Table(title=str(ledger), title_justify="left")
    for heading in ("dataset", "releases", "epsilon spent", "at delta", "cap", "noise"):
        table.add_column(heading, justify="left" if heading in ("dataset", "noise") else "right")
    for spend in spends:
        cap = f"{spend.cap.epsilon:g} at {spend.cap.delta:g}" if spend.cap else "none"
        noise = "secure" if spend.private else "[red]NOT PRIVATE[/red]"
        table.add_row(
            escape(spend.dataset), str(spend.releases), f"{spend.epsilon:.6g}", f"{spend.delta:g}", cap, noise
        )
    console.print(table)
    if lines:
        detail = Table("time", "estimator", "query", "share", "noise scale", "relation", "unit")
        for line in lines:
            when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(line.time))
            e = line.entry
            scale = f"{e.law} {e.scale / e.sensitivity:.4g} x sensitivity"
            detail.add_row(when, line.estimator, e.query, f"{e.share:.3g}", scale, e.relation, e.unit)
        console.print(detail)


@ledger_app.command("cap")
def ledger_cap(ledger: LedgerFile, dataset: Dataset, epsilon: Epsilon, delta: Delta = 1e-6) -> None:
    """Set the most that a dataset may spend over all fits."""
    from knoll.privacy import Budget, FileLedger

    with _plain_errors():
        FileLedger(ledger).set_cap(dataset, Budget(epsilon, delta))
    console.print(
        f"{dataset}: at most epsilon = {epsilon:g} at delta = {delta:g}, recorded in {ledger}",
        highlight=False,
    )


def _print_model(model: Any) -> None:
    from knoll.report import centers_table

    if model.privacy_.warning:
        console.print(f"[bold red]{model.privacy_.warning}[/bold red]")
    header, rows = centers_table(model)
    table = Table(title="Clusters, largest first (± standard error of the privacy noise)", title_justify="left")
    for heading in header:
        table.add_column(escape(heading), justify="right")
    for row in rows[:50]:
        table.add_row(*row)
    console.print(table)
    if len(rows) > 50:
        console.print(f"... and {len(rows) - 50} more, in centers.csv")
    if model.n_clusters is None:
        sure = f"{model.n_clusters_confidence_:.0%}"
        console.print(
            f"{model.n_clusters_} clusters, chosen from the released values; redrawing their noise agrees in {sure}."
        )
    console.print(escape(str(model.privacy_)), highlight=False, soft_wrap=True)


def _write(model: Any, out: Path) -> dict[Path, str]:
    """Write the model, its centres and a picture; return what is in each file."""
    import knoll
    from knoll.plots import plot_clusters
    from knoll.report import write_centers

    files = {
        out / "model.json": "the model: knoll.load(path), knoll predict",
        out / "centers.csv": "centres and sizes with standard errors",
        out / "clusters.png": "a picture of them",
    }
    knoll.save(model, out / "model.json")
    write_centers(model, out / "centers.csv")
    plot_clusters(model).savefig(out / "clusters.png", dpi=130)
    return files


def _writable(folder: Path) -> None:
    """Make sure that results can be written before any budget is spent."""
    folder.mkdir(parents=True, exist_ok=True)
    probe = folder / ".knoll-probe"
    probe.write_text("")
    probe.unlink()


@contextmanager
def _plain_errors() -> Iterator[None]:
    """Turn expected errors into one line and exit code 1."""
    from knoll.privacy import LedgerError

    try:
        yield
    except (ValueError, TypeError, LedgerError, OSError) as error:
        Console(stderr=True).print(f"[bold red]knoll:[/bold red] {escape(str(error))}", highlight=False, soft_wrap=True)
        raise typer.Exit(1) from None
