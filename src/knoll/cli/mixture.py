"""knoll mixture: fit a Gaussian mixture and publish it."""

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from knoll.cli.common import Data, FitOptions, fit_and_write, method_option, with_fit_options
from knoll.cli.printed import console, print_summary, print_table
from knoll.cli.written import write_groups, write_pictures
from knoll.registry import methods

METHODS = methods("mixture")


@with_fit_options
def mixture(
    data: Data,
    k: Annotated[int | None, typer.Option("--k", help="Number of components; if left out, central chooses it.")] = None,
    method: Annotated[
        str, method_option(METHODS, "central is the most accurate; the others are for comparison.")
    ] = next(iter(METHODS)),
    covariance: Annotated[str, typer.Option(help="full, tied, diag or spherical.")] = "full",
    synthetic: Annotated[int, typer.Option(help="Rows of synthetic data to draw from the mixture.")] = 0,
    out: Annotated[Path, typer.Option(help="Folder for model.json, components.csv and mixture.png.")] = Path("out"),
    *,
    options: FitOptions,
) -> None:
    """Fit a Gaussian mixture and publish its weights, means and covariances.

    Example: knoll mixture data.csv --columns age,bmi --bounds "age=0:110,bmi=10:60" --k 3 --synthetic 1000 --out out/
    """
    import knoll

    def make() -> Any:
        return getattr(knoll, METHODS[method])(k, covariance_type=covariance, **options.parameters())

    fit_and_write(make, data, options, out, partial(write_mixture, synthetic=synthetic), show_mixture)


def show_mixture(model: Any) -> None:
    """Print components, and what privacy noise did to them."""
    from knoll.report import MEANING, components_table

    if hasattr(model, "columns_"):
        print_summary(f"Components, largest first ({MEANING})", model)
    else:
        print_table(f"Components, largest first ({MEANING})", *components_table(model), "components.csv")
    if model.n_components is None:
        console.print(f"{model.n_components_} components, chosen from the released values.")
    if (drawn := float(model.shrinkage_.max())) > 0.05:
        console.print(f"Correlations were shrunk by up to {drawn:.0%}, because of privacy noise.")


def write_mixture(model: Any, out: Path, synthetic: int) -> dict[Path, str]:
    """Write the model, its components, a picture and synthetic rows; return what is in each file."""
    from knoll.report import write_components, write_rows

    what = "weights, means and covariances with standard errors"
    files = write_groups(model, out, write_components, "components.csv", what)
    files |= write_pictures(model, {out / "mixture.png": "a picture of them"})
    if synthetic:
        files[out / "synthetic.csv"] = f"{synthetic:,} synthetic rows, as private as the model"
        write_rows(model, synthetic, out / "synthetic.csv")
    return files
