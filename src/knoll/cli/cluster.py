"""knoll cluster and knoll demo."""

from pathlib import Path
from typing import Annotated, Any

import typer

from knoll.cli.common import Data, FitOptions, fit_and_write, method_option, with_fit_options
from knoll.cli.printed import console, print_summary, print_table
from knoll.cli.written import write_groups, write_pictures
from knoll.registry import methods

METHODS = methods("cluster")


@with_fit_options
def cluster(
    data: Data,
    k: Annotated[
        int | None, typer.Option("--k", help="Number of clusters; if left out, kmeans and morse choose it.")
    ] = None,
    method: Annotated[
        str, method_option(METHODS, "kmeans for round clusters, morse for any shape; the others are for comparison.")
    ] = next(iter(METHODS)),
    out: Annotated[Path, typer.Option(help="Folder for model.json, centers.csv and clusters.png.")] = Path("out"),
    drop_unseen: Annotated[
        bool, typer.Option("--drop-unseen", help="Leave out clusters that cannot be told from noise.")
    ] = False,
    *,
    options: FitOptions,
) -> None:
    """Find clusters and publish their centres and sizes.

    Example: knoll cluster data.csv --columns age,bmi --bounds "age=0:110,bmi=10:60" --k 4 --epsilon 1 --out out/
    """
    import knoll

    def make() -> Any:
        return getattr(knoll, METHODS[method])(k, drop_unseen=drop_unseen, **options.parameters())

    fit_and_write(make, data, options, out, _write, _show)


def demo(
    out: Annotated[Path, typer.Option(help="Folder for the data and the results.")] = Path("demo"),
    rows: Annotated[int, typer.Option(help="Rows of made-up data.")] = 20_000,
) -> None:
    """Cluster a messy file of made-up clinic visits, start to finish. Patients are protected, not visits."""
    from knoll.datasets.clinic import BOUNDS, MOST_VISITS, USER, write_clinic_csv

    out.mkdir(parents=True, exist_ok=True)
    data = out / "visits.csv"
    write_clinic_csv(data, rows)
    bounds = ",".join(f"{name}={low:g}:{high:g}" for name, (low, high) in BOUNDS.items())
    console.print(
        f"Made {data}: {rows:,} visits of patients who come up to {MOST_VISITS} times, with notes, gaps and slips.\n",
        highlight=False,
    )
    console.print(
        f'[bold]$ knoll cluster {data} --columns {",".join(BOUNDS)} --bounds "{bounds}" --k 4 --epsilon 1 '
        f"--user {USER} --cap {MOST_VISITS} --missing drop --ledger {out / 'privacy.db'} --out {out}[/bold]\n",
        highlight=False, soft_wrap=True,
    )  # fmt: skip
    options = FitOptions(
        bounds, ",".join(BOUNDS), user=USER, cap=MOST_VISITS, missing="drop", ledger=out / "privacy.db", seed=0
    )
    cluster(data=data, k=4, method="kmeans", out=out, **vars(options))
    console.print(f"\nOpen [bold]{out / 'report.html'}[/bold] to see the clusters.", highlight=False)


def _show(model: Any) -> None:
    from knoll.report import MEANING, centers_table

    if hasattr(model, "columns_"):
        print_summary(f"Clusters, largest first ({MEANING})", model)
    else:
        print_table(f"Clusters, largest first ({MEANING})", *centers_table(model), "centers.csv")
    unseen = int((~model.clusters_seen_).sum())
    if unseen:
        console.print(
            f"{unseen} of {model.n_clusters_} clusters cannot be told from noise. --drop-unseen leaves them out."
        )
    if hasattr(model, "strategy_"):
        console.print(f"Releases: {model.strategy_}. {model.strategy_reason_}.", highlight=False)
    if model.n_clusters is None:
        sure = model.n_clusters_confidence_
        others = ", ".join(f"{k:.0f} ({p:.0%})" for k, p in model.n_clusters_candidates_[1:])
        doubt = "" if sure >= 0.5 else " That is too little to tell."
        console.print(
            f"{model.n_clusters_} {'clusters' if model.n_clusters_ > 1 else 'cluster'}, chosen: right within 5 % with "
            f"probability {sure:.0%}." + doubt + (f" Or {others}." if others else "")
        )


def _write(model: Any, out: Path) -> dict[Path, str]:
    """Write the model, its centres and pictures; return what is in each file."""
    from knoll.report import write_centers

    files = write_groups(model, out, write_centers, "centers.csv", "centres and sizes with standard errors")
    pictures = {out / "clusters.png": "a picture of them"}
    if hasattr(model, "dendrogram_"):
        pictures[out / "morse.png"] = "density, passes and merge tree"
    return files | write_pictures(model, pictures, clusters="plot_clusters")
