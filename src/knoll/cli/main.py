"""knoll on the command line. Each command lives in a file of its own; here they meet."""

from typing import Annotated

import typer

from knoll import __version__
from knoll.cli import audit, cluster, columns, mixture, modes, profile, topics
from knoll.cli.ledger import ledger_app
from knoll.cli.local import local_app
from knoll.cli.plan import plan
from knoll.cli.predict import predict
from knoll.cli.sample import sample

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
app.command()(cluster.cluster)
app.command()(mixture.mixture)
app.command()(predict)
app.command()(sample)
app.command()(plan)
app.command()(cluster.demo)
app.command()(modes.modes)
app.command()(modes.regress)
app.command()(columns.columns)
app.command()(profile.profile)
app.command()(topics.topics)
app.command()(audit.audit)
app.add_typer(local_app, name="local")
app.add_typer(ledger_app, name="ledger")


def _tell_version(asked: bool) -> None:
    if asked:
        typer.echo(f"knoll {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_tell_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Find the structure in sensitive data under differential privacy."""
