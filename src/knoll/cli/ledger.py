"""knoll ledger: what has been spent, and caps on it."""

import time
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from knoll.cli.common import Delta, Epsilon, plain_errors
from knoll.cli.printed import console

ledger_app = typer.Typer(help="What has been spent on each dataset, and caps on it.", no_args_is_help=True)

LedgerFile = Annotated[Path, typer.Option("--ledger", help="The ledger file.")]
Dataset = Annotated[str, typer.Option(help="Name of the dataset in the ledger.")]


@ledger_app.command("show")
def ledger_show(
    ledger: LedgerFile, dataset: Annotated[str | None, typer.Option(help="One dataset, with every release.")] = None
) -> None:
    """Show what each dataset has spent over all fits, composed into one (epsilon, delta)."""
    from knoll.privacy import FileLedger

    with plain_errors():
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
            scale = f"{e.law} {e.scale / e.sensitivity:.4g} x one record's effect"
            detail.add_row(when, line.estimator, e.query, f"{e.share:.3g}", scale, e.relation, e.unit)
        console.print(detail)


@ledger_app.command("cap")
def ledger_cap(ledger: LedgerFile, dataset: Dataset, epsilon: Epsilon, delta: Delta = 1e-6) -> None:
    """Set the most that a dataset may spend over all fits."""
    from knoll.privacy import Budget, FileLedger

    with plain_errors():
        FileLedger(ledger).set_cap(dataset, Budget(epsilon, delta))
    console.print(
        f"{dataset}: at most epsilon = {epsilon:g} at delta = {delta:g}, recorded in {ledger}", highlight=False
    )


@ledger_app.command("settle")
def ledger_settle(ledger: LedgerFile, dataset: Dataset) -> None:
    """Give back what killed fits had reserved. Use it only while no fit of this dataset is running."""
    from knoll.privacy import FileLedger

    with plain_errors():
        if not ledger.exists():
            raise typer.BadParameter(f"no such ledger: {ledger}")
        count = FileLedger(ledger).settle(dataset)
    console.print(
        f"{escape(dataset)}: {count} reservations given back; what was released stays spent.", highlight=False
    )
