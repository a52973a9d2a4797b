"""What commands print of a fitted model: its table, remarks, bounds, the privacy statement, and what was written."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.cells import cell_len
from rich.console import Console
from rich.markup import escape
from rich.table import Table

console = Console()
FEWEST_COLUMNS = 2  # of a printed table, however narrow the terminal
MOST_ROWS = 50  # of a printed table; the file has all
MOST_ON_SIDE = 8  # clusters that are printed beside each other
COLOURS = {"error": "red", "warning": "yellow", "info": "cyan"}  # of remarks, by severity


def print_result(model: Any, show: Callable[[Any], None], files: dict[Path, str], seconds: float) -> None:
    """Print what a model found, its privacy statement, and what was written."""
    if model.privacy_.warning:
        console.print(f"[bold red]{model.privacy_.warning}[/bold red]")
    show(model)
    print_remarks(model)
    print_bounds(model)
    console.print(escape(str(model.privacy_)), highlight=False, soft_wrap=True)
    console.print(f"\nDone in {seconds:.1f} s. Wrote:")
    for file, what in files.items():
        console.print(f"  {file}  [dim]{what}[/dim]", highlight=False, soft_wrap=True)


def print_remarks(model: Any) -> None:
    """Print how well the model fits, if that is known, and the remarks on the fit, coloured by severity."""
    if (quality := getattr(model, "quality_", None)) is not None:
        console.print(f"{quality}", highlight=False, soft_wrap=True)
    for each in model.diagnostics_:
        if each.code != "seeded-noise":  # said already, before all else
            head = f"[bold {COLOURS[each.severity]}]{each.severity}[/]: {escape(each.message)}"
            console.print(f"{head} [dim]{escape(each.advice)}[/dim]", highlight=False, soft_wrap=True)


def print_bounds(model: Any) -> None:
    """Print bounds that were bought: nobody else knows them, and records outside were moved to them."""
    if model.bounds != "private":
        return
    box, doubts = model.bounds_, model.bounds_in_doubt_
    names = box.names or tuple(f"x{j}" for j in range(box.n_columns))
    console.print("Bounds, bought from the budget; values outside count as the nearest bound:", highlight=False)
    for name, low, high, doubt in list(zip(names, box.lower, box.upper, doubts, strict=True))[:MOST_ROWS]:
        note = "  [yellow]in doubt: give bounds for it, or take more rows or a larger epsilon[/yellow]" if doubt else ""
        console.print(f"  {escape(str(name))}  {low:.6g} to {high:.6g}{note}", highlight=False, soft_wrap=True)
    if box.n_columns > MOST_ROWS:
        more = f"{box.n_columns - MOST_ROWS} more, {int(doubts[MOST_ROWS:].sum())} of them in doubt"
        console.print(f"  ... and {more}; the model's file has all", highlight=False)


def print_table(title: str, header: list[str], rows: list[list[str]], file: str, *, lines: bool = False) -> None:
    """Print the first rows of a table, and say in which file the others are, and columns that do not fit."""
    widths = [max(map(_widest, column)) + 3 for column in zip(header, *rows[:MOST_ROWS], strict=True)]
    shown = len(header)
    while shown > FEWEST_COLUMNS and 1 + sum(widths[:shown]) > console.width:
        shown -= 1
    if title:  # not the table's own, which would be wrapped at its width
        console.print(title, highlight=False)
    console.print(_table(header[:shown], rows, lines=lines))
    left = [name for name in header[shown:] if name != "..."]
    if left:
        names = f"{', '.join(left[:5])}{', ...' if len(left) > 5 else ''}"
        console.print(escape(f"Columns that do not fit here are in {file}: {names}"), highlight=False)
    if len(rows) > MOST_ROWS:
        console.print(f"... and {len(rows) - MOST_ROWS} more, in {file}")


def print_summary(title: str, model: Any) -> None:
    """Print clusters in the terms of the columns, and what sets each apart; on its side if that shows more of it."""
    from knoll.report import apart_lines, summary_rows

    header, rows = summary_rows(model)
    wide = sum(max(map(cell_len, column)) + 3 for column in zip(header, *rows[:MOST_ROWS], strict=True))
    if wide >= console.width and len(rows) <= MOST_ON_SIDE:
        lines = [[cell.replace(", ", "\n") for cell in line] for line in zip(*rows, strict=True)]
        turned = [[name, *line] for name, line in zip(header[1:], lines[1:], strict=True)]
        print_table(title, ["", *(f"cluster {number}" for number in lines[0])], turned, "summary.csv", lines=True)
    else:
        print_table(title, header, rows, "summary.csv")
    if apart := apart_lines(model)[:MOST_ROWS]:
        console.print(escape("What sets each apart:\n" + "\n".join(f"  {line}" for line in apart)), highlight=False)


def _widest(cell: str) -> int:
    """Return the width of a cell: that of its longest line."""
    return max(map(cell_len, cell.split("\n")))


def _table(header: list[str], rows: list[list[str]], *, lines: bool = False) -> Table:
    """Return the first rows of a table. Numbers are never cut."""
    table = Table(show_lines=lines)
    for heading in header:
        table.add_column(escape(heading), justify="right", no_wrap=True, overflow="fold")
    for row in rows[:MOST_ROWS]:
        table.add_row(*row[: len(header)])
    return table
