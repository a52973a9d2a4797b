"""`knoll audit`: attack an estimator, a pipeline or a search, and print what the attacks prove."""

import importlib
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from knoll.cli.common import plain_errors
from knoll.cli.printed import console
from knoll.cli.typed import command_line
from knoll.cli.written import write_pictures

Relation = Annotated[
    str | None, typer.Option(help="add_remove (default), replace_special or replace_one; not with module:attribute.")
]


def audit(
    estimator: Annotated[
        str,
        typer.Argument(
            help="Name of an estimator, for example KMeans; or module:attribute, where the attribute is your own "
            "estimator, pipeline or search, or a function that makes one."
        ),
    ],
    epsilon: Annotated[
        float | None, typer.Option(help="Epsilon to test against; by default 1, or what your own object declares.")
    ] = None,
    delta: Annotated[
        float | None, typer.Option(help="Delta to test against; by default 1e-6, or what your own object declares.")
    ] = None,
    runs: Annotated[int, typer.Option(help="Runs in all; more give a sharper bound.")] = 1000,
    relation: Relation = None,
    columns: Annotated[int, typer.Option(help="Columns of the made-up data, unless your object's bounds tell.")] = 2,
    confidence: Annotated[float, typer.Option(help="Probability that all bounds hold together.")] = 0.999,
    seconds: Annotated[float, typer.Option(help="Time limit: fewer runs are made if all would take longer.")] = 900.0,
    out: Annotated[
        Path, typer.Option(help="The picture to write: .png, .svg or .pdf; a report lies beside it.")
    ] = Path("audit.png"),
) -> None:
    """Attack an estimator on made-up data and print a lower bound on its epsilon. Touches no data of yours.

    Examples: knoll audit KMeans --epsilon 1 --runs 5000; knoll audit mymodule:pipeline (mymodule.py in this folder).
    """
    from knoll.audit import audit as attack

    with plain_errors():
        given = {"epsilon": epsilon, "delta": delta, "relation": relation}
        given = {name: value for name, value in given.items() if value is not None}
        out = _picture(out)
        mechanism, said = _mechanism(estimator, given)
        name = None if ":" in estimator else estimator
        limits: dict[str, Any] = {"runs": runs, "confidence": confidence, "seconds": seconds}
        found = attack(mechanism, columns=columns, name=name, verbose=True, **limits, **said)
        found.report(out.with_suffix(".html"), command=command_line())
        files = [*write_pictures(found, {out: "a picture"}), out.with_suffix(".html")]
    _print(found, runs, seconds)
    names = " and ".join(str(file) for file in files)
    console.print(f"Wrote {names}: the attacks against the guarantee.", highlight=False, soft_wrap=True, markup=False)
    if not found.passed:
        raise typer.Exit(1)


def _picture(out: Path) -> Path:
    """Return the file of the picture; refuse what cannot be written before minutes are spent on attacks."""
    from knoll.privacy import DataError

    out = out if out.suffix else out.with_suffix(".png")
    if out.suffix.lower() not in (".png", ".svg", ".pdf"):
        raise DataError(f"{out.name}: --out names a picture, which ends in .png, .svg or .pdf")
    if not out.parent.is_dir():
        raise DataError(f"{out}: there is no folder {out.parent}")
    return out


def _mechanism(name: str, given: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Return what to attack, and the options that are not part of it yet."""
    from knoll.audit import make_audited
    from knoll.privacy import PrivacyError

    if ":" not in name:
        return make_audited(name, **given), {}
    if "relation" in given:
        raise PrivacyError(f"{name} has a relation of its own; set it there, not by --relation")
    return _load(name), given


def _load(reference: str) -> Any:
    """Import module:attribute from the current folder; call it if it is a function or class that makes an estimator.

    This runs the module's code: the user's own, named by the user.
    """
    from knoll.privacy import DataError

    module, _, attribute = reference.partition(":")
    here = str(Path.cwd())
    sys.path.insert(0, here)
    try:
        found: Any = importlib.import_module(module)
        for part in attribute.split("."):
            found = getattr(found, part)
        if isinstance(found, type) or not hasattr(found, "fit"):
            found = found() if callable(found) else found
    except (ImportError, ValueError) as error:
        raise DataError(f"cannot import {module!r} from this folder: {error}") from None
    except AttributeError as error:
        raise DataError(f"{reference!r}: {error}") from None
    except Exception as error:
        raise DataError(f"{reference!r} cannot be made: {type(error).__name__}: {error}") from None
    finally:
        sys.path.remove(here)
    if not hasattr(found, "fit"):
        raise DataError(f"{reference!r} is neither an estimator nor a function that makes one")
    return found


def _print(found: Any, runs: int, seconds: float) -> None:
    table = Table(title="Lower bounds on epsilon by pair", title_justify="left")
    for heading in ("pair", "white box", "black box", "exact cost", "runs judged"):
        table.add_column(heading, justify="left" if heading == "pair" else "right")
    for pair in dict.fromkeys(each.pair for each in found.attacks):
        boxes = {each.box: each for each in found.attacks if each.pair == pair}
        cells = [f"{boxes[box].epsilon:.4g}" if box in boxes else "" for box in ("white", "black")]
        used = f"{found.used[pair]:.4g}" if pair in found.used else ""
        table.add_row(pair, *cells, used, f"{next(iter(boxes.values())).runs:,}")
    console.print(table)
    console.print(str(found), highlight=False, markup=False, soft_wrap=True, style="" if found.passed else "bold red")
    if found.runs < 0.9 * runs:
        console.print(f"({runs:,} runs would have taken more than {seconds:g} s; --seconds raises the limit.)")
