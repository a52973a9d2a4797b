"""knoll plan: an answer to the question which epsilon."""

import csv
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from knoll.cli.cluster import METHODS
from knoll.cli.common import Delta, Epsilon, Relation, method_option, plain_errors
from knoll.cli.parse import read_bounds, read_columns, read_numbers
from knoll.cli.printed import console
from knoll.cli.written import prepare_folder, write_page, write_pictures

MULTIPLES = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)  # of --epsilon, if no list is given: evenly on a logarithmic scale
QUICK_MULTIPLES = (0.25, 1.0, 4.0)
SECONDS = 15.0  # a command that plans should answer while one waits; --runs are cut short after this time


def plan(
    k: Annotated[str, typer.Option("--k", help="Number of clusters, or several: 5,10.")],
    rows: Annotated[int | None, typer.Option(help="Number of records you expect.")] = None,
    dims: Annotated[int | None, typer.Option(help="Number of columns.")] = None,
    epsilon: Epsilon = 1.0,
    epsilons: Annotated[
        str | None,
        typer.Option(help="Budgets to compare: .1,.25,1,4. By default from a hundredth of --epsilon to ten times."),
    ] = None,
    delta: Delta = 1e-6,
    separation: Annotated[
        float, typer.Option(help="Standard deviations between the two nearest clusters: 5 is clear, 3 overlaps.")
    ] = 5.0,
    like: Annotated[
        Path | None,
        typer.Option(help="PUBLIC file that resembles your data, instead of made-up clusters. Not private."),
    ] = None,
    columns: Annotated[str | None, typer.Option(help="With --like: columns to use, separated by commas.")] = None,
    bounds: Annotated[
        str | None, typer.Option(help='With --like: "age=0:110,bmi=10:60"; by default its range.')
    ] = None,
    method: Annotated[str, method_option(METHODS, "Method of knoll cluster.")] = next(iter(METHODS)),
    runs: Annotated[int, typer.Option(help="Fits for each epsilon and number of clusters.")] = 5,
    quick: Annotated[bool, typer.Option("--quick", help="Show the noise by a formula; simulate nothing.")] = False,
    steps: Annotated[int, typer.Option(help="With --quick: number of Lloyd steps.")] = 5,
    relation: Relation = "add_remove",
    cap: Annotated[int, typer.Option(help="Rows used per user, if users are protected.")] = 1,
    out: Annotated[Path, typer.Option(help="Folder for plan.png and plan.csv.")] = Path("out"),
) -> None:
    """Which epsilon? Try made-up data of your kind, before any data is touched.

    Shows which share of the clusters is found, by how much the loss exceeds that of k-means without privacy, the error
    bars, and what an attacker can learn about one person at most.

    Example: knoll plan --rows 20000 --dims 4 --k 5 --epsilon 1
    """
    ks = [int(each) for each in read_numbers(k, "--k", whole=True)]
    multiples = QUICK_MULTIPLES if quick else MULTIPLES
    tried = (
        [min(max(m * epsilon, 1e-6), 100.0) for m in multiples]
        if epsilons is None
        else read_numbers(epsilons, "--epsilons")
    )
    with plain_errors():
        if quick:
            if rows is None or dims is None or like is not None:
                raise ValueError("--quick needs --rows and --dims, and no --like")
            for clusters in ks:
                _quick(rows, dims, clusters, tried, epsilon, delta, steps=steps, relation=relation, cap=cap)
            return
        if like is None and (rows is None or dims is None):
            raise ValueError("give --rows and --dims, or a public file that resembles your data: --like")
        import knoll

        prepare_folder(out)
        source = None if like is None else knoll.Source(like, read_columns(columns))
        found = knoll.simulate_plan(
            rows, dims, ks, epsilons=tried, delta=delta, separation=separation, like=source, bounds=read_bounds(bounds),
            relation=relation, cap=cap, estimator=getattr(knoll, METHODS[method])(), runs=runs, seconds=SECONDS,
            verbose=True,
        )  # fmt: skip
        files = [*write_page(found, out), *write_pictures(found, {out / "plan.png": "a picture"}), _write(found, out)]
    _show(found)
    names = [str(file) for file in files]
    console.print(f"\nWrote {', '.join(names[:-1])} and {names[-1]}.", highlight=False, soft_wrap=True, markup=False)


def _show(found: Any) -> None:
    from knoll.planning.result import HEADER

    table = Table(title=found.description, title_justify="left")
    for heading in HEADER:
        table.add_column(heading, justify="right")
    for each in found.expected:
        table.add_row(*each.cells, style="bold" if each.epsilon == found.recommended else "")
    console.print(table)
    for line in (*found.notes, found.verdict):
        console.print(line, highlight=False)


def _write(found: Any, out: Path) -> Path:
    with open(out / "plan.csv", "w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, list(found.table[0]))
        table.writeheader()
        table.writerows({name: f"{value:.6g}" for name, value in row.items()} for row in found.table)
    return out / "plan.csv"


def _quick(rows: int, dims: int, k: int, tried: list[float], epsilon: float, delta: float, **more: Any) -> None:
    """Print the noise that Lloyd's method adds, from its formula."""
    from knoll.planning import plan as make_plan

    plans = [make_plan(rows, dims, k, value, delta, **more) for value in sorted({*tried, epsilon})]
    clusters = f"{k:,} clusters of {rows / k:,.0f}" if k <= rows else f"{k:,} clusters: more clusters than records"
    table = Table(title=f"{rows:,} records, {dims} columns, {clusters}", title_justify="left")
    for heading in ("epsilon", "± size of a cluster", "± centre, % of its bounds"):
        table.add_column(heading, justify="right")
    for each in plans:
        style = "bold" if each.epsilon == epsilon else "dim"
        table.add_row(f"{each.epsilon:g}", f"{each.size_stderr:,.1f}", f"{100 * each.center_stderr:.3g}", style=style)
    console.print(table)
    console.print(next(each for each in plans if each.epsilon == epsilon).verdict)
