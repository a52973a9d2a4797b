"""`knoll audit`: attack an estimator and print what the attacks prove."""

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from knoll.cli.common import Delta, Relation, console, plain_errors


def audit(
    estimator: Annotated[str, typer.Argument(help="Name of the estimator, for example KMeans.")],
    epsilon: Annotated[float, typer.Option(help="Epsilon that it is to declare.")] = 1.0,
    delta: Delta = 1e-6,
    runs: Annotated[int, typer.Option(help="Runs in all; more give a sharper bound.")] = 1000,
    relation: Relation = "add_remove",
    confidence: Annotated[float, typer.Option(help="Probability that all bounds hold together.")] = 0.999,
    seconds: Annotated[float, typer.Option(help="Make fewer runs if these would take longer.")] = 900.0,
    out: Annotated[Path, typer.Option(help="The picture to write.")] = Path("audit.png"),
) -> None:
    """Attack an estimator on made-up data and print a lower bound on its epsilon. Touches no data of yours.

    Example: knoll audit KMeans --epsilon 1 --runs 5000
    """
    from knoll.audit import audit as attack
    from knoll.audit import make_audited, plot_audit

    with plain_errors():
        mechanism = make_audited(estimator, epsilon=epsilon, delta=delta, relation=relation)
        found = attack(mechanism, runs=runs, confidence=confidence, seconds=seconds, name=estimator, verbose=True)
        out = out if out.suffix else out.with_suffix(".png")
        plot_audit(found).savefig(out, dpi=130)
    table = Table(title="Lower bounds on epsilon by pair", title_justify="left")
    for heading in ("pair", "white box", "black box", "exact cost", "runs judged"):
        table.add_column(heading, justify="left" if heading == "pair" else "right")
    for pair in dict.fromkeys(each.pair for each in found.attacks):
        boxes = {each.box: each for each in found.attacks if each.pair == pair}
        cells = [f"{boxes[box].epsilon:.4g}" if box in boxes else "" for box in ("white", "black")]
        used = f"{found.used[pair]:.4g}" if pair in found.used else ""
        table.add_row(pair, *cells, used, f"{next(iter(boxes.values())).runs:,}")
    console.print(table)
    console.print(str(found), highlight=False, soft_wrap=True, style="" if found.passed else "bold red")
    if found.runs < 0.9 * runs:
        console.print(f"({runs:,} runs would have taken more than {seconds:g} s; --seconds raises the limit.)")
    console.print(f"Wrote {out}: the attacks against the guarantee.", highlight=False, soft_wrap=True)
    if not found.passed:
        raise typer.Exit(1)
