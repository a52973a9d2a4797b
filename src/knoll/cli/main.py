"""knoll on the command line. Each command lives in a file of its own; here they meet."""

import typer

from knoll.cli import audit, cluster, columns, mixture, modes
from knoll.cli.ledger import ledger_app
from knoll.cli.local import local_app
from knoll.cli.plan import plan
from knoll.cli.predict import predict

app = typer.Typer(
    help="Find the structure in sensitive data under differential privacy.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command()(cluster.cluster)
app.command()(mixture.mixture)
app.command()(predict)
app.command()(plan)
app.command()(cluster.demo)
app.command()(modes.modes)
app.command()(modes.regress)
app.command()(columns.columns)
app.command()(audit.audit)
app.add_typer(local_app, name="local")
app.add_typer(ledger_app, name="ledger")
