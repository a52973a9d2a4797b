"""knoll modes and knoll regress."""

from pathlib import Path
from typing import Annotated, Any

import typer

from knoll.cli.common import Data, FitOptions, fit_and_write, with_fit_options
from knoll.cli.printed import console, print_table
from knoll.cli.written import write_pictures

Bandwidth = Annotated[
    str,
    typer.Option(help='"ladder" (chosen at no cost), "private" (costs budget), or a number in units of the bounds.'),
]
Chance = Annotated[float, typer.Option(help="Chance of showing a mode that is only noise.")]


@with_fit_options
def modes(
    data: Data,
    n_modes: Annotated[int | None, typer.Option(help="Number of modes; if left out, all significant ones.")] = None,
    bandwidth: Bandwidth = "ladder",
    chance: Chance = 0.1,
    out: Annotated[Path, typer.Option(help="Folder for model.json, modes.csv and modes.png.")] = Path("out"),
    *,
    options: FitOptions,
) -> None:
    """Find the modes of the data and publish the density around them.

    Example: knoll modes data.csv --columns age,bmi --bounds "age=0:110,bmi=10:60" --epsilon 1 --out out/
    """
    import knoll

    def make() -> Any:
        return knoll.ModeSeeking(n_modes, bandwidth=_bandwidth(bandwidth), chance=chance, **options.parameters())

    fit_and_write(make, data, options, out, _write_modes, _show_modes)


@with_fit_options
def regress(
    data: Data,
    bandwidth: Bandwidth = "ladder",
    chance: Chance = 0.1,
    out: Annotated[Path, typer.Option(help="Folder for model.json, curves.csv and curves.png.")] = Path("out"),
    *,
    options: FitOptions,
) -> None:
    """Find the modes of the last column given the others, and publish the curves.

    Example: knoll regress data.csv --columns age,bmi --bounds "age=0:110,bmi=10:60" --epsilon 1 --out out/
    """
    import knoll

    def make() -> Any:
        return knoll.ModalRegression(_bandwidth(bandwidth), chance=chance, **options.parameters())

    fit_and_write(make, data, options, out, _write_curves, lambda model: None)


def _write_modes(model: Any, out: Path) -> dict[Path, str]:
    import knoll
    from knoll.report import write_modes

    files = {out / "model.json": "the model: knoll.load(path)", out / "modes.csv": "modes with standard errors"}
    knoll.save(model, out / "model.json")
    write_modes(model, out / "modes.csv")
    what = "the density and its modes" if model.n_features_in_ <= 2 else "the modes in pairs of columns"
    pictures = {out / "modes.png": what}
    if model.n_features_in_ <= 2:
        pictures[out / "mode-tree.png"] = "modes at every bandwidth"
    return files | write_pictures(model, pictures, mode_tree="plot_mode_tree")


def _write_curves(model: Any, out: Path) -> dict[Path, str]:
    import knoll
    from knoll.report import write_curves

    files = {out / "model.json": "the model: knoll.load(path)"}
    knoll.save(model, out / "model.json")
    if model.n_features_in_ not in (2, 3):
        console.print(
            "No picture and no curves.csv: curves are drawn over one or two predictors, and there are "
            f"{model.n_features_in_ - 1}. knoll predict gives the response of a row, model.predict_modes(X) all modes.",
            highlight=False,
        )
        return files
    found = write_curves(model, out / "curves.csv", 200 if model.n_features_in_ == 2 else 900)
    files[out / "curves.csv"] = f"{found} significant modes on a mesh"
    files |= write_pictures(model, {out / "curves.png": "a picture of them"})
    if not found:
        console.print("No significant curve. A larger epsilon or more records may show some.")
    return files


def _bandwidth(text: str) -> str | float:
    try:
        return float(text)
    except ValueError:
        return text


def _show_modes(model: Any) -> None:
    from knoll.report.clusters import column_names, with_error

    if not len(model.modes_):
        console.print("No significant mode. A larger epsilon or more records may show some.")
        return
    names = column_names(model)[:8]
    rows = []
    for mode, error, significance in zip(model.modes_, model.modes_stderr_, model.mode_significance_, strict=True):
        cells = [with_error(mode[j], error[j]) for j in range(len(names))]
        rows.append([*cells, f"{significance:.1f}"])
    print_table(
        "Modes, most significant first (± one standard error: noise and sampling)",
        [*names, "significance"],
        rows,
        "modes.csv",
    )
    console.print(f"Noise alone reaches a significance of {model.threshold_:.1f} with probability {model.chance:g}.")
