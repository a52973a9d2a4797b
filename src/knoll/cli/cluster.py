"""knoll cluster, predict, plan and demo."""

import csv
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from knoll.cli.common import (
    Data,
    Delta,
    Epsilon,
    FitOptions,
    Relation,
    console,
    fit_and_write,
    plain_errors,
    print_table,
    with_fit_options,
)


class Method(StrEnum):
    """Methods of `knoll cluster`."""

    KMEANS = "kmeans"
    LLOYD = "lloyd"
    FAST_LLOYD = "fast-lloyd"
    PE_MEANS = "pe-means"
    LSH_TREE = "lsh-tree"
    CUBES = "cubes"
    MORSE = "morse"


_CLASSES = {
    Method.KMEANS: "KMeans", Method.LLOYD: "Lloyd", Method.FAST_LLOYD: "FastLloyd", Method.PE_MEANS: "PEMeans",
    Method.LSH_TREE: "LSHTree", Method.CUBES: "Cubes", Method.MORSE: "MorseClustering",
}  # fmt: skip


@with_fit_options
def cluster(
    data: Data,
    k: Annotated[
        int | None, typer.Option("--k", help="Number of clusters; if left out, kmeans and morse choose it.")
    ] = None,
    method: Annotated[
        Method, typer.Option(help="kmeans for round clusters, morse for any shape; the others are for comparison.")
    ] = Method.KMEANS,
    out: Annotated[Path, typer.Option(help="Folder for model.json, centers.csv and clusters.png.")] = Path("out"),
    *,
    options: FitOptions,
) -> None:
    """Find clusters and publish their centres and sizes.

    Example: knoll cluster data.csv --columns age,bmi --bounds "age=0:110,bmi=10:60" --k 4 --epsilon 1 --out out/
    """
    import knoll

    def make() -> Any:
        return getattr(knoll, _CLASSES[method])(k, **options.parameters())

    fit_and_write(make, data, options, out, _write, _show)


def predict(
    model: Annotated[Path, typer.Argument(help="model.json of an earlier run.")],
    data: Annotated[Path, typer.Argument(help="Rows to label.")],
    out: Annotated[Path | None, typer.Option(help="CSV to write; standard output by default.")] = None,
) -> None:
    """Label rows with a released model. Spends no budget. The labels are as sensitive as your rows."""
    import numpy as np

    import knoll
    from knoll.engines.files import FileEngine

    with plain_errors():
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


def plan(
    rows: Annotated[int, typer.Option(help="Number of records you expect.")],
    dims: Annotated[int, typer.Option(help="Number of columns.")],
    k: Annotated[int, typer.Option("--k", help="Number of clusters.")],
    epsilon: Epsilon = 1.0,
    delta: Delta = 1e-6,
    steps: Annotated[int, typer.Option(help="Number of Lloyd steps.")] = 5,
    relation: Relation = "add_remove",
    cap: Annotated[int, typer.Option(help="Rows used per user, if users are protected.")] = 1,
) -> None:
    """Show the noise to expect, before any data is touched."""
    from knoll.planning import plan as make_plan

    with plain_errors():
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
    options = FitOptions(bounds, ",".join(BOUNDS), missing="drop", ledger=out / "privacy.db", seed=0)
    cluster(data=data, k=4, method=Method.KMEANS, out=out, **vars(options))
    console.print(f"\nOpen [bold]{out / 'clusters.png'}[/bold] to see the clusters.", highlight=False)


def _show(model: Any) -> None:
    from knoll.report import centers_table

    title = "Clusters, largest first (± standard error of the privacy noise)"
    print_table(title, *centers_table(model), "centers.csv")
    if model.n_clusters is None:
        sure = model.n_clusters_confidence_
        others = ", ".join(f"{k:.0f} ({p:.0%})" for k, p in model.n_clusters_candidates_[1:])
        doubt = "" if sure >= 0.5 else " That is too little to tell."
        console.print(
            f"{model.n_clusters_} clusters, chosen: right within 5 % with probability {sure:.0%}."
            + doubt
            + (f" Or {others}." if others else "")
        )


def _write(model: Any, out: Path) -> dict[Path, str]:
    """Write the model, its centres and a picture; return what is in each file."""
    import knoll
    from knoll.plots import plot_clusters, plot_morse
    from knoll.report import write_centers

    files = {
        out / "model.json": "the model: knoll.load(path), knoll predict",
        out / "centers.csv": "centres and sizes with standard errors",
        out / "clusters.png": "a picture of them",
    }
    knoll.save(model, out / "model.json")
    write_centers(model, out / "centers.csv")
    plot_clusters(model).savefig(out / "clusters.png", dpi=130)
    if hasattr(model, "dendrogram_"):
        files[out / "morse.png"] = "density, passes and merge tree"
        plot_morse(model).savefig(out / "morse.png", dpi=130)
    return files
